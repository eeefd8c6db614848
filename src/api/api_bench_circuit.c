/* A circuit of a wanted size and its witness, for benches of whole proofs. */
#include "api/api.h"
#include "base/bytes.h"
#include "base/mapfile.h"
#include "base/rng.h"
#include "cuzk/cuzk_bench.h"
#include <stdlib.h>
#include <string.h>

/* Row i says that wire i + 1 squared is wire i + 2: wire 0 is 1, wire 1 public and random, all others full-size. */
enum {
    UNUSED_ROWS = 4, /* of the domain: the public inputs have rows of their own */
    TERM_BYTES = 4 + 32,
    ROW_BYTES = 3 * (4 + TERM_BYTES),
    HEADER_BYTES = 64,
    SECTION_BYTES = 12,
    MAGIC_BYTES = 12,
};

static uint8_t *put_u32(uint8_t *at, uint32_t v)
{
    store_le32(at, v);
    return at + 4;
}

static uint8_t *put_u64(uint8_t *at, uint64_t v)
{
    store_le64(at, v);
    return at + 8;
}

static uint8_t *put_magic(uint8_t *at, const char *magic, uint32_t version, uint32_t sections)
{
    memcpy(at, magic, 4);
    return put_u32(put_u32(at + 4, version), sections);
}

static uint8_t *put_modulus(uint8_t *at, const struct curve *c)
{
    words_to_le(at, c->fr.modulus.w, 4);
    return at + 32;
}

static uint8_t *put_side(uint8_t *at, uint32_t wire)
{
    at = put_u32(put_u32(at, 1), wire);
    memset(at, 0, 32);
    at[0] = 1;
    return at + 32;
}

static cuzk_status make_circuit(struct mapfile_output *out, struct task *t, const struct curve *c, uint32_t rows)
{
    const size_t rows_bytes = (size_t)rows * ROW_BYTES,
                 bytes = MAGIC_BYTES + 2 * SECTION_BYTES + HEADER_BYTES + rows_bytes;
    uint8_t *const file = malloc(bytes);

    if (file == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a circuit of %u rows", rows);
    uint8_t *at = put_magic(file, "r1cs", 1, 2);
    at = put_u64(put_u32(at, 1), HEADER_BYTES);
    at = put_modulus(put_u32(at, 32), c);
    at = put_u32(put_u32(at, rows + 2), 0);    /* wires; outputs */
    at = put_u32(put_u32(at, 1), rows);        /* public and private inputs */
    at = put_u32(put_u64(at, rows + 2), rows); /* labels; rows */
    at = put_u64(put_u32(at, 2), rows_bytes);
    for (uint32_t i = 0; i < rows; i++) at = put_side(put_side(put_side(at, i + 1), i + 1), i + 2);
    out->data = file;
    out->bytes = bytes;
    return CUZK_OK;
}

static cuzk_status make_witness(struct mapfile_output *out, struct task *t, const struct curve *c, uint32_t rows)
{
    const size_t values_bytes = 32 * ((size_t)rows + 2), head_bytes = 4 + 32 + 4,
                 bytes = MAGIC_BYTES + 2 * SECTION_BYTES + head_bytes + values_bytes;
    uint8_t *const file = malloc(bytes), wide[64];
    struct fr_int integer;
    struct fr x;

    if (file == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a witness of %u values", rows + 2);
    out->data = file;
    out->bytes = bytes;
    TRY(rng_bytes(t, wide, sizeof wide));
    uint8_t *at = put_magic(file, "wtns", 2, 2);
    at = put_u64(put_u32(at, 1), head_bytes);
    at = put_modulus(put_u32(at, 32), c);
    at = put_u32(at, rows + 2);
    at = put_u64(put_u32(at, 2), values_bytes);
    memset(at, 0, 32);
    at[0] = 1;
    c->fr.from_wide(&x, wide);
    for (uint32_t i = 0; i <= rows; i++) {
        at += 32;
        c->fr.to_int(&integer, &x);
        words_to_le(at, integer.w, 4);
        c->fr.mul(&x, &x, &x);
    }
    return CUZK_OK;
}

cuzk_status cuzk_bench_circuit(const char *curve, unsigned log2, const char *r1cs_path, const char *wtns_path,
                               cuzk_error *error)
{
    const struct curve *const c = curve != NULL ? curve_by_name(curve) : NULL;
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (c == NULL) return api_end(&call, api_refuse(&call, "curve"), error);
    if (log2 < 3 || log2 > CUZK_BENCH_CIRCUIT_LOG2_MOST)
        return api_end(&call, api_refuse(&call, "log2"), error);
    if (r1cs_path == NULL) return api_end(&call, api_refuse(&call, "r1cs_path"), error);
    if (wtns_path == NULL) return api_end(&call, api_refuse(&call, "wtns_path"), error);
    const uint32_t rows = ((uint32_t)1 << log2) - UNUSED_ROWS;
    struct mapfile_output outputs[] = { { r1cs_path, NULL, 0, 0600 }, { wtns_path, NULL, 0, 0600 } };
    cuzk_status status = make_circuit(&outputs[0], &call.task, c, rows);
    if (status == CUZK_OK) status = make_witness(&outputs[1], &call.task, c, rows);
    if (status == CUZK_OK) status = mapfile_write_together(&call.task, outputs, ARRAY_COUNT(outputs));
    for (size_t i = 0; i < ARRAY_COUNT(outputs); i++) free((void *)(uintptr_t)outputs[i].data);
    return api_end(&call, status, error);
}
