/* A PoRep partition on a GPU from its statement to a = A w and b = B w: bench_image [size=32GiB] [runs=9]
 *
 * The first two partitions of a sparse C1 output from a fixed seed.  Every bit, number and input is compared with what the CPU makes, and
 * every row is checked on the device; then the times, the medians of the runs with operands resident, in a line of JSON each. */
#include "backend/backend.h"
#include "base/clock.h"
#include "base/pool.h"
#include "circuits/porep/porep.h"
#include "circuits/porep/porep_seal.h"
#include "r1cs/image_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 101, PARTITIONS = 2 };

static struct task task;
static const struct backend *backend;
static struct device *device;
static struct stream *stream;

static void need(cuzk_status status)
{
    if (status == CUZK_OK) return;
    fprintf(stderr, "bench_image: %s\n", task.error.text);
    exit(1);
}

/* A circuit, resident, and room for what is made of a statement. */
struct bench {
    struct porep_circuit circuit;
    struct image_program program;
    struct image_assign_plan assign;
    struct image_eval_plan eval;
    struct buffer programs, tables, workspace, a, b, first_bad;
    struct buffer statement[PARTITIONS];
    struct image_values values;
};

static struct buffer take(enum mem_kind kind, size_t bytes)
{
    struct buffer b;
    need(backend->buffer_take(&b, &task, device, kind, bytes, BUFFER_SECRET));
    return b;
}

static void bench_open(struct bench *x, const struct porep_shape *shape)
{
    const struct circuit_image *m = &x->circuit.image;
    need(porep_circuit_open(&x->circuit, &task, shape, NULL));
    uint64_t domain = 1;
    while (domain < image_circuit(m)->row_count) domain *= 2;
    const uint64_t start = clock_now_ns();
    need(image_program_create(&x->program, &task, m));
    printf("{\"stage\":\"lay out the programs\",\"ms\":%.3f}\n", clock_ms_since(start));
    need(backend->image_assign_plan(&x->assign, &task, device, &x->program));
    need(backend->image_eval_plan(&x->eval, &task, device, m, domain));
    x->programs = take(MEM_DEVICE, x->assign.program_bytes);
    x->workspace = take(MEM_DEVICE, x->assign.workspace_bytes);
    x->tables = take(MEM_DEVICE, x->eval.tables_bytes);
    x->a = take(MEM_DEVICE, 32 * domain);
    x->b = take(MEM_DEVICE, 32 * domain);
    x->first_bad = take(MEM_DEVICE, sizeof(uint64_t));
    x->values.bits = take(MEM_DEVICE, image_bits_bytes(m));
    x->values.numbers = take(MEM_DEVICE, image_numbers_bytes(m));
    x->values.inputs = take(MEM_DEVICE, image_inputs_bytes(m));
    for (unsigned i = 0; i < PARTITIONS; i++) x->statement[i] = take(MEM_PINNED, x->assign.statement_bytes);
    need(backend->image_program_upload(stream, &task, &x->programs, &x->program));
    need(backend->image_upload(stream, &task, &x->eval, &x->tables, m));
    need(backend->stream_sync(stream, &task));
}

static void bench_close(struct bench *x)
{
    struct buffer *const all[] = { &x->programs,
                                   &x->workspace,
                                   &x->tables,
                                   &x->a,
                                   &x->b,
                                   &x->first_bad,
                                   &x->values.bits,
                                   &x->values.numbers,
                                   &x->values.inputs,
                                   &x->statement[0],
                                   &x->statement[1] };
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) backend->buffer_give(all[i]);
    image_program_fini(&x->program);
    porep_circuit_close(&x->circuit);
}

static void assign(struct bench *x, unsigned partition)
{
    need(backend->image_assign(stream, &task, &x->assign, &x->values, &x->program, &x->programs,
                               &x->statement[partition], &x->workspace));
}

static void evaluate(struct bench *x, bool check)
{
    need(backend->image_eval(stream, &task, &x->eval, &x->a, &x->b, &x->tables, &x->values,
                             check ? &x->first_bad : NULL));
}

static bool same(const struct buffer *got, const void *expected, size_t bytes, const char *what)
{
    uint8_t *copy = malloc(bytes + 1);
    if (copy == NULL) exit(1);
    need(backend->download(stream, &task, copy, got, 0, bytes));
    need(backend->stream_sync(stream, &task));
    const bool equal = memcmp(copy, expected, bytes) == 0;
    if (!equal) printf("%s differ from the CPU's\n", what);
    free(copy);
    return equal;
}

