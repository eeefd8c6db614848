/* Fuzzes the reader of .wtns files. */
#include "formats/wtns.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct witness w;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, wtns_parse(&w, &t, FUZZ_PATH, span_of(data, size)))) return 0;
    fuzz_inside(span_of(data, size), w.values);
    for (uint64_t i = 0; i < w.count; i++) {
        struct fr_int v;
        witness_get(&w, &v, i);
        if (!w.curve->fr.int_is_canonical(&v)) abort();
    }
    return 0;
}
