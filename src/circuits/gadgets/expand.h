/* The rows of a circuit image, one by one, exactly as the definition of the circuit lists them. */
#ifndef CUZK_CIRCUITS_GADGETS_EXPAND_H
#define CUZK_CIRCUITS_GADGETS_EXPAND_H

#include "r1cs/image.h"
#include "r1cs/csr.h"

struct row_term {
    uint32_t var;         /* with VAR_AUX for auxiliary variables */
    uint32_t coefficient; /* for expanded_coefficient */
};

struct expanded_row {
    uint64_t index;
    const struct row_term
        *side[3]; /* A, B, C: ascending (inputs first), each variable once, no zero coefficient */
    uint32_t count[3];
    const bls12_381_fr_t *coefficients, *extra; /* the image's dictionary; sums that it does not hold */
    uint32_t coefficient_count;
};

static inline const bls12_381_fr_t *expanded_coefficient(const struct expanded_row *r, uint32_t id)
{
    return id < r->coefficient_count ? &r->coefficients[id] : &r->extra[id - r->coefficient_count];
}

/** Takes a row, which is borrowed until it returns; another status than CUZK_OK ends the walk. */
typedef cuzk_status row_sink(void *context, struct task *t, const struct expanded_row *row);

/** Calls sink for every row in order, trailing rows included.
 * Errors  the sink's; CUZK_CANCELLED; CUZK_NO_MEMORY
 * Cost    the 32 GiB circuit (130 million rows): about 10 s, below 1 MB beside the image. */
cuzk_status image_expand(const struct circuit_image *m, struct task *t, row_sink *sink,
                         void *context) MUST_CHECK;

/** The rows of one piece of the circuit: index 0 the circuit's own, index k those of its part k - 1, up to image->part_count.  Pieces may be
 * expanded at the same time; together they give every row once.
 * Thread  any.  Cost  a part of the 32 GiB circuit: an eighteenth. */
cuzk_status image_expand_part(const struct circuit_image *m, struct task *t, uint32_t index, row_sink *sink,
                              void *context) MUST_CHECK;

struct circuit_totals {
    uint64_t inputs, aux, rows;      /* rows: trailing ones included */
    uint64_t entries[3];             /* non-zeros of A, B, C */
    uint64_t a_aux, b_aux, b_inputs; /* variables that occur in A or B: what a key's queries hold */
};
/** Counts by expansion.  Cost: as image_expand, and a bit for each variable. */
cuzk_status image_totals(const struct circuit_image *m, struct task *t,
                         struct circuit_totals *out) MUST_CHECK;

/** SHA-256 over all rows: for A, B, C in turn the number of terms (u32 LE), then each term's index (u32 LE, VAR_AUX as above) and
 * coefficient (32 bytes LE).  With totals (not NULL) counted in the same pass.  Cost: 36 bytes of hashing a non-zero. */
cuzk_status image_digest(const struct circuit_image *m, struct task *t, uint8_t out[32],
                         struct circuit_totals *totals) MUST_CHECK;

/** The three matrices; columns are inputs, then aux.  For small circuits: 16 bytes a row and side, 8 a non-zero.
 * Errors  CUZK_NO_MEMORY.  Out: to be ended with csr_fini. */
cuzk_status image_csr(const struct circuit_image *m, struct task *t, struct csr out[3]) MUST_CHECK;

#endif
