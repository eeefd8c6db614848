/* Binding: the fields Fr, Fp and Fp2 of bn254. */
#ifndef CUZK_FIELD_BN254_FIELDS_H
#define CUZK_FIELD_BN254_FIELDS_H

#include "field/params_bn254.h"

/* CUZK_FIELD_ADX: this translation unit multiplies with mulx, adcx, adox (README.md). */
#if defined(CUZK_FIELD_ADX)
#include "field/x86_64/mont_adx.h"
static const uint64_t bn254_fr_adx[5] = BN254_FR_P_INV_64, bn254_fp_adx[5] = BN254_FP_P_INV_64;
#endif

#define FE       bn254_fr
#define FE_UPPER BN254_FR
#if defined(CUZK_FIELD_ADX)
#define FE_MUL_OVERRIDE(r, a, b) mont_mul4_adx(r, a, b, &bn254_fr_adx)
#define FE_ADD_OVERRIDE(r, a, b) mont_add4_adx(r, a, b, &bn254_fr_adx)
#define FE_SUB_OVERRIDE(r, a, b) mont_sub4_adx(r, a, b, &bn254_fr_adx)
#endif
#include "field/prime.inc.h"
#undef FE_MUL_OVERRIDE
#undef FE_ADD_OVERRIDE
#undef FE_SUB_OVERRIDE
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

#define FE       bn254_fp
#define FE_UPPER BN254_FP
#if defined(CUZK_FIELD_ADX)
#define FE_MUL_OVERRIDE(r, a, b) mont_mul4_adx(r, a, b, &bn254_fp_adx)
#define FE_ADD_OVERRIDE(r, a, b) mont_add4_adx(r, a, b, &bn254_fp_adx)
#define FE_SUB_OVERRIDE(r, a, b) mont_sub4_adx(r, a, b, &bn254_fp_adx)
#endif
#include "field/prime.inc.h"
#undef FE_MUL_OVERRIDE
#undef FE_ADD_OVERRIDE
#undef FE_SUB_OVERRIDE
#include "field/prime_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

/* Fp2 = Fp[u] / (u^2 + 1) */
DEV_FN void bn254_fp_mul_nr(bn254_fp_t *r, const bn254_fp_t *a) { bn254_fp_neg(r, a); }

#define FE bn254_fp2
#define BE bn254_fp
#if defined(CUZK_FIELD_ADX)
#define FE_QUAD_DOT(r, a, b) mont_dot4_adx(r, a, b, &bn254_fp_adx)
#endif
#include "field/quad.inc.h"
#undef FE_QUAD_DOT
#include "field/quad_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef BE

#endif
