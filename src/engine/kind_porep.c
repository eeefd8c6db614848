/* Jobs of kind "porep": the payload is the output of Commit Phase 1, the circuit that of a sector size with its parameters; one part a
 * partition.
 *
 * A part is synthesised (its vanilla proofs checked, its witness made: bits and field elements, small) and later proved (the witness
 * spread out as the sums read it).  The payload is read again for each part: that takes 0.1 s of 32 GiB's 37 MB, and keeps nothing
 * between parts.  What is verified is the bytes that leave, against inputs derived from miner, sector and the public members of the
 * payload.
 *
 * On a device that makes witnesses itself partitions are proved together instead, from the payload (porep_batch.h).
 *
 * At submit the payload is read to its end, so one that is not a C1 output, or of another sector, is refused there; a value in it that
 * is wrong makes the job fail when the partition is synthesised, and is named. */
#include "engine/engine.h"
#include "engine/job_kind.h"
#include "engine/param_circuits.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/pool.h"
#include "engine/porep_batch.h"
#include "groth16/chunks.h"
#include "groth16/key_check.h"
#include "groth16/prove.h"
#include <stdlib.h>
#include <string.h>

/* A key as loaded. */
struct porep_loaded {
    struct porep_key key; /* first: whoever needs no more takes it for this */
    struct porep_batches batches;
};

/* -- keys --------------------------------------------------------------------------------------------------------------- */

static cuzk_status shape_of(const struct porep_shape **out, struct task *t, const struct circuit *c)
{
    for (size_t i = 0; i < PARAM_CIRCUIT_COUNT; i++)
        if (strcmp(c->name, param_circuits[i].name) == 0) {
            *out = porep_shape_by_bytes(param_circuits[i].sector_bytes);
            return CUZK_OK;
        }
    const cuzk_status status =
        FAIL(t, CUZK_INVALID_ARGUMENT, "a circuit of kind porep cannot be named %s", c->name);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "circuits",
                    "there are porep-2k, porep-8m, porep-512m, porep-32g and porep-64g");
    return status;
}

/* The heap, and the file's pages: each proof reads all points. */
static uint64_t key_bytes(const struct porep_key *k)
{
    return k->shared_bytes + k->key->file.bytes.size + k->key->derived_file.bytes.size;
}

static cuzk_status porep_measure(struct task *t, struct circuit *c, const struct place *place)
{
    const struct porep_shape *shape = NULL;
    struct porep_key key = { .checked = false };
    struct groth16_plan plan;
    struct porep_room room;
    cuzk_status status;

    TRY(shape_of(&shape, t, c));
    TRY_GOTO(out, porep_key_outline(&key, t, shape, c->key_path, c->key_mode));
    kind_chosen(c, t, key.key, &key.derived_refused);
    TRY_GOTO(out, groth16_prove_plan(&plan, t, key.key, place->backend, place->device));
    porep_proof_room(&room, &key.binding.circuit.image, pool_width(t->pool));
    /* while it is opened, two marks a variable */
    c->key_bytes.of[BYTES_HEAP] = key_bytes(&key) + 2 * key.key->variable_count;
    c->key_own_bytes = key.shared_bytes + 2 * key.key->variable_count;
    c->carry_bytes.of[BYTES_HEAP] = room.assignment_bytes;
    c->synthesis_bytes.of[BYTES_HEAP] = room.assignment_bytes + c1_bytes_most(shape);
    c->prove_bytes.of[BYTES_HEAP] = plan.on_image ? 0 : arena_round(room.values_bytes);
    kind_add_plan(c, &plan);
    kind_table(c, key.key);
    c->note = shape->sector_bytes;
    porep_batch_measure(c, t, &key, &plan, place);
out:
    porep_key_close(&key);
    return status;
}

