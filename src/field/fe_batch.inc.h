/* Operations on arrays of field elements: inversion by Montgomery's trick, powers.
 *
 * Takes  FE  prefix of any field with _mul, _inv, _is_zero.
 * Runs in chunks, so that the products live on the stack and nothing is allocated. */
#include "field/fe_names.h"

#define FE_BATCH_CHUNK 256 /* one inversion (about 100 products) a chunk */

/* a[i] = 1 / a[i] in place; zeros stay zero.  Cost: three products an element, one inversion every FE_BATCH_CHUNK. */
DEV_FN_BIG void fe_batch_inv(fe_t *a, size_t count)
{
    fe_t before[FE_BATCH_CHUNK]; /* product of the non-zero elements of the chunk before i */
    for (size_t start = 0; start < count; start += FE_BATCH_CHUNK) {
        const size_t n = count - start < FE_BATCH_CHUNK ? count - start : FE_BATCH_CHUNK;
        fe_t *const c = a + start, acc, t;
        fe_set_one(&acc);
        for (size_t i = 0; i < n; i++) {
            before[i] = acc;
            if (!fe_is_zero(&c[i])) fe_mul(&acc, &acc, &c[i]);
        }
        fe_inv(&acc, &acc);
        for (size_t i = n; i-- > 0;) {
            if (fe_is_zero(&c[i])) continue;
            fe_mul(&t, &acc, &before[i]);
            fe_mul(&acc, &acc, &c[i]);
            c[i] = t;
        }
    }
}

/* r[i] = first * a^i, i < count. */
DEV_FN_BIG void CAT(FE, _powers)(fe_t *r, const fe_t *first, const fe_t *a, size_t count)
{
    const fe_t base = *a;
    fe_t acc = *first;
    for (size_t i = 0; i < count; i++) {
        r[i] = acc;
        fe_mul(&acc, &acc, &base);
    }
}

#include "field/fe_unnames.h"
#undef FE_BATCH_CHUNK
