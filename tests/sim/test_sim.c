/* The engine's core in simulated worlds: random ones over seeds, and a few that show one property each.
 *
 *     test_sim [SEEDS [FIRST]]     SEEDS random worlds (300) */
#include "support/cm.h"
#include "world.h"

static struct world world;
static unsigned seeds = 300;
static uint64_t first_seed = 1;

static uint64_t between(struct prng *p, uint64_t low, uint64_t high)
{
    return low + prng_below(p, high - low + 1);
}

static void random_options(struct world_options *o, struct prng *p)
{
    memset(o, 0, sizeof *o);
    o->lanes = (unsigned)between(p, 1, 5);
    o->circuits = (unsigned)between(p, 1, WORLD_CIRCUITS);
    o->queue_most = (unsigned)between(p, 2, 60);
    o->payload_bytes = between(p, 1000, 30000);
    o->heap_bytes = o->payload_bytes + between(p, 30000, 500000);
    o->watchdog_ns = prng_below(p, 2) == 0 ? 0 : between(p, 30, 100) * SECOND;
    o->take_turns = prng_below(p, 3) == 0;
    o->ageing_ns = prng_below(p, 4) == 0 ? 0 : between(p, 10, 600) * SECOND;
    o->group_window_ns = prng_below(p, 100) * SECOND;
    o->evict_idle_ns = prng_below(p, 2) * 300 * SECOND;
    o->keep_ns = 1000000 * SECOND;
    o->part_ns_most = between(p, 1, 20) * SECOND;
    o->keep_most_bytes = prng_below(p, 4) == 0 ? 0 : between(p, 5000, 100000);
    if (prng_below(p, 2) == 0) o->fault_in = (unsigned)between(p, 3, 50);
    if (prng_below(p, 2) == 0) o->wrong_in = (unsigned)between(p, 3, 50);
    if (prng_below(p, 3) == 0) o->hang_in = (unsigned)between(p, 20, 100);
    if (prng_below(p, 3) == 0) o->load_fault_in = (unsigned)between(p, 3, 10);
    if (prng_below(p, 3) == 0) o->disk_fault_in = (unsigned)between(p, 3, 50);
    if (prng_below(p, 4) == 0) o->input_loss_in = (unsigned)between(p, 3, 50);
    if (prng_below(p, 3) == 0) o->test_fault_in = (unsigned)between(p, 2, 10);
    if (prng_below(p, 3) == 0) o->key_lost_in = (unsigned)between(p, 5, 50);
    o->batches = prng_below(p, 2) == 0;
}

static void random_move(struct world *w, struct prng *p)
{
    const unsigned circuit = (unsigned)prng_below(p, w->o.circuits);
    struct client_job *any = w->job_count > 0 ? &w->jobs[prng_below(p, w->job_count)] : NULL;
    struct client_job *j;

    switch (prng_below(p, 10)) {
    case 0:
        if (any != NULL) world_cancel(w, any);
        break;
    case 1:
        if (any != NULL) world_await(w, any, prng_below(p, 2) * 10 * SECOND);
        break;
    case 2:
        world_key(w, prng_below(p, 2) == 0, circuit);
        break;
    case 3:
        if (any == NULL) break;
        world_submit(w, any->circuit, any->priority, any->durable, 0, 0, (int)(any - w->jobs),
                     prng_below(p, 2) == 0);
        break;
    default:
        j = world_submit(w, circuit, (enum job_priority)between(p, 1, 4), prng_below(p, 2) == 0,
                         prng_below(p, 4) == 0 ? between(p, 1, 1000) * SECOND : 0,
                         prng_below(p, 4) == 0 ? between(p, 1, 1000) * SECOND : 0, -1, false);
        if (j != NULL && j->accepted && prng_below(p, 2) == 0) world_await(w, j, 0);
    }
}

