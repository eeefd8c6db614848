/* Binding: the CPU's operations for bn254 with mulx, adcx and adox. */
#define CUZK_FIELD_ADX 1
#include "curve/params_curve_bn254.h"
#include "field/bn254_fields.h"
#include "field/field_cpu.h"

static bool adx_usable(void) { return field_cpu_has_adx() && field_selftest_adx(); }

#define CPU_FR      bn254_fr
#define CPU_FP      bn254_fp
#define CPU_FP2     bn254_fp2
#define CPU_G1      bn254_g1
#define CPU_G1_UPPER BN254_G1
#define CPU_TABLE   cpu_bn254_adx
#define CPU_VARIANT "mulx/adx"
#define CPU_USABLE  adx_usable
#include "backend/cpu/cpu_kernels.inc.c"