static cuzk_status porep_load(struct task *t, void **out, struct bytes *bytes, const struct circuit *c)
{
    struct porep_loaded *loaded = calloc(1, sizeof *loaded);

    if (loaded == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key");
    struct porep_key *k = &loaded->key;
    const cuzk_status status =
        porep_key_open(k, t, porep_shape_by_bytes(c->note), c->key_path, c->key_mode, 0);
    if (status != CUZK_OK) {
        porep_key_close(k);
        free(loaded);
        return status;
    }
    porep_batches_init(&loaded->batches);
    if (k->development)
        log_warn(
            t,
            "the parameters of %s are development keys: no chain accepts its proofs, and they prove nothing",
            c->name);
    memset(bytes, 0, sizeof *bytes);
    bytes->of[BYTES_HEAP] = key_bytes(k);
    *out = loaded;
    return CUZK_OK;
}

static void porep_unload(void *key)
{
    struct porep_loaded *loaded = key;

    porep_batches_close(&loaded->batches);
    porep_key_close(&loaded->key);
    free(loaded);
}

/* -- the request -------------------------------------------------------------------------------------------------------- */

struct porep_request {
    uint64_t registered_proof, sector, miner;
};

static cuzk_status foreign(struct task *t, const char *field, const char *whose)
{
    const cuzk_status status = FAIL(
        t, CUZK_INVALID_ARGUMENT,
        "%s belongs to %s; a PoRep job proves all its partitions from vanilla_proof alone", field, whose);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, field, NULL);
    return status;
}

static cuzk_status read_parameters(struct task *t, struct porep_request *out, struct span p)
{
    static const struct {
        size_t at;
        const char *name, *whose;
    } others[] = {
        { FILECOIN_AT_RANDOMNESS, "randomness", "PoSt" },
        { FILECOIN_AT_COMM_R_OLD, "comm_r_old", "SnapDeals" },
        { FILECOIN_AT_COMM_R_NEW, "comm_r_new", "SnapDeals" },
        { FILECOIN_AT_COMM_D_NEW, "comm_d_new", "SnapDeals" },
    };
    static const uint8_t zero[32];

    if (p.size != FILECOIN_PARAMETERS_BYTES)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "a porep job has %d bytes of parameters, not %zu",
                    FILECOIN_PARAMETERS_BYTES, p.size);
    out->registered_proof = load_le64(p.data + FILECOIN_AT_REGISTERED_PROOF);
    out->sector = load_le64(p.data + FILECOIN_AT_SECTOR);
    out->miner = load_le64(p.data + FILECOIN_AT_MINER);
    if (load_le64(p.data + FILECOIN_AT_PARTITION) != 0) return foreign(t, "partition_index", "PoSt");
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (memcmp(p.data + others[i].at, zero, sizeof zero) != 0)
            return foreign(t, others[i].name, others[i].whose);
    return CUZK_OK;
}

/* 0 is also what a client sends that says nothing. */
static cuzk_status check_proof_type(struct task *t, const struct c1 *c1, uint64_t number)
{
    if (number == 0 || number == c1->proof->number) return CUZK_OK;
    const struct registered_proof *r =
        number < REGISTERED_PROOF_COUNT ? registered_proof_by_number((unsigned)number) : NULL;
    const cuzk_status status =
        r != NULL
            ? FAIL(t, CUZK_MISMATCH, "registered_proof is %llu, %s, but the vanilla proofs are of %s (%u)",
                   (unsigned long long)number, r->name, c1->proof->name, c1->proof->number)
            : FAIL(t, CUZK_INVALID_ARGUMENT,
                   "there is no registered_proof %llu; the vanilla proofs are of %s (%u)",
                   (unsigned long long)number, c1->proof->name, c1->proof->number);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "registered_proof", NULL);
    return status;
}

static cuzk_status check_request(struct task *t, const struct c1 *c1, const struct circuit *c,
                                 const struct porep_request *r)
{
    if (c1->shape->sector_bytes != c->note) {
        const cuzk_status status = FAIL(t, CUZK_MISMATCH, "the vanilla proofs are of a %s sector, not of %s",
                                        c1->shape->name, c->name);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "sector_size", NULL);
        return status;
    }
    TRY(check_proof_type(t, c1, r->registered_proof));
    return porep_check_identity(c1, t, r->miner, r->sector);
}

