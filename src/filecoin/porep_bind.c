/* A PoRep circuit in the form in which set-up, key and prover take circuits. */
#include "filecoin/porep_bind.h"
#include <string.h>

struct walk {
    constraint_sink *sink;
    void *context;
    uint64_t rows; /* of the circuit proper */
    uint32_t inputs;
};

static cuzk_status walk_row(void *context, struct task *t, const struct expanded_row *row)
{
    const struct walk *w = context;
    struct constraint_term term = { .row = row->index };

    STATIC_ASSERT(sizeof(bls12_381_fr_t) == sizeof(struct fr), "both are four words in Montgomery form");
    if (row->index >= w->rows) return CUZK_OK; /* the rows that bind the inputs are implied */
    for (term.side = 0; term.side < 3; term.side++)
        for (uint32_t i = 0; i < row->count[term.side]; i++) {
            const struct row_term *p = &row->side[term.side][i];
            term.variable = p->var & VAR_AUX ? w->inputs + (p->var & ~VAR_AUX) : p->var;
            memcpy(&term.coefficient, expanded_coefficient(row, p->coefficient), sizeof term.coefficient);
            TRY(w->sink(w->context, t, &term));
        }
    return CUZK_OK;
}

static cuzk_status walk_circuit(const void *circuit, struct task *t, constraint_sink *sink,
                                void *sink_context)
{
    const struct porep_circuit *c = circuit;
    const struct circuit_template *whole = image_circuit(&c->image);
    struct walk w = { sink, sink_context, whole->row_count - whole->input_count, whole->input_count };

    return image_expand(&c->image, t, walk_row, &w);
}

static cuzk_status walk_piece(const void *circuit, struct task *t, uint32_t piece, struct constraint_own *own,
                              constraint_sink *sink, void *sink_context)
{
    const struct porep_circuit *c = circuit;
    const struct circuit_template *whole = image_circuit(&c->image);
    struct walk w = { sink, sink_context, whole->row_count - whole->input_count, whole->input_count };

    memset(own, 0, sizeof *own); /* of the circuit's own variables parts import some */
    if (piece > 0) {
        const struct circuit_part *p = &c->image.parts[piece - 1];
        const struct circuit_template *callee = &c->image.templates[p->template_id];
        own->inputs_begin = p->first_input;
        own->inputs_end = own->inputs_begin + callee->input_count;
        own->others_begin = whole->input_count + p->first_aux;
        own->others_end = own->others_begin + callee->aux_count;
    }
    return image_expand_part(&c->image, t, piece, walk_row, &w);
}

static cuzk_status evaluate_circuit(const void *circuit, struct task *t, struct fr *a, struct fr *b,
                                    const struct witness *w)
{
    const struct porep_circuit *c = circuit;

    return image_evaluate(&c->image, t, (bls12_381_fr_t *)(void *)a, (bls12_381_fr_t *)(void *)b,
                          w->assignment, &c->map);
}

static cuzk_status check_circuit(const void *circuit, struct task *t, const struct witness *w)
{
    const struct porep_circuit *c = circuit;

    return image_check(&c->image, t, w->assignment, &c->map);
}

static void parts_of(struct witness_parts *out, const struct witness *w)
{
    const struct assignment *a = w->assignment;

    out->bits = a->bits;
    out->numbers = a->numbers;
    out->inputs = a->inputs;
}

cuzk_status porep_bind(struct porep_binding *out, struct task *t, const struct porep_shape *shape)
{
    TRY(porep_circuit_open(&out->circuit, t, shape, NULL));
    const struct circuit_template *whole = image_circuit(&out->circuit.image);
    out->constraints.name = out->circuit.image.name;
    out->constraints.curve = &curve_bls12_381;
    out->constraints.variable_count = (uint64_t)whole->input_count + whole->aux_count;
    out->constraints.input_count = whole->input_count;
    out->constraints.row_count = whole->row_count - whole->input_count;
    out->constraints.circuit = &out->circuit;
    out->constraints.walk = walk_circuit;
    out->constraints.walk_piece = walk_piece;
    out->constraints.piece_count = out->circuit.image.part_count + 1;
    out->constraints.evaluate = evaluate_circuit;
    out->constraints.check = check_circuit;
    out->constraints.image = &out->circuit.image;
    out->constraints.parts = parts_of;
    return CUZK_OK;
}

void porep_unbind(struct porep_binding *b) { porep_circuit_close(&b->circuit); }
