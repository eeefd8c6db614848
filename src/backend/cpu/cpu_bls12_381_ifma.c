/* Binding: the CPU's operations for bls12_381, point additions eight at a time with AVX-512 IFMA, the rest with mulx, adcx and adox. */
#define CUZK_FIELD_ADX 1
#include "curve/params_curve_bls12_381.h"
#include "field/bls12_381_fields.h"
#include "field/field_cpu.h"
#include "field/x86_64/lanes.h"

#define FE       bls12_381_fp
#define FE_UPPER BLS12_381_FP
#include "field/x86_64/lanes.inc.h"
#undef FE
#undef FE_UPPER
#define FE bls12_381_fp2
#define BE bls12_381_fp
#include "field/x86_64/lanes_quad.inc.h"
#undef FE
#undef BE

static bool ifma_usable(void);

#define CPU_FR      bls12_381_fr
#define CPU_FP      bls12_381_fp
#define CPU_FP2     bls12_381_fp2
#define CPU_G1      bls12_381_g1
#define CPU_G1_UPPER BLS12_381_G1
#define CPU_TABLE   cpu_bls12_381_ifma
#define CPU_VARIANT "avx512-ifma"
#define CPU_USABLE  ifma_usable
#define CPU_LANES   1
#include "backend/cpu/cpu_kernels.inc.c"

static bool ifma_usable(void)
{
    return field_cpu_has_ifma() && field_cpu_has_adx() && field_selftest_adx() && cpu_g1_lanes_selftest() &&
           cpu_g2_lanes_selftest();
}
