/* Sums of points over the set bits of bitmaps, in neutral names.
 *
 * Takes  FE  prefix of the coordinate field      AFF  prefix of cpu_affine.inc.c's and of this file's names
 * Parts of the points are tasks.  A part is walked in chunks that stay in the cache while one bitmap after another takes its points
 * from them.  The points of a bitmap are added in pairs, level by level, each level with one inversion; when few are left they wait
 * and join the next chunk's, so that no inversion serves only a few additions. */
#include "field/fe_names.h"
#include "backend/cpu/cpu_group_names.h"

typedef struct {
    fe_t x, y;
} bits_point;

typedef struct {
    const struct cpu_bits_args *args;
    const struct group *group;
    struct bit_layout layout;
} bits_state;

/* A thread's scratch, and how many points each bitmap has waiting. */
typedef struct {
    aff_batch batch;
    bits_point *kept, *first, *second;
    uint32_t kept_count[BIT_SUM_MAX];
} bits_room;

static void bits_room_of(bits_room *r, const bits_state *s, unsigned slot)
{
    uint8_t *const scratch = s->args->workspace + s->layout.scratch + (size_t)slot * s->layout.scratch_bytes;
    r->kept = (bits_point *)(void *)(scratch + s->layout.kept);
    r->first = (bits_point *)(void *)(scratch + s->layout.first);
    r->second = (bits_point *)(void *)(scratch + s->layout.second);
    r->batch.capacity = s->layout.batch_pairs;
    r->batch.pairs = (struct affine_pair *)(void *)(scratch + s->layout.batch);
    r->batch.denominator = (fe_t *)(void *)(r->batch.pairs + r->batch.capacity);
    r->batch.before = r->batch.denominator + r->batch.capacity;
    r->batch.kind = (uint8_t *)(r->batch.before + r->batch.capacity);
    r->batch.count = 0;
    memset(r->kept_count, 0, sizeof r->kept_count);
}

/* Word w of a bitmap, without what lies behind point `last`. */
static inline uint32_t bits_word(const uint32_t *bitmap, uint64_t w, uint64_t last)
{
    const uint64_t left = last - 32 * w;
    return left < 32 ? bitmap[w] & (((uint32_t)1 << left) - 1) : bitmap[w];
}

/* Points [first, last) of bitmap k are added to those that wait, until at most keep_points do. */
static void bits_chunk(const bits_state *s, bits_room *room, unsigned k, uint64_t first, uint64_t last)
{
    const struct bit_sum_plan *p = s->args->plan;
    const uint32_t *const bitmap = (const uint32_t *)(const void *)(s->args->bitmaps + k * p->bitmap_bytes);
    const uint8_t *const points = s->args->points;
    bits_point *const kept = room->kept + (size_t)k * p->keep_points;
    const uint64_t word_first = first / 32, word_last = (last + 31) / 32;
    uint64_t count = room->kept_count[k];
    for (uint64_t w = word_first; w < word_last; w++) count += (uint64_t)__builtin_popcount(bits_word(bitmap, w, last));
    const bool wait = count <= p->keep_points;
    bits_point *from = room->first, *to = room->second;
    const uint8_t *single = NULL;
    size_t n = wait ? room->kept_count[k] : 0;

    for (size_t i = 0; i < room->kept_count[k] && !wait; i++) {
        if (single) aff_push(&room->batch, single, false, &kept[i], false, &from[n++]);
        single = single ? NULL : (const uint8_t *)&kept[i];
    }
    for (uint64_t w = word_first; w < word_last; w++)
        for (uint32_t word = bits_word(bitmap, w, last); word != 0; word &= word - 1) {
            const uint8_t *const point = points + (32 * w + (uint64_t)__builtin_ctz(word)) * sizeof(bits_point);
            if (wait) {
                aff_copy((uint8_t *)&kept[n++], point, false);
                continue;
            }
            if (single) aff_push(&room->batch, single, false, point, false, &from[n++]);
            single = single ? NULL : point;
        }
    room->kept_count[k] = (uint32_t)n;
    if (wait) return;
    if (single) aff_copy((uint8_t *)&from[n++], single, false);
    aff_add_pairs(&room->batch);
    while (n > p->keep_points) {
        const size_t half = n / 2;
        for (size_t i = 0; i < half; i++) aff_push(&room->batch, &from[2 * i], false, &from[2 * i + 1], false, &to[i]);
        if (n & 1) to[half] = from[n - 1];
        n = half + (n & 1);
        aff_add_pairs(&room->batch);
        bits_point *const swap = from;
        from = to;
        to = swap;
    }
    memcpy(kept, from, n * sizeof *kept);
    room->kept_count[k] = (uint32_t)n;
}

/* All bitmaps over one part of the points. */
static void bits_part(void *context, size_t index, unsigned slot)
{
    const bits_state *s = (const bits_state *)context;
    const struct bit_sum_plan *p = s->args->plan;
    const uint64_t words = (p->count + 31) / 32, end = words * (index + 1) / p->part_count * 32, last = end < p->count ? end : p->count;
    struct g_jac *const parts = (struct g_jac *)(void *)(s->args->workspace + s->layout.parts) + index * p->bitmap_count;
    bits_room room;
    bits_room_of(&room, s, slot);
    for (uint64_t at = words * index / p->part_count * 32; at < last; at += p->chunk_points)
        for (unsigned k = 0; k < p->bitmap_count; k++) bits_chunk(s, &room, k, at, last - at < p->chunk_points ? last : at + p->chunk_points);
    for (unsigned k = 0; k < p->bitmap_count; k++) {
        s->group->jac_set_inf(&parts[k]);
        for (size_t i = 0; i < room.kept_count[k]; i++) s->group->jac_add_aff(&parts[k], &parts[k], &room.kept[(size_t)k * p->keep_points + i]);
    }
}

static cuzk_status bits_all(const struct cpu_team *team, struct g_jac *out, const struct cpu_bits_args *args)
{
    const struct bit_sum_plan *p = args->plan;
    bits_state s;
    s.args = args;
    s.group = p->curve->group[p->group];
    bit_layout(&s.layout, p);
    TRY(cpu_run(team, p->part_count, bits_part, &s));
    const struct g_jac *const parts = (const struct g_jac *)(const void *)(args->workspace + s.layout.parts);
    for (unsigned k = 0; k < p->bitmap_count; k++) {
        s.group->jac_set_inf(&out[k]);
        for (uint32_t i = 0; i < p->part_count; i++) s.group->jac_add(&out[k], &out[k], &parts[i * p->bitmap_count + k]);
    }
    return CUZK_OK;
}

#include "field/fe_unnames.h"
#include "backend/cpu/cpu_group_unnames.h"
