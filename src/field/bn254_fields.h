/* Binding: the fields Fr, Fp and Fp2 of bn254. */
#ifndef CUZK_FIELD_BN254_FIELDS_H
#define CUZK_FIELD_BN254_FIELDS_H

#include "field/params_bn254.h"

#define FE       bn254_fr
#define FE_UPPER BN254_FR
#include "field/prime.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

#define FE       bn254_fp
#define FE_UPPER BN254_FP
#include "field/prime.inc.h"
#include "field/prime_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

/* Fp2 = Fp[u] / (u^2 + 1) */
DEV_FN void bn254_fp_mul_nr(bn254_fp_t *r, const bn254_fp_t *a) { bn254_fp_neg(r, a); }

#define FE bn254_fp2
#define BE bn254_fp
#include "field/quad.inc.h"
#include "field/quad_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef BE

#endif
