/* Word functions: templates of nothing but words, with few registers; and which of them are a SHA-256 compression. */
#include "r1cs/image_program_inside.h"

#include "hash/sha256_compress.h"

#define REGISTER_NONE UINT32_MAX

bool word_function_is(const struct circuit_image *m, const struct circuit_template *c)
{
    if (c->number_count != 0 || c->input_count != 0 || c->source_numbers != 0 || c->source_words != 0 ||
        c->import_count != 32 * c->word_imports)
        return false;
    for (uint64_t i = c->steps_begin; i < c->steps_end; i++)
        if (m->steps[i].code > STEP_ADD) return false;
    return true;
}

/* -- one function -- */

/* A register of the template. */
struct lifetime {
    uint32_t last_use; /* step; REGISTER_NONE: none */
    uint32_t now;      /* the function's register that it is in; REGISTER_NONE: not written */
    bool kept;         /* a result */
};

struct allocation {
    struct lifetime *life;
    uint32_t *free_list; /* of the function's registers */
    uint32_t free_count, register_count;
};

/* The operands of a word step, as the template's registers. */
static uint32_t operands(const struct circuit_image *m, const struct step *s, uint32_t in[8])
{
    switch (s->code) {
    case STEP_CONST:
        return 0;
    case STEP_ADD:
        for (uint32_t i = 0; i < s->count; i++) in[i] = m->arguments[s->a + i];
        return s->count;
    default:
        in[0] = s->a;
        in[1] = s->b;
        in[2] = s->c;
        return s->code == STEP_BSWAP ? 1 : s->code == STEP_CH || s->code == STEP_MAJ ? 3 : 2;
    }
}

static uint32_t take_register(struct allocation *a)
{
    return a->free_count > 0 ? a->free_list[--a->free_count] : a->register_count++;
}

static struct word_op word_op_of(const struct step *s)
{
    struct word_op w = {
        .code = (uint8_t)s->code, .count = (uint8_t)s->count, .low = s->negate, .mask = s->mask
    };
    w.rotate_a = s->rotate & 0xff;
    w.rotate_b = s->rotate >> 8 & 0xff;
    if (s->code == STEP_CONST) w.low = s->a;
    if (s->code == STEP_AND) w.nor = s->c != 0;
    if (s->code == STEP_ADD) {
        w.summands = (uint8_t)s->count;
        w.count = (uint8_t)s->b;
        w.low = s->c;
        w.high = s->negate;
    }
    return w;
}

/* The step's operands are read, and those that it was the last to need are free, before its result takes a register. */
static bool allocate(struct allocation *a, const struct circuit_image *m, const struct step *s,
                     uint32_t index, struct word_op *out)
{
    uint32_t in[8];
    const uint32_t count = operands(m, s, in);
    for (uint32_t i = 0; i < count; i++) {
        if (a->life[in[i]].now == REGISTER_NONE) return false;
        out->in[i] = (uint16_t)a->life[in[i]].now;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct lifetime *l = &a->life[in[i]];
        if (l->kept || l->last_use != index) continue;
        a->free_list[a->free_count++] = l->now;
        l->kept = true; /* once, should it be an operand twice */
    }
    struct lifetime *dst = &a->life[s->dst];
    if (dst->now != REGISTER_NONE) return false;
    dst->now = take_register(a);
    out->dst = (uint16_t)dst->now;
    if (dst->last_use == REGISTER_NONE && !dst->kept) a->free_list[a->free_count++] = dst->now;
    return a->register_count <= UINT16_MAX;
}

static void lifetimes(struct allocation *a, const struct circuit_image *m, const struct circuit_template *c,
                      const uint32_t *results, uint32_t result_count)
{
    static const struct lifetime unused = { REGISTER_NONE, REGISTER_NONE, false };
    for (uint32_t i = 0; i < c->word_count; i++) a->life[i] = unused;
    for (uint64_t i = c->steps_begin; i < c->steps_end; i++) {
        uint32_t in[8];
        const uint32_t count = operands(m, &m->steps[i], in);
        for (uint32_t j = 0; j < count; j++) a->life[in[j]].last_use = (uint32_t)(i - c->steps_begin);
    }
    for (uint32_t i = 0; i < result_count; i++) a->life[results[i]].kept = true;
    for (uint32_t i = 0; i < c->word_imports; i++) a->life[i].now = a->register_count++;
}

