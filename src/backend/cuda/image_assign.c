/* The witness of a circuit image on CUDA: the program in device memory, and what is enqueued for a statement. */
#include "backend/cuda/assign_kernels.h"
#include "backend/cuda/cuda_device.h"
#include "hash/poseidon.h"
#include "r1cs/image_program.h"

#include <stdlib.h>
#include <string.h>

STATIC_ASSERT(sizeof(struct program_op) == 48 && sizeof(struct word_op) == 40 && sizeof(struct word_function) == 36,
              "as the kernels read them");
STATIC_ASSERT(sizeof ((struct image_program *)0)->arity == ASSIGN_ARITIES, "a place for each arity");

/* Registers of a word function, for each of 32 lanes in the 48 KiB of shared memory that every block may have. */
enum { FUNCTION_REGISTERS_MAX = 384, ALIGN = 256 };

/* The tables, one behind the other. */
enum { OPS, ARGUMENTS, WORD_OPS, FUNCTIONS, GROUPS, STRANDS, SCOPES, IMPORTS, ITEMS, JOBS, POSEIDONS, CONSTANTS, TABLES };

/* What the constants of Poseidon become. */
struct constants {
    struct assign_poseidon place[ASSIGN_ARITIES];
    uint32_t count; /* elements */
};

static uint32_t add_constants(struct constants *c, uint8_t *out, const bls12_381_fr_t *from, size_t count)
{
    const uint32_t at = c->count;
    if (out) memcpy(out + at * sizeof *from, from, count * sizeof *from);
    c->count += (uint32_t)count;
    return at;
}

/* out: NULL, or room for all elements. */
static void list_constants(struct constants *c, uint8_t *out, const struct image_program *p)
{
    memset(c, 0, sizeof *c);
    for (unsigned arity = 0; arity < ASSIGN_ARITIES; arity++) {
        if (!p->arity[arity]) continue;
        const struct poseidon_constants *k = poseidon_constants(arity);
        struct assign_poseidon *to = &c->place[arity];
        to->width = k->width;
        to->partial_rounds = k->partial_rounds;
        to->keys = add_constants(c, out, k->keys, POSEIDON_FULL_ROUNDS * k->width + k->partial_rounds);
        to->mds = add_constants(c, out, k->mds, (size_t)k->width * k->width);
        to->pre = add_constants(c, out, k->pre, (size_t)k->width * k->width);
        to->sparse = add_constants(c, out, k->sparse, (size_t)k->partial_rounds * (2 * k->width - 1));
    }
}

static size_t round_up(size_t bytes) { return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1); }

/* Each table's data (Poseidon's are c's and constants'), and where it goes.  Returns the bytes of all. */
static size_t tables_of(struct span out[TABLES], size_t offset[TABLES], const struct image_program *p, const struct constants *c,
                        const uint8_t *constants)
{
    out[OPS] = span_of(p->ops, p->op_count * sizeof *p->ops);
    out[ARGUMENTS] = span_of(p->arguments, p->argument_count * sizeof *p->arguments);
    out[WORD_OPS] = span_of(p->word_ops, p->word_op_count * sizeof *p->word_ops);
    out[FUNCTIONS] = span_of(p->functions, p->function_count * sizeof *p->functions);
    out[GROUPS] = span_of(p->groups, p->group_count * sizeof *p->groups);
    out[STRANDS] = span_of(p->strands, p->strand_count * sizeof *p->strands);
    out[SCOPES] = span_of(p->scopes, p->scope_count * sizeof *p->scopes);
    out[IMPORTS] = span_of(p->imports, p->import_count * sizeof *p->imports);
    out[ITEMS] = span_of(p->items, p->item_count * sizeof *p->items);
    out[JOBS] = span_of(p->jobs, p->job_count * sizeof *p->jobs);
    out[POSEIDONS] = span_of(c->place, sizeof c->place);
    out[CONSTANTS] = span_of(constants, c->count * sizeof(bls12_381_fr_t));
    size_t at = 0;
    for (int i = 0; i < TABLES; i++) {
        offset[i] = at;
        at += round_up(out[i].size);
    }
    return at;
}

