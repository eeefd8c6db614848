/* See assign_cases.h. */
#include "support/cm.h"

#include "assign_cases.h"

#include "circuits/gadgets/assign.h"
#include "circuits/gadgets/gadgets.h"
#include "circuits/porep/porep_circuit.h"
#include "hash/sha256.h"
#include "r1cs/image_program.h"
#include "support/prng.h"
#include "support/random_statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    const struct backend *b;
    struct device *d;
    struct stream *s;
    struct task t;
};
static struct fixture f;
static struct prng rng;

#define OK(call)                                                          \
    do {                                                                  \
        if ((call) != CUZK_OK) fail_msg("%s: %s", #call, f.t.error.text); \
    } while (0)

static struct buffer take(enum mem_kind kind, size_t bytes)
{
    struct buffer b;
    OK(f.b->buffer_take(&b, &f.t, f.d, kind, bytes, BUFFER_SECRET));
    return b;
}

/* A circuit that the device has, and room for its witness. */
struct resident {
    const struct circuit_image *m;
    struct image_program program;
    struct image_assign_plan plan;
    struct buffer programs, workspace, statement;
    struct image_values out;
    struct assignment expected;
};

static void resident_open(struct resident *r, const struct circuit_image *m, enum mem_kind statement)
{
    memset(r, 0, sizeof *r);
    r->m = m;
    OK(image_program_create(&r->program, &f.t, m));
    OK(f.b->image_assign_plan(&r->plan, &f.t, f.d, &r->program));
    assert_int_equal(r->plan.statement_bytes, image_statement_bytes(m));
    r->programs = take(MEM_DEVICE, r->plan.program_bytes);
    r->workspace = take(MEM_DEVICE, r->plan.workspace_bytes);
    r->statement = take(statement, r->plan.statement_bytes + 1);
    r->out.bits = take(MEM_DEVICE, image_bits_bytes(m));
    r->out.numbers = take(MEM_DEVICE, image_numbers_bytes(m) + 1);
    r->out.inputs = take(MEM_DEVICE, image_inputs_bytes(m));
    OK(f.b->image_program_upload(f.s, &f.t, &r->programs, &r->program));
    OK(assignment_create(&r->expected, &f.t, m));
}

static void resident_close(struct resident *r)
{
    struct buffer *const all[] = { &r->programs, &r->workspace,   &r->statement,
                                   &r->out.bits, &r->out.numbers, &r->out.inputs };
    backend_settle(f.b, f.s);
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) f.b->buffer_give(all[i]);
    assignment_fini(&r->expected);
    image_program_fini(&r->program);
}

/* Starts from memory that is not clean. */
static void spoil(struct buffer *b)
{
    uint8_t *noise = malloc(b->bytes);
    assert_non_null(noise);
    memset(noise, 0xa5, b->bytes);
    OK(f.b->upload(f.s, &f.t, b, 0, noise, b->bytes));
    OK(f.b->stream_sync(f.s, &f.t));
    free(noise);
}

static cuzk_status device_assign(struct resident *r, const struct random_statement *s)
{
    spoil(&r->out.bits);
    spoil(&r->out.numbers);
    spoil(&r->out.inputs);
    spoil(&r->workspace);
    OK(f.b->upload(f.s, &f.t, &r->statement, 0, s->numbers, image_statement_words(r->m)));
    OK(f.b->upload(f.s, &f.t, &r->statement, image_statement_words(r->m), s->words,
                   4 * (size_t)r->m->source_word_total));
    OK(f.b->image_assign(f.s, &f.t, &r->plan, &r->out, &r->program, &r->programs, &r->statement,
                         &r->workspace));
    return f.b->stream_sync(f.s, &f.t);
}

static void assert_bytes(const struct buffer *b, const void *expected, size_t bytes, size_t unit,
                         const char *what)
{
    uint8_t *got = malloc(bytes + 1);
    assert_non_null(got);
    OK(f.b->download(f.s, &f.t, got, b, 0, bytes));
    OK(f.b->stream_sync(f.s, &f.t));
    for (size_t i = 0; i < bytes; i += unit)
        if (memcmp(got + i, (const uint8_t *)expected + i, unit) != 0)
            fail_msg("%s %zu of %zu is another value", what, i / unit, bytes / unit);
    free(got);
}