static cuzk_status make_function(struct program_maker *mk, struct allocation *a, struct word_function *f,
                                 const uint32_t *results)
{
    const struct circuit_image *m = mk->image;
    const struct circuit_template *c = &m->templates[f->template_id];
    struct image_program *p = mk->out;
    const size_t steps = (size_t)(c->steps_end - c->steps_begin);
    lifetimes(a, m, c, results, f->result_count);
    TRY(MAKER_ROOM(mk, word_op, steps));
    TRY(MAKER_ROOM(mk, argument, f->result_count));
    f->first_op = (uint32_t)p->word_op_count;
    f->op_count = (uint32_t)steps;
    bool sound = true;
    for (uint32_t i = 0; i < steps && sound; i++) {
        struct word_op *w = &p->word_ops[p->word_op_count++];
        *w = word_op_of(&m->steps[c->steps_begin + i]);
        sound = allocate(a, m, &m->steps[c->steps_begin + i], i, w);
    }
    f->first_result = (uint32_t)p->argument_count;
    for (uint32_t i = 0; i < f->result_count && sound; i++) {
        sound = a->life[results[i]].now != REGISTER_NONE;
        p->arguments[p->argument_count++] = a->life[results[i]].now;
    }
    if (!sound)
        return FAIL(mk->task, CUZK_UNSUPPORTED,
                    "template %s of circuit %s writes a register twice, or reads one that it has not written",
                    c->name, m->name);
    f->register_count = a->register_count;
    if (a->register_count > p->function_registers) p->function_registers = a->register_count;
    TRY(MAKER_ROOM(mk, function, 1));
    p->functions[p->function_count++] = *f;
    return CUZK_OK;
}

/* Which functions may be native: by their shape, until a call shows otherwise. */
static enum word_native candidate(const struct word_function *f)
{
    return f->argument_count == 24 && f->result_count == 8 ? WORD_NATIVE_SHA256 : WORD_NATIVE_NONE;
}

cuzk_status word_function_of(struct program_maker *mk, const struct step *call, uint32_t *out)
{
    const struct circuit_image *m = mk->image;
    const struct circuit_template *c = &m->templates[call->a];
    const uint32_t *arguments = m->arguments + call->b, *results = arguments + CALL_WORDS + c->word_imports;
    const uint32_t count = arguments[CALL_RESULTS];
    for (*out = 0; *out < mk->out->function_count; ++*out) {
        const struct word_function *f = &mk->out->functions[*out];
        const uint32_t *known = m->arguments + f->call + CALL_WORDS + c->word_imports;
        if (f->template_id == call->a && f->result_count == count &&
            memcmp(known, results, count * sizeof *results) == 0)
            return CUZK_OK;
    }
    struct word_function f = {
        .template_id = call->a, .argument_count = c->word_imports, .result_count = count, .call = call->b
    };
    f.native = candidate(&f);
    struct allocation a = { .life = malloc((c->word_count + (size_t)1) * sizeof *a.life),
                            .free_list = malloc((c->word_count + (size_t)1) * sizeof *a.free_list) };
    cuzk_status status =
        a.life == NULL || a.free_list == NULL
            ? FAIL(mk->task, CUZK_NO_MEMORY, "no memory for the programs of circuit %s", m->name)
            : make_function(mk, &a, &f, results);
    free(a.life);
    free(a.free_list);
    return status;
}

/* -- what they compute -- */

static uint32_t turned(uint32_t x, uint32_t r)
{
    if (r >= 32) return x >> (r - 32);
    return r == 0 ? x : sha256_rotate(x, r);
}

/* The result of a word operation; in: its operands. */
static uint32_t word_value(const struct word_op *w, const uint32_t in[8])
{
    const uint32_t x = turned(in[0], w->rotate_a), y = turned(in[1], w->rotate_b);
    uint32_t sum = w->low;
    switch (w->code) {
    case STEP_CONST:
        return w->low;
    case STEP_BSWAP:
        return __builtin_bswap32(in[0]);
    case STEP_XOR:
        return x ^ y;
    case STEP_AND:
        return (w->nor ? ~x & ~y : x & y) & 1;
    case STEP_CH:
        return (x & y) | (~x & in[2]);
    case STEP_MAJ:
        return (in[0] & in[1]) | (in[0] & in[2]) | (in[1] & in[2]);
    default: /* STEP_ADD */
        for (unsigned i = 0; i < w->summands; i++) sum += in[i];
        return sum;
    }
}

