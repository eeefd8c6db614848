/* From the steps of templates to the operations of scopes: calls are replaced by what they do, operands by places of the scope. */
#include "r1cs/image_program_inside.h"

#include "hash/poseidon.h"

cuzk_status maker_room(struct program_maker *mk, void *data, size_t *capacity, size_t need,
                       size_t element_bytes)
{
    if (grow(data, capacity, need, element_bytes)) return CUZK_OK;
    return FAIL(mk->task, CUZK_NO_MEMORY, "no memory for the programs of circuit %s", mk->image->name);
}

enum { OPS_MAX = 1 << 24 }; /* templates that call each other twice could unfold without end */

/* -- one scope -- */

/* A template on its way to be part of a scope. */
struct frame {
    const struct circuit_template *c;
    const uint32_t *words;   /* the scope's registers that its first ones are; NULL: the scope itself */
    uint32_t word_base;      /* of the others */
    const uint32_t *numbers; /* its imports; NULL: the scope itself */
    uint32_t number_base, input_base;
};

struct resolver {
    struct program_maker *mk;
    struct program_body *b;
    uint32_t aux, source_number, source_word; /* how many so far */
};

static cuzk_status broken(const struct resolver *r, const char *why)
{
    return FAIL(r->mk->task, CUZK_UNSUPPORTED, "a program of circuit %s %s", r->mk->image->name, why);
}

static uint32_t scope_register(const struct frame *f, uint32_t reg)
{
    if (f->words == NULL) return reg;
    return reg < f->c->word_imports ? f->words[reg] : f->word_base + reg - f->c->word_imports;
}

static cuzk_status read_word(const struct resolver *r, const struct frame *f, uint32_t reg, uint32_t *out)
{
    const struct scope_word *w = &r->b->words[scope_register(f, reg)];
    if (w->writer == WRITER_NONE) return broken(r, "reads a register that it has not written");
    *out = w->reg;
    return CUZK_OK;
}

static cuzk_status name_word(const struct resolver *r, const struct frame *f, uint32_t reg,
                             const struct scope_word *value)
{
    struct scope_word *w = &r->b->words[scope_register(f, reg)];
    if (w->writer != WRITER_NONE) return broken(r, "writes a register twice");
    *w = *value;
    return CUZK_OK;
}

/* The next operation to be appended writes count registers from reg. */
static cuzk_status write_words(const struct resolver *r, const struct frame *f, uint32_t reg, uint32_t count,
                               uint32_t *out)
{
    *out = scope_register(f, reg);
    for (uint32_t i = 0; i < count; i++) {
        const struct scope_word value = { scope_register(f, reg + i), r->b->op_count };
        TRY(name_word(r, f, reg + i, &value));
    }
    return CUZK_OK;
}

static uint32_t scope_number(const struct frame *f, uint32_t slot)
{
    if (f->numbers == NULL) return slot;
    return slot & NUMBER_IMPORT ? f->numbers[slot & ~NUMBER_IMPORT] : f->number_base + slot;
}

static cuzk_status new_numbers(struct resolver *r, struct program_op *op, uint32_t count)
{
    struct program_body *b = r->b;
    op->number = (uint32_t)b->number_count;
    TRY(maker_room(r->mk, &b->number_writer, &b->number_capacity, b->number_count + count,
                   sizeof *b->number_writer));
    for (uint32_t i = 0; i < count; i++) b->number_writer[b->number_count++] = b->op_count;
    r->aux += count;
    return CUZK_OK;
}

static cuzk_status append_op(struct resolver *r, const struct program_op *op)
{
    struct image_program *p = r->mk->out;
    if (p->op_count == OPS_MAX)
        return FAIL(r->mk->task, CUZK_TOO_LARGE, "the programs of circuit %s are too long",
                    r->mk->image->name);
    TRY(MAKER_ROOM(r->mk, op, 1));
    p->ops[p->op_count++] = *op;
    r->b->op_count++;
    return CUZK_OK;
}

static cuzk_status new_arguments(struct resolver *r, uint32_t count, uint32_t *first)
{
    struct image_program *p = r->mk->out;
    TRY(MAKER_ROOM(r->mk, argument, count));
    *first = (uint32_t)p->argument_count;
    p->argument_count += count;
    return CUZK_OK;
}

static cuzk_status resolve_template(struct resolver *r, const struct frame *f);

