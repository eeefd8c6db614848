/* A key in device memory: points, gather lists and the circuit, for backends that do not read host memory.
 *
 * The first proof of a key on a device uploads it; it stays there for all others and goes with the key's last reference, which
 * must be given before the device is closed. */
#ifndef CUZK_GROTH16_KEY_DEVICE_H
#define CUZK_GROTH16_KEY_DEVICE_H

#include "groth16/key.h"

/* What of a key is there.  The same for all proofs of a key on a device, unless memory that was given back lets more fit. */
struct key_residence {
    struct image_eval_plan image; /* of a circuit that is an image: its tables instead of matrices */
    bool points;                  /* false: each proof sends them, piece by piece */
    /* Where points are there, a table of multiples of a query's, whose first row they are; row_count below 2: the points alone. */
    struct msm_plan table[QUERY_COUNT];
};

/* Pieces of one block; gather[q].data NULL: point i belongs to variable i. */
struct key_device {
    const struct backend *backend;
    struct device *device;
    struct buffer block, points[QUERY_COUNT], gather[QUERY_COUNT], matrix[2], tables;
    bool has_points;
    unsigned rows[QUERY_COUNT], windows[QUERY_COUNT]; /* of tables of multiples; rows 0: none */
    struct key_device *next;
};

/* The devices on which a key is resident. */
struct key_devices;
cuzk_status key_devices_create(struct key_devices **out, struct task *t) MUST_CHECK;
void key_devices_destroy(struct key_devices *d); /* NULL is legal */

/** The device memory that a key takes. */
uint64_t key_device_bytes(const struct groth16_key *key, const struct backend *backend,
                          const struct key_residence *what);

/** Whether that is there already: key_device_take will not upload it.  Thread  any; waits while a key is being uploaded. */
bool key_device_is_there(const struct groth16_key *key, const struct backend *backend, struct device *device,
                         const struct key_residence *what);

/** The key on a device, uploaded now if it is not there yet.
 * In      stream  to upload on; may be NULL where it is there
 * Out     *out is the key's, and whole: what stream does next, and any other stream, may read it
 * Errors  CUZK_NO_MEMORY: the device has not that much free now; those of the backend.  Nothing is held then.
 * Thread  any; who comes while the key is being uploaded waits for it.
 * Cost    the upload of key_device_bytes, once. */
cuzk_status key_device_take(const struct key_device **out, struct task *t, const struct groth16_key *key,
                            const struct backend *backend, struct device *device, struct stream *stream,
                            const struct key_residence *what) MUST_CHECK;

/** Gives back what a key has on a device, streams included: before the device is closed while the key lives on.  No proof of the key may
 * be under way there. */
void key_device_drop(const struct groth16_key *key, const struct backend *backend, struct device *device);

/** Points [first, first + count) of an encoded query, decoded on t->pool and copied to the start of to, in stream order.
 * Cost  0.3 us a point and core for G1 (BLS12-381); 16 MB of heap while it runs. */
cuzk_status key_device_send_points(struct task *t, const struct groth16_key *key,
                                   const struct backend *backend, struct stream *stream, struct buffer *to,
                                   enum groth16_query q, uint64_t first, uint64_t count) MUST_CHECK;

/** A stream for a proof: one that an earlier proof on the key has given back, whose tables for the key's domain are made, or a new one. */
cuzk_status key_device_stream_take(struct stream **out, struct task *t, const struct groth16_key *key,
                                   const struct backend *backend, struct device *device) MUST_CHECK;
/** After a proof that succeeded: nothing is under way on stream.  Kept, or closed where enough are kept. */
void key_device_stream_give(const struct groth16_key *key, const struct backend *backend,
                            struct device *device, struct stream *stream);

#endif
