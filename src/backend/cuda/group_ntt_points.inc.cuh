/* Butterflies over affine points of one curve's G1.
 *
 * Takes  FE, FE_UPPER  the coordinate field      BETA  initialiser of 64-bit words: phi(x, y) = (BETA x, y)
 *        GROUP_NTT(name)  exported name      GROUP_NTT_BLOCKS  resident blocks that the registers are fitted to
 *
 * One thread a butterfly u, v -> u + w v, u - w v.  The product is curve/glv.inc.h's: windows of four bits of both halves of w, a table of
 * v .. 8 v on one Z, 128 doublings (7 products) and 64 mixed additions (11), every lane the same work: a digit 0 is added and dropped, the
 * sum that is still infinity is replaced.  Equal points cannot meet in the ladder: v has prime order, and what the ladder has so far is
 * shorter than any vector of the lattice.  They can where u is added, and there both cases are worked out.  The block's points become
 * affine by one inversion in a tree of products, so between passes there are affine points alone.
 * Predicted on an H200 (8.4 clocks a product of 381 bits and SM, 261 G clocks a second): 1,760 products a butterfly; 2^22 points, 22 passes:
 * 46 M butterflies, 2.6 s at the multiplier's floor, 3.5 s at three quarters of it; 2^27: 1.8 G, 102 s and 137 s. */
#include "backend/cuda/group_ntt_kernels.h"
#include "backend/cuda/launch.h"
#include "curve/glv.h"
#include "backend/cuda/fe_device_names.h"

#define THREADS 128
#define ENTRIES 8
#define COORD_BYTES sizeof(fe_t)

struct jac {
    fe_t x, y, z;
};
struct aff {
    fe_t x, y;
};

struct beta_words {
    uint64_t w[sizeof(fe_t) / 8];
};

static __device__ __forceinline__ void aff_read(struct aff *r, const uint8_t *from)
{
    fe_read(&r->x, from, 1);
    fe_read(&r->y, from + COORD_BYTES, 1);
}

static __device__ __forceinline__ bool aff_is_inf(const struct aff *p)
{
    uint32_t w = 0;
    UNROLL for (int i = 0; i < (int)(sizeof(fe_t) / 4); i++) w |= p->x.v[i] | p->y.v[i];
    return w == 0;
}

static __device__ __forceinline__ void jac_cmov(struct jac *r, const struct jac *a, bool flag)
{
    fe_cmov(&r->x, &a->x, flag);
    fe_cmov(&r->y, &a->y, flag);
    fe_cmov(&r->z, &a->z, flag);
}

/* dbl-2009-l; infinity stays, by its Z. */
static __device__ __forceinline__ void jac_dbl(struct jac *r)
{
    fe_t a, b, c, d, e;
    fe_mul(&e, &r->y, &r->z);
    fe_dbl(&r->z, &e);
    fe_sqr(&a, &r->x);
    fe_sqr(&b, &r->y);
    fe_sqr(&c, &b);
    fe_add(&d, &r->x, &b);
    fe_sqr(&d, &d);
    fe_sub(&d, &d, &a);
    fe_sub(&d, &d, &c);
    fe_dbl(&d, &d);
    fe_dbl(&e, &a);
    fe_add(&e, &e, &a);
    fe_sqr(&b, &e);
    fe_sub(&b, &b, &d);
    fe_sub(&r->x, &b, &d);
    fe_sub(&d, &d, &r->x);
    fe_mul(&d, &d, &e);
    fe_dbl(&c, &c);
    fe_dbl(&c, &c);
    fe_dbl(&c, &c);
    fe_sub(&r->y, &d, &c);
}

/* r = p + q for p and q neither infinity nor of the same x; *h: by what Z grew.  *same_x, *same: otherwise. */
static __device__ __forceinline__ void jac_add_aff(struct jac *r, const struct jac *p, const struct aff *q, fe_t *h, bool *same_x, bool *same)
{
    fe_t hh, w, v, t;
    fe_sqr(&t, &p->z);
    fe_mul(h, &q->x, &t);
    fe_sub(h, h, &p->x);
    fe_mul(&w, &q->y, &p->z);
    fe_mul(&w, &w, &t);
    fe_sub(&w, &w, &p->y);
    *same_x = fe_is_zero(h);
    *same = *same_x && fe_is_zero(&w);
    fe_mul(&r->z, &p->z, h);
    fe_sqr(&hh, h);
    fe_mul(&v, &p->x, &hh);
    fe_mul(&hh, &hh, h);
    fe_sqr(&t, &w);
    fe_sub(&t, &t, &hh);
    fe_sub(&t, &t, &v);
    fe_sub(&t, &t, &v);
    fe_sub(&v, &v, &t);
    fe_mul(&v, &v, &w);
    fe_mul(&hh, &hh, &p->y);
    r->x = t;
    fe_sub(&r->y, &v, &hh);
}

