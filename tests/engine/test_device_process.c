/* Devices in processes of their own: killed, crashed, stuck, lying.  Right proofs, each once, and no blame for those beside.
 *
 *     test_device_process [JOBS [CASE]]     (16; from 100 on all is done thirty times) */
#include "support/cm.h"
#include "support/prng.h"
#include "backend/fault/blind_backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/device_message.h"
#include "engine/device_process.h"
#include "engine_keys.h"
#include "faulty_child.h"
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef CUDA_ALONE
#undef CUDA_ALONE
#define CUDA_ALONE true /* of all cases the one of a device with memory of its own */
#else
#define CUDA_ALONE false
#endif

static struct test_keys keys;
static struct prng random_source;
static unsigned jobs = 16;
static uint64_t part_ms; /* of what is submitted */

/* -- processes ----------------------------------------------------------------------------------------------------------- */

/* The process of a device that parent has started, 0: none. */
static pid_t child_of(pid_t parent)
{
    DIR *d = opendir("/proc");
    struct dirent *entry;
    pid_t found = 0;

    assert_non_null(d);
    while (found == 0 && (entry = readdir(d)) != NULL) {
        char path[300], name[64], state;
        int pid, its_parent;
        if (sscanf(entry->d_name, "%d", &pid) != 1) continue;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *f = fopen(path, "r");
        if (f == NULL) continue;
        if (fscanf(f, "%*d (%63[^)]) %c %d", name, &state, &its_parent) == 3 && its_parent == parent &&
            state != 'Z')
            found = pid;
        fclose(f);
    }
    closedir(d);
    return found;
}

static unsigned open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(d);
    while (readdir(d) != NULL) count++;
    closedir(d);
    return count;
}

static unsigned mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned count = 0;

    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;) count += c == '\n';
    fclose(f);
    return count;
}

static void pause_ms(unsigned ms) { usleep(ms * 1000); }

/* -- an engine ----------------------------------------------------------------------------------------------------------- */

static struct engine_options options(void)
{
    struct engine_options o = ENGINE_DEFAULTS;

    o.circuits = keys.circuit;
    o.circuit_count = KEYS;
    o.lane_count = 2;
    o.threads = 2;
    o.heap_bytes = 512u << 20;
    o.lane_strikes_most = 0;
    o.attempts_most = 8;
    o.process = ENGINE_PROCESS_ALWAYS;
    return o;
}

static struct engine *open_engine(const struct engine_options *o)
{
    struct engine *e = NULL;
    struct task t;

    task_init(&t);
    if (engine_open(&e, &t, o) != CUZK_OK) fail_msg("%s", t.error.text);
    return e;
}

struct looking {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool told;
    unsigned ended[256];
    struct engine_counters c;
};

static void looked(void *context, const struct engine_view *v)
{
    struct looking *l = context;

    pthread_mutex_lock(&l->lock);
    l->c = v->counters;
    l->told = true;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->lock);
}

static struct engine_counters counters(struct engine *e)
{
    struct looking l = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

    engine_look(e, looked, &l);
    pthread_mutex_lock(&l.lock);
    while (!l.told) pthread_cond_wait(&l.cond, &l.lock);
    pthread_mutex_unlock(&l.lock);
    return l.c;
}

static void submit(struct engine *e, unsigned key, bool wrong, char id[JOB_ID_BYTES])
{
    struct engine_request r = {
        .request_id = "", .circuit = keys.key[key].name, .part_ms = part_ms, .durable = -1
    };
    struct job_answer a;
    struct task t;

    task_init(&t);
    r.payload = test_wtns(&keys.key[key], wrong, &r.payload_bytes);
    assert_int_equal(engine_submit_wait(e, &t, &r, &a), CUZK_OK);
    if (a.status != CUZK_OK) fail_msg("%s", a.error_text);
    memcpy(id, a.job_id, JOB_ID_BYTES);
    job_answer_free(&a);
}

static void must_be_right(struct engine *e, unsigned key, const char *id)
{
    struct job_answer a;

    engine_await_wait(e, id, 0, &a);
    test_must_be_right(&keys.key[key], &a);
    job_answer_free(&a);
}

/* Jobs of all keys in turn; all right. */
static void prove_many(struct engine *e, unsigned count)
{
    char(*id)[JOB_ID_BYTES] = calloc(count, sizeof *id);

    assert_non_null(id);
    for (unsigned i = 0; i < count; i++) submit(e, i % KEYS, false, id[i]);
    for (unsigned i = 0; i < count; i++) must_be_right(e, i % KEYS, id[i]);
    free(id);
}

