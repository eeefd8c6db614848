/* Times the operations of one prime field.  Takes  FE, LABEL. */
#include "field/fe_names.h"

static void CAT(FE, _bench)(const char *filter)
{
    fe_t a, b, many[256];
    volatile unsigned sink = 0;
    fe_from_u64(&a, 7);
    fe_from_u64(&b, 0x123456789abcdef1u);
    for (int i = 0; i < 300; i++) { /* away from small values */
        fe_mul(&a, &a, &b);
        many[i % 256] = a;
    }
    TIME(LABEL ".mul", 1000000, fe_mul(&a, &a, &b));
    TIME(LABEL ".sqr", 1000000, fe_sqr(&a, &a));
    TIME(LABEL ".add", 1000000, fe_add(&a, &a, &b));
    TIME(LABEL ".sub", 1000000, fe_sub(&a, &a, &b));
    TIME(LABEL ".inv", 10000, fe_inv(&a, &a); fe_add(&a, &a, &b));
    TIME(LABEL ".batch_inv_256", 200, fe_batch_inv(many, 256));
    TIME(LABEL ".is_square", 5000, fe_add(&a, &a, &b); sink = sink + fe_is_square(&a));
    (void)sink;
}

#include "field/fe_unnames.h"
