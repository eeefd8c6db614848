/* The statement of StackedDrg PoRep: what a partition's proof says, gadget by gadget. */
#include "circuits/porep/porep_circuit.h"
#include "circuits/gadgets/gadgets.h"

#include <stdio.h>

/* What every challenge shares: its arguments as a template. */
struct shared {
    struct word replica_id[8]; /* message words */
    struct number comm_d, comm_r_last, comm_c;
};

static void label(struct builder *b, struct word digest[8], unsigned layer, const struct shared *s,
                  const struct word challenge[2], struct number columns[POREP_PARENTS][POREP_MAX_LAYERS])
{
    struct word parents[POREP_PARENTS][8], message[16 + 8 * POREP_LABEL_PARENTS];
    const unsigned distinct = layer == 1 ? POREP_DRG_PARENTS : POREP_PARENTS;
    for (unsigned i = 0; i < distinct; i++)
        gadget_message_words(b, parents[i], columns[i][i < POREP_DRG_PARENTS ? layer - 1 : layer - 2]);
    memcpy(message, s->replica_id, sizeof s->replica_id);
    word_constant(&message[8], layer);
    message[9] = challenge[1];
    message[10] = challenge[0];
    for (unsigned i = 11; i < 16; i++) word_constant(&message[i], 0);
    for (unsigned i = 0; i < POREP_LABEL_PARENTS; i++)
        memcpy(message + 16 + 8 * i, parents[i % distinct], sizeof parents[0]);
    gadget_sha256(b, digest, message, ARRAY_COUNT(message));
}

static void challenge_body(struct builder *b, const struct porep_shape *shape, const struct shared *s)
{
    uint8_t binary[POREP_MAX_BINARY_LEVELS];
    struct number columns[POREP_PARENTS][POREP_MAX_LAYERS], labels[POREP_MAX_LAYERS];
    struct word challenge[2];
    const uint8_t halves[2] = { 32, 32 };
    memset(binary, 2, sizeof binary);

    const struct number leaf = number_source(b);
    gadget_merkle(b, leaf, binary, shape->nodes_log2, s->comm_d, MERKLE_SHA256);
    for (unsigned i = 0; i < POREP_PARENTS; i++) {
        for (unsigned layer = 0; layer < shape->layers; layer++) columns[i][layer] = number_source(b);
        const struct number hash = gadget_poseidon(b, columns[i], shape->layers);
        gadget_merkle(b, hash, shape->tree, shape->tree_levels, s->comm_c, MERKLE_POSEIDON);
    }
    word_index(b, &challenge[0], 32);
    word_index(b, &challenge[1], 32);
    words_input(b, challenge, halves, 2);
    for (unsigned layer = 1; layer <= shape->layers; layer++) {
        struct word digest[8];
        label(b, digest, layer, s, challenge, columns);
        labels[layer - 1] = gadget_pack_digest(b, digest);
    }
    const struct number encoded = number_sum(b, labels[shape->layers - 1], leaf);
    gadget_merkle(b, encoded, shape->tree, shape->tree_levels, s->comm_r_last, MERKLE_POSEIDON);
    const struct number column = gadget_poseidon(b, labels, shape->layers);
    gadget_merkle(b, column, shape->tree, shape->tree_levels, s->comm_c, MERKLE_POSEIDON);
}

static void challenge_call(struct builder *b, const struct porep_shape *shape, const struct shared *s)
{
    const struct number numbers[3] = { s->comm_d, s->comm_r_last, s->comm_c };
    const struct template_key key = {
        .name = "challenge", .words = s->replica_id, .word_count = 8, .number_count = 3
    };
    struct shared inside;
    struct number imports[3];
    uint32_t id;
    if (template_begin(b, &id, &key, inside.replica_id, imports)) {
        inside.comm_d = imports[0];
        inside.comm_r_last = imports[1];
        inside.comm_c = imports[2];
        challenge_body(b, shape, &inside);
        id = template_end(b, NULL, 0);
    }
    template_call(b, id, s->replica_id, numbers, NULL, NULL, true);
}

cuzk_status porep_circuit_record(struct circuit_image *out, struct task *t, const struct porep_shape *shape,
                                 unsigned challenges)
{
    struct builder *b;
    struct shared s;
    char name[32];
    memset(out, 0, sizeof *out);
    snprintf(name, sizeof name, "porep-%s", shape->name);
    TRY(builder_create(&b, t, name));

    const struct number replica_id = number_source(b);
    number_input(b, replica_id);
    gadget_message_words(b, s.replica_id, replica_id);
    s.comm_d = number_source(b);
    number_input(b, s.comm_d);
    const struct number comm_r = number_source(b);
    number_input(b, comm_r);
    s.comm_r_last = number_source(b);
    s.comm_c = number_source(b);
    const struct number roots[2] = { s.comm_c, s.comm_r_last };
    number_equal(b, comm_r, gadget_poseidon(b, roots, 2));
    for (unsigned i = 0; i < challenges; i++) challenge_call(b, shape, &s);
    return builder_finish(b, out);
}
