/* Binding: the optimal ate pairing of bls12_381. */
#include "field/bls12_381_tower.h"
#include "pairing/params_pairing_bls12_381.h"

#define PR         bls12_381
#define PR_UPPER   BLS12_381_PAIRING
#define PR_BN      0
#define PR_D_TWIST 0
#define PR_OPS     pairing_ops_bls12_381
#include "pairing/pairing.inc.c"
