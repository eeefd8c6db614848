/* Inversion in a prime field on the device: division steps, 30 at a time, the same steps for every value.
 *
 * Included by fe_device.inc.h, whose parameters and names it takes.
 * Bernstein and Yang, "Fast constant-time gcd computation and modular inversion" (2019), with the step count's half-shift and the
 * transition matrices of Wuille's "safegcd" notes: 30 steps look at the lowest 30 bits of f and g only and give a matrix of words,
 * which then acts on the long f, g and, modulo p, on d, e.  All lanes of a warp do the same work: 13 x cheaper than a^(p-2).
 * 878 steps suffice for 381 bits and 588 for 255. */
#define LIMBS   ((32 * NL + 29) / 30)   /* of 30 bits, the top one signed */
#define BATCHES (NL == 12 ? 30 : 20)
#define MASK_30 0x3fffffff
static_assert(NL == 12 || NL == 8, "the number of steps is known for these sizes");

/* The 30 bits of a number from bit 30 i. */
struct CAT(FE, _inverse_constants) {
    int32_t p[LIMBS];
    uint32_t p_inverse; /* modulo 2^30 */
    static constexpr int32_t limb(const uint32_t *words, int i)
    {
        const int at = 30 * i / 32, shift = 30 * i % 32;
        uint64_t both = words[at];
        if (at + 1 < NL) both |= (uint64_t)words[at + 1] << 32;
        return (int32_t)(both >> shift & MASK_30);
    }
    constexpr CAT(FE, _inverse_constants)() : p(), p_inverse(0)
    {
        FE_CONSTANTS;
        for (int i = 0; i < LIMBS; i++) p[i] = limb(K.p, i);
        p_inverse = (0u - (uint32_t)CAT(FE_UPPER, _INV)) & MASK_30;
    }
};

/* What 30 steps do: 2^30 (f', g') = (u f + v g, q f + r g). */
struct CAT(FE, _steps) {
    int32_t u, v, q, r;
};
DEV_FN int32_t CAT(FE, _steps_30)(struct CAT(FE, _steps) *m, int32_t zeta, uint32_t f, uint32_t g)
{
    uint32_t u = 1, v = 0, q = 0, r = 1;
    NOT_UNROLLED
    for (int k = 0; k < 30; k += 6) {
        UNROLL for (int i = 0; i < 6; i++) {
            const uint32_t odd = 0u - (g & 1);
            uint32_t less = (uint32_t)(zeta >> 31); /* zeta < 0: g becomes (g - f) / 2, not (g + f) / 2 */
            g += ((f ^ less) - less) & odd;
            q += ((u ^ less) - less) & odd;
            r += ((v ^ less) - less) & odd;
            less &= odd; /* and f takes the old g, which is the new one plus f */
            zeta = (zeta ^ (int32_t)less) - 1;
            f += g & less;
            u += q & less;
            v += r & less;
            g >>= 1;
            u <<= 1;
            v <<= 1;
        }
    }
    m->u = (int32_t)u;
    m->v = (int32_t)v;
    m->q = (int32_t)q;
    m->r = (int32_t)r;
    return zeta;
}

/* r = 1 / a, 0 for 0.  Not inlined: one copy a kernel. */
DEV_FN_BIG void fe_inv(fe_t *r, const fe_t *a)
{
    FE_CONSTANTS;
    constexpr CAT(FE, _inverse_constants) N;
    int32_t f[LIMBS], g[LIMBS], d[LIMBS], e[LIMBS], zeta = -1;
    fe_t t = *a;
    fe_canon(&t);
    UNROLL for (int i = 0; i < LIMBS; i++) {
        f[i] = N.p[i];
        g[i] = N.limb(t.v, i);
        d[i] = 0;
        e[i] = i == 0;
    }
    NOT_UNROLLED
    for (int batch = 0; batch < BATCHES; batch++) {
        struct CAT(FE, _steps) m;
        zeta = CAT(FE, _steps_30)(&m, zeta, (uint32_t)f[0], (uint32_t)g[0]);
        /* d and e lie in (-2p, p); multiples of p make them divisible by 2^30 and keep them there */
        const int32_t sd = d[LIMBS - 1] >> 31, se = e[LIMBS - 1] >> 31;
        int32_t md = (m.u & sd) + (m.v & se), me = (m.q & sd) + (m.r & se);
        int64_t cd = (int64_t)m.u * d[0] + (int64_t)m.v * e[0], ce = (int64_t)m.q * d[0] + (int64_t)m.r * e[0];
        int64_t cf = (int64_t)m.u * f[0] + (int64_t)m.v * g[0], cg = (int64_t)m.q * f[0] + (int64_t)m.r * g[0];
        md -= (int32_t)((N.p_inverse * (uint32_t)cd + (uint32_t)md) & MASK_30);
        me -= (int32_t)((N.p_inverse * (uint32_t)ce + (uint32_t)me) & MASK_30);
        cd = (cd + (int64_t)N.p[0] * md) >> 30;
        ce = (ce + (int64_t)N.p[0] * me) >> 30;
        cf >>= 30;
        cg >>= 30;
        UNROLL for (int i = 1; i < LIMBS; i++) {
            cd += (int64_t)m.u * d[i] + (int64_t)m.v * e[i] + (int64_t)N.p[i] * md;
            ce += (int64_t)m.q * d[i] + (int64_t)m.r * e[i] + (int64_t)N.p[i] * me;
            cf += (int64_t)m.u * f[i] + (int64_t)m.v * g[i];
            cg += (int64_t)m.q * f[i] + (int64_t)m.r * g[i];
            d[i - 1] = (int32_t)cd & MASK_30;
            e[i - 1] = (int32_t)ce & MASK_30;
            f[i - 1] = (int32_t)cf & MASK_30;
            g[i - 1] = (int32_t)cg & MASK_30;
            cd >>= 30;
            ce >>= 30;
            cf >>= 30;
            cg >>= 30;
        }
        d[LIMBS - 1] = (int32_t)cd;
        e[LIMBS - 1] = (int32_t)ce;
        f[LIMBS - 1] = (int32_t)cf;
        g[LIMBS - 1] = (int32_t)cg;
    }
    /* f = 1 or -1 and d f = 1 / (a R) modulo p (d = 0 for 0): brought from (-2p, p) to [0, p) */
    const int32_t sign = f[LIMBS - 1] >> 31;
    UNROLL for (int pass = 0; pass < 2; pass++) {
        const int32_t below = d[LIMBS - 1] >> 31, minus = pass == 0 ? sign : 0;
        int32_t carry = 0;
        UNROLL for (int i = 0; i < LIMBS; i++) {
            carry += ((d[i] + (N.p[i] & below)) ^ minus) - minus;
            d[i] = i < LIMBS - 1 ? carry & MASK_30 : carry;
            carry >>= 30;
        }
    }
    const fe_t r3 = { CAT(FE_UPPER, _R3_32) };
    UNROLL for (int i = 0; i < NL; i++) {
        const int at = 32 * i / 30, shift = 32 * i % 30;
        uint32_t w = (uint32_t)d[at] >> shift;
        if (at + 1 < LIMBS) w |= (uint32_t)d[at + 1] << (30 - shift);
        if (shift > 28 && at + 2 < LIMBS) w |= (uint32_t)d[at + 2] << (60 - shift);
        t.v[i] = w;
    }
    fe_mul(r, &r3, &t);
}
#undef LIMBS
#undef BATCHES
#undef MASK_30
