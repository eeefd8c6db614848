/* Checkpoints of a derivation: the points of its transforms between two passes, in a file beside the derived key to be.
 * docs/formats/derive-work.md.
 *
 * A cache like the derived key itself, of its maker alone.  Nothing here fails a derivation: what cannot be read, trusted or written is said
 * (note), and the transforms are made without. */
#ifndef CUZK_GROTH16_DERIVE_WORK_H
#define CUZK_GROTH16_DERIVE_WORK_H

#include "groth16/derive.h"
#include "hash/sha256.h"
#include <pthread.h>

#define DERIVE_WORK_SUFFIX ".work"
#define DERIVE_WORK_MOST   2 /* vectors of points that a derivation transforms: LD, Lc */

struct derive_work_vector {
    uint32_t passes; /* done; 0: none is in the file */
    uint32_t area;   /* where they stand */
    uint8_t digest[SHA256_BYTES];
};

struct derive_work {
    const struct groth16_key *key;
    const struct groth16_derive_options *options;
    char path[4096];
    int fd;                          /* -1: no file */
    bool off;                        /* no checkpoints */
    bool unwanted;                   /* off by the options */
    bool started;                    /* the file's head is this derivation's */
    bool blank;                      /* the file holds nothing that any derivation can go on from */
    uint32_t vectors, passes, steps; /* passes of a vector in all; steps: group_ntt_plan.steps */
    uint64_t sequence;
    struct derive_work_vector vector[DERIVE_WORK_MOST];
    uint64_t last_ns,
        cost_ns; /* when the last checkpoint was written or read (or the work began), and how long writing it took */
    uint64_t kept_ns;  /* told as stages of their own */
    pthread_t hashing; /* of the key's file, meanwhile */
    bool hashes, digest_known;
    atomic_bool stop, hashed;
    uint8_t key_digest[SHA256_BYTES], head_digest[SHA256_BYTES];
};

/** Looks for a file that an interrupted derivation of this key left, and takes hold of it.
 * In      path  of the derived key
 *         steps what the passes are: group_ntt_plan.steps
 * Out     out   to be ended with derive_work_close */
void derive_work_open(struct derive_work *out, struct task *t, const struct groth16_key *key,
                      const char *path, uint32_t vectors, uint32_t passes, uint32_t steps,
                      const struct groth16_derive_options *options);
/** Gives back; the file stays if there is one. */
void derive_work_close(struct derive_work *w);  /* legal on a closed one */
void derive_work_remove(struct derive_work *w); /* the file, unless it is another key's */
/** The derived key is there: removes the file, also where this run was to have no checkpoints, and an earlier one left it. */
void derive_work_finish(struct derive_work *w, struct task *t);

/** Points of a vector from the file, as they were after w->vector[vector].passes passes, which is 0 afterwards if there are none or they are damaged.
 * Errors  CUZK_CANCELLED, CUZK_DEADLINE only */
cuzk_status derive_work_load(struct derive_work *w, struct task *t, uint32_t vector,
                             uint8_t *points) MUST_CHECK;
/** Whether it is time for one, which it is not while the key's digest is still being taken (but after every pass means every one);
 * ends: the transform has had its last pass. */
bool derive_work_due(const struct derive_work *w, bool ends);
/** Keeps the points of a vector as they are after so many passes.  A crash at any moment leaves the file with this state or the one before.
 * Errors  CUZK_CANCELLED, CUZK_DEADLINE only */
cuzk_status derive_work_save(struct derive_work *w, struct task *t, uint32_t vector, uint32_t passes,
                             const uint8_t *points) MUST_CHECK;

/** The SHA-256 of the key's file, waiting for it.  Errors  CUZK_CANCELLED, CUZK_DEADLINE */
cuzk_status derive_work_key_digest(struct derive_work *w, struct task *t,
                                   uint8_t out[SHA256_BYTES]) MUST_CHECK;

#endif
