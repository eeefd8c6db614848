/* Set-up on every backend: the files of both layouts, derived forms included, are the CPU's byte for byte; points chunk by chunk are multiples
 * of the generator by the key's definition; keys without a file prove what keys from files prove.
 *
 * On the emulated device, or as test_setup_cuda on a GPU. */
#include "support/cm.h"
#include "groth16/key_device.h"
#include "groth16/key_secret.h"
#include "groth16/prove_blinded.h"
#include "groth16/setup_points.h"
#include "support/oracle.h"
#include "support/oracle_sums.h"
#include "support/proving.h"
#include "support/small_image.h"
#if defined(CUZK_CUDA_EMULATED)
#include "cuda_host.h"
#endif

static struct proving cpu;
static struct small_image small;
static const struct backend *cuda;

static void device_open(struct device **device, struct task *t, uint64_t memory_bytes)
{
    const struct device_options o = { .memory_bytes = memory_bytes };

    proving_task(t, &cpu);
    proving_must(t, cuda->open(device, t, &o), "device");
}

static int open_all(void **state)
{
    (void)state;
    proving_open(&cpu, "cpu");
    small_image_open(&small, &cpu.random);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    small_image_close(&small);
    proving_close(&cpu);
    return 0;
}

/* -- files -------------------------------------------------------------------------------------------------------------- */

static void assert_same_file(const char *a, const char *b)
{
    struct mapfile x = { 0 }, y = { 0 };
    struct task t;

    proving_task(&t, &cpu);
    proving_must(&t, mapfile_open(&x, &t, a), a);
    proving_must(&t, mapfile_open(&y, &t, b), b);
    assert_int_equal(x.bytes.size, y.bytes.size);
    for (size_t i = 0; i < x.bytes.size; i++)
        if (x.bytes.data[i] != y.bytes.data[i]) fail_msg("%s and %s differ from byte %zu on", a, b, i);
    mapfile_close(&x);
    mapfile_close(&y);
}

static void write_files(const struct constraints *circuit, const struct trapdoor *secrets, const char *name,
                        const struct backend *backend, struct device *device, char path[3][PATH_MAX])
{
    static const char *const suffix[] = { "key", "vk", "derived" };
    char file[64];
    struct task t;

    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s.%s", name, suffix[i]);
        temp_folder_path(path[i], &cpu.folder, file);
    }
    const struct groth16_setup_paths paths = { path[0], path[1], path[2] };
    proving_task(&t, &cpu);
    proving_must(&t, groth16_setup_constraints(&t, circuit, secrets, &paths, backend, device), name);
}

static void compare_files(const struct constraints *circuit, const struct trapdoor *secrets)
{
    char on_cpu[3][PATH_MAX], on_device[3][PATH_MAX];
    struct device *device;
    struct task t;

    device_open(&device, &t, (uint64_t)1 << 30);
    write_files(circuit, secrets, "cpu", cpu.backend, cpu.device, on_cpu);
    write_files(circuit, secrets, "device", cuda, device, on_device);
    for (int i = 0; i < 3; i++) assert_same_file(on_cpu[i], on_device[i]);
    cuda->close(device);
}

static void circuit_files(const struct curve *c, enum root_convention layout, uint32_t rows, uint32_t publics)
{
    const struct random_circuit_options o = { c, rows, publics, layout == ROOT_SNARKJS };
    struct random_circuit circuit;
    struct constraints constraints;
    struct r1cs_file parsed;
    struct trapdoor secrets;

    random_circuit_make(&circuit, &cpu.random, &o);
    proving_circuit(&parsed, &circuit);
    constraints_of_r1cs(&constraints, &parsed);
    proving_secrets(&secrets, &cpu, c, layout);
    compare_files(&constraints, &secrets);
    random_circuit_fini(&circuit);
}

static void files_are_the_cpus(void **state)
{
    (void)state;
    circuit_files(&curve_bn254, ROOT_SNARKJS, 90, 3);
    circuit_files(&curve_bls12_381, ROOT_SNARKJS, 1, 0);
    circuit_files(&curve_bls12_381, ROOT_BELLMAN, 70, 2);
}

static void files_of_an_image_are_the_cpus(void **state)
{
    struct trapdoor secrets;

    (void)state;
    proving_secrets(&secrets, &cpu, &curve_bls12_381, ROOT_BELLMAN);
    compare_files(&small.constraints, &secrets);
}