static cuzk_status resolve_function_call(struct resolver *r, const struct frame *f, const struct step *s,
                                         struct program_op *op)
{
    const struct circuit_image *m = r->mk->image;
    const struct circuit_template *callee = &m->templates[s->a];
    const uint32_t *arguments = m->arguments + s->b;
    TRY(word_function_of(r->mk, s, &op->s.b));
    TRY(new_arguments(r, callee->word_imports, &op->s.a));
    for (uint32_t i = 0; i < callee->word_imports; i++)
        TRY(read_word(r, f, arguments[CALL_WORDS + i], &r->mk->out->arguments[op->s.a + i]));
    op->s.count = arguments[CALL_RESULTS];
    r->aux += callee->aux_count;
    return write_words(r, f, s->dst, op->s.count, &op->s.dst);
}

/* Room for the registers of a template that becomes part of the scope. */
static cuzk_status new_words(struct resolver *r, uint32_t count)
{
    struct program_body *b = r->b;
    static const struct scope_word none = { 0, WRITER_NONE };
    TRY(maker_room(r->mk, &b->words, &b->word_capacity, b->word_count + count, sizeof *b->words));
    for (uint32_t i = 0; i < count; i++) b->words[b->word_count++] = none;
    return CUZK_OK;
}

static cuzk_status resolve_call(struct resolver *r, const struct frame *f, const struct step *s)
{
    const struct circuit_image *m = r->mk->image;
    const struct circuit_template *callee = &m->templates[s->a];
    const uint32_t *arguments = m->arguments + s->b;
    const uint32_t number_imports = callee->import_count - 32 * callee->word_imports;
    uint32_t numbers[MAX_NUMBER_IMPORTS], *words = malloc((callee->word_imports + 1) * sizeof *words);
    struct frame inside = { .c = callee,
                            .words = words,
                            .word_base = (uint32_t)r->b->word_count,
                            .numbers = numbers,
                            .number_base = (uint32_t)r->b->number_count,
                            .input_base = f->input_base + arguments[CALL_INPUT] };
    cuzk_status status;
    if (words == NULL)
        return FAIL(r->mk->task, CUZK_NO_MEMORY, "no memory for the programs of circuit %s", m->name);
    for (uint32_t i = 0; i < callee->word_imports; i++)
        TRY_GOTO(out, read_word(r, f, arguments[CALL_WORDS + i], &words[i]));
    for (uint32_t i = 0; i < number_imports; i++)
        numbers[i] = scope_number(f, arguments[CALL_WORDS + callee->word_imports + i]);
    TRY_GOTO(out, new_words(r, callee->word_count - callee->word_imports));
    TRY_GOTO(out, resolve_template(r, &inside));
    for (uint32_t i = 0; i < arguments[CALL_RESULTS]; i++) {
        const uint32_t reg = arguments[CALL_WORDS + callee->word_imports + number_imports + i];
        const struct scope_word *value = &r->b->words[scope_register(&inside, reg)];
        if (value->writer == WRITER_NONE)
            TRY_GOTO(out, broken(r, "returns a register that it has not written"));
        TRY_GOTO(out, name_word(r, f, s->dst + i, value));
    }
    status = CUZK_OK;
out:
    free(words);
    return status;
}

static cuzk_status resolve_words(struct resolver *r, const struct frame *f, const struct step *s,
                                 struct program_op *op)
{
    TRY(read_word(r, f, s->a, &op->s.a));
    if (s->code != STEP_BSWAP) TRY(read_word(r, f, s->b, &op->s.b));
    if (s->code == STEP_CH || s->code == STEP_MAJ) TRY(read_word(r, f, s->c, &op->s.c));
    r->aux += s->code == STEP_BSWAP ? 0 : s->count;
    return write_words(r, f, s->dst, 1, &op->s.dst);
}

/* Steps with a list of registers. */
static cuzk_status resolve_list(struct resolver *r, const struct frame *f, const struct step *s,
                                struct program_op *op)
{
    const uint32_t *list = r->mk->image->arguments + s->a,
                   width = s->code == STEP_PACK_INPUT ? 0xff000000u : 0;
    TRY(new_arguments(r, s->count, &op->s.a));
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t *to = &r->mk->out->arguments[op->s.a + i];
        TRY(read_word(r, f, list[i] & ~width, to));
        *to |= list[i] & width;
    }
    if (s->code == STEP_PACK) return new_numbers(r, op, 1);
    if (s->code == STEP_PACK_INPUT) {
        op->s.dst = f->input_base + s->dst;
        return CUZK_OK;
    }
    r->aux += s->b;
    return write_words(r, f, s->dst, 1, &op->s.dst);
}

