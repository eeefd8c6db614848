/* How long a proof on a key will take on a device, from rates measured before: to choose a device, and to tell. */
#ifndef CUZK_GROTH16_PREDICT_H
#define CUZK_GROTH16_PREDICT_H

#include "groth16/key.h"

struct groth16_prediction {
    double open_ms;  /* once: the device made ready, */
    double key_ms;   /* and the key brought there; both 0 on a CPU */
    double proof_ms; /* alone on the device, the witness full-size values: the hard case */
    double card_ms;  /* of it: from its constraints to its last sum; 0 on a CPU */
    double
        steady_ms; /* from one proof to the next when several are under way: what the device itself has to do */
};

/** Cost  none: nothing is opened or run.  Thread  any.
 * In  units  workers of a CPU, multiprocessors of a card */
void groth16_predict(struct groth16_prediction *out, const struct groth16_key *key, bool on_card,
                     unsigned units);

#endif
