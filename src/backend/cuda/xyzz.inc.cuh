/* Points in XYZZ coordinates on the device (x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2; ZZ = 0: infinity): complete operations.
 *
 * Takes  FE     prefix of the coordinate field      LANES  lanes of a warp that share a point: 1 (G1) or 2 (G2)
 * Formulas: add-2008-s, madd-2008-s, dbl-2008-s-1 of the Explicit-Formulas Database for a = 0.
 * Every lane of the warp must call xyzz_add and xyzz_add_far, converged; the rare cases are then computed by all and kept by those
 * concerned. */
/* Does it hold for some lane of the warp?  All lanes must ask, converged.  Rare cases are branched to by whole warps: a function that
 * lanes leave one by one comes back parted, and nvcc 13.0 keeps loop counters that are the same for all lanes in uniform registers,
 * which the parts would then advance once each. */
#define WARP_ANY(condition) __any_sync(0xffffffffu, (condition))
/* The same where only lanes that share a point go together. */
#if LANES == 1
#define ANY_LANE(condition) (condition)
#else
#define ANY_LANE(condition) WARP_ANY(condition)
#endif

struct xyzz {
    fe_t x, y, zz, zzz;
};

/* Memory form: four coordinates in a row, COORD_BYTES each. */
#define COORD_BYTES (LANES * sizeof(fe_t))
#define XYZZ_BYTES  (4 * COORD_BYTES)
#define AFF_BYTES   (2 * COORD_BYTES)

static __device__ __forceinline__ void xyzz_read(struct xyzz *r, const uint8_t *from)
{
    fe_read(&r->x, from, 1);
    fe_read(&r->y, from + COORD_BYTES, 1);
    fe_read(&r->zz, from + 2 * COORD_BYTES, 1);
    fe_read(&r->zzz, from + 3 * COORD_BYTES, 1);
}
static __device__ __forceinline__ void xyzz_write(uint8_t *to, const struct xyzz *a)
{
    fe_write(to, &a->x, 1);
    fe_write(to + COORD_BYTES, &a->y, 1);
    fe_write(to + 2 * COORD_BYTES, &a->zz, 1);
    fe_write(to + 3 * COORD_BYTES, &a->zzz, 1);
}
static __device__ __forceinline__ void xyzz_set_inf(struct xyzz *r)
{
    fe_set_zero(&r->x);
    fe_set_zero(&r->y);
    fe_set_zero(&r->zz);
    fe_set_zero(&r->zzz);
}
static __device__ __forceinline__ void xyzz_cmov(struct xyzz *r, const struct xyzz *a, bool flag)
{
    fe_cmov(&r->x, &a->x, flag);
    fe_cmov(&r->y, &a->y, flag);
    fe_cmov(&r->zz, &a->zz, flag);
    fe_cmov(&r->zzz, &a->zzz, flag);
}

/* Products by one copy of their code a kernel.  An addition of sums has 14 of them: inlined it is 12,000 instructions in G2 of BLS12-381 and 8,000
 * in G1, 190 and 130 KiB, which an SM's instruction cache does not hold (192,000 -> 56,000 bytes made k_reduce_buckets of G2 1.29 times faster).
 * Operands and result go by value, so that they stay in registers. */
static __device__ __noinline__ fe_t product_of(fe_t a, fe_t b)
{
    fe_t r;
    fe_mul(&r, &a, &b);
    return r;
}
static __device__ __noinline__ fe_t square_of(fe_t a)
{
    fe_t r;
    fe_sqr(&r, &a);
    return r;
}
static __device__ __forceinline__ void fe_mul_far(fe_t *r, const fe_t *a, const fe_t *b) { *r = product_of(*a, *b); }
static __device__ __forceinline__ void fe_sqr_far(fe_t *r, const fe_t *a) { *r = square_of(*a); }

/* r = 2 r; infinity stays infinity because ZZ and ZZZ keep the factor. */
static __device__ __forceinline__ void xyzz_dbl(struct xyzz *r)
{
    fe_t u, v, w, s, m;
    fe_dbl(&u, &r->y);
    fe_sqr_far(&v, &u);
    fe_mul_far(&w, &u, &v);
    fe_mul_far(&s, &r->x, &v);
    fe_sqr_far(&u, &r->x);
    fe_dbl(&m, &u);
    fe_add(&m, &m, &u);
    fe_mul_far(&r->zz, &v, &r->zz);
    fe_mul_far(&r->zzz, &w, &r->zzz);
    fe_mul_far(&w, &w, &r->y);
    fe_sqr_far(&u, &m);
    fe_sub(&u, &u, &s);
    fe_sub(&r->x, &u, &s);
    fe_sub(&s, &s, &r->x);
    fe_mul_far(&u, &m, &s);
    fe_sub(&r->y, &u, &w);
}

/* One copy a kernel, for paths that are rare or short of parallel work. */
static __device__ __noinline__ void xyzz_dbl_far(struct xyzz *r) { xyzz_dbl(r); }