static cuzk_status porep_validate(struct task *t, unsigned *part_count, const struct circuit *c,
                                  struct span parameters, struct span payload)
{
    struct porep_request request;
    struct c1 c1;

    TRY(read_parameters(t, &request, parameters));
    TRY(c1_read(&c1, t, payload, NULL));
    const cuzk_status status = check_request(t, &c1, c, &request);
    *part_count = c1.partitions;
    c1_fini(&c1);
    return status;
}

/* -- a partition -------------------------------------------------------------------------------------------------------- */

struct carry {
    struct assignment assignment;
    struct porep_public public; /* derived from miner, sector and the payload's public members */
    bool viewed; /* the assignment is somebody else's memory */
};

static void porep_carry_free(void *carry)
{
    struct carry *k = carry;

    if (k == NULL) return;
    if (!k->viewed) assignment_fini(&k->assignment);
    free(k);
}

/* Inputs, numbers and bits, as they lie in memory: the other process is this program too.  The public members are for the verifier only. */
static size_t porep_carry_size(const void *carry)
{
    const struct assignment *a = &((const struct carry *)carry)->assignment;

    return a->inputs_bytes + a->numbers_bytes + a->bits_bytes;
}

static void porep_carry_write(uint8_t *out, const void *carry)
{
    const struct assignment *a = &((const struct carry *)carry)->assignment;

    memcpy(out, a->inputs, a->inputs_bytes);
    memcpy(out + a->inputs_bytes, a->numbers, a->numbers_bytes);
    memcpy(out + a->inputs_bytes + a->numbers_bytes, a->bits, a->bits_bytes);
}

