/* Reads control group limits: find where the controller is mounted and which group is ours, then walk up to the mount point. */
#include "base/cgroup.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

/* First line of the file without its newline. */
static bool read_line(char *out, size_t bytes, const char *path)
{
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    bool ok = fgets(out, (int)bytes, f) != NULL;
    fclose(f);
    if (ok) out[strcspn(out, "\n")] = '\0';
    return ok;
}

/* Whether name is one of the words of a comma-separated list. */
static bool list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *word = list; word != NULL; word = strchr(word, ',')) {
        if (*word == ',') word++;
        if (strncmp(word, name, length) == 0 && (word[length] == ',' || word[length] == '\0')) return true;
    }
    return false;
}

/* Our group in the hierarchy that has the controller; controller NULL: in the version 2 hierarchy. */
static bool own_group(char *out, const char *root, const char *controller)
{
    char path[PATH_BYTES], line[PATH_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    bool found = false;
    /* hierarchy:controllers:/group */
    while (!found && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':');
        char *group = list != NULL ? strchr(list + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = '\0';
        list++;
        found = controller != NULL ? list_has(list, controller) : *list == '\0';
        if (found) snprintf(out, PATH_BYTES, "%s", group);
    }
    fclose(f);
    return found;
}

/* Where that hierarchy is mounted, and which of its groups is the mount's root. */
static bool find_mount(char *mount_point, char *mount_root, const char *root, const char *controller)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    char *line = NULL;
    size_t line_bytes = 0;
    bool found = false;
    /* id parent device root point options [tags] - type source super-options */
    while (!found && getline(&line, &line_bytes, f) > 0) {
        char *tail = strstr(line, " - ");
        if (tail == NULL) continue;
        *tail = '\0';
        char type[32], super[1024];
        if (sscanf(tail + 3, "%31s %*s %1023s", type, super) != 2) continue;
        bool right = controller != NULL ? strcmp(type, "cgroup") == 0 && list_has(super, controller)
                                        : strcmp(type, "cgroup2") == 0;
        found = right && sscanf(line, "%*s %*s %*s %4095s %4095s", mount_root, mount_point) == 2;
    }
    free(line);
    fclose(f);
    return found;
}

typedef uint64_t limit_reader(const char *folder);

/* The smallest limit from our group up to the mount point. */
static uint64_t smallest_limit(const char *root, const char *controller, limit_reader *reader)
{
    char group[PATH_BYTES], mount_point[PATH_BYTES], mount_root[PATH_BYTES];
    if (!own_group(group, root, controller) || !find_mount(mount_point, mount_root, root, controller))
        return CGROUP_NO_LIMIT;

    /* In a container the mount shows only the part of the hierarchy below mount_root. */
    size_t skip = strcmp(mount_root, "/") == 0 ? 0 : strlen(mount_root);
    bool below = strncmp(group, mount_root, skip) == 0 && (group[skip] == '/' || group[skip] == '\0');
    char folder[3 * PATH_BYTES];
    int top = snprintf(folder, sizeof folder, "%s%s", root, mount_point);
    snprintf(folder + top, sizeof folder - (size_t)top, "%s", below ? group + skip : "");

    uint64_t smallest = CGROUP_NO_LIMIT;
    for (;;) {
        uint64_t limit = reader(folder);
        if (limit < smallest) smallest = limit;
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash < folder + top) return smallest;
        *slash = '\0';
    }
}

static uint64_t read_number(const char *folder, const char *file)
{
    char path[4 * PATH_BYTES], line[64], *end;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (!read_line(line, sizeof line, path)) return CGROUP_NO_LIMIT;
    if (line[0] < '0' || line[0] > '9') return CGROUP_NO_LIMIT; /* "max", "-1" */
    unsigned long long value = strtoull(line, &end, 10);
    return *end == '\0' ? value : CGROUP_NO_LIMIT;
}

static uint64_t memory_v2(const char *folder) { return read_number(folder, "memory.max"); }

static uint64_t memory_v1(const char *folder)
{
    uint64_t limit = read_number(folder, "memory.limit_in_bytes");
    bool none = limit >= (uint64_t)1 << 62; /* the kernel writes the largest page-aligned positive number */
    return none ? CGROUP_NO_LIMIT : limit;
}

static uint64_t cpu_v2(const char *folder)
{
    char path[4 * PATH_BYTES], line[128];
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    unsigned long long quota, period;
    if (!read_line(line, sizeof line, path) || sscanf(line, "%llu %llu", &quota, &period) != 2 || period == 0)
        return CGROUP_NO_LIMIT; /* "max 100000" */
    return quota * 1000 / period;
}

static uint64_t cpu_v1(const char *folder)
{
    uint64_t quota = read_number(folder, "cpu.cfs_quota_us"),
             period = read_number(folder, "cpu.cfs_period_us");
    if (quota == CGROUP_NO_LIMIT || period == CGROUP_NO_LIMIT || period == 0) return CGROUP_NO_LIMIT;
    return quota * 1000 / period;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

void cgroup_read(struct cgroup_limits *out, const char *root)
{
    /* A controller lives in one of the two versions; on a mixed system the other one shows no limit for it. */
    out->memory_bytes =
        least(smallest_limit(root, NULL, memory_v2), smallest_limit(root, "memory", memory_v1));
    out->cpu_thousandths = least(smallest_limit(root, NULL, cpu_v2), smallest_limit(root, "cpu", cpu_v1));
}

static uint64_t peak_v2(const char *folder) { return read_number(folder, "memory.peak"); }
static uint64_t peak_v1(const char *folder) { return read_number(folder, "memory.max_usage_in_bytes"); }

uint64_t cgroup_memory_peak(const char *root)
{
    /* a group's is never more than that of those around it, so the smallest is the own one's */
    const uint64_t peak = least(smallest_limit(root, NULL, peak_v2), smallest_limit(root, "memory", peak_v1));

    return peak == CGROUP_NO_LIMIT ? 0 : peak;
}
