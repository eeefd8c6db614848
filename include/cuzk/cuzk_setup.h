/* Development keys: a key from a circuit, made by one party with fresh toxic waste.  Never for production: whoever runs it, or
 * reads the memory of the machine that does, can forge proofs. */
#ifndef CUZK_CUZK_SETUP_H
#define CUZK_CUZK_SETUP_H

#include "cuzk/cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cuzk_layout {
    CUZK_LAYOUT_ZKEY = 1,    /* snarkjs: ten sections, gamma = 1, H points on the odd coset */
    CUZK_LAYOUT_BELLMAN = 2, /* bellman .params (BLS12-381): monomial H, queries without infinities */
} cuzk_layout;

typedef struct cuzk_setup_options {
    size_t size;
    cuzk_layout layout;
    const char *vk_path;       /* NULL, or where the verifying key goes: JSON for a zkey, .vk for bellman */
    const char *trapdoor_path; /* NULL, or where the secrets themselves go (mode 0600): for tests */
    const char *derived_path;  /* NULL, or where the derived form of the key goes too: cuzk_key_mode */
} cuzk_setup_options;
#define CUZK_SETUP_OPTIONS_INIT                                        \
    {                                                                  \
        sizeof(cuzk_setup_options), CUZK_LAYOUT_ZKEY, NULL, NULL, NULL \
    }

/** Makes an INSECURE key at key_path for the circuit at r1cs_path.
 * Errors  those of reading the circuit and writing the files; CUZK_UNSUPPORTED: bellman's layout for BN254; CUZK_TOO_LARGE: more
 *         rows than the field has a domain for. */
CUZK_CHECKED cuzk_status cuzk_setup_dev(cuzk_context *context, const char *r1cs_path, const char *key_path,
                                        const cuzk_setup_options *options, const cuzk_watch *watch,
                                        cuzk_error *error);

#ifdef __cplusplus
}
#endif
#endif
