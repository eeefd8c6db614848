/* test_porep_batch: all partitions of a sector proved in batches on a device under a key made there from a known secret, and the sums A,
 * B1, B2 and L + H of each compared with the oracle's, byte for byte; every row checked on the device, every proof verified.
 *
 *     test_porep_batch BACKEND SIZE [derived|original [PARTITIONS]]
 *
 * BACKEND cuda, or images: the CPU in a card's place.  A(tau) of a partition at a tau that nobody knew before tells any two witnesses apart
 * whose points in A differ, so a sum that is equal says the same of the witness that the device made.
 * Exit code 0: all equal; 1: not; 2: could not be tried; 77: there is no such device. */
#include "base/bytes.h"
#include "base/clock.h"
#include "base/hostmem.h"
#include "base/pool.h"
#include "base/rng.h"
#include "circuits/porep/porep_seal.h"
#include "filecoin/porep_prover.h"
#include "groth16/key_secret.h"
#include "groth16/setup.h"
#include "support/image_backend.h"
#include "support/oracle_sums.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITIONS_MOST = 16 };

struct trial {
    struct porep_seal_request request;
    bool derived;
    unsigned partitions;
    const struct backend *backend;
    struct device *device;
    struct trapdoor secrets;
    struct porep_key key;
    struct c1 c1;
    struct porep_public public;
    struct porep_prover prover;
    struct assignment assignment;
    struct oracle_sums expected[PARTITIONS_MOST];
    unsigned different; /* sums */
};

static double seconds_since(uint64_t ns) { return clock_ms_since(ns) * 1e-3; }

static cuzk_status make_key(struct trial *a, struct task *t)
{
    uint64_t clock = clock_now_ns();
    struct key_secret_times times;
    const struct batch_limits limits = { .partitions = a->partitions, .check_rows = true };

    TRY(porep_bind(&a->key.binding, t, a->request.proof->shape));
    TRY(groth16_setup_draw(t, &a->secrets, &curve_bls12_381, ROOT_BELLMAN));
    TRY(porep_key_from_secret(&a->key, t, &a->secrets, a->derived, a->backend, a->device));
    printf("scalars of the key on the host: %.2f s\n", seconds_since(clock));
    clock = clock_now_ns();
    TRY(porep_prover_open(&a->prover, t, &a->key, a->backend, a->device, &limits));
    groth16_key_secret_times(a->key.key, &times);
    printf("points on the device: %.2f s (A %.2f, B1 %.2f, B2 %.2f, L %.2f, H %.2f)\n", seconds_since(clock),
           times.points_ms[QUERY_A] * 1e-3, times.points_ms[QUERY_B1] * 1e-3,
           times.points_ms[QUERY_B2] * 1e-3, times.points_ms[QUERY_L] * 1e-3,
           times.points_ms[QUERY_H] * 1e-3);
    return CUZK_OK;
}

static cuzk_status make_statement(struct trial *a, struct task *t)
{
    struct porep_statement statement;

    TRY(porep_seal_sparse(&a->c1, t, &a->request));
    porep_proof_statement(&statement, &a->c1, a->request.miner, a->request.sector);
    porep_proof_derive(&a->public, &statement);
    return CUZK_OK;
}

/* What the sums of some partitions must be, from witnesses that the CPU makes: meanwhile the device makes its own. */
static cuzk_status expect(struct trial *a, struct task *t, unsigned first, unsigned count)
{
    const struct porep_circuit *circuit = &a->key.binding.circuit;
    const uint64_t clock = clock_now_ns();

    for (unsigned k = first; k < first + count; k++) {
        TRY(porep_assign(circuit, t, &a->assignment, &a->c1, k));
        TRY(oracle_sums(t, &a->expected[k], groth16_key_scalars(a->key.key), &a->secrets, &a->assignment,
                        &circuit->map));
    }
    printf("the oracle of %u partitions: %.2f s\n", count, seconds_since(clock));
    return CUZK_OK;
}

static void compare(struct trial *a, const char *what, enum group_id g, const struct g_jac *sum,
                    const struct g_aff *expected)
{
    const struct group *group = curve_bls12_381.group[g];
    struct g_aff got;

    group->jac_to_aff(&got, sum);
    const bool equal = memcmp(&got, expected, group->aff_bytes) == 0;
    printf(" %s %s", what, equal ? "equal" : "DIFFERENT");
    if (!equal) a->different++;
}

static cuzk_status compare_partition(struct trial *a, struct task *t, unsigned index, unsigned partition)
{
    const struct g_jac *const sums = prove_batch_sums(a->prover.batch, index);
    const struct oracle_sums *const expected = &a->expected[partition];
    struct g_jac lh;

    if (sums == NULL) return FAIL(t, CUZK_INTERNAL, "the batch has no sums of partition %u", partition);
    curve_bls12_381.g1.jac_add(&lh, &sums[QUERY_L], &sums[QUERY_H]);
    printf("partition %u:", partition);
    compare(a, "A", GROUP_G1, &sums[QUERY_A], &expected->a);
    compare(a, "B1", GROUP_G1, &sums[QUERY_B1], &expected->b1);
    compare(a, "B2", GROUP_G2, &sums[QUERY_B2], &expected->b2);
    compare(a, "L + H", GROUP_G1, &lh, &expected->lh);
    putchar('\n');
    return CUZK_OK;
}

