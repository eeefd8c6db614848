/* Everything that can be checked about a proving key without its secrets, and the memory of what was checked. */
#ifndef CUZK_GROTH16_KEY_CHECK_H
#define CUZK_GROTH16_KEY_CHECK_H

#include "groth16/key.h"

/** Checks a key.  Every point of every query is canonical, on the curve and in the subgroup; beta, delta and B are the same
 * multiples in G1 and in G2 (B by a random linear combination with 128-bit weights from the operating system); the G2 point of
 * gamma is the generator in a zkey; alpha, beta, gamma and delta are not infinity; bellman: no infinity in a query.
 * In      expected  NULL, or the verifying key that the key must carry
 * Errors  CUZK_KEY_INVALID names query, index and offset; CUZK_MISMATCH names what differs from expected.
 * Cost    a subgroup check a point and two multi-scalar multiplications over B, on t->pool. */
cuzk_status groth16_key_check(struct task *t, const struct groth16_key *key,
                              const struct groth16_vk *expected, const struct backend *backend,
                              struct device *device) MUST_CHECK;

/** Whether the verifying key is the one that key carries.  Errors  CUZK_MISMATCH names the part in which they differ. */
cuzk_status groth16_key_compare_vk(struct task *t, const struct groth16_key *key,
                                   const struct groth16_vk *expected) MUST_CHECK;

/** Whether the files that key reads are still what was opened (mapfile_check).  For explaining what went wrong: proofs are verified.
 * Errors  CUZK_IO names the file. */
cuzk_status groth16_key_check_files(struct task *t, const struct groth16_key *key) MUST_CHECK;

/** Notes that the file of key has passed, or tells whether it has.  The memory is one small file a key in $XDG_CACHE_HOME/cuzk
 * (or ~/.cache/cuzk), mode 0600, named by the file's identity and holding its SHA-256.  Forgotten when the file's size, time or
 * inode changes.  A cache that cannot be written or read is as one without the note.
 * Cost    remember: one pass over the file for the digest; known: constant. */
void groth16_key_remember(const struct groth16_key *key);
bool groth16_key_is_known(const struct groth16_key *key);

/** Whether the contents of key's file and of its derived key are those that were checked once and remembered: a disk, or somebody who keeps
 * a file's size and time, may have changed them since.  For explaining why a proof does not verify.  What was remembered is forgotten then.
 * Errors  CUZK_KEY_INVALID names the file and what to do.
 * Cost    a pass over the derived key, and over the key if a digest of it is remembered. */
cuzk_status groth16_key_check_contents(struct task *t, const struct groth16_key *key) MUST_CHECK;

#endif
