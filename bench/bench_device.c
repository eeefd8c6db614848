/* The CUDA backend's operations at full size: each run is checked, then timed; one table at the end.
 *
 *     bench_device [group ...]      groups: bits bits27 split msm381 msm381g2 msmbn msmbng2 affine381 affine381g2 affinebn xyzz381g2 rooms381 tables
 *                                   ntt ntt28 quotient points repeats (default: all)
 *
 * Points are known multiples of the generator, so that the sum of any size is checked with one multiplication; transforms are
 * checked by evaluating the polynomial at points of the domain.  Times are host wall clock around the call and the wait for its
 * result, operands resident, the median of the runs after one for warming up. */
#include "backend/cuda/cuda_device.h"
#include "base/clock.h"
#include "base/rng.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct backend backend_cuda;

enum { RUNS_MAX = 15, THREADS = 16 };

static int runs = 7;         /* BENCH_RUNS */
static const char *only;     /* BENCH_ONLY: cases whose name contains it */

static struct task task;
static struct device *device;
static struct stream *stream;
static const struct backend *const b = &backend_cuda;
static int failures;
static uint64_t seed;

/* Device to device, in stream order. */
#define CU_COPY(to, from, n) OK(cudaMemcpyAsync((to)->data, (from)->data, (n), cudaMemcpyDeviceToDevice, stream->handle) == cudaSuccess ? CUZK_OK : CUZK_INTERNAL)
#define OK(call)                                                                                                        \
    do {                                                                                                                \
        if ((call) != CUZK_OK) {                                                                                        \
            printf("%s: %s\n", #call, task.error.text);                                                                 \
            exit(1);                                                                                                    \
        }                                                                                                               \
    } while (0)

/* -- work on all cores -- */

typedef void part_fn(void *context, uint64_t first, uint64_t end, unsigned slot);
struct part {
    part_fn *fn;
    void *context;
    uint64_t first, end;
    unsigned slot;
};
static void *part_main(void *p)
{
    const struct part *a = p;
    a->fn(a->context, a->first, a->end, a->slot);
    return NULL;
}
static void split(part_fn *fn, void *context, uint64_t n)
{
    pthread_t id[THREADS];
    struct part p[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        p[i] = (struct part){ fn, context, n * i / THREADS, n * (i + 1) / THREADS, i };
        if (pthread_create(&id[i], NULL, part_main, &p[i]) != 0) abort();
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
}

static uint64_t mix(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct fill {
    const struct curve *c;
    struct fr_int *out;
    uint64_t salt;
    bool small;
};
/* uniform below r, or 64-bit numbers that are not zero */
static void fill_part(void *context, uint64_t first, uint64_t end, unsigned slot)
{
    const struct fill *f = context;
    (void)slot;
    for (uint64_t i = first; i < end; i++) {
        struct fr_int k = { { 0 } };
        uint64_t x = f->salt ^ i * 0x2545f4914f6cdd1du;
        if (f->small) {
            k.w[0] = mix(x) | 1;
        } else {
            do {
                for (int j = 0; j < 4; j++) k.w[j] = x = mix(x);
                k.w[3] >>= 256 - f->c->fr.bits;
            } while (!f->c->fr.int_is_canonical(&k));
        }
        f->out[i] = k;
    }
}
static void fill(const struct curve *c, struct fr_int *out, uint64_t n, uint64_t salt, bool small)
{
    struct fill f = { c, out, mix(seed ^ salt), small };
    split(fill_part, &f, n);
}

/* -- the table -- */

struct target {
    double floor, must, peer; /* milliseconds, 0: none */
    const char *peer_name;
};

static bool case_wanted(const char *name) { return !only || strstr(name, only); }

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, c = *(const double *)y;
    return (a > c) - (a < c);
}

static char lines[128][256];
static unsigned line_count;

static void report(const char *name, double *ms, int n, bool good, struct target t, const char *note)
{
    qsort(ms, (size_t)n, sizeof *ms, by_value);
    const double median = ms[n / 2];
    char *line = lines[line_count++];
    snprintf(line, sizeof lines[0], "%-34s %-5s %9.3f %7.2f%%", name, good ? "right" : "WRONG", median, 100 * (ms[n - 1] - ms[0]) / median);
    size_t at = strlen(line);
    if (t.floor > 0) at += (size_t)snprintf(line + at, sizeof lines[0] - at, " %7.1f %4.0f%%", t.floor, 100 * t.floor / median);
    else at += (size_t)snprintf(line + at, sizeof lines[0] - at, "       -     -");
    if (t.must > 0) at += (size_t)snprintf(line + at, sizeof lines[0] - at, " %7.1f %-6s", t.must, median <= t.must ? "met" : "missed");
    else at += (size_t)snprintf(line + at, sizeof lines[0] - at, "       -       ");
    if (t.peer > 0) at += (size_t)snprintf(line + at, sizeof lines[0] - at, " %7.1f %5.2fx %s", t.peer, t.peer / median, t.peer_name);
    snprintf(line + at, sizeof lines[0] - at, "  %s", note);
    printf("%s\n", line);
    fflush(stdout);
    failures += !good;
}

/* -- MSM -- */

struct dot {
    const struct curve *c;
    const struct fr_int *x, *y;
    struct fr sum[THREADS];
};
static void dot_part(void *context, uint64_t first, uint64_t end, unsigned slot)
{
    struct dot *d = context;
    const struct scalar_field *r = &d->c->fr;
    struct fr sum, a, e;
    r->from_u64(&sum, 0);
    for (uint64_t i = first; i < end; i++) {
        r->from_int(&a, &d->x[i]);
        r->from_int(&e, &d->y[i]);
        r->mul(&a, &a, &e);
        r->add(&sum, &sum, &a);
    }
    d->sum[slot] = sum;
}

static struct buffer take(size_t bytes)
{
    struct buffer x;
    OK(b->buffer_take(&x, &task, device, MEM_DEVICE, bytes, 0));
    return x;
}

struct msm_case {
    unsigned log2;
    uint64_t count; /* 0: 2^log2 */
    struct target target;
    const char *label;
};

static uint64_t table_bytes; /* that tables of multiples may take; 0: no tables */

/* One sum, in at most room bytes of workspace; 0: as many as there are. */
static void msm_case_run(const struct curve *c, enum group_id g, const struct msm_case *m, uint64_t count, uint64_t room, const struct buffer *points,
                         const struct buffer *sc, const struct g_jac *expected)
{
    const struct group *group = c->group[g];
    struct msm_plan plan;
    if (table_bytes) OK(b->msm_table_plan(&plan, &task, device, c, g, count, table_bytes));
    else if (room) OK(b->msm_plan_within(&plan, &task, device, c, g, count, room));
    else OK(b->msm_plan(&plan, &task, device, c, g, count));
    struct buffer ws = take(plan.workspace_bytes), table = { 0 };
    const struct buffer *from = points;
    if (plan.row_count > 1) {
        table = take(plan.table_bytes);
        OK(b->msm_table_make(stream, &task, &plan, &table, points, 0));
        OK(b->stream_sync(stream, &task));
        from = &table;
    }
    struct g_jac got;
    double ms[RUNS_MAX];
    bool good = true;
    for (int k = -1; k < runs; k++) {
        memset(&got, 0xee, sizeof got);
        const uint64_t t0 = clock_now_ns();
        OK(b->msm(stream, &task, &plan, &got, from, 0, sc, 0, NULL, &ws));
        OK(b->stream_sync(stream, &task));
        if (k >= 0) ms[k] = (double)(clock_now_ns() - t0) * 1e-6;
        good = good && group->jac_eq(&got, expected);
    }
    char name[64], note[96];
    snprintf(name, sizeof name, "msm %s %s %s%s%s", c->name, group->name, m->label, plan.accumulation == MSM_AFFINE ? ", affine" : "",
             plan.row_count > 1 ? ", table" : "");
    snprintf(note, sizeof note, "%u windows of %u, %u groups, %.1f GB; foretold %.1f", plan.window_count, plan.window_bits, (unsigned)plan.block_count,
             (double)plan.workspace_bytes * 1e-9, plan.ns * 1e-6);
    report(name, ms, runs, good, m->target, note);
    b->buffer_give(&ws);
    b->buffer_give(&table);
}

/* In  rooms  room_count workspaces that each sum is done in; NULL: all that there is */
static void msm_cases_in(const struct curve *c, enum group_id g, const struct msm_case *cases, size_t n, const uint64_t *rooms, size_t room_count)
{
    const struct group *group = c->group[g];
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t count = cases[i].count ? cases[i].count : (uint64_t)1 << cases[i].log2;
        if (count > most && case_wanted(cases[i].label)) most = count;
    }
    if (most == 0) return;
    struct fr_int *logs = malloc(most * 32), *scalars = malloc(most * 32);
    struct buffer points = take(most * group->aff_bytes), sc = take(most * 32);
    fill(c, logs, most, 1, true);
    fill(c, scalars, most, 2, false);
    OK(b->upload(stream, &task, &sc, 0, logs, most * 32));
    OK(b->fixed_base(stream, &task, c, g, &points, 0, &group->generator, &sc, 0, most));
    OK(b->upload(stream, &task, &sc, 0, scalars, most * 32));
    OK(b->stream_sync(stream, &task));
    for (size_t i = 0; i < n; i++) {
        const uint64_t count = cases[i].count ? cases[i].count : (uint64_t)1 << cases[i].log2;
        if (!case_wanted(cases[i].label)) continue;
        struct g_jac expected;
        struct dot d = { .c = c, .x = logs, .y = scalars };
        split(dot_part, &d, count);
        struct fr sum = d.sum[0];
        for (int k = 1; k < THREADS; k++) c->fr.add(&sum, &sum, &d.sum[k]);
        struct fr_int k_int;
        c->fr.to_int(&k_int, &sum);
        group->jac_from_aff(&expected, &group->generator);
        group->jac_mul(&expected, &expected, &k_int);
        if (!room_count) msm_case_run(c, g, &cases[i], count, 0, &points, &sc, &expected);
        for (size_t r = 0; r < room_count; r++) msm_case_run(c, g, &cases[i], count, rooms[r], &points, &sc, &expected);
    }
    b->buffer_give(&points);
    b->buffer_give(&sc);
    free(logs);
    free(scalars);
}

static void msm_cases(const struct curve *c, enum group_id g, const struct msm_case *cases, size_t n) { msm_cases_in(c, g, cases, n, NULL, 0); }

/* One input a thousand times: one result, to the last bit of its coordinates. */
static void repeats_case(const struct curve *c, enum group_id g, unsigned log2, enum msm_accumulation accumulation)
{
    enum { TIMES = 1000 };
    const struct group *group = c->group[g];
    const uint64_t n = (uint64_t)1 << log2;
    char name[64];
    snprintf(name, sizeof name, "%d times %s %s 2^%u%s", TIMES, c->name, group->name, log2, accumulation == MSM_AFFINE ? ", affine" : "");
    if (!case_wanted(name)) return;
    device->msm_accumulation = accumulation;
    struct fr_int *logs = malloc(n * 32), *scalars = malloc(n * 32);
    struct buffer points = take(n * group->aff_bytes), sc = take(n * 32);
    struct msm_plan plan;
    fill(c, logs, n, 11, true);
    fill(c, scalars, n, 12, false);
    OK(b->upload(stream, &task, &sc, 0, logs, n * 32));
    OK(b->fixed_base(stream, &task, c, g, &points, 0, &group->generator, &sc, 0, n));
    OK(b->upload(stream, &task, &sc, 0, scalars, n * 32));
    OK(b->msm_plan(&plan, &task, device, c, g, n));
    struct buffer ws = take(plan.workspace_bytes);
    struct g_jac sum;
    struct g_aff first, again;
    double ms[RUNS_MAX];
    bool good = true;
    for (int k = 0; k < TIMES; k++) {
        const uint64_t t0 = clock_now_ns();
        OK(b->msm(stream, &task, &plan, &sum, &points, 0, &sc, 0, NULL, &ws));
        OK(b->stream_sync(stream, &task));
        ms[k % RUNS_MAX] = (double)(clock_now_ns() - t0) * 1e-6;
        group->jac_to_aff(k == 0 ? &first : &again, &sum);
        good = good && (k == 0 || memcmp(&first, &again, group->aff_bytes) == 0);
    }
    struct dot d = { .c = c, .x = logs, .y = scalars };
    split(dot_part, &d, n);
    struct fr dot = d.sum[0];
    for (int k = 1; k < THREADS; k++) c->fr.add(&dot, &dot, &d.sum[k]);
    struct fr_int k_int;
    struct g_jac expected;
    c->fr.to_int(&k_int, &dot);
    group->jac_from_aff(&expected, &group->generator);
    group->jac_mul(&expected, &expected, &k_int);
    report(name, ms, RUNS_MAX, good && group->jac_eq(&sum, &expected), (struct target){ 0, 0, 0, "" }, "");
    device->msm_accumulation = MSM_ANY;
    b->buffer_give(&ws);
    b->buffer_give(&points);
    b->buffer_give(&sc);
    free(logs);
    free(scalars);
}

/* -- sums over bitmaps -- */

struct bit_dot {
    const struct fr_int *logs; /* of one word */
    const uint32_t *bitmap;
    unsigned __int128 sum[THREADS];
};
static void bit_dot_part(void *context, uint64_t first, uint64_t end, unsigned slot)
{
    struct bit_dot *d = context;
    unsigned __int128 sum = 0;
    for (uint64_t i = first; i < end; i++)
        if (d->bitmap[i / 32] >> (i % 32) & 1) sum += d->logs[i].w[0];
    d->sum[slot] = sum;
}

/* The multiple of the generator that a sum of points of such logarithms is. */
static void multiple(const struct group *group, struct g_jac *out, const unsigned __int128 *sums, int n)
{
    unsigned __int128 sum = 0;
    for (int i = 0; i < n; i++) sum += sums[i];
    const struct fr_int k = { { (uint64_t)sum, (uint64_t)(sum >> 64), 0, 0 } };
    group->jac_from_aff(out, &group->generator);
    group->jac_mul(out, out, &k);
}

/* Points of known logarithms, one word each. */
static struct buffer known_points(const struct curve *c, enum group_id g, uint64_t n, struct fr_int **logs)
{
    struct buffer points = take(n * c->group[g]->aff_bytes), sc = take(n * 32);
    *logs = malloc(n * 32);
    fill(c, *logs, n, 1, true);
    OK(b->upload(stream, &task, &sc, 0, *logs, n * 32));
    OK(b->fixed_base(stream, &task, c, g, &points, 0, &c->group[g]->generator, &sc, 0, n));
    OK(b->stream_sync(stream, &task));
    b->buffer_give(&sc);
    return points;
}

struct bits_case {
    unsigned log2, bitmaps, of_256; /* bits set of 256 */
    struct target target;
};

static void bits_name(char *out, size_t bytes, const struct curve *c, const struct group *group, const struct bits_case *k)
{
    snprintf(out, bytes, "bit_sum %s %s 2^%u x %u%s", c->name, group->name, k->log2, k->bitmaps, k->bitmaps > 1 && k->of_256 == 256 ? ", all ones" : "");
}

static void bits_cases(const struct curve *c, enum group_id g, const struct bits_case *cases, size_t n)
{
    const struct group *group = c->group[g];
    uint64_t most = 0;
    char name[64];
    for (size_t i = 0; i < n; i++) {
        bits_name(name, sizeof name, c, group, &cases[i]);
        if (case_wanted(name) && most < (uint64_t)1 << cases[i].log2) most = (uint64_t)1 << cases[i].log2;
    }
    if (most == 0) return;
    struct fr_int *logs;
    struct buffer points = known_points(c, g, most, &logs);
    for (size_t i = 0; i < n; i++) {
        const uint64_t count = (uint64_t)1 << cases[i].log2;
        struct bit_sum_plan plan;
        struct g_jac got[BIT_SUM_MAX], expected[BIT_SUM_MAX];
        double ms[RUNS_MAX];
        bool good = true;
        bits_name(name, sizeof name, c, group, &cases[i]);
        if (!case_wanted(name)) continue;
        OK(b->bit_sum_plan(&plan, &task, device, c, g, count, cases[i].bitmaps));
        struct buffer ws = take(plan.workspace_bytes), bitmaps = take(plan.bitmap_bytes * plan.bitmap_count);
        uint32_t *words = malloc(bitmaps.bytes);
        memset(words, 0, bitmaps.bytes);
        for (uint64_t k = 0; k < count * plan.bitmap_count / 4; k++) {
            const uint64_t x = mix(seed ^ (k + 99));
            for (unsigned j = 0; j < 4; j++) words[k / 8] |= (uint32_t)((x >> (8 * j) & 255) < cases[i].of_256) << (k % 8 * 4 + j);
        }
        OK(b->upload(stream, &task, &bitmaps, 0, words, bitmaps.bytes));
        for (unsigned k = 0; k < plan.bitmap_count; k++) {
            struct bit_dot d = { .logs = logs, .bitmap = words + k * plan.bitmap_bytes / 4 };
            split(bit_dot_part, &d, count);
            multiple(group, &expected[k], d.sum, THREADS);
        }
        for (int k = -1; k < runs; k++) {
            memset(got, 0xee, sizeof got);
            const uint64_t t0 = clock_now_ns();
            OK(b->bit_sum(stream, &task, &plan, got, &points, 0, &bitmaps, 0, &ws));
            OK(b->stream_sync(stream, &task));
            if (k >= 0) ms[k] = (double)(clock_now_ns() - t0) * 1e-6;
            for (unsigned j = 0; j < plan.bitmap_count; j++) good = good && group->jac_eq(&got[j], &expected[j]);
        }
        char note[96];
        if (plan.pattern_bits) snprintf(note, sizeof note, "%.0f %% ones, patterns of %u, 2^%u buckets, chunks of %u", cases[i].of_256 / 2.56, plan.pattern_bits, plan.bucket_log2, plan.chunk_points);
        else snprintf(note, sizeof note, "%.0f %% ones, lists, chunks of %u", cases[i].of_256 / 2.56, plan.chunk_points);
        report(name, ms, runs, good, cases[i].target, note);
        b->buffer_give(&ws);
        b->buffer_give(&bitmaps);
        free(words);
    }
    b->buffer_give(&points);
    free(logs);
}

/* A witness of bits with one value of full size in `rare`: told apart; summed plainly; summed split. */
static void split_case(const struct curve *c, enum group_id g, unsigned log2, uint64_t rare, struct target target)
{
    const struct group *group = c->group[g];
    const uint64_t n = (uint64_t)1 << log2;
    char name[64], note[64];
    snprintf(name, sizeof name, "%s %s 2^%u, 1/%u wide", c->name, group->name, log2, (unsigned)rare);
    if (!case_wanted(name)) return;
    struct fr_int *logs, *values = malloc(n * 32);
    struct buffer points = known_points(c, g, n, &logs), scalars = take(n * 32), counts = take(sizeof(struct classify_counts));
    struct classify_counts expected_counts = { 0, 0 }, got_counts;
    struct fr sum;
    c->fr.from_u64(&sum, 0);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t x = mix(seed ^ (i + 7));
        memset(&values[i], 0, 32);
        if (x % rare == 1) { /* full size */
            values[i].w[0] = mix(x) | 2;
            for (int j = 1; j < 4; j++) values[i].w[j] = mix(x + (uint64_t)j);
            values[i].w[3] >>= 257 - c->fr.bits;
            expected_counts.wide++;
        } else {
            values[i].w[0] = x >> 63;
            expected_counts.ones += x >> 63;
        }
    }
    struct dot d = { .c = c, .x = logs, .y = values };
    split(dot_part, &d, n);
    for (int k = 0; k < THREADS; k++) c->fr.add(&sum, &sum, &d.sum[k]);
    struct fr_int k_int;
    struct g_jac expected, got;
    c->fr.to_int(&k_int, &sum);
    group->jac_from_aff(&expected, &group->generator);
    group->jac_mul(&expected, &expected, &k_int);
    OK(b->upload(stream, &task, &scalars, 0, values, n * 32));

    const uint64_t wide_max = expected_counts.wide + expected_counts.wide / 50 + 16;
    struct classify_plan classify;
    struct split_plan plan;
    struct msm_plan plain;
    OK(b->classify_plan(&classify, &task, device, n, wide_max));
    OK(split_msm_plan(&plan, &task, b, device, c, g, n, 1, wide_max));
    OK(b->msm_plan(&plain, &task, device, c, g, n));
    for (int what = 0; what < 3; what++) {
        const size_t room = what == 0 ? classify.bitmap_bytes + classify.index_bytes + classify.values_bytes + classify.workspace_bytes + 4096
                            : what == 1 ? plain.workspace_bytes : plan.workspace_bytes;
        const size_t index_at = classify.bitmap_bytes, values_at = index_at + (classify.index_bytes + 255) / 256 * 256, run_at = values_at + classify.values_bytes + 256 - classify.values_bytes % 256;
        struct buffer ws = take(room), bitmap = buffer_piece(&ws, 0, room), index = ws, wide = ws, run = ws;
        double ms[RUNS_MAX];
        bool good = true;
        if (what == 0) {
            index = buffer_piece(&ws, index_at, classify.index_bytes);
            wide = buffer_piece(&ws, values_at, classify.values_bytes);
            run = buffer_piece(&ws, run_at, room - run_at);
        }
        for (int k = -1; k < runs; k++) {
            const uint64_t t0 = clock_now_ns();
            if (what == 0) OK(b->classify(stream, &task, &classify, &counts, &bitmap, &index, &wide, &scalars, 0, NULL, &run));
            else if (what == 1) OK(b->msm(stream, &task, &plain, &got, &points, 0, &scalars, 0, NULL, &ws));
            else OK(split_msm(stream, &task, b, &plan, &got, &points, 0, &scalars, 0, NULL, &ws));
            OK(b->stream_sync(stream, &task));
            if (k >= 0) ms[k] = (double)(clock_now_ns() - t0) * 1e-6;
            if (what != 0) {
                good = good && group->jac_eq(&got, &expected);
                continue;
            }
            OK(b->download(stream, &task, &got_counts, &counts, 0, sizeof got_counts));
            OK(b->stream_sync(stream, &task));
            good = good && got_counts.ones == expected_counts.ones && got_counts.wide == expected_counts.wide;
        }
        char line[96];
        snprintf(line, sizeof line, "%s %s", what == 0 ? "classify" : what == 1 ? "plain" : "split", name);
        snprintf(note, sizeof note, "%llu wide%s", (unsigned long long)expected_counts.wide, what == 2 && !plan.split ? ", the planner chose plain" : "");
        report(line, ms, runs, good, what == 2 ? target : (struct target){ 0, 0, 0, "" }, note);
        b->buffer_give(&ws);
    }
    b->buffer_give(&points);
    b->buffer_give(&scalars);
    b->buffer_give(&counts);
    free(logs);
    free(values);
}