static cuzk_status porep_carry_view(struct task *t, void **out, const void *key, struct span bytes)
{
    struct carry *k = calloc(1, sizeof *k);

    if (k == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a partition");
    k->viewed = true;
    const cuzk_status status =
        assignment_view(&k->assignment, t, &((const struct porep_key *)key)->binding.circuit.image, bytes);
    if (status == CUZK_OK)
        *out = k;
    else
        porep_carry_free(k);
    return status;
}

static cuzk_status make_witness(struct task *t, struct carry *k, const struct part_input *in,
                                const struct c1 *c1, const struct porep_request *r)
{
    const struct porep_circuit *circuit = &((struct porep_key *)in->key)->binding.circuit;
    struct porep_statement statement;

    TRY(check_request(t, c1, in->circuit, r));
    TRY(porep_check_partition(c1, t, in->part));
    porep_proof_statement(&statement, c1, r->miner, r->sector);
    porep_proof_derive(&k->public, &statement);
    TRY(assignment_create(&k->assignment, t, &circuit->image));
    TRY(porep_assign(circuit, t, &k->assignment, c1, in->part));
    return porep_proof_check_inputs(t, &k->public, in->part, k->assignment.inputs, "");
}

static cuzk_status porep_synthesise(struct task *t, void **out, const struct part_input *in)
{
    struct carry *k = calloc(1, sizeof *k);
    struct porep_request request;
    struct c1 c1 = { .proof = NULL };
    cuzk_status status;

    if (k == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a partition");
    TRY_GOTO(out, read_parameters(t, &request, in->parameters));
    TRY_GOTO(out, c1_read(&c1, t, in->payload, NULL));
    TRY_GOTO(out, make_witness(t, k, in, &c1, &request));
    *out = k;
out:
    c1_fini(&c1);
    if (status != CUZK_OK) porep_carry_free(k);
    return status;
}

static cuzk_status prove_values(struct task *t, struct part_output *out, const struct part_input *in,
                                const struct carry *k, const struct groth16_plan *plan, struct arena *memory,
                                size_t values_bytes)
{
    const struct porep_key *key = in->key;
    struct groth16_timings timings = { 0 };
    struct groth16_proof proof;
    void *values = NULL;

    if (!plan->on_image) {
        TRY(arena_take(memory, t, &values, values_bytes));
        porep_witness(&key->binding.circuit, &k->assignment, values);
    }
    const struct witness w = { .curve = &curve_bls12_381,
                               .count = key->key->variable_count,
                               .values = span_of(values, plan->on_image ? 0 : 32 * key->key->variable_count),
                               .assignment = &k->assignment };
    TRY(groth16_prove(t, &proof, key->key, plan, &w, &timings));
    out->proof = malloc(PROOF_BYTES);
    if (out->proof == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a proof");
    const struct proof_points points = { proof.a, proof.b, proof.c };
    proof_encode(out->proof, &points);
    out->proof_bytes = PROOF_BYTES;
    return CUZK_OK;
}

static cuzk_status porep_prove(struct task *t, struct part_output *out, const struct part_input *in,
                               void *carry, const struct place *place, const struct bytes *granted)
{
    const struct porep_key *key = in->key;
    struct arena memory = { 0 };
    struct groth16_plan plan;
    struct porep_room room;

    TRY(groth16_prove_plan(&plan, t, key->key, place->backend, place->device));
    porep_proof_room(&room, &key->binding.circuit.image, pool_width(t->pool));
    if (plan.on_image) room.values_bytes = 0;
    TRY(kind_check_grant(t, &plan, arena_round(room.values_bytes), granted));
    plan.block = place->block;
    if (!plan.on_image) TRY(arena_open(&memory, t, arena_round(room.values_bytes), ARENA_SECRET));
    const cuzk_status status = prove_values(t, out, in, carry, &plan, &memory, room.values_bytes);
    arena_close(&memory);
    return status;
}

static cuzk_status porep_verify(struct task *t, struct part_output *out, const struct part_input *in,
                                void *carry)
{
    const struct porep_key *key = in->key;
    const struct porep_circuit *circuit = &key->binding.circuit;
    const struct carry *k = carry;
    struct task quiet; /* the verifier's own words would hide the reason */

    task_init(&quiet);
    const cuzk_status verdict = porep_proof_verify(&quiet, &key->verifier, &k->public, in->part, 1,
                                                   span_of(out->proof, out->proof_bytes));
    if (verdict == CUZK_OK) return CUZK_OK;
    if (verdict != CUZK_PROOF_INVALID && verdict != CUZK_MALFORMED) {
        t->error = quiet.error;
        return verdict;
    }
    TRY(image_check(&circuit->image, t, &k->assignment, &circuit->map));
    TRY(groth16_key_check_contents(t, key->key));
    return FAIL(t, CUZK_PROOF_INVALID, "the proof of partition %u does not verify", in->part);
}

/* -- partitions together ------------------------------------------------------------------------------------------------ */

/* What all partitions of a payload are proved and verified for.  c1: to be ended with c1_fini, also on failure. */
static cuzk_status read_payload(struct task *t, struct c1 *c1, struct porep_public *public, const struct part_input *in)
{
    struct porep_request request;
    struct porep_statement statement;

    TRY(read_parameters(t, &request, in->parameters));
    TRY(c1_read(c1, t, in->payload, NULL));
    TRY(check_request(t, c1, in->circuit, &request));
    porep_proof_statement(&statement, c1, request.miner, request.sector);
    porep_proof_derive(public, &statement);
    return CUZK_OK;
}

static cuzk_status porep_prove_parts(struct task *t, struct part_output *out, const struct part_input *in,
                                     const unsigned *parts, unsigned count, const struct place *place,
                                     const struct bytes *granted)
{
    struct porep_loaded *loaded = in->key;
    struct c1 c1 = { .proof = NULL };
    struct porep_public public;

    (void)granted; /* it and the key's share are what in->circuit->batch says, within which the batch is planned */
    cuzk_status status = read_payload(t, &c1, &public, in);
    for (unsigned i = 0; status == CUZK_OK && i < count; i++)
        if (parts[i] >= c1.partitions) status = FAIL(t, CUZK_INVALID_ARGUMENT, "there is no partition %u", parts[i]);
    if (status == CUZK_OK)
        status = porep_batches_prove(&loaded->batches, t, out, &loaded->key, &in->circuit->batch, &c1, &public, parts,
                                     count, place);
    c1_fini(&c1);
    return status;
}

struct verifying {
    const struct porep_key *key;
    const struct porep_public *public;
    const struct part_output *out;
    const unsigned *parts;
    atomic_uint wrong;
};

static cuzk_status verify_some(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    struct verifying *v = context;

    for (uint64_t i = begin; i < end; i++) {
        const struct span proof = span_of(v->out[i].proof, v->out[i].proof_bytes);
        struct task quiet;
        task_init(&quiet);
        if (proof.data == NULL) continue;
        const cuzk_status verdict = porep_proof_verify(&quiet, &v->key->verifier, v->public, v->parts[i], 1, proof);
        if (verdict == CUZK_PROOF_INVALID || verdict == CUZK_MALFORMED) {
            atomic_fetch_or(&v->wrong, 1u << i);
        } else if (verdict != CUZK_OK) {
            t->error = quiet.error;
            return verdict;
        }
    }
    return CUZK_OK;
}

static cuzk_status porep_verify_parts(struct task *t, unsigned *wrong, const struct part_output *out,
                                      const struct part_input *in, const unsigned *parts, unsigned count)
{
    struct porep_public public;
    struct verifying v = { .key = in->key, .public = &public, .out = out, .parts = parts };
    struct c1 c1 = { .proof = NULL };

    atomic_init(&v.wrong, 0);
    cuzk_status status = read_payload(t, &c1, &public, in);
    c1_fini(&c1);
    if (status == CUZK_OK) status = chunks_run(t, NULL, count, 1, verify_some, &v);
    *wrong = atomic_load(&v.wrong);
    return status;
}

static cuzk_status porep_assemble(struct task *t, struct part_output *out, const struct circuit *c,
                                  const struct part_output *parts, unsigned part_count)
{
    (void)c;
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < part_count; i++)
        if (parts[i].proof_bytes != PROOF_BYTES)
            return FAIL(t, CUZK_INTERNAL, "the proof of partition %u has %zu bytes", i, parts[i].proof_bytes);
    out->proof = malloc((size_t)part_count * PROOF_BYTES);
    if (out->proof == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a result");
    for (unsigned i = 0; i < part_count; i++)
        memcpy(out->proof + (size_t)i * PROOF_BYTES, parts[i].proof, PROOF_BYTES);
    out->proof_bytes = (size_t)part_count * PROOF_BYTES;
    return CUZK_OK;
}

static cuzk_status porep_key_intact(struct task *t, const void *key)
{
    return groth16_key_check_files(t, ((const struct porep_key *)key)->key);
}

static uint64_t porep_key_mark(const void *key)
{
    return kind_key_mark(((const struct porep_key *)key)->key);
}

const struct job_kind kind_porep = {
    .name = "porep",
    .durable = true,
    .has_synthesis = true,
    .measure = porep_measure,
    .load = porep_load,
    .unload = porep_unload,
    .validate = porep_validate,
    .synthesise = porep_synthesise,
    .carry_free = porep_carry_free,
    .carry_size = porep_carry_size,
    .carry_write = porep_carry_write,
    .carry_view = porep_carry_view,
    .prove = porep_prove,
    .verify = porep_verify,
    .prove_parts = porep_prove_parts,
    .verify_parts = porep_verify_parts,
    .key_intact = porep_key_intact,
    .key_mark = porep_key_mark,
    .assemble = porep_assemble,
};
