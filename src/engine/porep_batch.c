/* Partitions of one PoRep job in batches.
 *
 * What is measured without the key's lists of points (key_split_outline) is what a batch is then planned within: at most so many bytes of the
 * device, and of the host. */
#include "engine/porep_batch.h"
#include "base/log.h"
#include <stdlib.h>
#include <string.h>

STATIC_ASSERT((int)JOB_BATCH_MOST == (int)BATCH_MOST, "as many as a sweep serves");

#define ROUNDING ((uint64_t)1 << 20) /* what a plan within the bytes of another may lose to alignment */

/* -- what it takes ------------------------------------------------------------------------------------------------------ */

/* A size whose proofs have one partition has many in a proof that is not interactive. */
static unsigned partitions_of(const struct porep_shape *s)
{
    const unsigned n = s->partitions > 1 ? s->partitions : s->ni_partitions;

    return n < BATCH_MOST ? n : BATCH_MOST;
}

/* A proof by itself leaves multiples of points with the key, which serve batches too, and is there when one begins. */
static uint64_t tables_bytes(const struct groth16_plan *single, const struct groth16_key *key)
{
    struct key_residence points_alone = single->residence;

    memset(points_alone.table, 0, sizeof points_alone.table);
    return single->key_bytes - key_device_bytes(key, single->backend, &points_alone);
}

static void fill(struct circuit *c, const struct batch_plan *plan, const struct porep_key *key,
                 const struct groth16_plan *single, uint64_t memory)
{
    struct circuit_batch *b = &c->batch;
    const bool streams = plan->keep.streams;
    const uint64_t total =
        plan->total_bytes + ROUNDING <= memory ? plan->total_bytes + ROUNDING : plan->total_bytes;
    /* where points are sent the plan decides how many stay: all of it stays then */
    const uint64_t run = streams ? 0 : plan->block_bytes, stays = total - run,
                   tables = single->residence.points && !streams ? tables_bytes(single, key->key) : 0,
                   host = plan->host_bytes + (streams ? plan->host_bytes / 64 : 0),
                   statements = (uint64_t)plan->partitions * plan->statement_bytes;

    b->parts_most = plan->partitions;
    b->device_bytes = total;
    b->host_bytes = host + key->key->heap_bytes;
    b->beside = single->residence.points && !streams && stays + tables + single->block_bytes <= memory &&
                stays + tables + run <= memory;
    b->own_bytes = host - statements;
    b->key_bytes = c->key_bytes;
    /* where no proof by itself comes between, the files are read once, when the key is brought to the device */
    if (!b->beside) b->key_bytes.of[BYTES_HEAP] -= key->key->file.bytes.size + key->key->derived_file.bytes.size;
    b->key_bytes.of[BYTES_HEAP] += b->own_bytes;
    b->key_bytes.of[BYTES_DEVICE] = stays + (b->beside ? tables : 0);
    b->run_bytes.of[BYTES_DEVICE] = run;
    b->run_bytes.of[BYTES_HEAP] = statements + c1_bytes_most(key->binding.circuit.shape);
}

void porep_batch_measure(struct circuit *c, struct task *t, const struct porep_key *outline,
                         const struct groth16_plan *single, const struct place *place)
{
    struct batch_limits limits = { .partitions = partitions_of(outline->binding.circuit.shape),
                                   .sends = true };
    struct key_split *split = NULL;
    struct batch_plan plan;
    struct device_info info;
    struct task quiet;

    memset(&c->batch, 0, sizeof c->batch);
    if (!porep_prover_possible(place->backend)) return;
    place->backend->info(place->device, &info);
    if (info.memory_bytes <= place->spoken_for) return;
    limits.memory_bytes = info.memory_bytes - place->spoken_for;
    task_init(&quiet);
    quiet.pool = t->pool;
    cuzk_status status = key_split_outline(&split, &quiet, outline->key, place->backend, place->device);
    if (status == CUZK_OK) status = prove_batch_plan(&plan, &quiet, split, &limits);
    if (status == CUZK_OK) {
        fill(c, &plan, outline, single, limits.memory_bytes);
        log_info(t, "circuit %s: up to %u partitions are proved together, %s; for one by itself %s", c->name,
                 plan.partitions,
                 plan.keep.streams ? "with points that are sent" : "with all points on the device",
                 c->batch.beside ? "there is room beside" : "the key is loaded anew");
    } else {
        log_warn(t, "circuit %s: partitions are proved one by one: %s", c->name, quiet.error.text);
    }
    key_split_destroy(split);
}

/* -- places ------------------------------------------------------------------------------------------------------------- */

