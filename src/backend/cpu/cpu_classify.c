/* Values told apart, points and bits gathered: what a split sum needs besides additions, on the CPU. */
#include "backend/cpu/cpu_classify.h"

#include "base/arena.h"

#include <string.h>

enum { GATHER_POINTS = 4096, GATHER_WORDS = 4096 /* of a task */ };

static const uint8_t *value_at(const struct cpu_classify_args *a, uint64_t i)
{
    return a->scalars + 32 * (a->gather ? (uint64_t)a->gather[i] : i);
}

static struct classify_counts *block_counts(const struct cpu_classify_args *a)
{
    return (struct classify_counts *)(void *)a->workspace;
}

static uint32_t *wide_bitmap(const struct cpu_classify_args *a)
{
    return (uint32_t *)(void *)(a->workspace + arena_round(sizeof(struct classify_counts) * a->plan->block_count));
}

/* The two bitmaps of one block and its counts. */
static void tell_apart(void *context, size_t index, unsigned slot)
{
    const struct cpu_classify_args *a = context;
    const uint64_t first = (uint64_t)index * a->plan->block_values, room = (uint64_t)a->plan->bitmap_bytes * 8,
                   end = first + a->plan->block_values < room ? first + a->plan->block_values : room;
    struct classify_counts counts = { 0, 0 };
    (void)slot;
    for (uint64_t w = first / 32; w < end / 32; w++) {
        uint32_t ones = 0, wide = 0;
        for (uint64_t i = 32 * w; i < 32 * w + 32 && i < a->plan->count; i++) {
            uint64_t v[4];
            memcpy(v, value_at(a, i), sizeof v);
            const uint64_t rest = v[1] | v[2] | v[3];
            ones |= (uint32_t)(v[0] == 1 && rest == 0) << (i % 32);
            wide |= (uint32_t)(v[0] > 1 || rest != 0) << (i % 32);
        }
        a->bitmap[w] = ones;
        wide_bitmap(a)[w] = wide;
        counts.ones += (uint64_t)__builtin_popcount(ones);
        counts.wide += (uint64_t)__builtin_popcount(wide);
    }
    block_counts(a)[index] = counts;
}

/* A block's wide values to their places; its count of them has become the place of its first. */
static void list_wide(void *context, size_t index, unsigned slot)
{
    const struct cpu_classify_args *a = context;
    const uint64_t first = (uint64_t)index * a->plan->block_values, room = (uint64_t)a->plan->bitmap_bytes * 8,
                   end = first + a->plan->block_values < room ? first + a->plan->block_values : room;
    uint64_t at = block_counts(a)[index].wide;
    (void)slot;
    for (uint64_t w = first / 32; w < end / 32; w++)
        for (uint32_t word = wide_bitmap(a)[w]; word != 0 && at < a->plan->wide_max; word &= word - 1, at++) {
            const uint64_t i = 32 * w + (uint64_t)__builtin_ctz(word);
            a->index[at] = (uint32_t)i;
            memcpy(a->values + 32 * at, value_at(a, i), 32);
        }
}

cuzk_status cpu_classify_run(const struct cpu_team *team, const struct cpu_classify_args *a)
{
    const struct classify_plan *p = a->plan;
    struct classify_counts *const blocks = block_counts(a), all = { 0, 0 };
    TRY(cpu_run(team, p->block_count, tell_apart, (void *)(uintptr_t)a));
    for (uint32_t i = 0; i < p->block_count; i++) {
        const uint64_t wide = blocks[i].wide;
        blocks[i].wide = all.wide;
        all.ones += blocks[i].ones;
        all.wide += wide;
    }
    TRY(cpu_run(team, p->block_count, list_wide, (void *)(uintptr_t)a));
    if (all.wide < p->wide_max) {
        memset(a->index + all.wide, 0xff, (size_t)(p->wide_max - all.wide) * sizeof *a->index);
        memset(a->values + 32 * all.wide, 0, 32 * (size_t)(p->wide_max - all.wide));
    }
    *a->counts = all;
    return CUZK_OK;
}

static void gather_some(void *context, size_t index, unsigned slot)
{
    const struct cpu_gather_args *a = context;
    const uint64_t first = (uint64_t)index * GATHER_POINTS, end = first + GATHER_POINTS < a->index_count ? first + GATHER_POINTS : a->index_count;
    (void)slot;
    for (uint64_t j = first; j < end; j++) {
        if (a->index[j] < a->count)
            memcpy(a->out + j * a->point_bytes, a->points + (size_t)a->index[j] * a->point_bytes, a->point_bytes);
        else
            memset(a->out + j * a->point_bytes, 0, a->point_bytes);
    }
}

cuzk_status cpu_gather_run(const struct cpu_team *team, const struct cpu_gather_args *a)
{
    return cpu_run(team, (size_t)((a->index_count + GATHER_POINTS - 1) / GATHER_POINTS), gather_some, (void *)(uintptr_t)a);
}

static void gather_some_bits(void *context, size_t index, unsigned slot)
{
    const struct cpu_gather_bits_args *a = context;
    const size_t words = bitmap_bytes(a->count) / 4, begin = index * GATHER_WORDS, end = begin + GATHER_WORDS < words ? begin + GATHER_WORDS : words;
    (void)slot;
    for (unsigned k = 0; k < a->bitmap_count; k++) {
        const uint32_t *const from = a->bits + k * a->stride_words;
        for (size_t w = begin; w < end; w++) {
            uint32_t word = 0;
            for (uint64_t j = 32 * (uint64_t)w; j < 32 * (uint64_t)w + 32 && j < a->count; j++) {
                const uint32_t at = a->list[j] - a->first;
                if (a->list[j] >= a->first && at / 32 < a->stride_words) word |= (from[at / 32] >> (at % 32) & 1) << (j % 32);
            }
            a->out[k * words + w] = word;
        }
    }
}

cuzk_status cpu_gather_bits_run(const struct cpu_team *team, const struct cpu_gather_bits_args *a)
{
    return cpu_run(team, (bitmap_bytes(a->count) / 4 + GATHER_WORDS - 1) / GATHER_WORDS, gather_some_bits, (void *)(uintptr_t)a);
}
