/* The subgroup test of one group against multiplication by r, on random points of the whole curve and on r times them.
 *
 * Takes  FE, PT, PT_BASE (type of a base field element), PT_ORDER (words of r), PT_WHOLE (1: the curve has only r points) */
#include "curve/pt_names.h"
#include "field/fe_names.h"

static void CAT(PT, _subgroup)(void **state)
{
    struct prng *rng = *state;
    const uint64_t order[4] = PT_ORDER;
    for (int found = 0; found < 12;) {
        pt_aff p;
        pt_jac j;
        uint8_t x[sizeof p.x];
        prng_bytes(rng, x, sizeof x);
        for (size_t k = 0; k < sizeof x; k += sizeof(PT_BASE)) x[k] &= 0x0f; /* below p */
        assert_true(fe_load_be(&p.x, x));
        CAT(PT, _curve_rhs)(&p.y, &p.x);
        if (!fe_sqrt(&p.y, &p.y)) continue;
        found++;
        assert_true(pt_aff_on_curve(&p));
        assert_int_equal(pt_killed_by_order(&p, order, 4), PT_WHOLE); /* by chance with probability 1/cofactor */
        assert_int_equal(pt_in_subgroup(&p), PT_WHOLE);
        pt_jac_from_aff(&j, &p);
        pt_jac_mul(&j, &j, order, 4); /* what is left lies in the cofactor's part */
        pt_jac_to_aff(&p, &j);
        assert_int_equal(pt_in_subgroup(&p), pt_aff_is_inf(&p));
    }
    pt_aff zero;
    pt_aff_set_inf(&zero);
    assert_true(pt_in_subgroup(&zero));
}

#include "curve/pt_unnames.h"
#include "field/fe_unnames.h"