/* -- transforms -- */

struct horner {
    const struct curve *c;
    const struct fr *coefficients;
    struct fr x, part[THREADS], power[THREADS];
};
static void horner_part(void *context, uint64_t first, uint64_t end, unsigned slot)
{
    struct horner *h = context;
    const struct scalar_field *r = &h->c->fr;
    struct fr sum;
    r->from_u64(&sum, 0);
    for (uint64_t i = end; i-- > first;) {
        r->mul(&sum, &sum, &h->x);
        r->add(&sum, &sum, &h->coefficients[i]);
    }
    h->part[slot] = sum;
    r->pow(&h->power[slot], &h->x, first);
}
static struct fr evaluate(const struct curve *c, const struct fr *coefficients, uint64_t n, const struct fr *x)
{
    struct horner h = { .c = c, .coefficients = coefficients, .x = *x };
    struct fr sum;
    split(horner_part, &h, n);
    c->fr.from_u64(&sum, 0);
    for (int i = 0; i < THREADS; i++) {
        c->fr.mul(&h.part[i], &h.part[i], &h.power[i]);
        c->fr.add(&sum, &sum, &h.part[i]);
    }
    return sum;
}

static uint64_t bits_reversed(uint64_t i, unsigned log2)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < log2; k++) r |= (i >> k & 1) << (log2 - 1 - k);
    return r;
}

