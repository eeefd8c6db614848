/* Times the operations of one group.  Takes  FE, PT, LABEL. */
#include "field/fe_names.h"
#include "curve/pt_names.h"

static void CAT(PT, _bench)(const char *filter)
{
    const uint64_t k[4] = { 0x0123456789abcdefu, 0xfedcba9876543210u, 0x0f1e2d3c4b5a6978u, 0x1122334455667788u };
    fe_t a, b;
    pt_aff g, s;
    pt_jac p, q;
    pt_xyzz x, y;
    volatile unsigned sink = 0;
    pt_aff_generator(&g);
    a = g.x;
    b = g.y;
    pt_jac_from_aff(&p, &g);
    pt_jac_mul(&q, &p, k, 4);
    pt_jac_to_aff(&s, &q);
    pt_jac_add(&p, &p, &q);
    pt_xyzz_from_aff(&y, &g);
    pt_xyzz_dbl(&x, &y);
    TIME(LABEL ".coordinate_mul", 500000, fe_mul(&a, &a, &b));
    TIME(LABEL ".coordinate_sqr", 500000, fe_sqr(&a, &a));
    TIME(LABEL ".jac_dbl", 50000, pt_jac_dbl(&p, &p));
    TIME(LABEL ".jac_add", 50000, pt_jac_add(&p, &p, &q));
    TIME(LABEL ".jac_add_aff", 50000, pt_jac_add_aff(&p, &p, &s));
    TIME(LABEL ".xyzz_add_aff", 50000, pt_xyzz_add_aff(&x, &x, &s));
    TIME(LABEL ".xyzz_add", 50000, pt_xyzz_add(&x, &x, &y); pt_xyzz_add_aff(&y, &y, &g));
    TIME(LABEL ".jac_mul_256", 200, pt_jac_mul(&p, &q, k, 4));
    TIME(LABEL ".jac_to_aff", 1000, pt_jac_to_aff(&s, &q));
    TIME(LABEL ".on_curve", 10000, sink = sink + pt_aff_on_curve(&s));
    TIME(LABEL ".in_subgroup", 500, sink = sink + pt_in_subgroup(&s));
    TIME(LABEL ".curve_rhs_sqrt", 500, fe_add(&a, &a, &b); sink = sink + fe_sqrt(&b, &a));
    (void)sink;
}

#include "field/fe_unnames.h"
#include "curve/pt_unnames.h"
