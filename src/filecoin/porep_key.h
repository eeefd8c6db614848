/* What proofs of a sector size share: its circuit, its parameters, its verifying key. */
#ifndef CUZK_FILECOIN_POREP_KEY_H
#define CUZK_FILECOIN_POREP_KEY_H

#include "filecoin/params.h"
#include "filecoin/porep_bind.h"
#include "formats/trapdoor_file.h"
#include "groth16/key_derived.h"
#include "groth16/verify.h"

/* Immutable once open; any number of proofs may use it at once.  May not move. */
struct porep_key {
    struct porep_binding binding;
    struct groth16_key *key;
    struct groth16_vk vk; /* of the .vk file, the same as the key's; without files zeroed */
    struct groth16_verifier verifier;
    size_t shared_bytes; /* heap that it holds; the mapped .params, which the kernel may drop, comes on top */
    struct error
        derived_refused; /* why a derived key that lies beside the .params is not used; status CUZK_OK: nothing is refused */
    bool development, checked;
};

/** Opens the parameters of a sector size: the .vk must be the head of the .params, every count the circuit's, digests those of the
 * folder's parameters.json where there is one (that of .params is computed once for each file).
 * In      given         the folder, or NULL: params_folder_find
 *         mode          whether a derived key beside the .params is used
 *         memory_bytes  refused early if a proof cannot do with so much; 0: not asked
 * Out     zeroed before; to be ended with porep_key_close, also on failure
 * Errors  CUZK_NOT_FOUND, CUZK_IO, CUZK_MALFORMED, CUZK_KEY_INVALID (digest, points), CUZK_MISMATCH, CUZK_TOO_LARGE
 * Cost    one walk over the circuit's rows; for the first time, one pass over the file. */
cuzk_status porep_key_open(struct porep_key *out, struct task *t, const struct porep_shape *shape,
                           const char *given, enum groth16_key_mode mode, uint64_t memory_bytes) MUST_CHECK;
void porep_key_close(struct porep_key *k); /* legal on a zeroed one */

/** A development key without files, the verifying key from the same secrets: who knows them can forge proofs under it.
 * In      key->binding  open;  the others  as for groth16_key_from_secret
 * Out     key  to be ended with porep_key_close, also on failure
 * Errors  those of groth16_key_from_secret */
cuzk_status porep_key_from_secret(struct porep_key *key, struct task *t, const struct trapdoor *secrets,
                                  bool derived, const struct backend *backend,
                                  struct device *device) MUST_CHECK;

/** The same without the walk and without digests: good for counts and plans (groth16_key_outline), not for proofs.
 * Cost    0.1 s, whatever the size. */
cuzk_status porep_key_outline(struct porep_key *out, struct task *t, const struct porep_shape *shape,
                              const char *given, enum groth16_key_mode mode) MUST_CHECK;

#endif
