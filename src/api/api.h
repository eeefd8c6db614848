/* What the files of this folder share: the handles' insides, and the way from a public call to a task and back. */
#ifndef CUZK_API_API_H
#define CUZK_API_API_H

#include "backend/backend.h"
#include "base/mapfile.h"
#include "base/pool.h"
#include "cuzk/cuzk.h"
#include "groth16/key.h"
#include "groth16/prove.h"
#include "groth16/prove_lanes.h"
#include "groth16/verify.h"
#include <pthread.h>

/* Of each device with memory of its own: statements of some dozen partitions of 32 GiB sectors on their way there. */
#define API_PINNED_BYTES ((size_t)64 << 20)

struct cuzk_context {
    const struct backend *backend;
    struct device *device;
    struct pool *pool;
    uint64_t memory_bytes; /* most that one proof may take */
    unsigned lane_count;   /* 0: none */
    pthread_mutex_t lock;  /* of lanes */
    struct lanes *lanes;   /* NULL before the first proof */
};

/** The lanes that proofs of the context go through, made by the first; *out NULL where it has none. */
cuzk_status api_lanes(struct lanes **out, struct task *t, cuzk_context *context) MUST_CHECK;

struct cuzk_key {
    struct groth16_key *key;
    struct groth16_verifier verifier;
    struct error derived_refused; /* status CUZK_OK: nothing was */
    atomic_bool checked;
};

struct cuzk_vk {
    struct groth16_vk vk;
    struct groth16_verifier verifier;
};

struct cuzk_witness {
    struct witness witness;
    struct mapfile file; /* zeroed: the caller's memory */
};

struct cuzk_proof {
    struct groth16_proof proof;
    cuzk_timings timings;
    char timing_line[TIMING_LINE_BYTES]; /* "": not made here */
};

struct cuzk_publics {
    struct fr_int *value; /* not known to be below r: the curve is not known here */
    uint64_t count;
};

/* -- the frame of a public call ---------------------------------------------------------------------------------------- */

struct api_call {
    struct task task;
    cuzk_watch watch;
};

/** Starts a call: context may be NULL (the work is done by the calling thread), watch too. */
void api_begin(struct api_call *call, const cuzk_context *context, const cuzk_watch *watch);
/** Ends it: hands the detail to the caller's error (NULL: nobody asks) and returns status. */
cuzk_status api_end(struct api_call *call, cuzk_status status, cuzk_error *error);

/** A NULL or otherwise unusable argument. */
cuzk_status api_refuse(struct api_call *call, const char *argument);

/* Structures of the caller begin with their size, which may be that of an older or newer version: the common part is copied. */
void api_copy_in(void *own, size_t own_size,
                 const void *callers); /* own holds defaults; callers may be NULL */
void api_copy_out(void *callers, const void *own,
                  size_t own_size); /* keeps the caller's size; callers may be NULL */

struct groth16_derive_options;
void api_derive_options(struct groth16_derive_options *out, const cuzk_derive_options *options);

/** A new zeroed handle. */
cuzk_status api_new(struct api_call *call, void **out, size_t bytes) MUST_CHECK;

/** A bounded copy with a NUL, for the fixed texts of public structures. */
void api_text(char *out, size_t capacity, const char *text);

/** snprintf's convention for encoders. */
size_t api_put(void *buffer, size_t capacity, const void *data, size_t bytes, bool text);

/** Saves what encoders give: all or nothing (mapfile_write_together). */
typedef size_t api_encoder(const void *handle, cuzk_encoding encoding, void *buffer, size_t capacity);
struct api_output {
    api_encoder *encode;
    const void *handle;
    cuzk_encoding encoding;
    const char *path;
};
cuzk_status api_save(const struct api_output *outputs, size_t count, cuzk_error *error);

#endif