/* A device without room for two chunks of the usual size, but for smaller ones. */
static void little_memory_makes_small_chunks(void **state)
{
    struct setup_scalars scalars;
    struct setup_points roomy, tight;
    struct trapdoor secrets;
    struct device_info info;
    struct device *device;
    struct task t;

    (void)state;
    proving_secrets(&secrets, &cpu, &curve_bls12_381, ROOT_BELLMAN);
    proving_task(&t, &cpu);
    proving_must(&t, setup_scalars_init(&scalars, &t, &small.constraints, &secrets), "scalars");
    scalars.domain.size = (uint64_t)1 << 20; /* of the domain's size only the chunk is taken here */
    device_open(&device, &t, (uint64_t)1 << 30);
    cuda->info(device, &info);
    proving_must(&t, setup_points_init(&roomy, &t, &scalars, cuda, device, UINT64_MAX, true), "roomy");
    assert_int_equal(roomy.chunk, 1 << 20);
    setup_points_fini(&roomy);
    cuda->close(device);
    device_open(&device, &t, 2 * info.stream_bytes + ((uint64_t)100 << 20));
    proving_must(&t, setup_points_init(&tight, &t, &scalars, cuda, device, UINT64_MAX, true), "tight");
    assert_int_equal(tight.chunk, 1 << 17);
    setup_points_fini(&tight);
    cuda->close(device);
    device_open(&device, &t, 2 * info.stream_bytes + ((uint64_t)1 << 20));
    assert_int_equal(setup_points_init(&tight, &t, &scalars, cuda, device, UINT64_MAX, true), CUZK_NO_MEMORY);
    setup_points_fini(&tight);
    cuda->close(device);
    setup_scalars_fini(&scalars);
}

/* -- points ------------------------------------------------------------------------------------------------------------- */

struct collected {
    uint8_t *out;
    size_t point_bytes;
    uint64_t next, most;
};

static cuzk_status collect(void *context, struct task *t, const uint8_t *points, uint64_t begin,
                           uint64_t count)
{
    struct collected *c = context;

    (void)t;
    assert_int_equal(begin, c->next);
    assert_true(count > 0 && count <= c->most);
    memcpy(c->out, points, count * c->point_bytes);
    c->out += count * c->point_bytes;
    c->next += count;
    return CUZK_OK;
}

static cuzk_status refuse(void *context, struct task *t, const uint8_t *points, uint64_t begin,
                          uint64_t count)
{
    (void)context;
    (void)points;
    (void)count;
    return begin == 14 ? FAIL(t, CUZK_IO, "the third chunk") : CUZK_OK;
}

/* A range of a query in chunks of 7, on a device and into its memory, against multiples one by one. */
static void range_of_points(const struct setup_scalars *s, const struct backend *backend,
                            struct device *device, enum setup_query q, enum group_id g)
{
    enum { FIRST = 11, COUNT = 26, CHUNK = 7 };
    const struct group *group = s->curve->group[g];
    const size_t bytes = COUNT * group->aff_bytes;
    uint8_t *const made = malloc(bytes), *const filled = malloc(bytes);
    struct collected c = { made, group->aff_bytes, FIRST, CHUNK };
    struct fr_int scalars[COUNT];
    struct setup_points p;
    struct stream *stream;
    struct buffer to;
    struct task t;

    proving_task(&t, &cpu);
    assert_true(setup_scalars_count(s, q) > FIRST + COUNT);
    proving_must(&t, setup_points_init(&p, &t, s, backend, device, CHUNK, true), "points");
    proving_must(&t, setup_points_make(&p, &t, "test", q, g, FIRST, COUNT, collect, &c), "making");
    assert_int_equal(c.next, FIRST + COUNT);
    assert_int_equal(setup_points_make(&p, &t, "test", q, g, 0, COUNT, refuse, NULL), CUZK_IO);
    proving_task(&t, &cpu);
    proving_must(&t, backend->buffer_take(&to, &t, device, MEM_DEVICE, bytes + 16, 0), "buffer");
    proving_must(&t, setup_points_fill(&p, &t, "test", q, g, FIRST, COUNT, &to, 16), "filling");
    setup_points_fini(&p);
    proving_must(&t, backend->stream_open(&stream, &t, device), "stream");
    proving_must(&t, backend->download(stream, &t, filled, &to, 16, bytes), "download");
    proving_must(&t, backend->stream_sync(stream, &t), "download");
    backend->stream_close(stream);
    backend->buffer_give(&to);
    assert_memory_equal(made, filled, bytes);
    proving_must(&t, setup_scalars_make(s, &t, scalars, q, FIRST, COUNT), "scalars");
    for (int i = 0; i < COUNT; i++) {
        struct g_jac p_jac;
        struct g_aff p_aff;
        group->jac_from_aff(&p_jac, &group->generator);
        group->jac_mul(&p_jac, &p_jac, &scalars[i]);
        group->jac_to_aff(&p_aff, &p_jac);
        assert_memory_equal(&p_aff, made + i * group->aff_bytes, group->aff_bytes);
    }
    free(made);
    free(filled);
}

