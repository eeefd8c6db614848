/* The checks on an image that comes from outside: after them no interpreter can leave its arrays. */
#include "r1cs/image_sound.h"

#include "hash/poseidon.h"

#include <stdlib.h>

/* Interpreters recurse into calls, and an image of a few templates, each of which calls the one before it twice, would keep them
 * at it for ever.  PoRep at 64 GiB: 3 deep, 83 million words of rows, 4 million steps.  The bounds also keep every sum over the
 * parts in 32 bits. */
enum { NESTING_MAX = 64 };
#define EXPANSE_MAX   UINT32_MAX
#define REGISTERS_MAX ((uint64_t)1 << 24) /* of a chain of calls, and imports likewise */

/* What a template and all that it calls take. */
struct reach {
    uint64_t rows, steps;    /* words of rows that a walk over all of them meets; and steps */
    uint64_t words, imports; /* of the deepest chain of calls */
    uint32_t nesting;
};

struct walk {
    const struct circuit_image *m;
    struct circuit_template *c;
    uint32_t id;
    const char *wrong; /* the first thing found */
    uint64_t rows, emitted, numbers, part_aux, source_numbers, source_words;
    const struct reach *known; /* of the templates before this one */
    struct reach below;        /* of all that it calls, and the deepest of them */
};

static bool require(struct walk *w, bool holds, const char *what)
{
    if (!holds && w->wrong == NULL) w->wrong = what;
    return w->wrong == NULL;
}

/* Rows and steps both call, and need not call the same. */
static const struct reach *reach_callee(struct walk *w, uint32_t callee)
{
    const struct reach *r = &w->known[callee];
    if (r->words > w->below.words) w->below.words = r->words;
    if (r->imports > w->below.imports) w->below.imports = r->imports;
    if (r->nesting > w->below.nesting) w->below.nesting = r->nesting;
    return r;
}

static void check_ref(struct walk *w, uint32_t ref)
{
    const uint32_t i = ref & REF_INDEX;
    const struct circuit_template *c = w->c;
    const uint32_t limit = (ref & REF_KIND) == REF_LOCAL    ? c->aux_count
                           : (ref & REF_KIND) == REF_IMPORT ? c->import_count
                           : (ref & REF_KIND) == REF_INPUT  ? c->input_count
                                                            : 1;
    require(w, i < limit, "a reference to a variable that there is not");
}

/* -- rows -- */

static void check_row_call(struct walk *w, const uint32_t *p)
{
    const struct circuit_template *callee = &w->m->templates[p[1]];
    const bool part = p[0] >> 8 != 0;
    require(w, p[0] >> 8 <= 1 && (!part || w->id + 1 == w->m->template_count),
            "an independent call outside the circuit itself");
    require(w,
            (uint64_t)p[2] + callee->aux_count <= w->c->aux_count &&
                (uint64_t)p[3] + callee->input_count <= w->c->input_count,
            "a call whose variables lie outside its caller's");
    require(w, p[4] == w->rows, "a call whose rows are not where it stands");
    for (uint32_t i = 0; i < callee->import_count; i++) check_ref(w, p[5 + i]);
    w->rows += callee->row_count;
    w->below.rows += reach_callee(w, p[1])->rows;
}

/* count references ref, ref + stride, ... */
static void check_refs(struct walk *w, uint32_t ref, uint64_t count, uint64_t stride)
{
    const uint64_t last = (ref & REF_INDEX) + (count - 1) * stride;
    if (!require(w, count >= 1 && last <= REF_INDEX, "a run of references that leaves their range")) return;
    check_ref(w, ref);
    check_ref(w, (ref & ~REF_INDEX) | (uint32_t)last);
}

static void check_runs(struct walk *w, const uint32_t *run, uint64_t count)
{
    for (; count > 0; count--, run += 2) {
        check_refs(w, run[0], RUN_COUNT(run[1]), RUN_STRIDE(run[1]));
        require(w,
                RUN_COUNT(run[1]) <= 36 && RUN_STRIDE(run[1]) >= 1 && RUN_STRIDE(run[1]) <= 2 &&
                    RUN_COUNT(run[1]) + RUN_SHIFT(run[1]) <= COEFFICIENT_BITS && (run[0] & REF_NOT) == 0 &&
                    (run[0] & REF_KIND) != REF_ONE,
                "a run that is none");
    }
}

static void check_pairs(struct walk *w, const uint32_t *pair, uint64_t count)
{
    for (; count > 0; count--, pair += 2) {
        check_ref(w, pair[0]);
        require(w, pair[1] < w->m->coefficient_count, "a coefficient that is not in the dictionary");
    }
}

