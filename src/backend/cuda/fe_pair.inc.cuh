/* Fp2 = Fp[u] / (u^2 + 1) spread over two neighbouring lanes of a warp: the even lane holds c0, the odd lane c1.
 *
 * Takes  FE  prefix of the pair, e.g. fp2      BE  prefix of the prime field, e.g. fp      PAIR_NL  its limbs
 * A product costs each lane one sum of two products with one reduction; registers stay those of the prime field.
 * Every lane of the warp must call, converged: partners are read by shuffles. */
#include "backend/cuda/fe_device_names.h"
#include "field/be_names.h"

typedef be_t fe_t;

static __device__ __forceinline__ bool CAT(FE, _odd)(void) { return threadIdx.x & 1; }
static __device__ __forceinline__ void CAT(FE, _partner)(fe_t *r, const fe_t *a)
{
    UNROLL for (int i = 0; i < PAIR_NL; i++) r->v[i] = __shfl_xor_sync(0xffffffffu, a->v[i], 1);
}

static __device__ __forceinline__ void fe_sub(fe_t *r, const fe_t *a, const fe_t *b) { be_sub(r, a, b); }
static __device__ __forceinline__ void fe_add(fe_t *r, const fe_t *a, const fe_t *b) { be_add(r, a, b); }
static __device__ __forceinline__ void fe_dbl(fe_t *r, const fe_t *a) { be_dbl(r, a); }
static __device__ __forceinline__ void fe_neg(fe_t *r, const fe_t *a) { be_neg(r, a); }
static __device__ __forceinline__ void fe_cneg(fe_t *r, const fe_t *a, bool flag) { CAT(BE, _cneg)(r, a, flag); }
static __device__ __forceinline__ void fe_select(fe_t *r, const fe_t *y, const fe_t *n, bool flag) { CAT(BE, _select)(r, y, n, flag); }
static __device__ __forceinline__ void fe_cmov(fe_t *r, const fe_t *a, bool flag) { be_cmov(r, a, flag); }
static __device__ __forceinline__ void fe_canon(fe_t *a) { CAT(BE, _canon)(a); }
static __device__ __forceinline__ void fe_set_zero(fe_t *r) { be_set_zero(r); }
static __device__ __forceinline__ void fe_set_one(fe_t *r)
{
    be_set_one(r);
    if (CAT(FE, _odd)()) be_set_zero(r);
}
static __device__ __forceinline__ bool fe_is_zero(const fe_t *a)
{
    const int mine = be_is_zero(a);
    return (mine & __shfl_xor_sync(0xffffffffu, mine, 1)) != 0;
}

/* A product's operands as a lane needs them: a b is own * b0 + other * b1. */
static __device__ __forceinline__ void CAT(FE, _spread)(fe_t *other, fe_t *b0, fe_t *b1, const fe_t *a, const fe_t *b)
{
    const bool odd = CAT(FE, _odd)();
    CAT(FE, _partner)(other, a);
    CAT(FE, _partner)(b1, b);
    fe_select(b0, b1, b, odd);
    fe_select(b1, b, b1, odd);
    fe_cneg(b1, b1, !odd);
}

/* even lane: a0 b0 - a1 b1      odd lane: a1 b0 + a0 b1 */
static __device__ __forceinline__ void fe_mul(fe_t *r, const fe_t *a, const fe_t *b)
{
    fe_t other, b0, b1;
    CAT(FE, _spread)(&other, &b0, &b1, a, b);
    CAT(BE, _dot)(r, a, &b0, &other, &b1);
}

/* even lane: (a0 + a1)(a0 - a1)      odd lane: (2 a1) a0 */
static __device__ __forceinline__ void fe_sqr(fe_t *r, const fe_t *a)
{
    fe_t p, x, y;
    const bool odd = CAT(FE, _odd)();
    CAT(FE, _partner)(&p, a);
    fe_select(&x, a, &p, odd);
    be_add(&x, a, &x);
    be_sub(&y, a, &p);
    fe_select(&y, &p, &y, odd);
    be_mul(r, &x, &y);
}

static __device__ __forceinline__ void fe_dot(fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c, const fe_t *d)
{
#if PAIR_NL == 12
    fe_t ap, b0, b1, cp, d0, d1;
    CAT(FE, _spread)(&ap, &b0, &b1, a, b);
    CAT(FE, _spread)(&cp, &d0, &d1, c, d);
    CAT(BE, _dot4)(r, a, &b0, &ap, &b1, c, &d0, &cp, &d1);
#else
    fe_t t;
    fe_mul(&t, a, b);
    fe_mul(r, c, d);
    fe_add(r, r, &t);
#endif
}

/* 1 / a = conj(a) / (a0^2 + a1^2) */
static __device__ __noinline__ void fe_inv(fe_t *r, const fe_t *a)
{
    fe_t p, n, t;
    CAT(FE, _partner)(&p, a);
    be_sqr(&n, a);
    be_sqr(&t, &p);
    be_add(&n, &n, &t);
    be_inv(&n, &n);
    be_mul(&n, &n, a);
    fe_cneg(r, &n, CAT(FE, _odd)());
}

/* A coordinate in memory is c0 then c1; each lane moves its own half. */
static __device__ __forceinline__ const uint8_t *CAT(FE, _half)(const void *p)
{
    return (const uint8_t *)p + (CAT(FE, _odd)() ? sizeof(fe_t) : 0);
}
static __device__ __forceinline__ void fe_read(fe_t *r, const void *from, const int stride)
{
    CAT(BE, _read)(r, CAT(FE, _half)(from), stride);
}
static __device__ __forceinline__ void fe_read_const(fe_t *r, const void *from) { CAT(BE, _read_const)(r, CAT(FE, _half)(from)); }
static __device__ __forceinline__ void fe_write(void *to, const fe_t *a, const int stride)
{
    CAT(BE, _write)((void *)CAT(FE, _half)(to), a, stride);
}

#include "backend/cuda/fe_device_unnames.h"
#include "field/be_unnames.h"