/* What must hold whatever happened: all jobs are done, each attempt is accounted for. */
static struct engine_counters must_agree(struct engine *e, unsigned count)
{
    const struct engine_counters c = counters(e);

    printf("%u jobs: %llu attempts, %llu retries, %llu failures of a lane, %llu quarantines, %llu restarts\n",
           count, (unsigned long long)c.attempts, (unsigned long long)c.retries,
           (unsigned long long)c.lane_failures, (unsigned long long)c.quarantines,
           (unsigned long long)c.device_restarts);
    assert_int_equal(c.done, count);
    assert_int_equal(c.failed, 0);
    assert_int_equal(c.verify_failures, 0);
    assert_int_equal(c.attempts, count + c.retries);
    return c;
}

/* Kills the engine's process at random moments, but not before three more jobs are done, two of which may have been proved before
 * the last kill: it has started by then, and on a machine that has much else to do something comes to its end. */
struct killer {
    pthread_t thread;
    struct engine *engine;
    atomic_bool over;
    unsigned kills;
};

static void *killer_main(void *context)
{
    struct killer *k = context;

    for (uint64_t done = 0; !atomic_load(&k->over); pause_ms(1 + (unsigned)prng_below(&random_source, 20))) {
        const uint64_t now = counters(k->engine).done;
        if (now < done) continue;
        const pid_t child = child_of(getpid());
        if (child == 0 || kill(child, SIGKILL) != 0) continue;
        k->kills++;
        done = now + 3;
    }
    return NULL;
}

static void faulty(const char *what)
{
    if (what == NULL)
        unsetenv(FAULTY_CHILD);
    else
        setenv(FAULTY_CHILD, what, 1);
}

/* Before each case: one that has failed leaves no fault to those after it. */
static int as_new(void **state)
{
    (void)state;
    faulty(NULL);
    faulty_send(0);
    part_ms = 0;
    return 0;
}

/* -- the tests ----------------------------------------------------------------------------------------------------------- */

static void nothing_happens(void **state)
{
    const struct engine_options o = options();
    struct engine *e = open_engine(&o);
    struct key_answer k;
    struct job_answer a;
    char id[JOB_ID_BYTES];
    (void)state;

    engine_preload_wait(e, keys.key[0].name, &k);
    assert_int_equal(k.status, CUZK_OK);
    prove_many(e, 6);
    const pid_t first = child_of(getpid());
    assert_true(first > 0);
    submit(e, 2, true, id); /* the row is named by this process, which checks */
    engine_await_wait(e, id, 0, &a);
    assert_int_equal(a.end, JOB_FAILED);
    assert_int_equal(a.status, CUZK_UNSATISFIED);
    assert_non_null(strstr(a.error_text, "constraint 0 "));
    job_answer_free(&a);
    for (int i = 0; i < KEYS; i++) {
        engine_evict_wait(e, keys.key[i].name, &k);
        assert_int_equal(k.status, CUZK_OK);
    }
    prove_many(e, 3); /* loads again, there too */
    assert_int_equal(child_of(getpid()), first);
    assert_int_equal(counters(e).device_restarts, 0);
    engine_close(e, 1000);
    assert_int_equal(child_of(getpid()), 0);
}

static void killed_again_and_again(void **state)
{
    const struct engine_options o = options();
    struct killer k = { .engine = open_engine(&o) };
    (void)state;

    prove_many(k.engine, 2);
    assert_int_equal(pthread_create(&k.thread, NULL, killer_main, &k), 0);
    prove_many(k.engine, jobs);
    atomic_store(&k.over, true);
    pthread_join(k.thread, NULL);
    prove_many(k.engine, 1);
    const struct engine_counters c = must_agree(k.engine, jobs + 3);
    printf("killed %u times\n", k.kills);
    assert_int_equal(c.device_restarts, k.kills);
    assert_true(k.kills >= jobs / 10);
    engine_close(k.engine, 1000);
}

/* While it has nothing to do, too. */
static void killed_between(void **state)
{
    const struct engine_options o = options();
    struct engine *e = open_engine(&o);
    (void)state;

    for (unsigned i = 0; i < 3; i++) {
        prove_many(e, 1);
        const pid_t child = child_of(getpid());
        assert_true(child > 0);
        kill(child, SIGKILL);
        while (kill(child, 0) == 0) pause_ms(2); /* gone: the next request finds none */
    }
    prove_many(e, 1);
    const struct engine_counters c = must_agree(e, 4);
    assert_int_equal(c.device_restarts, 3);
    engine_close(e, 1000);
}

