/* Binding: the fields Fr, Fp and Fp2 of bls12_381. */
#ifndef CUZK_FIELD_BLS12_381_FIELDS_H
#define CUZK_FIELD_BLS12_381_FIELDS_H

#include "field/params_bls12_381.h"

#define FE       bls12_381_fr
#define FE_UPPER BLS12_381_FR
#include "field/prime.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

#define FE       bls12_381_fp
#define FE_UPPER BLS12_381_FP
#include "field/prime.inc.h"
#include "field/prime_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

/* Fp2 = Fp[u] / (u^2 + 1) */
DEV_FN void bls12_381_fp_mul_nr(bls12_381_fp_t *r, const bls12_381_fp_t *a) { bls12_381_fp_neg(r, a); }

#define FE bls12_381_fp2
#define BE bls12_381_fp
#include "field/quad.inc.h"
#include "field/quad_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef BE

#endif
