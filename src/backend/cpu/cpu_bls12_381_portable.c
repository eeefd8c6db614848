/* Binding: the CPU's operations for bls12_381 in portable C. */
#include "curve/params_curve_bls12_381.h"
#include "field/bls12_381_fields.h"

#include <stdbool.h>

static bool always(void) { return true; }

#define CPU_FR      bls12_381_fr
#define CPU_FP      bls12_381_fp
#define CPU_FP2     bls12_381_fp2
#define CPU_G1      bls12_381_g1
#define CPU_G1_UPPER BLS12_381_G1
#define CPU_TABLE   cpu_bls12_381_portable
#define CPU_VARIANT "portable"
#define CPU_USABLE  always
#include "backend/cpu/cpu_kernels.inc.c"
