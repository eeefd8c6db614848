/* Binding: constraint evaluation over the scalar field of bn254. */
#include "field/params_bn254.h"

#define FE       fr
#define FE_UPPER BN254_FR
#include "backend/cuda/fe_device.inc.h"

#define EVAL(name) eval_bn254_##name
#include "backend/cuda/eval.inc.cuh"
