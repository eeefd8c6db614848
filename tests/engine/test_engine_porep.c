/* Partitions of a PoRep job in batches, through the engine: a development key of 2 KiB, a sector sealed here, and the CPU in the place of a card that
 * makes witnesses.
 *
 * CUZK_TEST_PARAMS names the folder of the key (cuzk setup --dev porep-2k FOLDER); without it there is nothing to do (exit code 77). */
#include "support/cm.h"
#include "base/bytes.h"
#include "base/log.h"
#include "circuits/porep/porep_seal.h"
#include "engine/engine.h"
#include "filecoin/porep_key.h"
#include "filecoin/porep_proof.h"
#include "formats/c1json.h"
#include "support/image_backend.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINER = 1000, SECTOR = 77 };

static const char *folder;
static struct c1 c1;

#define MEMORY "CUZK_TEST_MEMORY" /* of the device, which a process inherits; not set: the host's */

/* -- the device --------------------------------------------------------------------------------------------------------- */

static const struct backend *cpu;

static void device_of_so_much(const struct device *d, struct device_info *out)
{
    const char *bytes = getenv(MEMORY);

    cpu->info(d, out);
    if (bytes != NULL) out->memory_bytes = strtoull(bytes, NULL, 10);
}

const struct backend *__real_backend_by_name(const char *name);
const struct backend *__wrap_backend_by_name(const char *name);

const struct backend *__wrap_backend_by_name(const char *name)
{
    static struct backend images;

    if (strcmp(name, "images") != 0) return __real_backend_by_name(name);
    cpu = __real_backend_by_name("cpu");
    images = *image_backend(cpu);
    images.name = "images";
    images.info = device_of_so_much;
    return &images;
}

/* -- a job -------------------------------------------------------------------------------------------------------------- */

static struct engine *open_engine(enum engine_process process, bool never)
{
    const struct engine_circuit circuit = { .name = "porep-2k", .kind = &kind_porep, .key_path = folder };
    struct engine_options o = ENGINE_DEFAULTS;
    struct engine *e = NULL;
    struct task t;

    o.circuits = &circuit;
    o.circuit_count = 1;
    o.backend = "images";
    o.process = process;
    o.batches_never = never;
    task_init(&t);
    if (engine_open(&e, &t, &o) != CUZK_OK) fail_msg("%s", t.error.text);
    return e;
}

/* Proves what c1 says. */
static void prove(struct engine *e, struct job_answer *a)
{
    uint8_t parameters[FILECOIN_PARAMETERS_BYTES] = { 0 };
    struct engine_request r = { .circuit = "porep-2k", .durable = -1 };
    struct job_answer accepted;
    struct task t;

    task_init(&t);
    store_le64(parameters + FILECOIN_AT_SECTOR, SECTOR);
    store_le64(parameters + FILECOIN_AT_MINER, MINER);
    r.parameters = span_of(parameters, sizeof parameters);
    assert_int_equal(c1json_write(&c1, &t, false, &r.payload, &r.payload_bytes), CUZK_OK);
    if (engine_submit_wait(e, &t, &r, &accepted) != CUZK_OK) fail_msg("%s", t.error.text);
    engine_await_wait(e, accepted.job_id, 0, a);
    job_answer_free(&accepted);
}

/* Right, made by one run of the one part, without synthesis: a batch. */
static void must_be_of_a_batch(const struct job_answer *a)
{
    struct porep_key key = { .checked = false };
    struct porep_statement statement;
    struct porep_public public;
    struct task t;

    task_init(&t);
    if (a->end != JOB_DONE) fail_msg("%s", a->error_text);
    assert_int_equal(porep_key_outline(&key, &t, c1.shape, folder, KEY_MODE_AUTO), CUZK_OK);
    porep_proof_statement(&statement, &c1, MINER, SECTOR);
    porep_proof_derive(&public, &statement);
    assert_int_equal(porep_proof_verify(&t, &key.verifier, &public, 0, 1, a->proof), CUZK_OK);
    porep_key_close(&key);
    assert_int_equal(a->attempts, 1);
    assert_true(a->timings.synthesis_ms == 0);
}

/* -- the tests ---------------------------------------------------------------------------------------------------------- */

/* Twice, the second time on what the first one has left on the device; then vanilla proofs with a wrong sibling, with the same words as where
 * partitions are synthesised. */
static void in_a_batch(void **state)
{
    struct engine *e = open_engine(ENGINE_PROCESS_NEVER, false);
    struct job_answer a, b;
    (void)state;

    for (int i = 0; i < 2; i++) {
        prove(e, &a);
        must_be_of_a_batch(&a);
        job_answer_free(&a);
    }
    c1.numbers[5].l[0] ^= 1;
    prove(e, &a);
    engine_close(e, 0);
    e = open_engine(ENGINE_PROCESS_NEVER, true);
    prove(e, &b);
    engine_close(e, 0);
    c1.numbers[5].l[0] ^= 1;
    assert_int_equal(a.end, JOB_FAILED);
    assert_int_equal(b.end, JOB_FAILED);
    assert_int_equal(a.status, b.status);
    assert_string_equal(a.error_text, b.error_text);
    assert_non_null(strstr(a.error_text, "challenge"));
    job_answer_free(&a);
    job_answer_free(&b);
}

/* A device without room for the points, in a process of its own. */
static void with_points_that_are_sent(void **state)
{
    struct job_answer a;
    (void)state;

    setenv(MEMORY, "2000000000", 1);
    struct engine *e = open_engine(ENGINE_PROCESS_ALWAYS, false);
    prove(e, &a);
    must_be_of_a_batch(&a);
    job_answer_free(&a);
    engine_close(e, 0);
    unsetenv(MEMORY);
}

static int seal(void **state)
{
    const struct porep_seal_request r = { registered_proof_by_name("StackedDrg2KiBV1_1", strlen("StackedDrg2KiBV1_1")), MINER, SECTOR, 3 };
    struct task t;
    (void)state;

    task_init(&t);
    return porep_seal(&c1, &t, &r) != CUZK_OK;
}

static int forget(void **state)
{
    (void)state;
    c1_fini(&c1);
    image_backend_end();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(in_a_batch), cmocka_unit_test(with_points_that_are_sent) };
    const int child = engine_device_main(argc, argv);

    if (child >= 0) return child;
    folder = getenv("CUZK_TEST_PARAMS");
    if (folder == NULL) {
        printf("skipped: CUZK_TEST_PARAMS names no folder with a development key of 2 KiB\n");
        return 77;
    }
    log_setup(LOG_WARN, LOG_TEXT);
    return cmocka_run_group_tests(tests, seal, forget);
}
