/* PoRep partitions on a device that makes witnesses itself. */
#include "filecoin/porep_prover.h"
#include <stdlib.h>
#include <string.h>

static cuzk_status load(struct porep_prover *p, struct task *t)
{
    const struct backend *be = p->split->backend;
    struct stream *stream;

    TRY(be->stream_open(&stream, t, p->split->device));
    const cuzk_status status = key_split_load(p->split, t, stream, &p->plan.keep);
    be->stream_close(stream);
    return status;
}

static cuzk_status open_batch(struct porep_prover *p, struct task *t)
{
    p->input_count = porep_input_count(p->key->binding.circuit.shape) - 1;
    p->inputs = calloc((size_t)p->plan.partitions * p->input_count, sizeof *p->inputs);
    if (p->inputs == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for public inputs");
    return prove_batch_open(&p->batch, t, &p->plan);
}

cuzk_status porep_prover_open(struct porep_prover *out, struct task *t, const struct porep_key *key,
                              const struct backend *backend, struct device *device,
                              const struct batch_limits *limits)
{
    out->key = key;
    TRY(key_split_create(&out->split, t, key->key, backend, device));
    TRY(prove_batch_plan(&out->plan, t, out->split, limits));
    TRY(load(out, t));
    return open_batch(out, t);
}

cuzk_status porep_prover_beside(struct porep_prover *out, struct task *t, const struct porep_prover *first)
{
    out->key = first->key;
    out->split = first->split;
    out->plan = first->plan;
    out->beside = true;
    return open_batch(out, t);
}

void porep_prover_close(struct porep_prover *p)
{
    prove_batch_close(p->batch);
    if (!p->beside) key_split_destroy(p->split);
    free(p->inputs);
    memset(p, 0, sizeof *p);
}

/* -- a batch ----------------------------------------------------------------------------------------------------------- */

struct source {
    const struct porep_circuit *circuit;
    const struct c1 *c1;
};

static cuzk_status state(const void *context, struct task *t, unsigned number, uint8_t *out)
{
    const struct source *s = context;

    return porep_statement(s->circuit, t, out, s->c1, number);
}

cuzk_status porep_prover_begin(struct porep_prover *p, struct task *t, const struct c1 *c1,
                               const struct porep_public *public, const struct porep_share *share,
                               struct batch_times *times)
{
    unsigned partitions[BATCH_MOST];

    for (unsigned k = 0; k < share->count && k < BATCH_MOST; k++)
        partitions[k] = share->first + k * share->stride;
    return porep_prover_begin_these(p, t, c1, public, partitions, share->count, times);
}

cuzk_status porep_prover_begin_these(struct porep_prover *p, struct task *t, const struct c1 *c1,
                                     const struct porep_public *public, const unsigned *partitions,
                                     unsigned count, struct batch_times *times)
{
    const struct source source = { &p->key->binding.circuit,
                                   c1 }; /* statements are written before prove_batch_begin returns */

    if (c1->shape != source.circuit->shape)
        return FAIL(t, CUZK_MISMATCH, "the vanilla proofs are of a %s sector, the parameters for %s",
                    c1->shape->name, source.circuit->shape->name);
    if (count > p->plan.partitions)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "%u partitions; the batch was planned for %u", count,
                    p->plan.partitions);
    memset(p->items, 0, sizeof p->items);
    for (unsigned k = 0; k < count; k++) {
        struct batch_item *item = &p->items[k];
        struct fr_int *const inputs = p->inputs + k * p->input_count;
        item->number = partitions[k];
        item->state = state;
        item->context = &source;
        item->inputs = inputs;
        TRY(porep_proof_inputs(t, public, item->number, inputs));
    }
    p->count = count;
    return prove_batch_begin(p->batch, t, p->items, p->count, times);
}

cuzk_status porep_prover_end(struct porep_prover *p, struct task *t, uint8_t *proofs)
{
    cuzk_status status = CUZK_OK;

    TRY(prove_batch_end(p->batch, t, &p->key->verifier));
    for (unsigned k = 0; k < p->count; k++) {
        const struct batch_item *item = &p->items[k];
        const struct proof_points points = { item->proof.a, item->proof.b, item->proof.c };
        if (item->error.status == CUZK_OK) {
            proof_encode(proofs + (size_t)item->number * PROOF_BYTES, &points);
        } else if (status == CUZK_OK) {
            t->error = item->error;
            status = item->error.status;
        }
    }
    return status;
}
