/* The bump allocator: alignment, exact plans, marks, wiping, red zones, refusal. */
#include "support/cm.h"
#include "base/arena.h"
#include "support/prng.h"
#if ARENA_RED_ZONE > 0
#include <sanitizer/asan_interface.h>
#endif

static struct prng prng;

static void a_plan_fits_exactly(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        size_t sizes[10], plan = 0;
        for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
            plan += arena_round(sizes[i] = (size_t)prng_below(&prng, 100000));
        struct task t;
        struct arena a;
        task_init(&t);
        assert_int_equal(arena_open(&a, &t, plan, ARENA_PLAIN), CUZK_OK);
        uint8_t *last = NULL;
        size_t last_bytes = 0;
        for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
            void *p;
            assert_int_equal(arena_take(&a, &t, &p, sizes[i]), CUZK_OK);
            assert_int_equal((uintptr_t)p % ARENA_ALIGN, 0);
            assert_true(last == NULL || (uint8_t *)p >= last + last_bytes);
            memset(p, (int)i, sizes[i]);
            last = p;
            last_bytes = sizes[i];
        }
        assert_int_equal(a.used, plan);
        assert_int_equal(a.peak, plan);
        arena_close(&a);
        assert_null(a.base);
        arena_close(&a);
    }
}

static void a_plan_too_small_is_an_internal_error(void **state)
{
    (void)state;
    struct task t;
    struct arena a;
    void *p;
    task_init(&t);
    assert_int_equal(arena_open(&a, &t, 4096, ARENA_PLAIN), CUZK_OK);
    size_t too_much[] = { 4097, a.capacity + 1, SIZE_MAX, SIZE_MAX - ARENA_ALIGN };
    for (size_t i = 0; i < ARRAY_COUNT(too_much); i++) {
        task_init(&t);
        assert_int_equal(arena_take(&a, &t, &p, too_much[i]), CUZK_INTERNAL);
        assert_null(p);
        assert_int_equal(a.used, 0);
    }
    arena_close(&a);

    task_init(&t);
    assert_int_equal(arena_open(&a, &t, 0, ARENA_PLAIN), CUZK_OK);
    assert_int_equal(arena_take(&a, &t, &p, 1), CUZK_INTERNAL);
    arena_close(&a);
}

static void more_than_the_address_space_is_no_memory(void **state)
{
    (void)state;
    size_t sizes[] = { SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 60 };
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        struct task t;
        struct arena a;
        char number[32];
        task_init(&t);
        assert_int_equal(arena_open(&a, &t, sizes[i], ARENA_PLAIN), CUZK_NO_MEMORY);
        snprintf(number, sizeof number, "%zu", sizes[i]);
        assert_non_null(strstr(t.error.text, number));
        arena_close(&a);
    }
}

static void marks_give_back_and_the_peak_stays(void **state)
{
    (void)state;
    struct task t;
    struct arena a;
    void *first, *second, *again;
    task_init(&t);
    assert_int_equal(arena_open(&a, &t, arena_round(100) + arena_round(5000), ARENA_PLAIN), CUZK_OK);
    assert_int_equal(arena_take(&a, &t, &first, 100), CUZK_OK);
    size_t mark = arena_mark(&a);
    assert_int_equal(arena_take(&a, &t, &second, 5000), CUZK_OK);
    size_t peak = a.peak;
    arena_reset(&a, mark);
    assert_int_equal(arena_take(&a, &t, &again, 200), CUZK_OK);
    assert_ptr_equal(again, second);
    assert_int_equal(a.peak, peak);
    arena_reset(&a, a.used + 1000); /* a mark from before a deeper reset gives back nothing */
    assert_int_equal(a.used, mark + arena_round(200));
    arena_close(&a);
}

