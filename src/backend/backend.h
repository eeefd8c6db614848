/* Where the work is done: the contract of every backend.
 *
 * Four nouns: a backend has devices; a device has buffers and streams; an operation is enqueued on a stream.  One call is one
 * mathematical operation on buffers.  Operations on one stream run in order; the CPU backend runs them before it returns.
 * Operations allocate nothing: each has a plan that says how many workspace bytes it takes, and the caller passes them.
 * No other header of this folder is included from outside. */
#ifndef CUZK_BACKEND_BACKEND_H
#define CUZK_BACKEND_BACKEND_H

#include "backend/interlock.h"
#include "msm/bit_plan.h"
#include "poly/domain.h"
#include "r1cs/csr.h"
#include "r1cs/image.h"
#include "r1cs/witness.h"

struct device;
struct stream;
struct image_program; /* r1cs/image_program.h */

enum mem_kind {
    MEM_HEAP,
    MEM_PINNED, /* of device_options.pinned_bytes */
    MEM_DEVICE,
    MEM_LOCKED, /* pinned for this buffer alone, whatever its size: a key that is sent over and over.  To take and to give one stalls the device */
};

struct buffer {
    struct device *device;
    enum mem_kind kind;
    uint8_t *data;      /* host address for heap and pinned; only backend/cuda may look at a device address */
    size_t bytes;
    unsigned flags;     /* BUFFER_* */
};
enum { BUFFER_SECRET = 1 /* wiped when freed */, BUFFER_BORROWED = 2 /* not freed */ };

struct device_info {
    char backend[8];        /* "cpu", "cuda" */
    unsigned index;
    char name[128];         /* "AMD EPYC ...", "NVIDIA H200" */
    char variant[64];       /* instruction set or architecture in use: "mulx/adx", "sm_90" */
    uint64_t memory_bytes;  /* MEM_DEVICE bytes in all; CPU: the host's limit (cgroup or MemTotal) */
    unsigned unit_count;    /* worker threads or SMs */
    uint64_t stream_bytes;  /* of an open device: MEM_DEVICE bytes that each open stream holds, */
    uint64_t peak_bytes;    /* the most that were taken at once, */
    uint64_t sent_bytes, received_bytes; /* and what has been copied to it and back.  CPU: 0 */
};

struct device_options {
    unsigned index;
    unsigned threads;          /* CPU: worker threads, 0: one a usable CPU.  Ignored where there is a task pool */
    uint64_t memory_bytes;     /* arena, 0: everything free minus a margin */
    size_t pinned_bytes;       /* CUDA: of MEM_PINNED buffers in all; the copies' own stages come on top */
    bool portable_only;        /* CPU: no assembly; for tests */
};

/* How the quotient's scalars are made from a = A.w and b = B.w on the domain.  Both are exact for a satisfied circuit. */
enum quotient_mode {
    /* snarkjs: on the odd coset, e_i = a_i b_i - c_i with c = a o b on the domain; the key's H points absorb the rest.
     * Out: domain.size scalars. */
    QUOTIENT_ODD_COSET_LAGRANGE,
    /* bellman: coefficients of (A B - C) / Z with C = a o b on the domain.  Out: domain.size scalars, the top one zero. */
    QUOTIENT_MONOMIAL,
    /* For a key whose H points are Lagrange values on the coset with C folded into L: e_i = a_i b_i on the coset, no c.
     * Out: domain.size scalars. */
    QUOTIENT_COSET_PRODUCT,
};

struct quotient_plan {
    struct domain domain;
    enum quotient_mode mode;
    size_t vector_bytes;    /* of a and of b: domain.size elements in the backend's own form */
    size_t workspace_bytes;
};

struct eval_plan {
    const struct curve *curve;
    uint64_t row_count;     /* rows of the matrix */
    uint64_t out_count;     /* elements written, zeros beyond row_count: the domain's size */
    uint64_t column_count;
    size_t workspace_bytes; /* room for the witness in the backend's own form where it needs one */
    size_t resident_workspace_bytes; /* of eval_resident */
};

