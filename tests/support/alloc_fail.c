/* The linker's --wrap hooks behind alloc_fail.h. */
#include "support/alloc_fail.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

static atomic_long calls_left = -1; /* until the failing one; negative: none is armed, or it has happened */

void alloc_fail_arm(size_t n) { atomic_store(&calls_left, (long)n); }

bool alloc_fail_disarm(void) { return atomic_exchange(&calls_left, -1) < 0; }

static bool must_fail(void)
{
    long left = atomic_load(&calls_left);
    while (left >= 0 && !atomic_compare_exchange_weak(&calls_left, &left, left - 1)) continue;
    if (left == 0) errno = ENOMEM;
    return left == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **out, size_t alignment, size_t bytes);
void *__real_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__real_mremap(void *old, size_t old_bytes, size_t bytes, int flags);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...);

void *__wrap_malloc(size_t bytes) { return must_fail() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return must_fail() ? NULL : __real_calloc(count, bytes); }
void *__wrap_realloc(void *old, size_t bytes) { return must_fail() ? NULL : __real_realloc(old, bytes); }

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return must_fail() ? NULL : __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    return must_fail() ? ENOMEM : __real_posix_memalign(out, alignment, bytes);
}

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return must_fail() ? MAP_FAILED : __real_mmap(address, bytes, protection, flags, fd, offset);
}

void *__wrap_mremap(void *old, size_t old_bytes, size_t bytes, int flags,
                    ...) /* nobody here gives a new address */
{
    return must_fail() ? MAP_FAILED : __real_mremap(old, old_bytes, bytes, flags);
}