static void points_are_multiples(void **state)
{
    struct setup_scalars scalars;
    struct trapdoor secrets;
    struct device *device;
    struct task t;

    (void)state;
    proving_secrets(&secrets, &cpu, &curve_bls12_381, ROOT_BELLMAN);
    device_open(&device, &t, (uint64_t)1 << 30);
    proving_must(&t, setup_scalars_init(&scalars, &t, &small.constraints, &secrets), "scalars");
    range_of_points(&scalars, cuda, device, SETUP_L_DERIVED, GROUP_G1);
    range_of_points(&scalars, cuda, device, SETUP_B, GROUP_G2);
    range_of_points(&scalars, cpu.backend, cpu.device, SETUP_H_COSET, GROUP_G1);
    setup_scalars_fini(&scalars);
    cuda->close(device);
}

/* The multiples of a point and a transform's tables take turns in a stream's memory; what is there is not made again, and is right. */
static void multiples_and_transforms_take_turns(void **state)
{
    enum { LOG2 = 6, COUNT = 1 << LOG2 };
    const struct curve *c = &curve_bls12_381;
    const size_t bytes = COUNT * c->g1.aff_bytes;
    uint8_t *const points = malloc(bytes);
    struct fr values[COUNT], back[COUNT];
    struct fr_int scalars[COUNT];
    struct buffer multiples, data, from;
    struct stream *stream;
    struct device *device;
    struct domain domain;
    struct task t;

    (void)state;
    device_open(&device, &t, (uint64_t)1 << 30);
    proving_must(&t, domain_init(&domain, &t, c, ROOT_BELLMAN, LOG2), "domain");
    for (int i = 0; i < COUNT; i++) {
        uint8_t wide[64];
        prng_bytes(&cpu.random, wide, sizeof wide);
        c->fr.from_wide(&values[i], wide);
        c->fr.to_int(&scalars[i], &values[i]);
    }
    proving_must(&t, cuda->stream_open(&stream, &t, device), "stream");
    proving_must(&t, cuda->buffer_take(&multiples, &t, device, MEM_DEVICE, bytes, 0), "buffer");
    proving_must(&t, cuda->buffer_take(&data, &t, device, MEM_DEVICE, sizeof values, 0), "buffer");
    proving_must(&t, cuda->buffer_take(&from, &t, device, MEM_DEVICE, sizeof scalars, 0), "buffer");
    proving_must(&t, cuda->upload(stream, &t, &data, 0, values, sizeof values), "upload");
    proving_must(&t, cuda->upload(stream, &t, &from, 0, scalars, sizeof scalars), "upload");
    for (int round = 0; round < 4; round++) { /* the base changes, stays, and comes back after transforms */
        struct g_aff base = c->g1.generator;
        struct g_jac p;
        if (round == 0) {
            c->g1.jac_from_aff(&p, &base);
            c->g1.jac_dbl(&p, &p);
            c->g1.jac_to_aff(&base, &p);
        }
        if (round == 3) {
            proving_must(&t, cuda->ntt(stream, &t, &domain, &data, false, false), "transform");
            proving_must(&t, cuda->ntt(stream, &t, &domain, &data, true, false), "transform");
        }
        proving_must(&t, cuda->fixed_base(stream, &t, c, GROUP_G1, &multiples, 0, &base, &from, 0, COUNT),
                     "multiples");
        proving_must(&t, cuda->download(stream, &t, points, &multiples, 0, bytes), "download");
        proving_must(&t, cuda->stream_sync(stream, &t), "download");
        for (int i = 0; i < COUNT; i++) {
            struct g_aff expected;
            c->g1.jac_from_aff(&p, &base);
            c->g1.jac_mul(&p, &p, &scalars[i]);
            c->g1.jac_to_aff(&expected, &p);
            assert_memory_equal(points + i * c->g1.aff_bytes, &expected, c->g1.aff_bytes);
        }
    }
    proving_must(&t, cuda->ntt(stream, &t, &domain, &data, false, true), "transform");
    proving_must(&t, cuda->ntt(stream, &t, &domain, &data, true, true), "transform");
    proving_must(&t, cuda->download(stream, &t, back, &data, 0, sizeof back), "download");
    proving_must(&t, cuda->stream_sync(stream, &t), "download");
    assert_memory_equal(back, values, sizeof values);
    struct buffer *const all[] = { &multiples, &data, &from };
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) cuda->buffer_give(all[i]);
    cuda->stream_close(stream);
    cuda->close(device);
    free(points);
}

