/* Evaluating circuit images, on every backend that does: against image_evaluate and the definition. */
#include "image_cases.h"

#include "circuits/gadgets/gadgets.h"
#include "circuits/porep/porep.h"
#include "circuits/porep/porep_seal.h"
#include "circuits/row_check.h"
#include "support/cm.h"
#include "support/small_image.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture {
    const struct backend *b;
    struct device *d;
    struct stream *s;
    struct task t;
    bool slow;
};
static struct fixture f;
static struct prng rng;

#define OK(call)                                                          \
    do {                                                                  \
        if ((call) != CUZK_OK) fail_msg("%s: %s", #call, f.t.error.text); \
    } while (0)

static struct buffer take(size_t bytes)
{
    struct buffer b;
    OK(f.b->buffer_take(&b, &f.t, f.d, MEM_DEVICE, bytes, 0));
    return b;
}

static void *allocate(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    assert_non_null(p);
    return p;
}

/* A circuit and a witness where the device has them. */
struct resident {
    const struct circuit_image *m;
    const struct assignment *w;
    struct image_eval_plan plan;
    struct buffer tables, a, b, bad;
    struct image_values values;
};

static void values_send(struct resident *r)
{
    OK(f.b->upload(f.s, &f.t, &r->values.bits, 0, r->w->bits, image_bits_bytes(r->m)));
    OK(f.b->upload(f.s, &f.t, &r->values.numbers, 0, r->w->numbers, image_numbers_bytes(r->m)));
    OK(f.b->upload(f.s, &f.t, &r->values.inputs, 0, r->w->inputs, image_inputs_bytes(r->m)));
}

static void resident_open(struct resident *r, const struct circuit_image *m, const struct assignment *w,
                          uint64_t out_count)
{
    r->m = m;
    r->w = w;
    OK(f.b->image_eval_plan(&r->plan, &f.t, f.d, m, out_count));
    r->tables = take(r->plan.tables_bytes);
    r->a = take(32 * out_count);
    r->b = take(32 * out_count);
    r->bad = take(sizeof(uint64_t));
    r->values.bits = take(image_bits_bytes(m));
    r->values.numbers = take(image_numbers_bytes(m));
    r->values.inputs = take(image_inputs_bytes(m));
    OK(f.b->image_upload(f.s, &f.t, &r->plan, &r->tables, m));
    values_send(r);
}

static void resident_close(struct resident *r)
{
    struct buffer *const all[] = { &r->tables,       &r->a,           &r->b,
                                   &r->bad,          &r->values.bits, &r->values.numbers,
                                   &r->values.inputs };
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) f.b->buffer_give(all[i]);
}

/* a and b are what the CPU's evaluation gives and zeros behind; checked or not. */
static void assert_evaluated(struct resident *r, const struct aux_map *map, bool check)
{
    const uint64_t rows = r->plan.row_count, all = r->plan.out_count;
    bls12_381_fr_t *expected = allocate(2 * all * sizeof *expected), *got = allocate(2 * all * sizeof *got);
    uint64_t bad = 0;
    OK(image_evaluate(r->m, &f.t, expected, expected + all, r->w, map));
    memset(got, 0x5a, 2 * all * sizeof *got);
    OK(f.b->upload(f.s, &f.t, &r->a, 0, got, all * sizeof *got));
    OK(f.b->upload(f.s, &f.t, &r->b, 0, got, all * sizeof *got));
    OK(f.b->image_eval(f.s, &f.t, &r->plan, &r->a, &r->b, &r->tables, &r->values, check ? &r->bad : NULL));
    OK(f.b->download(f.s, &f.t, got, &r->a, 0, all * sizeof *got));
    OK(f.b->download(f.s, &f.t, got + all, &r->b, 0, all * sizeof *got));
    if (check) OK(f.b->download(f.s, &f.t, &bad, &r->bad, 0, sizeof bad));
    OK(f.b->stream_sync(f.s, &f.t));
    for (uint64_t i = 0; i < 2 * all; i++)
        if (memcmp(&got[i], &expected[i], sizeof *got) != 0)
            fail_msg("side %u, row %llu of %llu is another value", (unsigned)(i / all),
                     (unsigned long long)(i % all), (unsigned long long)rows);
    if (check && bad != UINT64_MAX) fail_msg("row %llu does not hold", (unsigned long long)bad);
    free(expected);
    free(got);
}

static void assert_scalars(struct resident *r, const struct aux_map *map)
{
    const uint64_t count = (uint64_t)r->plan.input_count + r->plan.aux_count;
    bls12_381_fr_int *expected = allocate(count * sizeof *expected), *got = allocate(count * sizeof *got);
    struct buffer scalars = take(count * sizeof *got);
    assignment_values(r->w, map, expected);
    OK(f.b->image_scalars(f.s, &f.t, &r->plan, &scalars, &r->tables, &r->values));
    OK(f.b->download(f.s, &f.t, got, &scalars, 0, count * sizeof *got));
    OK(f.b->stream_sync(f.s, &f.t));
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(&got[i], &expected[i], sizeof *got) != 0)
            fail_msg("variable %llu is another value", (unsigned long long)i);
    f.b->buffer_give(&scalars);
    free(expected);
    free(got);
}

