/* The word size of arithmetic, per target; the only file that knows it.
 *
 * Memory always holds 64-bit little-endian words.  Arithmetic runs on 64-bit limbs on the host and on 32-bit limbs on the device;
 * CUZK_LIMB32 selects 32-bit limbs on the host, so that tests cover the device's word size without a GPU. */
#ifndef CUZK_FIELD_LIMB_H
#define CUZK_FIELD_LIMB_H

#include "base/dialect.h"

#if defined(__CUDA_ARCH__) || defined(CUZK_LIMB32)
#define LIMB_BITS 32
typedef uint32_t limb_t;
typedef uint64_t dlimb_t;
#else
#define LIMB_BITS 64
typedef uint64_t limb_t;
__extension__ typedef unsigned __int128 dlimb_t;
#endif
#define LIMBS_PER_WORD (64 / LIMB_BITS)

/* For what reads or writes bytes of files: not compiled for the device. */
#define HOST_FN static inline __attribute__((unused))

/* a + b + *carry; *carry becomes the carry out (0 or 1). */
DEV_FN limb_t limb_adc(limb_t a, limb_t b, limb_t *carry)
{
    dlimb_t s = (dlimb_t)a + b + *carry;
    *carry = (limb_t)(s >> LIMB_BITS);
    return (limb_t)s;
}

/* a - b - *borrow; *borrow becomes the borrow out (0 or 1). */
DEV_FN limb_t limb_sbb(limb_t a, limb_t b, limb_t *borrow)
{
    dlimb_t d = (dlimb_t)a - b - *borrow;
    *borrow = (limb_t)(d >> LIMB_BITS) & 1;
    return (limb_t)d;
}

/* acc + a * b + *carry; *carry becomes the high limb.  Cannot overflow. */
DEV_FN limb_t limb_mac(limb_t acc, limb_t a, limb_t b, limb_t *carry)
{
    dlimb_t s = (dlimb_t)a * b + acc + *carry;
    *carry = (limb_t)(s >> LIMB_BITS);
    return (limb_t)s;
}

#endif