/* The circuit's polynomials in one walk, in a walk a side, and piece by piece: the same scalars and lists of variables. */
static void walks_agree(void **state)
{
    enum { WAYS = 4 };
    static const struct {
        unsigned threads;
        bool pieces;
    } way[WAYS] = { { 1, false }, { 3, false }, { 1, true }, { 3, true } };
    const uint64_t variables = small.constraints.variable_count;
    struct setup_scalars scalars[WAYS];
    struct constraints circuit[WAYS];
    struct trapdoor secrets;

    (void)state;
    proving_secrets(&secrets, &cpu, &curve_bls12_381, ROOT_BELLMAN);
    for (unsigned i = 0; i < WAYS; i++) {
        struct pool *pool = NULL;
        struct task t;
        task_init(&t);
        if (way[i].threads > 1) proving_must(&t, pool_create(&pool, &t, way[i].threads), "threads");
        t.pool = pool;
        circuit[i] = small.constraints;
        if (!way[i].pieces) circuit[i].walk_piece = NULL;
        proving_must(&t, setup_scalars_init(&scalars[i], &t, &circuit[i], &secrets), "scalars");
        pool_destroy(pool);
        for (int side = 0; side < 3; side++)
            assert_memory_equal(scalars[i].at_tau[side], scalars[0].at_tau[side],
                                variables * sizeof(struct fr));
        for (int side = 0; side < 2; side++) {
            assert_int_equal(scalars[i].dense_count[side], scalars[0].dense_count[side]);
            assert_memory_equal(scalars[i].dense[side], scalars[0].dense[side],
                                scalars[0].dense_count[side] * sizeof(uint32_t));
        }
        assert_int_equal(scalars[i].coefficients, scalars[0].coefficients);
    }
    for (unsigned i = 0; i < WAYS; i++) setup_scalars_fini(&scalars[i]);
}

/* -- keys without a file ------------------------------------------------------------------------------------------------ */

/* The sums from the scalars and the proof from the rows: two oracles, one proof. */
static void oracles_agree(struct groth16_key *key, const struct trapdoor *secrets,
                          const struct groth16_blinding *blinding, const struct groth16_proof *expected)
{
    struct g_jac sums[QUERY_COUNT];
    struct groth16_proof proof;
    struct oracle_sums s;
    struct task t;

    proving_task(&t, &cpu);
    proving_must(&t, oracle_sums(&t, &s, groth16_key_scalars(key), secrets, &small.assignment, &small.map),
                 "sums");
    key->curve->g1.jac_from_aff(&sums[QUERY_A], &s.a);
    key->curve->g1.jac_from_aff(&sums[QUERY_B1], &s.b1);
    key->curve->g2.jac_from_aff(&sums[QUERY_B2], &s.b2);
    key->curve->g1.jac_from_aff(&sums[QUERY_L], &s.lh);
    memset(&sums[QUERY_H], 0, sizeof sums[QUERY_H]); /* infinity */
    assemble(&proof, key, sums, blinding);
    assert_true(oracle_equal(&proof, expected));
}

