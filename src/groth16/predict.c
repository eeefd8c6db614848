/* How long a proof on a key will take on a device. */
#include "groth16/predict.h"
#include "groth16/msm_set.h"
#include "groth16/predict_rates.h"
#include <math.h>
#include <string.h>

/* Of the samples' times by size: by curve, then by group. */
static unsigned kind_of(const struct groth16_key *key, enum group_id g)
{
    return 2 * ((unsigned)key->curve->id - 1) + (g == GROUP_G2);
}

/* What count points take by samples, most of them at most, in increasing order. */
static double time_of(const struct predict_sample *samples, unsigned most, double count)
{
    const double at = log2(count);
    unsigned last = most - 1, i = 0;

    while (samples[last].log2_count == 0) last--;
    if (at <= samples[0].log2_count) return samples[0].ms;
    if (at >= samples[last].log2_count) return samples[last].ms * exp2(at - samples[last].log2_count);
    while (at > samples[i + 1].log2_count) i++;
    const struct predict_sample *const s = &samples[i];
    const double part = (at - s[0].log2_count) / (s[1].log2_count - s[0].log2_count);
    return s[0].ms * pow(s[1].ms / s[0].ms, part);
}

static void predict_card(struct groth16_prediction *out, const struct groth16_key *key, double units)
{
    const double slower = predict_card_units / units, n = (double)key->domain.size * slower;
    struct msm_row rows[QUERY_COUNT];
    double busy_ms = predict_rows_fixed_ms + 1e-6 * predict_rows_each_ns * n;
    unsigned stages = 2;

    busy_ms += time_of(predict_quotient, PREDICT_QUOTIENT_SAMPLES, n) *
               (key->h_mode == H_LAGRANGE_4 ? predict_quotient_derived : 1);
    msm_set_rows(rows, key);
    for (int q = 0; q < QUERY_COUNT; q++) {
        if (rows[q].count == 0) continue;
        stages++;
        busy_ms += time_of(predict_sums[kind_of(key, rows[q].group)], PREDICT_SUM_SAMPLES,
                           (double)rows[q].count * slower);
    }
    out->open_ms = predict_open_ms;
    out->key_ms = (double)(key->file.bytes.size + key->derived_file.bytes.size) / predict_key_bytes_per_ms;
    out->card_ms = busy_ms + stages * predict_wait_ms;
    out->proof_ms = 1e-6 * predict_witness_each_ns * (double)key->variable_count + out->card_ms +
                    predict_card_end_ms[key->curve->id - 1];
    out->steady_ms = busy_ms; /* other proofs' kernels run while one waits */
}

static void predict_cpu(struct groth16_prediction *out, const struct groth16_key *key, double units)
{
    const double transforms = key->h_mode == H_LAGRANGE_4 ? 4 : 6,
                 butterflies = transforms * (double)key->domain.size / 2 * key->domain.log2;
    struct msm_row rows[QUERY_COUNT];
    double ms = 1e-6 * predict_cpu_butterfly_ns * butterflies;

    msm_set_rows(rows, key);
    for (int q = 0; q < QUERY_COUNT; q++)
        ms += 1e-6 * predict_cpu_sum_each_ns[kind_of(key, rows[q].group)] * (double)rows[q].count;
    out->steady_ms = ms / pow(units, predict_cpu_shared);
    out->proof_ms = out->steady_ms + predict_cpu_end_ms;
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
