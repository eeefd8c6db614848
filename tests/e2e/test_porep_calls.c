/* test_porep_calls: that PoRep proofs one after another leave device and host memory as the first left them, and make no CUDA call that
 * acts on the whole device (support/cuda_calls.h): cuzk_bench_porep under an insecure key made on the card.
 *
 *     test_porep_calls [SIZE [PROOFS [LANES]]]        2KiB, 3, 1; exit code 77: there is no card */
#include "cuzk/cuzk_bench.h"
#include "support/cuda_calls.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOST_SLACK = 64 << 20 /* what a process's heap may grow by between the first proof and the last */ };

struct counting {
    unsigned lanes;
};

/* Every lane has had a proof: what is called from here on is counted. */
static void proof_ended(void *context, unsigned proof, double seconds)
{
    const struct counting *c = context;

    if (proof + 1 == c->lanes) cuda_calls_reset();
    printf("proof %u: %.3f s\n", proof + 1, seconds);
    fflush(stdout);
}

static int failed(const cuzk_error *error)
{
    fprintf(stderr, "test_porep_calls: %s\n", error->text);
    return error->status == CUZK_DEVICE_UNAVAILABLE ? 77 : 2;
}

static int judge(const cuzk_porep_bench *r)
{
    const unsigned forbidden = cuda_calls_forbidden();
    const bool device_flat = r->device_bytes[1] == r->device_bytes[0],
               host_flat = r->host_bytes[1] <= r->host_bytes[0] + HOST_SLACK;

    printf("%u proofs of %u partitions, all verified: %u forbidden calls after the first; the card %.3f and "
           "%.3f GB at most after the first "
           "and the last (%s), the host %.3f and %.3f GB (%s)\n"
           "steady %.3f s, alone %.3f s\n",
           r->proofs, r->partitions, forbidden, (double)r->device_bytes[0] * 1e-9,
           (double)r->device_bytes[1] * 1e-9, device_flat ? "flat" : "GROWS", (double)r->host_bytes[0] * 1e-9,
           (double)r->host_bytes[1] * 1e-9, host_flat ? "flat" : "GROWS", r->steady_s, r->single_s);
    return forbidden == 0 && device_flat && host_flat ? 0 : 1;
}

int main(int argc, char **argv)
{
    cuzk_context_options context_options = CUZK_CONTEXT_OPTIONS_INIT;
    cuzk_porep_bench_options o = CUZK_POREP_BENCH_OPTIONS_INIT;
    cuzk_porep_bench result = CUZK_POREP_BENCH_INIT;
    cuzk_error error = CUZK_ERROR_INIT;
    struct counting counting = { 0 };
    cuzk_context *context = NULL;
    cuzk_porep_key *key = NULL;

    o.proofs = argc > 2 ? (unsigned)atoi(argv[2]) : 3;
    o.lanes = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    o.proof = proof_ended;
    o.proof_context = &counting;
    counting.lanes = o.lanes;
    context_options.backend = "cuda";
    if (cuzk_context_create(&context, &context_options, &error) != CUZK_OK) return failed(&error);
    if (cuzk_porep_key_make_dev(&key, context, cuzk_sector_bytes(argc > 1 ? argv[1] : "2KiB"), 1, NULL, NULL,
                                &error) != CUZK_OK)
        return failed(&error);
    if (cuzk_bench_porep(&result, context, key, &o, NULL, NULL, NULL, &error) != CUZK_OK)
        return failed(&error);
    const int code = judge(&result);
    cuzk_porep_key_close(key);
    cuzk_context_destroy(context);
    return code;
}
