/* Binding: constraint evaluation over the scalar field of bls12_381. */
#include "field/params_bls12_381.h"

#define FE       fr
#define FE_UPPER BLS12_381_FR
#include "backend/cuda/fe_device.inc.h"

#define EVAL(name) eval_bls12_381_##name
#include "backend/cuda/eval.inc.cuh"
