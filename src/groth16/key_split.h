/* What proofs of a circuit image need of a key on a device besides its points: which of them belong to numbers, and the programs that make
 * witnesses there.
 *
 * A variable of an image is a bit or a number, once and for all.  So the points of numbers and inputs, few, are copied out of each query
 * once; a proof's sums over them read the numbers where the witness has them, and one sweep over the query serves the bits of many
 * witnesses (prove_batch.h).
 *
 * Where the device has no room for all points, some of them stand decoded in one block of locked host memory, in the order in which sums
 * read them, and are sent to each batch (key_feed.h). */
#ifndef CUZK_GROTH16_KEY_SPLIT_H
#define CUZK_GROTH16_KEY_SPLIT_H

#include "groth16/key_device.h"
#include "groth16/msm_set.h"
#include "r1cs/image_program.h"

/* Which of a key's points stay on the device. */
struct key_keep {
    bool streams;                /* false: all of them, and the rest of this is not looked at */
    uint64_t count[QUERY_COUNT]; /* of those that sums walk, the first so many of each query */
};

static inline bool key_keep_equal(const struct key_keep *a, const struct key_keep *b)
{
    if (a->streams != b->streams) return false;
    for (int q = 0; q < QUERY_COUNT && a->streams; q++)
        if (a->count[q] != b->count[q]) return false;
    return true;
}

/* A query. */
struct split_row {
    uint64_t skip;        /* its first points, of inputs alone, that no sweep walks */
    uint64_t count;       /* points of the sweep; all of H */
    uint64_t kept_count;  /* of these, those on the device: the first ones */
    struct buffer kept;   /* the skipped and these */
    const uint8_t *host;  /* where the others are */
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
    struct split_row row[QUERY_COUNT]; /* QUERY_H: no wide ones */
    struct key_keep keep;              /* of what is loaded */
    const struct key_device *resident; /* NULL: not loaded */
    struct buffer block, programs, host;
};

/** What all proofs of a key on a device share, on the host.
 * In      key      of a circuit that is an image;  backend  that makes witnesses of images
 * Out     to be ended with key_split_destroy, before key and device
 * Errors  CUZK_UNSUPPORTED (no image, or none of this backend), CUZK_NO_MEMORY, CUZK_TOO_LARGE
 * Cost    a pass over the key's lists: 32 GiB, about 1 s; 50 MB of heap until it is loaded */
cuzk_status key_split_create(struct key_split **out, struct task *t, const struct groth16_key *key,
                             const struct backend *backend, struct device *device) MUST_CHECK;
/** The same of a key that was opened for its counts (groth16_key_outline), to plan with and not to load: which points are of numbers is not
 * known, so each query is taken to have as many as there are, and a plan takes no less than one for the whole key.
 * Cost    0.1 s, whatever the size */
cuzk_status key_split_outline(struct key_split **out, struct task *t, const struct groth16_key *key,
                              const struct backend *backend, struct device *device) MUST_CHECK;
/** Bytes that a load takes and keeps: of device memory, and of locked host memory. */
uint64_t key_split_device_bytes(const struct key_split *k, const struct key_keep *keep);
uint64_t key_split_host_bytes(const struct key_split *k, const struct key_keep *keep);
/** Brings key, programs and lists into device memory, and points that are not kept there into locked host memory.
 * Errors  CUZK_NO_MEMORY; those of the backend.  Nothing new is held then, but the key may be there.
 * Cost    of points that are not kept: locking their bytes, 0.3 us a point and core to decode them (BLS12-381, G1) */
cuzk_status key_split_load(struct key_split *k, struct task *t, struct stream *stream,
                           const struct key_keep *keep) MUST_CHECK;
void key_split_destroy(struct key_split *k); /* NULL is legal */

/** That a statement's numbers are below the modulus and its words as wide as the programs read them: then a device makes a witness of
 * it.  CUZK_MALFORMED names the first that is not. */
cuzk_status key_split_check(const struct key_split *k, struct task *t, const uint8_t *statement) MUST_CHECK;

#endif