static void crashes_inside(void **state)
{
    const struct engine_options o = options();
    (void)state;

    faulty("crash 7");
    struct engine *e = open_engine(&o);
    prove_many(e, jobs);
    faulty(NULL);
    const struct engine_counters c = must_agree(e, jobs);
    assert_true(c.device_restarts >= jobs / 7);
    assert_true(c.retries >= c.device_restarts);
    engine_close(e, 1000);
}

/* A job that takes the process with it costs itself alone: what ran beside it is not failed for it, however often it happens. */
static void a_job_that_kills_fails_alone(void **state)
{
    struct engine_options o = options(); /* the bad ones are over another curve */
    char good[12][JOB_ID_BYTES], bad[4][JOB_ID_BYTES], text[64];
    struct job_answer a;
    (void)state;

    o.attempts_most = 2;
    snprintf(text, sizeof text, "poison %d", (int)keys.key[1].key->curve->id);
    faulty(text);
    struct engine *e = open_engine(&o);
    for (unsigned i = 0; i < 12; i++) {
        if (i % 3 == 0) submit(e, 1, false, bad[i / 3]);
        submit(e, 0, false, good[i]);
    }
    for (unsigned i = 0; i < 12; i++) must_be_right(e, 0, good[i]);
    for (unsigned i = 0; i < 4; i++) {
        engine_await_wait(e, bad[i], 0, &a);
        assert_int_equal(a.end, JOB_FAILED);
        assert_int_equal(a.status, CUZK_DEVICE_LOST);
        assert_non_null(strstr(a.error_text, "the process of device cpu-0 has ended: "));
        job_answer_free(&a);
    }
    faulty(NULL);
    const struct engine_counters c = counters(e);
    assert_int_equal(c.done, 12);
    assert_int_equal(c.failed, 4);
    assert_true(c.device_restarts >= 8);
    engine_close(e, 1000);
}

/* Neither hears that it is to stop: the watchdog has it killed. */
static void stopped_or_stuck(void **state)
{
    struct engine_options o = options();
    char id[JOB_ID_BYTES];
    (void)state;

    o.lane_count = 1;
    o.watchdog_ms = 4000;
    faulty("loop 2");
    struct engine *e = open_engine(&o);
    prove_many(e, 2); /* the second one is stuck in its first attempt */
    struct engine_counters c = must_agree(e, 2);
    assert_true(c.watchdog_stops >= 1); /* more where a machine is slow */
    assert_true(c.device_restarts >= 1);
    const struct engine_counters before = c;
    faulty(NULL);
    const pid_t child = child_of(getpid());
    assert_int_equal(kill(child, SIGSTOP), 0);
    submit(e, 0, false, id);
    must_be_right(e, 0, id);
    c = must_agree(e, 3);
    assert_true(c.watchdog_stops > before.watchdog_stops);
    assert_true(c.device_restarts > before.device_restarts);
    assert_int_equal(c.lanes_closed, 0);
    engine_close(e, 1000);
}

static struct engine_options of_one_line(unsigned lanes)
{
    struct engine_options o = options();

    o.backend = "blind";
    o.device_bytes = 256u << 20;
    o.pinned_bytes = 1u << 20;
    o.lane_count = lanes;
    return o;
}

/* Proofs on the first key; how long all took. */
static uint64_t prove_one_key(struct engine *e, unsigned count)
{
    char(*id)[JOB_ID_BYTES] = calloc(count, sizeof *id);
    const uint64_t start_ns = clock_now_ns();

    assert_non_null(id);
    for (unsigned i = 0; i < count; i++) submit(e, 0, false, id[i]);
    for (unsigned i = 0; i < count; i++) must_be_right(e, 0, id[i]);
    free(id);
    return (uint64_t)clock_ms_since(start_ns);
}

