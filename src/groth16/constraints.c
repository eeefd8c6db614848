/* A circuit file's constraints as groth16 takes them. */
#include "groth16/constraints.h"
#include "groth16/chunks.h"

static cuzk_status walk_r1cs(const void *circuit, struct task *t, constraint_sink *sink, void *sink_context)
{
    const struct r1cs_file *file = circuit;
    struct constraint_term out;
    struct r1cs_reader reader;
    struct r1cs_term term;
    bool end;

    r1cs_reader_init(&reader, file);
    for (;;) {
        TRY(r1cs_reader_next(&reader, t, &term, &end));
        if (end) return CUZK_OK;
        out.row = term.constraint;
        out.variable = term.wire;
        out.side = term.side;
        file->curve->fr.from_int(&out.coefficient, &term.value);
        TRY(sink(sink_context, t, &out));
    }
}

void constraints_of_r1cs(struct constraints *out, const struct r1cs_file *circuit)
{
    out->name = circuit->path;
    out->curve = circuit->curve;
    out->variable_count = circuit->n_wires;
    out->input_count = (uint64_t)circuit->n_public + 1;
    out->row_count = circuit->n_constraints;
    out->circuit = circuit;
    out->walk = walk_r1cs;
    out->walk_piece = NULL;
    out->piece_count = 0;
    out->evaluate = NULL;
    out->check = NULL;
    out->image = NULL;
    out->parts = NULL;
}

cuzk_status constraints_walk_piece(struct task *t, const struct constraints *c, uint32_t piece,
                                   struct constraint_own *own, constraint_sink *sink, void *sink_context)
{
    if (c->walk_piece != NULL) return c->walk_piece(c->circuit, t, piece, own, sink, sink_context);
    own->inputs_begin = own->inputs_end = own->others_begin = 0;
    own->others_end = UINT64_MAX;
    return c->walk(c->circuit, t, sink, sink_context);
}

struct walking {
    const struct constraints *circuit;
    const struct task *task;
    constraints_walk_body *body;
    void *context;
};

static cuzk_status walk_one(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct walking *w = context;
    struct task own;

    (void)end;
    task_init(&own);
    own.cancel = w->task->cancel;
    own.deadline_ns = w->task->deadline_ns;
    const cuzk_status status = w->body(w->context, &own, w->circuit, (uint32_t)begin);
    t->error = own.error;
    return status;
}

cuzk_status constraints_walk(struct task *t, const char *what, const struct constraints *c,
                             constraints_walk_body *body, void *context)
{
    struct walking w = { c, t, body, context };

    return chunks_run(t, what, constraints_pieces(c), 1, walk_one, &w);
}

unsigned constraints_domain_log2(const struct constraints *c)
{
    const uint64_t rows = c->row_count + c->input_count;
    unsigned log2 = 0;

    while ((1ull << log2) < rows) log2++;
    return log2;
}
