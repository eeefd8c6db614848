/* Square roots and signs in a prime field with p = 3 (mod 4).
 *
 * Takes  FE, FE_UPPER as prime.inc.h, which comes first. */
#include "field/fe_names.h"

#define FE_WORDS CAT(FE_UPPER, _WORDS)

/* r = a square root of a, a^((p+1)/4); false (and r undefined) if a has none. */
DEV_FN_BIG bool fe_sqrt(fe_t *r, const fe_t *a)
{
    const uint64_t e[FE_WORDS] = CAT(FE_UPPER, _P_PLUS_1_QUARTER_64);
    const fe_t square = *a;
    fe_t t;
    fe_pow(r, &square, e, FE_WORDS);
    fe_sqr(&t, r);
    return fe_eq(&t, &square);
}

/* Whether the integer a exceeds (p-1)/2, that is, a is the larger of a and -a. */
DEV_FN bool fe_lex_larger(const fe_t *a)
{
    const uint64_t half[FE_WORDS] = CAT(FE_UPPER, _P_MINUS_1_HALF_64);
    fe_int x, h;
    fe_to_int(&x, a);
    UNROLL for (int i = 0; i < FE_WORDS; i++) h.l[i] = half[i];
    return fe_int_cmp(&x, &h) > 0;
}

#include "field/fe_unnames.h"
#undef FE_WORDS
