/* Binding: the CPU's operations for bn254 in portable C. */
#include "curve/params_curve_bn254.h"
#include "field/bn254_fields.h"

#include <stdbool.h>

static bool always(void) { return true; }

#define CPU_FR      bn254_fr
#define CPU_FP      bn254_fp
#define CPU_FP2     bn254_fp2
#define CPU_G1      bn254_g1
#define CPU_G1_UPPER BN254_G1
#define CPU_TABLE   cpu_bn254_portable
#define CPU_VARIANT "portable"
#define CPU_USABLE  always
#include "backend/cpu/cpu_kernels.inc.c"