/* A key whose secret is gone proves where its points are, and nowhere else. */
static void forget(struct groth16_key *key, const struct backend *backend, struct device *device,
                   const struct groth16_plan *plan, const struct groth16_blinding *blinding,
                   const struct groth16_proof *expected)
{
    const uint64_t kept = key->heap_bytes;
    struct key_secret_times times;
    struct groth16_proof proof;
    uint8_t point[192];
    struct task t;

    groth16_key_secret_times(key, &times);
    for (int q = 0; q < QUERY_COUNT; q++)
        assert_true((times.points_ms[q] > 0) == !backend->reads_host_memory);
    assert_true((times.host_ms > 0) == !backend->reads_host_memory);
    groth16_key_forget_secret(key);
    groth16_key_forget_secret(key);
    assert_null(groth16_key_scalars(key));
    assert_true(key->heap_bytes < kept - 90 * key->variable_count);
    proving_task(&t, &cpu);
    assert_int_equal(groth16_key_points(&t, key, QUERY_A, 0, 1, point), CUZK_UNSUPPORTED);
    proving_task(&t, &cpu);
    const cuzk_status status = groth16_prove_blinded(&t, &proof, key, plan, &small.witness, blinding);
    if (backend->reads_host_memory) {
        assert_int_equal(status, CUZK_UNSUPPORTED);
        return;
    }
    proving_must(&t, status, "prover");
    assert_true(oracle_equal(&proof, expected));
    proving_task(&t, &cpu);
    key_device_drop(key, backend, device);
    assert_int_equal(groth16_prove_blinded(&t, &proof, key, plan, &small.witness, blinding),
                     CUZK_UNSUPPORTED);
}

static void prove_without_a_file(const struct backend *backend, struct device *device, bool derived)
{
    struct groth16_blinding blinding;
    struct groth16_proof expected, proof;
    struct groth16_key *key;
    struct groth16_plan plan;
    struct trapdoor secrets;
    struct task t;

    proving_secrets(&secrets, &cpu, &curve_bls12_381, ROOT_BELLMAN);
    proving_blinding(&blinding, &cpu, &curve_bls12_381);
    proving_task(&t, &cpu);
    proving_must(
        &t, oracle_prove_constraints(&t, &expected, &secrets, &small.constraints, &small.witness, &blinding),
        "oracle");
    proving_must(
        &t, groth16_key_from_secret(&key, &t, &small.constraints, &secrets, derived, backend, device), "key");
    proving_must(&t, groth16_vk_check(&t, &key->vk), "verifying key");
    proving_must(&t, groth16_prove_plan(&plan, &t, key, backend, device), "plan");
    proving_must(&t, groth16_prove_blinded(&t, &proof, key, &plan, &small.witness, &blinding), "prover");
    assert_true(oracle_equal(&proof, &expected));
    oracles_agree(key, &secrets, &blinding, &expected);
    forget(key, backend, device, &plan, &blinding, &expected);
    groth16_key_unref(key);
}

static void keys_without_files_prove(void **state)
{
    struct device *device;
    struct task t;

    (void)state;
    device_open(&device, &t, (uint64_t)1 << 30);
    prove_without_a_file(cpu.backend, cpu.device, false);
    prove_without_a_file(cpu.backend, cpu.device, true);
    prove_without_a_file(cuda, device, true);
    cuda->close(device);
}

static void snarkjs_keys_are_files(void **state)
{
    struct groth16_key *key;
    struct trapdoor secrets;
    struct task t;

    (void)state;
    proving_secrets(&secrets, &cpu, &curve_bls12_381, ROOT_SNARKJS);
    proving_task(&t, &cpu);
    assert_int_equal(
        groth16_key_from_secret(&key, &t, &small.constraints, &secrets, true, cpu.backend, cpu.device),
        CUZK_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_the_cpus),
        cmocka_unit_test(files_of_an_image_are_the_cpus),
        cmocka_unit_test(points_are_multiples),
        cmocka_unit_test(little_memory_makes_small_chunks),
        cmocka_unit_test(walks_agree),
        cmocka_unit_test(keys_without_files_prove),
        cmocka_unit_test(multiples_and_transforms_take_turns),
        cmocka_unit_test(snarkjs_keys_are_files),
    };
    size_t count = 0;
    struct task t;

#if defined(CUZK_CUDA_EMULATED)
    const struct cuda_host_config c = cuda_host_default();
    cuda_host_configure(&c);
#endif
    cuda = backend_by_name("cuda");
    task_init(&t);
    if (cuda == NULL || cuda->probe(&t, NULL, 0, &count) != CUZK_OK || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_all, close_all);
}
