/* Batches of partitions of one circuit image proved on a device from their statements, for fixed (r, s): the bytes of the oracle, with the
 * original key and the derived one, in every cut that a plan may have; what is wrong with one partition costs that one, and what
 * goes wrong with the device the batch alone.
 *
 * Use: test_prove_batch [SEED [slow | PATTERN]] on the emulated device, with this seed of all orders; test_prove_batch_cpu on a CPU that
 * makes witnesses as a GPU does, where every call of a backend fails in turn; test_prove_batch_cuda on a GPU. */
#include "support/cm.h"
#include "base/arena.h"
#include "groth16/key_derived.h"
#include "groth16/prove_batch.h"
#include "groth16/setup.h"
#include "support/oracle.h"
#include "support/proving.h"
#include "support/random_statement.h"
#include "support/small_image.h"
#if defined(CUZK_CUDA_EMULATED)
#include "cuda_host.h"
#include <cuda_runtime_api.h>
#elif defined(CPU_IMAGES)
#include "backend/fault/fault_backend.h"
#include "support/image_backend.h"
#endif

enum { SAMPLES = 10, INPUTS_MOST = 64 };

/* A statement, and what its proof must be. */
struct sample {
    struct random_statement statement;
    struct fr_int inputs[INPUTS_MOST];
    struct groth16_proof expected;
};

struct made {
    struct proving proving; /* on the CPU: set-up and oracle */
    struct small_image small;
    struct trapdoor secrets;
    struct groth16_key *key[2]; /* original, derived */
    struct groth16_verifier verifier;
    struct groth16_blinding blinding;
    struct sample sample[SAMPLES];
    bool slow; /* every cut */
    bool all;  /* every case */
};
static struct made m;

/* -- what is proved ---------------------------------------------------------------------------------------------------- */

static void sample_make(struct sample *s)
{
    struct assignment *const a = &m.small.assignment;
    struct task t;

    task_init(&t); /* its scratch is for one thread */
    random_statement_make(&s->statement, &m.small.image, &m.proving.random);
    const struct statement view = random_statement_view(&s->statement);
    proving_must(&t, image_assign(&m.small.image, &t, a, &view), "witness");
    assignment_values(a, &m.small.map, (bls12_381_fr_int *)(void *)m.small.values);
    assert_true(m.key[0]->public_count <= INPUTS_MOST);
    memcpy(s->inputs, a->inputs + 1, m.key[0]->public_count * sizeof *s->inputs);
    proving_must(&t,
                 oracle_prove_constraints(&t, &s->expected, &m.secrets, &m.small.constraints,
                                          &m.small.witness, &m.blinding),
                 "oracle");
}

static void keys_open(void)
{
    char params[PATH_MAX], derived[PATH_MAX];
    struct task t;

    proving_task(&t, &m.proving);
    temp_folder_path(params, &m.proving.folder, "small.params");
    temp_folder_path(derived, &m.proving.folder, "small.params.derived");
    for (int i = 0; i < 2; i++)
        proving_must(&t, groth16_key_open_circuit(&m.key[i], &t, params, &m.small.constraints), "key");
    proving_must(&t, groth16_key_use_derived(m.key[1], &t, derived), "derived key");
    groth16_verifier_init(&m.verifier, &m.key[0]->vk);
}

static void keys_close(void)
{
    for (int i = 0; i < 2; i++) groth16_key_unref(m.key[i]);
}

static int open_all(void **state)
{
    char params[PATH_MAX], derived[PATH_MAX];
    struct task t;

    (void)state;
    proving_open(&m.proving, "cpu");
    small_image_open(&m.small, &m.proving.random);
    proving_task(&t, &m.proving);
    temp_folder_path(params, &m.proving.folder, "small.params");
    temp_folder_path(derived, &m.proving.folder, "small.params.derived");
    proving_secrets(&m.secrets, &m.proving, &curve_bls12_381, ROOT_BELLMAN);
    proving_must(&t,
                 groth16_setup_constraints(&t, &m.small.constraints, &m.secrets,
                                           &(struct groth16_setup_paths){ .key = params, .derived = derived },
                                           m.proving.backend, m.proving.device),
                 "set-up");
    proving_blinding(&m.blinding, &m.proving, &curve_bls12_381);
    keys_open();
    for (int i = 0; i < SAMPLES; i++) sample_make(&m.sample[i]);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) random_statement_fini(&m.sample[i].statement);
    keys_close();
    small_image_close(&m.small);
    proving_close(&m.proving);
    return 0;
}

static const struct backend *proving_on(void)
{
#if defined(CPU_IMAGES)
    return image_backend(&backend_fault);
#else
    return backend_by_name("cuda");
#endif
}

/* -- where it is proved ------------------------------------------------------------------------------------------------ */

struct place {
    const struct backend *backend;
    struct device *device;
    struct key_split *split;
    struct task t;
};

static void device_open(struct place *p, unsigned index)
{
    struct device_options o = { .index = index, .memory_bytes = (uint64_t)1 << 30, .pinned_bytes = 1 << 20 };

#if defined(CPU_IMAGES)
    o.index = 0; /* there is one CPU; opened twice it is two devices */
#endif
    proving_task(&p->t, &m.proving);
    p->backend = proving_on();
    p->split = NULL;
    proving_must(&p->t, p->backend->open(&p->device, &p->t, &o), "device");
}

