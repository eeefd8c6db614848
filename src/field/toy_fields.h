/* Binding: the fields Fr, Fp and Fp2 of toy. */
#ifndef CUZK_FIELD_TOY_FIELDS_H
#define CUZK_FIELD_TOY_FIELDS_H

#include "field/params_toy.h"

#define FE       toy_fr
#define FE_UPPER TOY_FR
#include "field/prime.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

#define FE       toy_fp
#define FE_UPPER TOY_FP
#include "field/prime.inc.h"
#include "field/prime_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef FE_UPPER

/* Fp2 = Fp[u] / (u^2 + 1) */
DEV_FN void toy_fp_mul_nr(toy_fp_t *r, const toy_fp_t *a) { toy_fp_neg(r, a); }

#define FE toy_fp2
#define BE toy_fp
#include "field/quad.inc.h"
#include "field/quad_root.inc.h"
#include "field/fe_batch.inc.h"
#undef FE
#undef BE

#endif
