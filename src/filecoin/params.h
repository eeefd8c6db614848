/* Parameter folders in the layout of FIL_PROOFS_PARAMETER_CACHE: files named by what they are parameters of. */
#ifndef CUZK_FILECOIN_PARAMS_H
#define CUZK_FILECOIN_PARAMS_H

#include "base/mapfile.h"
#include "formats/porep_shape.h"
#include "groth16/vk.h"
#include <limits.h>

/** Where parameters are looked for when no folder is given: $FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters. */
const char *params_folder_default(void);
/** The folder to use: given, or the default.  It must be there. */
cuzk_status params_folder_find(char out[PATH_MAX], struct task *t, const char *given) MUST_CHECK;

/** In  suffix  ".params" or ".vk" */
cuzk_status params_path(char out[PATH_MAX], struct task *t, const char *folder,
                        const struct porep_shape *shape, const char *suffix) MUST_CHECK;
/** Opens a parameter file of a folder, which must not be what a download leaves behind when it goes wrong. */
cuzk_status params_file_open(struct mapfile *out, struct task *t, const char *folder,
                             const struct porep_shape *shape, const char *suffix) MUST_CHECK;
/** The same, and checks its digest where the folder's parameters.json has it.
 * In  remember  whether a digest that was right before need not be computed again
 * Out known     NULL, or whether there was a digest to check */
cuzk_status params_file_open_checked(struct mapfile *out, struct task *t, const char *folder,
                                     const struct porep_shape *shape, const char *suffix, bool remember,
                                     bool *known) MUST_CHECK;
cuzk_status params_vk_open(struct groth16_vk *out, struct task *t, const char *folder,
                           const struct porep_shape *shape) MUST_CHECK;

/** Whether a folder says of itself that its keys are for development. */
bool params_folder_is_development(const char *folder);
/** Makes a folder for development keys, or refuses one that could hold others. */
cuzk_status params_folder_claim(struct task *t, const char *folder) MUST_CHECK;

#endif
