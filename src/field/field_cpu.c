/* CPU features, and the self-test of the arithmetic that needs them.
 *
 * This translation unit is compiled with the fast bindings: fe_mul is the override, fe_mul_ref the portable definition, and so on. */
#include "field/field_cpu.h"

#if defined(__x86_64__)
#define CUZK_FIELD_ADX
#include "field/bls12_381_fields.h"
#include "field/bn254_fields.h"

#include <cpuid.h>

bool field_cpu_has_adx(void)
{
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
    return (ebx & bit_BMI2) != 0 && (ebx & bit_ADX) != 0;
}

bool field_cpu_has_ifma(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512ifma"); }

#define FE       bn254_fr
#define FE_UPPER BN254_FR
#include "field/selftest.inc.h"
#undef FE
#undef FE_UPPER

#define FE       bn254_fp
#define FE_UPPER BN254_FP
#define QUAD     bn254_fp2
#include "field/selftest.inc.h"
#undef QUAD
#undef FE
#undef FE_UPPER

#define FE       bls12_381_fr
#define FE_UPPER BLS12_381_FR
#include "field/selftest.inc.h"
#undef FE
#undef FE_UPPER

#define FE       bls12_381_fp
#define FE_UPPER BLS12_381_FP
#define QUAD     bls12_381_fp2
#include "field/selftest.inc.h"
#undef QUAD
#undef FE
#undef FE_UPPER

bool field_selftest_adx(void)
{
    const size_t pairs = 2000;
    return bn254_fr_selftest(pairs) && bn254_fp_selftest(pairs) && bls12_381_fr_selftest(pairs) && bls12_381_fp_selftest(pairs) &&
           bn254_fp2_selftest(pairs) && bls12_381_fp2_selftest(pairs);
}

#else
bool field_cpu_has_adx(void) { return false; }
bool field_cpu_has_ifma(void) { return false; }
bool field_selftest_adx(void) { return false; }
#endif
