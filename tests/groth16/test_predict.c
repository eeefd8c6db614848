/* Predicted times against measured ones: whole proofs on one H200 and on CPUs, the first proof of a process, the choice between the two. */
#include "support/cm.h"
#include "groth16/key.h"
#include "groth16/predict.h"
#include <string.h>

enum { H200_UNITS = 132 };

/* A key of the measured circuits: about 2^log2 variables and rows, one public input, points for all. */
static void key_of(struct groth16_key *key, const struct curve *curve, unsigned log2, double mb)
{
    const uint64_t n = (uint64_t)1 << log2;

    memset(key, 0, sizeof *key);
    key->curve = curve;
    key->layout = GROTH16_ZKEY;
    key->h_mode = H_LAGRANGE_6;
    key->domain.log2 = log2;
    key->domain.size = n;
    key->variable_count = n - 6;
    key->public_count = 1;
    key->file.bytes.size = (size_t)(mb * 1e6);
    for (int q = 0; q < QUERY_COUNT; q++) key->point_count[q] = key->variable_count;
    key->point_count[QUERY_L] -= key->public_count + 1;
    key->point_count[QUERY_H] = n;
}

static void assert_near(const char *what, double predicted, double measured)
{
    print_message("%-44s predicted %8.2f, measured %8.2f: %+.0f %%\n", what, predicted, measured,
                  100 * (predicted / measured - 1));
    assert_true(predicted > 0.7 * measured && predicted < 1.3 * measured);
}

/* docs/performance.md, "whole proofs of circom circuits": ms of a proof alone and of it on the card, proofs a second over three lanes.  0: not
 * measured. */
static void proofs_on_a_card(void **state)
{
    static const struct {
        const char *what;
        const struct curve *curve;
        unsigned log2;
        double alone_ms, card_ms, a_second;
    } rows[] = {
        { "bn254 2^16, 7c0913e", &curve_bn254, 16, 6.77, 4.49, 338 },
        { "bn254 2^20, 7c0913e", &curve_bn254, 20, 30.2, 22.8, 0 },
        { "bn254 2^20 over lanes, 2144ab7", &curve_bn254, 20, 0, 23.3, 46.4 },
        { "bls12_381 2^20, 2144ab7", &curve_bls12_381, 20, 60.9, 46.8, 22.7 },
    };
    struct groth16_prediction p;
    struct groth16_key key;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        key_of(&key, rows[i].curve, rows[i].log2, 0);
        groth16_predict(&p, &key, true, H200_UNITS);
        assert_near(rows[i].what, p.card_ms, rows[i].card_ms);
        if (rows[i].alone_ms != 0) assert_near(rows[i].what, p.proof_ms, rows[i].alone_ms);
        if (rows[i].a_second != 0) assert_near(rows[i].what, p.steady_ms, 1000 / rows[i].a_second);
    }
}

/* The same page, "which device": the first proof of a process, less a warm one and less what a process on the CPU does beside its proof. */
static void first_proof_on_a_card(void **state)
{
    static const struct {
        const char *what;
        unsigned log2;
        double key_mb, process_ms, process_on_cpu_ms, first_ms, warm_ms;
    } rows[] = {
        { "bn254 2^16, first proof, 2144ab7", 16, 30.9, 682, 183 - 115.6, 41.5, 12.3 },
        { "bn254 2^20, first proof, 2144ab7", 20, 494.9, 1406, 1806 - 1487.4, 422.2, 38.0 },
    };
    struct groth16_prediction p;
    struct groth16_key key;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        key_of(&key, &curve_bn254, rows[i].log2, rows[i].key_mb);
        groth16_predict(&p, &key, true, H200_UNITS);
        assert_near(rows[i].what, p.key_ms, rows[i].first_ms - rows[i].warm_ms);
        assert_near(rows[i].what, p.open_ms + p.key_ms + p.proof_ms,
                    rows[i].process_ms - rows[i].process_on_cpu_ms);
    }
}

static void proofs_on_a_cpu(void **state)
{
    static const struct {
        const char *what;
        unsigned log2, threads;
        double ms;
    } rows[] = {
        { "2^16, 16 threads of an H200's host, 2144ab7", 16, 16, 115.6 },
        { "2^20, the same", 20, 16, 1487.4 },
        { "2^16, 2 threads, da5abcf (what cuzkd adds)", 16, 2, 479.4 },
    };
    struct groth16_prediction p;
    struct groth16_key key;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        key_of(&key, &curve_bn254, rows[i].log2, 0);
        groth16_predict(&p, &key, false, rows[i].threads);
        assert_near(rows[i].what, p.proof_ms, rows[i].ms);
        assert_true(p.open_ms == 0 && p.key_ms == 0 && p.card_ms == 0);
    }
}

/* More points never take less time, fewer multiprocessors never either, four transforms never as much as six. */
static void times_grow(void **state)
{
    const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };
    struct groth16_prediction p, before;
    struct groth16_key key;

    (void)state;
    for (size_t c = 0; c < ARRAY_COUNT(curves); c++) {
        memset(&before, 0, sizeof before);
        for (unsigned log2 = 4; log2 <= 28; log2++) {
            key_of(&key, curves[c], log2, 0);
            groth16_predict(&p, &key, true, H200_UNITS);
            assert_true(p.steady_ms > 0 && p.steady_ms >= before.steady_ms && p.proof_ms > before.proof_ms);
            assert_true(p.card_ms > p.steady_ms && p.proof_ms > p.card_ms);
            before = p;
            groth16_predict(&p, &key, true, H200_UNITS / 2);
            assert_true(p.steady_ms >= before.steady_ms && p.steady_ms <= 2.5 * before.steady_ms);
            key.h_mode = H_LAGRANGE_4;
            groth16_predict(&p, &key, true, H200_UNITS);
            assert_true(p.steady_ms < before.steady_ms);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_on_a_card),
        cmocka_unit_test(first_proof_on_a_card),
        cmocka_unit_test(proofs_on_a_cpu),
        cmocka_unit_test(times_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