static cuzk_status resolve_poseidon(struct resolver *r, const struct frame *f, const struct step *s,
                                    struct program_op *op)
{
    const uint32_t *list = r->mk->image->arguments + s->a;
    TRY(new_arguments(r, s->count, &op->s.a));
    for (uint32_t i = 0; i < s->count; i++) r->mk->out->arguments[op->s.a + i] = scope_number(f, list[i]);
    r->mk->out->arity[s->count] = true;
    return new_numbers(r, op, poseidon_constants(s->count)->trace_count);
}

/* op starts as a copy of the step. */
static cuzk_status resolve_operands(struct resolver *r, const struct frame *f, const struct step *s,
                                    struct program_op *op)
{
    switch (s->code) {
    case STEP_CONST:
        return write_words(r, f, s->dst, 1, &op->s.dst);
    case STEP_BSWAP:
    case STEP_XOR:
    case STEP_AND:
    case STEP_CH:
    case STEP_MAJ:
        return resolve_words(r, f, s, op);
    case STEP_ADD:
    case STEP_PACK:
    case STEP_PACK_INPUT:
        return resolve_list(r, f, s, op);
    case STEP_SOURCE:
        op->s.a = r->source_number++;
        return new_numbers(r, op, 1);
    case STEP_INDEX:
        op->s.a = r->source_word++;
        r->aux += s->count;
        return write_words(r, f, s->dst, 1, &op->s.dst);
    case STEP_TO_BITS:
        op->s.a = scope_number(f, s->a);
        r->aux += 255;
        return write_words(r, f, s->dst, 8, &op->s.dst);
    case STEP_PICK:
        TRY(read_word(r, f, s->dst, &op->s.dst)); /* fall through */
    case STEP_SUM:
        op->s.a = scope_number(f, s->a);
        op->s.b = scope_number(f, s->b);
        return new_numbers(r, op, 1);
    case STEP_INPUT:
        op->s.a = scope_number(f, s->a);
        op->s.dst = f->input_base + s->dst;
        return CUZK_OK;
    case STEP_POSEIDON:
        return resolve_poseidon(r, f, s, op);
    default:
        return resolve_function_call(r, f, s, op);
    }
}

static cuzk_status resolve_template(struct resolver *r, const struct frame *f)
{
    const struct circuit_image *m = r->mk->image;
    for (uint64_t i = f->c->steps_begin; i < f->c->steps_end; i++) {
        const struct step *s = &m->steps[i];
        if (s->code == STEP_CALL && s->count != 0) { /* a part: a scope of its own */
            r->aux += m->templates[s->a].aux_count;
            continue;
        }
        if (s->code == STEP_CALL && !word_function_is(m, &m->templates[s->a])) {
            TRY(resolve_call(r, f, s));
            continue;
        }
        struct program_op op = { .s = *s, .aux = r->aux };
        TRY(resolve_operands(r, f, s, &op));
        TRY(append_op(r, &op));
    }
    return CUZK_OK;
}

/* own, part: NULL for the circuit itself */
static cuzk_status make_body(struct program_maker *mk, struct program_body *b, uint32_t template_id,
                             const struct program_body *own, const struct circuit_part *part)
{
    const struct circuit_template *c = &mk->image->templates[template_id];
    struct resolver r = { .mk = mk, .b = b };
    const struct frame whole = { .c = c };
    b->template_id = template_id;
    b->first_op = (uint32_t)mk->out->op_count;
    TRY(new_words(&r, c->word_count));
    for (uint32_t i = 0; i < c->word_imports; i++) {
        struct program_op op = { .s = { .code = PROGRAM_IMPORT, .a = i } };
        TRY(write_words(&r, &whole, i, 1, &op.s.dst));
        TRY(append_op(&r, &op));
    }
    TRY(resolve_template(&r, &whole));
    TRY(word_functions_try(mk, b, own, part));
    return program_order(mk, b);
}

static void body_fini(struct program_body *b)
{
    free(b->words);
    free(b->number_writer);
    free(b->wave);
    free(b->trial);
}

/* -- all scopes -- */

/* The wave of the circuit's own operations behind which a part may begin. */
static void import_wave(const struct program_body *own, uint32_t writer, uint32_t *wave)
{
    if (own->wave[writer] > *wave) *wave = own->wave[writer];
}

