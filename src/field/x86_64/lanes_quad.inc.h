/* Eight elements of Fp[u] / (u^2 + 1) side by side.
 *
 * Takes  FE, BE as quad.inc.h; BE has lanes.inc.h */
#include "field/fe_names.h"
#include "field/x86_64/lanes_names.h"

#define B8(name) CAT(CAT(BE, _x8), name)

typedef struct {
    B8() c0, c1;
} x8_t;

enum { CAT(FE, _x8_shift_bits) = CAT(BE, _x8_shift_bits) };

DEV_FN void x8_carry(x8_t *r) { B8(_carry)(&r->c0); B8(_carry)(&r->c1); }
DEV_FN void x8_reduce(x8_t *r) { B8(_reduce)(&r->c0); B8(_reduce)(&r->c1); }
DEV_FN void x8_shift(x8_t *r, const x8_t *a) { B8(_shift)(&r->c0, &a->c0); B8(_shift)(&r->c1, &a->c1); }

DEV_FN void x8_load(x8_t *r, lanes_u address, size_t offset)
{
    B8(_load)(&r->c0, address, offset);
    B8(_load)(&r->c1, address, offset + sizeof(CAT(BE, _t)));
}

DEV_FN void x8_store(lanes_u address, size_t offset, const x8_t *a)
{
    B8(_store)(address, offset, &a->c0);
    B8(_store)(address, offset + sizeof(CAT(BE, _t)), &a->c1);
}

DEV_FN void x8_sub_loose(x8_t *r, const x8_t *a, const x8_t *b, uint64_t k)
{
    B8(_sub_loose)(&r->c0, &a->c0, &b->c0, k);
    B8(_sub_loose)(&r->c1, &a->c1, &b->c1, k);
}

DEV_FN void x8_sub(x8_t *r, const x8_t *a, const x8_t *b, uint64_t k)
{
    x8_sub_loose(r, a, b, k);
    x8_carry(r);
}

DEV_FN void x8_negate_where(x8_t *a, lanes_u mask)
{
    B8(_negate_where)(&a->c0, mask);
    B8(_negate_where)(&a->c1, mask);
}

/* a < 2p, b < 8p in each coordinate: a0 b0 + (2p - a1) b1 <= 32 p^2. */
DEV_FN_BIG void x8_mul(x8_t *r, const x8_t *a, const x8_t *b)
{
    const B8() zero = { 0 };
    B8() minus, t;
    B8(_sub)(&minus, &zero, &a->c1, 2);
    B8(_dot)(&t, &a->c0, &b->c0, &minus, &b->c1, true);
    B8(_dot)(&r->c1, &a->c0, &b->c1, &a->c1, &b->c0, true);
    r->c0 = t;
}

/* a < 2p: (a0 + a1)(a0 - a1 + 2p) < 16 p^2, 2 a0 a1 < 8 p^2. */
DEV_FN_BIG void x8_sqr(x8_t *r, const x8_t *a)
{
    B8() sum, difference, twice;
    B8(_add)(&sum, &a->c0, &a->c1);
    B8(_sub)(&difference, &a->c0, &a->c1, 2);
    B8(_add)(&twice, &a->c0, &a->c0);
    B8(_mul)(&r->c1, &twice, &a->c1);
    B8(_mul)(&r->c0, &sum, &difference);
}

#include "field/fe_unnames.h"
#include "field/x86_64/lanes_unnames.h"
#undef B8
