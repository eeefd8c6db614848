/* What the files of Filecoin's public surface share. */
#ifndef CUZK_API_API_FILECOIN_H
#define CUZK_API_API_FILECOIN_H

#include "api/api.h"
#include "circuits/porep/porep.h"
#include "cuzk/cuzk_filecoin.h"
#include "groth16/constraints.h"
#include <limits.h>

struct cuzk_c1 {
    struct c1 c1;
};

/* A PoRep circuit bound to what groth16 calls. */
struct porep_binding {
    struct porep_circuit circuit;
    struct constraints constraints; /* whose circuit is the one above: neither may move */
};

struct cuzk_porep_key {
    struct porep_binding binding;
    struct groth16_key *key;
    struct groth16_vk vk; /* of the .vk file, the same as the key's */
    struct groth16_verifier verifier;
    size_t shared_bytes;
    size_t proof_bytes; /* with the context that opened it */
    bool development, checked;
};

/** Cost  0.1 s.  Out: to be ended with porep_unbind, also on failure. */
cuzk_status porep_bind(struct porep_binding *out, struct task *t, const struct porep_shape *shape) MUST_CHECK;
void porep_unbind(struct porep_binding *b);

/* -- parameter folders -- */

/** The folder to use: given, or the default.  It must be there. */
cuzk_status params_folder_find(char out[PATH_MAX], struct task *t, const char *given) MUST_CHECK;
/** Opens a parameter file of a folder and checks its digest where the folder's parameters.json has it.
 * In  suffix  ".params" or ".vk"
 *     remember  whether a digest that was right before need not be computed again
 * Out known     NULL, or whether there was a digest to check */
cuzk_status params_file_open(struct mapfile *out, struct task *t, const char *folder,
                             const struct porep_shape *shape, const char *suffix, bool remember,
                             bool *known) MUST_CHECK;
cuzk_status params_vk_open(struct groth16_vk *out, struct task *t, const char *folder,
                           const struct porep_shape *shape) MUST_CHECK;
/** Whether a folder says of itself that its keys are for development. */
bool params_folder_is_development(const char *folder);
/** Makes a folder for development keys, or refuses one that could hold others. */
cuzk_status params_folder_claim(struct task *t, const char *folder) MUST_CHECK;
cuzk_status params_path(char out[PATH_MAX], struct task *t, const char *folder,
                        const struct porep_shape *shape, const char *suffix) MUST_CHECK;

/** The shape of a sector size with parameters, or CUZK_INVALID_ARGUMENT. */
cuzk_status porep_shape_need(const struct porep_shape **out, struct task *t,
                             uint64_t sector_bytes) MUST_CHECK;

/* -- proving -- */

/* Heap that a partition's witness takes: as the circuit makes it, and as the sums read it. */
struct porep_witness_room {
    size_t values_bytes, total_bytes;
};
void porep_witness_room(struct porep_witness_room *out, const struct circuit_image *image, unsigned width);

#endif
