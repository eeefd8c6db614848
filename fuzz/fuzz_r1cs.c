/* Fuzzes the reader of .r1cs files: two passes must see the same. */
#include "formats/r1cs_file.h"
#include "fuzz.h"

static uint64_t count_terms(const struct r1cs_file *f, struct task *t)
{
    struct r1cs_reader reader;
    struct r1cs_term term;
    uint64_t terms = 0;
    bool end = false;
    r1cs_reader_init(&reader, f);
    while (fuzz_ok(t, r1cs_reader_next(&reader, t, &term, &end)) && !end) {
        if (term.wire >= f->n_wires || term.constraint >= f->n_constraints) abort();
        terms++;
    }
    return terms;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct r1cs_file f;
    struct task t, again;
    task_init(&t);
    task_init(&again);
    if (!fuzz_ok(&t, r1cs_file_parse(&f, &t, FUZZ_PATH, span_of(data, size)))) return 0;
    fuzz_inside(span_of(data, size), f.constraints);
    if (count_terms(&f, &t) != count_terms(&f, &again)) abort();
    return 0;
}
