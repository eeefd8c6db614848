/* Fuzzes the identification of files and the sentences made from it. */
#include "formats/identify.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span file = span_of(data, size);
    enum file_kind kind = identify(file);
    if ((unsigned)kind >= FILE_KIND_COUNT) abort();
    for (int wanted = 0; wanted < FILE_KIND_COUNT; wanted++) {
        struct task t;
        task_init(&t);
        if (fuzz_ok(&t, identify_fail(&t, FUZZ_PATH, file, (enum file_kind)wanted, "it is not"))) abort();
    }
    return 0;
}
