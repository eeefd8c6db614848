/* See small_image.h. */
#include "support/small_image.h"
#include "circuits/gadgets/evaluate.h"
#include "circuits/gadgets/expand.h"
#include "circuits/gadgets/gadgets.h"
#include <stdio.h>
#include <stdlib.h>

static void must(const struct task *t, cuzk_status status, const char *what)
{
    if (status == CUZK_OK) return;
    fprintf(stderr, "%s: %s\n", what, t->error.text);
    abort();
}

/* What SHA-256 is made of, over two words of the statement and one of the caller's. */
static void words_body(struct builder *b, const struct word *import, struct word *out)
{
    struct word x, y, r, s, c, m, t;
    struct multi_eq sums = { 0 };
    word_index(b, &x, 32);
    word_index(b, &y, 32);
    word_xor(b, &r, &x, 7, &y, 18);
    word_xor(b, &s, &r, 0, import, WORD_SHIFT + 3);
    word_ch(b, &c, &s, import, &y);
    word_maj(b, &m, &c, &s, import);
    const struct word *const operands[5] = { &x, &m, &c, import, &r };
    word_add(b, &sums, &t, operands, 5);
    const struct word *const more[2] = { &t, &y };
    for (int i = 0; i < 7; i++) word_add(b, &sums, out, more, 2); /* more than one row takes */
    multi_eq_close(b, &sums);
    multi_eq_fini(&sums);
}

static void part_body(struct builder *b, const struct word *import, struct number shared)
{
    const uint8_t widths[2] = { 32, 20 };
    struct number in[8], placed[8];
    struct word index, bits[8], mixed, ends[2];
    word_index(b, &index, 3);
    for (int i = 0; i < 8; i++) in[i] = number_source(b);
    gadget_insert(b, placed, in[0], &index, in + 1, 8);
    const struct number node = gadget_poseidon(b, placed, 8), sum = number_sum(b, node, shared);
    number_bits(b, sum, bits);
    const struct number packed = number_pack(b, bits, 8, 254), pair[2] = { packed, shared };
    const struct number last = gadget_poseidon(b, pair, 2);
    words_body(b, import, &mixed);
    ends[0] = mixed;
    ends[1] = bits[3];
    words_input(b, ends, widths, 2);
    number_input(b, last);
}

static void part_call(struct builder *b, const struct word *word, struct number shared)
{
    const struct template_key key = { .name = "part", .words = word, .word_count = 1, .number_count = 1 };
    struct word import;
    struct number number;
    uint32_t id;
    if (template_begin(b, &id, &key, &import, &number)) {
        part_body(b, &import, number);
        id = template_end(b, NULL, 0);
    }
    template_call(b, id, word, &shared, NULL, NULL, true);
}

static void record(struct small_image *s, struct task *t)
{
    struct builder *b;
    struct word word;
    must(t, builder_create(&b, t, "small"), "builder");
    const struct number shared = number_source(b);
    number_input(b, shared);
    word_index(b, &word, 32);
    for (int i = 0; i < 2; i++) part_call(b, &word, shared);
    must(t, builder_finish(b, &s->image), "small image");
}

static void number_draw(bls12_381_fr_int *v, struct prng *random)
{
    do {
        prng_bytes(random, v, sizeof *v);
        v->l[3] >>= 1;
    } while (!bls12_381_fr_int_is_canonical(v));
}

void small_image_redraw(struct small_image *s, struct prng *random)
{
    const struct circuit_image *m = &s->image;
    bls12_381_fr_int numbers[64];
    uint32_t words[64];
    struct task t;
    task_init(&t);
    if (m->source_number_total > 64 || m->source_word_total > 64) abort();
    for (uint32_t i = 0; i < m->source_number_total; i++) number_draw(&numbers[i], random);
    for (uint32_t i = 0; i < m->source_word_total; i++) words[i] = (uint32_t)prng_u64(random);
    const uint32_t own_numbers = image_circuit(m)->source_numbers, own_words = image_circuit(m)->source_words,
                   each = m->templates[m->parts[0].template_id].source_words;
    for (uint32_t i = own_words; i < m->source_word_total; i += each)
        words[i] &= 7; /* a part begins with its index */
    const struct statement statement = { numbers, numbers + own_numbers, words, words + own_words };
    must(&t, image_assign(m, &t, &s->assignment, &statement), "witness");
    assignment_values(&s->assignment, &s->map, (bls12_381_fr_int *)(void *)s->values);
}

