/* Fuzzes the reader of .vk files in bellman's layout. */
#include "formats/filvk.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct filvk vk;
    struct vk_points points;
    struct task t;
    task_init(&t);
    if (!fuzz_ok(&t, filvk_parse(&vk, &t, FUZZ_PATH, span_of(data, size)))) return 0;
    fuzz_inside(span_of(data, size), vk.ic);
    if (!fuzz_ok(&t, filvk_points(&points, &t, &vk))) return 0;
    if (vk.encoding == ENCODING_ZCASH) { /* encodings are unique: written again it is the same file */
        uint8_t *again = malloc(size);
        if (again == NULL || filvk_file_bytes(points.ic_count) != size) abort();
        filvk_write(again, &points, &vk.beta1, &vk.delta1);
        if (memcmp(again, data, size) != 0) abort();
        free(again);
    }
    vk_points_fini(&points);
    return 0;
}