/* More proofs than the lines of the process take at once: what waits there longer than the watchdog's time, or the job's own, is not stopped. */
static void waiting_in_line_is_no_work(void **state)
{
    enum { LANES = 27 }; /* twelve at a time, so three rounds */
    struct engine_options o = of_one_line(LANES);
    char slow[32];
    (void)state;

    struct engine *e = open_engine(&o);
    const uint64_t all_ms = prove_one_key(e, LANES); /* on this machine, as busy as it is */
    engine_close(e, 1000);
    const uint64_t slow_ms = 4000 + 2 * all_ms;
    part_ms = o.watchdog_ms = slow_ms * 7 / 4; /* the third round waits for twice slow_ms */
    snprintf(slow, sizeof slow, "slow %llu", (unsigned long long)slow_ms);
    faulty(slow);
    e = open_engine(&o);
    const uint64_t took_ms = prove_one_key(e, LANES);
    printf("%llu ms for all, each of at least %llu ms and at most %llu\n", (unsigned long long)took_ms,
           (unsigned long long)slow_ms, (unsigned long long)o.watchdog_ms);
    assert_true(took_ms >= 3 * slow_ms);
    const struct engine_counters c = must_agree(e, LANES);
    assert_int_equal(c.watchdog_stops, 0);
    assert_int_equal(c.device_restarts, 0);
    engine_close(e, 1000);
    part_ms = 0;
    faulty(NULL);
}

/* Where all say that they wait, and nobody works, the line is at fault: the watchdog has the process killed. */
static void a_line_that_stands_still(void **state)
{
    struct engine_options o = of_one_line(2);
    (void)state;

    o.watchdog_ms = 3000;
    faulty("line 2");
    struct engine *e = open_engine(&o);
    prove_one_key(e, 4); /* the second and the fourth stand in it together, and then one of them alone */
    const struct engine_counters c = must_agree(e, 4);
    assert_true(c.watchdog_stops >= 2);
    assert_true(c.device_restarts >= 1);
    engine_close(e, 1000);
    faulty(NULL);
}

/* A job's time for a part is that part's own, in the queue nothing of it passes; what takes longer ends so, and costs no other. */
static void a_part_has_its_own_time(void **state)
{
    enum { JOBS = 4 };
    struct engine_options o = options();
    char id[JOBS + 1][JOB_ID_BYTES];
    struct job_answer a;
    (void)state;

    o.lane_count = 1;
    part_ms = 4000;
    faulty("slow 1500");
    struct engine *e = open_engine(&o);
    for (unsigned i = 0; i < JOBS; i++) submit(e, 0, false, id[i]);
    part_ms = 300;
    submit(e, 0, false, id[JOBS]);
    part_ms = 0;
    for (unsigned i = 0; i < JOBS; i++) must_be_right(e, 0, id[i]);
    engine_await_wait(e, id[JOBS], 0, &a);
    assert_int_equal(a.end, JOB_FAILED);
    assert_int_equal(a.status, CUZK_DEADLINE);
    assert_non_null(strstr(a.error_text, "from the beginning of its work on"));
    job_answer_free(&a);
    submit(e, 0, false, id[0]);
    must_be_right(e, 0, id[0]);
    const struct engine_counters c = counters(e);
    assert_int_equal(c.done, JOBS + 1);
    assert_int_equal(c.expired, 1);
    assert_int_equal(c.retries, 0);
    engine_close(e, 1000);
    faulty(NULL);
}

static void told_of_key(void *context, const struct key_answer *answer)
{
    atomic_store((atomic_int *)context, (int)answer->status);
}

/* An engine comes to its end although the device answers nothing any more: to a self-test, and to the loader. */
static void closed_while_it_does_not_answer(void **state)
{
    struct engine_options o = options();
    atomic_int status = -1;
    char id[JOB_ID_BYTES];
    (void)state;

    o.watchdog_ms = 1000;
    faulty("mute");
    struct engine *e = open_engine(&o);
    submit(e, 0, false, id);
    while (counters(e).quarantines == 0) pause_ms(5);
    engine_close(e, 100);
    assert_int_equal(child_of(getpid()), 0);
    faulty(NULL);
    e = open_engine(&o);
    assert_int_equal(kill(child_of(getpid()), SIGSTOP), 0);
    engine_preload(e, keys.key[0].name, told_of_key, &status);
    pause_ms(100);
    engine_close(e, 100);
    assert_int_equal(child_of(getpid()), 0);
    assert_int_not_equal(atomic_load(&status), -1);
}