static void check_row(struct walk *w, const uint32_t *p)
{
    const uint32_t class = p[0] & 0xff, count = p[0] >> 8;
    static const uint8_t refs[ROW_CLASS_COUNT] = {
        [ROW_XOR] = 3, [ROW_AND] = 3, [ROW_CH] = 4, [ROW_MAJ] = 3, [ROW_PICK] = 4
    };
    switch (class) {
    case ROW_BITS:
        require(w, (p[1] & (REF_KIND | REF_NOT)) == REF_LOCAL,
                "bits that are not variables of their template");
        check_refs(w, p[1], count, 1);
        break;
    case ROW_TRAIL:
        require(w, (uint64_t)p[1] + count <= w->c->input_count,
                "a trailing row of an input that there is not");
        break;
    case ROW_CALL:
        check_row_call(w, p);
        return;
    case ROW_SUMS:
        check_runs(w, p + 4, p[1]);
        check_pairs(w, p + 4 + 2 * (size_t)p[1], p[2]);
        check_runs(w, p + 4 + 2 * ((size_t)p[1] + p[2]), p[3]);
        break;
    case ROW_GENERAL:
        check_pairs(w, p + 4, (uint64_t)p[1] + p[2] + p[3]);
        break;
    default:
        for (uint32_t i = 1; i <= refs[class]; i++) check_refs(w, p[i], count, 1);
        if (class == ROW_MAJ) {
            require(w, (p[4] & (REF_KIND | REF_NOT)) == REF_LOCAL,
                    "a majority that is not a variable of its template");
            check_refs(w, p[4], 2 * (uint64_t)count, 1);
        }
    }
    if (class == ROW_PICK || class == ROW_SUMS || class == ROW_GENERAL)
        require(w, count == 1, "several rows where one is meant");
    w->rows += class == ROW_MAJ ? 2 * (uint64_t)count : count;
}

static void check_rows(struct walk *w)
{
    const struct circuit_image *m = w->m;
    const struct circuit_template *c = w->c;
    if (!require(w, c->rows_begin <= c->rows_end && c->rows_end <= m->rows_size, "rows outside the file"))
        return;
    for (uint64_t i = c->rows_begin; i < c->rows_end;) {
        const uint32_t *p = m->rows + i;
        const uint64_t left = c->rows_end - i;
        const uint32_t class = p[0] & 0xff;
        if (class >= ROW_CLASS_COUNT || left < (class == ROW_GENERAL || class == ROW_SUMS ? 4 : 2) ||
            (class == ROW_CALL && p[1] >= w->id)) {
            require(w, false, "a row of no known class, or a call of a later template");
            return;
        }
        const uint64_t words = row_entry_words(m, p);
        if (!require(w, words <= left, "a row that ends behind its template")) return;
        check_row(w, p);
        i += words;
    }
    require(w, w->rows == c->row_count, "a number of rows other than stated");
}

/* -- steps -- */

static bool word_ok(struct walk *w, uint64_t reg)
{
    return require(w, reg < w->c->word_count, "a register that there is not");
}

static void number_ok(struct walk *w, uint32_t slot)
{
    const uint32_t imports = w->c->import_count - 32 * w->c->word_imports;
    require(w, slot & NUMBER_IMPORT ? (slot & ~NUMBER_IMPORT) < imports : slot < w->numbers,
            "a number that is not there yet");
}

static const uint32_t *arguments(struct walk *w, uint32_t at, uint64_t count)
{
    return require(w, at <= w->m->arguments_size && count <= w->m->arguments_size - at,
                   "arguments outside the file")
               ? w->m->arguments + at
               : NULL;
}

static void check_step_call(struct walk *w, const struct step *s)
{
    const struct circuit_image *m = w->m;
    if (!require(w, s->a < w->id && s->count <= 1 && (s->count == 0 || w->id + 1 == m->template_count),
                 "a call of a later template"))
        return;
    const struct circuit_template *callee = &m->templates[s->a];
    const uint32_t number_imports = callee->import_count - 32 * callee->word_imports;
    const uint32_t *p = arguments(w, s->b, CALL_WORDS);
    if (p == NULL) return;
    const uint32_t results = p[CALL_RESULTS];
    p = arguments(w, s->b, (uint64_t)CALL_WORDS + callee->word_imports + number_imports + results);
    if (p == NULL) return;
    require(w,
            (uint64_t)p[CALL_AUX] + callee->aux_count <= w->c->aux_count &&
                (uint64_t)p[CALL_INPUT] + callee->input_count <= w->c->input_count,
            "a call whose variables lie outside its caller's");
    require(w, p[CALL_AUX] == w->emitted + w->numbers + w->part_aux,
            "a call whose variables are not where it stands");
    p += CALL_WORDS;
    for (uint32_t i = 0; i < callee->word_imports; i++) word_ok(w, *p++);
    for (uint32_t i = 0; i < number_imports; i++) number_ok(w, *p++);
    for (uint32_t i = 0; i < results; i++)
        require(w, *p++ < callee->word_count, "a result that there is not");
    require(w, (uint64_t)s->dst + results <= w->c->word_count, "a register that there is not");
    w->below.steps += reach_callee(w, s->a)->steps;
    if (s->count != 0) {
        w->part_aux += callee->aux_count;
        return;
    }
    w->numbers += callee->number_count;
    w->emitted += callee->aux_count - callee->number_count;
    w->source_numbers += callee->source_numbers;
    w->source_words += callee->source_words;
}

