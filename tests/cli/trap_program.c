/* Makes a cuzk of tests whose card goes wrong once in the middle of a batch; cuzk itself knows nothing of it.
 *
 *     CUZK_TEST_FAULT="WHAT N FILE"    in the process of a device, at its N-th proof, unless FILE is there (it is made then):
 *         trap     a kernel traps (on the emulated card the next one ends the context)
 *         stuck    a kernel never ends, and leaves no room for others (without a card: the proof never ends)
 *         kill     the process is killed
 *
 *     CUZK_TEST_ENGINE="HEAP QUEUE"    the engine has so many bytes of the host and takes so many jobs at a time (0: as it would have)
 *     CUZK_TEST_CARD=MIB               a card is predicted to take no time at all; on the emulated one there is no more memory than MIB then
 *
 *     CUZK_TEST_NO_CARD=1              a card cannot be opened by the command line itself, only by the process of a device
 *
 * The program is linked so that groth16_prove, groth16_predict, engine_open and cuzk_context_create are those below. */
#include "cuzk/cuzk.h"
#include "engine/engine.h"
#include "groth16/predict.h"
#include "support/wrapped_prove.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(CUZK_CUDA_EMULATED)
#include "cuda_host.h"
#elif defined(TRAP_KERNELS)
/* trap_kernels.cu */
void trap_kernel(void);
void trap_fill_card(void);
#endif

static void trap(void)
{
#if defined(CUZK_CUDA_EMULATED)
    enum { LAUNCH_FAILURE = 719 }; /* cudaErrorLaunchFailure: what a trap is told as */
    cuda_host_fail_kernel(1, LAUNCH_FAILURE);
#elif defined(TRAP_KERNELS)
    trap_kernel();
#else
    abort();
#endif
}

static void get_stuck(void)
{
#if defined(TRAP_KERNELS)
    trap_fill_card();
#else
    for (;;) sleep(1);
#endif
}

static void fault(const char *what)
{
    fprintf(stderr, "test: %s\n", what);
    if (strcmp(what, "trap") == 0) trap();
    if (strcmp(what, "stuck") == 0) get_stuck();
    if (strcmp(what, "kill") == 0) raise(SIGKILL);
}

cuzk_status __real_engine_open(struct engine **out, struct task *t, const struct engine_options *o);
cuzk_status __wrap_engine_open(struct engine **out, struct task *t, const struct engine_options *o);

cuzk_status __wrap_engine_open(struct engine **out, struct task *t, const struct engine_options *o)
{
    const char *const text = getenv("CUZK_TEST_ENGINE");
    struct engine_options own = *o;
    unsigned long long heap = 0;
    unsigned queue = 0;

    if (text != NULL && sscanf(text, "%llu %u", &heap, &queue) != 2) abort();
    if (heap != 0) own.heap_bytes = heap;
    if (queue != 0) own.queue_most = queue;
    return __real_engine_open(out, t, &own);
}

cuzk_status __real_cuzk_context_create(cuzk_context **out, const cuzk_context_options *o, cuzk_error *error);
cuzk_status __wrap_cuzk_context_create(cuzk_context **out, const cuzk_context_options *o, cuzk_error *error);

cuzk_status __wrap_cuzk_context_create(cuzk_context **out, const cuzk_context_options *o, cuzk_error *error)
{
    if (getenv("CUZK_TEST_NO_CARD") == NULL || o->backend == NULL || strcmp(o->backend, "cuda") != 0)
        return __real_cuzk_context_create(out, o, error);
    snprintf(error->text, sizeof error->text, "others hold the card");
    return error->status = CUZK_DEVICE_UNAVAILABLE;
}

void __real_groth16_predict(struct groth16_prediction *out, const struct groth16_key *key, bool on_card, unsigned units);
void __wrap_groth16_predict(struct groth16_prediction *out, const struct groth16_key *key, bool on_card, unsigned units);

void __wrap_groth16_predict(struct groth16_prediction *out, const struct groth16_key *key, bool on_card, unsigned units)
{
    __real_groth16_predict(out, key, on_card, units);
    if (!on_card || getenv("CUZK_TEST_CARD") == NULL) return;
    memset(out, 0, sizeof *out);
#if defined(CUZK_CUDA_EMULATED)
    struct cuda_host_config config = cuda_host_default();
    config.memory_bytes = (size_t)strtoul(getenv("CUZK_TEST_CARD"), NULL, 10) << 20;
    cuda_host_configure(&config);
#endif
}

cuzk_status __wrap_groth16_prove(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                 const struct groth16_plan *plan, const struct witness *w,
                                 struct groth16_timings *timings)
{
    static atomic_ulong proofs;
    const char *const text = getenv("CUZK_TEST_FAULT");
    const unsigned long nth = atomic_fetch_add(&proofs, 1) + 1;
    char what[16], file[512];
    unsigned long n;

    if (text != NULL && sscanf(text, "%15s %lu %511s", what, &n, file) == 3 && nth == n) {
        const int fd = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (fd >= 0) {
            close(fd);
            fault(what);
        }
    }
    return __real_groth16_prove(t, out, key, plan, w, timings);
}
