/* Each gadget alone: its witness computes the right thing, satisfies its rows by the definition, has the published size, and no
 * single changed value goes unnoticed. */
#include "support/cm.h"

#include "circuits/gadgets/gadgets.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"
#include "row_check.h"
#include "support/prng.h"

#include <stdlib.h>

static struct prng prng;

/* A recorded circuit with a witness. */
struct trial {
    struct task t;
    struct circuit_image m;
    struct assignment w;
    struct aux_map map;
};

static void must(const struct task *t, cuzk_status status)
{
    if (status != CUZK_OK) fail_msg("%s", t->error.text);
}

static struct builder *trial_begin(struct trial *x)
{
    struct builder *b;
    task_init(&x->t);
    must(&x->t, builder_create(&b, &x->t, "trial"));
    return b;
}

static void trial_end(struct trial *x, struct builder *b, const bls12_381_fr_int *numbers,
                      const uint32_t *words)
{
    const struct statement s = { .own_numbers = numbers, .own_words = words };
    must(&x->t, builder_finish(b, &x->m));
    must(&x->t, aux_map_create(&x->map, &x->t, &x->m));
    must(&x->t, assignment_create(&x->w, &x->t, &x->m));
    must(&x->t, image_assign(&x->m, &x->t, &x->w, &s));
}

static void trial_fini(struct trial *x)
{
    assignment_fini(&x->w);
    aux_map_fini(&x->map);
    image_fini(&x->m);
}

static uint64_t first_bad_row(struct trial *x)
{
    struct row_check c = { .w = &x->w, .map = &x->map };
    must(&x->t, row_check_run(&c, &x->t, &x->m));
    return c.bad_row;
}

/* The rows hold by the definition and by image_check, and evaluate gives the definition's values. */
static void assert_satisfied(struct trial *x)
{
    const uint32_t rows = image_circuit(&x->m)->row_count;
    bls12_381_fr_t *a = malloc(rows * sizeof *a), *b = malloc(rows * sizeof *b);
    struct row_check c = { .w = &x->w, .map = &x->map, .a = a, .b = b };
    assert_non_null(a);
    assert_non_null(b);
    must(&x->t, image_evaluate(&x->m, &x->t, a, b, &x->w, &x->map));
    must(&x->t, row_check_run(&c, &x->t, &x->m));
    if (c.bad_row != ROW_CHECK_NONE) fail_msg("row %llu does not hold", (unsigned long long)c.bad_row);
    if (c.bad_value != ROW_CHECK_NONE)
        fail_msg("row %llu is evaluated wrongly", (unsigned long long)c.bad_value);
    must(&x->t, image_check(&x->m, &x->t, &x->w, &x->map));
    free(a);
    free(b);
}

/* A changed aux breaks a row, and image_check finds the same first row as the definition. */
static void assert_binding(struct trial *x, unsigned tries)
{
    const uint32_t aux_count = image_circuit(&x->m)->aux_count;
    for (unsigned i = 0; i < tries; i++) {
        const uint32_t aux = (uint32_t)prng_below(&prng, aux_count), slot = aux_map_find(&x->map, aux);
        char expected[96];
        if (slot == AUX_IS_BIT)
            x->w.bits[aux / 64] ^= (uint64_t)1 << aux % 64;
        else
            x->w.numbers[slot].l[0] ^= 1;
        const uint64_t bad = first_bad_row(x);
        if (bad == ROW_CHECK_NONE) fail_msg("aux %u may have another value", aux);
        struct task t;
        task_init(&t);
        assert_int_equal(image_check(&x->m, &t, &x->w, &x->map), CUZK_UNSATISFIED);
        snprintf(expected, sizeof expected, "row %llu of circuit trial does not hold",
                 (unsigned long long)bad);
        assert_string_equal(t.error.text, expected);
        if (slot == AUX_IS_BIT)
            x->w.bits[aux / 64] ^= (uint64_t)1 << aux % 64;
        else
            x->w.numbers[slot].l[0] ^= 1;
    }
}

static void random_number(bls12_381_fr_int *v)
{
    do {
        prng_bytes(&prng, v, sizeof *v);
        v->l[3] >>= 1;
    } while (!bls12_381_fr_int_is_canonical(v));
}

static const struct circuit_template *template_named(const struct circuit_image *m, const char *name,
                                                     unsigned nth)
{
    for (uint32_t i = 0; i < m->template_count; i++)
        if (strcmp(m->templates[i].name, name) == 0 && nth-- == 0) return &m->templates[i];
    fail_msg("no template %s", name);
    return NULL;
}