static struct fr point_of(const struct domain *d, uint64_t i, bool coset)
{
    struct fr x;
    d->curve->fr.pow(&x, &d->omega, i);
    if (coset) d->curve->fr.mul(&x, &x, &d->shift);
    return x;
}

static void ntt_case(const struct curve *c, unsigned log2, bool ordered, struct target target)
{
    struct domain d;
    char name[64];
    snprintf(name, sizeof name, "ntt %s 2^%u%s", c->name, log2, ordered ? " ordered" : "");
    if (!case_wanted(name)) return;
    OK(domain_init(&d, &task, c, ROOT_BELLMAN, log2));
    struct fr *in = malloc(d.size * 32);
    struct buffer data = take(d.size * 32), saved = take(d.size * 32);
    fill(c, (struct fr_int *)in, d.size, 3, false); /* any canonical words are some element's Montgomery form */
    OK(b->upload(stream, &task, &saved, 0, in, d.size * 32));
    double ms[RUNS_MAX];
    bool good = true;
    for (int k = -1; k < runs; k++) {
        CU_COPY(&data, &saved, d.size * 32);
        OK(b->stream_sync(stream, &task));
        const uint64_t t0 = clock_now_ns();
        if (ordered) OK(b->ntt(stream, &task, &d, &data, false, false));
        else OK(cuda_ntt_unordered(stream, &task, &d, &data));
        OK(b->stream_sync(stream, &task));
        if (k >= 0) ms[k] = (double)(clock_now_ns() - t0) * 1e-6;
        if (k > 1) continue;
        for (int j = 0; j < 3; j++) {
            const uint64_t i = j == 0 ? 0 : mix(seed + (uint64_t)j) & (d.size - 1);
            struct fr got, x = point_of(&d, i, false), expected = evaluate(c, in, d.size, &x);
            OK(b->download(stream, &task, &got, &data, 32 * (ordered ? i : bits_reversed(i, log2)), 32));
            good = good && c->fr.eq(&got, &expected);
        }
    }
    if (ordered) { /* and back, every element */
        OK(b->ntt(stream, &task, &d, &data, true, false));
        struct fr *out = malloc(d.size * 32);
        OK(b->download(stream, &task, out, &data, 0, d.size * 32));
        OK(b->stream_sync(stream, &task));
        good = good && memcmp(in, out, d.size * 32) == 0;
        free(out);
    }
    report(name, ms, runs, good, target, "");
    b->buffer_give(&data);
    b->buffer_give(&saved);
    free(in);
}