/* Everything at random; in the end everything has ended. */
static void one_seed(uint64_t seed)
{
    struct world_options o;
    struct prng p;

    prng_seed(&p, seed ^ 0x5eed);
    random_options(&o, &p);
    world_open(&world, seed, &o);
    world.check_urgent = true;
    const unsigned moves = (unsigned)between(&p, 5, 120);
    const bool crashes = prng_below(&p, 2) == 0;
    for (unsigned i = 0; i < moves; i++) {
        if (prng_below(&p, 3) != 0) world_run(&world, world.now_ns + prng_below(&p, 5 * SECOND));
        if (crashes && prng_below(&p, 30) == 0) world_crash(&world);
        random_move(&world, &p);
    }
    world.healthy = true;
    world_run(&world, world.now_ns + 100000 * SECOND);
    world_check_end(&world);
    world_close(&world);
}

static void random_worlds(void **state)
{
    uint64_t runs = 0, wrong = 0, crashes = 0, steps = 0, jobs = 0, reuses = 0, gives = 0, batches = 0, batched = 0, swaps = 0;
    (void)state;

    for (uint64_t s = first_seed; s < first_seed + seeds; s++) {
        one_seed(s);
        runs += world.runs;
        wrong += world.wrong_runs;
        crashes += world.crashes;
        steps += world.steps;
        jobs += world.job_count;
        reuses += world.reuses;
        gives += world.gives;
        batches += world.batches;
        batched += world.batched;
        swaps += world.swaps;
    }
    printf("%u worlds: %llu jobs, %llu runs of parts, %llu wrong proofs, %llu crashes, %llu steps\n", seeds,
           (unsigned long long)jobs, (unsigned long long)runs, (unsigned long long)wrong,
           (unsigned long long)crashes, (unsigned long long)steps);
    printf("%llu runs in a block that was there, %llu blocks given back\n", (unsigned long long)reuses, (unsigned long long)gives);
    printf("%llu batches, %llu parts proved in them, %llu keys loaded for parts by themselves instead\n", (unsigned long long)batches,
           (unsigned long long)batched, (unsigned long long)swaps);
    assert_true(seeds < 100 || (reuses > 0 && gives > 0 && batched > batches && swaps > 0));
}

static const struct world_options calm = {
    .keep_most_bytes = 100000,
    .lanes = 2,
    .circuits = 2,
    .queue_most = 400,
    .payload_bytes = 500000,
    .heap_bytes = 1000000,
    .ageing_ns = 600 * SECOND,
    .keep_ns = 1000000 * SECOND,
    .part_ns_most = 2 * SECOND,
    .fixed_part_ns = true,
};

/* 200 LOW jobs, and a CRITICAL one every 5 s: it waits for one part at most; LOW finishes. */
static void urgent_in_a_flood(void **state)
{
    uint64_t worst_ns = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        world_open(&world, seed, &calm);
        world.check_urgent = true;
        world.part_counts[0] = world.part_counts[1] = 1;
        world_key(&world, true, 0);
        world_key(&world, true, 1);
        world_run(&world, 20 * SECOND);
        for (int i = 0; i < 200; i++)
            assert_true(world_submit(&world, (unsigned)i % 2, JOB_LOW, false, 0, 0, -1, false)->accepted);
        for (int i = 0; i < 60; i++) {
            world_run(&world, world.now_ns + 5 * SECOND);
            world_submit(&world, (unsigned)i % 2, JOB_CRITICAL, false, 0, 0, -1, false);
        }
        world_run(&world, world.now_ns + 100000 * SECOND);
        world_check_end(&world);
        for (size_t i = 0; i < world.job_count; i++) {
            const struct client_job *j = &world.jobs[i];
            assert_int_equal(core_find(&world.core, j->id)->end, JOB_DONE);
            if (j->priority == JOB_CRITICAL && j->start_ns - j->submit_ns > worst_ns)
                worst_ns = j->start_ns - j->submit_ns;
        }
        world_close(&world);
    }
    printf("longest wait of a CRITICAL job: %.3f s; a part takes %.3f s\n", (double)worst_ns * 1e-9,
           (double)calm.part_ns_most * 1e-9);
    assert_true(worst_ns <= calm.part_ns_most);
}

