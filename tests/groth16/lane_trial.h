/* A key, its witness and the oracle's proof for fixed (r, s); and many proofs of it at a time, over lanes. */
#ifndef CUZK_TESTS_LANE_TRIAL_H
#define CUZK_TESTS_LANE_TRIAL_H

#include "groth16/prove_lanes.h"
#include "support/proving.h"

struct lane_trial {
    struct proving proving; /* on the CPU: set-up and the oracle */
    struct random_circuit circuit;
    struct r1cs_file parsed;
    struct trapdoor secrets;
    struct groth16_key *key;
    struct groth16_blinding blinding;
    struct groth16_proof expected;
};

void lane_trial_open(struct lane_trial *m, const struct curve *c, uint32_t constraints);
void lane_trial_close(struct lane_trial *m);
/** Frees the key and opens it again: what it had on devices is given back. */
void lane_trial_key_again(struct lane_trial *m);

struct lane_run {
    struct lanes_options options;
    unsigned threads, proofs; /* proofs of all threads together */
    bool may_fail; /* a proof may end with an error, which is counted; otherwise that ends the program */
    unsigned right, failed; /* out */
    struct lanes_report report;
};

/** Proves on the device; a proof that is not the oracle's, byte for byte, ends the program. */
void lane_trial_run(struct lane_trial *m, struct lane_run *r, const struct backend *backend,
                    struct device *device);

#endif
