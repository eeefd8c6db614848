/* Sums whose scalars are mostly bits, on the CPU: plain sums, sums over bitmaps and split sums of the same input, and their ratios.
 * Times are the processor's, of all threads, so that other work on the machine matters little.
 *
 *     bench_bits [LOG2 [THREADS]]      points 2^LOG2, by default 2^18; threads, by default all */
#include "backend/backend.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, BATCH = 10 };

static const struct backend *b;
static struct device *device;
static struct stream *stream;
static struct task task;

#define OK(call)                                            \
    do {                                                    \
        if ((call) != CUZK_OK) {                            \
            printf("%s: %s\n", #call, task.error.text);     \
            exit(1);                                        \
        }                                                   \
    } while (0)

static struct buffer take(size_t bytes)
{
    struct buffer x;
    OK(b->buffer_take(&x, &task, device, MEM_HEAP, bytes, 0));
    return x;
}

static uint64_t draw(uint64_t *state) /* splitmix64 */
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Half ones, and wide_of_1000 in a thousand of full size. */
static void fill(const struct curve *c, struct fr_int *out, uint64_t n, unsigned wide_of_1000)
{
    uint64_t state;
    OK(rng_bytes(&task, &state, sizeof state));
    for (uint64_t i = 0; i < n; i++) {
        struct fr_int k;
        for (int j = 0; j < 4; j++) k.w[j] = draw(&state);
        const bool wide = k.w[3] % 1000 < wide_of_1000;
        const uint64_t bit = k.w[2] & 1;
        if (!wide) memset(&k, 0, sizeof k);
        k.w[3] &= UINT64_MAX >> (257 - c->fr.bits);
        if (!wide) k.w[0] = bit;
        out[i] = k;
    }
}

static void bench(const struct curve *c, enum group_id g, uint64_t n, unsigned wide_of_1000)
{
    const struct group *group = c->group[g];
    struct buffer points = take(n * group->aff_bytes), scalars[BATCH], counts = take(sizeof(struct classify_counts)), index, values;
    struct msm_plan msm;
    struct bit_sum_plan one, many;
    struct split_plan split;
    struct classify_plan classify;
    struct g_jac sums[BATCH], plain;
    double best[5] = { 0 };
    const uint64_t wide_max = n * (wide_of_1000 + 5) / 1000;
    scalars[0] = take(32 * n);
    fill(c, (struct fr_int *)(void *)scalars[0].data, n, 1000);
    OK(b->fixed_base(stream, &task, c, g, &points, 0, &group->generator, &scalars[0], 0, n));
    for (int k = 0; k < BATCH; k++) {
        if (k) scalars[k] = take(32 * n);
        fill(c, (struct fr_int *)(void *)scalars[k].data, n, wide_of_1000);
    }
    OK(b->msm_plan(&msm, &task, device, c, g, n));
    OK(b->bit_sum_plan(&one, &task, device, c, g, n, 1));
    OK(b->bit_sum_plan(&many, &task, device, c, g, n, BATCH));
    OK(b->classify_plan(&classify, &task, device, n, wide_max));
    struct backend eager = *b; /* taking apart whatever the planner thinks */
    eager.call_cost = -1e18;
    OK(split_msm_plan(&split, &task, &eager, device, c, g, n, 1, wide_max));
    index = take(classify.index_bytes);
    values = take(classify.values_bytes);
    struct buffer bitmaps = take(many.bitmap_bytes * BATCH), room = take(classify.workspace_bytes), w[4] = { take(msm.workspace_bytes), take(one.workspace_bytes),
                                                                                                         take(many.workspace_bytes), take(split.workspace_bytes) };
    for (int k = 0; k < BATCH; k++) {
        struct buffer bitmap = buffer_piece(&bitmaps, (size_t)k * many.bitmap_bytes, many.bitmap_bytes);
        OK(b->classify(stream, &task, &classify, &counts, &bitmap, &index, &values, &scalars[k], 0, NULL, &room));
    }
    for (int k = 0; k < RUNS; k++) {
        for (int what = 0; what < 5; what++) {
            struct buffer bitmap = buffer_piece(&bitmaps, 0, one.bitmap_bytes);
            const clock_t start = clock();
            switch (what) {
            case 0:
                OK(b->msm(stream, &task, &msm, &plain, &points, 0, &scalars[0], 0, NULL, &w[0]));
                break;
            case 1:
                OK(split_msm(stream, &task, b, &split, sums, &points, 0, scalars, 0, NULL, &w[3]));
                if (!group->jac_eq(&sums[0], &plain)) printf("WRONG: a split sum\n");
                break;
            case 2:
                OK(b->bit_sum(stream, &task, &one, sums, &points, 0, &bitmap, 0, &w[1]));
                if (wide_of_1000 == 0 && !group->jac_eq(&sums[0], &plain)) printf("WRONG: a sum over a bitmap\n");
                break;
            case 3:
                OK(b->bit_sum(stream, &task, &many, sums, &points, 0, &bitmaps, 0, &w[2]));
                break;
            default:
                OK(b->classify(stream, &task, &classify, &counts, &bitmap, &index, &values, &scalars[0], 0, NULL, &room));
                break;
            }
            const double ms = (double)(clock() - start) * (1000.0 / CLOCKS_PER_SEC);
            if (k == 0 || ms < best[what]) best[what] = ms;
        }
    }
    printf("%-9s %s %2u.%u %% wide %9.2f %9.2f %5.2f %9.2f %5.2f %9.2f %5.2f %8.2f   %s\n", c->name, group->name, wide_of_1000 / 10, wide_of_1000 % 10, best[0],
           best[1], best[0] / best[1], best[2], best[0] / best[2], best[3], BATCH * best[2] / best[3], best[4],
           split_pays(&msm, &split.msm, b->value_cost, b->call_cost) ? "split" : "plain");
    fflush(stdout);
    for (int k = 0; k < 4; k++) b->buffer_give(&w[k]);
    for (int k = 0; k < BATCH; k++) b->buffer_give(&scalars[k]);
    b->buffer_give(&points);
    b->buffer_give(&counts);
    b->buffer_give(&index);
    b->buffer_give(&values);
    b->buffer_give(&bitmaps);
    b->buffer_give(&room);
}

int main(int argc, char **argv)
{
    const uint64_t n = (uint64_t)1 << (argc > 1 ? atoi(argv[1]) : 18);
    const struct device_options o = { .threads = argc > 2 ? (unsigned)atoi(argv[2]) : 0 };
    struct device_info info;
    task_init(&task);
    b = backend_by_name("cpu");
    OK(b->open(&device, &task, &o));
    OK(b->stream_open(&stream, &task, device));
    b->info(device, &info);
    printf("%s, %s, %u threads, %llu points, half of the values one; best of %d, ms of processor time\n", info.name, info.variant, info.unit_count, (unsigned long long)n, RUNS);
    printf("%-24s %9s %9s %5s %9s %5s %9s %5s %8s\n", "", "msm", "split", "ratio", "bitmap", "ratio", "10 maps", "gain", "classify");
    for (int curve = 0; curve < 2; curve++)
        for (int g = 0; g < 2; g++)
            for (unsigned wide = 0; wide <= 100; wide += wide < 20 ? 20 : 80) bench(curve ? &curve_bls12_381 : &curve_bn254, (enum group_id)g, n, wide);
    b->stream_close(stream);
    b->close(device);
    return 0;
}
