/* Binding: the fields Fr, Fp and Fp2 of bls12_381. */
#ifndef CUZK_FIELD_BLS12_381_FIELDS_H
#define CUZK_FIELD_BLS12_381_FIELDS_H

#include "field/params_bls12_381.h"

/* CUZK_FIELD_ADX: this translation unit multiplies with mulx, adcx, adox (README.md). */
#if defined(CUZK_FIELD_ADX)
#include "field/x86_64/mont_adx.h"
static const uint64_t bls12_381_fr_adx[5] = BLS12_381_FR_P_INV_64, bls12_381_fp_adx[7] = BLS12_381_FP_P_INV_64;
#endif

#define FE       bls12_381_fr
#define FE_UPPER BLS12_381_FR
#if defined(CUZK_FIELD_ADX)
#define FE_MUL_OVERRIDE(r, a, b) mont_mul4_adx(r, a, b, &bls12_381_fr_adx)
#define FE_ADD_OVERRIDE(r, a, b) mont_add4_adx(r, a, b, &bls12_381_fr_adx)
#define FE_SUB_OVERRIDE(r, a, b) mont_sub4_adx(r, a, b, &bls12_381_fr_adx)
#endif
#include "field/prime.inc.h"
#undef FE_MUL_OVERRIDE
#undef FE_ADD_OVERRIDE
#undef FE_SUB_OVERRIDE
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

#define FE       bls12_381_fp
#define FE_UPPER BLS12_381_FP
#if defined(CUZK_FIELD_ADX)
#define FE_MUL_OVERRIDE(r, a, b) mont_mul6_adx(r, a, b, &bls12_381_fp_adx)
#define FE_ADD_OVERRIDE(r, a, b) mont_add6_adx(r, a, b, &bls12_381_fp_adx)
#define FE_SUB_OVERRIDE(r, a, b) mont_sub6_adx(r, a, b, &bls12_381_fp_adx)
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
DEV_FN void bls12_381_fp_mul_nr(bls12_381_fp_t *r, const bls12_381_fp_t *a) { bls12_381_fp_neg(r, a); }

#define FE bls12_381_fp2
#define BE bls12_381_fp
#if defined(CUZK_FIELD_ADX)
#define FE_QUAD_DOT(r, a, b) mont_dot6_adx(r, a, b, &bls12_381_fp_adx)
#endif
#include "field/quad.inc.h"
#undef FE_QUAD_DOT
#include "field/quad_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef BE

#endif
