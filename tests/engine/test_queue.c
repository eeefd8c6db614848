/* The queue's order, the budget's arithmetic, the keys' states, admission: one rule at a time. */
#include "support/cm.h"
#include "engine/admit.h"
#include "engine/budget.h"
#include "engine/key_store.h"
#include "engine/queue.h"
#include "support/prng.h"
#include <string.h>

#define S 1000000000ull

static struct bytes heap(uint64_t n)
{
    struct bytes b = { { 0 } };
    b.of[BYTES_HEAP] = n;
    return b;
}

/* -- budget -- */

static void all_or_nothing(void **state)
{
    struct bytes total = heap(100), need = heap(60);
    struct budget b;
    (void)state;

    total.of[BYTES_PINNED] = 10;
    budget_init(&b, &total);
    need.of[BYTES_PINNED] = 11; /* heap would do, pinned does not */
    assert_false(budget_take(&b, &need));
    assert_int_equal(b.used.of[BYTES_HEAP], 0);
    need.of[BYTES_PINNED] = 10;
    assert_true(budget_take(&b, &need));
    assert_int_equal(b.used.of[BYTES_HEAP], 60);
    struct bytes more = heap(41);
    assert_false(budget_take(&b, &more));
    more = heap(40);
    assert_true(budget_take(&b, &more));
    budget_give(&b, &need);
    assert_int_equal(b.used.of[BYTES_HEAP], 40);
    assert_int_equal(b.peak.of[BYTES_HEAP], 100);
    struct bytes huge = heap(UINT64_MAX); /* sums saturate */
    assert_false(budget_take(&b, &huge));
}

static void too_large_names_both_numbers(void **state)
{
    const struct bytes total = heap(1000), need = heap(1234);
    struct budget b;
    struct task t;
    (void)state;

    budget_init(&b, &total);
    task_init(&t);
    assert_int_equal(budget_fits(&t, &b, &need, "a job"), CUZK_TOO_LARGE);
    assert_non_null(strstr(t.error.text, "1234"));
    assert_non_null(strstr(t.error.text, "1000"));
    assert_string_equal(t.error.field, "heap");
}

static void default_heap(void **state)
{
    (void)state;
    const uint64_t all = budget_default_heap(0);
    assert_true(all > 0);
    assert_int_equal(budget_default_heap(all / 2), all - all / 2);
    assert_int_equal(budget_default_heap(all + 1), 0);
    assert_int_equal(budget_default_heap(UINT64_MAX), all - all / 8);
}

/* -- queue -- */

static struct job jobs[8];
static struct queue queue;

static struct job *put(int i, enum job_priority p, uint64_t submit_ns, uint64_t deadline_ns, unsigned circuit)
{
    memset(&jobs[i], 0, sizeof jobs[i]);
    jobs[i].sequence = (uint64_t)i;
    jobs[i].priority = p;
    jobs[i].submit_ns = submit_ns;
    jobs[i].has_deadline = deadline_ns != 0;
    jobs[i].deadline_ns = deadline_ns;
    jobs[i].circuit_index = circuit;
    assert_true(queue_put(&queue, &jobs[i]));
    return &jobs[i];
}

static void expect(const char *order)
{
    assert_int_equal(queue.count, strlen(order));
    for (size_t i = 0; i < queue.count; i++) assert_int_equal(queue.jobs[i] - jobs, order[i] - '0');
}

static int open_queue(void **state)
{
    struct task t;
    (void)state;
    task_init(&t);
    return queue_init(&queue, &t, 2, 100 * S) != CUZK_OK; /* it grows */
}

static int close_queue(void **state)
{
    (void)state;
    queue_fini(&queue);
    return 0;
}

static void classes_then_arrival(void **state)
{
    (void)state;
    put(0, JOB_LOW, 0, 0, 0);
    put(1, JOB_NORMAL, 0, 0, 0);
    put(2, JOB_CRITICAL, 0, 0, 0);
    put(3, JOB_HIGH, 0, 0, 0);
    put(4, JOB_CRITICAL, 0, 0, 0);
    queue_order(&queue, 0);
    expect("24310");
    queue_drop(&queue, &jobs[4]);
    expect("2310");
    assert_int_equal(queue_position(&queue, &jobs[1]), 2);
}

