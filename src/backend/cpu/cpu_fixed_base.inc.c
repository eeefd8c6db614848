/* Many multiples of one point, in neutral names.
 *
 * Takes  FE  prefix of the coordinate field      AFF  prefix of cpu_affine.inc.c's and of this file's names
 * Tables hold d 2^(c w) base for every window w and 0 < d <= 2^(c-1); a multiple is the sum of one entry a window.  Additions run across
 * the scalars of a chunk, so they share inversions.  For set-up: takes its tables from the system for the time of the call. */
#include "field/fe_names.h"
#include "backend/cpu/cpu_group_names.h"

typedef struct {
    fe_t x, y;
} fixed_point;

struct fixed_state {
    const struct cpu_fixed_base_args *args;
    unsigned c, windows;
    uint64_t buckets;
    uint64_t modulus[4], offset[4];
    fixed_point *table; /* [window][d - 1] */
    uint64_t have;      /* entries of each window that are filled */
    uint8_t *scratch;
    size_t scratch_bytes;
};

#define FIXED_CHUNK 1024

static aff_batch fixed_batch(const struct fixed_state *s, unsigned slot)
{
    aff_batch b;
    b.capacity = FIXED_CHUNK;
    b.pairs = (struct affine_pair *)(void *)(s->scratch + slot * s->scratch_bytes);
    b.denominator = (fe_t *)(void *)(b.pairs + b.capacity);
    b.before = b.denominator + b.capacity;
    b.kind = (uint8_t *)(b.before + b.capacity);
    b.count = 0;
    return b;
}

/* Entries have + 1 .. 2 have of one window: entry have plus each of the first have. */
static void fixed_double_table(void *context, size_t index, unsigned slot)
{
    const struct fixed_state *s = (const struct fixed_state *)context;
    fixed_point *const t = s->table + index * s->buckets;
    aff_batch batch = fixed_batch(s, slot);
    for (uint64_t d = 0; d < s->have; d++) {
        aff_push(&batch, &t[s->have - 1], false, &t[d], false, &t[s->have + d]);
        if (batch.count == batch.capacity) aff_add_pairs(&batch);
    }
    aff_add_pairs(&batch);
}

static void fixed_multiples(void *context, size_t index, unsigned slot)
{
    const struct fixed_state *s = (const struct fixed_state *)context;
    const uint64_t first = (uint64_t)index * FIXED_CHUNK;
    const uint64_t last = s->args->count - first < FIXED_CHUNK ? s->args->count : first + FIXED_CHUNK;
    aff_batch batch = fixed_batch(s, slot);
    uint64_t k[4];
    memset(s->args->points + first * sizeof(fixed_point), 0, (last - first) * sizeof(fixed_point));
    for (unsigned w = 0; w < s->windows; w++) {
        for (uint64_t i = first; i < last; i++) {
            memcpy(k, s->args->scalars + 32 * i, sizeof k);
            const bool negative = digits_fold(k, s->modulus);
            digits_recode(k, k, s->offset, negative);
            const int32_t d = digits_get(k, s->c, w, s->windows);
            uint8_t *const p = s->args->points + i * sizeof(fixed_point);
            if (d != 0)
                aff_push(&batch, p, false, &s->table[w * s->buckets + (uint64_t)(d < 0 ? -d : d) - 1], d < 0,
                         p);
        }
        aff_add_pairs(&batch);
    }
    wipe(k, sizeof k); /* set-up's scalars come from its secrets */
}

static cuzk_status fixed_all(const struct cpu_team *team, const struct cpu_fixed_base_args *args)
{
    const struct group *g = args->group;
    const unsigned bits = args->curve->fr.bits - 1;
    struct fixed_state s;
    struct arena memory = { 0 };
    cuzk_status status = CUZK_OK;
    void *table;
    if (args->count == 0) return CUZK_OK;

    s.args = args;
    s.c = 2;
    uint64_t best = 0;
    for (unsigned c = 2; c <= 16; c++) { /* additions of the tables and of the sums */
        const uint64_t cost = digits_windows(bits, c) * (((uint64_t)1 << (c - 1)) + args->count);
        if (c == 2 || cost < best) {
            best = cost;
            s.c = c;
        }
    }
    s.windows = digits_windows(bits, s.c);
    s.buckets = (uint64_t)1 << (s.c - 1);
    memcpy(s.modulus, args->curve->fr.modulus.w, sizeof s.modulus);
    digits_offset(s.offset, s.c, s.windows);
    s.scratch_bytes = arena_round(FIXED_CHUNK * (sizeof(struct affine_pair) + 2 * sizeof(fe_t) + 1));
    const size_t table_bytes = arena_round((size_t)s.windows * s.buckets * sizeof(fixed_point));
    TRY(arena_open(&memory, team->task, table_bytes + s.scratch_bytes * team->slots + ARENA_ALIGN,
                   ARENA_PLAIN));
    TRY_GOTO(out, arena_take(&memory, team->task, &table, table_bytes + s.scratch_bytes * team->slots));
    s.table = (fixed_point *)table;
    s.scratch = (uint8_t *)table + table_bytes;

    struct g_jac power;
    g->jac_from_aff(&power, args->base);
    for (unsigned w = 0; w < s.windows; w++) {
        struct g_aff first;
        g->jac_to_aff(&first, &power);
        memcpy(&s.table[w * s.buckets], &first, sizeof(fixed_point));
        for (unsigned i = 0; i < s.c; i++) g->jac_dbl(&power, &power);
    }
    for (s.have = 1; s.have < s.buckets; s.have *= 2)
        TRY_GOTO(out, cpu_run(team, s.windows, fixed_double_table, &s));
    TRY_GOTO(out,
             cpu_run(team, (size_t)((args->count + FIXED_CHUNK - 1) / FIXED_CHUNK), fixed_multiples, &s));
out:
    arena_close(&memory);
    return status;
}

#include "field/fe_unnames.h"
#include "backend/cpu/cpu_group_unnames.h"
#undef FIXED_CHUNK