void porep_batches_init(struct porep_batches *b)
{
    memset(b, 0, sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
}

static void close_place(struct porep_batch_place *p)
{
    if (p->open) porep_prover_close(&p->prover);
    p->open = false;
}

void porep_batches_close(struct porep_batches *b)
{
    for (int i = 0; i < BUDGET_DEVICES_MOST; i++) close_place(&b->places[i]);
    pthread_mutex_destroy(&b->lock);
}

static cuzk_status take_place(struct porep_batch_place **out, struct porep_batches *b, struct task *t,
                              struct device *device)
{
    struct porep_batch_place *p = b->places, *const end = p + BUDGET_DEVICES_MOST;

    pthread_mutex_lock(&b->lock);
    while (p < end && p->device != NULL && p->device != device) p++;
    const bool free = p < end && !p->busy;
    if (free) {
        p->device = device;
        p->busy = true;
    }
    pthread_mutex_unlock(&b->lock);
    *out = p;
    return free ? CUZK_OK : FAIL(t, CUZK_NO_MEMORY, "another batch on this key is under way on the device");
}

static void give_place(struct porep_batches *b, struct porep_batch_place *p)
{
    pthread_mutex_lock(&b->lock);
    p->busy = false;
    pthread_mutex_unlock(&b->lock);
}

/* The key as proofs by themselves have it there, where both are to be: else each would bring its own. */
static cuzk_status bring_key(struct task *t, const struct porep_key *key, const struct place *place)
{
    const struct key_device *there;
    struct groth16_plan single;
    struct stream *stream;

    TRY(groth16_prove_plan(&single, t, key->key, place->backend, place->device));
    TRY(place->backend->stream_open(&stream, t, place->device));
    const cuzk_status status =
        key_device_take(&there, t, key->key, place->backend, place->device, stream, &single.residence);
    place->backend->stream_close(stream);
    return status;
}

static cuzk_status open_place(struct porep_batch_place *p, struct task *t, const struct porep_key *key,
                              const struct circuit_batch *how, const struct place *place)
{
    const struct batch_limits limits = { .partitions = how->parts_most,
                                         .memory_bytes = how->device_bytes,
                                         .host_bytes = how->host_bytes,
                                         .sends = true };

    if (p->open) return CUZK_OK;
    if (how->beside) TRY(bring_key(t, key, place));
    const cuzk_status status = porep_prover_open(&p->prover, t, key, place->backend, place->device, &limits);
    p->open = status == CUZK_OK;
    if (status != CUZK_OK) porep_prover_close(&p->prover);
    return status;
}

/* -- batches ------------------------------------------------------------------------------------------------------------ */

/* A partition that was not proved: what is wrong with its vanilla proofs is the request's fault; anything else is for an attempt of its own to
 * find out. */
static cuzk_status judge(struct task *t, const struct c1 *c1, const struct batch_item *item)
{
    TRY(porep_check_partition(c1, t, item->number));
    log_warn(t, "partition %u is not proved by a batch, and is tried by itself: %s", item->number,
             item->error.text);
    return CUZK_OK;
}

/* What does not verify although all that was asked is right has no points any more: its bytes are no proof either, so that the daemon's own
 * check counts it against the lane that made it. */
static cuzk_status take_proof(struct task *t, struct part_output *out, const struct batch_item *item)
{
    const struct proof_points points = { item->proof.a, item->proof.b, item->proof.c };

    out->proof = malloc(PROOF_BYTES);
    if (out->proof == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a proof");
    proof_encode(out->proof, &points);
    out->proof_bytes = PROOF_BYTES;
    return CUZK_OK;
}

static cuzk_status prove_some(struct porep_prover *p, struct task *t, struct part_output *out,
                              const struct c1 *c1, const struct porep_public *public, const unsigned *parts,
                              unsigned count)
{
    TRY(porep_prover_begin_these(p, t, c1, public, parts, count, NULL));
    TRY(prove_batch_end(p->batch, t, &p->key->verifier));
    for (unsigned i = 0; i < count; i++)
        if (p->items[i].error.status == CUZK_OK || p->items[i].wrong)
            TRY(take_proof(t, &out[i], &p->items[i]));
        else
            TRY(judge(t, c1, &p->items[i]));
    return CUZK_OK;
}

cuzk_status porep_batches_prove(struct porep_batches *b, struct task *t, struct part_output *out,
                                const struct porep_key *key, const struct circuit_batch *how,
                                const struct c1 *c1, const struct porep_public *public, const unsigned *parts,
                                unsigned count, const struct place *place)
{
    struct porep_batch_place *p;
    unsigned done = 0;

    TRY(take_place(&p, b, t, place->device));
    cuzk_status status = open_place(p, t, key, how, place);
    while (status == CUZK_OK && done < count) { /* the whole key may be planned for fewer than its outline */
        const unsigned left = count - done, most = p->prover.plan.partitions, now = left < most ? left : most;
        status = prove_some(&p->prover, t, out + done, c1, public, parts + done, now);
        done += now;
    }
    if (status != CUZK_OK && status != CUZK_CANCELLED && status != CUZK_MALFORMED && status != CUZK_MISMATCH)
        close_place(p); /* what it holds is in the way of proofs one by one */
    give_place(b, p);
    return status;
}
