/* Times what happens to a PoRep partition before the prover: bench_porep [size=32GiB] [threads=N] [rows=0|1]; a line of JSON a stage.
 *
 * The vanilla proofs are sparse ones from a fixed seed.  rows=1 also evaluates A.w and B.w into memory (64 bytes a row). */
#include "base/clock.h"
#include "base/pool.h"
#include "circuits/porep/porep.h"
#include "circuits/porep/porep_seal.h"
#include "formats/c1json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

static struct task task;

static void need(cuzk_status status)
{
    if (status == CUZK_OK) return;
    fprintf(stderr, "bench_porep: %s\n", task.error.text);
    exit(1);
}

static double cpu_ms(void)
{
    struct timespec s;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &s);
    return (double)s.tv_sec * 1e3 + (double)s.tv_nsec * 1e-6;
}

static struct {
    uint64_t wall;
    double cpu;
} start;

static void begin(void)
{
    start.wall = clock_now_ns();
    start.cpu = cpu_ms();
}

static void end(const char *stage, double bytes)
{
    struct rusage usage;
    const double wall = clock_ms_since(start.wall), cpu = cpu_ms() - start.cpu;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"stage\":\"%s\",\"wall_ms\":%.1f,\"cpu_ms\":%.1f,\"bytes\":%.0f,\"peak_rss_bytes\":%ld}\n",
           stage, wall, cpu, bytes, usage.ru_maxrss * 1024);
    fflush(stdout);
}

static const char *option(int argc, char **argv, const char *key, const char *fallback)
{
    const size_t n = strlen(key);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], key, n) == 0 && argv[i][n] == '=') return argv[i] + n + 1;
    return fallback;
}

static void *vector(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("bench_porep");
        exit(1);
    }
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void evaluate(const struct porep_circuit *c, const struct assignment *w)
{
    const size_t bytes = (size_t)image_circuit(&c->image)->row_count * 32;
    bls12_381_fr_t *a = vector(bytes), *b = vector(bytes);
    for (int i = 0; i < 2; i++) { /* the second time the pages are there, as in a prover's arena */
        begin();
        need(image_evaluate(&c->image, &task, a, b, w, &c->map));
        end(i == 0 ? "evaluate A and B, fresh pages" : "evaluate A and B", 2 * (double)bytes);
    }
    begin();
    memset(a, 1, bytes);
    memset(b, 1, bytes);
    end("the floor: the same bytes by memset", 2 * (double)bytes);
    munmap(a, bytes);
    munmap(b, bytes);
}

int main(int argc, char **argv)
{
    const struct porep_shape *shape = porep_shape_by_name(option(argc, argv, "size", "32GiB"));
    struct porep_seal_request request = { .miner = 1000, .sector = 1, .seed = 7 };
    struct porep_circuit circuit;
    struct assignment w;
    struct c1 made, c1;
    uint8_t *json;
    size_t bytes;
    task_init(&task);
    for (unsigned i = 5; i < 10 && shape != NULL; i++)
        if (registered_proof_by_number(i)->shape == shape) request.proof = registered_proof_by_number(i);
    if (request.proof == NULL) {
        fprintf(stderr, "bench_porep: size is one of 2KiB 8MiB 512MiB 32GiB 64GiB\n");
        return 2;
    }
    need(pool_create(&task.pool, &task, (unsigned)atoi(option(argc, argv, "threads", "1"))));
    begin();
    need(porep_seal_sparse(&made, &task, &request));
    end("generate C1, sparse", 0);
    need(c1json_write(&made, &task, true, &json, &bytes));
    c1_fini(&made);
    begin();
    need(c1_read(&c1, &task, span_of(json, bytes), NULL));
    end("read C1, wrapped JSON", (double)bytes);
    free(json);
    begin();
    need(porep_check(&c1, &task));
    end("check C1", 0);
    begin();
    need(porep_circuit_open(&circuit, &task, shape, NULL));
    end("record the circuit", (double)image_bytes(&circuit.image));
    need(assignment_create(&w, &task, &circuit.image));
    for (unsigned k = 0; k < (c1.partitions < 2 ? c1.partitions : 2); k++) {
        begin();
        need(porep_assign(&circuit, &task, &w, &c1, k));
        end("witness of a partition", (double)(w.bits_bytes + w.numbers_bytes + w.inputs_bytes));
    }
    begin();
    need(image_check(&circuit.image, &task, &w, &circuit.map));
    end("check every row", 0);
    if (atoi(option(argc, argv, "rows", "0")) != 0) evaluate(&circuit, &w);
    assignment_fini(&w);
    porep_circuit_close(&circuit);
    c1_fini(&c1);
    pool_destroy(task.pool);
    return 0;
}
