/* Reads .r1cs files. */
#include "formats/r1cs_file.h"
#include "base/bytes.h"
#include "formats/binfile.h"
#include "formats/circom_field.h"
#include "formats/fail_at.h"
#include <inttypes.h>

#define VALUE_BYTES      32
#define TERM_BYTES       (4 + VALUE_BYTES)
#define HEADER_BYTES     (32 + VALUE_BYTES)
#define CONSTRAINT_BYTES 12 /* at least: three empty combinations */

cuzk_status r1cs_file_parse(struct r1cs_file *out, struct task *t, const char *path, struct span file)
{
    struct binfile b;
    struct span head;
    memset(out, 0, sizeof *out);
    TRY(binfile_parse(&b, t, path, file, "r1cs", 1));
    TRY(binfile_section(&b, t, &head, 1, "header"));
    uint64_t at = binfile_offset(file, head.data);
    TRY(circom_field_parse(&out->curve, t, path, head, HEADER_BYTES - 4 - VALUE_BYTES, at));
    if (head.size != HEADER_BYTES)
        return FAIL_AT(t, path, at - 8, "header", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "the header section has %zu bytes instead of %d", head.size, HEADER_BYTES);
    const uint8_t *p = head.data + 4 + VALUE_BYTES;
    out->path = path;
    out->file = file;
    out->n_wires = load_le32(p);
    out->n_outputs = load_le32(p + 4);
    out->n_public_inputs = load_le32(p + 8);
    out->n_private_inputs = load_le32(p + 12);
    out->n_labels = load_le64(p + 16);
    out->n_constraints = load_le32(p + 24);
    uint64_t n_public = (uint64_t)out->n_outputs + out->n_public_inputs;
    if (n_public >= out->n_wires)
        return FAIL_AT(t, path, at + 4 + VALUE_BYTES, "nWires", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "%" PRIu32 " wires cannot hold the constant and %" PRIu64 " public signals",
                       out->n_wires, n_public);
    out->n_public = (uint32_t)n_public;
    TRY(binfile_section(&b, t, &out->constraints, 2, "constraints"));
    if (out->constraints.size / CONSTRAINT_BYTES < out->n_constraints)
        return FAIL_AT(t, path, at + 4 + VALUE_BYTES + 24, "nConstraints", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "%" PRIu32 " constraints cannot stand in a section of %zu bytes", out->n_constraints,
                       out->constraints.size);
    return CUZK_OK;
}

void r1cs_reader_init(struct r1cs_reader *r, const struct r1cs_file *file)
{
    memset(r, 0, sizeof *r);
    r->file = file;
    r->side = 3; /* "behind" constraint -1: the first call moves to side A of constraint 0 */
    r->constraint = UINT32_MAX;
}

static uint64_t file_offset(const struct r1cs_reader *r)
{
    return binfile_offset(r->file->file, r->file->constraints.data) + r->at;
}

/* Enters the next side that has terms; *end after the last constraint. */
static cuzk_status enter_side(struct r1cs_reader *r, struct task *t, bool *end)
{
    const struct r1cs_file *f = r->file;
    while (r->terms_left == 0) {
        if (r->side >= R1CS_C) {
            r->side = R1CS_A;
            r->constraint++;
        } else {
            r->side++;
        }
        if (r->constraint >= f->n_constraints) {
            r->constraint = f->n_constraints - 1; /* stay behind the end, however often asked */
            r->side = 3;
            if (r->at != f->constraints.size)
                return FAIL_AT(t, f->path, file_offset(r), "constraints", ADVICE_DAMAGED, CUZK_MALFORMED,
                               "%" PRIu64 " bytes follow the last of %" PRIu32 " constraints",
                               (uint64_t)f->constraints.size - r->at, f->n_constraints);
            *end = true;
            return CUZK_OK;
        }
        if (!span_holds(f->constraints, r->at, 4))
            return FAIL_AT(t, f->path, file_offset(r), "constraints", ADVICE_DAMAGED, CUZK_MALFORMED,
                           "the section ends inside constraint %" PRIu32 " of %" PRIu32, r->constraint,
                           f->n_constraints);
        uint32_t count = load_le32(f->constraints.data + r->at);
        if (!span_holds(f->constraints, r->at + 4, (uint64_t)count * TERM_BYTES))
            return FAIL_AT(t, f->path, file_offset(r), "constraints", ADVICE_DAMAGED, CUZK_MALFORMED,
                           "%c of constraint %" PRIu32 " should have %" PRIu32
                           " terms, which is beyond the end of the section",
                           "ABC"[r->side], r -> constraint, count);
        r->at += 4;
        r->terms_left = count;
    }
    return CUZK_OK;
}

cuzk_status r1cs_reader_next(struct r1cs_reader *r, struct task *t, struct r1cs_term *out, bool *end)
{
    const struct r1cs_file *f = r->file;
    *end = false;
    TRY(enter_side(r, t, end));
    if (*end) return CUZK_OK;

    const uint8_t *p = f->constraints.data + r->at;
    out->constraint = r->constraint;
    out->side = (enum r1cs_side)r->side;
    out->wire = load_le32(p);
    words_from_le(out->value.w, p + 4, 4);
    if (out->wire >= f->n_wires)
        return FAIL_AT(t, f->path, file_offset(r), "wire", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "%c of constraint %" PRIu32 " names wire %" PRIu32 ", but there are only %" PRIu32,
                       "ABC"[r->side], r -> constraint, out -> wire, f -> n_wires);
    if (!f->curve->fr.int_is_canonical(&out->value))
        return FAIL_AT(t, f->path, file_offset(r) + 4, "coefficient", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "a coefficient in %c of constraint %" PRIu32 " is not smaller than the field's prime",
                       "ABC"[r->side], r -> constraint);
    r->at += TERM_BYTES;
    r->terms_left--;
    return CUZK_OK;
}
