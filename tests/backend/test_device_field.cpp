// The device's field arithmetic, compiled for the host in 32-bit limbs with an emulated carry flag, against the portable fields.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
extern "C" {
#include <cmocka.h>
}

extern "C++" {
#include "field/bls12_381_fields.h"
#include "field/bn254_fields.h"

#define FE       dev_bls_fp
#define FE_UPPER BLS12_381_FP
#include "backend/cuda/fe_device.inc.h"
#undef FE
#undef FE_UPPER
#define FE       dev_bls_fr
#define FE_UPPER BLS12_381_FR
#include "backend/cuda/fe_device.inc.h"
#undef FE
#undef FE_UPPER
#define FE       dev_bn_fp
#define FE_UPPER BN254_FP
#include "backend/cuda/fe_device.inc.h"
#undef FE
#undef FE_UPPER
#define FE       dev_bn_fr
#define FE_UPPER BN254_FR
#include "backend/cuda/fe_device.inc.h"
#undef FE
#undef FE_UPPER

#include "support/prng.h"
}

static struct prng rng;

#define FE              dev_bls_fp
#define REF             bls12_381_fp
#define NAME            bls_fp
#define FIRST_CANONICAL 0
#include "device_field.inc.h"
#define FE              dev_bls_fr
#define REF             bls12_381_fr
#define NAME            bls_fr
#define FIRST_CANONICAL 1
#include "device_field.inc.h"
#define FE              dev_bn_fp
#define REF             bn254_fp
#define NAME            bn_fp
#define FIRST_CANONICAL 0
#include "device_field.inc.h"
#define FE              dev_bn_fr
#define REF             bn254_fr
#define NAME            bn_fr
#define FIRST_CANONICAL 0
#include "device_field.inc.h"

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(bls_fp_operations),
        cmocka_unit_test(bls_fr_operations),
        cmocka_unit_test(bn_fp_operations),
        cmocka_unit_test(bn_fr_operations),
    };
    prng_init(&rng);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
