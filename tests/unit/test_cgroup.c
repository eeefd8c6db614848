/* Control group limits read from made-up systems: version 2, version 1, containers, broken files. */
#include "support/cm.h"
#include "base/cgroup.h"
#include "support/temp_folder.h"

#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

static struct temp_folder root;

static int make_root(void **state)
{
    (void)state;
    temp_folder_create(&root);
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    temp_folder_remove(&root);
    return 0;
}

static struct cgroup_limits read_limits(void)
{
    struct cgroup_limits limits;
    cgroup_read(&limits, root.path);
    return limits;
}

static void no_files_no_limits(void **state)
{
    (void)state;
    assert_true(read_limits().memory_bytes == CGROUP_NO_LIMIT);
    assert_true(read_limits().cpu_thousandths == CGROUP_NO_LIMIT);
    assert_true(cgroup_memory_peak(root.path) == 0);
}

static void version_2_takes_the_smallest_on_the_way_up(void **state)
{
    (void)state;
    temp_folder_write(&root, "proc/self/cgroup", "0::/system.slice/cuzk.service/worker\n");
    temp_folder_write(&root, "proc/self/mountinfo", "23 1 8:1 / / rw - ext4 /dev/sda1 rw\n" V2_MOUNT);
    temp_folder_write(&root, "sys/fs/cgroup/system.slice/cuzk.service/worker/memory.max", "max\n");
    temp_folder_write(&root, "sys/fs/cgroup/system.slice/cuzk.service/memory.max", "4294967296\n");
    temp_folder_write(&root, "sys/fs/cgroup/system.slice/memory.max", "8589934592\n");
    temp_folder_write(&root, "sys/fs/cgroup/system.slice/cuzk.service/worker/cpu.max", "max 100000\n");
    temp_folder_write(&root, "sys/fs/cgroup/system.slice/cpu.max", "250000 100000\n");
    assert_true(read_limits().memory_bytes == 4294967296u);
    temp_folder_write(&root, "sys/fs/cgroup/system.slice/cuzk.service/worker/memory.peak", "1234\n");
    temp_folder_write(&root, "sys/fs/cgroup/system.slice/memory.peak", "99999\n");
    assert_true(cgroup_memory_peak(root.path) == 1234);
    assert_true(read_limits().cpu_thousandths == 2500);
}

static void version_2_at_the_root_of_a_container(void **state)
{
    (void)state;
    temp_folder_write(&root, "proc/self/cgroup", "0::/\n");
    temp_folder_write(&root, "proc/self/mountinfo", V2_MOUNT);
    temp_folder_write(&root, "sys/fs/cgroup/memory.max", "1073741824\n");
    temp_folder_write(&root, "sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_true(read_limits().memory_bytes == 1073741824u);
    assert_true(read_limits().cpu_thousandths == 500);
}

static void version_1_with_the_group_as_mount_root(void **state)
{
    (void)state;
    temp_folder_write(
        &root, "proc/self/cgroup",
        "5:memory:/docker/abc/inner\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n0::/\n");
    temp_folder_write(
        &root, "proc/self/mountinfo",
        "31 30 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "32 30 0:28 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
    temp_folder_write(&root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "3000003\n");
    temp_folder_write(&root, "sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "9223372036854771712\n");
    temp_folder_write(&root, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
    temp_folder_write(&root, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_true(read_limits().memory_bytes == 3000003);
    temp_folder_write(&root, "sys/fs/cgroup/memory/inner/memory.max_usage_in_bytes", "2000002\n");
    assert_true(cgroup_memory_peak(root.path) == 2000002);
    assert_true(read_limits().cpu_thousandths == 1500);
}

static void version_1_without_limits(void **state)
{
    (void)state;
    temp_folder_write(&root, "proc/self/cgroup", "5:memory:/\n4:cpu:/\n");
    temp_folder_write(&root, "proc/self/mountinfo",
                      "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                      "32 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    temp_folder_write(&root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    temp_folder_write(&root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    temp_folder_write(&root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_true(read_limits().memory_bytes == CGROUP_NO_LIMIT);
    assert_true(read_limits().cpu_thousandths == CGROUP_NO_LIMIT);
}

static void a_mount_that_does_not_show_our_group(void **state)
{
    (void)state;
    temp_folder_write(&root, "proc/self/cgroup", "0::/elsewhere\n");
    temp_folder_write(
        &root, "proc/self/mountinfo",
        "30 23 0:26 /else /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"); /* a prefix of the name, not a folder above */
    temp_folder_write(&root, "sys/fs/cgroup/memory.max", "7000000\n");
    temp_folder_write(&root, "sys/fs/cgroup/where/memory.max", "1\n");
    assert_true(read_limits().memory_bytes == 7000000);
}

static void broken_files_count_as_no_limit(void **state)
{
    (void)state;
    temp_folder_write(&root, "proc/self/cgroup", "\n::\n0:\ngarbage\n0::/a\n");
    temp_folder_write(&root, "proc/self/mountinfo", "x\n - \n1 2 3 - cgroup2\n" V2_MOUNT);
    temp_folder_write(&root, "sys/fs/cgroup/a/memory.max", "12 bytes\n");
    temp_folder_write(&root, "sys/fs/cgroup/memory.max", "");
    temp_folder_write(&root, "sys/fs/cgroup/a/cpu.max", "100000 0\n");
    temp_folder_write(&root, "sys/fs/cgroup/cpu.max", "many\n");
    assert_true(read_limits().memory_bytes == CGROUP_NO_LIMIT);
    assert_true(read_limits().cpu_thousandths == CGROUP_NO_LIMIT);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        T(no_files_no_limits),
        T(version_2_takes_the_smallest_on_the_way_up),
        T(version_2_at_the_root_of_a_container),
        T(version_1_with_the_group_as_mount_root),
        T(version_1_without_limits),
        T(a_mount_that_does_not_show_our_group),
        T(broken_files_count_as_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
