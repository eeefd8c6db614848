/* Neutral names of eight elements side by side, off. */
#undef x8_t
#undef x8_carry
#undef x8_load
#undef x8_store
#undef x8_sub_loose
#undef x8_sub
#undef x8_add
#undef x8_negate_where
#undef x8_shift
#undef x8_reduce
#undef x8_mul
#undef x8_sqr
