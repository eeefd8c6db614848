/* Derived keys in use: a cache file beside a proving key, checked and put in the place of the key's L and H. */
#ifndef CUZK_GROTH16_KEY_DERIVED_H
#define CUZK_GROTH16_KEY_DERIVED_H

#include "groth16/key.h"

/* The name of a key's derived key where none is given: the key's own with this behind. */
#define DERIVED_SUFFIX ".derived"

enum groth16_key_mode {
    KEY_MODE_AUTO, /* the derived key that lies beside the key, if there is one and nothing is wrong with it */
    KEY_MODE_ORIGINAL, /* the key as it is */
    KEY_MODE_DERIVED,  /* the derived key, or an error */
};

/** Puts a derived key in the place of key's L and H, before any proof runs on it.
 *
 * The file is trusted as little as a key.  Header, owner and permissions are looked at each time; the digest of each part, that every
 * point is canonical and on the curve, and the original's digest once for each file (base/filenote.h).  Subgroups are
 * groth16_key_check's, as for all keys.
 * In      path  NULL: the key's name and DERIVED_SUFFIX
 * Errors  CUZK_NOT_FOUND; CUZK_MALFORMED, CUZK_KEY_INVALID (damaged); CUZK_MISMATCH (of another key); CUZK_INVALID_ARGUMENT (another user's, or
 *         others may write it).  The key is then as it was.
 * Cost    the first time: a pass over both files, and a curve equation a point. */
cuzk_status groth16_key_use_derived(struct groth16_key *key, struct task *t, const char *path) MUST_CHECK;

/** The same as a mode asks for.
 * Out     refused  KEY_MODE_AUTO: why the file that lies there is not used; status CUZK_OK if it is, or if there is none */
cuzk_status groth16_key_choose(struct groth16_key *key, struct task *t, enum groth16_key_mode mode,
                               const char *path, struct error *refused) MUST_CHECK;

/** The SHA-256 of a key's file; remembered, so that its cost, a pass over the file, arises once. */
void groth16_key_sha256(const struct groth16_key *key, uint8_t out[SHA256_BYTES]);
void groth16_key_note_sha256(const struct groth16_key *key,
                             const uint8_t digest[SHA256_BYTES]); /* where somebody else took it */
bool groth16_key_has_sha256(const struct groth16_key *key, const uint8_t digest[SHA256_BYTES]);

/** The header of a derived file whose parts are there, its digests taken on t->pool, a part a thread.
 * In  key  the original's file;  key_digest  its SHA-256, NULL: not known yet
 * Errors  CUZK_CANCELLED, CUZK_DEADLINE */
cuzk_status groth16_derived_finish(struct task *t, uint8_t *file, const struct derived_shape *shape,
                                   struct span key, const uint8_t *key_digest) MUST_CHECK;

const char *groth16_h_mode_name(enum groth16_h_mode mode); /* "original, 6 transforms" */

/* What is noted of a derived file: its header's digest covers the rest. */
#define DERIVED_NOTE_BYTES (2 * SHA256_BYTES + 16)
void derived_note(char out[DERIVED_NOTE_BYTES], const struct derived_file *d);

#endif