static cuzk_status load(struct place *p, struct task *t, const struct key_keep *keep)
{
    struct stream *stream;

    TRY(p->backend->stream_open(&stream, t, p->device));
    const cuzk_status status = key_split_load(p->split, t, stream, keep);
    p->backend->stream_close(stream);
    return status;
}

static void place_open_at(struct place *p, const struct groth16_key *key, unsigned index)
{
    const struct key_keep all = { .streams = false };

    device_open(p, index);
    proving_must(&p->t, key_split_create(&p->split, &p->t, key, p->backend, p->device), "key");
    proving_must(&p->t, load(p, &p->t, &all), "key on the device");
}

static void place_open(struct place *p, const struct groth16_key *key) { place_open_at(p, key, 0); }

/* Keys go first: what they have on the device is given back with their last reference. */
static void place_close(struct place *p)
{
    key_split_destroy(p->split);
    keys_close();
    p->backend->close(p->device);
    keys_open();
}

#if defined(CPU_IMAGES)
/* The host's allocator knows; AddressSanitizer tells what is left. */
static uint64_t bytes_free(struct place *p)
{
    (void)p;
    return 0;
}
#else
/* Memory that nobody has taken. */
static uint64_t bytes_free(struct place *p)
{
    struct device_info info;
    struct buffer b;
    struct task quiet;
    uint64_t most = 0;

    p->backend->info(p->device, &info);
    for (uint64_t step = info.memory_bytes / 2; step >= 4096; step /= 2) {
        task_init(&quiet);
        if (p->backend->buffer_take(&b, &quiet, p->device, MEM_DEVICE, most + step, 0) != CUZK_OK) continue;
        p->backend->buffer_give(&b);
        most += step;
    }
    return most;
}
#endif

/* -- a batch ----------------------------------------------------------------------------------------------------------- */

static void items_of(struct batch_item *items, unsigned first, unsigned count)
{
    memset(items, 0, count * sizeof *items);
    for (unsigned k = 0; k < count; k++) {
        items[k].number = k;
        items[k].state = random_statement_write;
        items[k].context = &m.sample[(first + k) % SAMPLES].statement;
        items[k].inputs = m.sample[(first + k) % SAMPLES].inputs;
    }
}

static struct batch *batch_of(struct place *p, struct batch_plan *plan, const struct batch_limits *l)
{
    struct batch *b;

    proving_must(&p->t, prove_batch_plan(plan, &p->t, p->split, l), "plan");
    proving_must(&p->t, prove_batch_open(&b, &p->t, plan), "batch");
    return b;
}

static void assert_expected(struct place *p, const struct batch *b, unsigned index, unsigned sample)
{
    const struct g_jac *const sums = prove_batch_sums(b, index);
    struct groth16_proof proof;

    assert_non_null(sums);
    assemble(&proof, p->split->key, sums, &m.blinding);
    if (!oracle_equal(&proof, &m.sample[sample].expected)) fail_msg("partition %u is another proof", index);
}

static void assert_verifies(const struct batch_item *item)
{
    struct task t;

    task_init(&t);
    if (item->error.status != CUZK_OK) fail_msg("partition %u: %s", item->number, item->error.text);
    proving_must(&t,
                 groth16_verify(&t, &m.verifier, &item->proof, item->inputs, m.key[0]->public_count,
                                GROTH16_POINTS_UNCHECKED),
                 "proof");
}

/* A whole batch of right statements, from sample first on. */
static void prove_right(struct place *p, struct batch *b, unsigned first, unsigned count)
{
    struct batch_item items[SAMPLES];
    struct batch_times times;

    items_of(items, first, count);
    proving_must(&p->t, prove_batch_begin(b, &p->t, items, count, &times), "batch begun");
    proving_must(&p->t, prove_batch_wait(b, &p->t), "sums");
    for (unsigned k = 0; k < count; k++) assert_expected(p, b, k, (first + k) % SAMPLES);
    proving_must(&p->t, prove_batch_end(b, &p->t, &m.verifier), "batch ended");
    for (unsigned k = 0; k < count; k++) assert_verifies(&items[k]);
    for (unsigned k = 0; k < count; k++)
        for (int s = 0; s < BATCH_STAGES; s++)
            assert_true(times.stage[k][s].begin_ns <= times.stage[k][s].end_ns);
    assert_true(times.sweeps >= 1);
}