/* A part's scope, with its imports as places of the whole. */
static cuzk_status make_scope(struct program_maker *mk, const struct program_body *own,
                              const struct program_body *b, const struct circuit_part *part, uint32_t *after)
{
    struct image_program *p = mk->out;
    const struct circuit_image *m = mk->image;
    const struct circuit_template *c = &m->templates[part->template_id];
    const uint32_t *arguments = m->arguments + m->steps[part->step].b + CALL_WORDS;
    const uint32_t numbers = c->import_count - 32 * c->word_imports;
    struct program_scope s = { .aux = part->first_aux,
                               .input = part->first_input,
                               .number = part->first_number,
                               .source_number = part->first_source_number,
                               .source_word = part->first_source_word,
                               .word = p->word_total,
                               .import_words = (uint32_t)p->import_count,
                               .import_numbers = (uint32_t)p->import_count + c->word_imports };
    TRY(MAKER_ROOM(mk, scope, 1));
    TRY(MAKER_ROOM(mk, import, c->word_imports + numbers));
    *after = 0;
    for (uint32_t i = 0; i < c->word_imports; i++) {
        const struct scope_word *w = &own->words[*arguments++];
        if (w->writer == WRITER_NONE)
            return FAIL(mk->task, CUZK_UNSUPPORTED,
                        "a part of circuit %s takes a register that nobody has written", m->name);
        p->imports[p->import_count++] = w->reg;
        import_wave(own, w->writer, after);
    }
    for (uint32_t i = 0; i < numbers; i++) {
        p->imports[p->import_count++] = *arguments;
        import_wave(own, own->number_writer[*arguments++], after);
    }
    p->scopes[p->scope_count++] = s;
    p->word_total += (uint32_t)b->word_count;
    return CUZK_OK;
}

/* bodies: room for one a template; body_of, after: for one a scope. */
static cuzk_status make_all(struct program_maker *mk, struct program_body *bodies, uint32_t *body_of,
                            uint32_t *after)
{
    const struct circuit_image *m = mk->image;
    struct image_program *p = mk->out;
    uint32_t body_count = 1;
    TRY(make_body(mk, &bodies[0], m->template_count - 1, NULL, NULL));
    TRY(MAKER_ROOM(mk, scope, 1));
    p->scopes[p->scope_count++] = (struct program_scope){ 0 };
    p->word_total = (uint32_t)bodies[0].word_count;
    body_of[0] = after[0] = 0;
    for (uint32_t i = 0; i < m->part_count; i++) {
        uint32_t b = 1;
        while (b < body_count && bodies[b].template_id != m->parts[i].template_id) b++;
        if (b == body_count)
            TRY(make_body(mk, &bodies[body_count++], m->parts[i].template_id, &bodies[0], &m->parts[i]));
        TRY(make_scope(mk, &bodies[0], &bodies[b], &m->parts[i], &after[1 + i]));
        body_of[1 + i] = b;
    }
    return program_rounds(mk, bodies, body_of, after);
}

cuzk_status image_program_create(struct image_program *out, struct task *t, const struct circuit_image *m)
{
    struct program_maker mk = { .out = out, .task = t, .image = m };
    memset(out, 0, sizeof *out);
    out->image = m;
    struct program_body *bodies = calloc((size_t)m->template_count + 1, sizeof *bodies);
    uint32_t *body_of = malloc((m->part_count + (size_t)1) * sizeof *body_of);
    uint32_t *after = malloc((m->part_count + (size_t)1) * sizeof *after);
    cuzk_status status = bodies == NULL || body_of == NULL || after == NULL
                             ? FAIL(t, CUZK_NO_MEMORY, "no memory for the programs of circuit %s", m->name)
                             : make_all(&mk, bodies, body_of, after);
    for (uint32_t i = 0; bodies != NULL && i <= m->template_count; i++) body_fini(&bodies[i]);
    free(bodies);
    free(body_of);
    free(after);
    if (status != CUZK_OK) image_program_fini(out);
    return status;
}

void image_program_fini(struct image_program *p)
{
    free(p->ops);
    free(p->arguments);
    free(p->word_ops);
    free(p->functions);
    free(p->groups);
    free(p->strands);
    free(p->scopes);
    free(p->imports);
    free(p->items);
    free(p->rounds);
    free(p->jobs);
    memset(p, 0, sizeof *p);
}