/* A random statement's witness is the CPU's, and no secret stays in the workspace. */
static void assert_witness(struct resident *r, bool inputs)
{
    struct random_statement s;
    random_statement_make(&s, r->m, &rng);
    const struct statement statement = random_statement_view(&s);
    OK(image_assign(r->m, &f.t, &r->expected, &statement));
    OK(device_assign(r, &s));
    assert_bytes(&r->out.bits, r->expected.bits, image_bits_bytes(r->m), 4, "word of bits");
    assert_bytes(&r->out.numbers, r->expected.numbers, image_numbers_bytes(r->m), 32, "number");
    if (inputs) assert_bytes(&r->out.inputs, r->expected.inputs, image_inputs_bytes(r->m), 32, "input");
    uint8_t *clean = calloc(r->plan.workspace_bytes, 1);
    assert_non_null(clean);
    assert_bytes(&r->workspace, clean, r->plan.workspace_bytes, 1, "byte of the workspace");
    free(clean);
    random_statement_fini(&s);
}

static void assert_assigned(struct resident *r) { assert_witness(r, true); }

static void check_image(const struct circuit_image *m, enum mem_kind statement, unsigned times)
{
    struct resident r;
    resident_open(&r, m, statement);
    for (unsigned i = 0; i < times; i++) assert_assigned(&r);
    resident_close(&r);
}

/* -- circuits at random -- */

enum { POOL = 48 };

/* What a body may use: words without negated lanes, numbers. */
struct pool {
    struct word words[POOL];
    struct number numbers[POOL];
    unsigned word_count, number_count;
};

static const struct word *any_word(const struct pool *p)
{
    return &p->words[prng_below(&rng, p->word_count)];
}
static struct number any_number(const struct pool *p)
{
    return p->numbers[prng_below(&rng, p->number_count)];
}

/* A full pool forgets something. */
static void add_word(struct pool *p, const struct word *w)
{
    p->words[p->word_count < POOL ? p->word_count++ : prng_below(&rng, POOL)] = *w;
}
static void add_number(struct pool *p, struct number x)
{
    p->numbers[p->number_count < POOL ? p->number_count++ : prng_below(&rng, POOL)] = x;
}

/* A word function that is no SHA-256, with more results than one; or that has its shape and is not. */
static void call_mixer(struct builder *b, struct pool *p, bool shaped)
{
    const size_t count = shaped ? 24 : 3;
    const unsigned results = shaped ? 8 : 2;
    struct word arguments[24], in[24], out[8];
    uint32_t id;
    for (size_t i = 0; i < count; i++) word_index(b, &arguments[i], 32);
    arguments[0] = *any_word(p);
    struct template_key key = { .words = arguments, .word_count = count };
    snprintf(key.name, sizeof key.name, shaped ? "shaped" : "mixer");
    if (template_begin(b, &id, &key, in, NULL)) {
        struct multi_eq m = { 0 };
        const struct word *const sum[3] = { &in[0], &in[1], &in[2] };
        word_xor(b, &out[0], &in[0], 3, &in[1], WORD_SHIFT + 9);
        word_maj(b, &out[1], &out[0], &in[1], &in[2]);
        for (unsigned i = 2; i < results; i++) word_ch(b, &out[i], &in[i], &out[i - 1], &in[2 * i]);
        word_add(b, &m, &out[0], sum, 3);
        multi_eq_close(b, &m);
        multi_eq_fini(&m);
        id = template_end(b, out, results);
    }
    template_call(b, id, arguments, NULL, out, NULL, false);
    for (unsigned i = 0; i < results; i++) add_word(p, &out[i]);
}

/* A template with words, numbers and calls inside. */
static void call_node(struct builder *b, struct pool *p)
{
    struct word argument, in, out;
    struct number pair[2] = { any_number(p), any_number(p) }, imports[2], last;
    uint32_t id;
    word_index(b, &argument, 32);
    const struct template_key key = {
        .name = "node", .words = &argument, .word_count = 1, .number_count = 2
    };
    if (template_begin(b, &id, &key, &in, imports)) {
        struct pool inner = { .words = { in }, .word_count = 1 };
        const struct number turned[2] = { number_pick(b, &in, 5, imports[0], imports[1]), number_source(b) };
        struct word more;
        word_index(b, &more, 7);
        add_word(&inner, &more);
        call_mixer(b, &inner, false);
        out = inner.words[inner.word_count - 1];
        (void)number_pack(b, &out, 1, 19);
        (void)gadget_poseidon(b, turned, 2);
        id = template_end(b, &out, 1);
    }
    template_call(b, id, &argument, pair, &out, &last, false);
    add_word(p, &out);
    add_number(p, last);
}