/* Urgent jobs that fill every lane for ever, each with a deadline: an old LOW job is done all the same. */
static void nothing_starves(void **state)
{
    struct world_options o = calm;
    (void)state;

    o.lanes = 1;
    o.circuits = 1;
    o.ageing_ns = 20 * SECOND;
    world_open(&world, 7, &o);
    world.part_counts[0] = 1;
    world_key(&world, true, 0);
    world_run(&world, 10 * SECOND);
    world_submit(&world, 0, JOB_CRITICAL, false, 0, SECOND, -1, false);
    struct client_job *low = world_submit(&world, 0, JOB_LOW, false, 0, 0, -1, false);
    for (int i = 0; i < 200 && low->start_ns == 0; i++) {
        world_submit(&world, 0, JOB_CRITICAL, false, 0, SECOND, -1, false); /* as many as the lane can do */
        world_run(&world, world.now_ns + 2 * SECOND);
    }
    assert_true(low->start_ns != 0);
    printf("a LOW job starts %.1f s after it came, ageing time %.1f s\n",
           (double)(low->start_ns - low->submit_ns) * 1e-9, (double)o.ageing_ns * 1e-9);
    assert_true(low->start_ns - low->submit_ns >
                3 * o.ageing_ns); /* urgent work went first as long as it should */
    assert_true(low->start_ns - low->submit_ns <= 6 * o.ageing_ns);
    world_close(&world);
}

/* The same small story, with the power going at its first step, at its second, ... */
static void restart_at_every_step(void **state)
{
    struct world_options o = calm;
    uint64_t at = 1;
    (void)state;

    o.fault_in = 5;
    for (;; at++) {
        world_open(&world, 11, &o);
        world.crash_at_step = at;
        for (int i = 0; i < 6; i++) world_submit(&world, (unsigned)i % 2, JOB_NORMAL, true, 0, 0, -1, false);
        world_run(&world, 5 * SECOND);
        world.healthy = true;
        world_run(&world, 100000 * SECOND);
        world_check_end(&world);
        for (size_t i = 0; i < world.job_count; i++) {
            const struct client_job *j = &world.jobs[i];
            assert_true(j->ends <= 1);
            if (j->accepted && !j->lost) assert_int_equal(j->ends, 1);
        }
        const bool crashed = world.crashes > 0;
        world_close(&world);
        if (!crashed) break;
    }
    printf("restarted at each of %llu steps\n", (unsigned long long)at - 1);
    assert_true(at > 40);
}

/* Larger than the whole budget: refused at once, with both numbers. */
static void oversize(void **state)
{
    struct world_options o = calm;
    (void)state;

    o.circuits = 1;
    world_open(&world, 3, &o);
    world.circuits[0].prove_bytes.of[BYTES_HEAP] = 2000000;
    const struct client_job *j = world_submit(&world, 0, JOB_NORMAL, false, 0, 0, -1, false);
    assert_false(j->accepted);
    assert_int_equal(j->refusal, CUZK_TOO_LARGE);
    world_close(&world);
}

/* 100 at once against a capacity of 10. */
static void queue_full(void **state)
{
    struct world_options o = calm;
    unsigned accepted = 0, full = 0;
    (void)state;

    o.queue_most = 10;
    world_open(&world, 5, &o);
    for (int i = 0; i < 100; i++) {
        const struct client_job *j = world_submit(&world, 0, JOB_NORMAL, i % 2 == 0, 0, 0, -1, false);
        accepted += j->accepted;
        full += j->refusal == CUZK_QUEUE_FULL;
    }
    assert_int_equal(accepted, 10);
    assert_int_equal(full, 90);
    world_run(&world, 10000 * SECOND);
    world_check_end(&world);
    world_close(&world);
}

