/* Merkle paths: positions among siblings, and the climb to a root that the circuit knows. */
#include "circuits/gadgets/gadgets.h"

#define MERKLE_MAX_LEVELS 40

static void insert2(struct builder *b, struct number *out, struct number x, const struct word *i,
                    const struct number *e)
{
    out[0] = number_pick(b, i, 0, e[0], x);
    out[1] = number_pick(b, i, 0, x, e[0]);
}

static void insert4(struct builder *b, struct number *out, struct number x, const struct word *i,
                    const struct number *e)
{
    struct number t = number_pick(b, i, 0, e[0], x);
    out[0] = number_pick(b, i, 1, e[0], t);
    t = number_pick(b, i, 0, x, e[0]);
    out[1] = number_pick(b, i, 1, e[1], t);
    t = number_pick(b, i, 0, e[2], x);
    out[2] = number_pick(b, i, 1, t, e[1]);
    t = number_pick(b, i, 0, x, e[2]);
    out[3] = number_pick(b, i, 1, t, e[2]);
}

static void insert8(struct builder *b, struct number *out, struct number x, const struct word *i,
                    const struct number *e)
{
    struct word nor, both;
    struct number t;
    word_and_lanes(b, &nor, i, 0, 1, true);
    word_and_lanes(b, &both, i, 0, 1, false);

    t = number_pick(b, &nor, 0, x, e[0]);
    out[0] = number_pick(b, i, 2, e[0], t);
    t = number_pick(b, i, 0, x, e[0]);
    t = number_pick(b, i, 1, e[1], t);
    out[1] = number_pick(b, i, 2, e[1], t);
    t = number_pick(b, i, 0, e[2], x);
    t = number_pick(b, i, 1, t, e[1]);
    out[2] = number_pick(b, i, 2, e[2], t);
    t = number_pick(b, &both, 0, x, e[2]);
    out[3] = number_pick(b, i, 2, e[3], t);
    t = number_pick(b, &nor, 0, x, e[4]);
    out[4] = number_pick(b, i, 2, t, e[3]);
    t = number_pick(b, i, 0, x, e[4]);
    t = number_pick(b, i, 1, e[5], t);
    out[5] = number_pick(b, i, 2, t, e[4]);
    t = number_pick(b, i, 0, e[6], x);
    t = number_pick(b, i, 1, t, e[5]);
    out[6] = number_pick(b, i, 2, t, e[5]);
    t = number_pick(b, &both, 0, x, e[6]);
    out[7] = number_pick(b, i, 2, t, e[6]);
}

void gadget_insert(struct builder *b, struct number *out, struct number x, const struct word *index,
                   const struct number *siblings, unsigned arity)
{
    switch (arity) {
    case 2:
        insert2(b, out, x, index, siblings);
        break;
    case 4:
        insert4(b, out, x, index, siblings);
        break;
    case 8:
        insert8(b, out, x, index, siblings);
        break;
    default:
        builder_fail(b, "no insertion of such an arity");
    }
}

static struct number hash_two(struct builder *b, const struct number x[2])
{
    struct word message[16], digest[8];
    gadget_message_words(b, message, x[0]);
    gadget_message_words(b, message + 8, x[1]);
    gadget_sha256(b, digest, message, 16);
    return gadget_pack_digest(b, digest);
}

void gadget_merkle(struct builder *b, struct number leaf, const uint8_t *arities, size_t levels,
                   struct number root, enum merkle_hash hash)
{
    struct word index[MERKLE_MAX_LEVELS];
    uint8_t widths[MERKLE_MAX_LEVELS];
    if (levels > MERKLE_MAX_LEVELS) {
        builder_fail(b, "a tree with too many levels");
        return;
    }
    for (size_t l = 0; l < levels; l++) {
        struct number siblings[8], children[8];
        const unsigned arity = arities[l];
        if (arity != 2 && arity != 4 && arity != 8) {
            builder_fail(b, "a tree of an arity other than 2, 4 or 8");
            return;
        }
        widths[l] = (uint8_t)__builtin_ctz(arity);
        word_index(b, &index[l], widths[l]);
        for (unsigned i = 0; i + 1 < arity; i++) siblings[i] = number_source(b);
        gadget_insert(b, children, leaf, &index[l], siblings, arity);
        leaf = hash == MERKLE_SHA256 ? hash_two(b, children) : gadget_poseidon(b, children, arity);
    }
    words_input(b, index, widths, levels);
    number_equal(b, leaf, root);
}
