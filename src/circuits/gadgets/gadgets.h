/* The gadgets that Filecoin's circuits are made of, each written once against builder.h. */
#ifndef CUZK_CIRCUITS_GADGETS_GADGETS_H
#define CUZK_CIRCUITS_GADGETS_GADGETS_H

#include "circuits/gadgets/builder.h"

/** One SHA-256 compression: state = compress(block, state).  Words are big-endian numbers of the message. */
void gadget_sha256_compress(struct builder *b, struct word state[8], const struct word block[16]);

/** SHA-256 of a message of whole 32-bit words, padding included.  Cost: 26192 rows a block that is all variable. */
void gadget_sha256(struct builder *b, struct word digest[8], const struct word *message, size_t word_count);

/** A number's 255 bits as the 8 message words of its little-endian bytes. */
void gadget_message_words(struct builder *b, struct word out[8], struct number x);
/** The number that the low 254 bits of a digest spell, its bytes little-endian. */
struct number gadget_pack_digest(struct builder *b, const struct word digest[8]);

/** Poseidon of arity numbers; arities 2, 4, 8, 11, tag 2^arity - 1. */
struct number gadget_poseidon(struct builder *b, const struct number *in, unsigned arity);

/** Where a number stands among its siblings: out[position] = x, the rest in order; position from the low bits of index. */
void gadget_insert(struct builder *b, struct number *out, struct number x, const struct word *index,
                   const struct number *siblings, unsigned arity);

enum merkle_hash { MERKLE_POSEIDON, MERKLE_SHA256 };
/** A path from leaf to a root: takes index and siblings of each level from the statement, packs the index bits into one public
 * input and requires the root.  arities: leaf level first; SHA-256 trees are binary. */
void gadget_merkle(struct builder *b, struct number leaf, const uint8_t *arities, size_t levels,
                   struct number root, enum merkle_hash hash);

#endif