static void secrets_are_wiped_on_reset(void **state)
{
    (void)state;
    struct task t;
    struct arena a;
    void *p, *again;
    uint8_t zero[1000] = { 0 };
    task_init(&t);
    assert_int_equal(arena_open(&a, &t, arena_round(1000), ARENA_SECRET), CUZK_OK);
    assert_int_equal(arena_take(&a, &t, &p, 1000), CUZK_OK);
    prng_bytes(&prng, p, 1000);
    arena_reset(&a, 0);
    assert_int_equal(arena_take(&a, &t, &again, 1000), CUZK_OK);
    assert_ptr_equal(again, p);
    assert_memory_equal(again, zero, sizeof zero);
    arena_close(&a);
}

/* The kernel's VmFlags of the mapping say "dd" (do not dump). */
static bool mapping_has_flag(const void *address, const char *flag)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    if (f == NULL) return false;
    char line[512];
    bool inside = false, found = false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        unsigned long low, high;
        char dash;
        if (sscanf(line, "%lx%c%lx ", &low, &dash, &high) == 3 && dash == '-')
            inside = (uintptr_t)address >= low && (uintptr_t)address < high;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0)
            found = strstr(line, flag) != NULL;
    }
    fclose(f);
    return found;
}

static void secrets_stay_out_of_core_dumps(void **state)
{
    (void)state;
    struct task t;
    struct arena secret, plain;
    task_init(&t);
    assert_int_equal(arena_open(&secret, &t, 3 << 20, ARENA_SECRET), CUZK_OK);
    assert_int_equal(arena_open(&plain, &t, 3 << 20, ARENA_PLAIN), CUZK_OK);
    bool kernel_tells = mapping_has_flag(plain.base, " rd");
    bool secret_kept = mapping_has_flag(secret.base, " dd"), plain_kept = mapping_has_flag(plain.base, " dd");
    arena_close(&secret);
    arena_close(&plain);
    if (!kernel_tells) {
        print_message("skipped: this kernel shows no VmFlags\n");
        skip();
    }
    assert_true(secret_kept);
    assert_false(plain_kept);
}

static void large_blocks_start_at_a_huge_page(void **state)
{
    (void)state;
    struct task t;
    struct arena a;
    task_init(&t);
    assert_int_equal(arena_open(&a, &t, ((size_t)5 << 20) + 1, ARENA_PLAIN), CUZK_OK);
    assert_int_equal((uintptr_t)a.base % ((size_t)2 << 20), 0);
    arena_close(&a);
}

#if ARENA_RED_ZONE > 0
static void what_is_not_taken_is_poisoned(void **state)
{
    (void)state;
    struct task t;
    struct arena a;
    void *p;
    task_init(&t);
    assert_int_equal(arena_open(&a, &t, arena_round(256) + arena_round(10), ARENA_PLAIN), CUZK_OK);
    assert_int_equal(arena_take(&a, &t, &p, 256), CUZK_OK);
    uint8_t *first = p;
    assert_int_equal(arena_take(&a, &t, &p, 10), CUZK_OK);
    uint8_t *second = p;
    assert_null(__asan_region_is_poisoned(first, 256));
    assert_true(__asan_address_is_poisoned(first + 256));
    assert_true(__asan_address_is_poisoned(second - 1));
    assert_null(__asan_region_is_poisoned(second, 10));
    assert_true(__asan_address_is_poisoned(second + 10));
    arena_reset(&a, 0);
    assert_true(__asan_address_is_poisoned(first));
    arena_close(&a);
}
#endif

int main(void)
{
    prng_init(&prng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_fits_exactly),
        cmocka_unit_test(a_plan_too_small_is_an_internal_error),
        cmocka_unit_test(more_than_the_address_space_is_no_memory),
        cmocka_unit_test(marks_give_back_and_the_peak_stays),
        cmocka_unit_test(secrets_are_wiped_on_reset),
        cmocka_unit_test(secrets_stay_out_of_core_dumps),
        cmocka_unit_test(large_blocks_start_at_a_huge_page),
#if ARENA_RED_ZONE > 0
        cmocka_unit_test(what_is_not_taken_is_poisoned),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