/* The workspace: flags, registers, the statement. */
static size_t words_offset(void) { return ALIGN; }
static size_t statement_offset(const struct image_program *p) { return words_offset() + round_up(p->word_total * sizeof(uint32_t)); }

cuzk_status cuda_image_assign_plan(struct image_assign_plan *out, struct task *t, const struct device *d, const struct image_program *p)
{
    struct constants c;
    struct span table[TABLES];
    size_t offset[TABLES];
    (void)d;
    if (p->function_registers > FUNCTION_REGISTERS_MAX)
        return FAIL(t, CUZK_UNSUPPORTED, "a word function of circuit %s needs %u registers at once, and the GPU has %d for it", p->image->name,
                    p->function_registers, FUNCTION_REGISTERS_MAX);
    list_constants(&c, NULL, p);
    memset(out, 0, sizeof *out);
    out->program_bytes = tables_of(table, offset, p, &c, NULL);
    out->statement_bytes = image_statement_bytes(p->image);
    out->workspace_bytes = statement_offset(p) + round_up(out->statement_bytes);
    return CUZK_OK;
}

cuzk_status cuda_image_program_upload(struct stream *s, struct task *t, struct buffer *programs, const struct image_program *p)
{
    struct constants c;
    struct span table[TABLES];
    size_t offset[TABLES];
    uint8_t *to;
    list_constants(&c, NULL, p);
    uint8_t *constants = malloc((size_t)c.count * sizeof(bls12_381_fr_t) + 1);
    if (!constants) return FAIL(t, CUZK_NO_MEMORY, "no memory for the constants of circuit %s", p->image->name);
    list_constants(&c, constants, p);
    cuzk_status status = cuda_range(t, s->device, programs, "the programs of a circuit", 0, tables_of(table, offset, p, &c, constants), &to);
    for (int i = 0; i < TABLES && status == CUZK_OK; i++) status = cuda_upload(s, t, to + offset[i], table[i].data, table[i].size);
    free(constants);
    return status;
}

static void view_tables(struct assign_tables *m, const uint8_t *from, const size_t offset[TABLES])
{
    const void *at[TABLES];
    for (int i = 0; i < TABLES; i++) at[i] = from + offset[i];
    m->ops = at[OPS];
    m->arguments = at[ARGUMENTS];
    m->word_ops = at[WORD_OPS];
    m->functions = at[FUNCTIONS];
    m->groups = at[GROUPS];
    m->strands = at[STRANDS];
    m->scopes = at[SCOPES];
    m->imports = at[IMPORTS];
    m->items = at[ITEMS];
    m->jobs = at[JOBS];
    m->poseidons = at[POSEIDONS];
    m->constants = at[CONSTANTS];
}

static cuzk_status finish(struct task *t, const struct device *d, const struct pending *p, const uint8_t *result)
{
    uint32_t flags;
    (void)d;
    (void)p;
    memcpy(&flags, result, sizeof flags);
    if (flags & ASSIGN_NOT_NATIVE)
        return FAIL(t, CUZK_INTERNAL, "a word function that was marked as SHA-256 computes something else");
    if (flags & ASSIGN_BAD_NUMBER) return FAIL(t, CUZK_MALFORMED, "a number of the statement is not below the field's modulus");
    if (flags & ASSIGN_BAD_INDEX) return FAIL(t, CUZK_MALFORMED, "an index of the statement exceeds its level's arity");
    return CUZK_OK;
}