static void earliest_deadline_in_a_class(void **state)
{
    (void)state;
    put(0, JOB_NORMAL, 0, 0, 0); /* as if 4 * 100 s */
    put(1, JOB_NORMAL, 0, 500 * S, 0);
    put(2, JOB_NORMAL, 0, 50 * S, 0);
    put(3, JOB_HIGH, 0, 900 * S, 0); /* a later deadline in a higher class */
    queue_order(&queue, 0);
    expect("3201");
}

static void ageing(void **state)
{
    (void)state;
    put(0, JOB_LOW, 0, 0, 0);
    put(1, JOB_NORMAL, 150 * S, 0, 0);
    queue_order(&queue, 160 * S); /* LOW for 100 s counts NORMAL, and came first */
    expect("01");
    assert_int_equal(queue_class(&queue, &jobs[0], 99 * S), JOB_LOW);
    assert_int_equal(queue_class(&queue, &jobs[0], 100 * S), JOB_NORMAL);
    assert_int_equal(queue_class(&queue, &jobs[0], 100000 * S), JOB_CRITICAL);
    put(2, JOB_HIGH, 160 * S, 0, 0);
    queue_order(&queue, 160 * S);
    expect("201");
}

static void grouping(void **state)
{
    bool resident[2] = { false, true };
    (void)state;
    put(0, JOB_NORMAL, 0, 0, 0);
    put(1, JOB_NORMAL, 5 * S, 0, 1);
    put(2, JOB_NORMAL, 9 * S, 0, 0);
    put(3, JOB_NORMAL, 10 * S, 0, 1);
    put(4, JOB_NORMAL, 11 * S, 0, 1); /* outside the window */
    put(5, JOB_LOW, 1 * S, 0, 1);     /* another class */
    queue_order(&queue, 20 * S);
    queue_group(&queue, resident, 10 * S, 20 * S);
    expect("130245");
    resident[0] = true; /* the first one is ready itself */
    queue_order(&queue, 20 * S);
    queue_group(&queue, resident, 10 * S, 20 * S);
    expect("012345");
    resident[0] = false; /* or has a deadline */
    jobs[0].has_deadline = true;
    jobs[0].deadline_ns = 30 * S;
    queue_order(&queue, 20 * S);
    queue_group(&queue, resident, 10 * S, 20 * S);
    expect("012345");
}

/* -- keys and admission -- */

static struct circuit circuits[3];
static struct key_store store;
static struct budget budget;

static int open_store(void **state)
{
    static char names[3][2] = { "a", "b", "c" };
    const struct bytes total = heap(100);
    struct task t;
    (void)state;

    memset(circuits, 0, sizeof circuits);
    for (int i = 0; i < 3; i++) {
        circuits[i].name = names[i];
        circuits[i].key_bytes = heap(40);
    }
    budget_init(&budget, &total);
    task_init(&t);
    return key_store_init(&store, &t, circuits, 3) != CUZK_OK;
}

static int close_store(void **state)
{
    (void)state;
    key_store_fini(&store);
    return 0;
}

static void make_resident(int i, uint64_t now_ns)
{
    struct bytes real = heap(40);
    assert_true(key_store_begin_load(&store.keys[i], &budget, now_ns));
    key_store_loaded(&store.keys[i], &budget, &store, &real, now_ns);
    store.keys[i].wanted_rank = KEY_UNWANTED;
}

static void key_states(void **state)
{
    const struct bytes real = heap(30);
    struct stored_key *k = &store.keys[0];
    (void)state;

    assert_true(key_store_begin_load(k, &budget, 1 * S));
    assert_int_equal(budget.used.of[BYTES_HEAP], 40);
    key_store_load_failed(k, &budget, 5 * S);
    assert_int_equal(budget.used.of[BYTES_HEAP], 0);
    assert_int_equal(k->failures, 1);
    assert_true(key_store_begin_load(k, &budget, 6 * S));
    key_store_loaded(k, &budget, &store, &real, 8 * S);
    assert_int_equal(budget.used.of[BYTES_HEAP], 30); /* what it really takes */
    assert_int_equal(k->load_ms, 2000);
    key_store_ref(k);
    key_store_ref(k);
    key_store_unref(k, 9 * S);
    assert_null(key_store_victim(&store, NULL, 0, 0, 100 * S)); /* referenced */
    key_store_unref(k, 10 * S);
    assert_ptr_equal(key_store_victim(&store, NULL, 0, 90 * S, 100 * S), k);
    assert_null(key_store_victim(&store, NULL, 0, 91 * S, 100 * S)); /* too young */
    key_store_begin_evict(&store, k);
    assert_int_equal(store.evicting.of[BYTES_HEAP], 30);
    assert_int_equal(budget.used.of[BYTES_HEAP], 30); /* not yet back */
    key_store_evicted(&store, k, &budget);
    assert_int_equal(budget.used.of[BYTES_HEAP], 0);
    assert_int_equal(k->state, KEY_COLD);
}