static void cannot_start(void **state)
{
    struct engine_options o = options();
    struct engine *e = NULL;
    struct task t;
    (void)state;

    o.process_program = "/nowhere/cuzkd";
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_DEVICE_UNAVAILABLE);
    assert_string_equal(
        t.error.text,
        "the process of device cpu-0 cannot be started: /nowhere/cuzkd: No such file or directory");
    o.process_program = NULL;
    faulty("exit 7");
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_DEVICE_UNAVAILABLE);
    assert_string_equal(
        t.error.text,
        "the process of device cpu-0 cannot be started: it ended before it was ready: exit code 7");
    faulty("refuse");
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_DEVICE_UNAVAILABLE);
    assert_string_equal(t.error.text, "no device has this?index??");
    faulty("deaf");
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_DEVICE_UNAVAILABLE);
    assert_non_null(strstr(t.error.text, "killed by signal 9"));
    faulty(NULL);
    o.backend = "nothing";
    task_init(&t);
    assert_int_equal(engine_open(&e, &t, &o), CUZK_DEVICE_UNAVAILABLE);
    assert_int_equal(child_of(getpid()), 0);
}

/* A device whose process does not start any more closes its lanes and the jobs fail, with the cause. */
static void cannot_start_again(void **state)
{
    struct engine_options o = options();
    struct job_answer a;
    char id[JOB_ID_BYTES];
    (void)state;

    o.lane_strikes_most = 2;
    struct engine *e = open_engine(&o);
    prove_many(e, 1);
    faulty("exit 9");
    kill(child_of(getpid()), SIGKILL);
    submit(e, 0, false, id);
    engine_await_wait(e, id, 0, &a);
    assert_int_equal(a.end, JOB_FAILED);
    assert_int_equal(a.status, CUZK_DEVICE_UNAVAILABLE);
    job_answer_free(&a);
    faulty(NULL);
    engine_close(e, 1000);
}

/* A device whose memory is not the host's has a process unless somebody says otherwise. */
static void a_device_with_memory_of_its_own(void **state)
{
    struct engine_options o = options();
    (void)state;

    o.backend = CUDA_ALONE ? "cuda" : "blind";
    o.device_bytes = CUDA_ALONE ? 1u << 30 : 64u << 20;
    o.pinned_bytes = 1u << 20;
    o.process = ENGINE_PROCESS_AUTO;
    struct engine *e = open_engine(&o);
    prove_many(e, 3);
    if (!CUDA_ALONE) assert_int_equal(blind_bytes_taken(), 0); /* here */
    kill(child_of(getpid()), SIGKILL);
    prove_many(e, 3);
    assert_int_equal(must_agree(e, 6).device_restarts, 1);
    engine_close(e, 1000);
    o.backend = "cpu";
    o.device_bytes = o.pinned_bytes = 0;
    e = open_engine(&o);
    assert_int_equal(child_of(getpid()), 0);
    engine_close(e, 1000);
}

/* -- liars --------------------------------------------------------------------------------------------------------------- */

static struct device_process *open_process(uint64_t grace_ms)
{
    const struct device_process_options o = {
        .backend = "cpu", .threads = 1, .lane_count = 2, .circuit_count = 1, .grace_ms = grace_ms
    };
    struct device_process *p = NULL;
    struct task t;

    task_init(&t);
    if (device_process_open(&p, &t, &o) != CUZK_OK) fail_msg("%s", t.error.text);
    return p;
}

static void liars(void **state)
{
    const atomic_bool cancelled = true;
    struct circuit circuit = { .name = keys.key[0].name,
                               .key_path = keys.key[0].key_path,
                               .kind = &kind_circom };
    const struct part_input in = { .circuit = &circuit, .part_count = 1, .payload = span_of("witness", 7) };
    const struct bytes granted = { .of = { 0 } };
    (void)state;

    for (int what = 0; what < ANSWERS; what++) {
        char text[16];
        snprintf(text, sizeof text, "say %d", what);
        faulty(text);
        struct device_process *p = open_process(100);
        for (int i = 0; i < 2; i++) { /* it is started again, and lies again */
            struct device_run run = { .channel = (unsigned)i, .alone = i == 0 };
            struct part_output out = { .proof = NULL };
            struct task t;
            task_init(&t);
            if (what == ANSWER_NEVER) t.cancel = &cancelled;
            const cuzk_status status = device_process_prove(p, &t, &out, &run, &in, NULL, &granted);
            if (what == ANSWER_NEVER && status == CUZK_CANCELLED) continue; /* before it was asked */
            assert_int_equal(status, CUZK_DEVICE_LOST);
            assert_int_equal(run.loss,
                             what == ANSWER_SHUT && !run.alone ? DEVICE_LOSS_SHARED : DEVICE_LOSS_OWN);
            assert_non_null(strstr(t.error.text, "has ended: killed by signal 9"));
            assert_int_equal(out.proof_bytes, 0);
            part_output_free(&out);
        }
        struct task t;
        task_init(&t);
        if (what != ANSWER_NEVER && what != ANSWER_KIND) { /* a test takes no more than a status */
            const struct circuit before = circuit;
            assert_int_equal(device_process_measure(p, &t, &circuit, 0), CUZK_DEVICE_LOST);
            assert_memory_equal(&before, &circuit, sizeof before);
            assert_int_equal(device_process_restarts(p), 2);
        }
        device_process_close(p);
    }
    faulty(NULL);
    assert_int_equal(child_of(getpid()), 0);
}

