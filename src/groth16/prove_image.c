/* Proving on a circuit that is an image, on a device that evaluates it: bits and numbers are all that a proof sends. */
#include "base/arena.h"
#include "groth16/chunks.h"
#include "groth16/prove_inside.h"
#include <string.h>

#define NUMBERS_CHUNK 16384 /* that one thread checks at a time */

bool prove_image_possible(const struct groth16_key *key, const struct backend *backend)
{
    return key->constraints != NULL && key->constraints->image != NULL && backend->image_eval != NULL;
}

/* The witness as it is sent, until the quotient needs the place. */
static size_t parts_of(struct image_values *out, const struct circuit_image *m, const struct buffer *in)
{
    const size_t numbers = arena_round(image_bits_bytes(m)),
                 inputs = numbers + arena_round(image_numbers_bytes(m)),
                 end = inputs + arena_round(image_inputs_bytes(m));

    if (in == NULL) return end;
    out->bits = buffer_piece(in, 0, image_bits_bytes(m));
    out->numbers = buffer_piece(in, numbers, image_numbers_bytes(m));
    out->inputs = buffer_piece(in, inputs, image_inputs_bytes(m));
    return end;
}

cuzk_status prove_image_plan(struct groth16_plan *plan, struct task *t, const struct groth16_key *key)
{
    const struct circuit_image *m = key->constraints->image;
    const size_t sent = parts_of(NULL, m, NULL);

    plan->on_image = true;
    if (plan->values_workspace_bytes < sent) plan->values_workspace_bytes = sent;
    return plan->backend->image_eval_plan(&plan->residence.image, t, plan->device, m, key->domain.size);
}

bool prove_image_splits(const struct groth16_plan *plan, enum groth16_query q)
{
    return plan->on_image && plan->rows[q].scalars == MSM_WITNESS;
}

cuzk_status prove_image_plan_sum(struct split_plan *out, struct task *t, const struct groth16_plan *plan,
                                 const struct groth16_key *key, enum groth16_query q, uint64_t count)
{
    const struct image_eval_plan *image = &plan->residence.image;

    return split_msm_plan(out, t, plan->backend, plan->device, key->curve, plan->rows[q].group, count, 1,
                          (uint64_t)image->number_count + image->input_count);
}

/* -- the witness ------------------------------------------------------------------------------------------------------- */

struct list {
    const struct curve *curve;
    const char *name;
    const uint8_t *values;
};

static cuzk_status check_list(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct list *l = context;
    struct fr_int v;

    for (uint64_t i = begin; i < end; i++) {
        memcpy(&v, l->values + 32 * i, sizeof v);
        if (!l->curve->fr.int_is_canonical(&v))
            return FAIL(t, CUZK_MALFORMED, "%s %llu of the witness is not below the field's modulus", l->name,
                        (unsigned long long)i);
    }
    return CUZK_OK;
}

cuzk_status prove_image_check(struct task *t, const struct groth16_key *key, const struct witness *w)
{
    const struct circuit_image *m = key->constraints->image;
    struct fr_int one = { { 1 } };
    struct witness_parts parts;

    if (w->assignment == NULL)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a witness without the circuit's assignment");
    key->constraints->parts(&parts, w);
    struct list numbers = { key->curve, "number", parts.numbers },
                inputs = { key->curve, "input", parts.inputs };
    TRY(chunks_run(t, NULL, m->number_total, NUMBERS_CHUNK, check_list, &numbers));
    TRY(check_list(t, &inputs, 0, image_circuit(m)->input_count));
    if (memcmp(parts.inputs, &one, sizeof one) != 0)
        return FAIL(t, CUZK_MALFORMED, "the witness does not begin with the constant 1");
    return CUZK_OK;
}

/* -- the values -------------------------------------------------------------------------------------------------------- */

cuzk_status prove_image_evaluate(struct task *t, const struct groth16_key *key, const struct groth16_plan *p,
                                 struct stream *stream, const struct witness *w,
                                 const struct prove_operands *ops, struct prove_workspace *ws)
{
    const struct circuit_image *m = key->constraints->image;
    const struct image_eval_plan *plan = &p->residence.image;
    const struct buffer *const tables = &ops->resident->tables;
    struct witness_parts parts;
    struct image_values values;

    key->constraints->parts(&parts, w);
    (void)parts_of(&values, m, &ws->values);
    TRY(p->backend->upload(stream, t, &values.bits, 0, parts.bits, image_bits_bytes(m)));
    TRY(p->backend->upload(stream, t, &values.numbers, 0, parts.numbers, image_numbers_bytes(m)));
    TRY(p->backend->upload(stream, t, &values.inputs, 0, parts.inputs, image_inputs_bytes(m)));
    TRY(p->backend->image_eval(stream, t, plan, &ws->a, &ws->b, tables, &values, NULL));
    TRY(p->backend->image_scalars(stream, t, plan, &ws->witness, tables, &values));
    return p->backend->stream_sync(stream, t);
}
