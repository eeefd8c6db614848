/* Affine additions eight at a time, in neutral names.
 *
 * Takes  FE  prefix of the coordinate field, with lanes.inc.h or lanes_quad.inc.h      AFF  as cpu_affine.inc.c, which comes first
 *        AFF_DEGREE  base field elements in a coordinate
 * Leaves aff_add_pairs; what it cannot do (infinity, equal x) goes to aff_add_scalar.
 *
 * Coordinates are read as they lie in memory, x R, where products divide by R' = 4^s R: so they stand for c x and c y, c = 4^-s.  With
 * slope = dy / dx, which c leaves alone, and half = slope 2^-s:
 *   c x3 = half^2 - c x1 - c x2        c y3 = half (2^s (c x1 - c x3)) - c y1
 * The factor 2^-s of half comes for nothing: it is what the chains of products start with. */
#include "field/fe_names.h"
#include "field/x86_64/lanes_names.h"
#include "backend/cpu/cpu_group_names.h"

#define LANE_CHAINS 2  /* running products of eight lanes each */
#define LANE_LEAST  48 /* additions; for fewer the inversion's sixteen ends cost more than the lanes gain */

STATIC_ASSERT(sizeof(struct affine_pair) == 32 && offsetof(struct affine_pair, q) == 8 &&
                  offsetof(struct affine_pair, out) == 16 && offsetof(struct affine_pair, negate_p) == 24 &&
                  offsetof(struct affine_pair, negate_q) == 25,
              "pairs are gathered by word");
STATIC_ASSERT(sizeof(x8_t) <= LANES * 2 * sizeof(fe_t), "a group's prefix fits where its denominators and prefixes would be");

/* r = 2^n */
static void CAT(AFF, _power_of_two)(fe_t *r, int n)
{
    fe_set_one(r);
    while (n-- > 0) fe_dbl(r, r);
}

/* Groups of eight pairs, none of them special. */
static void CAT(AFF, _add_lanes)(const aff_batch *b, size_t groups)
{
    const lanes_u step = { 0, 32, 64, 96, 128, 160, 192, 224 };
    uint8_t *const before = (uint8_t *)b->denominator;
    x8_t chain[LANE_CHAINS], x1, x2, y1, y2, t, half;
    fe_t end[LANE_CHAINS * LANES], factor;
    const lanes_u ends = step / 32 * sizeof(fe_t) + (uintptr_t)end;

    CAT(AFF, _power_of_two)(&factor, CAT(FE, _x8_shift_bits));
    for (int i = 0; i < LANES; i++) end[i] = factor;
    for (int c = 0; c < LANE_CHAINS; c++) x8_load(&chain[c], ends, 0);
    for (size_t g = 0; g < groups; g++) {
        const lanes_u pair = step + (uintptr_t)&b->pairs[LANES * g];
        x8_t *const c = &chain[g % LANE_CHAINS];
        x8_load(&x1, lanes_gather(pair), 0);
        x8_load(&x2, lanes_gather(pair + 8), 0);
        x8_sub(&t, &x2, &x1, 1);
        memcpy(before + g * sizeof *c, c, sizeof *c);
        x8_mul(c, c, &t);
    }

    for (int c = 0; c < LANE_CHAINS; c++) {
        x8_reduce(&chain[c]);
        x8_store(ends, (size_t)c * LANES * sizeof(fe_t), &chain[c]);
    }
    CAT(FE, _batch_inv)(end, ARRAY_COUNT(end));
    CAT(AFF, _power_of_two)(&factor, 3 * CAT(FE, _x8_shift_bits));
    for (size_t i = 0; i < ARRAY_COUNT(end); i++) fe_mul(&end[i], &end[i], &factor);
    for (int c = 0; c < LANE_CHAINS; c++) x8_load(&chain[c], ends, (size_t)c * LANES * sizeof(fe_t));

    for (size_t g = groups; g-- > 0;) {
        const lanes_u pair = step + (uintptr_t)&b->pairs[LANES * g], p = lanes_gather(pair), q = lanes_gather(pair + 8),
                      sign = lanes_gather(pair + 24);
        x8_t *const c = &chain[g % LANE_CHAINS];
        memcpy(&half, before + g * sizeof half, sizeof half);
        x8_load(&x1, p, 0);
        x8_load(&x2, q, 0);
        x8_sub(&t, &x2, &x1, 1);
        x8_mul(&half, c, &half); /* 2^-s / dx */
        x8_mul(c, c, &t);
        x8_load(&y1, p, sizeof(fe_t));
        x8_load(&y2, q, sizeof(fe_t));
        x8_negate_where(&y1, -(sign & 1));
        x8_negate_where(&y2, -(sign >> 8 & 1));
        x8_sub(&t, &y2, &y1, 2);
        x8_mul(&half, &half, &t);
        x8_sqr(&t, &half);
        x8_sub_loose(&t, &t, &x1, 2);
        x8_sub(&t, &t, &x2, 0); /* 0 <= x3 < 3.5 p */
        x8_reduce(&t);
        x8_sub(&x1, &x1, &t, 1);
        x8_shift(&x1, &x1);
        x8_mul(&x1, &half, &x1);
        x8_sub(&x1, &x1, &y1, 1); /* 0 <= y3 < 3.5 p */
        x8_reduce(&x1);
        const lanes_u out = lanes_gather(pair + 16);
        x8_store(out, 0, &t);
        x8_store(out, sizeof(fe_t), &x1);
    }
}