/* SHA-256 of words of which some lanes are constants, for every number of blocks up to 3. */
static void test_sha256(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= 40; count += count < 17 ? 4 : 9) {
        struct trial x;
        struct builder *b = trial_begin(&x);
        struct word message[64], digest[8];
        uint32_t values[64];
        uint8_t bytes[256], want[32], got[32];
        unsigned sources = 0;
        uint32_t statement[64];
        for (unsigned i = 0; i < count; i++) {
            values[i] = (uint32_t)prng_u64(&prng);
            if (prng_below(&prng, 4) == 0) {
                word_constant(&message[i], values[i]);
            } else {
                word_index(b, &message[i], 32);
                statement[sources++] = values[i];
                /* some lanes constant, as the 256th bit of a field element is */
                if (prng_below(&prng, 2) == 0) {
                    struct word high, low;
                    word_constant(&high, 0);
                    low = message[i];
                    word_xor(b, &message[i], &low, WORD_SHIFT + 5, &high, 0);
                    values[i] >>= 5;
                }
            }
            store_be32(bytes + 4 * i, values[i]);
        }
        gadget_sha256(b, digest, message, count);
        const struct number packed = gadget_pack_digest(b, digest);
        trial_end(&x, b, NULL, statement);
        assert_satisfied(&x);
        if (sources > 0) {
            sha256_of(want, bytes, 4 * count);
            sha256_trim(want);
            words_to_le(got, x.w.numbers[packed.slot].l, 4);
            assert_memory_equal(got, want, 32);
            assert_binding(&x, 6);
        }
        trial_fini(&x);
    }
}

/* The figures of the original gadgets' tests. */
static void test_sizes(void **state)
{
    static const struct {
        unsigned arity;
        uint32_t rows;
    } poseidons[] = { { 2, 311 }, { 4, 377 }, { 8, 505 }, { 11, 598 } };
    struct trial x;
    struct builder *b = trial_begin(&x);
    struct word message[32], digest[8];
    uint32_t statement[32] = { 0 };
    bls12_381_fr_int numbers[32] = { { { 0 } } };
    (void)state;
    for (unsigned i = 0; i < 32; i++) word_index(b, &message[i], 32);
    gadget_sha256(b, digest, message, 32);
    for (size_t i = 0; i < ARRAY_COUNT(poseidons); i++) {
        struct number in[11];
        for (unsigned j = 0; j < poseidons[i].arity; j++) in[j] = number_source(b);
        (void)gadget_poseidon(b, in, poseidons[i].arity);
    }
    trial_end(&x, b, numbers, statement);
    assert_int_equal(template_named(&x.m, "sha256", 0)->row_count, 25840);
    assert_int_equal(template_named(&x.m, "sha256", 0)->aux_count, 25814);
    assert_int_equal(template_named(&x.m, "sha256", 1)->row_count, 26192);
    assert_int_equal(template_named(&x.m, "sha256", 1)->aux_count, 26166);
    for (size_t i = 0; i < ARRAY_COUNT(poseidons); i++) {
        char name[24];
        snprintf(name, sizeof name, "poseidon-%u", poseidons[i].arity);
        assert_int_equal(template_named(&x.m, name, 0)->row_count, poseidons[i].rows);
        assert_int_equal(template_named(&x.m, name, 0)->aux_count, poseidons[i].rows);
    }
    assert_satisfied(&x);
    trial_fini(&x);
}

static void test_poseidon(void **state)
{
    static const unsigned arities[] = { 2, 4, 8, 11 };
    (void)state;
    for (size_t a = 0; a < ARRAY_COUNT(arities); a++) {
        struct trial x;
        struct builder *b = trial_begin(&x);
        struct number in[11];
        bls12_381_fr_int values[11], want;
        for (unsigned i = 0; i < arities[a]; i++) {
            in[i] = number_source(b);
            random_number(&values[i]);
        }
        const struct number out = gadget_poseidon(b, in, arities[a]);
        trial_end(&x, b, values, NULL);
        poseidon_node(poseidon_constants(arities[a]), &want, values);
        assert_memory_equal(&x.w.numbers[out.slot], &want, sizeof want);
        assert_satisfied(&x);
        assert_binding(&x, 20);
        trial_fini(&x);
    }
}

/* Every position of every arity. */
static void test_insert(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 3; bits++) {
        const unsigned arity = 1u << bits;
        for (uint32_t position = 0; position < arity; position++) {
            struct trial x;
            struct builder *b = trial_begin(&x);
            struct number e[8], out[8];
            struct word index;
            bls12_381_fr_int values[8];
            word_index(b, &index, bits);
            for (unsigned i = 0; i < arity; i++) {
                e[i] = number_source(b);
                random_number(&values[i]);
            }
            gadget_insert(b, out, e[0], &index, e + 1, arity);
            trial_end(&x, b, values, &position);
            for (unsigned i = 0; i < arity; i++) {
                const unsigned from = i == position ? 0 : i < position ? i + 1 : i;
                assert_memory_equal(&x.w.numbers[out[i].slot], &values[from], sizeof values[0]);
            }
            assert_satisfied(&x);
            trial_fini(&x);
        }
    }
}