/* r += q in all cases.  converged: every lane of the warp calls; a vote then spares the doubling where there is none. */
static __device__ __noinline__ void xyzz_add_rare(struct xyzz *r, const struct xyzz *q, bool converged)
{
    const bool q_inf = fe_is_zero(&q->zz), r_inf = fe_is_zero(&r->zz);
    fe_t u1, p, s1, d, pp, t;
    struct xyzz sum, none;
    fe_mul_far(&u1, &r->x, &q->zz);
    fe_mul_far(&p, &q->x, &r->zz);
    fe_sub(&p, &p, &u1);
    fe_mul_far(&s1, &r->y, &q->zzz);
    fe_mul_far(&d, &q->y, &r->zzz);
    fe_sub(&d, &d, &s1);
    const bool equal_x = fe_is_zero(&p), equal_y = fe_is_zero(&d);
    fe_sqr_far(&pp, &p);
    fe_mul_far(&t, &u1, &pp);
    fe_mul_far(&sum.zz, &r->zz, &q->zz);
    fe_mul_far(&sum.zz, &sum.zz, &pp);
    fe_mul_far(&pp, &pp, &p);
    fe_mul_far(&sum.zzz, &r->zzz, &q->zzz);
    fe_mul_far(&sum.zzz, &sum.zzz, &pp);
    fe_sqr_far(&u1, &d);
    fe_sub(&u1, &u1, &pp);
    fe_sub(&u1, &u1, &t);
    fe_sub(&sum.x, &u1, &t);
    fe_sub(&t, &t, &sum.x);
    fe_neg(&s1, &s1);
    fe_dot(&sum.y, &d, &t, &s1, &pp);
    xyzz_set_inf(&none); /* opposite points */
    xyzz_cmov(&sum, &none, equal_x && !equal_y);
    if (!converged || WARP_ANY(equal_x && equal_y && !r_inf && !q_inf)) {
        struct xyzz twice = *r;
        xyzz_dbl_far(&twice);
        xyzz_cmov(&sum, &twice, equal_x && equal_y);
    }
    xyzz_cmov(&sum, q, r_inf);
    xyzz_cmov(r, &sum, !q_inf);
}

/* r += q, all cases.  Where nothing is added in the whole warp it costs nothing: a tenth of a sum's widest window has no digits, so that its
 * buckets are empty, and the segments and runs in which they lie ended last. */
static __device__ __forceinline__ void xyzz_add(struct xyzz *r, const struct xyzz *q)
{
    const bool q_inf = fe_is_zero(&q->zz), r_inf = fe_is_zero(&r->zz);
    if (!WARP_ANY(!q_inf)) return;
    fe_t u1, p, s1, d, pp, t;
    fe_mul_far(&u1, &r->x, &q->zz);
    fe_mul_far(&p, &q->x, &r->zz);
    fe_sub(&p, &p, &u1);
    const bool equal_x = fe_is_zero(&p); /* also where one is infinity with X = 0 */
    if (WARP_ANY(q_inf || r_inf || equal_x)) {
        struct xyzz sum = *r, other = *q;
        xyzz_add_rare(&sum, &other, true);
        *r = sum;
        return;
    }
    fe_mul_far(&s1, &r->y, &q->zzz);
    fe_mul_far(&d, &q->y, &r->zzz);
    fe_sub(&d, &d, &s1);
    fe_sqr_far(&pp, &p);
    fe_mul_far(&t, &u1, &pp);
    fe_mul_far(&r->zz, &r->zz, &q->zz);
    fe_mul_far(&r->zz, &r->zz, &pp);
    fe_mul_far(&pp, &pp, &p);
    fe_mul_far(&r->zzz, &r->zzz, &q->zzz);
    fe_mul_far(&r->zzz, &r->zzz, &pp);
    fe_sqr_far(&u1, &d);
    fe_sub(&u1, &u1, &pp);
    fe_sub(&u1, &u1, &t);
    fe_sub(&r->x, &u1, &t);
    fe_sub(&t, &t, &r->x);
    fe_neg(&s1, &s1);
    fe_dot(&r->y, &d, &t, &s1, &pp);
}

static __device__ __noinline__ void xyzz_add_far(struct xyzz *r, const struct xyzz *q) { xyzz_add(r, q); }

/* To canonical Jacobian coordinates X ZZ^2, Y ZZZ^2, ZZZ, in x, y, zzz: no inversion. */
static __device__ __forceinline__ void xyzz_to_jacobian(struct xyzz *r)
{
    fe_sqr(&r->zz, &r->zz);
    fe_mul(&r->x, &r->x, &r->zz);
    fe_sqr(&r->zz, &r->zzz);
    fe_mul(&r->y, &r->y, &r->zz);
    fe_canon(&r->x);
    fe_canon(&r->y);
    fe_canon(&r->zzz);
}
