/* How long a proof on a key will take on a device. */
#include "groth16/predict.h"
#include "groth16/msm_set.h"
#include "groth16/predict_rates.h"
#include <string.h>

enum { KINDS_OF_SUM = 4 }; /* by curve, then by group: as the rates stand */

static unsigned kind_of(const struct groth16_key *key, enum group_id g)
{
    return 2 * ((unsigned)key->curve->id - 1) + (g == GROUP_G2);
}

static double predict_sums(const struct groth16_key *key, const double fixed_ms[KINDS_OF_SUM],
                           const double each_ns[KINDS_OF_SUM])
{
    struct msm_row rows[QUERY_COUNT];
    double ms = 0;

    msm_set_rows(rows, key);
    for (int q = 0; q < QUERY_COUNT; q++) {
        const unsigned kind = kind_of(key, rows[q].group);
        if (rows[q].count != 0) ms += fixed_ms[kind] + 1e-6 * each_ns[kind] * (double)rows[q].count;
    }
    return ms;
}

static void predict_card(struct groth16_prediction *out, const struct groth16_key *key, double units)
{
    static const double sum_fixed[] = PREDICT_CUDA_SUM_FIXED_MS, sum_each[] = PREDICT_CUDA_SUM_EACH_NS;
    const double n = (double)key->domain.size, slower = PREDICT_CUDA_UNITS / units,
                 transforms = key->h_mode == H_LAGRANGE_4 ? PREDICT_CUDA_DERIVED_SHARE : 1,
                 witness_ms = 1e-6 * PREDICT_CUDA_WITNESS_EACH_NS * (double)key->variable_count;
    double each[KINDS_OF_SUM];

    for (int i = 0; i < KINDS_OF_SUM; i++) each[i] = sum_each[i] * slower;
    const double device_ms = predict_sums(key, sum_fixed, each) + PREDICT_CUDA_TRANSFORMS_FIXED_MS +
                             1e-6 * PREDICT_CUDA_TRANSFORMS_EACH_NS * n * transforms * slower;
    out->open_ms = PREDICT_CUDA_OPEN_MS;
    out->key_ms =
        (double)(key->file.bytes.size + key->derived_file.bytes.size) / PREDICT_CUDA_KEY_BYTES_PER_MS;
    out->proof_ms = witness_ms + device_ms + PREDICT_CUDA_END_MS;
    out->steady_ms = device_ms;
}

static void predict_cpu(struct groth16_prediction *out, const struct groth16_key *key, double units)
{
    static const double none[KINDS_OF_SUM] = { 0 }, each[] = PREDICT_CPU_SUM_EACH_NS;
    const double n = (double)key->domain.size, count = key->h_mode == H_LAGRANGE_4 ? 4 : 6,
                 butterflies = count * n / 2 * key->domain.log2;
    const double ms = predict_sums(key, none, each) + 1e-6 * PREDICT_CPU_BUTTERFLY_NS * butterflies;

    out->proof_ms = ms / units + PREDICT_CPU_END_MS;
    out->steady_ms = ms / units;
}

void groth16_predict(struct groth16_prediction *out, const struct groth16_key *key, bool on_card,
                     unsigned units)
{
    memset(out, 0, sizeof *out);
    if (on_card)
        predict_card(out, key, units != 0 ? units : 1);
    else
        predict_cpu(out, key, units != 0 ? units : 1);
}
