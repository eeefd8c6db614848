/* Proving as everybody but the tests calls it: no proof leaves unverified. */
#include "groth16/prove_verified.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "groth16/key_check.h"
#include <stdlib.h>
#include <string.h>

static void public_inputs(struct fr_int *out, const struct groth16_key *key, const struct witness *w)
{
    struct witness_parts parts;

    if (w->values.data != NULL) {
        for (uint64_t i = 0; i < key->public_count; i++) witness_get(w, &out[i], i + 1);
        return;
    }
    key->constraints->parts(&parts, w);
    memcpy(out, (const uint8_t *)parts.inputs + sizeof *out, key->public_count * sizeof *out);
}

/* Why a proof made from w does not verify, as far as it can be told. */
static cuzk_status explain(struct task *t, const struct groth16_key *key, const struct witness *w)
{
    cuzk_status status;
    uint64_t row;

    TRY(groth16_key_check_files(t, key));
    if (key->constraints != NULL) {
        TRY(key->constraints->check(key->constraints->circuit, t, w));
        TRY(groth16_key_check_contents(t, key));
        status = FAIL(
            t, CUZK_KEY_INVALID,
            "the witness satisfies every constraint of %s, yet the proof does not verify: the key is damaged "
            "or of another circuit",
            key->constraints->name);
        task_fail_place(t, key->file.path, ERROR_NO_OFFSET, NULL, "check the key, or fetch it again");
        return status;
    }
    if (key->r1cs.bytes.data == NULL) {
        TRY(groth16_key_check_contents(t, key));
        status = FAIL(
            t, CUZK_UNSATISFIED,
            "the proof made from this witness does not verify: the witness does not satisfy the circuit, "
            "or the key is damaged");
        task_fail_place(t, key->file.path, ERROR_NO_OFFSET, NULL,
                        "compute the witness again with the circuit of this key; check the key; give the "
                        "circuit's .r1cs to learn the row");
        return status;
    }
    TRY(groth16_key_first_unsatisfied(t, key, &row, w));
    if (row < key->row_count) {
        status = FAIL(t, CUZK_UNSATISFIED, "the witness does not satisfy constraint %llu of %llu",
                      (unsigned long long)row, (unsigned long long)key->circuit.n_constraints);
        task_fail_place(t, key->r1cs.path, ERROR_NO_OFFSET, "constraints",
                        "compute the witness again, with this very circuit");
        return status;
    }
    TRY(groth16_key_check_contents(t, key));
    status =
        FAIL(t, CUZK_KEY_INVALID,
             "the witness satisfies every constraint, yet the proof does not verify: the key is damaged or "
             "of another circuit");
    task_fail_place(t, key->file.path, ERROR_NO_OFFSET, NULL, "check the key, or fetch it again");
    return status;
}

cuzk_status groth16_prove_verified(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                   const struct groth16_plan *plan, const struct groth16_verifier *verifier,
                                   const struct witness *w, struct groth16_timings *timings)
{
    struct fr_int *inputs = calloc(key->public_count + 1, sizeof *inputs);
    struct groth16_ahead ahead;
    struct task quiet; /* the verifier's own words would hide the reason */
    cuzk_status status;

    if (inputs == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for %llu public inputs",
                      (unsigned long long)key->public_count);
        goto out;
    }
    if (w->curve == key->curve && w->count == key->variable_count) public_inputs(inputs, key, w);
    groth16_ahead_init(&ahead, verifier, inputs, key->public_count);
    TRY_GOTO(out, groth16_prove_ahead(t, out, key, plan, w, timings, &ahead));
    const uint64_t start_ns = clock_now_ns();
    task_init(&quiet);
    const cuzk_status verdict = groth16_verify_rest(&quiet, &ahead, out);
    if (verdict == CUZK_PROOF_INVALID) {
        status = explain(t, key, w);
    } else if (verdict != CUZK_OK) {
        t->error = quiet.error;
        status = verdict;
    }
    timings->verify_ms = clock_ms_since(start_ns);
out:
    if (status != CUZK_OK) wipe(out, sizeof *out);
    free(inputs);
    return status;
}