/* A transform of points of G1 over a domain, in passes that may be run apart, with the data kept between them. */
struct group_ntt_plan {
    struct domain domain;
    bool inverse;           /* by the inverse root; not divided by the size */
    bool scales;            /* pass 0 multiplies point i by scale step^i */
    struct fr scale, step;
    unsigned pass_count;    /* pass 0, which also brings the points into the order of the others, included */
    unsigned steps;         /* what the points are after each pass: where it is the same, one backend goes on with what another began */
    size_t workspace_bytes;
};
/* steps: radix 2 in time; after pass s, transforms of all blocks of 2^s points in bit-reversed order, affine. */
#define GROUP_NTT_RADIX_2 1
/** What every backend's plan says; workspace_bytes 0.  In  scale, step  both NULL, or neither */
static inline void group_ntt_plan_fill(struct group_ntt_plan *out, const struct domain *domain, bool inverse, const struct fr *scale,
                                       const struct fr *step)
{
    const struct group_ntt_plan plan = { .domain = *domain, .inverse = inverse, .scales = scale != NULL, .pass_count = domain->log2 + 1,
                                         .steps = GROUP_NTT_RADIX_2 };
    *out = plan;
    if (scale == NULL) return;
    out->scale = *scale;
    out->step = *step;
}

/* The witness of a circuit image in device memory: what image_eval reads, and the sums over bits and numbers.  Secret. */
struct image_values {
    struct buffer bits;     /* aux_count bits in the order of the aux in little-endian words of 32, 0 where an aux is a number; one word more */
    struct buffer numbers;  /* number_total canonical integers of 32 bytes: the circuit's own, then each part's */
    struct buffer inputs;   /* input_count likewise, the constant 1 first */
};
static inline size_t image_bits_bytes(const struct circuit_image *m) { return ((size_t)image_circuit(m)->aux_count / 32 + 2) * 4; }
static inline size_t image_numbers_bytes(const struct circuit_image *m) { return 32 * (size_t)m->number_total; }
static inline size_t image_inputs_bytes(const struct circuit_image *m) { return 32 * (size_t)image_circuit(m)->input_count; }

struct image_eval_plan {
    uint64_t row_count;      /* trailing rows included */
    uint64_t out_count;      /* elements written, zeros beyond row_count: the domain's size */
    uint32_t input_count, aux_count, number_count;
    size_t tables_bytes;     /* of what image_upload makes: once for all proofs of a circuit */
    size_t table[8];         /* the backend's own: where each of them begins, */
    uint32_t run_count, job_count; /* and how an evaluation is cut */
};

/* image_assign: where the statement lies in its buffer is image_statement_words' matter. */
struct image_assign_plan {
    size_t program_bytes;   /* of what image_program_upload makes; once for all proofs of a circuit */
    size_t statement_bytes; /* numbers of 32 bytes, the circuit's own and then each part's; behind them words of 4 bytes likewise */
    size_t workspace_bytes; /* registers and a copy of the statement; wiped by the operation */
};
static inline size_t image_statement_words(const struct circuit_image *m) { return 32 * (size_t)m->source_number_total; }
static inline size_t image_statement_bytes(const struct circuit_image *m)
{
    return image_statement_words(m) + 4 * (size_t)m->source_word_total;
}

struct backend {
    const char *name;
    const char *targets; /* instruction sets or architectures that this build has code for: "sm_80 sm_90" */
    bool host_elements; /* buffers are host memory in which field elements stand as struct fr: a circuit can evaluate itself into them */
    /* Operations take buffers over host memory (buffer_borrow), so that a mapped key is used in place.  Where they do not, all operands are
     * MEM_DEVICE buffers that upload has filled, and matrices are made resident. */
    bool reads_host_memory;
    /* What telling a value apart costs in a plain sum besides its additions (reading, digits, sorting), and the calls of a split one, both
     * in point additions of G1: see split_pays. */
    double value_cost, call_cost;

