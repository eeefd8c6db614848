/* Times one operation of a backend: bench_ops OP [key=value ...]; a line of JSON a case.
 *
 * Ops   msm  ntt  quotient  fixed_base  all
 * Keys  curve=bn254|bls12_381  group=g1|g2  log2=N  scalars=full|bits|words  threads=N  portable=0|1  runs=N  backend=NAME
 * Prints the fastest of the runs, by wall clock and by processor time: on a shared machine the others measure the neighbours. */
#include "backend/backend.h"
#include "base/clock.h"
#include "base/pool.h"
#include "support/prng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct options {
    const char *backend, *scalars;
    const struct curve *curve;
    enum group_id group;
    unsigned log2, threads, runs;
    bool portable;
};

struct bench {
    struct options o;
    const struct backend *b;
    struct device *d;
    struct stream *s;
    struct task t;
    struct prng rng;
    enum mem_kind kind;
};

static void need(struct bench *b, cuzk_status status)
{
    if (status == CUZK_OK) return;
    fprintf(stderr, "bench_ops: %s\n", b->t.error.text);
    exit(1);
}

static struct buffer take(struct bench *b, size_t bytes)
{
    struct buffer x;
    need(b, b->b->buffer_take(&x, &b->t, b->d, b->kind, bytes, 0));
    return x;
}

static void *memory(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) abort();
    return p;
}

/* The fastest of some runs, by wall clock and by processor time of all threads. */
struct best {
    uint64_t wall_start, cpu_start;
    double wall_ns, cpu_ns;
};

static uint64_t cpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void best_start(struct best *x)
{
    x->cpu_start = cpu_now_ns();
    x->wall_start = clock_now_ns();
}

static void best_stop(struct best *x, bool first)
{
    const double wall = (double)(clock_now_ns() - x->wall_start), cpu = (double)(cpu_now_ns() - x->cpu_start);
    if (first || wall < x->wall_ns) x->wall_ns = wall;
    if (first || cpu < x->cpu_ns) x->cpu_ns = cpu;
}

static void report(const struct bench *b, const char *op, const char *detail, const struct best *best,
                   double count, const char *unit)
{
    struct device_info info;
    b->b->info(b->d, &info);
    printf("{\"op\":\"%s\",\"curve\":\"%s\",%s\"log2\":%u,\"variant\":\"%s\",\"units\":%u,\"ms\":%.3f,\"cpu_"
           "ms\":%.3f,"
           "\"ns_per_%s\":%.2f}\n",
           op, b->o.curve->name, detail, b->o.log2, info.variant, info.unit_count, best->wall_ns * 1e-6,
           best->cpu_ns * 1e-6, unit, best->wall_ns / count);
    fflush(stdout);
}

static void random_scalars(struct bench *b, struct fr_int *k, size_t n, const char *how)
{
    for (size_t i = 0; i < n; i++) {
        memset(&k[i], 0, sizeof k[i]);
        const bool full =
            strcmp(how, "full") == 0 || (strcmp(how, "bits") == 0 && prng_u64(&b->rng) % 64 == 0);
        if (full) do {
                prng_bytes(&b->rng, &k[i], sizeof k[i]);
                k[i].w[3] &= UINT64_MAX >> 1;
            } while (!b->o.curve->fr.int_is_canonical(&k[i]));
        else
            k[i].w[0] = strcmp(how, "words") == 0 ? prng_u64(&b->rng) >> 32 : prng_u64(&b->rng) & 1;
    }
}

static struct buffer scalar_buffer(struct bench *b, size_t n, const char *how)
{
    struct fr_int *k = memory(n * sizeof *k);
    struct buffer x = take(b, n * sizeof *k);
    random_scalars(b, k, n, how);
    need(b, b->b->upload(b->s, &b->t, &x, 0, k, n * sizeof *k));
    free(k);
    return x;
}

static void bench_fixed_base(struct bench *b, struct buffer *points_out)
{
    const size_t n = (size_t)1 << b->o.log2;
    const struct group *g = b->o.curve->group[b->o.group];
    struct buffer points = take(b, n * g->aff_bytes), scalars = scalar_buffer(b, n, "full");
    struct best best = { 0 };
    for (unsigned r = 0; r < (points_out ? 1 : b->o.runs); r++) {
        best_start(&best);
        need(b, b->b->fixed_base(b->s, &b->t, b->o.curve, b->o.group, &points, 0, &g->generator, &scalars, 0,
                                 n));
        need(b, b->b->stream_sync(b->s, &b->t));
        best_stop(&best, r == 0);
    }
    char detail[64];
    snprintf(detail, sizeof detail, "\"group\":\"%s\",", g->name);
    if (!points_out) report(b, "fixed_base", detail, &best, (double)n, "point");
    b->b->buffer_give(&scalars);
    if (points_out)
        *points_out = points;
    else
        b->b->buffer_give(&points);
}

static void bench_msm(struct bench *b)
{
    const size_t n = (size_t)1 << b->o.log2;
    struct buffer points, scalars = scalar_buffer(b, n, b->o.scalars);
    struct msm_plan plan;
    struct g_jac out;
    struct best best = { 0 };
    bench_fixed_base(b, &points);
    need(b, b->b->msm_plan(&plan, &b->t, b->d, b->o.curve, b->o.group, n));
    struct buffer ws = take(b, plan.workspace_bytes);
    for (unsigned r = 0; r < b->o.runs; r++) {
        best_start(&best);
        need(b, b->b->msm(b->s, &b->t, &plan, &out, &points, 0, &scalars, 0, NULL, &ws));
        need(b, b->b->stream_sync(b->s, &b->t));
        best_stop(&best, r == 0);
    }
    char detail[160];
    snprintf(detail, sizeof detail,
             "\"group\":\"%s\",\"scalars\":\"%s\",\"window_bits\":%u,\"workspace_mib\":%.1f,",
             b->o.curve->group[b->o.group]->name, b->o.scalars, plan.window_bits,
             (double)plan.workspace_bytes / 1048576);
    report(b, "msm", detail, &best, (double)n, "point");
    b->b->buffer_give(&points);
    b->b->buffer_give(&scalars);
    b->b->buffer_give(&ws);
}

