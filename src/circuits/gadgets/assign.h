/* The witness of a circuit image: bits as bits, field elements as field elements, both in the order of allocation. */
#ifndef CUZK_CIRCUITS_GADGETS_ASSIGN_H
#define CUZK_CIRCUITS_GADGETS_ASSIGN_H

#include "r1cs/image.h"

/* What the circuit is told: the numbers and words that its programs read, in their order; its own, then each part's. */
struct statement {
    const bls12_381_fr_int *own_numbers, *part_numbers; /* canonical; source_number_total in all */
    const uint32_t *own_words, *part_words;             /* source_word_total in all */
};

/* All values are canonical.  Secret: wiped when destroyed. */
struct assignment {
    uint64_t *
        bits; /* aux_count bits: the value of every aux that is a bit, 0 where it is a number; a word more for
                                 * unaligned loads */
    bls12_381_fr_int *numbers; /* number_total: the circuit's own, then each part's */
    bls12_381_fr_int *inputs;  /* input_count; the first is 1 */
    uint32_t *registers;       /* scratch of the workers */
    size_t bits_bytes, numbers_bytes, inputs_bytes, registers_bytes;
    unsigned width; /* workers that the scratch is for */
};

/** Room for an image's witness, scratch for each worker of the task's pool included.  Cost: assignment_bytes, 71 MB for 32 GiB. */
cuzk_status assignment_create(struct assignment *a, struct task *t, const struct circuit_image *m) MUST_CHECK;
void assignment_fini(struct assignment *a); /* legal on a zeroed one */
/** A view of inputs, numbers and bits that lie in this order in bytes; without scratch, and not to be ended.  CUZK_MISMATCH: their sizes. */
cuzk_status assignment_view(struct assignment *a, struct task *t, const struct circuit_image *m,
                            struct span bytes) MUST_CHECK;
/** What assignment_create takes for a pool of so many workers. */
size_t assignment_bytes(const struct circuit_image *m, unsigned width);

/** Runs the programs: the circuit's own, then its parts in parallel on the task's pool.
 * Errors  CUZK_MALFORMED if the statement holds a number >= r or an index outside its arity; whether the rows hold is for
 *         image_check (evaluate.h) to say
 * Cost    a 32 GiB partition: about 0.4 s on one core, most of it Poseidon. */
cuzk_status image_assign(const struct circuit_image *m, struct task *t, struct assignment *a,
                         const struct statement *s) MUST_CHECK;

/* Where the value of an aux stands: which are numbers, and which of them. */
struct aux_map {
    const struct circuit_image *image;
    uint32_t part_first, part_aux; /* all parts are instances of one template, one behind the other */
    uint64_t *is_number;           /* of a part's aux */
    uint32_t *rank;                /* numbers before each 64 aux */
};
/** Errors  CUZK_NO_MEMORY, CUZK_UNSUPPORTED (parts of different templates).  Cost: 1.5 bits for each aux of one part. */
cuzk_status aux_map_create(struct aux_map *out, struct task *t, const struct circuit_image *m) MUST_CHECK;
void aux_map_fini(struct aux_map *map);
/** The number's place in assignment->numbers, or AUX_IS_BIT. */
uint32_t aux_map_find(const struct aux_map *map, uint32_t aux);
#define AUX_IS_BIT UINT32_MAX

static inline bool assignment_bit(const struct assignment *a, uint32_t aux)
{
    return a->bits[aux / 64] >> aux % 64 & 1;
}
/** The value of any variable as a canonical integer. */
void assignment_value(const struct assignment *a, const struct aux_map *map, bls12_381_fr_int *out,
                      uint32_t var);
/** All values as the matrices' columns order them: inputs, then aux; 32 bytes each.  For small circuits and tests. */
void assignment_values(const struct assignment *a, const struct aux_map *map, bls12_381_fr_int *out);

#endif
