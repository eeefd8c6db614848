/* A circuit file's constraints as groth16 takes them. */
#include "groth16/constraints.h"

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

unsigned constraints_domain_log2(const struct constraints *c)
{
    const uint64_t rows = c->row_count + c->input_count;
    unsigned log2 = 0;

    while ((1ull << log2) < rows) log2++;
    return log2;
}
