/* Binding: the CPU's operations for bn254, point additions eight at a time with AVX-512 IFMA, the rest with mulx, adcx and adox. */
#define CUZK_FIELD_ADX 1
#include "curve/params_curve_bn254.h"
#include "field/bn254_fields.h"
#include "field/field_cpu.h"
#include "field/x86_64/lanes.h"

#define FE       bn254_fp
#define FE_UPPER BN254_FP
#include "field/x86_64/lanes.inc.h"
#undef FE
#undef FE_UPPER
#define FE bn254_fp2
#define BE bn254_fp
#include "field/x86_64/lanes_quad.inc.h"
#undef FE
#undef BE

static bool ifma_usable(void);

#define CPU_FR      bn254_fr
#define CPU_FP      bn254_fp
#define CPU_FP2     bn254_fp2
#define CPU_G1      bn254_g1
#define CPU_G1_UPPER BN254_G1
#define CPU_TABLE   cpu_bn254_ifma
#define CPU_VARIANT "avx512-ifma"
#define CPU_USABLE  ifma_usable
#define CPU_LANES   1
#include "backend/cpu/cpu_kernels.inc.c"

static bool ifma_usable(void)
{
    return field_cpu_has_ifma() && field_cpu_has_adx() && field_selftest_adx() && cpu_g1_lanes_selftest() &&
           cpu_g2_lanes_selftest();
}
