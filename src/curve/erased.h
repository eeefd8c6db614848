/* Rows of function pointers that erased_group.inc.h and erased_scalar.inc.h define, for the initialiser of a struct curve. */
#ifndef CUZK_CURVE_ERASED_H
#define CUZK_CURVE_ERASED_H

#define GROUP_OPERATIONS(pt)                                                                                           \
    .aff_is_inf = pt##_op_aff_is_inf, .aff_check = pt##_op_aff_check, .jac_set_inf = pt##_op_jac_set_inf,              \
    .jac_is_inf = pt##_op_jac_is_inf, .jac_eq = pt##_op_jac_eq, .jac_from_aff = pt##_op_jac_from_aff,                  \
    .jac_to_aff = pt##_op_jac_to_aff, .jac_neg = pt##_op_jac_neg, .jac_dbl = pt##_op_jac_dbl,                          \
    .jac_add = pt##_op_jac_add, .jac_add_aff = pt##_op_jac_add_aff, .jac_mul = pt##_op_jac_mul,                        \
    .batch_to_aff = pt##_op_batch_to_aff, .encoded_bytes = pt##_encoded_bytes, .decode = pt##_op_decode,               \
    .encode = pt##_op_encode, .from_plain = pt##_op_from_plain, .to_plain = pt##_op_to_plain

#define SCALAR_OPERATIONS(fe)                                                                                          \
    .int_is_canonical = fe##_op_int_is_canonical, .from_int = fe##_op_from_int, .to_int = fe##_op_to_int,              \
    .from_u64 = fe##_op_from_u64, .add = fe##_op_add, .sub = fe##_op_sub, .neg = fe##_op_neg, .mul = fe##_op_mul,      \
    .inv = fe##_op_inv, .pow = fe##_op_pow, .batch_inv = fe##_op_batch_inv, .is_zero = fe##_op_is_zero,                \
    .eq = fe##_op_eq, .root = fe##_op_root, .coset_shift = fe##_op_coset_shift, .from_wide = fe##_op_from_wide

#endif
