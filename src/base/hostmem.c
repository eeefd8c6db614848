/* Reads /proc and the control groups for memory sizes. */
#include "base/hostmem.h"
#include "base/cgroup.h"
#include <stdio.h>
#include <string.h>

#define NEVER_REFUSED_BYTES ((uint64_t)64 << 20) /* not worth reading /proc for */

/* The value of a "Key:   123 kB" line, in bytes; 0 if there is none. */
static uint64_t kib_field(const char *path, const char *key)
{
    FILE *f = fopen(path, "re");
    if (f == NULL) return 0;
    char line[256];
    size_t length = strlen(key);
    unsigned long long kib = 0;
    while (kib == 0 && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, key, length) == 0 && line[length] == ':' &&
            sscanf(line + length + 1, "%llu", &kib) != 1)
            break;
    }
    fclose(f);
    return (uint64_t)kib * 1024;
}

uint64_t hostmem_limit_bytes(void)
{
    struct cgroup_limits limits;
    cgroup_read(&limits, "");
    uint64_t total = kib_field("/proc/meminfo", "MemTotal");
    if (total == 0) return limits.memory_bytes == CGROUP_NO_LIMIT ? 0 : limits.memory_bytes;
    return limits.memory_bytes < total ? limits.memory_bytes : total;
}

cuzk_status hostmem_allows(struct task *t, const char *path, uint64_t bytes, const char *what)
{
    if (bytes < NEVER_REFUSED_BYTES) return CUZK_OK;
    const uint64_t limit = hostmem_limit_bytes();
    if (limit == 0 || bytes <= limit) return CUZK_OK;
    FAIL(t, CUZK_TOO_LARGE, "%s takes %llu bytes of memory; this process may use %llu", what,
         (unsigned long long)bytes, (unsigned long long)limit);
    task_fail_place(
        t, path, ERROR_NO_OFFSET, NULL,
        "use a machine, or a control group, with more memory; look whether the file is what it says");
    return CUZK_TOO_LARGE;
}

uint64_t hostmem_rss_bytes(void) { return kib_field("/proc/self/status", "VmRSS"); }
uint64_t hostmem_peak_rss_bytes(void) { return kib_field("/proc/self/status", "VmHWM"); }

bool hostmem_peak_reset(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "we");
    if (f == NULL) return false;
    const bool written = fputs("5\n", f) >= 0;
    return fclose(f) == 0 && written;
}

uint64_t hostmem_group_peak_bytes(void) { return cgroup_memory_peak(""); }
