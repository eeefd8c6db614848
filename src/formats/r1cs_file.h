/* .r1cs files (version 1): the header, and an iterator over the terms of the constraints. */
#ifndef CUZK_FORMATS_R1CS_FILE_H
#define CUZK_FORMATS_R1CS_FILE_H

#include "curve/curve.h"

struct r1cs_file {
    const char *path; /* for messages; borrowed, like the spans */
    struct span file;
    const struct curve *curve;
    uint32_t n_wires; /* the constant wire 0 included */
    uint32_t n_outputs, n_public_inputs, n_private_inputs;
    uint32_t n_public; /* outputs + public inputs; 0 is legal */
    uint64_t n_labels;
    uint32_t n_constraints;
    struct span constraints; /* section 2 */
};

enum r1cs_side { R1CS_A = 0, R1CS_B = 1, R1CS_C = 2 };

struct r1cs_term {
    uint32_t constraint; /* < n_constraints, never decreasing */
    enum r1cs_side side; /* A, B, C in this order within a constraint; a side may have no term */
    uint32_t wire;       /* < n_wires; unsorted within a side */
    struct fr_int value; /* canonical */
};

/* A position in the constraints.  Any number may be open over one file. */
struct r1cs_reader {
    const struct r1cs_file *file;
    uint64_t at; /* offset inside the section */
    uint32_t constraint;
    unsigned side;
    uint32_t terms_left;
};

/** Reads the header and finds the constraints; these are checked as they are read.
 * Errors  CUZK_MALFORMED, CUZK_UNSUPPORTED (another field) with file, offset and field.  Thread  any.  Cost  constant. */
cuzk_status r1cs_file_parse(struct r1cs_file *out, struct task *t, const char *path,
                            struct span file) MUST_CHECK;

void r1cs_reader_init(struct r1cs_reader *r, const struct r1cs_file *file);

/** The next term, or *end = true after the last one of the last constraint (the section must end there).
 * Errors  CUZK_MALFORMED: a wire or coefficient out of range, a count beyond the section, bytes left over. */
cuzk_status r1cs_reader_next(struct r1cs_reader *r, struct task *t, struct r1cs_term *out,
                             bool *end) MUST_CHECK;

#endif
