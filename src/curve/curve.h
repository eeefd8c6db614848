/* A pairing-friendly curve as code above level 4 knows it: sizes, names, and operations on opaque words.
 *
 * Hot loops never go through these pointers; they are compiled per curve in the backends.  Everything here is for single points
 * and scalars: keys' headers, proofs, verification, set-up. */
#ifndef CUZK_CURVE_CURVE_H
#define CUZK_CURVE_CURVE_H

#include "base/span.h"
#include "base/task.h"

enum curve_id { CURVE_BN254 = 1, CURVE_BLS12_381 = 2 };
enum group_id { GROUP_G1 = 0, GROUP_G2 = 1 };

/* The root of unity from which a key's domains are built: least non-residue 5 (snarkjs, both curves) or generator 7 (bellman). */
enum root_convention { ROOT_SNARKJS = 5, ROOT_BELLMAN = 7 };

/* Elements with the curve forgotten.  The curve that they belong to goes with them as `const struct curve *`. */
struct fr { uint64_t w[4]; };      /* scalar, Montgomery form, < r */
struct fr_int { uint64_t w[4]; };  /* scalar, plain integer, little-endian words */
struct fp_int { uint64_t w[6]; };  /* base field, plain integer; BN254 leaves w[4..5] zero */
struct g_aff { uint64_t w[24]; };  /* affine x, y in Montgomery form, packed as in a zkey; all zero: infinity.  G1 uses aff_bytes */
struct g_jac { uint64_t w[36]; };  /* Jacobian x, y, z; z = 0: infinity */

enum point_check {
    POINT_OK = 0,
    POINT_NOT_CANONICAL,   /* a coordinate >= p */
    POINT_BAD_FLAGS,       /* flag bits contradict the length, or bits set beside infinity */
    POINT_NOT_ON_CURVE,
    POINT_NOT_IN_SUBGROUP,
};
const char *point_check_text(enum point_check c); /* "is not on the curve" */

/* Encodings.  SIZES: fp = coordinate bytes (32, 48); a G2 coordinate is two of them. */
enum point_encoding {
    ENCODING_MONT_LE,          /* snarkjs binary: x, y little-endian Montgomery, c0 before c1; zero: infinity */
    ENCODING_BE,               /* EIP-196/197 and plain big-endian: x, y; G2 c1 before c0; zero: infinity */
    ENCODING_ZCASH,            /* bellman uncompressed: ENCODING_BE with flag bits in byte 0 (BLS12-381 only) */
    ENCODING_ZCASH_COMPRESSED, /* x with flag bits in byte 0 (BLS12-381 only) */
};

struct group {
    enum group_id id;
    const char *name;       /* "G1" */
    size_t aff_bytes;       /* 2 coordinates: 64/128 (BN254 G1/G2), 96/192 */
    size_t jac_bytes;       /* 3 coordinates */
    struct g_aff generator;

    bool (*aff_is_inf)(const void *p);                                   /* p: aff_bytes at any alignment */
    enum point_check (*aff_check)(const void *p, bool subgroup);          /* canonical, on curve, and in the subgroup if asked */
    void (*jac_set_inf)(struct g_jac *r);
    bool (*jac_is_inf)(const struct g_jac *p);
    bool (*jac_eq)(const struct g_jac *p, const struct g_jac *q);
    void (*jac_from_aff)(struct g_jac *r, const void *p);
    void (*jac_to_aff)(struct g_aff *r, const struct g_jac *p);          /* one inversion */
    void (*jac_neg)(struct g_jac *r, const struct g_jac *p);
    void (*jac_dbl)(struct g_jac *r, const struct g_jac *p);
    void (*jac_add)(struct g_jac *r, const struct g_jac *p, const struct g_jac *q);
    void (*jac_add_aff)(struct g_jac *r, const struct g_jac *p, const void *q);
    void (*jac_mul)(struct g_jac *r, const struct g_jac *p, const struct fr_int *k); /* any 256-bit k; time depends on k */
    void (*batch_to_aff)(void *out, const struct g_jac *in, size_t count);           /* tightly packed affine; one inversion */

    size_t (*encoded_bytes)(enum point_encoding e);                      /* 0: this curve has no such encoding */
    /* Decodes and checks canonical form, flags and the curve equation; the subgroup if asked. */
    enum point_check (*decode)(struct g_aff *r, const uint8_t *bytes, enum point_encoding e, bool subgroup);
    void (*encode)(uint8_t *bytes, const struct g_aff *p, enum point_encoding e);
    /* Plain coordinates: G1 x, y; G2 x.c0, x.c1, y.c0, y.c1 (2 or 4 values).  Infinity: all zero. */
    enum point_check (*from_plain)(struct g_aff *r, const struct fp_int *coordinates, bool subgroup);
    void (*to_plain)(struct fp_int *coordinates, const struct g_aff *p);
};

struct scalar_field {
    unsigned bits;             /* 254, 255 */
    unsigned two_adicity;      /* 28, 32 */
    struct fr_int modulus;
    bool (*int_is_canonical)(const struct fr_int *a);
    void (*from_int)(struct fr *r, const struct fr_int *a); /* any 256-bit a */
    void (*to_int)(struct fr_int *r, const struct fr *a);
    void (*from_u64)(struct fr *r, uint64_t v);
    void (*add)(struct fr *r, const struct fr *a, const struct fr *b);
    void (*sub)(struct fr *r, const struct fr *a, const struct fr *b);
    void (*neg)(struct fr *r, const struct fr *a);
    void (*mul)(struct fr *r, const struct fr *a, const struct fr *b);
    void (*inv)(struct fr *r, const struct fr *a);          /* 0 gives 0 */
    void (*pow)(struct fr *r, const struct fr *a, uint64_t e);
    void (*batch_inv)(struct fr *a, size_t count);          /* in place; zeros stay zero */
    bool (*is_zero)(const struct fr *a);
    bool (*eq)(const struct fr *a, const struct fr *b);
    /* Primitive 2^log2-th root of unity of the convention; log2 <= two_adicity. */
    void (*root)(struct fr *r, enum root_convention c, unsigned log2);
    /* Shift whose coset is disjoint from every domain of the convention: its generator. */
    void (*coset_shift)(struct fr *r, enum root_convention c);
    /* From 64 random bytes, uniform up to 2^-250: the way to draw secrets. */
    void (*from_wide)(struct fr *r, const uint8_t bytes[64]);
};

struct curve {
    enum curve_id id;
    const char *name;          /* "bn254", "bls12_381" */
    const char *snarkjs_name;  /* "bn128", "bls12381" */
    unsigned fp_bytes;         /* 32, 48 */
    struct fp_int fp_modulus;
    struct scalar_field fr;
    struct group g1, g2;
    const struct group *group[2]; /* by enum group_id */
};

extern const struct curve curve_bn254, curve_bls12_381;

const struct curve *curve_by_id(enum curve_id id);               /* NULL: no such curve */
/** By the scalar modulus or the base modulus, little-endian bytes as files carry them; NULL: none. */
const struct curve *curve_by_fr_modulus(struct span le_bytes);
const struct curve *curve_by_fp_modulus(struct span le_bytes);
/** bn254, bn128, altbn128, alt_bn128, bls12_381, bls12381, bls12-381 in any case; NULL: none. */
const struct curve *curve_by_name(const char *name);

/** Draws a uniform non-zero scalar from the operating system. */
cuzk_status curve_random_scalar(const struct curve *c, struct task *t, struct fr *out) MUST_CHECK;

#endif
