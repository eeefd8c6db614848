/* A key in device memory: points, gather lists and matrices, for backends that do not read host memory.
 *
 * The first proof of a key on a device uploads it; it stays there for all others and goes with the key's last reference, which
 * must be given before the device is closed. */
#ifndef CUZK_GROTH16_KEY_DEVICE_H
#define CUZK_GROTH16_KEY_DEVICE_H

#include "groth16/key.h"

/* Pieces of one block; gather[q].data NULL: point i belongs to variable i. */
struct key_device {
    const struct backend *backend;
    struct device *device;
    struct buffer block, points[QUERY_COUNT], gather[QUERY_COUNT], matrix[2];
    struct key_device *next;
};

/* The devices on which a key is resident. */
struct key_devices;
cuzk_status key_devices_create(struct key_devices **out, struct task *t) MUST_CHECK;
void key_devices_destroy(struct key_devices *d); /* NULL is legal */

/** The device memory that a key takes. */
uint64_t key_device_bytes(const struct groth16_key *key, const struct backend *backend);

/** The key on a device, uploaded now if it is not there yet.
 * Out     *out is the key's, and whole: what stream does next, and any other stream, may read it
 * Errors  CUZK_NO_MEMORY: the device has not that much free now; those of the backend.  Nothing is held then.
 * Thread  any; who comes while the key is being uploaded waits for it.
 * Cost    the upload of key_device_bytes, once. */
cuzk_status key_device_take(const struct key_device **out, struct task *t, const struct groth16_key *key,
                            const struct backend *backend, struct device *device,
                            struct stream *stream) MUST_CHECK;

/** A stream for a proof: one that an earlier proof on the key has given back, whose tables for the key's domain are made, or a new one. */
cuzk_status key_device_stream_take(struct stream **out, struct task *t, const struct groth16_key *key,
                                   const struct backend *backend, struct device *device) MUST_CHECK;
/** After a proof that succeeded: nothing is under way on stream.  Kept, or closed where enough are kept. */
void key_device_stream_give(const struct groth16_key *key, const struct backend *backend,
                            struct device *device, struct stream *stream);

#endif