/* In  first, end  of the cuts */
static void batches_with(const struct groth16_key *key, size_t first, size_t end)
{
    static const struct {
        unsigned wanted, sweep, count;
        bool check;
    } cuts[] = {
        { 1, 0, 1, false }, { 3, 2, 3, true }, { 2, 0, 2, true }, { 10, 5, 10, false }, { 10, 0, 4, true }
    };
    struct batch_plan plan;
    struct place p;

    place_open(&p, key);
    const uint64_t before = bytes_free(&p);
    for (size_t i = first; i < (m.slow ? ARRAY_COUNT(cuts) : end); i++) {
        const struct batch_limits l = {
            .partitions = cuts[i].wanted, .sweep = cuts[i].sweep, .lanes = 1, .check_rows = cuts[i].check
        };
        struct batch *b = batch_of(&p, &plan, &l);
        assert_int_equal(plan.partitions, cuts[i].wanted);
        assert_int_equal(plan.slots, cuts[i].wanted == 1 ? 1 : 2);
        prove_right(&p, b, (unsigned)i, cuts[i].count);
        prove_batch_close(b);
    }
    assert_int_equal(bytes_free(&p), before);
    place_close(&p);
}

/* -- points that are sent ---------------------------------------------------------------------------------------------- */

/* A key of which `keep_most` bytes stay on the device, and a batch by the plan that it is loaded for. */
static struct batch *sending_open(struct place *p, struct batch_plan *plan, const struct groth16_key *key,
                                  const struct batch_limits *l)
{
    struct batch *b;

    device_open(p, 0);
    proving_must(&p->t, key_split_create(&p->split, &p->t, key, p->backend, p->device), "key");
    proving_must(&p->t, prove_batch_plan(plan, &p->t, p->split, l), "plan");
    assert_true(plan->keep.streams);
    proving_must(&p->t, load(p, &p->t, &plan->keep), "key on the device and the host");
    proving_must(&p->t, prove_batch_open(&b, &p->t, plan), "batch");
    return b;
}

/* Memory with which not all points fit, though one cut of any size does. */
static uint64_t too_little_for_all(unsigned derived, unsigned partitions)
{
    static uint64_t known[2][SAMPLES + 1];
    const struct batch_limits l = { .partitions = partitions };
    struct batch_plan plan;
    struct place p;

    if (known[derived][partitions] != 0) return known[derived][partitions];
    device_open(&p, 0);
    proving_must(&p.t, key_split_create(&p.split, &p.t, m.key[derived], p.backend, p.device), "key");
    proving_must(&p.t, prove_batch_plan(&plan, &p.t, p.split, &l), "plan");
    uint64_t memory = plan.total_bytes;
    for (;;) { /* the least that holds all of them */
        const struct batch_limits less = { .partitions = partitions,
                                           .memory_bytes = memory - plan.block_bytes / 200 };
        proving_task(&p.t, &m.proving);
        if (prove_batch_plan(&plan, &p.t, p.split, &less) != CUZK_OK || plan.partitions < partitions) break;
        memory = less.memory_bytes;
    }
    proving_task(&p.t, &m.proving);
    place_close(&p);
    known[derived][partitions] = memory - memory / 200;
    return known[derived][partitions];
}

static uint64_t sent_so_far(const struct place *p)
{
    struct device_info info;

    p->backend->info(p->device, &info);
    return info.sent_bytes;
}

/* In  first, end  of the cuts */
static void sending_with(unsigned derived, size_t first, size_t end)
{
    static const struct {
        unsigned wanted, sweep, count;
        uint64_t place_bytes, keep_most; /* 1: nothing at all */
    } cuts[] = {
        { 1, 0, 1, 128 * 192 * 7, 1 },     { 3, 2, 3, 128 * 192 * 5, 150000 },  { 2, 0, 2, 128 * 192 * 3, 1 },
        { 3, 1, 2, 128 * 96 * 9, 500000 }, { 10, 5, 10, 128 * 192 * 2, 40000 }, { 4, 0, 4, 0, 0 },
    };

    for (size_t i = first; i < (m.slow ? ARRAY_COUNT(cuts) : end); i++) {
        const struct batch_limits l = { .partitions = cuts[i].wanted,
                                        .sweep = cuts[i].sweep,
                                        .memory_bytes = too_little_for_all(derived, cuts[i].wanted),
                                        .sends = true,
                                        .place_bytes = cuts[i].place_bytes,
                                        .keep_most = cuts[i].keep_most };
        struct batch_plan plan;
        struct place p;
        struct batch *b = sending_open(&p, &plan, m.key[derived], &l);
        assert_int_equal(plan.partitions, cuts[i].wanted);
        assert_true(plan.total_bytes <= l.memory_bytes);
        if (cuts[i].keep_most == 1)
            for (int q = 0; q < QUERY_COUNT; q++) assert_int_equal(plan.keep.count[q], 0);
        if (cuts[i].place_bytes != 0) assert_true(batch_piece_count(&plan, QUERY_A) > 1);
        assert_true(plan.link_bytes > 0);
        const uint64_t before = bytes_free(&p), sent = sent_so_far(&p);
        prove_right(&p, b, (unsigned)i, cuts[i].count);
        if (sent_so_far(&p) != 0 && cuts[i].count == cuts[i].wanted)
            assert_int_equal(sent_so_far(&p) - sent,
                             plan.link_bytes + cuts[i].count * image_statement_bytes(&m.small.image));
        prove_right(&p, b, 3, 1); /* with what the places held before */
        assert_int_equal(bytes_free(&p), before);
        prove_batch_close(b);
        place_close(&p);
    }
}

