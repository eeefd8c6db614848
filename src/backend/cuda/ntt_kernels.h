/* Launchers of the transforms' kernels: what cuda_ntt.c enqueues.  Every launcher returns the launch's error code (0: none). */
#ifndef CUZK_BACKEND_CUDA_NTT_KERNELS_H
#define CUZK_BACKEND_CUDA_NTT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ntt_element {
    uint32_t v[8];
};

enum {
    NTT_SMALL_LOG2 = 11,       /* up to here one block does the whole transform in shared memory */
    NTT_PASS_MIN = 6, NTT_PASS_MAX = 9,
    NTT_SHARED_BYTES = 65536,  /* shared memory of a block at most: of k_small, and of a pass 36864; what every card since sm_75 has */
};

/* Powers of a root for the tables: pow2[i] = root^(2^i) in Montgomery form. */
struct ntt_root {
    struct ntt_element pow2[32];
};

/* A table of rows x columns: out[k][l] = root^(step k l) gamma^(gamma_step k') sigma, where k' is k itself or k with its bits reversed. */
struct ntt_table {
    void *out;
    uint32_t rows_log2, columns_log2;
    uint64_t step, gamma_step;
    struct ntt_element sigma;   /* Montgomery form */
    bool reverse_rows;          /* row k of the table describes frequency bitrev(k) */
};

/* One pass: the levels that join 2^levels elements a distance of 2^below apart. */
struct ntt_pass {
    uint32_t size_log2, levels, below;
    const void *inner;          /* (root of order 2^levels)^i, i < 2^levels */
    struct ntt_element w8[3];   /* (root of order 8)^1..3 */
    /* Twiddle of frequency k and position l below: low[k][l % 2^low_log2] * high[k][l >> low_log2]; high NULL: low alone. */
    const void *low, *high;
    uint32_t low_log2;
    const void *scale;          /* contiguous pass: factor by position in the block, or NULL */
    const void *inner_back;     /* fused pass: the same for the transform that follows */
    struct ntt_element w8_back[3];
    const void *times;          /* last pass: result = product with this canonical vector, minus `minus`; or NULL */
    const void *minus;
    bool canonical;             /* results reduced below p */
};

#ifdef __cplusplus
extern "C" {
#endif
#define NTT_DECLARE_PASS(curve, levels)                                                                                 \
    int ntt_##curve##_pass##levels##_prepare(void);                                                                     \
    int ntt_##curve##_pass##levels##_dif(void *data, const struct ntt_pass *p, void *stream);                            \
    int ntt_##curve##_pass##levels##_dit(void *data, const struct ntt_pass *p, void *stream);                            \
    int ntt_##curve##_pass##levels##_fused(void *data, const struct ntt_pass *p, void *stream);
#define NTT_DECLARE(curve)                                                                                              \
    NTT_DECLARE_PASS(curve, 6)                                                                                          \
    NTT_DECLARE_PASS(curve, 7)                                                                                          \
    NTT_DECLARE_PASS(curve, 8)                                                                                          \
    NTT_DECLARE_PASS(curve, 9)                                                                                          \
    int ntt_##curve##_prepare(void);                                                                                    \
    int ntt_##curve##_table(const struct ntt_table *t, const struct ntt_root *root, const struct ntt_root *gamma, void *stream); \
    int ntt_##curve##_small(void *data, const struct ntt_pass *p, bool dit, void *stream);                              \
    int ntt_##curve##_reverse(void *data, uint32_t size_log2, void *stream);                                            \
    int ntt_##curve##_product(void *out, const void *a, const void *b, uint64_t count, void *stream);                    \
    int ntt_##curve##_subtract_reversed(void *out, const void *a, const void *b, uint32_t size_log2, void *stream);
NTT_DECLARE(bls12_381)
NTT_DECLARE(bn254)
#undef NTT_DECLARE_PASS
#undef NTT_DECLARE
#ifdef __cplusplus
}
#endif

#endif
