/* Reads .wtns files. */
#include "formats/wtns.h"
#include "base/bytes.h"
#include "formats/binfile.h"
#include "formats/circom_field.h"
#include "formats/fail_at.h"
#include <inttypes.h>
#include <stdio.h>

#define VALUE_BYTES 32

/* witness_check says which rule is broken; the file's offset is found here, on the way out only. */
static uint64_t first_bad(const struct witness *w)
{
    struct fr_int v;
    for (uint64_t i = 0; i < w->count; i++) {
        witness_get(w, &v, i);
        bool is_one = (v.w[0] == 1) & ((v.w[1] | v.w[2] | v.w[3]) == 0);
        if (!w->curve->fr.int_is_canonical(&v) || (i == 0 && !is_one)) {
            wipe(&v, sizeof v);
            return i;
        }
    }
    return 0;
}

cuzk_status wtns_view(struct witness *out, struct task *t, const char *path, struct span file)
{
    struct binfile b;
    struct span head;
    memset(out, 0, sizeof *out);
    TRY(binfile_parse(&b, t, path, file, "wtns", 2));
    TRY(binfile_section(&b, t, &head, 1, "header"));
    uint64_t at = binfile_offset(file, head.data);
    const struct curve *curve;
    TRY(circom_field_parse(&curve, t, path, head, 4, at));
    if (head.size != 8 + VALUE_BYTES)
        return FAIL_AT(t, path, at - 8, "header", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "the header section has %zu bytes instead of %d", head.size, 8 + VALUE_BYTES);
    uint32_t count = load_le32(head.data + 4 + VALUE_BYTES);
    if (count == 0)
        return FAIL_AT(t, path, at + 4 + VALUE_BYTES, "nWitness", ADVICE_DAMAGED, CUZK_MALFORMED,
                       "a witness of no values; there is always the constant 1");
    struct span values;
    TRY(binfile_exact(&b, t, &values, 2, "values", count, VALUE_BYTES));
    *out = (struct witness){ .curve = curve, .values = values, .count = count };
    return CUZK_OK;
}

cuzk_status wtns_parse(struct witness *out, struct task *t, const char *path, struct span file)
{
    struct witness w;
    memset(out, 0, sizeof *out);
    TRY(wtns_view(&w, t, path, file));
    cuzk_status status = witness_check(t, &w);
    if (status != CUZK_OK) {
        uint64_t index = first_bad(&w);
        char field[48];
        snprintf(field, sizeof field, "value %" PRIu64, index);
        task_fail_place(t, path, binfile_offset(file, w.values.data) + VALUE_BYTES * index, field,
                        "The witness was not made by a correct generator for this field: make it again.");
        return status;
    }
    *out = w;
    return CUZK_OK;
}
