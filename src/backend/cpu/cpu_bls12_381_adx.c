/* Binding: the CPU's operations for bls12_381 with mulx, adcx and adox. */
#define CUZK_FIELD_ADX 1
#include "curve/params_curve_bls12_381.h"
#include "field/bls12_381_fields.h"
#include "field/field_cpu.h"

static bool adx_usable(void) { return field_cpu_has_adx() && field_selftest_adx(); }

#define CPU_FR      bls12_381_fr
#define CPU_FP      bls12_381_fp
#define CPU_FP2     bls12_381_fp2
#define CPU_G1      bls12_381_g1
#define CPU_G1_UPPER BLS12_381_G1
#define CPU_TABLE   cpu_bls12_381_adx
#define CPU_VARIANT "mulx/adx"
#define CPU_USABLE  adx_usable
#include "backend/cpu/cpu_kernels.inc.c"