/* Nothing that is asked without a watchdog is waited for without a limit. */
static void answers_have_a_limit(void **state)
{
    const struct device_process_options o = { .backend = "cpu",
                                              .threads = 1,
                                              .lane_count = 2,
                                              .circuit_count = 1,
                                              .grace_ms = 100,
                                              .test_ms = 60,
                                              .load_ms = 60 };
    struct circuit circuit = { .name = keys.key[0].name,
                               .key_path = keys.key[0].key_path,
                               .kind = &kind_circom };
    struct device_process *p = NULL;
    char text[16];
    struct task t;
    (void)state;

    snprintf(text, sizeof text, "say %d", ANSWER_NEVER);
    faulty(text);
    task_init(&t);
    assert_int_equal(device_process_open(&p, &t, &o), CUZK_OK);
    assert_int_equal(device_process_test(p, &t, 0), CUZK_DEVICE_LOST); /* two processes, one try each */
    assert_non_null(strstr(t.error.text, "killed by signal 9 (Killed), since it did not answer in time"));
    assert_int_equal(device_process_restarts(p), 1);
    task_init(&t);
    assert_int_equal(device_process_measure(p, &t, &circuit, 0), CUZK_DEVICE_LOST);
    assert_non_null(strstr(t.error.text, "since it did not answer in time"));
    task_init(&t);
    assert_int_equal(device_process_load(p, &t, &circuit, 0, 1), CUZK_OK); /* there is no process now */
    assert_int_equal(device_process_restarts(p), 2);
    device_process_close(p);
    p = NULL;
    assert_int_equal(device_process_open(&p, &t, &o), CUZK_OK);
    const pid_t child = child_of(getpid());
    assert_int_equal(device_process_load(p, &t, &circuit, 0, 1),
                     CUZK_OK); /* it is ended; a proof will load the key */
    assert_int_not_equal(kill(child, 0), 0);
    device_process_close(p);
    faulty(NULL);
}

static void note_begin(void *context) { atomic_store((atomic_bool *)context, true); }

/* A lane's request in a process that never answers. */
struct request {
    struct device_process *process;
    struct circuit *circuit;
    unsigned channel;
    bool alone;
    atomic_bool begun, cancel;
    cuzk_status status;
};

static void *request_main(void *context)
{
    struct request *r = context;
    const struct part_input in = { .circuit = r->circuit, .part_count = 1, .payload = span_of("witness", 7) };
    const struct bytes granted = { .of = { 0 } };
    struct device_run run = {
        .channel = r->channel, .alone = r->alone, .begins = note_begin, .context = &r->begun
    };
    struct part_output out = { .proof = NULL };
    struct task t;

    task_init(&t);
    t.cancel = &r->cancel;
    r->status = device_process_prove(r->process, &t, &out, &run, &in, NULL, &granted);
    part_output_free(&out);
    return NULL;
}