/* -- as groth16 takes it ----------------------------------------------------------------------------------------------- */

struct walk {
    const struct circuit_template *whole;
    constraint_sink *sink;
    void *context;
};

static cuzk_status walk_row(void *context, struct task *t, const struct expanded_row *row)
{
    const struct walk *w = context;
    struct constraint_term term = { .row = row->index };
    if (row->index >= w->whole->row_count - w->whole->input_count)
        return CUZK_OK; /* those that bind the inputs */
    for (term.side = 0; term.side < 3; term.side++)
        for (uint32_t i = 0; i < row->count[term.side]; i++) {
            const struct row_term *p = &row->side[term.side][i];
            term.variable = p->var & VAR_AUX ? w->whole->input_count + (p->var & ~VAR_AUX) : p->var;
            memcpy(&term.coefficient, expanded_coefficient(row, p->coefficient), sizeof term.coefficient);
            cuzk_status status = w->sink(w->context, t, &term);
            if (status != CUZK_OK) return status;
        }
    return CUZK_OK;
}

static cuzk_status walk_all(const void *circuit, struct task *t, constraint_sink *sink, void *context)
{
    const struct small_image *s = circuit;
    struct walk w = { image_circuit(&s->image), sink, context };
    return image_expand(&s->image, t, walk_row, &w);
}

static cuzk_status walk_piece(const void *circuit, struct task *t, uint32_t piece, struct constraint_own *own,
                              constraint_sink *sink, void *context)
{
    const struct small_image *s = circuit;
    const struct circuit_template *whole = image_circuit(&s->image);
    struct walk w = { whole, sink, context };
    memset(own, 0, sizeof *own);
    if (piece > 0) {
        const struct circuit_part *p = &s->image.parts[piece - 1];
        const struct circuit_template *callee = &s->image.templates[p->template_id];
        own->inputs_begin = p->first_input;
        own->inputs_end = own->inputs_begin + callee->input_count;
        own->others_begin = whole->input_count + p->first_aux;
        own->others_end = own->others_begin + callee->aux_count;
    }
    return image_expand_part(&s->image, t, piece, walk_row, &w);
}

static cuzk_status evaluate(const void *circuit, struct task *t, struct fr *a, struct fr *b,
                            const struct witness *w)
{
    const struct small_image *s = circuit;
    return image_evaluate(&s->image, t, (bls12_381_fr_t *)(void *)a, (bls12_381_fr_t *)(void *)b,
                          w->assignment, &s->map);
}

static cuzk_status check(const void *circuit, struct task *t, const struct witness *w)
{
    const struct small_image *s = circuit;
    return image_check(&s->image, t, w->assignment, &s->map);
}

static void parts(struct witness_parts *out, const struct witness *w)
{
    const struct assignment *a = w->assignment;
    out->bits = a->bits;
    out->numbers = a->numbers;
    out->inputs = a->inputs;
}

static void bind(struct small_image *s)
{
    const struct circuit_template *whole = image_circuit(&s->image);
    struct constraints *c = &s->constraints;
    c->name = s->image.name;
    c->curve = &curve_bls12_381;
    c->variable_count = s->value_count;
    c->input_count = whole->input_count;
    c->row_count = whole->row_count - whole->input_count;
    c->circuit = s;
    c->walk = walk_all;
    c->walk_piece = walk_piece;
    c->piece_count = s->image.part_count + 1;
    c->evaluate = evaluate;
    c->check = check;
    c->image = &s->image;
    c->parts = parts;
    s->witness.curve = c->curve;
    s->witness.count = s->value_count;
    s->witness.values = span_of(s->values, s->value_count * sizeof *s->values);
    s->witness.assignment = &s->assignment;
}

void small_image_open(struct small_image *s, struct prng *random)
{
    struct task t;
    task_init(&t);
    memset(s, 0, sizeof *s);
    record(s, &t);
    must(&t, aux_map_create(&s->map, &t, &s->image), "map");
    must(&t, assignment_create(&s->assignment, &t, &s->image), "assignment");
    s->value_count = (uint64_t)image_circuit(&s->image)->input_count + image_circuit(&s->image)->aux_count;
    s->values = calloc(s->value_count, sizeof *s->values);
    if (s->values == NULL) abort();
    bind(s);
    small_image_redraw(s, random);
}

void small_image_close(struct small_image *s)
{
    free(s->values);
    assignment_fini(&s->assignment);
    aux_map_fini(&s->map);
    image_fini(&s->image);
}
