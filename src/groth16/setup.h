/* Development keys: a key for a circuit from toxic waste that this process knows.  Not for production. */
#ifndef CUZK_GROTH16_SETUP_H
#define CUZK_GROTH16_SETUP_H

#include "formats/trapdoor_file.h"
#include "groth16/key.h"
#include "groth16/setup_scalars.h"

/** Draws the five secrets from the operating system.  Out: to be wiped.  ROOT_SNARKJS: gamma is 1, as snarkjs's keys have it. */
cuzk_status groth16_setup_draw(struct task *t, struct trapdoor *out, const struct curve *c,
                               enum root_convention layout) MUST_CHECK;

/* Where the files of a key go; NULL: not written. */
struct groth16_setup_paths {
    const char *key; /* not NULL */
    const char *vk;  /* the verifying key: JSON for a .zkey, bellman's layout for .params */
    const char
        *derived; /* the derived key (groth16/key_derived.h), from the secrets instead of by transforms */
};

/** Writes the key of circuit under secrets, and what goes with it, each file whole or not at all, the key last.
 * In      secrets->layout  which key is made;  backend, device  where the points are made, any of them
 * Errors  CUZK_TOO_LARGE (more rows than a domain can have), CUZK_UNSUPPORTED (bellman's layout over BN254), CUZK_NO_MEMORY, CUZK_IO.
 * Cost    six fixed-base multiplications a variable and a row, encoded on t->pool meanwhile; the memory of setup_scalars_init and
 *         setup_points_init beside the file's pages, which are written back as they fill. */
cuzk_status groth16_setup_write(struct task *t, const struct r1cs_file *circuit,
                                const struct trapdoor *secrets, const struct groth16_setup_paths *paths,
                                const struct backend *backend, struct device *device) MUST_CHECK;

/** The same for a circuit that is not a file: ROOT_BELLMAN gives Filecoin's layout. */
cuzk_status groth16_setup_constraints(struct task *t, const struct constraints *circuit,
                                      const struct trapdoor *secrets, const struct groth16_setup_paths *paths,
                                      const struct backend *backend, struct device *device) MUST_CHECK;

/* The verifying key's points, and what a key has beside them. */
struct setup_vk {
    struct vk_points points;
    struct g_aff beta1, delta1;
};
/** Out  out: to be ended with setup_vk_fini, also after an error.  Errors  CUZK_NO_MEMORY. */
cuzk_status setup_vk_make(struct setup_vk *out, struct task *t, const struct setup_scalars *s,
                          const struct trapdoor *secrets) MUST_CHECK;
void setup_vk_fini(struct setup_vk *vk); /* legal on a zeroed one */

#endif
