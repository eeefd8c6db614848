/* What proofs of a circuit image need of a key on a device besides its points: which of them belong to numbers, and the programs that make
 * witnesses there.
 *
 * A variable of an image is a bit or a number, once and for all.  So the points of numbers and inputs, few, are copied out of each query
 * once; a proof's sums over them read the numbers where the witness has them, and one sweep over the query serves the bits of many
 * witnesses (prove_batch.h). */
#ifndef CUZK_GROTH16_KEY_SPLIT_H
#define CUZK_GROTH16_KEY_SPLIT_H

#include "groth16/key_device.h"
#include "groth16/msm_set.h"
#include "r1cs/image_program.h"

/* A query over the witness. */
struct split_row {
    uint64_t skip;        /* its first points, of inputs alone, that no sweep walks */
    uint64_t count;       /* points of the sweep */
    uint64_t wide_count;  /* points of numbers and inputs */
    struct buffer points; /* of these */
    struct buffer
        numbers; /* which number each is multiplied by: a uint32_t, inputs first, then as the witness has them */
    uint32_t *index,
        *value; /* on the host, until they are on the device: which points, and the same as numbers */
};

struct key_split {
    const struct groth16_key *key; /* borrowed, as are backend and device */
    const struct backend *backend;
    struct device *device;
    struct image_program program;
    uint8_t *widths; /* of each word of a statement, in bits */
    struct key_residence residence;
    struct image_assign_plan assign;
    struct msm_row rows[QUERY_COUNT];
    struct split_row row[QUERY_COUNT]; /* QUERY_H: empty */
    uint64_t key_bytes;                /* of device memory, of the key itself */
    size_t bytes;                      /* what this takes besides */
    const struct key_device *resident; /* NULL: not loaded */
    struct buffer block, programs;
};

/** What all proofs of a key on a device share, on the host.
 * In      key      of a circuit that is an image;  backend  that makes witnesses of images
 * Out     to be ended with key_split_destroy, before key and device
 * Errors  CUZK_UNSUPPORTED (no image, or none of this backend), CUZK_NO_MEMORY, CUZK_TOO_LARGE
 * Cost    a pass over the key's lists: 32 GiB, about 1 s; 50 MB of heap until it is loaded */
cuzk_status key_split_create(struct key_split **out, struct task *t, const struct groth16_key *key,
                             const struct backend *backend, struct device *device) MUST_CHECK;
/** Brings key, programs and lists into device memory: key_bytes + bytes of it, which they keep.
 * Errors  CUZK_NO_MEMORY; those of the backend.  Nothing new is held then, but the key may be there. */
cuzk_status key_split_load(struct key_split *k, struct task *t, struct stream *stream) MUST_CHECK;
void key_split_destroy(struct key_split *k); /* NULL is legal */

/** That a statement's numbers are below the modulus and its words as wide as the programs read them: then a device makes a witness of
 * it.  CUZK_MALFORMED names the first that is not. */
cuzk_status key_split_check(const struct key_split *k, struct task *t, const uint8_t *statement) MUST_CHECK;

#endif
