/* Fuzzes the reader of trapdoor files. */
#include "formats/trapdoor_file.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trapdoor secrets;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, trapdoor_file_read(&secrets, &t, FUZZ_PATH, span_of(data, size)))) return 0;
    if (secrets.curve == NULL || !secrets.curve->fr.int_is_canonical(&secrets.tau)) abort();
    return 0;
}