/* Whether a partition's witness is the CPU's and satisfies every row. */
static bool right(struct bench *x, struct assignment *w, const struct c1 *c1, unsigned partition)
{
    const struct circuit_image *m = &x->circuit.image;
    uint64_t bad = 0;
    const uint64_t start = clock_now_ns();
    need(porep_assign(&x->circuit, &task, w, c1, partition));
    printf("{\"stage\":\"witness of partition %u on the CPU\",\"ms\":%.3f}\n", partition,
           clock_ms_since(start));
    need(porep_statement(&x->circuit, &task, x->statement[partition].data, c1, partition));
    assign(x, partition);
    evaluate(x, true);
    need(backend->download(stream, &task, &bad, &x->first_bad, 0, sizeof bad));
    need(backend->stream_sync(stream, &task));
    if (bad != UINT64_MAX)
        printf("row %llu of partition %u does not hold\n", (unsigned long long)bad, partition);
    return same(&x->values.bits, w->bits, image_bits_bytes(m), "bits") &&
           same(&x->values.numbers, w->numbers, image_numbers_bytes(m), "numbers") &&
           same(&x->values.inputs, w->inputs, image_inputs_bytes(m), "inputs") && bad == UINT64_MAX;
}

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

enum { ASSIGN = 1, EVALUATE = 2, CHECK = 4 };

static void timed(struct bench *x, const char *stage, unsigned what, unsigned runs, double must)
{
    double ms[RUNS_MAX];
    for (unsigned i = 0; i < runs; i++) {
        const uint64_t start = clock_now_ns();
        if (what & ASSIGN) assign(x, i % PARTITIONS);
        if (what & EVALUATE) evaluate(x, (what & CHECK) != 0);
        need(backend->stream_sync(stream, &task));
        ms[i] = clock_ms_since(start);
    }
    qsort(ms, runs, sizeof *ms, by_value);
    printf("{\"stage\":\"%s\",\"ms\":%.3f,\"least\":%.3f,\"most\":%.3f", stage, ms[runs / 2], ms[0],
           ms[runs - 1]);
    if (must > 0) printf(",\"must\":%.1f,\"met\":%s", must, ms[runs / 2] <= must ? "true" : "false");
    printf("}\n");
    fflush(stdout);
}

static const char *option(int argc, char **argv, const char *key, const char *fallback)
{
    const size_t n = strlen(key);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], key, n) == 0 && argv[i][n] == '=') return argv[i] + n + 1;
    return fallback;
}

int main(int argc, char **argv)
{
    const struct porep_shape *shape = porep_shape_by_name(option(argc, argv, "size", "32GiB"));
    const unsigned runs = (unsigned)atoi(option(argc, argv, "runs", "9"));
    struct porep_seal_request request = { .miner = 1000, .sector = 1, .seed = 7 };
    const struct device_options o = { .pinned_bytes = (size_t)16 << 20 };
    struct device_info info;
    struct assignment w;
    struct bench x;
    struct c1 c1;
    bool good = true;
    task_init(&task);
    for (unsigned i = 5; i < 10 && shape != NULL; i++)
        if (registered_proof_by_number(i)->shape == shape) request.proof = registered_proof_by_number(i);
    if (request.proof == NULL || runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "bench_image: size is one of 2KiB 8MiB 512MiB 32GiB 64GiB, runs 1 to %d\n", RUNS_MAX);
        return 2;
    }
    backend = backend_by_name("cuda");
    if (backend == NULL) {
        fprintf(stderr, "bench_image: this build has no CUDA\n");
        return 2;
    }
    need(pool_create(&task.pool, &task, 0));
    need(backend->open(&device, &task, &o));
    need(backend->stream_open(&stream, &task, device));
    backend->info(device, &info);
    printf("{\"device\":\"%s\",\"variant\":\"%s\",\"circuit\":\"porep-%s\"}\n", info.name, info.variant,
           shape->name);
    need(porep_seal_sparse(&c1, &task, &request));
    bench_open(&x, shape);
    need(assignment_create(&w, &task, &x.circuit.image));
    const unsigned partitions = c1.partitions < PARTITIONS ? c1.partitions : PARTITIONS;
    for (unsigned k = 0; k < partitions; k++) good = right(&x, &w, &c1, k) && good;
    if (partitions < PARTITIONS) need(porep_statement(&x.circuit, &task, x.statement[1].data, &c1, 0));
    printf("{\"stage\":\"compared with the CPU, rows checked\",\"right\":%s}\n", good ? "true" : "false");
    timed(&x, "witness", ASSIGN, runs, 0);
    timed(&x, "A w and B w", EVALUATE, runs, 0);
    timed(&x, "A w and B w, rows checked", EVALUATE | CHECK, runs, 0);
    timed(&x, "witness, A w and B w", ASSIGN | EVALUATE, runs, 40);
    assignment_fini(&w);
    bench_close(&x);
    c1_fini(&c1);
    backend->stream_close(stream);
    backend->close(device);
    pool_destroy(task.pool);
    return good ? 0 : 1;
}