static void check_gather(struct walk *w, const struct step *s)
{
    const uint32_t *p = arguments(w, s->a, s->count);
    unsigned bits = 0;
    if (p == NULL) return;
    switch (s->code) {
    case STEP_ADD:
        for (uint32_t i = 0; i < s->count; i++) word_ok(w, p[i]);
        word_ok(w, s->dst);
        require(w,
                s->count <= 8 && s->b <= 36 && ((uint64_t)s->negate << 32 | s->c) < 8ull << 32 &&
                    (((uint64_t)s->negate << 32 | s->c) + s->count * 0xffffffffull) >> s->b == 0,
                "a sum that does not fit its bits");
        w->emitted += s->b;
        break;
    case STEP_PACK:
        for (uint32_t i = 0; i < s->count; i++) word_ok(w, p[i]);
        require(w, s->count <= 8 && s->c <= 254 && s->c <= 32 * s->count,
                "more bits than a field element holds");
        w->numbers++;
        break;
    case STEP_PACK_INPUT:
        for (uint32_t i = 0; i < s->count; i++) {
            word_ok(w, p[i] & 0xffffff);
            require(w, p[i] >> 24 <= 32, "a run of more than 32 bits");
            bits += p[i] >> 24;
        }
        require(w, s->count <= PACK_WORDS && bits <= 253 && s->dst < w->c->input_count,
                "a public input that cannot be");
        break;
    default: {
        const struct poseidon_constants *c = poseidon_constants(s->count);
        for (uint32_t i = 0; i < s->count; i++) number_ok(w, p[i]);
        if (require(w, c != NULL, "a Poseidon of no known arity")) w->numbers += c->trace_count;
    }
    }
}

static void check_word_step(struct walk *w, const struct step *s)
{
    const unsigned bits = (unsigned)__builtin_popcountll(s->mask);
    word_ok(w, s->dst);
    word_ok(w, s->a);
    word_ok(w, s->b);
    word_ok(w, s->code == STEP_CH || s->code == STEP_MAJ ? s->c : 0);
    require(w,
            s->count == bits && (s->code == STEP_MAJ || s->mask <= UINT32_MAX) &&
                (s->code != STEP_AND || s->mask == 1),
            "a number of bits other than stated");
    require(w, s->rotate <= 0xffff && (s->rotate & 0xff) < 64 && s->rotate >> 8 < 64,
            "a rotation by more than a word");
    w->emitted += bits;
}

static void check_step(struct walk *w, const struct step *s)
{
    require(w, s->rotate == 0 || s->code == STEP_XOR || s->code == STEP_AND,
            "a rotation in a step that has none");
    switch (s->code) {
    case STEP_CONST:
        word_ok(w, s->dst);
        break;
    case STEP_BSWAP:
        word_ok(w, s->dst);
        word_ok(w, s->a);
        break;
    case STEP_XOR:
    case STEP_AND:
    case STEP_CH:
    case STEP_MAJ:
        check_word_step(w, s);
        break;
    case STEP_ADD:
    case STEP_PACK:
    case STEP_PACK_INPUT:
    case STEP_POSEIDON:
        check_gather(w, s);
        break;
    case STEP_SOURCE:
        w->source_numbers++;
        w->numbers++;
        break;
    case STEP_INDEX:
        word_ok(w, s->dst);
        require(w, s->count <= 32, "an index of more than 32 bits");
        w->source_words++;
        w->emitted += s->count;
        break;
    case STEP_TO_BITS:
        word_ok(w, (uint64_t)s->dst + 7);
        number_ok(w, s->a);
        w->emitted += 255;
        break;
    case STEP_SUM:
    case STEP_PICK:
        number_ok(w, s->a);
        number_ok(w, s->b);
        if (s->code == STEP_PICK) require(w, word_ok(w, s->dst) && s->c < 32, "a bit that there is not");
        w->numbers++;
        break;
    case STEP_INPUT:
        number_ok(w, s->a);
        require(w, s->dst < w->c->input_count, "a public input that there is not");
        break;
    case STEP_CALL:
        check_step_call(w, s);
        break;
    default:
        require(w, false, "a step of no known kind");
    }
}

