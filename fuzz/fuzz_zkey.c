/* Fuzzes the reader of .zkey files. */
#include "formats/zkey.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span file = span_of(data, size);
    struct zkey z;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, zkey_parse(&z, &t, FUZZ_PATH, file))) return 0;
    const struct span views[] = { z.ic, z.a, z.b1, z.b2, z.c, z.h, z.coefs, z.contributions };
    for (size_t i = 0; i < ARRAY_COUNT(views); i++) fuzz_inside(file, views[i]);
    const struct group *g = &z.curve->g1;
    for (uint32_t i = 0; i < z.n_vars; i++) {
        const uint8_t *p = z.a.data + g->aff_bytes * i;
        if (!fuzz_ok(&t, zkey_point_verdict(&z, &t, "A", p, i, g->aff_check(p, false)))) return 0;
    }
    for (uint64_t i = 0; i < z.n_coefs; i++) {
        struct zkey_coef coef;
        if (!fuzz_ok(&t, zkey_coef_read(&z, &t, &coef, i))) return 0;
        if (coef.row >= z.domain_size || coef.wire >= z.n_vars || coef.matrix > 1) abort();
    }
    return 0;
}
