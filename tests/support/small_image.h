/* A small circuit that is an image, with every class of rows and two independent parts: for tests of what runs over images. */
#ifndef CUZK_TESTS_SMALL_IMAGE_H
#define CUZK_TESTS_SMALL_IMAGE_H

#include "circuits/gadgets/assign.h"
#include "groth16/constraints.h"
#include "support/prng.h"

struct small_image {
    struct circuit_image image;
    struct constraints
        constraints; /* of it, as groth16 takes them; the circuit is this structure, which does not move */
    struct aux_map map;
    struct assignment assignment; /* satisfies all rows */
    struct fr_int *values;        /* the same as matrices take it */
    uint64_t value_count;
    struct witness witness; /* both, as groth16 takes them */
};

enum { SMALL_IMAGE_ROWS_MAX = 4096 };

/** Records the circuit, draws a statement and makes its witness.  Prints the error and aborts if anything fails. */
void small_image_open(struct small_image *s, struct prng *random);
void small_image_close(struct small_image *s);
/** Another statement's witness of the same circuit. */
void small_image_redraw(struct small_image *s, struct prng *random);

#endif