/* A transform over points, once: seconds of work.  The note extrapolates to 2^27 by butterflies. */
static void group_case(const struct curve *c, unsigned log2, struct target target)
{
    const size_t point = c->g1.aff_bytes;
    struct group_ntt_plan plan;
    struct domain d;
    char name[64], note[64];
    snprintf(name, sizeof name, "points %s 2^%u", c->name, log2);
    if (!case_wanted(name)) return;
    OK(domain_init(&d, &task, c, ROOT_BELLMAN, log2));
    OK(b->group_ntt_plan(&plan, &task, device, &d, false, NULL, NULL));
    struct fr *logs = malloc(d.size * 32);
    struct fr_int *integers = malloc(d.size * 32);
    struct buffer points = take(d.size * point), scalars = take(d.size * 32), workspace = take(plan.workspace_bytes);
    fill(c, (struct fr_int *)logs, d.size, 6, false);
    for (uint64_t i = 0; i < d.size; i++) c->fr.to_int(&integers[i], &logs[i]);
    OK(b->upload(stream, &task, &scalars, 0, integers, d.size * 32));
    OK(b->fixed_base(stream, &task, c, GROUP_G1, &points, 0, &c->g1.generator, &scalars, 0, d.size));
    OK(b->stream_sync(stream, &task));
    const uint64_t t0 = clock_now_ns();
    OK(b->group_ntt(stream, &task, &plan, &points, 0, plan.pass_count, &workspace));
    OK(b->stream_sync(stream, &task));
    double ms[] = { (double)(clock_now_ns() - t0) * 1e-6 };
    bool good = true;
    for (int j = 0; j < 3; j++) {
        const uint64_t i = j == 0 ? 0 : mix(seed + 20 + (uint64_t)j) & (d.size - 1);
        const struct fr x = point_of(&d, i, false), log = evaluate(c, logs, d.size, &x);
        struct g_jac expected;
        struct g_aff got, affine;
        struct fr_int k;
        c->fr.to_int(&k, &log);
        c->g1.jac_from_aff(&expected, &c->g1.generator);
        c->g1.jac_mul(&expected, &expected, &k);
        c->g1.jac_to_aff(&affine, &expected);
        OK(b->download(stream, &task, &got, &points, point * i, point));
        OK(b->stream_sync(stream, &task));
        good = good && memcmp(&got, &affine, point) == 0;
    }
    snprintf(note, sizeof note, "2^27: %.0f s", ms[0] * 1e-3 * (double)(27ull << 26) / (double)((uint64_t)log2 << (log2 - 1)));
    report(name, ms, 1, good, target, note);
    b->buffer_give(&points);
    b->buffer_give(&scalars);
    b->buffer_give(&workspace);
    free(logs);
    free(integers);
}

