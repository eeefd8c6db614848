/* The operations of struct scalar_field over one concrete field: opaque words in, concrete elements inside.
 *
 * Takes  FE  prefix of the scalar field      FE_UPPER  prefix of its constants */
#include "field/fe_names.h"

#define OP(name) CAT(FE, _op_##name)

STATIC_ASSERT(sizeof(fe_t) == sizeof(struct fr), "an erased scalar is a scalar");

static inline fe_t OP(in)(const struct fr *a)
{
    fe_t x;
    memcpy(&x, a, sizeof x);
    return x;
}
static inline void OP(out)(struct fr *r, const fe_t *a) { memcpy(r, a, sizeof *r); }

static bool OP(int_is_canonical)(const struct fr_int *a)
{
    fe_int x;
    memcpy(&x, a, sizeof x);
    return fe_int_is_canonical(&x);
}

static void OP(from_int)(struct fr *r, const struct fr_int *a)
{
    fe_int x;
    fe_t y;
    memcpy(&x, a, sizeof x);
    fe_from_int(&y, &x);
    OP(out)(r, &y);
}

static void OP(to_int)(struct fr_int *r, const struct fr *a)
{
    const fe_t x = OP(in)(a);
    fe_int y;
    fe_to_int(&y, &x);
    memcpy(r, &y, sizeof *r);
}

static void OP(from_u64)(struct fr *r, uint64_t v)
{
    fe_t x;
    fe_from_u64(&x, v);
    OP(out)(r, &x);
}

static void OP(add)(struct fr *r, const struct fr *a, const struct fr *b)
{
    fe_t x = OP(in)(a);
    const fe_t y = OP(in)(b);
    fe_add(&x, &x, &y);
    OP(out)(r, &x);
}

static void OP(sub)(struct fr *r, const struct fr *a, const struct fr *b)
{
    fe_t x = OP(in)(a);
    const fe_t y = OP(in)(b);
    fe_sub(&x, &x, &y);
    OP(out)(r, &x);
}

static void OP(neg)(struct fr *r, const struct fr *a)
{
    fe_t x = OP(in)(a);
    fe_neg(&x, &x);
    OP(out)(r, &x);
}

static void OP(mul)(struct fr *r, const struct fr *a, const struct fr *b)
{
    fe_t x = OP(in)(a);
    const fe_t y = OP(in)(b);
    fe_mul(&x, &x, &y);
    OP(out)(r, &x);
}

static void OP(inv)(struct fr *r, const struct fr *a)
{
    fe_t x = OP(in)(a);
    fe_inv(&x, &x);
    OP(out)(r, &x);
}

static void OP(pow)(struct fr *r, const struct fr *a, uint64_t e)
{
    fe_t x = OP(in)(a);
    fe_pow(&x, &x, &e, 1);
    OP(out)(r, &x);
}

static void OP(batch_inv)(struct fr *a, size_t count)
{
    fe_t chunk[256];
    for (size_t start = 0; start < count; start += 256) {
        const size_t n = count - start < 256 ? count - start : 256;
        memcpy(chunk, a + start, n * sizeof chunk[0]);
        CAT(FE, _batch_inv)(chunk, n);
        memcpy(a + start, chunk, n * sizeof chunk[0]);
    }
    wipe(chunk, sizeof chunk); /* scalars may be secret */
}

static bool OP(is_zero)(const struct fr *a)
{
    const fe_t x = OP(in)(a);
    return fe_is_zero(&x);
}

static bool OP(eq)(const struct fr *a, const struct fr *b)
{
    const fe_t x = OP(in)(a), y = OP(in)(b);
    return fe_eq(&x, &y);
}

static void OP(root)(struct fr *r, enum root_convention c, unsigned log2)
{
    const fe_t root5 = { CAT(FE_UPPER, _ROOT5_64) }, root7 = { CAT(FE_UPPER, _ROOT7_64) };
    fe_t x = c == ROOT_BELLMAN ? root7 : root5;
    for (unsigned i = log2; i < CAT(FE_UPPER, _TWO_ADICITY); i++) fe_sqr(&x, &x);
    OP(out)(r, &x);
}

static void OP(coset_shift)(struct fr *r, enum root_convention c)
{
    const fe_t gen5 = { CAT(FE_UPPER, _GEN5_64) }, gen7 = { CAT(FE_UPPER, _GEN7_64) };
    OP(out)(r, c == ROOT_BELLMAN ? &gen7 : &gen5);
}

static void OP(from_wide)(struct fr *r, const uint8_t bytes[64])
{
    uint64_t w[8];
    fe_t x;
    words_from_le(w, bytes, 8);
    fe_from_wide(&x, w);
    OP(out)(r, &x);
    wipe(w, sizeof w);
    wipe(&x, sizeof x);
}

#include "field/fe_unnames.h"
#undef OP