/* The statement where the kernels can read it. */
static cuzk_status bring_statement(struct stream *s, struct task *t, struct assign_view *v, const struct image_program *p,
                                   const struct buffer *statement, uint8_t *copy)
{
    const size_t bytes = image_statement_bytes(p->image);
    if (statement->kind == MEM_DEVICE) {
        TRY(cuda_range(t, s->device, statement, "the statement of a witness", 0, bytes, &copy));
    } else if (statement->bytes < bytes) {
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a statement of %zu bytes, and circuit %s reads %zu", statement->bytes, p->image->name, bytes);
    } else {
        TRY(cuda_upload(s, t, copy, statement->data, bytes));
    }
    v->source_numbers = copy;
    v->source_words = (const uint32_t *)(const void *)(copy + image_statement_words(p->image));
    return CUZK_OK;
}

static cuzk_status launch_all(struct stream *s, struct task *t, const struct image_program *p, const struct assign_tables *m,
                              const struct assign_view *v)
{
    for (size_t i = 0; i < p->round_count; i++) {
        const struct program_round *r = &p->rounds[i];
        if (r->item_count == 0) continue;
        CU(t, assign_strands(m, v, r->first_item, r->item_count, r->wide != 0, p->function_registers, s->handle));
        TRY(task_poll(t));
    }
    if (p->job_count != 0) CU(t, assign_call_bits(m, v, (uint32_t)p->job_count, p->function_registers, s->handle));
    return CUZK_OK;
}

cuzk_status cuda_image_assign(struct stream *s, struct task *t, const struct image_assign_plan *plan, struct image_values *out,
                              const struct image_program *p, const struct buffer *programs, const struct buffer *statement,
                              struct buffer *workspace)
{
    const struct circuit_image *image = p->image;
    struct constants c;
    struct span table[TABLES];
    size_t offset[TABLES];
    struct assign_tables m;
    struct assign_view v;
    uint8_t *from, *ws, *bits, *numbers, *inputs, *result;
    list_constants(&c, NULL, p);
    TRY(cuda_range(t, s->device, programs, "the programs of a circuit", 0, tables_of(table, offset, p, &c, NULL), &from));
    TRY(cuda_range(t, s->device, workspace, "the workspace of a witness", 0, plan->workspace_bytes, &ws));
    TRY(cuda_range(t, s->device, &out->bits, "the bits of a witness", 0, image_bits_bytes(image), &bits));
    TRY(cuda_range(t, s->device, &out->numbers, "the numbers of a witness", 0, image_numbers_bytes(image), &numbers));
    TRY(cuda_range(t, s->device, &out->inputs, "the inputs of a witness", 0, image_inputs_bytes(image), &inputs));
    TRY(cuda_result_slot(s, t, &result));
    TRY(cuda_enter(t, s->device));
    view_tables(&m, from, offset);
    v.bits = (uint32_t *)(void *)bits;
    v.numbers = numbers;
    v.inputs = inputs;
    v.flags = (uint32_t *)(void *)ws;
    v.words = (uint32_t *)(void *)(ws + words_offset());
    CU(t, cudaMemsetAsync(bits, 0, image_bits_bytes(image), s->handle));
    CU(t, cudaMemsetAsync(inputs, 0, image_inputs_bytes(image), s->handle));
    CU(t, cudaMemsetAsync(inputs, 1, 1, s->handle)); /* the constant 1 */
    CU(t, cudaMemsetAsync(ws, 0, sizeof(uint32_t), s->handle));
    TRY(bring_statement(s, t, &v, p, statement, ws + statement_offset(p)));
    const cuzk_status status = launch_all(s, t, p, &m, &v);
    if (status == CUZK_OK) {
        CU(t, cudaMemcpyAsync(result, v.flags, sizeof *v.flags, cudaMemcpyDeviceToHost, s->handle));
        cuda_received(s, sizeof *v.flags);
        s->pending[s->pending_count++].finish = finish;
    }
    CU(t, cudaMemsetAsync(ws, 0, plan->workspace_bytes, s->handle)); /* registers and statement are secret */
    return status;
}