static void compress(struct builder *b, struct pool *p)
{
    struct word state[8], block[16];
    for (unsigned i = 0; i < 8; i++) state[i] = *any_word(p);
    for (unsigned i = 0; i < 16; i++) block[i] = *any_word(p);
    if (prng_below(&rng, 2) == 0) word_constant(&block[prng_below(&rng, 16)], (uint32_t)prng_u64(&rng));
    gadget_sha256_compress(b, state, block);
    for (unsigned i = 0; i < 8; i += 3) add_word(p, &state[i]);
}

static void poseidon(struct builder *b, struct pool *p)
{
    static const unsigned arities[] = { 2, 4, 8, 11 };
    struct number in[11];
    const unsigned arity = arities[prng_below(&rng, 4)];
    for (unsigned i = 0; i < arity; i++) in[i] = any_number(p);
    add_number(p, gadget_poseidon(b, in, arity));
}

static void word_op(struct builder *b, struct pool *p)
{
    struct multi_eq m = { 0 };
    const struct word *const x[3] = { any_word(p), any_word(p), any_word(p) };
    struct word out;
    switch (prng_below(&rng, 6)) {
    case 0:
        word_xor(b, &out, x[0], (unsigned)prng_below(&rng, 64), x[1], (unsigned)prng_below(&rng, 32));
        break;
    case 1:
        word_ch(b, &out, x[0], x[1], x[2]);
        break;
    case 2:
        word_maj(b, &out, x[0], x[1], x[2]);
        break;
    case 3:
        word_add(b, &m, &out, x, 3);
        break;
    case 4:
        word_bswap(b, &out, x[0]);
        break;
    default:
        word_index(b, &out, 1 + (unsigned)prng_below(&rng, 32));
    }
    multi_eq_close(b, &m);
    multi_eq_fini(&m);
    add_word(p, &out);
}

/* A lane of w that is no constant; 32: none. */
static unsigned any_lane(const struct word *w)
{
    const unsigned first = (unsigned)prng_below(&rng, 32);
    for (unsigned i = 0; i < 32; i++)
        if ((w->lane[(first + i) % 32] & REF_KIND) != REF_ONE) return (first + i) % 32;
    return 32;
}

static void number_op(struct builder *b, struct pool *p)
{
    const struct word *w = any_word(p);
    const unsigned lane = any_lane(w);
    struct word bits[8], nor;
    switch (prng_below(&rng, 5)) {
    case 0:
        add_number(p, number_sum(b, any_number(p), any_number(p)));
        break;
    case 1:
        if (lane < 32) add_number(p, number_pick(b, w, lane, any_number(p), any_number(p)));
        break;
    case 2:
        for (unsigned i = 0; i < 8; i++) bits[i] = *any_word(p);
        add_number(p, number_pack(b, bits, 8, 1 + (unsigned)prng_below(&rng, 254)));
        break;
    case 3:
        number_bits(b, any_number(p), bits);
        for (unsigned i = 0; i < 8; i++) add_word(p, &bits[i]);
        break;
    default:
        if (lane == 32) return;
        word_and_lanes(b, &nor, w, lane, any_lane(w), true);
        if (any_lane(&nor) == 0) add_number(p, number_pick(b, &nor, 0, any_number(p), any_number(p)));
    }
}

static void random_body(struct builder *b, struct pool *p, unsigned size)
{
    for (unsigned i = 0; i < 3; i++) {
        struct word w;
        word_index(b, &w, 32);
        add_word(p, &w);
        add_number(p, number_source(b));
    }
    for (unsigned i = 0; i < size; i++) {
        const unsigned kind = (unsigned)prng_below(&rng, 40);
        if (kind < 17)
            word_op(b, p);
        else if (kind < 34)
            number_op(b, p);
        else if (kind < 35)
            compress(b, p);
        else if (kind < 37)
            poseidon(b, p);
        else if (kind < 38)
            call_mixer(b, p, false);
        else if (kind < 39)
            call_mixer(b, p, true);
        else
            call_node(b, p);
    }
    const uint8_t widths[3] = { 32, (uint8_t)(1 + prng_below(&rng, 32)), 17 };
    const struct word ends[3] = { *any_word(p), *any_word(p), *any_word(p) };
    words_input(b, ends, widths, 3);
    number_input(b, any_number(p));
}

