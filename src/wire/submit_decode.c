/* A SubmitProofRequest, alone or inside a ProveRequest, read from the pieces of its message.
 *
 * Like every reader of Protocol Buffers: unknown fields are passed over, of a field that comes twice the last one counts, and a
 * submessage that comes twice is merged. */
#include "wire/submit_decode.h"
#include "base/bytes.h"
#include <stdlib.h>

#define SUBMIT_IN_PROVE 1 /* ProveRequest.submit */

enum field_kind { FIELD_TEXT, FIELD_U32, FIELD_U64, FIELD_HASH, FIELD_PAYLOAD, FIELD_COUNTED };
struct field {
    uint32_t number;
    enum field_kind kind;
    const char *name;
    size_t offset;
    size_t also; /* FIELD_HASH: of the flag; FIELD_PAYLOAD: of the size; FIELD_TEXT: bytes of the buffer */
};
#define AT(member) offsetof(struct submit, member)

static const struct field fields[] = {
    { 1, FIELD_TEXT, "request_id", AT(request_id), SUBMIT_REQUEST_ID_BYTES },
    { 2, FIELD_U32, "proof_kind", AT(proof_kind), 0 },
    { 3, FIELD_U64, "sector_size", AT(sector_size), 0 },
    { 4, FIELD_U64, "registered_proof", AT(registered_proof), 0 },
    { 5, FIELD_U32, "priority", AT(priority), 0 },
    { 10, FIELD_PAYLOAD, "vanilla_proof", AT(vanilla_proof), AT(vanilla_proof_bytes) },
    { 11, FIELD_COUNTED, "vanilla_proofs", AT(vanilla_proof_count), 0 },
    { 20, FIELD_U64, "sector_number", AT(sector_number), 0 },
    { 21, FIELD_U64, "miner_id", AT(miner_id), 0 },
    { 22, FIELD_HASH, "randomness", AT(randomness), AT(has_randomness) },
    { 23, FIELD_U32, "partition_index", AT(partition_index), 0 },
    { 30, FIELD_HASH, "comm_r_old", AT(comm_r_old), AT(has_comm_r_old) },
    { 31, FIELD_HASH, "comm_r_new", AT(comm_r_new), AT(has_comm_r_new) },
    { 32, FIELD_HASH, "comm_d_new", AT(comm_d_new), AT(has_comm_d_new) },
    { 50, FIELD_TEXT, "circuit", AT(circuit), SUBMIT_CIRCUIT_BYTES },
    { 51, FIELD_PAYLOAD, "witness", AT(witness), AT(witness_bytes) },
    { 52, FIELD_U64, "deadline_ms", AT(deadline_ms), 0 },
    { 53, FIELD_U32, "durable", AT(durable), 0 },
    { 54, FIELD_TEXT, "witness_file", AT(witness_file), SUBMIT_FILE_BYTES },
};

static cuzk_status fail_field(struct task *t, const struct field *f, const char *what, uint64_t number)
{
    FAIL(t, CUZK_INVALID_ARGUMENT, "%s %s %llu", f->name, what, (unsigned long long)number);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, f->name, NULL);
    return CUZK_INVALID_ARGUMENT;
}

static cuzk_status read_text(struct task *t, struct wire_reader *r, const struct field *f, char *out,
                             uint64_t bytes)
{
    if (bytes >= f->also) return fail_field(t, f, "is longer than its bytes at most, which are", f->also - 1);
    TRY(wire_copy(t, r, (uint8_t *)out, bytes));
    out[bytes] = '\0';
    return wire_check_text(t, f->name, (const uint8_t *)out, (size_t)bytes);
}

static cuzk_status read_payload(struct task *t, struct wire_reader *r, const struct field *f, uint8_t **out,
                                uint64_t *size, uint64_t bytes)
{
    if (*out) {
        wipe(*out, (size_t)*size);
        free(*out);
    }
    *out = NULL;
    *size = 0;
    if (bytes == 0) return CUZK_OK;
    *out = malloc((size_t)bytes);
    if (!*out)
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the %llu bytes of %s", (unsigned long long)bytes,
                    f->name);
    *size = bytes;
    return wire_copy(t, r, *out, bytes);
}

static cuzk_status read_field(struct task *t, struct submit *s, struct wire_reader *r, uint64_t end,
                              const struct field *f)
{
    char *at = (char *)s + f->offset;
    uint64_t v;
    if (f->kind == FIELD_U32 || f->kind == FIELD_U64) {
        TRY(wire_varint(t, r, end, &v));
        if (f->kind == FIELD_U64)
            memcpy(at, &v, sizeof v);
        else if (v > UINT32_MAX)
            return fail_field(t, f, "has 32 bits, and cannot be", v);
        else
            memcpy(at, &(uint32_t){ (uint32_t)v }, sizeof(uint32_t));
        return CUZK_OK;
    }
    TRY(wire_length(t, r, end, &v));
    switch (f->kind) {
    case FIELD_TEXT:
        return read_text(t, r, f, at, v);
    case FIELD_PAYLOAD:
        return read_payload(t, r, f, (uint8_t **)(void *)at, (uint64_t *)(void *)((char *)s + f->also), v);
    case FIELD_HASH:
        *(bool *)((char *)s + f->also) = v != 0;
        if (v == 0) return CUZK_OK;
        if (v != SUBMIT_HASH_BYTES) return fail_field(t, f, "has 32 bytes, not", v);
        return wire_copy(t, r, (uint8_t *)at, v);
    case FIELD_COUNTED:
        s->vanilla_proof_count++;
        return wire_copy(t, r, NULL, v);
    case FIELD_U32:
    case FIELD_U64:
        break;
    }
    return CUZK_OK;
}

static bool fits(enum field_kind kind, enum wire_type type)
{
    return type == (kind == FIELD_U32 || kind == FIELD_U64 ? WIRE_VARINT : WIRE_BYTES);
}

static cuzk_status read_submit(struct task *t, struct submit *s, struct wire_reader *r, uint64_t end)
{
    for (;;) {
        uint32_t number;
        enum wire_type type;
        TRY(wire_field(t, r, end, &number, &type));
        if (number == 0) return CUZK_OK;
        const struct field *f = NULL;
        for (size_t i = 0; i < ARRAY_COUNT(fields) && !f; i++)
            if (fields[i].number == number) f = &fields[i];
        if (f && fits(f->kind, type)) {
            TRY(read_field(t, s, r, end, f));
        } else {
            TRY(wire_skip(t, r, end, type));
        }
    }
}

cuzk_status submit_decode(struct task *t, struct submit *out, struct wire_reader *r, bool in_prove)
{
    memset(out, 0, sizeof *out);
    const uint64_t end = r->offset + r->left;
    if (!in_prove) {
        out->present = true;
        return read_submit(t, out, r, end);
    }
    for (;;) {
        uint32_t number;
        enum wire_type type;
        TRY(wire_field(t, r, end, &number, &type));
        if (number == 0) return CUZK_OK;
        if (number == SUBMIT_IN_PROVE && type == WIRE_BYTES) {
            uint64_t bytes;
            TRY(wire_length(t, r, end, &bytes));
            out->present = true;
            TRY(read_submit(t, out, r, r->offset + bytes));
        } else {
            TRY(wire_skip(t, r, end, type));
        }
    }
}

void submit_free(struct submit *s)
{
    if (s->vanilla_proof) wipe(s->vanilla_proof, (size_t)s->vanilla_proof_bytes);
    if (s->witness) wipe(s->witness, (size_t)s->witness_bytes);
    free(s->vanilla_proof);
    free(s->witness);
    s->vanilla_proof = s->witness = NULL;
}
