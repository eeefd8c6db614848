/* DRSample (Alwen, Blocki, Harsha, 2017) with 5 of 6 parents, and a Feistel permutation as the expander. */
#include "circuits/porep/porep_graph.h"

#include "base/bytes.h"
#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

static void seed_of(uint8_t out[32], const char *tag, const uint8_t porep_id[32])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, tag, strlen(tag));
    sha256_update(&s, porep_id, 32);
    sha256_final(&s, out);
}

void porep_graph_init(struct porep_graph *g, const uint8_t porep_id[32], uint64_t nodes, bool legacy)
{
    uint8_t seed[32];
    memset(g, 0, sizeof *g);
    g->nodes = nodes;
    g->legacy = legacy;
    seed_of(seed, "Filecoin_DRSample", porep_id);
    for (int i = 0; i < 7; i++) g->drg_key[i] = load_le32(seed + 4 * i);
    seed_of(seed, "Filecoin_Feistel", porep_id);
    for (int i = 0; i < 3; i++) g->feistel_key[i] = load_le64(seed + 8 * i);
    g->half_bits = 1;
    while (((uint64_t)1 << 2 * g->half_bits) < nodes * POREP_EXP_PARENTS) g->half_bits++;
}

struct stream {
    uint32_t key[8], block[16], counter;
    unsigned used;
};

static uint64_t next_u64(struct stream *s)
{
    if (s->used == 16) {
        const uint32_t tail[4] = { s->counter++, 0, 0, 0 };
        chacha_block(s->block, s->key, tail, 8);
        s->used = 0;
    }
    const uint64_t v = s->block[s->used] | (uint64_t)s->block[s->used + 1] << 32;
    s->used += 2;
    return v;
}

static void drg_parents(const struct porep_graph *g, uint32_t out[POREP_DRG_PARENTS], uint64_t node)
{
    struct stream s = { .used = 16 };
    const uint64_t m = (POREP_DRG_PARENTS - 1) * node;
    memset(out, 0, POREP_DRG_PARENTS * sizeof *out);
    if (node < 2) return;
    memcpy(s.key, g->drg_key, sizeof s.key);
    s.key[7] = (uint32_t)node;
    const unsigned buckets =
        64 - (unsigned)__builtin_clzll(m); /* ceil(log2 m): a multiple of 5 is no power of two */
    uint32_t *p = g->legacy ? out : out + 1;
    for (unsigned i = 0; i < POREP_DRG_PARENTS - 1; i++) {
        const unsigned bucket = (unsigned)(next_u64(&s) % buckets) + 1;
        const uint64_t reach = (uint64_t)1 << bucket, high = m < reach ? m : reach,
                       low = high >> 1 > 2 ? high >> 1 : 2;
        const uint64_t distance = low + next_u64(&s) % (high - low + 1),
                       parent = (m - distance) / (POREP_DRG_PARENTS - 1);
        p[i] = (uint32_t)(parent == node ? node - 1 : parent);
    }
    out[g->legacy ? POREP_DRG_PARENTS - 1 : 0] = (uint32_t)(node - 1);
}

static uint64_t permute(const struct porep_graph *g, uint64_t x)
{
    const uint64_t mask = ((uint64_t)1 << g->half_bits) - 1;
    uint64_t left = x >> g->half_bits, right = x & mask;
    for (int i = 0; i < 3; i++) {
        uint8_t message[16], hash[64];
        store_be64(message, right);
        store_be64(message + 8, g->feistel_key[i]);
        blake2b_of(hash, sizeof hash, NULL, 0, message, sizeof message);
        const uint64_t next = left ^ (load_be64(hash) & mask);
        left = right;
        right = next;
    }
    return left << g->half_bits | right;
}

void porep_graph_parents(const struct porep_graph *g, uint32_t out[POREP_PARENTS], uint64_t node)
{
    drg_parents(g, out, node);
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
        uint64_t x = node * POREP_EXP_PARENTS + i;
        do x = permute(g, x);
        while (x >= g->nodes * POREP_EXP_PARENTS);
        out[POREP_DRG_PARENTS + i] = (g->legacy ? (uint32_t)x : x) / POREP_EXP_PARENTS;
    }
}

void porep_label(uint8_t out[32], const uint8_t replica_id[32], uint32_t layer, uint64_t node,
                 const uint8_t (*parents)[32])
{
    uint8_t prefix[64] = { 0 };
    struct sha256 s;
    memcpy(prefix, replica_id, 32);
    store_be32(prefix + 32, layer);
    store_be64(prefix + 36, node);
    sha256_init(&s);
    sha256_update(&s, prefix, sizeof prefix);
    if (parents != NULL)
        for (unsigned i = 0; i < POREP_LABEL_PARENTS; i++)
            sha256_update(&s, parents[porep_label_parent(layer, i)], 32);
    sha256_final(&s, out);
    sha256_trim(out);
}
