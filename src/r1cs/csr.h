/* One constraint matrix, compressed by rows, its coefficients in a dictionary (most are 1, -1 or powers of two). */
#ifndef CUZK_R1CS_CSR_H
#define CUZK_R1CS_CSR_H

#include "curve/curve.h"

struct csr {
    uint64_t row_count;
    uint64_t column_count;      /* variables, the constant 1 included */
    uint64_t entry_count;
    uint64_t *row_start;        /* row_count + 1 */
    uint32_t *column;           /* entry_count */
    uint32_t *coefficient;      /* entry_count: index into dictionary */
    struct fr *dictionary;      /* Montgomery form; entry 0 is 1, entry 1 is -1 */
    uint32_t dictionary_count;
};

/* Building: entries come in any row order, twice over the same source: first counted, then placed.
 *     csr_builder_init; csr_builder_count for every entry; csr_builder_ready; csr_builder_place for every entry; csr_builder_finish */
struct csr_builder;
cuzk_status csr_builder_create(struct csr_builder **out, struct task *t, const struct curve *c, uint64_t row_count, uint64_t column_count) MUST_CHECK;
void csr_builder_count(struct csr_builder *b, uint64_t row); /* row < row_count */
cuzk_status csr_builder_ready(struct csr_builder *b, struct task *t) MUST_CHECK;
cuzk_status csr_builder_place(struct csr_builder *b, struct task *t, uint64_t row, uint32_t column, const struct fr *value) MUST_CHECK;
/** Hands the matrix over; b is destroyed. */
void csr_builder_finish(struct csr_builder *b, struct csr *out);
void csr_builder_destroy(struct csr_builder *b);

void csr_fini(struct csr *m); /* legal on a zeroed one */
uint64_t csr_bytes(const struct csr *m);

/** The definition, for tests and for naming an unsatisfied row: out = row . w in Montgomery form. */
struct witness;
void csr_row_dot(const struct csr *m, const struct curve *c, uint64_t row, const struct witness *w, struct fr *out);

#endif
