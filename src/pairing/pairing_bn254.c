/* Binding: the optimal ate pairing of bn254. */
#include "field/bn254_tower.h"
#include "pairing/params_pairing_bn254.h"

#define PR         bn254
#define PR_UPPER   BN254_PAIRING
#define PR_BN      1
#define PR_D_TWIST 1
#define PR_OPS     pairing_ops_bn254
#include "pairing/pairing.inc.c"