static void check_steps(struct walk *w)
{
    const struct circuit_image *m = w->m;
    const struct circuit_template *c = w->c;
    if (!require(w, c->steps_begin <= c->steps_end && c->steps_end <= m->steps_size,
                 "steps outside the file"))
        return;
    for (uint64_t i = c->steps_begin; i < c->steps_end && w->wrong == NULL; i++) check_step(w, &m->steps[i]);
    require(w, w->numbers == c->number_count && w->emitted + w->numbers + w->part_aux == c->aux_count,
            "steps that do not compute the template's variables");
    require(w, w->source_numbers == c->source_numbers && w->source_words == c->source_words,
            "a statement of another size than stated");
}

static void check_numbers(struct walk *w)
{
    const struct circuit_image *m = w->m;
    const struct circuit_template *c = w->c;
    if (!require(w,
                 c->numbers_begin <= m->number_aux_size &&
                     c->number_count <= m->number_aux_size - c->numbers_begin,
                 "numbers outside the file"))
        return;
    for (uint64_t i = c->numbers_begin; i < c->numbers_begin + c->number_count; i++)
        require(w,
                m->number_aux[i] < c->aux_count &&
                    (i == c->numbers_begin || m->number_aux[i] > m->number_aux[i - 1]),
                "numbers out of order");
}

static void check_template(struct walk *w, struct reach *out)
{
    struct circuit_template *c = w->c;
    require(w, c->aux_count < REF_NOT && c->input_count < REF_NOT && c->word_count < 1u << 24,
            "more variables than references can name");
    require(w,
            c->word_imports <= c->word_count && 32ull * c->word_imports <= c->import_count &&
                c->import_count - 32 * c->word_imports <= MAX_NUMBER_IMPORTS &&
                memchr(c->name, 0, sizeof c->name) != NULL,
            "imports that do not add up");
    if (w->id + 1 == w->m->template_count)
        require(w, c->import_count == 0 && c->input_count >= 1, "a circuit with arguments");
    if (w->wrong == NULL) check_rows(w);
    if (w->wrong == NULL) check_steps(w);
    if (w->wrong == NULL) check_numbers(w);
    if (w->wrong != NULL) return;
    out->rows = w->below.rows + (c->rows_end - c->rows_begin);
    out->steps = w->below.steps + (c->steps_end - c->steps_begin) + 1;
    out->words = w->below.words + c->word_count;
    out->imports = w->below.imports + c->import_count;
    out->nesting = w->below.nesting + 1;
    require(w, out->rows <= EXPANSE_MAX && out->steps <= EXPANSE_MAX, "calls without end");
    require(w, out->nesting <= NESTING_MAX, "calls inside calls beyond measure");
    require(w, out->words <= REGISTERS_MAX && out->imports <= REGISTERS_MAX,
            "more registers, with those of its calls, than an interpreter keeps");
    c->depth_words = (uint32_t)out->words;
    c->depth_imports = (uint32_t)out->imports;
}

cuzk_status image_sound(struct circuit_image *m, struct task *t)
{
    if (m->template_count == 0 || m->coefficient_count < COEFFICIENT_BITS + 1)
        return FAIL(t, CUZK_MALFORMED, "a circuit image without templates or coefficients");
    for (uint32_t i = 0; i < m->coefficient_count; i++) {
        bls12_381_fr_int raw; /* Montgomery words obey the same bound; a zero would be a term that is none */
        memcpy(&raw, &m->coefficients[i], sizeof raw);
        if (!bls12_381_fr_int_is_canonical(&raw) || bls12_381_fr_is_zero(&m->coefficients[i]))
            return FAIL(t, CUZK_MALFORMED,
                        "coefficient %u of the circuit image is zero or not below the field's modulus", i);
    }
    struct reach *known = malloc(m->template_count * sizeof *known);
    if (known == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to check a circuit image");
    cuzk_status status = CUZK_OK;
    for (uint32_t i = 0; i < m->template_count && status == CUZK_OK; i++) {
        struct walk w = { .m = m, .c = &m->templates[i], .id = i, .known = known };
        check_template(&w, &known[i]);
        if (w.wrong != NULL)
            status = FAIL(t, CUZK_MALFORMED, "template %u of the circuit image has %s", i, w.wrong);
    }
    free(known);
    return status;
}