/* Same id and content: one job, two answers.  Same id, other content: two jobs. */
static void idempotency(void **state)
{
    (void)state;
    world_open(&world, 9, &calm);
    const struct client_job *a = world_submit(&world, 1, JOB_NORMAL, true, 0, 0, -1, false);
    const struct client_job *b = world_submit(&world, 1, JOB_NORMAL, true, 0, 0, 0, true);
    const struct client_job *c = world_submit(&world, 1, JOB_NORMAL, true, 0, 0, 0, false);
    assert_string_equal(a->id, b->id);
    assert_string_not_equal(a->id, c->id);
    assert_int_equal(world.core.counters.joined, 1);
    world_run(&world, 10000 * SECOND);
    const struct client_job *d =
        world_submit(&world, 1, JOB_NORMAL, true, 0, 0, 0, true); /* joins the result */
    assert_string_equal(a->id, d->id);
    world_check_end(&world);
    assert_int_equal(world.core.counters.done, 2);
    world_close(&world);
}

/* Room for one proof and one key at a time: a lane's block stays with it as long as nobody else needs the room, and not longer. */
static void blocks_kept(void **state)
{
    struct world_options o = calm;
    (void)state;

    o.payload_bytes = 10000;
    o.heap_bytes = o.payload_bytes + 60000 + 50000;
    world_open(&world, 13, &o);
    for (unsigned i = 0; i < 2; i++) {
        struct circuit *c = &world.circuits[i];
        c->kind = world.circuits[0].kind;
        c->key_bytes.of[BYTES_HEAP] = 60000;
        c->prove_bytes.of[BYTES_HEAP] = i == 0 ? 50000 : 30000;
        c->carry_bytes.of[BYTES_HEAP] = c->synthesis_bytes.of[BYTES_HEAP] = 0;
        c->block_bytes = i == 0 ? 45000 : 30000;
        world.part_counts[i] = 1;
    }
    for (int i = 0; i < 5; i++) {
        world_submit(&world, 0, JOB_NORMAL, false, 0, 0, -1, false);
        world_run(&world, world.now_ns + 100 * SECOND);
    }
    assert_int_equal(world.runs, 5);
    assert_int_equal(world.reuses, 4); /* all on the first lane */
    assert_int_equal(world.gives, 0);
    assert_int_equal(world.core.lanes.lanes[0].kept, 45000);
    assert_int_equal(world.core.budget.used.of[BYTES_HEAP], o.payload_bytes + world.core.store.keys[0].bytes.of[BYTES_HEAP] + 45000);

    /* another circuit: its key and the lane's block do not fit beside the first key, which goes; the larger block serves the smaller proof */
    world_submit(&world, 1, JOB_NORMAL, false, 0, 0, -1, false);
    world_run(&world, world.now_ns + 1000 * SECOND);
    assert_int_equal(world.runs, 6);

    /* the second lane keeps one too, which goes before the first lane's proof has to wait */
    world.core.lanes.lanes[0].stages = 0;
    world_submit(&world, 1, JOB_NORMAL, false, 0, 0, -1, false);
    world_run(&world, world.now_ns + 1000 * SECOND);
    world.core.lanes.lanes[0].stages = LANE_SYNTHESISES | LANE_PROVES;
    assert_int_equal(world.core.lanes.lanes[1].kept, 30000);
    const uint64_t gives = world.gives;
    world.core.lanes.lanes[1].stages = 0;
    world_submit(&world, 0, JOB_NORMAL, false, 0, 0, -1, false);
    world_run(&world, world.now_ns + 1000 * SECOND);
    assert_true(world.gives > gives);
    assert_int_equal(world.core.lanes.lanes[1].kept, 0);
    assert_int_equal(world.core.counters.done, 8);
    world_check_end(&world);
    world_close(&world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oversize),          cmocka_unit_test(queue_full),
        cmocka_unit_test(idempotency),       cmocka_unit_test(nothing_starves),
        cmocka_unit_test(urgent_in_a_flood), cmocka_unit_test(restart_at_every_step),
        cmocka_unit_test(blocks_kept),       cmocka_unit_test(random_worlds),
    };

    if (argc > 1) seeds = (unsigned)strtoul(argv[1], NULL, 0);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
