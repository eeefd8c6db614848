/* Derivation of ids, challenges and public inputs (statement of the circuit, sections 2.3, 2.5, 2.6). */
#include "circuits/porep/porep_inputs.h"

#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

void porep_prover_id(uint8_t out[32], uint64_t miner)
{
    memset(out, 0, 32);
    for (unsigned i = 0; i == 0 || miner != 0; i++, miner >>= 7)
        out[i] = (uint8_t)((miner & 0x7f) | (miner > 0x7f ? 0x80 : 0));
}

void porep_replica_id(uint8_t out[32], const uint8_t prover_id[32], uint64_t sector, const uint8_t ticket[32],
                      const uint8_t comm_d[32], const uint8_t porep_id[32])
{
    uint8_t message[136];
    memcpy(message, prover_id, 32);
    store_be64(message + 32, sector);
    memcpy(message + 40, ticket, 32);
    memcpy(message + 72, comm_d, 32);
    memcpy(message + 104, porep_id, 32);
    sha256_of(out, message, sizeof message);
    sha256_trim(out);
}

void porep_public_init(struct porep_public *p, const struct registered_proof *r, const uint8_t replica_id[32],
                       const uint8_t comm_d[32], const uint8_t comm_r[32], const uint8_t seed[32])
{
    memset(p, 0, sizeof *p);
    p->shape = r->shape;
    p->feature = r->feature;
    p->legacy_graph = r->legacy_graph;
    registered_proof_porep_id(r, p->porep_id);
    memcpy(p->replica_id, replica_id, 32);
    memcpy(p->comm_d, comm_d, 32);
    memcpy(p->comm_r, comm_r, 32);
    memcpy(p->seed, seed, 32);
}

/* A 256-bit little-endian integer mod (nodes - 1), plus 1: never node 0. */
static uint64_t reduce(const uint8_t bytes[32], uint64_t nodes)
{
    unsigned __int128 x = 0;
    for (int i = 3; i >= 0; i--) x = (x << 64 | load_le64(bytes + 8 * i)) % (nodes - 1);
    return (uint64_t)x + 1;
}

static uint64_t hashed_challenge(const struct porep_public *p, uint32_t index)
{
    static const char tag[] = "filecoin.io|PoRep|1|NonInteractive|1";
    uint8_t hash[32], number[4];
    struct sha256 s;
    sha256_init(&s);
    if (p->feature == POREP_NON_INTERACTIVE) sha256_update(&s, tag, sizeof tag - 1);
    sha256_update(&s, p->replica_id, 32);
    sha256_update(&s, p->feature == POREP_NON_INTERACTIVE ? p->comm_r : p->seed, 32);
    store_le32(number, index);
    sha256_update(&s, number, 4);
    sha256_final(&s, hash);
    return reduce(hash, p->shape->nodes);
}

/* Bytes of the ChaCha20 stream (RFC 8439) whose key is a hash of two values. */
struct synthetic {
    uint32_t key[8];
};

static void synthetic_init(struct synthetic *s, const char *tag, const uint8_t x[32], const uint8_t y[32])
{
    uint8_t message[64], key[32];
    memcpy(message, x, 32);
    memcpy(message + 32, y, 32);
    blake2b_of(key, sizeof key, tag, strlen(tag), message, sizeof message);
    for (int i = 0; i < 8; i++) s->key[i] = load_le32(key + 4 * i);
}

static void synthetic_words(const struct synthetic *s, uint64_t first_word, uint32_t *out, unsigned count)
{
    uint32_t block[16], tail[4];
    const uint8_t nonce[12] = { 's', 'y', 'n', 't', 'h', '-', 'p', 'o', 'r', 'e', 'p', 0 };
    for (int i = 0; i < 3; i++) tail[1 + i] = load_le32(nonce + 4 * i);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t at = first_word + i;
        if (i == 0 || at % 16 == 0) {
            tail[0] = (uint32_t)(at / 16);
            chacha_block(block, s->key, tail, 20);
        }
        out[i] = block[at % 16];
    }
}

static uint64_t synthetic_challenge(const struct porep_public *p, const struct synthetic *generate,
                                    const struct synthetic *choose, uint32_t index)
{
    const uint64_t pool = p->shape->nodes < 1u << 18 ? p->shape->nodes : 1u << 18;
    uint32_t choice, words[8];
    uint8_t bytes[32];
    synthetic_words(choose, index, &choice, 1);
    synthetic_words(generate, 8 * (choice % pool), words, 8);
    for (int i = 0; i < 8; i++) store_le32(bytes + 4 * i, words[i]);
    return reduce(bytes, p->shape->nodes);
}

void porep_challenges(const struct porep_public *p, unsigned partition, uint64_t *out)
{
    struct synthetic generate, choose;
    if (p->feature == POREP_SYNTHETIC) {
        synthetic_init(&generate, "filecoin.io|PoRep|1|Synthetic|1|Generation", p->replica_id, p->comm_r);
        synthetic_init(&choose, "filecoin.io|PoRep|1|Synthetic|1|Selection", p->replica_id, p->seed);
    }
    for (unsigned i = 0; i < p->shape->challenges; i++) {
        const uint32_t index = p->shape->challenges * partition + i;
        out[i] = p->feature == POREP_SYNTHETIC ? synthetic_challenge(p, &generate, &choose, index)
                                               : hashed_challenge(p, index);
    }
}

static void set_u64(bls12_381_fr_int *out, uint64_t v)
{
    memset(out, 0, sizeof *out);
    out->l[0] = v;
}

cuzk_status porep_public_inputs(const struct porep_public *p, struct task *t, unsigned partition,
                                bls12_381_fr_int *out)
{
    const char *const names[3] = { "replica_id", "comm_d", "comm_r" };
    const uint8_t *const values[3] = { p->replica_id, p->comm_d, p->comm_r };
    uint64_t challenges[POREP_MAX_CHALLENGES];
    struct porep_graph g;
    set_u64(out++, 1);
    for (int i = 0; i < 3; i++, out++) {
        words_from_le(out->l, values[i], 4);
        if (!bls12_381_fr_int_is_canonical(out))
            return FAIL(t, CUZK_MALFORMED, "%s is not below the field's modulus", names[i]);
    }
    porep_graph_init(&g, p->porep_id, p->shape->nodes, p->legacy_graph);
    porep_challenges(p, partition, challenges);
    for (unsigned i = 0; i < p->shape->challenges; i++) {
        uint32_t parents[POREP_PARENTS];
        porep_graph_parents(&g, parents, challenges[i]);
        set_u64(out++, challenges[i]);
        for (unsigned j = 0; j < POREP_PARENTS; j++) set_u64(out++, parents[j]);
        for (unsigned j = 0; j < 3; j++) set_u64(out++, challenges[i]);
    }
    return CUZK_OK;
}
