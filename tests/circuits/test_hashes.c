/* Hashes against published vectors and against their definitions. */
#include "support/cm.h"

#include "base/bytes.h"
#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"
#include "support/prng.h"

static void to_hex(char *out, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void assert_number(const bls12_381_fr_int *v, const char *hex)
{
    uint8_t bytes[32];
    char text[65];
    words_to_be(bytes, v->l, 4);
    to_hex(text, bytes, 32);
    assert_string_equal(text, hex);
}

/* Figures of neptune v11's constants: H(0, ..., 0), H(1, 2, ..., n); H(1, 0) is a published vector of upstream. */
static void test_poseidon_vectors(void **state)
{
    static const struct {
        unsigned arity;
        const char *zeros, *counting;
    } vectors[] = {
        { 2, "48fe0b1331196f6cdb33a7c6e5af61b76fd388e1ef1d3d418be5147f0e4613d4",
          "6d6f8106657f1f4d7babcbaf436a9d7669c04e726e5896d89317d9833e5fa9be" },
        { 8, "3f79e614b63889f904a036088bc029f5337c0be60db389d13482b431caff9b3a",
          "04edd42e8fc4e07643d1f36a1129c4e83ecaefec78e2ee10b834a106c1e1c07e" },
        { 11, "441f2dea348692cf18215eb61da1681b69d57e70108853c985c8b7d1c14ffe94",
          "04817ecd0e80961686791eaf49dabcca4c6f52adad43dff41c611158e92280bd" },
    };
    bls12_381_fr_int in[POSEIDON_MAX_WIDTH], out;
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(vectors); i++) {
        const struct poseidon_constants *p = poseidon_constants(vectors[i].arity);
        memset(in, 0, sizeof in);
        poseidon_node(p, &out, in);
        assert_number(&out, vectors[i].zeros);
        for (unsigned j = 0; j < vectors[i].arity; j++) in[j].l[0] = j + 1;
        poseidon_node(p, &out, in);
        assert_number(&out, vectors[i].counting);
    }
    memset(in, 0, sizeof in);
    in[0].l[0] = 1;
    poseidon_node(poseidon_constants(2), &out, in);
    assert_number(&out, "042f94ffbe786bc393c003cc74a24f26ec5907b3dc3094afb339ff6079800b5e");
    assert_null(poseidon_constants(3));
}

/* -- the textbook permutation, with round constants drawn here from the Grain register -- */

struct grain {
    uint8_t s[80];
};

static int grain_step(struct grain *g)
{
    const int bit = g->s[62] ^ g->s[51] ^ g->s[38] ^ g->s[23] ^ g->s[13] ^ g->s[0];
    memmove(g->s, g->s + 1, 79);
    return g->s[79] = (uint8_t)bit;
}

static void grain_init(struct grain *g, unsigned width, unsigned partial)
{
    const unsigned field[7][2] = { { 2, 1 },  { 4, 1 },        { 12, 255 },           { 12, width },
                                   { 10, 8 }, { 10, partial }, { 30, (1u << 30) - 1 } };
    unsigned at = 0;
    for (int f = 0; f < 7; f++)
        for (unsigned i = field[f][0]; i-- > 0;) g->s[at++] = field[f][1] >> i & 1;
    for (int i = 0; i < 160; i++) grain_step(g);
}

static void grain_element(struct grain *g, bls12_381_fr_t *out)
{
    bls12_381_fr_int v;
    do {
        memset(&v, 0, sizeof v);
        for (int i = 254; i >= 0; i--) {
            int keep, bit;
            do {
                keep = grain_step(g);
                bit = grain_step(g);
            } while (!keep);
            v.l[i / 64] |= (uint64_t)bit << i % 64;
        }
    } while (!bls12_381_fr_int_is_canonical(&v));
    bls12_381_fr_from_int(out, &v);
}

static void textbook(const struct poseidon_constants *p, bls12_381_fr_t *out, const bls12_381_fr_t *in,
                     uint64_t tag)
{
    bls12_381_fr_t s[POSEIDON_MAX_WIDTH], mixed[POSEIDON_MAX_WIDTH], k;
    const unsigned t = p->width, rounds = 8 + p->partial_rounds;
    struct grain g;
    grain_init(&g, t, p->partial_rounds);
    bls12_381_fr_from_u64(&s[0], tag);
    memcpy(s + 1, in, p->arity * sizeof *in);
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < t; i++) {
            grain_element(&g, &k);
            bls12_381_fr_add(&s[i], &s[i], &k);
        }
        for (unsigned i = 0; i < (r >= 4 && r < rounds - 4 ? 1 : t); i++) {
            bls12_381_fr_mul(&k, &s[i], &s[i]);
            bls12_381_fr_mul(&k, &k, &k);
            bls12_381_fr_mul(&s[i], &s[i], &k);
        }
        for (unsigned i = 0; i < t; i++) {
            bls12_381_fr_set_zero(&mixed[i]);
            for (unsigned j = 0; j < t; j++) {
                bls12_381_fr_from_u64(&k, i + t + j);
                bls12_381_fr_inv(&k, &k);
                bls12_381_fr_mul(&k, &k, &s[j]);
                bls12_381_fr_add(&mixed[i], &mixed[i], &k);
            }
        }
        memcpy(s, mixed, sizeof s);
    }
    *out = s[1];
}

static void test_poseidon_textbook(void **state)
{
    static const unsigned arities[] = { 2, 4, 8, 11 };
    struct prng r;
    (void)state;
    prng_init(&r);
    for (size_t n = 0; n < 2 * ARRAY_COUNT(arities); n++) {
        const unsigned round = n % 2;
        const struct poseidon_constants *p = poseidon_constants(arities[n / 2]);
        bls12_381_fr_int plain[POSEIDON_MAX_WIDTH], trace[1400];
        bls12_381_fr_t in[POSEIDON_MAX_WIDTH], want, got;
        const uint64_t tag = prng_u64(&r);
        for (unsigned i = 0; i < p->arity; i++) {
            prng_bytes(&r, &plain[i], sizeof plain[i]);
            if (round == 1)
                memset(&plain[i], 0xff, sizeof plain[i]); /* any 256-bit integer is taken modulo r */
            bls12_381_fr_from_int(&in[i], &plain[i]);
        }
        textbook(p, &want, in, tag);
        poseidon_hash(p, &got, in, tag);
        assert_true(bls12_381_fr_eq(&want, &got));
        assert_true(p->trace_count <= ARRAY_COUNT(trace));
        poseidon_trace(p, trace, plain, tag);
        bls12_381_fr_from_int(&got, &trace[p->trace_count - 1]);
        assert_true(bls12_381_fr_eq(&want, &got));
    }
}

/* RFC 8439, 2.3.2; RFC 7693, appendix A; FIPS 180-4's "abc". */
static void test_others(void **state)
{
    static const uint32_t block[16] = { 0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3,
                                        0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
                                        0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                        0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2 };
    const uint32_t tail[4] = { 1, 0x09000000, 0x4a000000, 0 };
    uint32_t key[8], out[16];
    uint8_t digest[64];
    char text[129];
    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        key[i] = 4 * i | (4 * i + 1) << 8 | (4 * i + 2) << 16 | (4 * i + 3) << 24;
    chacha_block(out, key, tail, 20);
    assert_memory_equal(out, block, sizeof block);
    blake2b_of(digest, 64, NULL, 0, "abc", 3);
    to_hex(text, digest, 64);
    assert_string_equal(text, "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                              "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    sha256_of(digest, "abc", 3);
    to_hex(text, digest, 32);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poseidon_vectors),
        cmocka_unit_test(test_poseidon_textbook),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