static void sending_of_the_original_key(void **state)
{
    (void)state;
    sending_with(0, 0, 1);
}

static void sending_of_the_derived_key(void **state)
{
    (void)state;
    sending_with(1, 1, 2);
}

/* With H whole on the device there is no room left for another piece of the other queries. */
static void assert_device_full(const struct batch_plan *plan, uint64_t memory_bytes)
{
    const struct key_split *k = plan->split;
    const uint64_t left = memory_bytes - plan->total_bytes, rounding = 2 * QUERY_COUNT * ARENA_ALIGN;

    if (plan->keep.count[QUERY_H] < k->row[QUERY_H].count) return;
    for (enum groth16_query q = 0; q < QUERY_H; q++) {
        const uint64_t sent = k->row[q].count - plan->keep.count[q],
                       next = sent < plan->piece[q] ? sent : plan->piece[q];
        if (sent != 0 && left >= next * k->key->curve->group[k->rows[q].group]->aff_bytes + rounding)
            fail_msg("%llu bytes are free and %llu points of query %s sent", (unsigned long long)left,
                     (unsigned long long)sent, k->rows[q].name);
    }
}

/* Less and less memory: fewer points are kept, then fewer partitions made, then both numbers told; and as little host memory. */
static void sending_in_less_and_less(void **state)
{
    const uint64_t start = too_little_for_all(0, 4);
    unsigned last = 4, streamed = 0;
    struct batch_plan plan;
    struct place p;

    (void)state;
    device_open(&p, 0);
    proving_must(&p.t, key_split_create(&p.split, &p.t, m.key[0], p.backend, p.device), "key");
    struct batch_limits l = { .partitions = 4, .memory_bytes = start, .sends = true, .host_bytes = 1000 };
    /* a host without room for points: fewer partitions beside the whole key, then both numbers */
    cuzk_status told;
    while ((told = prove_batch_plan(&plan, &p.t, p.split, &l)) == CUZK_OK) {
        assert_true(!plan.keep.streams && plan.partitions < 4);
        l.memory_bytes -= start / 48;
    }
    assert_int_equal(told, CUZK_TOO_LARGE);
    assert_non_null(strstr(p.t.error.text, "gives 1000"));
    l.memory_bytes = start;
    l.host_bytes = 0;
    proving_task(&p.t, &m.proving);
    const atomic_bool cancel = true;
    p.t.cancel = &cancel;
    assert_int_equal(prove_batch_plan(&plan, &p.t, p.split, &l), CUZK_CANCELLED);
    proving_task(&p.t, &m.proving);
    proving_must(&p.t, prove_batch_plan(&plan, &p.t, p.split, &l), "plan");
    /* a host with less room than the best plan locks gets another */
    const uint64_t best = plan.host_bytes;
    l.host_bytes = best + m.key[0]->heap_bytes - 1;
    proving_must(&p.t, prove_batch_plan(&plan, &p.t, p.split, &l), "plan with less host memory");
    assert_true(plan.keep.streams && plan.host_bytes < best && plan.total_bytes <= l.memory_bytes);
    l.host_bytes = 0;
    /* in small pieces, of which many fit in what sums leave */
    l.place_bytes = (uint64_t)BATCH_PIECE_POINTS * 192;
    for (unsigned i = 0; i < 40; i++) {
        l.memory_bytes = start - i * (start / 400);
        proving_task(&p.t, &m.proving);
        if (prove_batch_plan(&plan, &p.t, p.split, &l) != CUZK_OK) break;
        assert_device_full(&plan, l.memory_bytes);
        streamed++;
    }
    assert_true(streamed > 0);
    streamed = 0;
    l.memory_bytes = start;
    l.place_bytes = 0;
    for (uint64_t step = start / 12;; l.memory_bytes -= step) {
        proving_task(&p.t, &m.proving);
        const cuzk_status status = prove_batch_plan(&plan, &p.t, p.split, &l);
        if (status != CUZK_OK) {
            assert_int_equal(status, CUZK_TOO_LARGE);
            break;
        }
        assert_true(plan.total_bytes <= l.memory_bytes && plan.partitions <= last && plan.keep.streams);
        assert_true(plan.host_bytes >= key_split_host_bytes(p.split, &plan.keep) && plan.link_bytes > 0);
        assert_device_full(&plan, l.memory_bytes);
        last = plan.partitions;
        streamed++;
    }
    assert_true(streamed > 0);
    const unsigned long long needed = strtoull(strstr(p.t.error.text, "takes ") + 6, NULL, 10);
    if (!(needed > l.memory_bytes && needed < start))
        fail_msg("%llu needed, %llu given, began with %llu", needed, (unsigned long long)l.memory_bytes,
                 (unsigned long long)start);
    /* and with what it says is needed it goes */
    l.memory_bytes = needed + needed / 100;
    proving_task(&p.t, &m.proving);
    proving_must(&p.t, prove_batch_plan(&plan, &p.t, p.split, &l), "plan of the least memory");
    proving_must(&p.t, load(&p, &p.t, &plan.keep), "key");
    struct batch *b;
    proving_must(&p.t, prove_batch_open(&b, &p.t, &plan), "batch");
    prove_right(&p, b, 2, 1);
    prove_batch_close(b);
    place_close(&p);
}