/* Numbers to bits and back, sums and public inputs. */
static void test_numbers(void **state)
{
    struct trial x;
    struct builder *b = trial_begin(&x);
    struct word bits[8];
    bls12_381_fr_int values[2], want;
    bls12_381_fr_t sum, other;
    const uint8_t widths[3] = { 32, 7, 31 };
    (void)state;
    const struct number u = number_source(b), v = number_source(b), s = number_sum(b, u, v);
    number_bits(b, s, bits);
    const struct number low = number_pack(b, bits, 8, 254);
    number_input(b, s);
    words_input(b, bits, widths, 3);
    for (int i = 0; i < 2; i++) random_number(&values[i]);
    trial_end(&x, b, values, NULL);
    memcpy(&sum, &values[0], sizeof sum);
    memcpy(&other, &values[1], sizeof other);
    bls12_381_fr_add(&sum, &sum, &other);
    memcpy(&want, &sum, sizeof want);
    assert_memory_equal(&x.w.inputs[1], &want, sizeof want);
    const uint64_t w0 = (uint32_t)want.l[0], w1 = want.l[0] >> 32 & 0x7f, w2 = want.l[1] & 0x7fffffff;
    assert_int_equal(x.w.inputs[2].l[0], w0 | w1 << 32 | w2 << 39);
    assert_int_equal(x.w.inputs[2].l[1], w2 >> 25);
    want.l[3] &= ((uint64_t)1 << 62) - 1;
    assert_memory_equal(&x.w.numbers[low.slot], &want, sizeof want);
    assert_satisfied(&x);
    trial_fini(&x);
}

static void path_trial(enum merkle_hash hash, const uint8_t *arities, unsigned levels, bool right_root)
{
    struct trial x;
    struct builder *b = trial_begin(&x);
    bls12_381_fr_int values[64], node;
    uint32_t index[8];
    unsigned n = 0;
    const struct number leaf = number_source(b), root = number_source(b);
    gadget_merkle(b, leaf, arities, levels, root, hash);
    random_number(&node);
    values[0] = node;
    n = 2;
    for (unsigned l = 0; l < levels; l++) {
        bls12_381_fr_int children[8];
        index[l] = (uint32_t)prng_below(&prng, arities[l]);
        for (unsigned i = 0; i < arities[l]; i++) {
            if (i == index[l]) {
                children[i] = node;
                continue;
            }
            random_number(&values[n]);
            children[i] = values[n++];
        }
        if (hash == MERKLE_POSEIDON) {
            poseidon_node(poseidon_constants(arities[l]), &node, children);
        } else {
            uint8_t bytes[64], digest[32];
            words_to_le(bytes, children[0].l, 4);
            words_to_le(bytes + 32, children[1].l, 4);
            sha256_of(digest, bytes, 64);
            sha256_trim(digest);
            words_from_le(node.l, digest, 4);
        }
    }
    values[1] = node;
    if (!right_root) values[1].l[0] ^= 1;
    trial_end(&x, b, values, index);
    if (right_root) {
        assert_satisfied(&x);
        assert_binding(&x, 3);
    } else {
        assert_true(first_bad_row(&x) != ROW_CHECK_NONE);
    }
    trial_fini(&x);
}

static void test_merkle(void **state)
{
    const uint8_t mixed[] = { 8, 8, 4, 2 }, binary[] = { 2, 2 };
    (void)state;
    path_trial(MERKLE_POSEIDON, mixed, 4, true);
    path_trial(MERKLE_POSEIDON, mixed, 4, false);
    path_trial(MERKLE_SHA256, binary, 2, true);
    path_trial(MERKLE_SHA256, binary, 2, false);
}

/* Statements that are none: a number >= r, an index outside its arity. */
static void test_bad_statement(void **state)
{
    struct trial x;
    struct builder *b = trial_begin(&x);
    struct word index;
    bls12_381_fr_int value;
    uint32_t word = 7;
    (void)state;
    word_index(b, &index, 3);
    (void)number_source(b);
    random_number(&value);
    trial_end(&x, b, &value, &word);
    const struct statement s = { .own_numbers = &value, .own_words = &word };
    word = 8;
    assert_int_equal(image_assign(&x.m, &x.t, &x.w, &s), CUZK_MALFORMED);
    word = 0;
    memset(&value, 0xff, sizeof value);
    task_init(&x.t);
    assert_int_equal(image_assign(&x.m, &x.t, &x.w, &s), CUZK_MALFORMED);
    trial_fini(&x);
}

static int seed(void **state)
{
    (void)state;
    prng_init(&prng);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_poseidon),
        cmocka_unit_test(test_insert),        cmocka_unit_test(test_numbers), cmocka_unit_test(test_merkle),
        cmocka_unit_test(test_bad_statement),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
