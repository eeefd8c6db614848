/* Development keys without a file: the points are made from the secrets where they are needed, straight into device memory for instance. */
#ifndef CUZK_GROTH16_KEY_SECRET_H
#define CUZK_GROTH16_KEY_SECRET_H

#include "groth16/key.h"
#include "groth16/setup_scalars.h"
#include "groth16/setup.h"

/** A key in bellman's layout for circuit under secrets, as groth16_key_open_circuit would open it if it were written.  What asks for its
 * points (groth16_key_points, key_device_take, key_device_send_points) gets them as fixed_base makes them on the way; a resident key is
 * made on its device.
 * In      circuit  as for groth16_key_open_circuit: it outlives the key
 *         derived  L and H in the derived form
 *         backend, device  where points for the host are made; they outlive the key
 * Errors  those of setup_scalars_init; CUZK_UNSUPPORTED: secrets in snarkjs's layout
 * Cost    setup_scalars_init, whose memory the key keeps.  Not for groth16_key_check, groth16_derive, groth16_key_choose: there is no file. */
cuzk_status groth16_key_from_secret(struct groth16_key **out, struct task *t,
                                    const struct constraints *circuit, const struct trapdoor *secrets,
                                    bool derived, const struct backend *backend,
                                    struct device *device) MUST_CHECK;

/* How long the points of a key took that were made straight into a device's memory. */
struct key_secret_times {
    double points_ms[QUERY_COUNT]; /* of each query, */
    double
        host_ms; /* of all that: scalars on the host and their upload, beside which the device multiplies */
};
/** Of the last device that the key was brought to.  Thread  not while that is under way. */
void groth16_key_secret_times(const struct groth16_key *key, struct key_secret_times *out);

/** What the points are multiples by, or NULL: another key, or forgotten.  For oracles. */
const struct setup_scalars *groth16_key_scalars(const struct groth16_key *key);

/** Wipes what points are made from, 96 bytes a variable, once they are where they are needed: proofs go on there, and every further request
 * for points is CUZK_UNSUPPORTED.  Without effect on other keys.  Thread  while nobody asks for points. */
void groth16_key_forget_secret(struct groth16_key *key);

/* For key.c and key_device.c, of a key whose secret is not NULL: */

/** Points [first, first + count) of a query, packed, into host memory. */
cuzk_status key_secret_points(struct task *t, const struct groth16_key *key, enum groth16_query q,
                              uint64_t first, uint64_t count, uint8_t *out) MUST_CHECK;
/** The same into a buffer of a device, from its start, after what stream holds now; whole when it returns. */
cuzk_status key_secret_fill(struct task *t, const struct groth16_key *key, const struct backend *backend,
                            struct stream *stream, struct buffer *to, enum groth16_query q, uint64_t first,
                            uint64_t count) MUST_CHECK;
void key_secret_close(struct groth16_key *key); /* wipes; legal where there is no secret */

#endif
