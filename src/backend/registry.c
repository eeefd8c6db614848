/* The backends of this build, by name. */
#include "backend/backend.h"

#include "backend/cpu/cpu_device.h"

#include <string.h>

/* Linked into test programs only (backend/fault); elsewhere their addresses are null. */
extern const struct backend backend_fault __attribute__((weak));
extern const struct backend backend_blind __attribute__((weak));
#if CUZK_HAVE_CUDA
extern const struct backend backend_cuda;
#endif

const struct backend *backend_by_name(const char *name)
{
    if (strcmp(name, "cpu") == 0) return &backend_cpu;
#if CUZK_HAVE_CUDA
    if (strcmp(name, "cuda") == 0) return &backend_cuda;
#endif
    if (strcmp(name, "fault") == 0) return &backend_fault;
    if (strcmp(name, "blind") == 0) return &backend_blind;
    return NULL;
}