static void quotient_case(const struct curve *c, unsigned log2, struct target target)
{
    struct domain d;
    struct quotient_plan plan;
    char name[64];
    snprintf(name, sizeof name, "a, b -> e %s 2^%u", c->name, log2);
    if (!case_wanted(name)) return;
    OK(domain_init(&d, &task, c, ROOT_BELLMAN, log2));
    OK(b->quotient_plan(&plan, &task, device, &d, QUOTIENT_COSET_PRODUCT));
    struct fr *p[2];
    struct buffer v[2], saved[2];
    for (int k = 0; k < 2; k++) {
        p[k] = malloc(d.size * 32);
        v[k] = take(d.size * 32);
        saved[k] = take(d.size * 32);
        fill(c, (struct fr_int *)p[k], d.size, 4 + (uint64_t)k, false);
        OK(b->upload(stream, &task, &saved[k], 0, p[k], d.size * 32));
        OK(b->ntt(stream, &task, &d, &saved[k], false, false));
    }
    double ms[RUNS_MAX];
    bool good = true;
    for (int k = -1; k < runs; k++) {
        for (int i = 0; i < 2; i++) CU_COPY(&v[i], &saved[i], d.size * 32);
        OK(b->stream_sync(stream, &task));
        const uint64_t t0 = clock_now_ns();
        OK(b->quotient(stream, &task, &plan, &v[0], &v[0], &v[1], NULL));
        OK(b->stream_sync(stream, &task));
        if (k >= 0) ms[k] = (double)(clock_now_ns() - t0) * 1e-6;
        if (k > 0) continue;
        for (int j = 0; j < 3; j++) {
            const uint64_t i = j == 0 ? 0 : mix(seed + 10 + (uint64_t)j) & (d.size - 1);
            struct fr_int got, e_int;
            struct fr x = point_of(&d, i, true), e = evaluate(c, p[0], d.size, &x), f = evaluate(c, p[1], d.size, &x);
            c->fr.mul(&e, &e, &f);
            c->fr.to_int(&e_int, &e);
            OK(b->download(stream, &task, &got, &v[0], 32 * i, 32));
            good = good && memcmp(&got, &e_int, 32) == 0;
        }
    }
    report(name, ms, runs, good, target, "");
    for (int k = 0; k < 2; k++) {
        b->buffer_give(&v[k]);
        b->buffer_give(&saved[k]);
        free(p[k]);
    }
}