/* Who waits until another one has been there alone has not begun, and is told to stop all the same. */
static void a_turn_is_waited_for(void **state)
{
    struct circuit circuit = { .name = keys.key[0].name,
                               .key_path = keys.key[0].key_path,
                               .kind = &kind_circom };
    struct request alone = { .circuit = &circuit, .channel = 0, .alone = true },
                   waits = { .circuit = &circuit, .channel = 1 };
    pthread_t first, second;
    char text[16];
    (void)state;

    snprintf(text, sizeof text, "say %d", ANSWER_NEVER);
    faulty(text);
    alone.process = waits.process = open_process(100);
    assert_int_equal(pthread_create(&first, NULL, request_main, &alone), 0);
    while (!atomic_load(&alone.begun)) pause_ms(1);
    assert_int_equal(pthread_create(&second, NULL, request_main, &waits), 0);
    pause_ms(150);
    assert_false(atomic_load(&waits.begun));
    atomic_store(&waits.cancel, true);
    pthread_join(second, NULL);
    assert_int_equal(waits.status, CUZK_CANCELLED);
    assert_false(atomic_load(&waits.begun));
    atomic_store(&waits.cancel, false);
    assert_int_equal(pthread_create(&second, NULL, request_main, &waits), 0);
    atomic_store(&alone.cancel, true);
    pthread_join(first, NULL);
    assert_int_equal(alone.status, CUZK_DEVICE_LOST);
    while (!atomic_load(&waits.begun)) pause_ms(1); /* in the next process */
    atomic_store(&waits.cancel, true);
    pthread_join(second, NULL);
    assert_int_equal(waits.status, CUZK_DEVICE_LOST);
    assert_int_equal(device_process_restarts(waits.process), 1);
    device_process_close(waits.process);
    faulty(NULL);
}

/* A request that this side cannot send is this side's trouble: the process goes on, and no key is thought changed. */
static void a_request_cannot_be_sent(void **state)
{
    static const int reasons[] = { ENOBUFS, ENOMEM, ETOOMANYREFS };
    struct circuit circuit = { .name = keys.key[0].name,
                               .key_path = keys.key[0].key_path,
                               .kind = &kind_circom };
    const struct part_input in = { .circuit = &circuit, .part_count = 1, .payload = span_of("witness", 7) };
    const struct bytes granted = { .of = { 0 } };
    struct device_process *p = open_process(100);
    const pid_t child = child_of(getpid());
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(reasons); i++) {
        struct device_run run = { .channel = 0, .circuit_index = 0 };
        struct part_output out = { .proof = NULL };
        struct task t;
        task_init(&t);
        faulty_send(reasons[i]);
        assert_int_equal(device_process_prove(p, &t, &out, &run, &in, NULL, &granted), CUZK_NO_MEMORY);
        assert_non_null(strstr(t.error.text, strerror(reasons[i])));
        assert_int_equal(run.loss, DEVICE_LOSS_NONE);
        assert_false(run.key_changed);
    }
    assert_int_equal(child_of(getpid()), child);
    assert_int_equal(device_process_restarts(p), 0);
    device_process_close(p);
}

/* The flags of the mapping that begins at an address. */
static void flags_at(const void *at, char *out, size_t bytes)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[512];
    bool here = false;

    assert_non_null(f);
    out[0] = '\0';
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) here = begin <= (uintptr_t)at && (uintptr_t)at < end;
        if (here && strncmp(line, "VmFlags:", 8) == 0) snprintf(out, bytes, "%s", line);
    }
    fclose(f);
}

static void no_core_has_a_witness(void **state)
{
    struct device_blob made, seen;
    char flags[512];
    struct task t;
    (void)state;

    task_init(&t);
    assert_int_equal(device_blob_create(&made, &t, 10000), CUZK_OK);
    assert_int_equal(device_blob_map(&seen, &t, dup(made.fd), 10000), CUZK_OK);
    flags_at(made.data, flags, sizeof flags);
    assert_non_null(strstr(flags, " dd "));
    flags_at(seen.data, flags, sizeof flags);
    assert_non_null(strstr(flags, " dd "));
    device_blob_close(&seen, false);
    device_blob_close(&made, true);
}

/* -- the end of the engine, and many beginnings -------------------------------------------------------------------------- */

static bool gone_soon(pid_t pid)
{
    for (int i = 0; i < 500; i++) {
        if (kill(pid, 0) != 0) return true;
        char path[64], line[512] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *f = fopen(path, "r");
        if (f == NULL) return true;
        const bool read = fgets(line, sizeof line, f) != NULL;
        fclose(f);
        if (read && strstr(line, ") Z ") != NULL) return true; /* nobody reaps it where there is no init */
        pause_ms(10);
    }
    return false;
}

/* This program as an engine that waits to be killed: its first line is the number of its device's process. */
static void engine_alone(void)
{
    const struct engine_options o = options();
    struct engine *e = open_engine(&o);

    prove_many(e, 1);
    printf("%d\n", (int)child_of(getpid()));
    fflush(stdout);
    prove_many(e, 100000);
    engine_close(e, 0);
}