    /** Devices that exist.  No driver or no device: count 0, never an error. */
    cuzk_status (*probe)(struct task *t, struct device_info *out, size_t max, size_t *count);
    cuzk_status (*open)(struct device **out, struct task *t, const struct device_options *o);
    void (*close)(struct device *d);
    void (*info)(const struct device *d, struct device_info *out);

    cuzk_status (*buffer_take)(struct buffer *out, struct task *t, struct device *d, enum mem_kind kind, size_t bytes, unsigned flags);
    void (*buffer_give)(struct buffer *b); /* legal on a zeroed one */

    cuzk_status (*stream_open)(struct stream **out, struct task *t, struct device *d);
    void (*stream_close)(struct stream *s);
    /** A stream for upload and download alone: it holds no device memory.  Copies that should not wait for what another stream computes go on
     * one of these; then each side waits for the other with stream_wait. */
    cuzk_status (*copies_open)(struct stream **out, struct task *t, struct device *d);
    /** What is enqueued on s from now on begins when all that other holds now has ended.  The host waits for nothing.
     * Thread  other is the caller's too */
    cuzk_status (*stream_wait)(struct stream *s, struct task *t, struct stream *other);
    cuzk_status (*stream_sync)(struct stream *s, struct task *t);
    /** When the stream comes to this point: nanoseconds on a clock that all streams of the device share, in *ns after stream_sync.  For
     * benches; up to 96 marks between two syncs (CUZK_QUEUE_FULL).  NULL: no such clock.  Resolution of CUDA: half a microsecond in the
     * first seconds after the first mark, 8 in the second minute. */
    cuzk_status (*stream_mark)(struct stream *s, struct task *t, uint64_t *ns);
    cuzk_status (*upload)(struct stream *s, struct task *t, struct buffer *to, size_t to_offset, const void *from, size_t bytes);
    cuzk_status (*download)(struct stream *s, struct task *t, void *to, const struct buffer *from, size_t from_offset, size_t bytes);

    /* -- plans: pure -- */
    cuzk_status (*msm_plan)(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count);
    /** The same with at most workspace_most bytes of workspace: where a sum shares a device with much else.  NULL: msm_plan's is what there is.
     * Errors  CUZK_TOO_LARGE: no plan does with so little */
    cuzk_status (*msm_plan_within)(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g,
                                   uint64_t count, uint64_t workspace_most);
    cuzk_status (*quotient_plan)(struct quotient_plan *out, struct task *t, const struct device *d, const struct domain *domain, enum quotient_mode mode);
    cuzk_status (*eval_plan)(struct eval_plan *out, struct task *t, const struct device *d, const struct csr *m, uint64_t out_count);
    /** In  scale, step  both NULL: none. */
    cuzk_status (*group_ntt_plan)(struct group_ntt_plan *out, struct task *t, const struct device *d, const struct domain *domain, bool inverse,
                                  const struct fr *scale, const struct fr *step);
    /* bitmap_count <= BIT_SUM_MAX */
    cuzk_status (*bit_sum_plan)(struct bit_sum_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g,
                                uint64_t count, unsigned bitmap_count);
    cuzk_status (*classify_plan)(struct classify_plan *out, struct task *t, const struct device *d, uint64_t count, uint64_t wide_max);

