/* Allocation failures in base: each is reported as CUZK_NO_MEMORY and leaves nothing behind (LeakSanitizer watches). */
#include "support/cm.h"
#include "base/arena.h"
#include "base/mapfile.h"
#include "base/pool.h"
#include "support/alloc_fail.h"
#include <stdio.h>
#include <unistd.h>

#define ALLOCATIONS_MOST 100 /* the sweep ends long before */

typedef cuzk_status operation(struct task *t);

/* Fails the first, second, ... allocation until the operation needs no more; at least one must have failed. */
static void sweep(operation *run)
{
    size_t failures = 0;
    for (size_t n = 0; n < ALLOCATIONS_MOST; n++) {
        struct task t;
        task_init(&t);
        alloc_fail_arm(n);
        cuzk_status status = run(&t);
        if (!alloc_fail_disarm()) {
            assert_int_equal(status, CUZK_OK);
            assert_true(failures > 0);
            return;
        }
        failures++;
        assert_int_equal(status, CUZK_NO_MEMORY);
        assert_int_equal(t.error.status, CUZK_NO_MEMORY);
    }
    fail_msg("more than %d allocations", ALLOCATIONS_MOST);
}

static cuzk_status open_pool(struct task *t)
{
    struct pool *pool;
    cuzk_status status = pool_create(&pool, t, 3);
    pool_destroy(pool);
    return status;
}

static cuzk_status open_arena(struct task *t)
{
    struct arena a;
    cuzk_status status = arena_open(&a, t, (size_t)3 << 20, ARENA_SECRET);
    arena_close(&a);
    return status;
}

static cuzk_status map_file(struct task *t)
{
    struct mapfile f;
    cuzk_status status = mapfile_open(&f, t, CUZK_SOURCE_DIR "/CMakeLists.txt");
    mapfile_close(&f);
    return status;
}

static cuzk_status read_pipe(struct task *t)
{
    int ends[2];
    static const char text[60000] = "a pipe holds 64 KiB";
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text), sizeof text);
    close(ends[1]);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct mapfile f;
    cuzk_status status = mapfile_open(&f, t, path);
    mapfile_close(&f);
    close(ends[0]);
    return status;
}

static void pool_survives(void **state)
{
    (void)state;
    sweep(open_pool);
}
static void arena_survives(void **state)
{
    (void)state;
    sweep(open_arena);
}
static void mapping_survives(void **state)
{
    (void)state;
    sweep(map_file);
}
static void reading_survives(void **state)
{
    (void)state;
    sweep(read_pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_survives),
        cmocka_unit_test(arena_survives),
        cmocka_unit_test(mapping_survives),
        cmocka_unit_test(reading_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
