/* Allocation failures in the circuits and in the readers of vanilla proofs: each is reported as CUZK_NO_MEMORY, nothing is left
 * behind, and the same call succeeds afterwards. */
#include "support/cm.h"

#include "circuits/porep/porep.h"
#include "circuits/porep/porep_circuit.h"
#include "circuits/porep/porep_seal.h"
#include "formats/c1json.h"
#include "r1cs/image_program.h"
#include "support/alloc_fail.h"

#include <stdlib.h>

typedef cuzk_status operation(struct task *t);

/* Fails allocation 0, 1, 2, ... and then ever larger steps, since recording a circuit makes tens of thousands. */
static void sweep(operation *run)
{
    size_t failures = 0;
    for (size_t n = 0;; n += 1 + n / 8) {
        struct task t;
        task_init(&t);
        alloc_fail_arm(n);
        const cuzk_status status = run(&t);
        if (!alloc_fail_disarm()) {
            assert_int_equal(status, CUZK_OK);
            assert_true(failures > 0);
            return;
        }
        failures++;
        assert_int_equal(status, CUZK_NO_MEMORY);
        assert_int_equal(t.error.status, CUZK_NO_MEMORY);
    }
}

/* What the operations work on, made before any failure. */
static struct circuit_image image;
static struct c1 sector;
static uint8_t *image_bytes_of, *json[2];
static size_t image_size, json_size[2];

static struct porep_seal_request request(void)
{
    const struct porep_seal_request r = {
        .proof = registered_proof_by_number(5), .miner = 1000, .sector = 1, .seed = 7
    };
    return r;
}

static int prepare(void **state)
{
    const struct porep_seal_request r = request();
    struct task t;
    (void)state;
    task_init(&t);
    return porep_circuit_record(&image, &t, porep_shape_by_name("2KiB"), 1) != CUZK_OK ||
           porep_seal(&sector, &t, &r) != CUZK_OK ||
           image_save(&image, &t, &image_bytes_of, &image_size) != CUZK_OK ||
           c1json_write(&sector, &t, false, &json[0], &json_size[0]) != CUZK_OK ||
           c1json_write(&sector, &t, true, &json[1], &json_size[1]) != CUZK_OK;
}

static int clean(void **state)
{
    (void)state;
    image_fini(&image);
    c1_fini(&sector);
    free(image_bytes_of);
    free(json[0]);
    free(json[1]);
    return 0;
}

static cuzk_status record(struct task *t)
{
    struct circuit_image m;
    const cuzk_status status = porep_circuit_record(&m, t, porep_shape_by_name("2KiB"), 1);
    image_fini(&m);
    return status;
}

static cuzk_status save(struct task *t)
{
    uint8_t *file = NULL;
    size_t bytes;
    const cuzk_status status = image_save(&image, t, &file, &bytes);
    free(file);
    return status;
}

static cuzk_status load(struct task *t)
{
    struct circuit_image m;
    const cuzk_status status = image_load(&m, t, span_of(image_bytes_of, image_size));
    image_fini(&m);
    return status;
}

static cuzk_status digest(struct task *t)
{
    struct circuit_totals totals;
    uint8_t out[32];
    return image_digest(&image, t, out, &totals);
}

static cuzk_status matrices(struct task *t)
{
    struct csr m[3];
    const cuzk_status status = image_csr(&image, t, m);
    for (int i = 0; i < 3; i++) csr_fini(&m[i]);
    return status;
}

static cuzk_status programs(struct task *t)
{
    struct image_program p;
    const cuzk_status status = image_program_create(&p, t, &image);
    image_program_fini(&p);
    return status;
}

/* Circuit, witness, evaluation. */
static cuzk_status witness(struct task *t)
{
    struct porep_circuit c;
    struct assignment w = { 0 };
    cuzk_status status = porep_circuit_open(&c, t, sector.shape, NULL);
    if (status == CUZK_OK) status = assignment_create(&w, t, &c.image);
    if (status == CUZK_OK) status = porep_assign(&c, t, &w, &sector, 0);
    if (status == CUZK_OK) status = image_check(&c.image, t, &w, &c.map);
    assignment_fini(&w);
    porep_circuit_close(&c);
    return status;
}

static cuzk_status read_plain(struct task *t)
{
    struct c1 c;
    const cuzk_status status = c1_read(&c, t, span_of(json[0], json_size[0]), "x.json");
    c1_fini(&c);
    return status;
}

static cuzk_status read_wrapped(struct task *t)
{
    struct c1 c;
    const cuzk_status status = c1_read(&c, t, span_of(json[1], json_size[1]), "x.json");
    c1_fini(&c);
    return status;
}

static cuzk_status write_wrapped(struct task *t)
{
    uint8_t *text = NULL;
    size_t bytes;
    const cuzk_status status = c1json_write(&sector, t, true, &text, &bytes);
    free(text);
    return status;
}

static cuzk_status seal(struct task *t)
{
    const struct porep_seal_request r = request();
    struct c1 c;
    const cuzk_status status = porep_seal(&c, t, &r);
    c1_fini(&c);
    return status;
}

static cuzk_status seal_sparse(struct task *t)
{
    const struct porep_seal_request r = request();
    struct c1 c;
    const cuzk_status status = porep_seal_sparse(&c, t, &r);
    c1_fini(&c);
    return status;
}

static cuzk_status check(struct task *t) { return porep_check(&sector, t); }

static void test_sweeps(void **state)
{
    operation *const operations[] = { record,  save,       load,         digest,        matrices, programs,
                                      witness, read_plain, read_wrapped, write_wrapped, seal,     seal_sparse,
                                      check };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(operations); i++) sweep(operations[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_sweeps) };
    return cmocka_run_group_tests(tests, prepare, clean);
}