/* Runs and empties the batch: the pairs that may be special move to the end. */
static __attribute__((noinline)) void aff_add_pairs(aff_batch *b)
{
    size_t front = 0, back = b->count;
    aff_batch rest = *b;
    b->count = 0;
    while (rest.count >= LANE_LEAST && front < back) {
        struct affine_pair *const pair = &rest.pairs[front];
        uint64_t x1, x2;
        if (front + 16 < back)
            for (size_t line = 0; line < 2 * sizeof(fe_t); line += 64) {
                __builtin_prefetch(pair[16].p + line);
                __builtin_prefetch(pair[16].q + line);
            }
        memcpy(&x1, pair->p, sizeof x1);
        memcpy(&x2, pair->q, sizeof x2);
        if (__builtin_expect(x1 != 0 && x2 != 0 && x1 != x2, 1)) {
            front++;
        } else {
            const struct affine_pair special = *pair;
            *pair = rest.pairs[--back];
            rest.pairs[back] = special;
        }
    }
    const size_t groups = front < LANE_LEAST ? 0 : front / LANES;
    if (groups) CAT(AFF, _add_lanes)(&rest, groups);
    rest.pairs += LANES * groups;
    rest.count -= LANES * groups;
    aff_add_scalar(&rest);
}

/* Sums of pseudo-random and extreme coordinates, eight at a time, against one at a time.  They lie on no curve, which addition does not
 * need. */
static bool CAT(AFF, _lanes_selftest)(void)
{
    enum { COUNT = 24 * LANES };
    static const uint64_t extreme[] = { 1, 2, ((uint64_t)1 << 52) - 1, (uint64_t)1 << 63, UINT64_MAX };
    struct { fe_t x, y; } in[2 * COUNT], out[2][COUNT];
    fe_t space[2 * COUNT];
    uint8_t kind[COUNT];
    struct affine_pair pairs[COUNT];
    aff_batch b;
    uint64_t state = 0x94d049bb133111ebu;
    b.pairs = pairs;
    b.denominator = space;
    b.before = space + COUNT;
    b.kind = kind;
    b.capacity = COUNT;
    for (size_t i = 0; i < 2 * COUNT; i++)
        for (int k = 0; k < 2; k++) {
            uint8_t *const bytes = (uint8_t *)(k ? &in[i].y : &in[i].x);
            for (size_t at = 0; at < sizeof(fe_t); at += 8) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                const uint64_t v = state >> 61 ? state ^ state >> 29 : extreme[(state >> 40) % ARRAY_COUNT(extreme)];
                memcpy(bytes + at, &v, sizeof v);
            }
            for (size_t at = 0; at < sizeof(fe_t); at += sizeof(fe_t) / AFF_DEGREE)
                bytes[at + sizeof(fe_t) / AFF_DEGREE - 1] &= 15; /* below p, whose top byte is more */
        }
    for (int lanes = 0; lanes < 2; lanes++) {
        b.count = 0;
        for (size_t i = 0; i < COUNT; i++) aff_push(&b, &in[2 * i], i & 1, &in[2 * i + 1], i & 2, &out[lanes][i]);
        if (lanes)
            aff_add_pairs(&b);
        else
            aff_add_scalar(&b);
    }
    return memcmp(out[0], out[1], sizeof out[0]) == 0;
}

#include "field/fe_unnames.h"
#include "field/x86_64/lanes_unnames.h"
#include "backend/cpu/cpu_group_unnames.h"
#undef LANE_CHAINS
#undef LANE_LEAST