/* table[i] = (i + 1) p in units of the common *z: curve/glv.inc.h */
static __device__ __forceinline__ void make_table(struct aff *table, fe_t *z, const struct aff *p)
{
    fe_t ratio[ENTRIES], h, zz;
    struct jac sum;
    bool same_x, same;
    sum.x = p->x;
    sum.y = p->y;
    fe_set_one(&sum.z);
    table[0] = *p;
    jac_dbl(&sum);
    ratio[1] = sum.z;
    table[1].x = sum.x;
    table[1].y = sum.y;
    NOT_UNROLLED
    for (int i = 2; i < ENTRIES; i++) {
        jac_add_aff(&sum, &sum, p, &h, &same_x, &same);
        ratio[i] = h;
        table[i].x = sum.x;
        table[i].y = sum.y;
    }
    *z = sum.z;
    h = ratio[ENTRIES - 1];
    NOT_UNROLLED
    for (int i = ENTRIES - 2; i >= 0; i--) {
        fe_sqr(&zz, &h);
        fe_mul(&table[i].x, &table[i].x, &zz);
        fe_mul(&zz, &zz, &h);
        fe_mul(&table[i].y, &table[i].y, &zz);
        if (i > 0) fe_mul(&h, &h, &ratio[i]);
    }
}

/* r = k p */
static __device__ __forceinline__ void multiply(struct jac *r, const struct aff *p, const struct glv_scalar *k)
{
    const struct beta_words words = BETA;
    struct aff table[ENTRIES], entry;
    struct jac sum;
    fe_t z, h, beta;
    bool empty = true, same_x, same;
    UNROLL for (int i = 0; i < (int)(sizeof(fe_t) / 4); i++) beta.v[i] = (uint32_t)(words.w[i / 2] >> (32 * (i % 2)));
    make_table(table, &z, p);
    fe_set_one(&r->x);
    fe_set_one(&r->y);
    fe_set_zero(&r->z);
    NOT_UNROLLED
    for (int window = GLV_WINDOWS - 1; window >= 0; window--) {
        NOT_UNROLLED
        for (int i = 0; i < 4; i++) jac_dbl(r);
        NOT_UNROLLED
        for (int half = 0; half < 2; half++) {
            const int digit = glv_digit(k, half, window), size = digit < 0 ? -digit : digit;
            entry = table[size == 0 ? 0 : size - 1];
            fe_mul(&h, &beta, &entry.x);
            fe_cmov(&entry.x, &h, half == 1);
            fe_cneg(&entry.y, &entry.y, (digit < 0) != k->negative[half]);
            jac_add_aff(&sum, r, &entry, &h, &same_x, &same);
            fe_cmov(&sum.x, &entry.x, empty);
            fe_cmov(&sum.y, &entry.y, empty);
            fe_set_one(&h);
            fe_cmov(&sum.z, &h, empty);
            jac_cmov(r, &sum, digit != 0);
            empty = empty && digit == 0;
        }
    }
    fe_mul(&r->z, &r->z, &z);
    fe_set_zero(&h);
    fe_cmov(&r->z, &h, aff_is_inf(p));
}

/* r = p + q, whatever they are. */
static __device__ __forceinline__ void add_any(struct jac *r, const struct jac *p, const struct aff *q)
{
    const bool p_inf = fe_is_zero(&p->z), q_inf = aff_is_inf(q);
    struct jac t;
    fe_t h;
    bool same_x, same;
    jac_add_aff(r, p, q, &h, &same_x, &same);
    if (__any_sync(0xffffffffu, same)) {
        t = *p;
        jac_dbl(&t);
        jac_cmov(r, &t, same);
    }
    fe_set_zero(&h);
    fe_cmov(&r->z, &h, same_x && !same);
    t.x = q->x;
    t.y = q->y;
    fe_set_one(&t.z);
    jac_cmov(r, &t, p_inf);
    jac_cmov(r, p, q_inf);
}

