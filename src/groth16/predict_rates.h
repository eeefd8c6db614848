/* What a proof's parts take, as measured: each figure with its source.  To be corrected here alone when it is measured again.
 *
 * Card  one NVIDIA H200 (132 multiprocessors, 16 host CPUs).  Times by size are samples: between two of them a straight line in both
 *       logarithms, beyond the last by its rate, below the first no less.  A card of another size takes so many times as many points for
 *       the same time: a first approximation.
 * CPU   16 threads of that host (IFMA; docs/performance.md, "which device", 2144ab7: whole proofs of 2^16 and 2^20) and two of
 *       another (Sapphire Rapids; the same page, "what cuzkd adds to a proof", da5abcf): more threads share cores, caches and memory, so
 *       n threads do as much as n^predict_cpu_shared. */
#ifndef CUZK_GROTH16_PREDICT_RATES_H
#define CUZK_GROTH16_PREDICT_RATES_H

struct predict_sample {
    double log2_count, ms;
};

enum { PREDICT_SUM_SAMPLES = 8, PREDICT_QUOTIENT_SAMPLES = 3 };

/* -- the card -- */

static const double predict_card_units = 132; /* multiprocessors of the card that was measured */

/* Sums over full-size scalars: BN254 G1, G2, BLS12-381 G1, G2.  docs/performance.md, "single operations": up to 2^20 the table "sums of
 * circom's sizes" with a table of multiples, as keys of that size have them on the card (7c0913e), from 2^22 on without one (de12934).
 * Samples end where log2_count is 0. */
static const struct predict_sample predict_sums[4][PREDICT_SUM_SAMPLES] = {
    { { 14, 0.37 }, { 16, 0.50 }, { 18, 1.15 }, { 20, 2.88 }, { 24, 40.6 }, { 26, 139 } },
    { { 14, 0.69 }, { 16, 0.98 }, { 18, 2.65 }, { 20, 9.01 }, { 22, 37.8 } },
    { { 14, 0.69 },
      { 16, 0.92 },
      { 18, 2.72 },
      { 20, 5.96 },
      { 22, 26.6 },
      { 24, 87.7 },
      { 26, 253 },
      { 27, 488 } },
    { { 14, 1.18 }, { 16, 1.91 }, { 18, 5.36 }, { 20, 17.5 }, { 24, 225 } },
};

/* The quotient with six transforms.  2^16 and 2^20: a proof's "quotient and sum H" less sum H (2144ab7: 1.12 - 0.71; 7c0913e: 4.75 -
 * 2.88); 2^27: that of a PoRep partition, 149 with four transforms (7c0913e), by the number of transforms. */
static const struct predict_sample predict_quotient[PREDICT_QUOTIENT_SAMPLES] = { { 16, 0.41 },
                                                                                  { 20, 1.87 },
                                                                                  { 27, 223 } };
static const double predict_quotient_derived = 4.0 / 6; /* of it with four: by their number */

/* A w and B w: 0.11 at 2^16, 0.24 at 2^20 (2144ab7, docs/performance.md, "whole proofs of circom circuits"). */
static const double predict_rows_fixed_ms = 0.10, predict_rows_each_ns = 0.13;
/* The witness checked and copied: 5.8 at 2^20 (the same table's text, 7c0913e). */
static const double predict_witness_each_ns = 5.5;
/* Between a stage's last kernel and the next one's first, in a proof alone, where the host also does its part of verification: what is
 * left of 4.49 ms on the card at 2^16 (7c0913e) when the parts above are taken away, by the seven stages. */
static const double predict_wait_ms = 0.14;
/* From the last sum to the verified proof, BN254: 6.77 - 4.49 - 0.5 at 2^16, 30.2 - 22.8 - 5.8 at 2^20 (7c0913e).  BLS12-381: predicted, by
 * the products of six words instead of four; measured only before that part was made shorter (8.3, 2144ab7). */
static const double predict_card_end_ms[2] = { 1.7, 3.8 };

/* Driver, context and arena, once for a process: `cuzk prove` as a whole with --device 0 less the same with --device cpu, each without its
 * proof: 573 at 2^16, 668 at 2^20 (2144ab7, bench/device_prove.sh, step "choice"). */
static const double predict_open_ms = 620;
/* The key from page cache to the card, its tables made: the first proof less one of a warm key: 29 ms for 30.9 MB, 384 for 494.9 MB (the
 * same step). */
static const double predict_key_bytes_per_ms = 1.25e6;

/* -- the CPU: of one thread -- */

static const double predict_cpu_shared = 0.8; /* fits both machines: 2 threads work like 1.74, 16 like 9.2 */
/* BN254: sums of 15.6 and 28.8 ms at 2^16, 215 and 370 at 2^20 with 16 threads.  BLS12-381: those, by the ratio of single sums
 * of 2^14 points (docs/performance.md, "field and point arithmetic", IFMA: 60.4 / 37.4, 142.9 / 69.5). */
static const double predict_cpu_sum_each_ns[4] = { 2000, 3600, 3200, 7400 };
static const double predict_cpu_butterfly_ns =
    29;                                     /* quotients of 11.7 ms at 2^16, 185 at 2^20 with 16 threads */
static const double predict_cpu_end_ms = 8; /* witness checked, assembly, verification: 6.6 + 1.5 at 2^16 */

#endif
