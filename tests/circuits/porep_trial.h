/* What the PoRep tests share. */
#ifndef CUZK_TESTS_POREP_TRIAL_H
#define CUZK_TESTS_POREP_TRIAL_H

#include "support/cm.h"

#include "base/bytes.h"
#include "circuits/porep/porep.h"
#include "circuits/porep/porep_seal.h"
#include <stdio.h>
#include <string.h>

static inline void must(const struct task *t, cuzk_status status)
{
    if (status != CUZK_OK) fail_msg("%s %s: %s", t->error.path, t->error.field, t->error.text);
}

static inline void hex_of(char out[65], const uint8_t bytes[32])
{
    for (int i = 0; i < 32; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static inline void from_hex(uint8_t *out, const char *hex, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned v;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
        out[i] = (uint8_t)v;
    }
}

/* A 2 KiB sector, or another small one, of miner 1000, sector 1, sealed from seed 7. */
static inline void sealed(struct c1 *out, struct task *t, unsigned registered)
{
    const struct porep_seal_request r = {
        .proof = registered_proof_by_number(registered), .miner = 1000, .sector = 1, .seed = 7
    };
    must(t, porep_seal(out, t, &r));
}

/* A circuit and room for a witness. */
struct proving {
    struct task t;
    struct porep_circuit circuit;
    struct assignment w;
};
void proving_open(struct proving *p, const struct porep_shape *shape);
void proving_close(struct proving *p);

/* The witness of a partition holds and its inputs are those that a verifier derives. */
void assert_partition(struct proving *p, const struct c1 *c1, unsigned partition);
void assert_same_proofs(const struct c1 *x, const struct c1 *y);

#endif
