/* The CPU's operations, compiled per curve and per instruction set: one table a pair, chosen once when a device is opened.
 *
 * Adding an instruction set: a binding file a curve that names its fields and includes cpu_kernels.inc.c (or its own bodies where the
 * data layout differs, as with eight-lane vectors), and a line in cpu_device.c's list.  The loops that cost time are
 * affine_add_pairs (all point additions) and the butterflies; a new set may replace just those. */
#ifndef CUZK_BACKEND_CPU_CPU_KERNELS_H
#define CUZK_BACKEND_CPU_CPU_KERNELS_H

#include "backend/backend.h"
#include "backend/cpu/cpu_run.h"
#include "poly/ntt_plan.h"

/* One affine addition out = (+-p) + (+-q).  Any alignment; out may be p or q. */
struct affine_pair {
    const uint8_t *p, *q;
    uint8_t *out;
    bool negate_p, negate_q;
};

enum affine_kind { AFFINE_ADD, AFFINE_DOUBLE, AFFINE_TAKE_P, AFFINE_TAKE_Q, AFFINE_INFINITY };

struct cpu_msm_args {
    const struct msm_plan *plan;
    const uint8_t *points;  /* packed affine */
    const uint8_t *scalars; /* 32 bytes each */
    const uint32_t *gather; /* or NULL */
    uint8_t *workspace;     /* plan->workspace_bytes, 64-byte aligned */
};

struct cpu_bits_args {
    const struct bit_sum_plan *plan;
    const uint8_t *points;  /* packed affine */
    const uint8_t *bitmaps; /* plan->bitmap_bytes apart, 4-byte aligned */
    uint8_t *workspace;
};

struct cpu_fixed_base_args {
    const struct curve *curve;
    const struct group *group;
    uint8_t *points;
    const struct g_aff *base;
    const uint8_t *scalars;
    uint64_t count;
};

struct cpu_kernels {
    const char *variant;  /* "portable", "mulx/adx", "avx512-ifma" */
    bool (*usable)(void); /* the processor has the instructions and they passed their self-test */

    /* table: ntt_plan.table_bytes; root: of order 2^table_log2 */
    cuzk_status (*ntt_table)(const struct cpu_team *team, struct fr *table, unsigned table_log2,
                             const struct fr *root);
    cuzk_status (*ntt)(const struct cpu_team *team, const struct domain *d, const struct fr *table,
                       unsigned table_log2, struct fr *data, bool inverse, bool coset);
    /* c: domain.size elements of workspace; scalars at any alignment, may be a */
    cuzk_status (*quotient)(const struct cpu_team *team, const struct quotient_plan *p,
                            const struct fr *table, unsigned table_log2, uint8_t *scalars, struct fr *a,
                            struct fr *b, struct fr *c);
    cuzk_status (*eval)(const struct cpu_team *team, const struct csr *m, const struct witness *w,
                        struct fr *out, uint64_t out_count);

    /* by enum group_id */
    cuzk_status (*msm[2])(const struct cpu_team *team, struct g_jac *out, const struct cpu_msm_args *args);
    cuzk_status (*bit_sum[2])(const struct cpu_team *team, struct g_jac *out, const struct cpu_bits_args *args);
    cuzk_status (*fixed_base[2])(const struct cpu_team *team, const struct cpu_fixed_base_args *args);

    cuzk_status (*group_ntt)(const struct cpu_team *team, const struct group_ntt_plan *plan, uint8_t *points,
                             unsigned first_pass, unsigned pass_count);
};

extern const struct cpu_kernels cpu_bn254_portable, cpu_bls12_381_portable;
#if defined(__x86_64__)
extern const struct cpu_kernels cpu_bn254_adx, cpu_bls12_381_adx, cpu_bn254_ifma, cpu_bls12_381_ifma;
#endif

#endif