    /* -- operations -- */
    /** out = M w: out_count elements in the backend's own form (plan->vector_bytes of the quotient).
     * In  m  on the host for the CPU;  w  canonical integers, at least column_count of them. */
    cuzk_status (*eval)(struct stream *s, struct task *t, const struct eval_plan *p, struct buffer *out, const struct csr *m,
                        const struct witness *w, struct buffer *workspace);
    /** A matrix in device memory, for many evaluations: its bytes; putting it there; and eval with it and with column_count values w that
     * are there too.  NULL where reads_host_memory.
     * In  m  eval_resident takes only its counts;  matrix  matrix_bytes(m) bytes */
    size_t (*matrix_bytes)(const struct csr *m);
    cuzk_status (*matrix_upload)(struct stream *s, struct task *t, struct buffer *matrix, const struct csr *m);
    cuzk_status (*eval_resident)(struct stream *s, struct task *t, const struct eval_plan *p, const struct curve *c, struct buffer *out,
                                 const struct csr *m, const struct buffer *matrix, const struct buffer *w, struct buffer *workspace);
    /** Circuits that are images, BLS12-381: their tables in device memory, and then for each witness a = A w and b = B w, out_count elements
     * each in the backend's own form.  NULL where the backend does not evaluate images.
     * In  first_bad  NULL, or 8 bytes: every row is checked too (a b = c), and the first that does not hold is written there, or
     *                UINT64_MAX
     * Errors of plan and upload  CUZK_TOO_LARGE; CUZK_NO_MEMORY (both walk the image on the host: 32 GiB, below 0.1 s) */
    cuzk_status (*image_eval_plan)(struct image_eval_plan *out, struct task *t, const struct device *d, const struct circuit_image *m,
                                   uint64_t out_count);
    cuzk_status (*image_upload)(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *tables,
                                const struct circuit_image *m);
    cuzk_status (*image_eval)(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *a, struct buffer *b,
                              const struct buffer *tables, const struct image_values *w, struct buffer *first_bad);
    /** The same witness as msm takes it: input_count + aux_count canonical integers of 32 bytes, inputs first. */
    cuzk_status (*image_scalars)(struct stream *s, struct task *t, const struct image_eval_plan *p, struct buffer *scalars,
                                 const struct buffer *tables, const struct image_values *w);
    /** The witness of a circuit that is an image: from the statement, which is all that a proof uploads, to bits, numbers and inputs in
     * device memory.  NULL where circuits/gadgets/assign.h is the way.
     * In  program    of the image, made once (r1cs/image_program.h); what image_program_upload made of it in programs
     *     statement  statement_bytes, canonical integers and words in the order of the programs' reads; MEM_PINNED, and as it is until
     *                stream_sync, or MEM_DEVICE
     * Out out        every byte of the three buffers that the image has values for
     * Errors of stream_sync  CUZK_MALFORMED: a number of the statement >= r, or an index outside its arity (the values are garbage then);
     *                whether the rows hold is for image_eval to say */
    cuzk_status (*image_assign_plan)(struct image_assign_plan *out, struct task *t, const struct device *d, const struct image_program *program);
    cuzk_status (*image_program_upload)(struct stream *s, struct task *t, struct buffer *programs, const struct image_program *program);
    cuzk_status (*image_assign)(struct stream *s, struct task *t, const struct image_assign_plan *p, struct image_values *out,
                                const struct image_program *program, const struct buffer *programs, const struct buffer *statement,
                                struct buffer *workspace);
    /** scalars = quotient of a and b; a and b are destroyed.  Out: plan->domain.size canonical integers of 32 bytes, in scalars
     * (which may be a itself). */
    cuzk_status (*quotient)(struct stream *s, struct task *t, const struct quotient_plan *p, struct buffer *scalars, struct buffer *a,
                            struct buffer *b, struct buffer *workspace);
    /** In place NTT, or its inverse, of domain.size elements in Montgomery form, natural order to natural order; on the domain's
     * coset if asked.  For tests, set-up and benches. */
    cuzk_status (*ntt)(struct stream *s, struct task *t, const struct domain *d, struct buffer *data, bool inverse, bool coset);
    /** out = sum scalars[i] * points[i].
     * In  points   plan->count affine points in Montgomery form, packed, any alignment (infinity allowed, points on the curve)
     *     scalars  plan->count canonical integers of 32 bytes, any alignment; each < r
     *     gather   NULL, or plan->count indices (uint32_t): scalar i is scalars[gather[i]]
     * Operands in a GPU's memory start on multiples of 16 bytes; a scalar that is not below r is told by stream_sync there.
     * Out out      valid after stream_sync.  Any mix of scalars is fast: 0, 1, small and full-size are told apart. */
    cuzk_status (*msm)(struct stream *s, struct task *t, const struct msm_plan *p, struct g_jac *out, const struct buffer *points, size_t points_offset,
                       const struct buffer *scalars, size_t scalars_offset, const struct buffer *gather, struct buffer *workspace);
    /** out[k] = sum of the points[i] whose bit i is set in bitmap k, for all bitmaps in one sweep over the points.
     * In  points   as for msm: repeated, opposite and infinite ones allowed
     *     bitmaps  plan->bitmap_count of them, plan->bitmap_bytes apart (bit_plan.h), from a multiple of 4 bytes on; bits from plan->count on
     *              are ignored
     * Out out      plan->bitmap_count points, valid after stream_sync
     * Cost         an addition a set bit; the CPU's share inversions */
    cuzk_status (*bit_sum)(struct stream *s, struct task *t, const struct bit_sum_plan *p, struct g_jac *out, const struct buffer *points,
                           size_t points_offset, const struct buffer *bitmaps, size_t bitmaps_offset, struct buffer *workspace);
    /** Tells ones from values that are neither 0 nor 1 ("wide"), without the host in between.
     * In  scalars  plan->count canonical integers of 32 bytes;  gather  as for msm
     * Out counts   a struct classify_counts
     *     bitmap   plan->bitmap_bytes: bit i is set where value i is one; bits from plan->count on are 0
     *     index    plan->wide_max indices i of wide values, ascending, then CLASSIFY_NONE
     *     values   these values, then zeros */
    cuzk_status (*classify)(struct stream *s, struct task *t, const struct classify_plan *p, struct buffer *counts, struct buffer *bitmap,
                            struct buffer *index, struct buffer *values, const struct buffer *scalars, size_t scalars_offset,
                            const struct buffer *gather, struct buffer *workspace);
    /** out[j] = points[index[j]] for j < index_count; infinity where index[j] >= count (CLASSIFY_NONE).  out and points do not overlap. */
    cuzk_status (*gather_points)(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *out,
                                 const struct buffer *points, size_t points_offset, uint64_t count, const struct buffer *index,
                                 uint64_t index_count);
    /** Bitmaps put into the order of a query: bit j of bitmap k of out = bit list[j] - first of bitmap k of bits; 0 where list[j] < first, or
     * where that bit lies beyond bits_stride.  The list is read once for all bitmaps.
     * In  bits    bitmap_count bitmaps (at most BIT_SUM_MAX) from bits_offset on, bits_stride bytes apart; both multiples of 16
     * Out out     bitmap_count bitmaps of bitmap_bytes(count) bytes (bit_plan.h) in a row; bits from count on are 0 */
    cuzk_status (*gather_bits)(struct stream *s, struct task *t, struct buffer *out, const struct buffer *bits, size_t bits_offset, size_t bits_stride,
                               unsigned bitmap_count, const struct buffer *list, uint64_t count, uint32_t first);
    /** For sums that wait for each other's additions more than for arithmetic (up to about 2^20 points): a table of multiples of the points,
     * made once, where they stay.  msm_table_plan plans a sum of `count` points with at most table_bytes for it; where a table gains nothing
     * or does not fit, that is msm_plan's plan, with row_count below 2.  Otherwise msm_table_make fills plan->table_bytes bytes of `table`
     * from the points, and msm with this plan takes the table, at any offset, for its points.  NULL: msm_plan's plans are all there are. */
    cuzk_status (*msm_table_plan)(struct msm_plan *out, struct task *t, const struct device *d, const struct curve *c, enum group_id g, uint64_t count,
                                  uint64_t table_bytes);
    cuzk_status (*msm_table_make)(struct stream *s, struct task *t, const struct msm_plan *p, struct buffer *table, const struct buffer *points,
                                  size_t points_offset);
    /** points[i] = scalars[i] * base, affine packed; for set-up.  scalars canonical. */
    cuzk_status (*fixed_base)(struct stream *s, struct task *t, const struct curve *c, enum group_id g, struct buffer *points, size_t points_offset,
                              const struct g_aff *base, const struct buffer *scalars, size_t scalars_offset, uint64_t count);
    /** Passes [first_pass, first_pass + pass_count) of a transform, in place.
     * In      points  domain.size affine points of the group of prime order, in Montgomery form, packed; infinity allowed
     * Cost    a product of a point by a scalar for every two points and pass, and one a point in pass 0 if the plan scales: about 1,700
     *         products in the base field each. */
    cuzk_status (*group_ntt)(struct stream *s, struct task *t, const struct group_ntt_plan *p, struct buffer *points, unsigned first_pass,
                             unsigned pass_count, struct buffer *workspace);