/* The same template for each part, or another. */
static void random_parts(struct builder *b, const struct pool *p, unsigned templates, unsigned size)
{
    for (unsigned k = 0; k < templates; k++) {
        const struct word words[2] = { *any_word(p), *any_word(p) };
        const struct number numbers[2] = { any_number(p), any_number(p) };
        struct template_key key = { .words = words, .word_count = 2, .number_count = 2 };
        struct pool inner = { .word_count = 2, .number_count = 2 };
        uint32_t id;
        snprintf(key.name, sizeof key.name, "part-%u", k);
        if (template_begin(b, &id, &key, inner.words, inner.numbers)) {
            random_body(b, &inner, size);
            id = template_end(b, NULL, 0);
        }
        for (unsigned i = 0; i < 2; i++) template_call(b, id, words, numbers, NULL, NULL, true);
    }
}

static void random_circuits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct circuit_image m;
        struct builder *b;
        struct pool p = { .word_count = 0 };
        OK(builder_create(&b, &f.t, "random"));
        random_body(b, &p, i < 4 ? 4 * i : 60);
        random_parts(b, &p, i % 3, 50);
        OK(builder_finish(b, &m));
        check_image(&m, i % 2 ? MEM_PINNED : MEM_DEVICE, 1);
        image_fini(&m);
    }
}

/* -- gadgets -- */

static void hashes(void **state)
{
    struct circuit_image m;
    struct builder *b;
    struct word message[64], digest[8];
    (void)state;
    OK(builder_create(&b, &f.t, "hashes"));
    for (unsigned count = 1; count <= 40; count += 13) {
        for (unsigned i = 0; i < count; i++) {
            if (prng_below(&rng, 4) == 0)
                word_constant(&message[i], (uint32_t)prng_u64(&rng));
            else
                word_index(b, &message[i], 32);
        }
        gadget_sha256(b, digest, message, count);
        (void)gadget_pack_digest(b, digest);
    }
    OK(builder_finish(b, &m));
    check_image(&m, MEM_PINNED, 2);
    image_fini(&m);
}

static void paths(void **state)
{
    static const uint8_t arities[] = { 8, 8, 4, 2 }, binary[] = { 2, 2, 2 };
    struct circuit_image m;
    struct builder *b;
    (void)state;
    OK(builder_create(&b, &f.t, "paths"));
    gadget_merkle(b, number_source(b), arities, 4, number_source(b), MERKLE_POSEIDON);
    gadget_merkle(b, number_source(b), binary, 3, number_source(b), MERKLE_SHA256);
    OK(builder_finish(b, &m));
    check_image(&m, MEM_PINNED, 2);
    image_fini(&m);
}

/* -- statements that are none -- */

static void refused(void **state)
{
    struct circuit_image m;
    struct builder *b;
    struct pool p = { .word_count = 0 };
    struct word narrow_word;
    struct resident r;
    struct random_statement bad;
    (void)state;
    OK(builder_create(&b, &f.t, "refusals"));
    word_index(b, &narrow_word, 3);
    random_body(b, &p, 10);
    random_parts(b, &p, 2, 10);
    OK(builder_finish(b, &m));
    resident_open(&r, &m, MEM_PINNED);
    for (unsigned i = 0; i < 8; i++) {
        random_statement_make(&bad, &m, &rng);
        if (i % 2 == 0) {
            memset(&bad.numbers[prng_below(&rng, m.source_number_total)], 0xff, sizeof *bad.numbers);
        } else {
            uint32_t narrow;
            do narrow = (uint32_t)prng_below(&rng, m.source_word_total);
            while (bad.widths[narrow] == 32);
            bad.words[narrow] |= 1u << bad.widths[narrow];
        }
        assert_int_equal(device_assign(&r, &bad), CUZK_MALFORMED);
        if (strstr(f.t.error.text, i % 2 == 0 ? "a number" : "an index") == NULL)
            fail_msg("%s", f.t.error.text);
        task_init(&f.t);
        random_statement_fini(&bad);
        assert_assigned(&r);
    }
    resident_close(&r);
    image_fini(&m);
}