static bool wanted(int argc, char **argv, const char *group)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], group) == 0) return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    struct device_info info;
    struct device_options o = { 0 };
    task_init(&task);
    if (getenv("BENCH_SEED")) seed = strtoull(getenv("BENCH_SEED"), NULL, 0);
    else OK(rng_bytes(&task, &seed, sizeof seed));
    if (getenv("BENCH_RUNS")) runs = atoi(getenv("BENCH_RUNS"));
    if (runs < 1 || runs > RUNS_MAX) runs = 7;
    only = getenv("BENCH_ONLY");
    if (getenv("BENCH_ARENA")) o.memory_bytes = strtoull(getenv("BENCH_ARENA"), NULL, 0) << 30; /* GiB; profilers need some memory too */
    OK(b->open(&device, &task, &o));
    OK(b->stream_open(&stream, &task, device));
    b->info(device, &info);
    printf("%s, %s, %u SMs, arena %.1f GB, seed 0x%llx\n", info.name, info.variant, info.unit_count, (double)info.memory_bytes * 1e-9, (unsigned long long)seed);
    printf("%-34s %-5s %9s %8s %7s %5s %7s %-6s %7s\n", "operation", "", "ms", "spread", "floor", "share", "must", "", "peer");

    static const struct msm_case g1_381[] = {
        { 20, 0, { 5.9, 10, 19.4, "ICICLE" }, "2^20" },  { 22, 0, { 21, 30, 45.4, "ICICLE" }, "2^22" },
        { 24, 0, { 76, 98, 142, "ICICLE" }, "2^24" },    { 26, 0, { 282, 330, 487, "ICICLE" }, "2^26" },
        { 27, 0, { 531, 620, 1095, "sppark" }, "2^27" }, { 0, 1700000, { 12, 22, 0, "" }, "1.7 M" },
    };
    static const struct msm_case g2_381[] = { { 24, 0, { 188, 300, 446.1, "sppark" }, "2^24" }, { 0, 1200000, { 15, 26, 0, "" }, "1.2 M" } };
    static const struct msm_case g1_bn[] = {
        { 20, 0, { 2.4, 0, 12.3, "sppark" }, "2^20" }, { 24, 0, { 34, 52, 78.9, "sppark" }, "2^24" }, { 26, 0, { 128, 185, 274.7, "sppark" }, "2^26" },
    };
    static const struct msm_case g2_bn[] = { { 22, 0, { 0, 0, 0, "" }, "2^22" } };
    if (wanted(argc, argv, "ntt")) {
        ntt_case(&curve_bls12_381, 20, false, (struct target){ 0, 0, 0.26, "sppark" });
        ntt_case(&curve_bls12_381, 24, false, (struct target){ 3.4, 4.2, 4.43, "sppark" });
        ntt_case(&curve_bls12_381, 27, false, (struct target){ 31, 40, 42.32, "sppark" });
        ntt_case(&curve_bls12_381, 24, true, (struct target){ 3.4, 0, 4.73, "sppark" });
        ntt_case(&curve_bls12_381, 27, true, (struct target){ 31, 0, 44.35, "sppark" });
        ntt_case(&curve_bn254, 24, false, (struct target){ 3.4, 0, 4.66, "sppark" });
        ntt_case(&curve_bn254, 27, false, (struct target){ 31, 0, 43.2, "sppark" });
    }
    if (wanted(argc, argv, "repeats")) {
        repeats_case(&curve_bls12_381, GROUP_G1, 16, MSM_XYZZ);
        repeats_case(&curve_bls12_381, GROUP_G1, 18, MSM_AFFINE);
        repeats_case(&curve_bls12_381, GROUP_G2, 14, MSM_XYZZ);
        repeats_case(&curve_bn254, GROUP_G1, 16, MSM_XYZZ);
    }
    if (wanted(argc, argv, "ntt28")) ntt_case(&curve_bls12_381, 28, true, (struct target){ 0, 0, 0, "" });
    if (wanted(argc, argv, "quotient")) {
        quotient_case(&curve_bls12_381, 24, (struct target){ 0, 0, 0, "" });
        quotient_case(&curve_bls12_381, 27, (struct target){ 125, 165, 330, "supraseal, 7 transforms" });
    }
    if (wanted(argc, argv, "points")) {
        group_case(&curve_bls12_381, 18, (struct target){ 0, 0, 0, "" });
        group_case(&curve_bls12_381, 22, (struct target){ 2600, 0, 0, "" });
        group_case(&curve_bn254, 22, (struct target){ 1160, 0, 0, "" });
    }
    if (wanted(argc, argv, "msm381")) msm_cases(&curve_bls12_381, GROUP_G1, g1_381, ARRAY_COUNT(g1_381));
    if (wanted(argc, argv, "msm381g2")) msm_cases(&curve_bls12_381, GROUP_G2, g2_381, ARRAY_COUNT(g2_381));
    if (wanted(argc, argv, "msmbn")) msm_cases(&curve_bn254, GROUP_G1, g1_bn, ARRAY_COUNT(g1_bn));
    if (wanted(argc, argv, "msmbng2")) msm_cases(&curve_bn254, GROUP_G2, g2_bn, ARRAY_COUNT(g2_bn));
    /* one way of adding in the same sums: where affine additions win, cuda_msm.c's affine_from says so */
    device->msm_accumulation = MSM_XYZZ;
    if (wanted(argc, argv, "xyzz381g2")) msm_cases(&curve_bls12_381, GROUP_G2, g2_381, ARRAY_COUNT(g2_381));
    device->msm_accumulation = MSM_AFFINE;
    if (wanted(argc, argv, "affine381")) msm_cases(&curve_bls12_381, GROUP_G1, g1_381, ARRAY_COUNT(g1_381));
    if (wanted(argc, argv, "affine381g2")) msm_cases(&curve_bls12_381, GROUP_G2, g2_381, ARRAY_COUNT(g2_381));
    if (wanted(argc, argv, "affinebn")) msm_cases(&curve_bn254, GROUP_G1, g1_bn, ARRAY_COUNT(g1_bn));
    /* both ways of adding where the workspace sorts few windows at once: what the planner foretells of small arenas is measured by these */
    static const struct msm_case whole[] = { { 27, 0, { 0, 0, 0, "" }, "2^27" } };
    static const uint64_t rooms[] = { 3000000000, 5200000000, 7400000000, 9600000000, 11800000000, 16100000000 };
    for (int a = MSM_XYZZ; a <= MSM_AFFINE; a++) {
        device->msm_accumulation = (enum msm_accumulation)a;
        if (wanted(argc, argv, "rooms381")) msm_cases_in(&curve_bls12_381, GROUP_G1, whole, 1, rooms, ARRAY_COUNT(rooms));
    }
    device->msm_accumulation = MSM_ANY;
    /* sums of circom's sizes, without and with tables of multiples */
    static const struct msm_case small[] = { { 14, 0, { 0, 0, 0, "" }, "2^14" }, { 16, 0, { 0, 0, 0, "" }, "2^16" }, { 18, 0, { 0, 0, 0, "" }, "2^18" },
                                             { 20, 0, { 0, 0, 0, "" }, "2^20" } };
    if (wanted(argc, argv, "tables"))
        for (int with = 0; with < 2; with++) {
            table_bytes = with ? (uint64_t)8 << 30 : 0;
            for (int g = 0; g < 2; g++) {
                msm_cases(&curve_bn254, (enum group_id)g, small, ARRAY_COUNT(small));
                msm_cases(&curve_bls12_381, (enum group_id)g, small, ARRAY_COUNT(small));
            }
        }
    table_bytes = 0;
    static const struct bits_case bits_g1_381[] = {
        { 26, 1, 128, { 11, 15, 17.2, "supraseal" } }, { 26, 1, 256, { 22, 0, 0, "" } }, { 26, 10, 128, { 22, 150, 0, "" } },
        { 26, 10, 256, { 22, 0, 0, "" } },
        { 20, 1, 128, { 0.17, 0, 0, "" } },                   { 20, 10, 128, { 0.34, 0, 0, "" } },
    };
    static const struct bits_case bits_g2_381[] = { { 24, 1, 128, { 7, 11, 12.5, "supraseal" } }, { 24, 10, 128, { 14, 110, 0, "" } } };
    static const struct bits_case bits_g1_bn[] = { { 24, 1, 128, { 1.2, 0, 0, "" } }, { 24, 10, 128, { 2.5, 0, 0, "" } } };
    static const struct bits_case bits_g2_bn[] = { { 22, 1, 128, { 0, 0, 0, "" } } };
    if (wanted(argc, argv, "bits")) {
        bits_cases(&curve_bls12_381, GROUP_G1, bits_g1_381, ARRAY_COUNT(bits_g1_381));
        bits_cases(&curve_bls12_381, GROUP_G2, bits_g2_381, ARRAY_COUNT(bits_g2_381));
        bits_cases(&curve_bn254, GROUP_G1, bits_g1_bn, ARRAY_COUNT(bits_g1_bn));
        bits_cases(&curve_bn254, GROUP_G2, bits_g2_bn, ARRAY_COUNT(bits_g2_bn));
    }
    static const struct bits_case porep_g1[] = { { 27, 10, 128, { 44, 0, 0, "" } } }, porep_g2[] = { { 27, 10, 128, { 112, 0, 0, "" } } };
    if (wanted(argc, argv, "bits27")) { /* a query of a 32 GiB PoRep proof */
        bits_cases(&curve_bls12_381, GROUP_G1, porep_g1, ARRAY_COUNT(porep_g1));
        bits_cases(&curve_bls12_381, GROUP_G2, porep_g2, ARRAY_COUNT(porep_g2));
    }
    if (wanted(argc, argv, "split")) {
        split_case(&curve_bls12_381, GROUP_G1, 26, 50, (struct target){ 22, 0, 0, "" });
        split_case(&curve_bls12_381, GROUP_G2, 24, 50, (struct target){ 0, 0, 0, "" });
        split_case(&curve_bn254, GROUP_G1, 22, 20, (struct target){ 0, 0, 0, "" });
        split_case(&curve_bn254, GROUP_G1, 18, 20, (struct target){ 0, 0, 0, "" });
    }
    b->stream_close(stream);
    b->close(device);
    printf("%d wrong\n", failures);
    return failures != 0;
}
