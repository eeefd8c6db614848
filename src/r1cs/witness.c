/* Checking a witness before anything is computed from it. */
#include "r1cs/witness.h"

cuzk_status witness_check(struct task *t, const struct witness *w)
{
    return witness_check_range(t, w, 0, w->count);
}

cuzk_status witness_check_range(struct task *t, const struct witness *w, uint64_t begin, uint64_t end)
{
    if (w->values.size / 32 < w->count || w->count == 0) {
        const cuzk_status s = FAIL(t, CUZK_MALFORMED, "the witness has %llu values but %zu bytes",
                                   (unsigned long long)w->count, w->values.size);
        task_fail_place(t, NULL, ERROR_NO_OFFSET, "witness", NULL);
        return s;
    }
    for (uint64_t i = begin; i < end; i++) {
        struct fr_int v;
        witness_get(w, &v, i);
        if (!w->curve->fr.int_is_canonical(&v)) {
            const cuzk_status s =
                FAIL(t, CUZK_MALFORMED, "witness value %llu is not below the scalar field's modulus of %s",
                     (unsigned long long)i, w->curve->name);
            task_fail_place(t, NULL, ERROR_NO_OFFSET, "witness",
                            "compute the witness again for the key's curve");
            return s;
        }
        if (i == 0 && (v.w[0] != 1 || (v.w[1] | v.w[2] | v.w[3]) != 0)) {
            const cuzk_status s = FAIL(t, CUZK_MALFORMED, "witness value 0 is not 1");
            task_fail_place(t, NULL, ERROR_NO_OFFSET, "witness", NULL);
            return s;
        }
    }
    return CUZK_OK;
}
