/* The definition of a satisfied circuit, for tests: every row of an image, expanded, on every value of a witness. */
#ifndef CUZK_TESTS_ROW_CHECK_H
#define CUZK_TESTS_ROW_CHECK_H

#include "circuits/gadgets/evaluate.h"
#include "circuits/gadgets/expand.h"

#define ROW_CHECK_NONE UINT64_MAX

struct row_check {
    const struct assignment *w;
    const struct aux_map *map;
    const bls12_381_fr_t *a, *b; /* image_evaluate's output to compare with, or NULL */
    uint64_t bad_row;            /* the first that does not hold, or ROW_CHECK_NONE */
    uint64_t bad_value;          /* the first whose a or b differs, or ROW_CHECK_NONE */
};

/** Fills bad_row and bad_value; the other members are the caller's. */
cuzk_status row_check_run(struct row_check *c, struct task *t, const struct circuit_image *m);

#endif
