/* Values told apart, points and bits gathered, on the CPU: the bodies behind backend.classify, gather_points and gather_bits. */
#ifndef CUZK_BACKEND_CPU_CPU_CLASSIFY_H
#define CUZK_BACKEND_CPU_CPU_CLASSIFY_H

#include "backend/backend.h"
#include "backend/cpu/cpu_run.h"

struct cpu_classify_args {
    const struct classify_plan *plan;
    struct classify_counts *counts;
    uint32_t *bitmap, *index;
    uint8_t *values;
    const uint8_t *scalars;
    const uint32_t *gather; /* or NULL */
    uint8_t *workspace;
};
cuzk_status cpu_classify_run(const struct cpu_team *team, const struct cpu_classify_args *a) MUST_CHECK;

struct cpu_gather_args {
    uint8_t *out;
    const uint8_t *points;
    const uint32_t *index;
    size_t point_bytes;
    uint64_t count, index_count;
};
cuzk_status cpu_gather_run(const struct cpu_team *team, const struct cpu_gather_args *a) MUST_CHECK;

struct cpu_gather_bits_args {
    uint32_t *out;
    const uint32_t *bits, *list;
    size_t stride_words;
    unsigned bitmap_count;
    uint64_t count;
    uint32_t first;
};
cuzk_status cpu_gather_bits_run(const struct cpu_team *team, const struct cpu_gather_bits_args *a) MUST_CHECK;

#endif
