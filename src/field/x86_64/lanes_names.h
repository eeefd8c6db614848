/* Neutral names of eight elements side by side, on: x8_mul -> bn254_fp_x8_mul where FE is bn254_fp. */
#ifndef FE
#error "define FE to the type's prefix before including this list"
#endif
#define x8_t CAT(FE, _x8)
#define x8_carry CAT(FE, _x8_carry)
#define x8_load CAT(FE, _x8_load)
#define x8_store CAT(FE, _x8_store)
#define x8_sub_loose CAT(FE, _x8_sub_loose)
#define x8_sub CAT(FE, _x8_sub)
#define x8_add CAT(FE, _x8_add)
#define x8_negate_where CAT(FE, _x8_negate_where)
#define x8_shift CAT(FE, _x8_shift)
#define x8_reduce CAT(FE, _x8_reduce)
#define x8_mul CAT(FE, _x8_mul)
#define x8_sqr CAT(FE, _x8_sqr)
