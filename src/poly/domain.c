/* Evaluation domains and the definition of the transform. */
#include "poly/domain.h"
#include "base/bytes.h"

static struct fr fr_small(const struct curve *c, uint64_t v)
{
    struct fr x;
    c->fr.from_u64(&x, v);
    return x;
}

cuzk_status domain_init(struct domain *d, struct task *t, const struct curve *c,
                        enum root_convention convention, unsigned log2)
{
    const unsigned most = c->fr.two_adicity < DOMAIN_MAX_LOG2 ? c->fr.two_adicity : DOMAIN_MAX_LOG2;
    if (log2 > most)
        return FAIL(t, CUZK_TOO_LARGE, "a domain of 2^%u points is needed, but %s supports 2^%u at most",
                    log2, c->name, most);
    d->curve = c;
    d->convention = convention;
    d->log2 = log2;
    d->size = (uint64_t)1 << log2;
    c->fr.root(&d->omega, convention, log2);
    c->fr.inv(&d->omega_inv, &d->omega);
    const struct fr size = fr_small(c, d->size), one = fr_small(c, 1);
    c->fr.inv(&d->size_inv, &size);

    if (convention == ROOT_BELLMAN)
        c->fr.coset_shift(&d->shift, convention);
    else if (log2 < c->fr.two_adicity)
        c->fr.root(&d->shift, convention, log2 + 1);
    else
        d->shift = fr_small(c, 25); /* the square of the root's seed: a root twice as fine does not exist */
    c->fr.inv(&d->shift_inv, &d->shift);

    struct fr z;
    c->fr.pow(&z, &d->shift, d->size);
    c->fr.sub(&z, &z, &one);
    c->fr.inv(&d->z_coset_inv, &z);
    return CUZK_OK;
}

/* L_i(tau) = (tau^n - 1) omega^i / (n (tau - omega^i)) */
void domain_lagrange_part(const struct domain *d, struct fr *out, const struct fr *tau, uint64_t begin,
                          uint64_t count)
{
    const struct scalar_field *f = &d->curve->fr;
    const struct fr one = fr_small(d->curve, 1);
    struct fr z, power, first;

    f->pow(&z, tau, d->size);
    f->sub(&z, &z, &one);
    f->mul(&z, &z, &d->size_inv);
    f->pow(&first, &d->omega, begin);
    power = first;
    for (uint64_t i = 0; i < count; i++) {
        f->sub(&out[i], tau, &power);
        f->mul(&power, &power, &d->omega);
    }
    f->batch_inv(out, (size_t)count);
    f->mul(&z, &z, &first); /* from here on z carries omega^i as well */
    for (uint64_t i = 0; i < count; i++) {
        f->mul(&out[i], &out[i], &z);
        f->mul(&z, &z, &d->omega);
    }
    wipe(&z, sizeof z);
}

cuzk_status domain_lagrange(const struct domain *d, struct task *t, struct fr *out, const struct fr *tau)
{
    const struct fr one = fr_small(d->curve, 1);
    struct fr power;

    d->curve->fr.pow(&power, tau, d->size);
    if (d->curve->fr.eq(&power, &one))
        return FAIL(t, CUZK_INVALID_ARGUMENT, "the point lies in the evaluation domain of 2^%u points",
                    d->log2);
    domain_lagrange_part(d, out, tau, 0, d->size);
    return CUZK_OK;
}

void domain_dft_naive(const struct domain *d, struct fr *out, const struct fr *in, bool coset)
{
    const struct scalar_field *f = &d->curve->fr;
    struct fr x = coset ? d->shift : fr_small(d->curve, 1);
    for (uint64_t i = 0; i < d->size; i++) {
        struct fr sum = in[d->size - 1];
        for (uint64_t j = d->size - 1; j-- > 0;) { /* Horner */
            f->mul(&sum, &sum, &x);
            f->add(&sum, &sum, &in[j]);
        }
        out[i] = sum;
        f->mul(&x, &x, &d->omega);
    }
}
