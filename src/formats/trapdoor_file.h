/* The file with which a development set-up hands out its trapdoor: whoever has it can forge proofs. */
#ifndef CUZK_FORMATS_TRAPDOOR_FILE_H
#define CUZK_FORMATS_TRAPDOOR_FILE_H

#include "curve/curve.h"

struct trapdoor {
    const struct curve *curve;
    enum root_convention layout; /* of the key: ROOT_SNARKJS (.zkey) or ROOT_BELLMAN (.params) */
    struct fr_int tau, alpha, beta, gamma, delta; /* canonical, not zero; secret: wiped by the owner */
};

/** Writes path as JSON with a warning inside it, mode 0600.  Errors  CUZK_IO, CUZK_NO_MEMORY. */
cuzk_status trapdoor_file_write(struct task *t, const char *path, const struct trapdoor *secrets) MUST_CHECK;
/** Errors  CUZK_MALFORMED with file and field; out is wiped then. */
cuzk_status trapdoor_file_read(struct trapdoor *out, struct task *t, const char *path,
                               struct span text) MUST_CHECK;

#endif
