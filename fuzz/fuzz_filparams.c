/* Fuzzes the reader of .params files in bellman's layout. */
#include "formats/filparams.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span file = span_of(data, size);
    struct filparams p;
    struct g_aff point;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, filparams_parse(&p, &t, FUZZ_PATH, file))) return 0;
    const struct span views[] = { p.vk.ic, p.h, p.l, p.a, p.b_g1, p.b_g2 };
    for (size_t i = 0; i < ARRAY_COUNT(views); i++) fuzz_inside(file, views[i]);
    for (uint32_t i = 0; i < p.h_count; i++)
        if (!fuzz_ok(&t, filparams_point(&p, &t, &point, &p.h, GROUP_G1, "h", i, false))) return 0;
    for (uint32_t i = 0; i < p.b_g2_count; i++)
        if (!fuzz_ok(&t, filparams_point(&p, &t, &point, &p.b_g2, GROUP_G2, "b_g2", i, false))) return 0;
    return 0;
}