static void with_the_original_key(void **state)
{
    (void)state;
    batches_with(m.key[0], 0, 1);
}

static void with_the_derived_key(void **state)
{
    (void)state;
    batches_with(m.key[1], 1, 2);
}

/* One block of scalars, b and the sums over each other. */
static void in_one_slot(void **state)
{
    const struct batch_limits most = { .partitions = 2, .lanes = 1 };
    struct batch_plan plan;
    struct place p;

    (void)state;
    place_open(&p, m.key[0]);
    proving_must(&p.t, prove_batch_plan(&plan, &p.t, p.split, &most), "plan");
    struct batch_limits less = { .partitions = 2, .sweep = 1, .lanes = 1, .memory_bytes = plan.total_bytes };
    while (plan.slots == 2) {
        less.memory_bytes -= plan.block_bytes / 100;
        proving_must(&p.t, prove_batch_plan(&plan, &p.t, p.split, &less), "plan");
        assert_true(plan.total_bytes <= less.memory_bytes);
    }
    struct batch *b = batch_of(&p, &plan, &less);
    assert_int_equal(plan.partitions, 2);
    prove_right(&p, b, 3, 2);
    prove_batch_close(b);
    place_close(&p);
}

/* Two batches on one device at the same time, as lanes have them. */
static void two_at_once(void **state)
{
    const struct batch_limits l = { .partitions = 2, .lanes = 2 };
    struct batch_item items[2][2];
    struct batch_plan plan;
    struct batch *b[2];
    struct place p;

    (void)state;
    if (!m.all) skip();
    place_open(&p, m.key[1]);
    for (int i = 0; i < 2; i++) b[i] = batch_of(&p, &plan, &l);
    for (int i = 0; i < 2; i++) {
        items_of(items[i], 2 * (unsigned)i, 2);
        proving_must(&p.t, prove_batch_begin(b[i], &p.t, items[i], 2, NULL), "batch begun");
    }
    for (int i = 1; i >= 0; i--) {
        proving_must(&p.t, prove_batch_wait(b[i], &p.t), "sums");
        for (unsigned k = 0; k < 2; k++) assert_expected(&p, b[i], k, 2 * (unsigned)i + k);
        proving_must(&p.t, prove_batch_end(b[i], &p.t, &m.verifier), "batch ended");
        for (unsigned k = 0; k < 2; k++) assert_verifies(&items[i][k]);
    }
    for (int i = 0; i < 2; i++) prove_batch_close(b[i]);
    place_close(&p);
}

/* Partitions go round two devices; then the key leaves one of them. */
static void on_two_devices(void **state)
{
    const struct batch_limits l = { .partitions = 2, .lanes = 1 };
    struct batch_item items[2][2], all[4];
    struct batch_plan plan;
    struct batch *b[2];
    struct place p[2];

    (void)state;
    if (!m.all) skip();
    items_of(all, 0, 4);
    for (unsigned i = 0; i < 2; i++) {
        place_open_at(&p[i], m.key[1], i);
        b[i] = batch_of(&p[i], &plan, &l);
        for (unsigned k = 0; k < 2; k++) items[i][k] = all[i + 2 * k];
        proving_must(&p[i].t, prove_batch_begin(b[i], &p[i].t, items[i], 2, NULL), "batch begun");
    }
    assert_ptr_not_equal(p[0].split->resident, p[1].split->resident);
    for (unsigned i = 0; i < 2; i++) {
        proving_must(&p[i].t, prove_batch_wait(b[i], &p[i].t), "sums");
        for (unsigned k = 0; k < 2; k++) assert_expected(&p[i], b[i], k, i + 2 * k);
        proving_must(&p[i].t, prove_batch_end(b[i], &p[i].t, &m.verifier), "batch ended");
        for (unsigned k = 0; k < 2; k++) assert_verifies(&items[i][k]);
    }
    prove_batch_close(b[1]);
    key_split_destroy(p[1].split);
    key_device_drop(m.key[1], p[1].backend, p[1].device);
    p[1].backend->close(p[1].device);
    prove_right(&p[0], b[0], 4, 1);
    prove_batch_close(b[0]);
    place_close(&p[0]);
}

/* -- what can be wrong with a partition -------------------------------------------------------------------------------- */

static cuzk_status refuse(const void *context, struct task *t, unsigned number, uint8_t *out)
{
    (void)context;
    (void)out;
    return FAIL(t, CUZK_MISMATCH, "no statement for partition %u", number);
}

static cuzk_status number_too_large(const void *context, struct task *t, unsigned number, uint8_t *out)
{
    const cuzk_status status = random_statement_write(context, t, number, out);

    memcpy(out + 32 * 3, &curve_bls12_381.fr.modulus, 32);
    return status;
}

static cuzk_status word_too_wide(const void *context, struct task *t, unsigned number, uint8_t *out)
{
    const struct circuit_image *image = &m.small.image;
    const cuzk_status status = random_statement_write(context, t, number, out);

    /* a part's first word is the index of a place among eight */
    out[image_statement_words(image) + 4 * image_circuit(image)->source_words] = 8;
    return status;
}