void word_function_run(const struct image_program *p, const struct word_function *f, uint32_t *registers)
{
    for (uint32_t i = f->first_op; i < f->first_op + f->op_count; i++) {
        const struct word_op *w = &p->word_ops[i];
        uint32_t in[8];
        for (unsigned j = 0; j < 8; j++) in[j] = registers[w->in[j]];
        registers[w->dst] = word_value(w, in);
    }
}

/* -- whether they are what they seem -- */

/* Any values will do, as long as they vary: SplitMix64. */
static uint32_t vary(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

/* A call on the trial's registers, by the function's operations and natively. */
static void try_call(const struct image_program *p, const struct program_op *op, struct word_function *f,
                     uint32_t *trial, uint32_t *registers)
{
    for (uint32_t i = 0; i < f->argument_count; i++) registers[i] = trial[p->arguments[op->s.a + i]];
    static const uint32_t constants[64] = SHA256_ROUND_CONSTANTS;
    uint32_t native[24];
    if (f->native == WORD_NATIVE_SHA256) {
        memcpy(native, registers, sizeof native);
        sha256_compress(native, native + 8, constants);
    }
    word_function_run(p, f, registers);
    for (uint32_t i = 0; i < f->result_count; i++) {
        trial[op->s.dst + i] = registers[p->arguments[f->first_result + i]];
        if (f->native == WORD_NATIVE_SHA256 && native[i] != trial[op->s.dst + i])
            f->native = WORD_NATIVE_NONE;
    }
}

static void try_op(const struct image_program *p, const struct program_op *op, uint32_t *trial,
                   uint64_t *state)
{
    const struct step *s = &op->s;
    const struct word_op w = word_op_of(s);
    uint32_t in[8] = { 0 };
    switch (s->code) {
    case STEP_INDEX:
        trial[s->dst] = s->count < 32 ? vary(state) & ((1u << s->count) - 1) : vary(state);
        break;
    case STEP_TO_BITS: /* of 255 */
        for (unsigned i = 0; i < 8; i++) trial[s->dst + i] = vary(state);
        trial[s->dst + 7] >>= 1;
        break;
    case STEP_CONST:
    case STEP_BSWAP:
    case STEP_XOR:
    case STEP_AND:
    case STEP_CH:
    case STEP_MAJ:
        if (s->code != STEP_CONST) in[0] = trial[s->a];
        if (s->code != STEP_CONST && s->code != STEP_BSWAP) in[1] = trial[s->b];
        if (s->code == STEP_CH || s->code == STEP_MAJ) in[2] = trial[s->c];
        trial[s->dst] = word_value(&w, in);
        break;
    case STEP_ADD:
        for (uint32_t i = 0; i < s->count; i++) in[i] = trial[p->arguments[s->a + i]];
        trial[s->dst] = word_value(&w, in);
        break;
    default:
        break; /* numbers: their values matter to none of these */
    }
}

cuzk_status word_functions_try(struct program_maker *mk, struct program_body *b,
                               const struct program_body *own, const struct circuit_part *part)
{
    struct image_program *p = mk->out;
    const struct circuit_image *m = mk->image;
    const struct circuit_template *c = &m->templates[b->template_id];
    uint64_t state = b->template_id;
    b->trial = calloc(b->word_count + 1, sizeof *b->trial);
    uint32_t *registers = malloc((p->function_registers + (size_t)1) * sizeof *registers);
    if (b->trial == NULL || registers == NULL) {
        free(registers);
        return FAIL(mk->task, CUZK_NO_MEMORY, "no memory for the programs of circuit %s", m->name);
    }
    for (uint32_t i = 0; part != NULL && i < c->word_imports; i++)
        b->trial[i] = own->trial[own->words[m->arguments[m->steps[part->step].b + CALL_WORDS + i]].reg];
    for (uint32_t i = b->first_op; i < b->first_op + b->op_count; i++) {
        const struct program_op *op = &p->ops[i];
        if (op->s.code == STEP_CALL)
            try_call(p, op, &p->functions[op->s.b], b->trial, registers);
        else
            try_op(p, op, b->trial, &state);
    }
    free(registers);
    return CUZK_OK;
}
