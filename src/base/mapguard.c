/* Zeros in place of what is gone of a mapped file. */
#include "base/mapguard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1024, PATH_BYTES = 256 };

/* begin 0: free; the handler may look at an entry at any moment, so end is set before begin and cleared after it. */
static struct {
    atomic_bool taken, hit;
    atomic_uintptr_t begin, end;
    char path[PATH_BYTES];
} mappings[MOST];
static atomic_bool started;
static atomic_flag lost_once = ATOMIC_FLAG_INIT;
static atomic_bool lost;
static char lost_path[PATH_BYTES];
static struct sigaction before;
static uintptr_t page_bytes;

/* mmap is one system call here, and nothing of it depends on where the thread was interrupted. */
static void gone(int signal, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr;
    (void)context;
    for (unsigned i = 0; i < MOST; i++) {
        const uintptr_t begin = atomic_load(&mappings[i].begin), end = atomic_load(&mappings[i].end);
        if (begin == 0 || at < begin || at >= end) continue;
        void *const from = (void *)(at & ~(page_bytes - 1));
        const size_t bytes = end - (uintptr_t)from; /* a file that is too short here is too short behind it */
        if (mmap(from, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
        atomic_store(&mappings[i].hit, true);
        if (!atomic_flag_test_and_set(&lost_once)) {
            memcpy(lost_path, mappings[i].path, PATH_BYTES);
            atomic_store(&lost, true);
        }
        return;
    }
    sigaction(signal, &before, NULL); /* none of ours: it is raised again */
}

void mapguard_start(void)
{
    struct sigaction action = { .sa_sigaction = gone, .sa_flags = SA_SIGINFO };
    if (atomic_exchange(&started, true)) return;
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &before) != 0) atomic_store(&started, false);
}

unsigned mapguard_add(const void *begin, size_t bytes, const char *path)
{
    if (!atomic_load(&started) || bytes == 0) return 0;
    for (unsigned i = 0; i < MOST; i++) {
        if (atomic_exchange(&mappings[i].taken, true)) continue;
        atomic_store(&mappings[i].hit, false);
        snprintf(mappings[i].path, PATH_BYTES, "%s", path);
        atomic_store(&mappings[i].end, (uintptr_t)begin + bytes);
        atomic_store(&mappings[i].begin, (uintptr_t)begin);
        return i + 1;
    }
    return 0;
}

void mapguard_remove(unsigned guard)
{
    if (guard == 0) return;
    atomic_store(&mappings[guard - 1].begin, 0);
    atomic_store(&mappings[guard - 1].taken, false);
}

bool mapguard_hit(unsigned guard) { return guard != 0 && atomic_load(&mappings[guard - 1].hit); }

const char *mapguard_lost(void) { return atomic_load(&lost) ? lost_path : NULL; }