static void assert_bad(const struct batch_item *item, cuzk_status status, const char *words)
{
    const struct groth16_proof none = { 0 };
    char name[32];

    snprintf(name, sizeof name, "partition %u", item->number);
    if (item->error.status != status || strstr(item->error.text, words) == NULL)
        fail_msg("partition %u: %d '%s'", item->number, (int)item->error.status, item->error.text);
    assert_string_equal(item->error.field, name);
    assert_memory_equal(&item->proof, &none, sizeof none);
}

static void a_wrong_partition_costs_itself(void **state)
{
    const struct batch_limits l = { .partitions = 5, .sweep = 2, .lanes = 1 };
    struct fr_int other[INPUTS_MOST];
    struct batch_item items[5];
    struct batch_plan plan;
    struct place p;

    (void)state;
    place_open(&p, m.key[0]);
    struct batch *b = batch_of(&p, &plan, &l);
    items_of(items, 0, 5);
    items[0].state = word_too_wide;
    items[2].state = number_too_large;
    memcpy(other, items[3].inputs, sizeof other);
    other[1].w[0] ^= 1;
    items[3].inputs = other;
    items[4].state = refuse;
    proving_must(&p.t, prove_batch_begin(b, &p.t, items, 5, NULL), "batch begun");
    proving_must(&p.t, prove_batch_wait(b, &p.t), "sums");
    assert_null(prove_batch_sums(b, 0));
    assert_expected(&p, b, 1, 1);
    proving_must(&p.t, prove_batch_end(b, &p.t, &m.verifier), "batch ended");
    assert_bad(&items[0], CUZK_MALFORMED, "takes more than 3 bits");
    assert_verifies(&items[1]);
    assert_bad(&items[2], CUZK_MALFORMED, "number 3 of the statement");
    assert_bad(&items[3], CUZK_MISMATCH, "public input 1");
    assert_bad(&items[4], CUZK_MISMATCH, "no statement for partition 4");
    for (unsigned k = 0; k < 2; k++) items[k].state = refuse; /* nothing is left to prove */
    proving_must(&p.t, prove_batch_begin(b, &p.t, items, 2, NULL), "batch begun");
    proving_must(&p.t, prove_batch_end(b, &p.t, &m.verifier), "batch ended");
    assert_bad(&items[1], CUZK_MISMATCH, "no statement");
    prove_right(&p, b, 5, 1);
    prove_batch_close(b);
    place_close(&p);
}

/* -- what can be wrong with a device ----------------------------------------------------------------------------------- */

static void too_little_memory_is_told(void **state)
{
    const struct batch_limits most = { .partitions = 4, .lanes = 1 };
    struct batch_plan whole, plan;
    char number[32];
    struct place p;

    (void)state;
    place_open(&p, m.key[0]);
    proving_must(&p.t, prove_batch_plan(&whole, &p.t, p.split, &most), "plan");
    unsigned last = 4;
    for (uint64_t memory = whole.total_bytes;;
         memory -= whole.block_bytes / 400) { /* fewer and fewer, down to none */
        const struct batch_limits l = { .partitions = 4, .lanes = 1, .memory_bytes = memory };
        proving_task(&p.t, &m.proving);
        const cuzk_status status = prove_batch_plan(&plan, &p.t, p.split, &l);
        if (status == CUZK_OK) {
            assert_true(plan.partitions <= last && plan.total_bytes <= memory);
            last = plan.partitions;
            continue;
        }
        assert_int_equal(status, CUZK_TOO_LARGE);
        snprintf(number, sizeof number, "gives %llu", (unsigned long long)memory);
        assert_non_null(strstr(p.t.error.text, number));
        assert_non_null(strstr(p.t.error.text, "takes "));
        const unsigned long long needed = strtoull(strstr(p.t.error.text, "takes ") + 6, NULL, 10);
        assert_true(needed > memory);
        break;
    }
    assert_int_equal(last, 1);
    const struct batch_limits none = { .partitions = 0, .lanes = 1 },
                              many = { .partitions = BATCH_MOST + 1, .lanes = 1 };
    proving_task(&p.t, &m.proving);
    assert_int_equal(prove_batch_plan(&plan, &p.t, p.split, &none), CUZK_INVALID_ARGUMENT);
    proving_task(&p.t, &m.proving);
    assert_int_equal(prove_batch_plan(&plan, &p.t, p.split, &many), CUZK_INVALID_ARGUMENT);
    proving_task(&p.t, &m.proving);
    place_close(&p);
}

static void cancelled(void **state)
{
    const struct batch_limits l = { .partitions = 2, .lanes = 1 };
    atomic_bool cancel = true;
    struct batch_item items[2];
    struct batch_plan plan;
    struct place p;
    struct task t;

    (void)state;
    place_open(&p, m.key[0]);
    struct batch *b = batch_of(&p, &plan, &l);
    const uint64_t before = bytes_free(&p);
    items_of(items, 0, 2);
    proving_task(&t, &m.proving);
    t.cancel = &cancel;
    assert_int_equal(prove_batch_begin(b, &t, items, 2, NULL), CUZK_CANCELLED);
    assert_int_equal(bytes_free(&p), before);
    prove_right(&p, b, 0, 1);
    items_of(items, 0, 1);
    proving_must(&p.t, prove_batch_begin(b, &p.t, items, 1, NULL), "batch begun");
    prove_batch_close(b); /* with all of it under way */
    place_close(&p);
}

