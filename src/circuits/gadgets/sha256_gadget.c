/* SHA-256 as a circuit: a compression is a template, one for each pattern of constants in its arguments. */
#include "circuits/gadgets/builder_inside.h"
#include "circuits/gadgets/gadgets.h"
#include "hash/sha256.h"

static void schedule(struct builder *b, struct multi_eq *m, struct word w[64])
{
    for (unsigned i = 16; i < 64; i++) {
        struct word s0, s1;
        word_xor(b, &s0, &w[i - 15], 7, &w[i - 15], 18);
        word_xor(b, &s0, &s0, 0, &w[i - 15], WORD_SHIFT + 3);
        word_xor(b, &s1, &w[i - 2], 17, &w[i - 2], 19);
        word_xor(b, &s1, &s1, 0, &w[i - 2], WORD_SHIFT + 10);
        const struct word *sum[4] = { &w[i - 16], &s0, &w[i - 7], &s1 };
        word_add(b, m, &w[i], sum, 4);
    }
}

/* The summands of a new a and e, which are added up only when the word is needed: the order of allocation depends on it. */
struct deferred {
    struct word h, s1, ch, k, w, d, s0, maj;
};

static void add_e(struct builder *b, struct multi_eq *m, struct word *out, const struct deferred *p,
                  const struct word *more)
{
    const struct word *sum[7] = { &p->h, &p->s1, &p->ch, &p->k, &p->w, &p->d, more };
    word_add(b, m, out, sum, more != NULL ? 7 : 6);
}

static void add_a(struct builder *b, struct multi_eq *m, struct word *out, const struct deferred *p,
                  const struct word *more)
{
    const struct word *sum[8] = { &p->h, &p->s1, &p->ch, &p->k, &p->w, &p->s0, &p->maj, more };
    word_add(b, m, out, sum, more != NULL ? 8 : 7);
}

static void add_two(struct builder *b, struct multi_eq *m, struct word *out, const struct word *x,
                    const struct word *y)
{
    const struct word *sum[2] = { x, y };
    word_add(b, m, out, sum, 2);
}

static void compress_body(struct builder *b, struct word out[8], const struct word h[8],
                          const struct word block[16])
{
    struct multi_eq m = { 0 };
    struct word w[64], s[8];
    struct deferred next;
    memcpy(w, block, 16 * sizeof *w);
    memcpy(s, h, sizeof s);
    schedule(b, &m, w);
    for (unsigned i = 0; i < 64; i++) {
        if (i > 0) add_e(b, &m, &s[4], &next, NULL);
        struct deferred now;
        now.h = s[7];
        now.d = s[3];
        now.w = w[i];
        word_xor(b, &now.s1, &s[4], 6, &s[4], 11);
        word_xor(b, &now.s1, &now.s1, 0, &s[4], 25);
        word_ch(b, &now.ch, &s[4], &s[5], &s[6]);
        word_constant(&now.k, sha256_round_constants[i]);
        if (i > 0) add_a(b, &m, &s[0], &next, NULL);
        word_xor(b, &now.s0, &s[0], 2, &s[0], 13);
        word_xor(b, &now.s0, &now.s0, 0, &s[0], 22);
        word_maj(b, &now.maj, &s[0], &s[1], &s[2]);
        next = now;
        memmove(&s[5], &s[4], 3 * sizeof *s); /* h g f <- g f e */
        memmove(&s[1], &s[0], 3 * sizeof *s); /* d c b <- c b a */
    }
    add_a(b, &m, &out[0], &next, &h[0]);
    for (unsigned i = 1; i < 4; i++) add_two(b, &m, &out[i], &h[i], &s[i]);
    add_e(b, &m, &out[4], &next, &h[4]);
    for (unsigned i = 5; i < 8; i++) add_two(b, &m, &out[i], &h[i], &s[i]);
    multi_eq_close(b, &m);
    multi_eq_fini(&m);
}

void gadget_sha256_compress(struct builder *b, struct word state[8], const struct word block[16])
{
    struct word arguments[24], imports[24], out[8];
    uint32_t id;
    memcpy(arguments, state, 8 * sizeof *state);
    memcpy(arguments + 8, block, 16 * sizeof *block);
    struct template_key key = { .name = "sha256", .words = arguments, .word_count = 24 };
    if (template_begin(b, &id, &key, imports, NULL)) {
        compress_body(b, out, imports, imports + 8);
        id = template_end(b, out, 8);
    }
    template_call(b, id, arguments, NULL, state, NULL, false);
}

void gadget_sha256(struct builder *b, struct word digest[8], const struct word *message, size_t word_count)
{
    const uint64_t bits = 32 * (uint64_t)word_count;
    const size_t blocks = (word_count + 3 + 15) / 16; /* a one, and the length in 64 bits */
    for (unsigned i = 0; i < 8; i++) word_constant(&digest[i], sha256_initial_state[i]);
    for (size_t n = 0; n < blocks; n++) {
        struct word block[16];
        for (unsigned i = 0; i < 16; i++) {
            const size_t at = 16 * n + i;
            if (at < word_count)
                block[i] = message[at];
            else if (at == word_count)
                word_constant(&block[i], 0x80000000u);
            else
                word_constant(&block[i], at == 16 * blocks - 2   ? (uint32_t)(bits >> 32)
                                         : at == 16 * blocks - 1 ? (uint32_t)bits
                                                                 : 0);
        }
        gadget_sha256_compress(b, digest, block);
    }
}

void gadget_message_words(struct builder *b, struct word out[8], struct number x)
{
    number_bits(b, x, out);
    for (unsigned i = 0; i < 8; i++) word_bswap(b, &out[i], &out[i]);
}

struct number gadget_pack_digest(struct builder *b, const struct word digest[8])
{
    struct word little[8];
    for (unsigned i = 0; i < 8; i++) word_bswap(b, &little[i], &digest[i]);
    return number_pack(b, little, 8, 254);
}
