/* The CUDA backend's device: one arena, one pinned block, streams.  Private to backend/cuda. */
#ifndef CUZK_BACKEND_CUDA_CUDA_DEVICE_H
#define CUZK_BACKEND_CUDA_CUDA_DEVICE_H

#include "backend/backend.h"
#include "backend/cuda/block_list.h"
#include "backend/cuda/ntt_kernels.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

enum {
    CUDA_SCRATCH_BYTES = 96 << 20,  /* of a stream: transforms' tables, fixed_base's multiples */
#if defined(CUZK_CUDA_EMULATED)
    CUDA_STAGE_BYTES = 16 << 10,    /* so that small tests come round to a slot again */
#else
    CUDA_STAGE_BYTES = 8 << 20,     /* one slot through which pageable memory is copied */
#endif
    CUDA_STAGE_SLOTS = 2,
    CUDA_RESULT_BYTES = 256 << 10,   /* one result on its way to the host */
    CUDA_RESULT_SLOTS = 16,
    CUDA_STREAMS_MAX = 16,
    CUDA_MARKS = 96,
};

struct device {
    unsigned index, sm_count;
    size_t shared_bytes;        /* shared memory that one block may have */
    char name[128], variant[64];
    uint8_t *arena;             /* device address */
    uint64_t arena_bytes;
    uint8_t *pinned;            /* registered host memory */
    size_t pinned_bytes;
    uint64_t peak_bytes;        /* of the arena */
    atomic_uint_least64_t sent, received;
    cudaEvent_t zero;           /* from which marks are counted; NULL: there was none yet */
    pthread_mutex_t lock;       /* of the lists, and zero */
    struct block_list arena_list, pinned_list;
    struct locked_block *locked; /* MEM_LOCKED buffers */
    enum msm_accumulation msm_accumulation; /* MSM_ANY: the planner chooses; otherwise what tests and benches want of every plan */
};

/* What stream_sync still has to do on the host for an operation: combine the windows of an MSM, hand out the sums of a sweep. */
struct pending {
    cuzk_status (*finish)(struct task *t, const struct device *d, const struct pending *p, const uint8_t *result);
    struct msm_plan plan;
    struct bit_sum_plan bits;
    struct g_jac *out;
};

enum { NTT_PASSES_MAX = 4, NTT_DIRECTIONS = 3 };

/* Device tables of one transform: of one root, with one coset's powers merged in. */
struct ntt_direction {
    const void *inner[NTT_PASS_MAX + 1];    /* by levels of a pass */
    struct ntt_element w8[3];
    const void *low[NTT_PASSES_MAX], *high[NTT_PASSES_MAX];
    uint32_t low_log2[NTT_PASSES_MAX];
    const void *scale, *scale_plain;        /* of the contiguous pass: the coset's powers, and these divided by R; or NULL */
};

struct stream {
    struct device *device;
    cudaStream_t handle;
    uint8_t *scratch;           /* device; NULL: the stream only copies */
    uint8_t *pinned;            /* stages, then results */
    size_t scratch_offset, pinned_offset; /* in their lists, for giving them back */
    cudaEvent_t stage_free[CUDA_STAGE_SLOTS];
    cudaEvent_t reached;        /* what stream_wait lets another stream wait for */
    cudaEvent_t mark[CUDA_MARKS]; /* made as they are needed */
    uint64_t *mark_ns[CUDA_MARKS];
    unsigned mark_count;
    unsigned stage_next;
    size_t stage_used[CUDA_STAGE_SLOTS]; /* bytes written since stream_sync wiped it */
    struct pending pending[CUDA_RESULT_SLOTS];
    unsigned pending_count;
    struct domain tables_of;    /* the domain and kind of transform whose tables scratch holds; curve NULL: none */
    unsigned tables_kind;
    struct ntt_direction tables[NTT_DIRECTIONS];
    struct {                    /* or the point whose multiples it holds; curve NULL: none */
        const struct curve *curve;
        enum group_id group;
        struct g_aff base;
    } multiples_of;
};

