/* Fuzzes the reader of derived keys.  Each input is read as it is and with a digest that fits its header, so that what is behind it is reached. */
#include "formats/derived_file.h"
#include "fuzz.h"

#define HEADER_DIGEST (48 + 4 * SHA256_BYTES) /* docs/formats/derived-key.md */

static void read(struct span file)
{
    struct derived_file d;
    struct task t;

    task_init(&t);
    if (!fuzz_ok(&t, derived_file_parse(&d, &t, FUZZ_PATH, file))) return;
    for (int p = 0; p < DERIVED_PARTS; p++) {
        fuzz_inside(file, d.part[p]);
        if (d.part[p].size != d.layout.count[p] * d.shape.curve->g1.aff_bytes) abort();
    }
    if (d.part[DERIVED_IC].data + d.part[DERIVED_IC].size != d.part[DERIVED_L].data) abort();
    if (!fuzz_ok(&t, derived_file_check(&t, FUZZ_PATH, &d))) return;
    uint8_t *again = malloc(file.size); /* written again it is the same file */
    if (again == NULL) abort();
    memcpy(again, file.data, file.size);
    derived_file_finish(again, &d.shape, d.key_digest, d.key_bytes);
    if (memcmp(again, file.data, file.size) != 0) abort();
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read(span_of(data, size));
    if (size < HEADER_DIGEST + SHA256_BYTES) return 0;
    uint8_t *copy = malloc(size);
    if (copy == NULL) abort();
    memcpy(copy, data, size);
    sha256_of(copy + HEADER_DIGEST, copy, HEADER_DIGEST);
    read(span_of(copy, size));
    free(copy);
    return 0;
}
