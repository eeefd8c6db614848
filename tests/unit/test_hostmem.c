/* Memory sizes of this process on the running system. */
#include "support/cm.h"
#include "base/hostmem.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)64 << 20)

static void the_limit_is_no_more_than_the_machine(void **state)
{
    (void)state;
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_in_range(hostmem_limit_bytes(), 1 << 20, machine);
}

static void resident_memory_rises_and_falls(void **state)
{
    (void)state;
    uint64_t before = hostmem_rss_bytes();
    assert_true(before > 0);
    uint8_t *p = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    memset(p, 1, BLOCK_BYTES);
    uint64_t with = hostmem_rss_bytes();
    munmap(p, BLOCK_BYTES);
    uint64_t after = hostmem_rss_bytes();
    assert_true(with >= before + BLOCK_BYTES / 2);
    assert_true(after <= with - BLOCK_BYTES / 2);
    assert_true(hostmem_peak_rss_bytes() >= with - BLOCK_BYTES / 8); /* the kernel counts pages in batches */
    if (hostmem_peak_reset())
        assert_true(hostmem_peak_rss_bytes() <= with - BLOCK_BYTES / 2);
    else
        printf("skipped: this kernel keeps its peak\n");
}

static void more_than_the_machine_has_is_refused(void **state)
{
    (void)state;
    const uint64_t limit = hostmem_limit_bytes();
    struct task t;
    task_init(&t);
    assert_int_equal(hostmem_allows(&t, "a.zkey", limit, "opening this key"), CUZK_OK);
    assert_int_equal(hostmem_allows(&t, "a.zkey", 0, "opening this key"), CUZK_OK);
    assert_int_equal(hostmem_allows(&t, "a.zkey", limit + 1, "opening this key"), CUZK_TOO_LARGE);
    assert_string_equal(t.error.path, "a.zkey");
    assert_non_null(strstr(t.error.text, "opening this key takes"));
    task_init(&t);
    assert_int_equal(hostmem_allows(&t, NULL, UINT64_MAX, "this"), CUZK_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_no_more_than_the_machine),
        cmocka_unit_test(resident_memory_rises_and_falls),
        cmocka_unit_test(more_than_the_machine_has_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
