/* What the fuzz targets share.  A target is one file with LLVMFuzzerTestOneInput; libFuzzer calls it, or replay.c as a test. */
#ifndef CUZK_FUZZ_FUZZ_H
#define CUZK_FUZZ_FUZZ_H

#include "base/span.h"
#include "base/task.h"
#include <stdlib.h>
#include <string.h>

#define FUZZ_PATH "fuzzed"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold however the input looks: an error is recorded, with its text and the file, exactly when one is returned. */
static inline bool fuzz_ok(const struct task *t, cuzk_status status)
{
    if (status != t->error.status) abort();
    if (status != CUZK_OK && (t->error.text[0] == '\0' || strcmp(t->error.path, FUZZ_PATH) != 0)) abort();
    return status == CUZK_OK;
}

/* A view must lie inside the input. */
static inline void fuzz_inside(struct span file, struct span view)
{
    if (view.data == NULL && view.size == 0) return;
    if (view.data < file.data || !span_holds(file, (uint64_t)(view.data - file.data), view.size)) abort();
}

#endif