static cuzk_status prove(struct trial *a, struct task *t)
{
    uint8_t proofs[PARTITIONS_MOST * PROOF_BYTES];

    for (unsigned first = 0; first < a->partitions; first += a->prover.plan.partitions) {
        const unsigned left = a->partitions - first,
                       count = left < a->prover.plan.partitions ? left : a->prover.plan.partitions;
        const struct porep_share share = { first, 1, count };
        TRY(porep_prover_begin(&a->prover, t, &a->c1, &a->public, &share, NULL));
        TRY(expect(a, t, first, count));
        TRY(prove_batch_wait(a->prover.batch, t));
        for (unsigned k = 0; k < count; k++) TRY(compare_partition(a, t, k, first + k));
        fflush(stdout);
        TRY(porep_prover_end(&a->prover, t, proofs));
    }
    return porep_proof_verify(t, &a->key.verifier, &a->public, 0, a->partitions,
                              span_of(proofs, (size_t)a->partitions * PROOF_BYTES));
}

static cuzk_status try_all(struct trial *a, struct task *t)
{
    const struct device_options o = { .pinned_bytes = (size_t)64 << 20 };
    struct device_info info;

    TRY(pool_create(&t->pool, t, 0));
    TRY(a->backend->open(&a->device, t, &o));
    TRY(make_statement(a, t));
    TRY(make_key(a, t));
    TRY(assignment_create(&a->assignment, t, &a->key.binding.circuit.image));
    TRY(prove(a, t));
    a->backend->info(a->device, &info);
    printf("%s, %s, %s: %u partitions, rows checked, proofs verified, %u of %u sums differ; peak %.1f GB of "
           "the device, "
           "%.1f GB of the host\n",
           info.name, a->request.proof->shape->name, a->derived ? "derived" : "original", a->partitions,
           a->different, 4 * a->partitions, (double)info.peak_bytes * 1e-9,
           (double)hostmem_peak_rss_bytes() * 1e-9);
    return CUZK_OK;
}

static void end(struct trial *a, struct task *t)
{
    porep_prover_close(&a->prover);
    porep_key_close(&a->key);
    assignment_fini(&a->assignment);
    c1_fini(&a->c1);
    wipe(&a->secrets, sizeof a->secrets);
    if (a->device != NULL) a->backend->close(a->device);
    pool_destroy(t->pool);
    image_backend_end();
}

/* The first proof type of the size whose challenges do not depend on comm_r. */
static const struct registered_proof *proof_of(const char *size)
{
    const struct porep_shape *shape = porep_shape_by_name(size);

    for (unsigned i = 0; i < REGISTERED_PROOF_COUNT && shape != NULL; i++) {
        const struct registered_proof *r = registered_proof_by_number(i);
        if (r != NULL && r->shape == shape && r->feature == POREP_INTERACTIVE && !r->legacy_graph) return r;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct trial a;
    size_t devices = 0;
    struct task t;

    task_init(&t);
    a.request = (struct porep_seal_request){ argc > 2 ? proof_of(argv[2]) : NULL, 1000, 77, 0 };
    if (argc < 3 || argc > 5 || a.request.proof == NULL ||
        (argc > 3 && strcmp(argv[3], "derived") != 0 && strcmp(argv[3], "original") != 0)) {
        fprintf(stderr, "usage: test_porep_batch cuda|images SIZE [derived|original [PARTITIONS]]\n");
        return 2;
    }
    a.derived = argc < 4 || strcmp(argv[3], "derived") == 0;
    a.partitions = registered_proof_partitions(a.request.proof);
    if (argc > 4 && (unsigned)atoi(argv[4]) < a.partitions && atoi(argv[4]) > 0)
        a.partitions = (unsigned)atoi(argv[4]);
    a.backend =
        strcmp(argv[1], "images") == 0 ? image_backend(backend_by_name("cpu")) : backend_by_name(argv[1]);
    if (a.backend == NULL || a.backend->probe(&t, NULL, 0, &devices) != CUZK_OK || devices == 0) {
        printf("skipped: no device of backend %s\n", argv[1]);
        return 77;
    }
    if (a.partitions > PARTITIONS_MOST || rng_bytes(&t, &a.request.seed, sizeof a.request.seed) != CUZK_OK ||
        try_all(&a, &t) != CUZK_OK) {
        fprintf(stderr, "test_porep_batch: %s\n", t.error.text);
        end(&a, &t);
        return 2;
    }
    end(&a, &t);
    return a.different == 0 ? 0 : 1;
}