    /* -- the interlock bench (interlock.h); NULL where lanes do not share a device's memory -- */
    interlock_run *interlock;
    interlock_calls *interlock_calls;
};

/* Sums over one key's points for several witnesses that are mostly 0 and 1: the ones of all of them in one sweep by bit_sum, the wide
 * values of each by msm over their points alone.  Made of the operations above, for any backend. */
struct split_plan {
    const struct curve *curve;
    enum group_id group;
    uint64_t count;                 /* points */
    unsigned batch;                 /* witnesses, at most BIT_SUM_MAX */
    bool split;                     /* false: the planner found plain sums cheaper, and msm is of all points */
    struct classify_plan classify;  /* these three of a split */
    struct bit_sum_plan bits;
    struct msm_plan msm;
    size_t counts_at, bitmaps_at, index_at, values_at, points_at, run_at; /* where they lie in the workspace */
    size_t workspace_bytes;
};
/** In  wide_max  values of a witness that are neither 0 nor 1, at most */
cuzk_status split_msm_plan(struct split_plan *out, struct task *t, const struct backend *b, const struct device *d, const struct curve *c,
                           enum group_id g, uint64_t count, unsigned batch, uint64_t wide_max) MUST_CHECK;
/** out[k] = sum scalars[k][i] * points[i] for k < plan->batch.  Waits for the stream.
 * In      scalars  plan->batch buffers;  gather  NULL, or of all of them;  the rest as for msm
 * Errors  CUZK_TOO_LARGE: a witness has more wide values than the plan has room for; nothing is left in out */