static void the_engine_is_killed(void **state)
{
    (void)state;
    for (int stopped = 0; stopped < 2; stopped++) {
        int line[2], child = 0;
        assert_int_equal(pipe(line), 0);
        fflush(stdout);
        const pid_t engine = fork();
        assert_true(engine >= 0);
        if (engine == 0) {
            dup2(line[1], STDOUT_FILENO);
            close(line[0]);
            close(line[1]);
            execl("/proc/self/exe", "test_device_process", "--engine", (char *)NULL);
            _exit(1);
        }
        close(line[1]);
        FILE *f = fdopen(line[0], "r");
        char text[256];
        while (child == 0 && fgets(text, sizeof text, f) != NULL) (void)!sscanf(text, "%d", &child);
        fclose(f);
        assert_true(child > 0);
        if (stopped) assert_int_equal(kill(child, SIGSTOP), 0);
        assert_int_equal(kill(engine, SIGKILL), 0);
        assert_int_equal(waitpid(engine, NULL, 0), engine);
        assert_true(gone_soon(child));
    }
}

static void nothing_is_left_behind(void **state)
{
    const struct engine_options o = options();
    const int times = jobs < 100 ? 10 : 30;
    unsigned files = 0, maps = 0;
    (void)state;

    struct engine *e = open_engine(&o);
    for (int i = 0; i < times; i++) {
        prove_many(e, 1);
        if (i == 4) {
            files = open_files();
            maps = mappings();
        }
        if (i > 4) assert_int_equal(open_files(), files);
        const pid_t child = child_of(getpid());
        kill(child, SIGKILL);
        while (kill(child, 0) == 0) pause_ms(1);
    }
    prove_many(e, 1);
    assert_int_equal(open_files(), files);
    assert_true(mappings() < maps + 30);
    assert_int_equal(counters(e).device_restarts, times);
    engine_close(e, 1000);
}

static int open_keys(void **state)
{
    (void)state;
    log_setup(LOG_ERROR, LOG_TEXT);
    test_keys_open(&keys, 60);
    return 0;
}

static int close_keys(void **state)
{
    (void)state;
    test_keys_close(&keys);
    return 0;
}

/* Whether a process can open the CUDA device; says why not. */
static bool has_cuda(void)
{
    const struct device_process_options o = { .backend = "cuda", .lane_count = 1, .grace_ms = 1000 };
    struct device_process *p = NULL;
    struct task t;

    task_init(&t);
    const cuzk_status status = device_process_open(&p, &t, &o);
    device_process_close(p);
    if (status != CUZK_OK) printf("skipped: %s\n", t.error.text);
    return status == CUZK_OK;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_happens, as_new),
        cmocka_unit_test_setup(killed_again_and_again, as_new),
        cmocka_unit_test_setup(killed_between, as_new),
        cmocka_unit_test_setup(crashes_inside, as_new),
        cmocka_unit_test_setup(a_job_that_kills_fails_alone, as_new),
        cmocka_unit_test_setup(stopped_or_stuck, as_new),
        cmocka_unit_test_setup(waiting_in_line_is_no_work, as_new),
        cmocka_unit_test_setup(a_line_that_stands_still, as_new),
        cmocka_unit_test_setup(a_part_has_its_own_time, as_new),
        cmocka_unit_test_setup(closed_while_it_does_not_answer, as_new),
        cmocka_unit_test_setup(cannot_start, as_new),
        cmocka_unit_test_setup(cannot_start_again, as_new),
        cmocka_unit_test_setup(a_device_with_memory_of_its_own, as_new),
        cmocka_unit_test_setup(liars, as_new),
        cmocka_unit_test_setup(answers_have_a_limit, as_new),
        cmocka_unit_test_setup(a_turn_is_waited_for, as_new),
        cmocka_unit_test_setup(a_request_cannot_be_sent, as_new),
        cmocka_unit_test_setup(no_core_has_a_witness, as_new),
        cmocka_unit_test_setup(the_engine_is_killed, as_new),
        cmocka_unit_test_setup(nothing_is_left_behind, as_new),
    };
    const int of_device = faulty_child_main(argc, argv);
    if (of_device >= 0) return of_device;
    if (argc > 1 && strcmp(argv[1], "--engine") == 0) {
        open_keys(NULL);
        engine_alone();
        return 0;
    }
    prng_init(&random_source);
    if (argc > 1) jobs = (unsigned)strtoul(argv[1], NULL, 0);
    if (CUDA_ALONE && !has_cuda()) return 77;
    if (CUDA_ALONE) cmocka_set_test_filter("a_device_with_memory_of_its_own");
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests(tests, open_keys, close_keys);
}
