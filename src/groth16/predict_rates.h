/* What a proof's parts take, as measured or predicted: one line a rate, with its source.  To be corrected here alone when it is measured again.
 *
 * CUDA  docs/performance.md, "whole proofs of circom circuits" on one NVIDIA H200 (132 multiprocessors): a sum over n full-size scalars
 *       takes FIXED + n * EACH.  Cards of another size: EACH by the number of multiprocessors, a first approximation.
 * CPU   docs/performance.md, "whole proofs against other provers" and "derived keys" (2 threads of a Sapphire Rapids with IFMA): time of one
 *       thread; threads share it. */
#ifndef CUZK_GROTH16_PREDICT_RATES_H
#define CUZK_GROTH16_PREDICT_RATES_H

/* -- cards -- */
#define PREDICT_CUDA_UNITS 132.0 /* multiprocessors of the card that was measured */
#define PREDICT_CUDA_OPEN_MS \
    900.0 /* driver, context and arena, once for a process; predicted, not measured */
#define PREDICT_CUDA_KEY_BYTES_PER_MS 8.0e6 /* a key from page cache to the card; predicted, not measured */
#define PREDICT_CUDA_SUM_FIXED_MS \
    {                             \
        1.5, 4.7, 2.9, 8.3        \
    } /* BN254 G1, G2, BLS12-381 G1, G2 without tables of multiples: 2^16 and 2^20 of the table */
#define PREDICT_CUDA_SUM_EACH_NS \
    {                            \
        2.6, 8.8, 5.6, 19.0      \
    }
#define PREDICT_CUDA_TRANSFORMS_FIXED_MS \
    0.4 /* A w, B w and the quotient: 2^16 and 2^20 of the table, six transforms */
#define PREDICT_CUDA_TRANSFORMS_EACH_NS 1.6
#define PREDICT_CUDA_DERIVED_SHARE      0.67 /* of it with four transforms */
#define PREDICT_CUDA_WITNESS_EACH_NS    10.6 /* checked by the host and copied */
#define PREDICT_CUDA_END_MS             4.0  /* assembly and verification */

/* -- CPU, of one thread -- */
#define PREDICT_CPU_SUM_EACH_NS         \
    {                                   \
        2000.0, 6000.0, 4300.0, 13000.0 \
    } /* in the order above, full-size scalars; those that are bits take a tenth */
#define PREDICT_CPU_BUTTERFLY_NS 22.0
#define PREDICT_CPU_END_MS       8.0

#endif