cuzk_status split_msm(struct stream *s, struct task *t, const struct backend *b, const struct split_plan *p, struct g_jac *out,
                      const struct buffer *points, size_t points_offset, const struct buffer *scalars, size_t scalars_offset,
                      const struct buffer *gather, struct buffer *workspace) MUST_CHECK;

/** "cpu", "cuda" where built, "fault" and "blind" in test builds; NULL: not in this build. */
const struct backend *backend_by_name(const char *name);

/** A buffer over host memory that somebody else owns (a mapped file): an operand only where backend.reads_host_memory. */
static inline struct buffer buffer_borrow(struct device *d, struct span s)
{
    struct buffer b;
    b.device = d;
    b.kind = MEM_HEAP;
    b.data = (uint8_t *)(uintptr_t)s.data;
    b.bytes = s.size;
    b.flags = BUFFER_BORROWED;
    return b;
}

/** Waits until nothing is under way on s, whatever has failed: before buffers that it reads or writes are given back. */
static inline void backend_settle(const struct backend *b, struct stream *s)
{
    struct task quiet;
    task_init(&quiet);
    (void)!b->stream_sync(s, &quiet);
}

/** Part of a buffer, which must outlive it. */
static inline struct buffer buffer_piece(const struct buffer *whole, size_t offset, size_t bytes)
{
    struct buffer b = *whole;
    b.data = whole->data + offset;
    b.bytes = bytes;
    b.flags |= BUFFER_BORROWED;
    return b;
}

#endif
