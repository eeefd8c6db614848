/* The backends of this build, by name. */
#include "backend/backend.h"

#include "backend/cpu/cpu_device.h"

#include <string.h>

/* Linked into test programs only (backend/fault); elsewhere their addresses are null. */
extern const struct backend backend_fault __attribute__((weak));
extern const struct backend backend_blind __attribute__((weak));
/* In builds with CUDA, and in test programs that link its emulation (tests/cuda_host).  A weak reference would not take it out of an archive. */
#if CUZK_HAVE_CUDA
extern const struct backend backend_cuda;
#else
extern const struct backend backend_cuda __attribute__((weak));
#endif

const struct backend *backend_by_name(const char *name)
{
    if (strcmp(name, "cpu") == 0) return &backend_cpu;
    if (strcmp(name, "cuda") == 0) return &backend_cuda;
    if (strcmp(name, "fault") == 0) return &backend_fault;
    if (strcmp(name, "blind") == 0) return &backend_blind;
    return NULL;
}