/* Each call on the way fails once: it is reported, and the next witness is right. */
void (*assign_cases_fail_call)(unsigned long n, int code);

static void failing_calls(void **state)
{
    enum { OUT_OF_MEMORY = 2 /* cudaErrorMemoryAllocation */ };
    struct circuit_image m;
    struct builder *b;
    struct pool p = { .word_count = 0 };
    struct resident r;
    (void)state;
    if (assign_cases_fail_call == NULL) {
        printf("skipped: calls cannot be made to fail\n");
        return;
    }
    OK(builder_create(&b, &f.t, "failures"));
    random_body(b, &p, 10);
    compress(b, &p);
    OK(builder_finish(b, &m));
    resident_open(&r, &m, MEM_PINNED);
    assert_assigned(&r);
    for (unsigned long n = 1;; n++) {
        assign_cases_fail_call(n, OUT_OF_MEMORY);
        cuzk_status status = f.b->image_assign(f.s, &f.t, &r.plan, &r.out, &r.program, &r.programs,
                                               &r.statement, &r.workspace);
        if (status == CUZK_OK) status = f.b->stream_sync(f.s, &f.t);
        assign_cases_fail_call(0, 0);
        if (status == CUZK_OK) {
            assert_true(n > 10);
            break;
        }
        assert_int_equal(status, CUZK_NO_MEMORY);
        task_init(&f.t);
        OK(f.b->stream_sync(f.s, &f.t));
        assert_assigned(&r);
    }
    resident_close(&r);
    image_fini(&m);
}

/* A mark that is wrong is found in the run that follows it. */
static void wrong_mark(void **state)
{
    struct circuit_image m;
    struct builder *b;
    struct resident r;
    struct random_statement s;
    struct pool p = { .word_count = 0 };
    struct word w;
    (void)state;
    OK(builder_create(&b, &f.t, "marks"));
    word_index(b, &w, 32);
    add_word(&p, &w);
    call_mixer(b, &p, true);
    OK(builder_finish(b, &m));
    resident_open(&r, &m, MEM_PINNED);
    assert_int_equal(r.program.function_count, 1);
    assert_int_equal(r.program.functions[0].native, WORD_NATIVE_NONE);
    resident_close(&r);

    memset(&r, 0, sizeof r);
    OK(builder_create(&b, &f.t, "marks"));
    p.word_count = 0;
    for (unsigned i = 0; i < 24; i++) {
        word_index(b, &w, 32);
        add_word(&p, &w);
    }
    gadget_sha256_compress(b, p.words, p.words + 8);
    image_fini(&m);
    OK(builder_finish(b, &m));
    resident_open(&r, &m, MEM_PINNED);
    assert_int_equal(r.program.functions[0].native, WORD_NATIVE_SHA256);
    assert_assigned(&r);
    r.program.word_ops[prng_below(&rng, r.program.word_op_count)].low ^= 1u << prng_below(&rng, 32);
    for (size_t i = 0; i < r.program.word_op_count; i++) r.program.word_ops[i].rotate_a ^= i % 7 == 0;
    OK(f.b->image_program_upload(f.s, &f.t, &r.programs, &r.program));
    random_statement_make(&s, &m, &rng);
    assert_int_equal(device_assign(&r, &s), CUZK_INTERNAL);
    task_init(&f.t);
    random_statement_fini(&s);
    resident_close(&r);
    image_fini(&m);
}

/* Images that load although they were altered, digest included: refused, or the same witness as on the CPU.  (Not so their public
 * inputs: an altered program may write one twice, and the order is not the device's to keep.) */