/* inverse = 1 / z for every thread of the block, 1 for 0: one inversion in a tree of products.  All threads call it. */
static __device__ __forceinline__ void invert_block(fe_t *inverse, const fe_t *z)
{
    __shared__ fe_t tree[2 * THREADS];
    fe_t a, b, one;
    fe_set_one(&one);
    fe_select(&a, &one, z, fe_is_zero(z));
    tree[THREADS + threadIdx.x] = a;
    __syncthreads();
    NOT_UNROLLED
    for (unsigned width = THREADS / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) {
            a = tree[2 * (width + threadIdx.x)];
            b = tree[2 * (width + threadIdx.x) + 1];
            fe_mul(&tree[width + threadIdx.x], &a, &b);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        a = tree[1];
        fe_inv(&tree[1], &a);
    }
    __syncthreads();
    NOT_UNROLLED
    for (unsigned width = 1; width < THREADS; width *= 2) {
        fe_t up;
        if (threadIdx.x < width) {
            up = tree[width + threadIdx.x];
            a = tree[2 * (width + threadIdx.x)];
            b = tree[2 * (width + threadIdx.x) + 1];
            fe_mul(&tree[2 * (width + threadIdx.x)], &up, &b);
            fe_mul(&tree[2 * (width + threadIdx.x) + 1], &up, &a);
        }
        __syncthreads();
    }
    *inverse = tree[THREADS + threadIdx.x];
}

/* p / z as affine coordinates, canonical; infinity as zeros. */
static __device__ __forceinline__ void write_affine(uint8_t *to, const struct jac *p, const fe_t *inverse)
{
    const bool inf = fe_is_zero(&p->z);
    fe_t x, y, zz, zero;
    fe_set_zero(&zero);
    fe_sqr(&zz, inverse);
    fe_mul(&x, &p->x, &zz);
    fe_mul(&zz, &zz, inverse);
    fe_mul(&y, &p->y, &zz);
    fe_cmov(&x, &zero, inf);
    fe_cmov(&y, &zero, inf);
    fe_canon(&x);
    fe_canon(&y);
    fe_write(to, &x, 1);
    fe_write(to + COORD_BYTES, &y, 1);
}

static __global__ void __launch_bounds__(THREADS, GROUP_NTT_BLOCKS) k_join(struct group_ntt_pass p)
{
    const uint64_t id = (uint64_t)blockIdx.x * THREADS + threadIdx.x, i = id < p.pairs ? id : p.pairs - 1;
    const uint64_t j = p.j0 + i % p.j_count, at = i / p.j_count * 2 * p.half + j;
    uint8_t *const low = (uint8_t *)p.points + at * 2 * COORD_BYTES, *const high = low + p.half * 2 * COORD_BYTES;
    struct jac product, result[2]; /* u + w v, u - w v: one copy of the code makes both */
    struct aff u, v;
    fe_t z[2], both, inverse, t;
    aff_read(&v, high);
    if (p.scalars) {
        const struct glv_scalar k = ((const struct glv_scalar *)p.scalars)[i % p.j_count];
        multiply(&product, &v, &k);
    } else {
        product.x = v.x;
        product.y = v.y;
        fe_set_one(&product.z);
        fe_set_zero(&t);
        fe_cmov(&product.z, &t, aff_is_inf(&v));
    }
    aff_read(&u, low);
    NOT_UNROLLED
    for (int k = 0; k < 2; k++) {
        struct jac sum;
        add_any(&sum, &product, &u);
        fe_neg(&product.y, &product.y);
        fe_set_one(&t);
        fe_select(&z[k], &t, &sum.z, fe_is_zero(&sum.z));
        result[k] = sum;
    }
    fe_mul(&both, &z[0], &z[1]);
    invert_block(&inverse, &both);
    if (id >= p.pairs) return;
    NOT_UNROLLED
    for (int k = 0; k < 2; k++) {
        fe_mul(&t, &inverse, &z[1 - k]);
        write_affine(k == 0 ? low : high, &result[k], &t);
    }
}

static __global__ void __launch_bounds__(THREADS, GROUP_NTT_BLOCKS) k_scale(uint8_t *points, const struct glv_scalar *scalars, uint64_t count)
{
    const uint64_t id = (uint64_t)blockIdx.x * THREADS + threadIdx.x, i = id < count ? id : count - 1;
    const struct glv_scalar k = scalars[i];
    struct jac product;
    struct aff v;
    fe_t inverse;
    aff_read(&v, points + i * 2 * COORD_BYTES);
    multiply(&product, &v, &k);
    invert_block(&inverse, &product.z);
    if (id < count) write_affine(points + i * 2 * COORD_BYTES, &product, &inverse);
}

extern "C" int GROUP_NTT(join)(const struct group_ntt_pass *p, void *stream)
{
    LAUNCH(k_join, (unsigned)((p->pairs + THREADS - 1) / THREADS), THREADS, 0, stream)(*p);
    return cudaGetLastError();
}

extern "C" int GROUP_NTT(scale)(void *points, const void *scalars, uint64_t count, void *stream)
{
    LAUNCH(k_scale, (unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream)
    ((uint8_t *)points, (const struct glv_scalar *)scalars, count);
    return cudaGetLastError();
}