/** Records a CUDA error with its name: out of memory is CUZK_NO_MEMORY, an error that kills the context CUZK_DEVICE_LOST. */
cuzk_status cuda_fail(struct task *t, const char *file, int line, const char *call, int code);

#define CU(t, call)                                                                                                     \
    do {                                                                                                                \
        const int cu_code_ = (int)(call);                                                                               \
        if (cu_code_ != 0) return cuda_fail((t), __FILE__, __LINE__, #call, cu_code_);                                  \
    } while (0)

/** The device address of `bytes` at offset of a MEM_DEVICE buffer of this device, a multiple of 16; otherwise
 * CUZK_INVALID_ARGUMENT names the operand. */
cuzk_status cuda_range(struct task *t, const struct device *d, const struct buffer *b, const char *what, size_t offset, size_t bytes,
                       uint8_t **out) MUST_CHECK;

/** Makes the device current for the calling thread. */
cuzk_status cuda_enter(struct task *t, const struct device *d) MUST_CHECK;

/** Room in pinned memory for one result of the next pending operation; waits for nothing.  CUZK_QUEUE_FULL if all are in flight. */
cuzk_status cuda_result_slot(struct stream *s, struct task *t, uint8_t **out) MUST_CHECK;

/** Notes bytes on their way to the host. */
static inline void cuda_received(struct stream *s, size_t bytes) { atomic_fetch_add(&s->device->received, bytes); }

/** From pinned or pageable host memory to the device, in stream order. */
cuzk_status cuda_upload(struct stream *s, struct task *t, uint8_t *to, const void *from, size_t bytes) MUST_CHECK;

/* -- cuda_msm.c -- */
cuzk_status cuda_msm_plan(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count);
cuzk_status cuda_msm_plan_within(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g,
                                 uint64_t count, uint64_t limit);
cuzk_status cuda_msm(struct stream *s, struct task *t, const struct msm_plan *p, struct g_jac *out, const struct buffer *points,
                     size_t points_offset, const struct buffer *scalars, size_t scalars_offset, const struct buffer *gather, struct buffer *workspace);
cuzk_status cuda_msm_table_plan(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count,
                                uint64_t table_bytes);
cuzk_status cuda_msm_table_make(struct stream *s, struct task *t, const struct msm_plan *p, struct buffer *table, const struct buffer *points,
                                size_t points_offset);
cuzk_status cuda_msm_finish(struct task *t, const struct device *d, const struct pending *p, const uint8_t *result);
cuzk_status cuda_fixed_base(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *points, size_t points_offset,
                            const struct g_aff *base, const struct buffer *scalars, size_t scalars_offset, uint64_t count);
cuzk_status cuda_msm_prepare(struct task *t);

/* -- cuda_bits.c -- */
cuzk_status cuda_bit_sum_plan(struct bit_sum_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count,
                              unsigned bitmap_count);
/** The same with these in place of the planner's choices. */
struct bit_sum_choice {
    unsigned pattern_bits, bucket_log2; /* see bit_sum_plan; bucket_log2 at least pattern_bits, at most 20 */
    uint32_t chunk_points;
};
void cuda_bit_sum_plan_as(struct bit_sum_plan *out, const struct device *d, const struct curve *c, enum group_id g, uint64_t count, unsigned bitmap_count,
                          const struct bit_sum_choice *choice);
cuzk_status cuda_bit_sum(struct stream *s, struct task *t, const struct bit_sum_plan *p, struct g_jac *out, const struct buffer *points,
                         size_t points_offset, const struct buffer *bitmaps, size_t bitmaps_offset, struct buffer *workspace);
cuzk_status cuda_classify_plan(struct classify_plan *out, struct task *t, const struct device *d, uint64_t count, uint64_t wide_max);
cuzk_status cuda_classify(struct stream *s, struct task *t, const struct classify_plan *p, struct buffer *counts, struct buffer *bitmap,
                          struct buffer *index, struct buffer *values, const struct buffer *scalars, size_t scalars_offset, const struct buffer *gather,
                          struct buffer *workspace);
cuzk_status cuda_gather_points(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *out, const struct buffer *points,
                               size_t points_offset, uint64_t count, const struct buffer *index, uint64_t index_count);
cuzk_status cuda_gather_bits(struct stream *s, struct task *t, struct buffer *out, const struct buffer *bits, size_t bits_offset, size_t bits_stride,
                             unsigned bitmap_count, const struct buffer *list, uint64_t count, uint32_t first);

/* -- cuda_eval.c -- */
cuzk_status cuda_eval_plan(struct eval_plan *out, struct task *t, const struct device *d, const struct csr *m, uint64_t out_count);
cuzk_status cuda_eval(struct stream *s, struct task *t, const struct eval_plan *p, struct buffer *out, const struct csr *m,
                      const struct witness *w, struct buffer *workspace);
size_t cuda_matrix_bytes(const struct csr *m);
cuzk_status cuda_matrix_upload(struct stream *s, struct task *t, struct buffer *matrix, const struct csr *m);
cuzk_status cuda_eval_resident(struct stream *s, struct task *t, const struct eval_plan *p, const struct curve *c, struct buffer *out,
                               const struct csr *m, const struct buffer *matrix, const struct buffer *w, struct buffer *workspace);

/* -- image_eval.c -- */
cuzk_status cuda_image_eval_plan(struct image_eval_plan *out, struct task *t, const struct device *d, const struct circuit_image *m,
                                 uint64_t out_count);
cuzk_status cuda_image_upload(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *tables,
                              const struct circuit_image *m);
cuzk_status cuda_image_eval(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *a, struct buffer *b,
                            const struct buffer *tables, const struct image_values *w, struct buffer *first_bad);
cuzk_status cuda_image_scalars(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *scalars,
                               const struct buffer *tables, const struct image_values *w);

/* -- image_assign.c -- */
cuzk_status cuda_image_assign_plan(struct image_assign_plan *out, struct task *t, const struct device *d, const struct image_program *p);
cuzk_status cuda_image_program_upload(struct stream *s, struct task *t, struct buffer *programs, const struct image_program *p);
cuzk_status cuda_image_assign(struct stream *s, struct task *t, const struct image_assign_plan *plan, struct image_values *out,
                              const struct image_program *p, const struct buffer *programs, const struct buffer *statement,
                              struct buffer *workspace);

/* -- cuda_group_ntt.c -- */
cuzk_status cuda_group_ntt_plan(struct group_ntt_plan *out, struct task *t, const struct device *d, const struct domain *domain, bool inverse,
                                const struct fr *scale, const struct fr *step);
cuzk_status cuda_group_ntt(struct stream *s, struct task *t, const struct group_ntt_plan *p, struct buffer *points, unsigned first_pass,
                           unsigned pass_count, struct buffer *workspace);

/* -- cuda_ntt.c -- */
cuzk_status cuda_quotient_plan(struct quotient_plan *out, struct task *t, const struct device *d, const struct domain *domain, enum quotient_mode mode);
cuzk_status cuda_quotient(struct stream *s, struct task *t, const struct quotient_plan *p, struct buffer *scalars, struct buffer *a,
                          struct buffer *b, struct buffer *workspace);
cuzk_status cuda_ntt(struct stream *s, struct task *t, const struct domain *d, struct buffer *data, bool inverse, bool coset);
/** Forward transform from natural to bit-reversed order: the cheaper half of cuda_ntt, for benches. */
cuzk_status cuda_ntt_unordered(struct stream *s, struct task *t, const struct domain *d, struct buffer *data);
cuzk_status cuda_ntt_prepare(struct task *t);

#endif
