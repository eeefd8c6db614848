/* Points in XYZZ coordinates on the device (x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2; ZZ = 0: infinity): complete operations.
 *
 * Takes  FE     prefix of the coordinate field      LANES  lanes of a warp that share a point: 1 (G1) or 2 (G2)
 * Formulas: add-2008-s, madd-2008-s, dbl-2008-s-1, mdbl-2008-s-1 of the Explicit-Formulas Database for a = 0.
 * With two lanes every lane of the warp must call, converged; the rare cases are then computed by all and kept by those concerned. */
#if LANES == 1
#define ANY_LANE(condition) (condition)
#else
#define ANY_LANE(condition) __any_sync(0xffffffffu, (condition))
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

/* r = 2 (x, y), for an affine point that is not infinity (no point of these groups has y = 0). */
static __device__ __forceinline__ void xyzz_dbl_affine(struct xyzz *r, const fe_t *x, const fe_t *y)
{
    fe_t s, m, t;
    fe_dbl(&t, y);
    fe_sqr(&r->zz, &t);
    fe_mul(&r->zzz, &t, &r->zz);
    fe_mul(&s, x, &r->zz);
    fe_sqr(&t, x);
    fe_dbl(&m, &t);
    fe_add(&m, &m, &t);
    fe_mul(&r->y, &r->zzz, y);
    fe_sqr(&t, &m);
    fe_sub(&t, &t, &s);
    fe_sub(&r->x, &t, &s);
    fe_sub(&s, &s, &r->x);
    fe_mul(&t, &m, &s);
    fe_sub(&r->y, &t, &r->y);
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
static __device__ __noinline__ void xyzz_dbl_affine_far(struct xyzz *r, const fe_t *x, const fe_t *y) { xyzz_dbl_affine(r, x, y); }

/* r += q, all cases. */
static __device__ __forceinline__ void xyzz_add(struct xyzz *r, const struct xyzz *q)
{
    const bool q_inf = fe_is_zero(&q->zz), r_inf = fe_is_zero(&r->zz);
    fe_t u1, p, s1, d, pp, t;
    fe_mul(&u1, &r->x, &q->zz);
    fe_mul(&p, &q->x, &r->zz);
    fe_sub(&p, &p, &u1);
    fe_mul(&s1, &r->y, &q->zzz);
    fe_mul(&d, &q->y, &r->zzz);
    fe_sub(&d, &d, &s1);
    const bool equal_x = fe_is_zero(&p) && !q_inf && !r_inf;
    if (ANY_LANE(q_inf || r_inf || equal_x)) {
        if (LANES == 1) {
            if (q_inf) return;
            if (r_inf) {
                *r = *q;
                return;
            }
            if (fe_is_zero(&d)) {
                struct xyzz twice = *r;
                xyzz_dbl_far(&twice);
                *r = twice;
            } else {
                xyzz_set_inf(r);
            }
            return;
        }
        struct xyzz twice = *r, none;
        const bool same = fe_is_zero(&d);
        xyzz_dbl_far(&twice);
        xyzz_set_inf(&none);
        xyzz_cmov(&none, &twice, same);     /* the result where x is equal */
        xyzz_cmov(&none, q, r_inf);
        xyzz_cmov(&none, r, q_inf);
        twice = *r;
        fe_sqr(&pp, &p);
        fe_mul(&t, &u1, &pp);
        fe_mul(&twice.zz, &r->zz, &q->zz);
        fe_mul(&twice.zz, &twice.zz, &pp);
        fe_mul(&pp, &pp, &p);
        fe_mul(&twice.zzz, &r->zzz, &q->zzz);
        fe_mul(&twice.zzz, &twice.zzz, &pp);
        fe_sqr(&u1, &d);
        fe_sub(&u1, &u1, &pp);
        fe_sub(&u1, &u1, &t);
        fe_sub(&twice.x, &u1, &t);
        fe_sub(&t, &t, &twice.x);
        fe_neg(&s1, &s1);
        fe_dot(&twice.y, &d, &t, &s1, &pp);
        xyzz_cmov(&none, &twice, !(q_inf || r_inf || equal_x));
        *r = none;
        return;
    }
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
