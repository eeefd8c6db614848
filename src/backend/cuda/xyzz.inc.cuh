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

/* r = 2 r; infinity stays infinity because ZZ and ZZZ keep the factor. */
static __device__ __forceinline__ void xyzz_dbl(struct xyzz *r)
{
    fe_t u, v, w, s, m;
    fe_dbl(&u, &r->y);
    fe_sqr(&v, &u);
    fe_mul(&w, &u, &v);
    fe_mul(&s, &r->x, &v);
    fe_sqr(&u, &r->x);
    fe_dbl(&m, &u);
    fe_add(&m, &m, &u);
    fe_mul(&r->zz, &v, &r->zz);
    fe_mul(&r->zzz, &w, &r->zzz);
    fe_mul(&w, &w, &r->y);
    fe_sqr(&u, &m);
    fe_sub(&u, &u, &s);
    fe_sub(&r->x, &u, &s);
    fe_sub(&s, &s, &r->x);
    fe_mul(&u, &m, &s);
    fe_sub(&r->y, &u, &w);
}

/* One copy a kernel, for paths that are rare or short of parallel work. */
static __device__ __noinline__ void xyzz_dbl_far(struct xyzz *r) { xyzz_dbl(r); }

/* r += q in all cases, without a branch. */
static __device__ __noinline__ void xyzz_add_rare(struct xyzz *r, const struct xyzz *q)
{
    const bool q_inf = fe_is_zero(&q->zz), r_inf = fe_is_zero(&r->zz);
    fe_t u1, p, s1, d, pp, t;
    struct xyzz sum, none, twice = *r;
    fe_mul(&u1, &r->x, &q->zz);
    fe_mul(&p, &q->x, &r->zz);
    fe_sub(&p, &p, &u1);
    fe_mul(&s1, &r->y, &q->zzz);
    fe_mul(&d, &q->y, &r->zzz);
    fe_sub(&d, &d, &s1);
    const bool equal_x = fe_is_zero(&p), equal_y = fe_is_zero(&d);
    xyzz_dbl_far(&twice);
    fe_sqr(&pp, &p);
    fe_mul(&t, &u1, &pp);
    fe_mul(&sum.zz, &r->zz, &q->zz);
    fe_mul(&sum.zz, &sum.zz, &pp);
    fe_mul(&pp, &pp, &p);
    fe_mul(&sum.zzz, &r->zzz, &q->zzz);
    fe_mul(&sum.zzz, &sum.zzz, &pp);
    fe_sqr(&u1, &d);
    fe_sub(&u1, &u1, &pp);
    fe_sub(&u1, &u1, &t);
    fe_sub(&sum.x, &u1, &t);
    fe_sub(&t, &t, &sum.x);
    fe_neg(&s1, &s1);
    fe_dot(&sum.y, &d, &t, &s1, &pp);
    xyzz_set_inf(&none); /* opposite points */
    xyzz_cmov(&sum, &none, equal_x && !equal_y);
    xyzz_cmov(&sum, &twice, equal_x && equal_y);
    xyzz_cmov(&sum, q, r_inf);
    xyzz_cmov(r, &sum, !q_inf);
}

/* r += q, all cases. */
static __device__ __forceinline__ void xyzz_add(struct xyzz *r, const struct xyzz *q)
{
    const bool q_inf = fe_is_zero(&q->zz), r_inf = fe_is_zero(&r->zz);
    fe_t u1, p, s1, d, pp, t;
    fe_mul(&u1, &r->x, &q->zz);
    fe_mul(&p, &q->x, &r->zz);
    fe_sub(&p, &p, &u1);
    const bool equal_x = fe_is_zero(&p); /* also where one is infinity with X = 0 */
    if (WARP_ANY(q_inf || r_inf || equal_x)) {
        struct xyzz sum = *r, other = *q;
        xyzz_add_rare(&sum, &other);
        *r = sum;
        return;
    }
    fe_mul(&s1, &r->y, &q->zzz);
    fe_mul(&d, &q->y, &r->zzz);
    fe_sub(&d, &d, &s1);
    fe_sqr(&pp, &p);
    fe_mul(&t, &u1, &pp);
    fe_mul(&r->zz, &r->zz, &q->zz);
    fe_mul(&r->zz, &r->zz, &pp);
    fe_mul(&pp, &pp, &p);
    fe_mul(&r->zzz, &r->zzz, &q->zzz);
    fe_mul(&r->zzz, &r->zzz, &pp);
    fe_sqr(&u1, &d);
    fe_sub(&u1, &u1, &pp);
    fe_sub(&u1, &u1, &t);
    fe_sub(&r->x, &u1, &t);
    fe_sub(&t, &t, &r->x);
    fe_neg(&s1, &s1);
    fe_dot(&r->y, &d, &t, &s1, &pp);
}

static __device__ __noinline__ void xyzz_add_far(struct xyzz *r, const struct xyzz *q) { xyzz_add(r, q); }

/* r += (x, y), an affine point, 8 M + 2 S, in two halves, so that a caller may load the next point between them.  start tells whether the x
 * are equal, which an infinite sum with X = 0 shows too: then finish must not follow, nor for a point at infinity. */
static __device__ __forceinline__ bool xyzz_mixed_start(fe_t *p, fe_t *d, const struct xyzz *r, const fe_t *x, const fe_t *y)
{
    fe_mul(p, x, &r->zz);
    fe_sub(p, p, &r->x);
    fe_mul(d, y, &r->zzz);
    fe_sub(d, d, &r->y);
    return fe_is_zero(p);
}
static __device__ __forceinline__ void xyzz_mixed_finish(struct xyzz *r, const fe_t *p, const fe_t *d)
{
    fe_t pp, q, t;
    fe_sqr(&pp, p);
    fe_mul(&r->zz, &r->zz, &pp);
    fe_mul(&q, &r->x, &pp);
    fe_mul(&pp, &pp, p);
    fe_mul(&r->zzz, &r->zzz, &pp);
    fe_sqr(&t, d);
    fe_sub(&t, &t, &pp);
    fe_sub(&t, &t, &q);
    fe_sub(&r->x, &t, &q);
    fe_sub(&t, &q, &r->x);
    fe_neg(&r->y, &r->y);
    fe_dot(&r->y, d, &t, &r->y, &pp);
}

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