static void bench_ntt(struct bench *b)
{
    struct domain d;
    need(b, domain_init(&d, &b->t, b->o.curve, ROOT_SNARKJS, b->o.log2));
    struct buffer x = scalar_buffer(b, (size_t)d.size, "full");
    struct best best = { 0 };
    for (unsigned r = 0; r < b->o.runs + 1; r++) { /* the first makes the twiddle table */
        best_start(&best);
        need(b, b->b->ntt(b->s, &b->t, &d, &x, false, false));
        need(b, b->b->stream_sync(b->s, &b->t));
        best_stop(&best, r == 0);
    }
    report(b, "ntt", "", &best, (double)d.size / 2 * d.log2, "butterfly");
    b->b->buffer_give(&x);
}

static void bench_quotient(struct bench *b, enum quotient_mode mode)
{
    struct domain d;
    struct quotient_plan plan;
    need(b, domain_init(&d, &b->t, b->o.curve, mode == QUOTIENT_MONOMIAL ? ROOT_BELLMAN : ROOT_SNARKJS,
                        b->o.log2));
    need(b, b->b->quotient_plan(&plan, &b->t, b->d, &d, mode));
    struct buffer x = scalar_buffer(b, (size_t)d.size, "full"), y = scalar_buffer(b, (size_t)d.size, "full"),
                  ws = take(b, plan.workspace_bytes);
    struct best best = { 0 };
    for (unsigned r = 0; r < b->o.runs + 1; r++) {
        best_start(&best);
        need(b, b->b->quotient(b->s, &b->t, &plan, &x, &x, &y, &ws));
        need(b, b->b->stream_sync(b->s, &b->t));
        best_stop(&best, r == 0);
    }
    report(b, "quotient", mode == QUOTIENT_MONOMIAL ? "\"mode\":\"monomial\"," : "\"mode\":\"odd_coset\",",
           &best, (double)d.size, "element");
    b->b->buffer_give(&x);
    b->b->buffer_give(&y);
    b->b->buffer_give(&ws);
}

static void usage(void)
{
    fprintf(
        stderr,
        "usage: bench_ops msm|ntt|quotient|fixed_base|all [curve=bn254|bls12_381] [group=g1|g2] [log2=N]\n"
        "       [scalars=full|bits|words] [threads=N] [portable=0|1] [runs=N] [backend=cpu|cuda]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct bench b = { .o = { "cpu", "full", &curve_bn254, GROUP_G1, 16, 0, 3, false } };
    if (argc < 2) usage();
    for (int i = 2; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        if (!value) usage();
        value++;
        const size_t key = (size_t)(value - argv[i]) - 1;
        if (strncmp(argv[i], "curve", key) == 0)
            b.o.curve = curve_by_name(value);
        else if (strncmp(argv[i], "group", key) == 0)
            b.o.group = strcmp(value, "g2") == 0 ? GROUP_G2 : GROUP_G1;
        else if (strncmp(argv[i], "log2", key) == 0)
            b.o.log2 = (unsigned)atoi(value);
        else if (strncmp(argv[i], "scalars", key) == 0)
            b.o.scalars = value;
        else if (strncmp(argv[i], "threads", key) == 0)
            b.o.threads = (unsigned)atoi(value);
        else if (strncmp(argv[i], "portable", key) == 0)
            b.o.portable = atoi(value) != 0;
        else if (strncmp(argv[i], "runs", key) == 0)
            b.o.runs = (unsigned)atoi(value);
        else if (strncmp(argv[i], "backend", key) == 0)
            b.o.backend = value;
        else
            usage();
    }
    if (!b.o.curve || b.o.log2 > DOMAIN_MAX_LOG2 || b.o.runs == 0) usage();
    task_init(&b.t);
    prng_seed(&b.rng, 1);
    b.b = backend_by_name(b.o.backend);
    b.kind = strcmp(b.o.backend, "cuda") == 0 ? MEM_DEVICE : MEM_HEAP;
    if (!b.b) usage();
    const struct device_options options = { .threads = b.o.threads, .portable_only = b.o.portable };
    need(&b, b.b->open(&b.d, &b.t, &options));
    need(&b, b.b->stream_open(&b.s, &b.t, b.d));

    const bool all = strcmp(argv[1], "all") == 0;
    bool known = all;
    if (all || strcmp(argv[1], "msm") == 0) known = true, bench_msm(&b);
    if (all || strcmp(argv[1], "ntt") == 0) known = true, bench_ntt(&b);
    if (all || strcmp(argv[1], "quotient") == 0) {
        known = true;
        bench_quotient(&b, QUOTIENT_ODD_COSET_LAGRANGE);
        bench_quotient(&b, QUOTIENT_MONOMIAL);
    }
    if (all || strcmp(argv[1], "fixed_base") == 0) known = true, bench_fixed_base(&b, NULL);
    b.b->stream_close(b.s);
    b.b->close(b.d);
    if (!known) usage();
    return 0;
}