/* The statement of partition 1 comes with the order to stop, while points for partition 0 are on their way. */
struct stopping {
    const struct random_statement *statement;
    atomic_bool *cancel;
};

static cuzk_status write_and_stop(const void *context, struct task *t, unsigned number, uint8_t *out)
{
    const struct stopping *s = context;

    if (number == 1) atomic_store(s->cancel, true);
    return random_statement_write(s->statement, t, number, out);
}

static void cancelled_while_points_are_sent(void **state)
{
    const struct batch_limits l = { .partitions = 3,
                                    .memory_bytes = too_little_for_all(0, 3),
                                    .sends = true,
                                    .place_bytes = 128 * 192 * 5,
                                    .keep_most = 1 };
    struct batch_item items[3];
    struct stopping stopping[3];
    struct batch_plan plan;
    atomic_bool cancel = false;
    struct place p;
    struct task t;

    (void)state;
    struct batch *b = sending_open(&p, &plan, m.key[0], &l);
    const uint64_t before = bytes_free(&p);
    items_of(items, 0, 3);
    for (unsigned k = 0; k < 3; k++) {
        stopping[k] = (struct stopping){ items[k].context, &cancel };
        items[k].state = write_and_stop;
        items[k].context = &stopping[k];
    }
    proving_task(&t, &m.proving);
    t.cancel = &cancel;
    assert_int_equal(prove_batch_begin(b, &t, items, 3, NULL), CUZK_CANCELLED);
    assert_int_equal(bytes_free(&p), before);
    items_of(items, 0, 2);
    proving_must(&p.t, prove_batch_begin(b, &p.t, items, 2, NULL), "batch begun");
    prove_batch_close(b); /* with all of it under way */
    proving_must(&p.t, prove_batch_open(&b, &p.t, &plan), "batch");
    prove_right(&p, b, 4, 1);
    prove_batch_close(b);
    place_close(&p);
}

#if defined(CUZK_CUDA_EMULATED) || defined(CPU_IMAGES)
static cuzk_status prove_one(struct batch *b, struct task *t, struct batch_item *item)
{
    items_of(item, 0, 1);
    TRY(prove_batch_begin(b, t, item, 1, NULL));
    return prove_batch_end(b, t, &m.verifier);
}
#endif

#if defined(CUZK_CUDA_EMULATED)
/* An error that leaves the context alive, from every call of the runtime in turn, or from about so many of them. */
static void calls_fail(struct place *p, struct batch *b, unsigned long most)
{
    struct batch_item item;
    unsigned failed = 0;
    struct task t;

    proving_must(&p->t, prove_one(b, &p->t, &item), "batch");
    const uint64_t before = bytes_free(p);
    unsigned long calls = cuda_host_call_count();
    proving_must(&p->t, prove_one(b, &p->t, &item), "batch");
    calls = cuda_host_call_count() - calls;
    const unsigned long step = calls / most + 1;
    for (unsigned long n = 1; n <= calls; n += step) {
        proving_task(&t, &m.proving);
        cuda_host_fail_call(n, cudaErrorMemoryAllocation);
        const cuzk_status status = prove_one(b, &t, &item);
        cuda_host_fail_call(0, 0);
        if (status != CUZK_OK && status != CUZK_NO_MEMORY)
            fail_msg("call %lu: %d, %s", n, (int)status, t.error.text);
        failed += status != CUZK_OK;
        if (status == CUZK_OK) assert_verifies(&item);
        if (bytes_free(p) != before) fail_msg("call %lu: memory is missing", n);
    }
    printf("%lu calls, %u of %lu failures told\n", calls, failed, (calls + step - 1) / step);
    assert_true(failed > 0);
    prove_right(p, b, 4, 1);
}

