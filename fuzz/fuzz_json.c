/* Fuzzes the readers of proof.json, public.json and verification_key.json: what is read must come back after writing. */
#include "formats/snarkjs_json.h"
#include "fuzz.h"

static void check_proof(struct span file)
{
    const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };
    for (size_t i = 0; i < ARRAY_COUNT(curves); i++) {
        struct proof_points proof, back;
        struct json_text text;
        struct task t;
        task_init(&t);
        if (!fuzz_ok(&t, snarkjs_proof_read(&proof, &t, FUZZ_PATH, file, curves[i]))) continue;
        if (snarkjs_proof_write(&t, &text, curves[i], &proof) != CUZK_OK) abort();
        if (snarkjs_proof_read(&back, &t, FUZZ_PATH, span_of(text.data, text.size), NULL) != CUZK_OK) abort();
        if (memcmp(&back, &proof, sizeof back) != 0) abort();
        json_text_fini(&text);
    }
}

static void check_public(struct span file)
{
    struct public_values values, back;
    struct json_text text;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, snarkjs_public_read(&values, &t, FUZZ_PATH, file, &curve_bls12_381))) return;
    if (snarkjs_public_write(&t, &text, values.value, values.count) != CUZK_OK) abort();
    if (snarkjs_public_read(&back, &t, FUZZ_PATH, span_of(text.data, text.size), &curve_bls12_381) != CUZK_OK)
        abort();
    if (back.count != values.count) abort();
    if (values.count > 0 && memcmp(back.value, values.value, values.count * sizeof *values.value) != 0)
        abort();
    json_text_fini(&text);
    public_values_fini(&values);
    public_values_fini(&back);
}

static void check_vk(struct span file)
{
    struct vk_points vk, back;
    struct json_text text;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, snarkjs_vk_read(&vk, &t, FUZZ_PATH, file))) return;
    if (snarkjs_vk_write(&t, &text, &vk) != CUZK_OK) abort();
    if (snarkjs_vk_read(&back, &t, FUZZ_PATH, span_of(text.data, text.size)) != CUZK_OK) abort();
    if (back.ic_count != vk.ic_count || memcmp(back.ic, vk.ic, vk.ic_count * sizeof *vk.ic) != 0) abort();
    json_text_fini(&text);
    vk_points_fini(&vk);
    vk_points_fini(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span file = span_of(data, size);
    check_proof(file);
    check_public(file);
    check_vk(file);
    return 0;
}
