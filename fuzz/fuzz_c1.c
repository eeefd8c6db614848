/* Fuzzes the reader of Commit Phase 1 outputs: plain and wrapped JSON, and bincode. */
#include "formats/c1.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct c1 c;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, c1_read(&c, &t, span_of(data, size), FUZZ_PATH))) return 0;
    if (c.shape == NULL || c.partitions != registered_proof_partitions(c.proof)) abort();
    c1_fini(&c);
    return 0;
}
