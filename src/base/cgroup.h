/* The limits that a container or service manager set on this process: control groups, version 2 and version 1.
 *
 * Formats: proc(5) for /proc/self/cgroup and /proc/self/mountinfo, the kernel's cgroup-v2 and cgroup-v1 documents for the rest. */
#ifndef CUZK_BASE_CGROUP_H
#define CUZK_BASE_CGROUP_H

#include "base/dialect.h"

#define CGROUP_NO_LIMIT UINT64_MAX

struct cgroup_limits {
    uint64_t memory_bytes;    /* smallest limit from the process's group up to the root, or CGROUP_NO_LIMIT */
    uint64_t cpu_thousandths; /* CPU time quota in thousandths of a CPU, likewise */
};

/** In      root  prefix of /proc and of the mount points; "" for the running system, a folder in tests
 * Out     out   what could be read; a missing or strange file counts as no limit
 * Thread  any.  Cost: a few small files. */
void cgroup_read(struct cgroup_limits *out, const char *root);

/** The most memory that the process's group has taken since it was made (version 2: memory.peak; version 1: memory.max_usage_in_bytes), in
 * bytes; 0: unknown. */
uint64_t cgroup_memory_peak(const char *root);

#endif
