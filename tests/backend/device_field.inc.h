/* One field of the device on the host: every operation against field/prime.inc.h, on edge patterns and random values.
 *
 * Takes  FE  the device's prefix      REF  the portable prefix      NAME  a suffix for this body's functions
 *        FIRST_CANONICAL  first factors must be below p (4p > R); dot is not available */
#define D(verb)  CAT(CAT(FE, _), verb)
#define P(verb)  CAT(CAT(REF, _), verb)
#define T(verb)  CAT(CAT(NAME, _), verb)
typedef CAT(FE, _t) T(dev);
typedef CAT(REF, _t) T(ref);

STATIC_ASSERT(sizeof(T(dev)) == sizeof(T(ref)), "one memory form");
enum { T(limbs) = sizeof(T(dev)) / 4 };

static void T(modulus)(uint32_t *p)
{
    static const CAT(FE, _constants) k;
    memcpy(p, k.p, sizeof k.p);
}

/* a < m p? */
static bool T(below)(const T(dev) *a, unsigned m)
{
    uint32_t p[T(limbs)];
    uint64_t carry = 0, borrow = 0;
    T(modulus)(p);
    for (int i = 0; i < T(limbs); i++) {
        carry += (uint64_t)m * p[i];
        const uint64_t d = (uint64_t)a->v[i] - (uint32_t)carry - borrow;
        carry >>= 32;
        borrow = d >> 63;
    }
    return carry != 0 || borrow != 0;
}

/* Any value below 2p to its class: the portable form. */
static T(ref) T(class)(const T(dev) *a)
{
    T(dev) c = *a;
    T(ref) r;
    D(canon)(&c);
    assert_true(T(below)(&c, 1));
    memcpy(&r, &c, sizeof r);
    return r;
}

static void T(draw)(T(dev) *a, unsigned k, bool canonical)
{
    uint32_t p[T(limbs)];
    T(modulus)(p);
    prng_bytes(&rng, a, sizeof *a);
    uint64_t carry = 0;
    switch (k % 12) {
    case 0: memset(a, 0, sizeof *a); break;
    case 1: memset(a, 0, sizeof *a); a->v[0] = 1; break;
    case 2: memcpy(a, p, sizeof p); a->v[0] -= 1; break; /* p - 1 */
    case 3: D(set_one)(a); break;
    case 4: memset(a, 0xff, sizeof *a); break;
    case 5: for (int i = 0; i < T(limbs); i++) a->v[i] = (i & 1) ? 0xffffffffu : 0; break;
    case 6: for (int i = 0; i < T(limbs); i++) a->v[i] = (i & 1) ? 0 : 0xffffffffu; break;
    case 7: a->v[0] = 0; break;
    case 8: a->v[0] = 0; a->v[1] = 0; break;
    case 9: /* 2p - 1 */
        for (int i = 0; i < T(limbs); i++) {
            carry += 2 * (uint64_t)p[i];
            a->v[i] = (uint32_t)carry;
            carry >>= 32;
        }
        a->v[0] -= 1;
        break;
    default: break;
    }
    if (k % 12 == 2 && prng_below(&rng, 2)) a->v[0] -= (uint32_t)prng_below(&rng, 8);
    while (!T(below)(a, canonical ? 1 : 2)) { /* shorten until in range */
        for (int i = T(limbs) - 1; i >= 0; i--)
            if (a->v[i]) {
                a->v[i] >>= 1;
                break;
            }
    }
}

static void T(operations)(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 12 * 12 * 200; k++) {
        T(dev) a, b, c, d, r;
        T(draw)(&a, k, FIRST_CANONICAL);
        T(draw)(&b, k / 12, false);
        T(draw)(&c, (unsigned)prng_below(&rng, 12), FIRST_CANONICAL);
        T(draw)(&d, (unsigned)prng_below(&rng, 12), false);
        const T(ref) pa = T(class)(&a), pb = T(class)(&b), pc = T(class)(&c), pd = T(class)(&d);
        T(ref) e, f, got;
#define SAME(what)                                                                                                      \
    got = T(class)(&r);                                                                                                 \
    if (!T(below)(&r, 2)) fail_msg("%s: not below 2p (case %u)", what, k);                                              \
    if (memcmp(&got, &e, sizeof e) != 0) fail_msg("%s: wrong (case %u)", what, k)
        D(mul)(&r, &a, &b);
        P(mul_ref)(&e, &pa, &pb);
        SAME("mul");
        D(add)(&r, &a, &b);
        P(add)(&e, &pa, &pb);
        SAME("add");
        D(sub)(&r, &a, &b);
        P(sub)(&e, &pa, &pb);
        SAME("sub");
        D(neg)(&r, &a);
        P(neg)(&e, &pa);
        got = T(class)(&r); /* 2p for 0 */
        if (memcmp(&got, &e, sizeof e) != 0) fail_msg("neg: wrong (case %u)", k);
        if (D(is_zero)(&a) != P(is_zero)(&pa)) fail_msg("is_zero: wrong (case %u)", k);
        r = a;
        D(cneg)(&r, &a, k & 1);
        if (k & 1) P(neg)(&e, &pa);
        else e = pa;
        got = T(class)(&r);
        if (memcmp(&got, &e, sizeof e) != 0) fail_msg("cneg: wrong (case %u)", k);
#if !FIRST_CANONICAL
        D(sqr)(&r, &a);
        P(mul_ref)(&e, &pa, &pa);
        SAME("sqr");
        D(dot)(&r, &a, &b, &c, &d);
        P(mul_ref)(&e, &pa, &pb);
        P(mul_ref)(&f, &pc, &pd);
        P(add)(&e, &e, &f);
        SAME("dot");
        if (T(limbs) == 12) {
            D(dot4)(&r, &a, &b, &c, &d, &a, &d, &c, &b);
            P(mul_ref)(&f, &pa, &pd);
            P(add)(&e, &e, &f);
            P(mul_ref)(&f, &pc, &pb);
            P(add)(&e, &e, &f);
            SAME("dot4");
        }
#else
        (void)f;
        (void)pc;
        (void)pd;
        /* the second factor may be any number of 256 bits */
        memset(&d, 0xff, sizeof d);
        if (k & 1) prng_bytes(&rng, &d, sizeof d);
        D(mul)(&r, &a, &d);
        CAT(REF, _int) whole;
        memcpy(&whole, &d, sizeof d);
        P(from_int)(&f, &whole);       /* d R */
        P(mul_ref)(&e, &pa, &f);       /* a d */
        const uint64_t unit[T(limbs) / 2] = { 1 };
        memcpy(&f, unit, sizeof f);
        P(mul_ref)(&e, &e, &f);        /* a d / R */
        SAME("mul by any number");
#endif
        if (k % 997 == 0) {
            D(inv)(&r, &a);
            P(inv)(&e, &pa);
            SAME("inv");
        }
    }
}
#undef SAME
#undef D
#undef P
#undef T
#undef FE
#undef REF
#undef NAME
#undef FIRST_CANONICAL
