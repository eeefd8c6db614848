/* Times every field and point operation of both curves; compiled twice, see bench_field_ops.h. */
#include "bench_field_ops.h"
#include "curve/bls12_381_points.h"
#include "curve/bn254_points.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(CUZK_FIELD_ADX)
#define BENCH_ENTRY   bench_field_adx
#define BENCH_VARIANT "adx"
#else
#define BENCH_ENTRY   bench_field_portable
#define BENCH_VARIANT "portable"
#endif

/* CPU time of this thread, so that other processes do not count. */
static uint64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Best of five runs, each long enough for the clock; the operations of a run depend on each other. */
#define TIME(what, count, statement)                                                                                   \
    do {                                                                                                               \
        if (!strstr(what, filter)) break;                                                                              \
        double best = 1e300;                                                                                           \
        for (int run = 0; run < 5; run++) {                                                                            \
            const uint64_t start = cpu_now_ns();                                                                     \
            for (int i = 0; i < (count); i++) {                                                                        \
                statement;                                                                                             \
                __asm__ volatile("" ::: "memory");                                                                     \
            }                                                                                                          \
            const double ns = (double)(cpu_now_ns() - start) / (count);                                              \
            if (ns < best) best = ns;                                                                                  \
        }                                                                                                              \
        printf("{\"op\": \"%s\", \"variant\": \"%s\", \"ns\": %.1f}\n", what, BENCH_VARIANT, best);                    \
    } while (0)

#define FE    bn254_fr
#define LABEL "bn254_fr"
#include "bench_prime.inc.h"
#undef FE
#undef LABEL
#define FE    bn254_fp
#define LABEL "bn254_fp"
#include "bench_prime.inc.h"
#undef FE
#undef LABEL
#define FE    bls12_381_fr
#define LABEL "bls12_381_fr"
#include "bench_prime.inc.h"
#undef FE
#undef LABEL
#define FE    bls12_381_fp
#define LABEL "bls12_381_fp"
#include "bench_prime.inc.h"
#undef FE
#undef LABEL

#define FE    bn254_fp
#define PT    bn254_g1
#define LABEL "bn254_g1"
#include "bench_group.inc.h"
#undef FE
#undef PT
#undef LABEL
#define FE    bn254_fp2
#define PT    bn254_g2
#define LABEL "bn254_g2"
#include "bench_group.inc.h"
#undef FE
#undef PT
#undef LABEL
#define FE    bls12_381_fp
#define PT    bls12_381_g1
#define LABEL "bls12_381_g1"
#include "bench_group.inc.h"
#undef FE
#undef PT
#undef LABEL
#define FE    bls12_381_fp2
#define PT    bls12_381_g2
#define LABEL "bls12_381_g2"
#include "bench_group.inc.h"
#undef FE
#undef PT
#undef LABEL

void BENCH_ENTRY(const char *filter)
{
    bn254_fr_bench(filter);
    bn254_fp_bench(filter);
    bls12_381_fr_bench(filter);
    bls12_381_fp_bench(filter);
    bn254_g1_bench(filter);
    bn254_g2_bench(filter);
    bls12_381_g1_bench(filter);
    bls12_381_g2_bench(filter);
}