/* The same for the load of a key: what fails leaves nothing behind. */
static void loads_fail(struct place *p, const struct key_keep *keep, unsigned long most)
{
    const uint64_t before = bytes_free(p);
    unsigned long calls = cuda_host_call_count(), n = 1;
    struct task t;
    cuzk_status status;

    proving_must(&p->t, load(p, &p->t, keep), "key");
    calls = cuda_host_call_count() - calls;
    key_split_destroy(p->split);
    key_device_drop(m.key[1], p->backend, p->device);
    assert_int_equal(bytes_free(p), before);
    proving_must(&p->t, key_split_create(&p->split, &p->t, m.key[1], p->backend, p->device), "key");
    do {
        proving_task(&t, &m.proving);
        cuda_host_fail_call(n, cudaErrorMemoryAllocation);
        status = load(p, &t, keep);
        cuda_host_fail_call(0, 0);
        if (status != CUZK_OK && status != CUZK_NO_MEMORY)
            fail_msg("call %lu: %d, %s", n, (int)status, t.error.text);
        if (status != CUZK_OK) key_device_drop(m.key[1], p->backend, p->device);
        if (status != CUZK_OK && bytes_free(p) != before) fail_msg("call %lu: memory is missing", n);
        n += calls / most + 1;
    } while (status != CUZK_OK && n <= calls);
    if (status != CUZK_OK) proving_must(&p->t, load(p, &p->t, keep), "key");
}
#elif defined(CPU_IMAGES)
/* From every call of the backend in turn; of the many that send points from every third. */
static void calls_fail(struct place *p, struct batch *b, unsigned long most)
{
    const bool sends = p->split->keep.streams;
    const unsigned waits = sends ? 3 : 2; /* of streams, when all has been done */
    struct batch_item item;
    uint64_t n = 0, calls = 0;
    struct task t;

    (void)most;
    do {
        proving_task(&t, &m.proving);
        fault_arm(n, CUZK_DEVICE_LOST);
        const cuzk_status status = prove_one(b, &t, &item);
        calls = fault_disarm();
        /* the last ones wait for what has ended: whatever they say, the proof is there */
        assert_int_equal(status, n + waits < calls ? CUZK_DEVICE_LOST : CUZK_OK);
        if (n % 12 == 0) prove_right(p, b, 4, 1);
        n += sends && !m.slow ? 3 : 1;
    } while (n <= calls);
    assert_verifies(&item);
    printf("%llu calls\n", (unsigned long long)calls);
}

static void loads_fail(struct place *p, const struct key_keep *keep, unsigned long most)
{
    struct task t;
    uint64_t n = 0, calls;
    cuzk_status status;

    (void)most;
    do {
        proving_task(&t, &m.proving);
        fault_arm(n++, CUZK_DEVICE_LOST);
        status = load(p, &t, keep);
        calls = fault_disarm();
        if (status != CUZK_OK) key_device_drop(m.key[1], p->backend, p->device);
    } while (status != CUZK_OK);
    assert_true(calls < n);
}
#endif

#if defined(CUZK_CUDA_EMULATED) || defined(CPU_IMAGES)
static void every_call_fails(void **state)
{
    const struct batch_limits l = { .partitions = 2, .lanes = 1, .check_rows = true };
    struct batch_plan plan;
    struct place p;

    (void)state;
    if (!m.all) skip();
    place_open(&p, m.key[1]);
    struct batch *b = batch_of(&p, &plan, &l);
    calls_fail(&p, b, 60);
    prove_batch_close(b);
    place_close(&p);
}

static void every_call_fails_while_points_are_sent(void **state)
{
    const struct batch_limits l = { .partitions = 2,
                                    .memory_bytes = too_little_for_all(1, 2),
                                    .sends = true,
                                    .place_bytes = 128 * 192 * 7,
                                    .keep_most = 1 };
    struct batch_plan plan;
    struct batch *b;
    struct place p;

    (void)state;
    if (!m.all) skip();
    device_open(&p, 0);
    proving_must(&p.t, key_split_create(&p.split, &p.t, m.key[1], p.backend, p.device), "key");
    proving_must(&p.t, prove_batch_plan(&plan, &p.t, p.split, &l), "plan");
    loads_fail(&p, &plan.keep, 40);
    proving_must(&p.t, prove_batch_open(&b, &p.t, &plan), "batch");
    calls_fail(&p, b, 60);
    prove_batch_close(b);
    place_close(&p);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_the_original_key),
        cmocka_unit_test(with_the_derived_key),
        cmocka_unit_test(in_one_slot),
        cmocka_unit_test(two_at_once),
        cmocka_unit_test(on_two_devices),
        cmocka_unit_test(a_wrong_partition_costs_itself),
        cmocka_unit_test(too_little_memory_is_told),
        cmocka_unit_test(sending_of_the_original_key),
        cmocka_unit_test(sending_of_the_derived_key),
        cmocka_unit_test(sending_in_less_and_less),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(cancelled_while_points_are_sent),
#if defined(CUZK_CUDA_EMULATED) || defined(CPU_IMAGES)
        cmocka_unit_test(every_call_fails),
        cmocka_unit_test(every_call_fails_while_points_are_sent),
#endif
    };
    const struct backend *b = proving_on();
    struct task t;
    size_t count = 0;

    m.slow = argc > 2 && strcmp(argv[2], "slow") == 0;
    m.all = m.slow;
#if defined(CUZK_CUDA_EMULATED)
    struct cuda_host_config c = cuda_host_default();
    c.sm_count = 1;
    c.device_count = 2;
    if (argc > 1) c.seed = strtoull(argv[1], NULL, 0);
    if (argc > 2 && !m.slow) cmocka_set_test_filter(argv[2]);
    c.guard_memory = c.seed % 2 == 1;
    printf("seed %llu\n", (unsigned long long)c.seed);
    cuda_host_configure(&c);
#elif defined(CPU_IMAGES)
    m.slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    m.all = true;
#endif
    task_init(&t);
    if (b == NULL || b->probe(&t, NULL, 0, &count) != CUZK_OK || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_all, close_all);
}