static void forged(void **state)
{
    struct circuit_image m, back;
    struct builder *b;
    struct pool p = { .word_count = 0 };
    unsigned refused_count = 0, ran = 0;
    uint8_t *file;
    size_t bytes;
    (void)state;
    OK(builder_create(&b, &f.t, "forged"));
    random_body(b, &p, 30);
    random_parts(b, &p, 2, 20);
    OK(builder_finish(b, &m));
    OK(image_save(&m, &f.t, &file, &bytes));
    const size_t steps = 128 + m.template_count * sizeof *m.templates;
    for (unsigned i = 0; i < 150; i++) {
        struct image_program program;
        struct sha256 s;
        const size_t at = i % 4 == 0
                              ? 128 + (size_t)prng_below(&rng, bytes - 128)
                              : steps + (size_t)prng_below(&rng, (size_t)m.steps_size * sizeof *m.steps);
        const uint8_t saved = file[at];
        file[at] ^= (uint8_t)(1u << prng_below(&rng, 8));
        sha256_init(&s);
        sha256_update(&s, file, 88);
        sha256_update(&s, file + 128, bytes - 128);
        sha256_final(&s, file + 88);
        if (image_load(&back, &f.t, span_of(file, bytes)) == CUZK_OK) {
            const cuzk_status status = image_program_create(&program, &f.t, &back);
            image_program_fini(&program);
            if (status == CUZK_OK) {
                struct resident r;
                resident_open(&r, &back, MEM_PINNED);
                assert_witness(&r, false);
                resident_close(&r);
                ran++;
            } else {
                assert_int_equal(status, CUZK_UNSUPPORTED);
                refused_count++;
            }
            image_fini(&back);
        }
        task_init(&f.t);
        file[at] = saved;
    }
    printf("%u ran, %u refused\n", ran, refused_count);
    assert_true(ran > 0);
    free(file);
    image_fini(&m);
}

/* A field that a step does not use is not taken on trust either: a rotation is for XOR and AND, and turns by less than a word. */
static void forged_rotation(void **state)
{
    struct circuit_image m, back;
    struct builder *b;
    struct pool p = { .word_count = 0 };
    unsigned tried = 0;
    (void)state;
    OK(builder_create(&b, &f.t, "turned"));
    random_body(b, &p, 30);
    compress(b, &p);
    OK(builder_finish(b, &m));
    for (uint64_t i = 0; i < m.steps_size; i++) {
        struct step *s = &m.steps[i];
        const struct step saved = *s;
        uint8_t *file;
        size_t bytes;
        const bool turns = s->code == STEP_XOR || s->code == STEP_AND;
        if (turns && i % 16 != 0) continue;
        s->rotate = turns ? 64u << (prng_below(&rng, 2) * 8) : 1u << prng_below(&rng, 32);
        OK(image_save(&m, &f.t, &file, &bytes));
        assert_int_not_equal(image_load(&back, &f.t, span_of(file, bytes)), CUZK_OK);
        if (strstr(f.t.error.text, "a rotation") == NULL) fail_msg("%s", f.t.error.text);
        task_init(&f.t);
        free(file);
        *s = saved;
        tried++;
    }
    assert_true(tried > 20);
    image_fini(&m);
}

/* -- PoRep -- */

static void check_porep(const char *name)
{
    const struct porep_shape *shape = porep_shape_by_name(name);
    struct circuit_image m;
    OK(porep_circuit_record(&m, &f.t, shape, shape->challenges));
    check_image(&m, MEM_PINNED, 1);
    image_fini(&m);
}

static void porep_2kib(void **state)
{
    (void)state;
    check_porep("2KiB");
}

static void porep_8mib(void **state)
{
    (void)state;
    check_porep("8MiB");
}

static void porep_32gib(void **state)
{
    (void)state;
    check_porep("32GiB");
}

int assign_cases_run(const struct backend *b, const struct device_options *options, bool slow)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(hashes),          cmocka_unit_test(paths),         cmocka_unit_test(random_circuits),
        cmocka_unit_test(refused),         cmocka_unit_test(wrong_mark),    cmocka_unit_test(forged),
        cmocka_unit_test(forged_rotation), cmocka_unit_test(failing_calls), cmocka_unit_test(porep_2kib),
    };
    const struct CMUnitTest slow_cases[] = { cmocka_unit_test(porep_8mib), cmocka_unit_test(porep_32gib) };
    task_init(&f.t);
    f.b = b;
    if (b->open(&f.d, &f.t, options) != CUZK_OK || b->stream_open(&f.s, &f.t, f.d) != CUZK_OK) {
        printf("%s: cannot be opened: %s\n", b->name, f.t.error.text);
        return 1;
    }
    prng_init(&rng);
    int failed = cmocka_run_group_tests_name("witnesses of circuit images", cases, NULL, NULL);
    if (slow)
        failed += cmocka_run_group_tests_name("witnesses of circuit images, slow", slow_cases, NULL, NULL);
    b->stream_close(f.s);
    b->close(f.d);
    return failed;
}