static void least_recently_used_goes_first(void **state)
{
    (void)state;
    make_resident(0, 1 * S);
    make_resident(1, 2 * S);
    key_store_ref(&store.keys[0]);
    key_store_unref(&store.keys[0], 3 * S); /* used later than b */
    assert_ptr_equal(key_store_victim(&store, NULL, 0, 0, 9 * S), &store.keys[1]);
    store.keys[1].wanted_rank = 2; /* an earlier job wants it */
    assert_ptr_equal(key_store_victim(&store, NULL, 3, 0, 9 * S), &store.keys[0]);
    assert_ptr_equal(key_store_victim(&store, NULL, 2, 0, 9 * S), &store.keys[1]);
}

static enum admit_verdict ask(struct stored_key **victim, int key, uint64_t need, bool impatient)
{
    const struct bytes n = heap(need);
    const struct admit_request r = {
        .need = &n, .key = &store.keys[key], .impatient = impatient, .min_idle_ns = 300 * S, .now_ns = 10 * S
    };
    return admit_part(victim, &budget, &store, &r);
}

static void admission(void **state)
{
    struct stored_key *victim = NULL;
    (void)state;

    assert_int_equal(ask(&victim, 0, 10, false), ADMIT_LOAD);
    make_resident(0, 1 * S);
    assert_int_equal(ask(&victim, 0, 60, false), ADMIT_GO);
    assert_int_equal(ask(&victim, 0, 61, false), ADMIT_WAIT);
    assert_int_equal(ask(&victim, 1, 20, false), ADMIT_LOAD);
    assert_int_equal(ask(&victim, 1, 21, false),
                     ADMIT_WAIT); /* a is young, and somebody may give memory back */
    assert_int_equal(ask(&victim, 1, 21, true), ADMIT_EVICT);
    assert_ptr_equal(victim, &store.keys[0]);
    key_store_begin_evict(&store, victim);
    assert_int_equal(ask(&victim, 1, 21, true), ADMIT_WAIT); /* enough is on its way */
    key_store_evicted(&store, &store.keys[0], &budget);
    assert_int_equal(ask(&victim, 1, 21, true), ADMIT_LOAD);
    store.keys[1].retry_ns = 11 * S; /* it failed a moment ago */
    assert_int_equal(ask(&victim, 1, 21, true), ADMIT_KEY);
}

static void run_ahead_leaves_room(void **state)
{
    struct stored_key *victim = NULL;
    const struct bytes need = heap(10), lasting = heap(70), enough = heap(30), reserve = heap(31);
    struct admit_request r = {
        .need = &need, .key = &store.keys[0], .lasting = &lasting, .reserve = &enough, .now_ns = 10 * S
    };
    (void)state;

    make_resident(0, 1 * S);
    assert_int_equal(admit_part(&victim, &budget, &store, &r), ADMIT_GO);
    r.reserve = &reserve;
    assert_int_equal(admit_part(&victim, &budget, &store, &r), ADMIT_WAIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_or_nothing),
        cmocka_unit_test(too_large_names_both_numbers),
        cmocka_unit_test(default_heap),
        cmocka_unit_test_setup_teardown(classes_then_arrival, open_queue, close_queue),
        cmocka_unit_test_setup_teardown(earliest_deadline_in_a_class, open_queue, close_queue),
        cmocka_unit_test_setup_teardown(ageing, open_queue, close_queue),
        cmocka_unit_test_setup_teardown(grouping, open_queue, close_queue),
        cmocka_unit_test_setup_teardown(key_states, open_store, close_store),
        cmocka_unit_test_setup_teardown(least_recently_used_goes_first, open_store, close_store),
        cmocka_unit_test_setup_teardown(admission, open_store, close_store),
        cmocka_unit_test_setup_teardown(run_ahead_leaves_room, open_store, close_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