/* Changed values: the first row that does not hold is the definition's. */
static void assert_found(struct resident *r, const struct aux_map *map, unsigned tries)
{
    for (unsigned i = 0; i < tries; i++) {
        struct assignment *w = (struct assignment *)(uintptr_t)r->w;
        const uint32_t aux = (uint32_t)prng_below(&rng, r->plan.aux_count), slot = aux_map_find(map, aux);
        struct row_check c = { .w = w, .map = map };
        uint64_t bad = 0;
        if (slot == AUX_IS_BIT)
            w->bits[aux / 64] ^= (uint64_t)1 << aux % 64;
        else
            w->numbers[slot].l[0] ^= 1;
        OK(row_check_run(&c, &f.t, r->m));
        values_send(r);
        OK(f.b->image_eval(f.s, &f.t, &r->plan, &r->a, &r->b, &r->tables, &r->values, &r->bad));
        OK(f.b->download(f.s, &f.t, &bad, &r->bad, 0, sizeof bad));
        OK(f.b->stream_sync(f.s, &f.t));
        assert_true(c.bad_row != ROW_CHECK_NONE);
        if (bad != c.bad_row)
            fail_msg("aux %u changed: row %llu instead of %llu", aux, (unsigned long long)bad,
                     (unsigned long long)c.bad_row);
        if (slot == AUX_IS_BIT)
            w->bits[aux / 64] ^= (uint64_t)1 << aux % 64;
        else
            w->numbers[slot].l[0] ^= 1;
    }
    values_send(r);
}

/* -- the cases -- */

static void small_circuit(void **state)
{
    struct small_image s;
    struct resident r;
    (void)state;
    small_image_open(&s, &rng);
    const uint64_t rows = image_circuit(&s.image)->row_count;
    assert_true(rows <= SMALL_IMAGE_ROWS_MAX);
    struct image_eval_plan refused;
    assert_int_equal(f.b->image_eval_plan(&refused, &f.t, f.d, &s.image, rows - 1), CUZK_INVALID_ARGUMENT);
    task_init(&f.t);
    resident_open(&r, &s.image, &s.assignment, SMALL_IMAGE_ROWS_MAX);
    for (int i = 0; i < 3; i++) {
        assert_evaluated(&r, &s.map, i & 1);
        assert_scalars(&r, &s.map);
        small_image_redraw(&s, &rng);
        values_send(&r);
    }
    assert_found(&r, &s.map, 40);
    assert_evaluated(&r, &s.map, true);
    resident_close(&r);
    resident_open(&r, &s.image, &s.assignment, rows); /* nothing behind the rows */
    assert_evaluated(&r, &s.map, false);
    resident_close(&r);
    small_image_close(&s);
}

/* Compressions of whole and of half constant blocks: rows of several runs, imports that are bits. */
static void sha256_blocks(void **state)
{
    struct circuit_image m;
    struct aux_map map;
    struct assignment w;
    struct builder *b;
    struct word message[33], digest[8];
    uint32_t statement[33];
    struct resident r;
    (void)state;
    OK(builder_create(&b, &f.t, "trial"));
    for (unsigned i = 0; i < 33; i++) {
        statement[i] = (uint32_t)prng_u64(&rng);
        word_index(b, &message[i], 32);
    }
    gadget_sha256(b, digest, message, 33);
    (void)gadget_pack_digest(b, digest);
    OK(builder_finish(b, &m));
    OK(aux_map_create(&map, &f.t, &m));
    OK(assignment_create(&w, &f.t, &m));
    const struct statement s = { .own_words = statement };
    OK(image_assign(&m, &f.t, &w, &s));
    resident_open(&r, &m, &w, image_circuit(&m)->row_count + 100);
    assert_evaluated(&r, &map, true);
    assert_scalars(&r, &map);
    if (f.slow) assert_found(&r, &map, 10);
    resident_close(&r);
    assignment_fini(&w);
    aux_map_fini(&map);
    image_fini(&m);
}

static void partition_2kib(void **state)
{
    const struct porep_seal_request request = { registered_proof_by_number(5), 1000, 77, prng_u64(&rng) };
    struct porep_circuit circuit;
    struct assignment w;
    struct resident r;
    struct c1 c1;
    (void)state;
    if (!f.slow) return;
    OK(porep_circuit_open(&circuit, &f.t, porep_shape_by_name("2KiB"), NULL));
    OK(porep_seal(&c1, &f.t, &request));
    OK(assignment_create(&w, &f.t, &circuit.image));
    OK(porep_assign(&circuit, &f.t, &w, &c1, 0));
    resident_open(&r, &circuit.image, &w, 1u << 22);
    assert_evaluated(&r, &circuit.map, true);
    assert_scalars(&r, &circuit.map);
    resident_close(&r);
    assignment_fini(&w);
    c1_fini(&c1);
    porep_circuit_close(&circuit);
}

int image_cases_run(const struct backend *b, const struct device_options *options, bool slow)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(small_circuit),
        cmocka_unit_test(sha256_blocks),
        cmocka_unit_test(partition_2kib),
    };
    task_init(&f.t);
    f.b = b;
    f.slow = slow;
    if (b->open(&f.d, &f.t, options) != CUZK_OK || b->stream_open(&f.s, &f.t, f.d) != CUZK_OK) {
        printf("%s: cannot be opened: %s\n", b->name, f.t.error.text);
        return 1;
    }
    prng_init(&rng);
    const int failed = cmocka_run_group_tests_name("circuit images", cases, NULL, NULL);
    b->stream_close(f.s);
    b->close(f.d);
    return failed;
}
