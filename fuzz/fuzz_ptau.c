/* Fuzzes the reader of .ptau files. */
#include "formats/ptau.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span file = span_of(data, size);
    struct ptau p;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, ptau_parse(&p, &t, FUZZ_PATH, file))) return 0;
    const struct span views[] = {
        p.tau_g1,        p.tau_g2,          p.alpha_tau_g1,    p.beta_tau_g1,           p.beta_g2,
        p.contributions, p.lagrange_tau_g1, p.lagrange_tau_g2, p.lagrange_alpha_tau_g1, p.lagrange_beta_tau_g1
    };
    for (size_t i = 0; i < ARRAY_COUNT(views); i++) fuzz_inside(file, views[i]);
    return 0;
}
