/* Processes of devices that do what they should not.  The program is linked so that groth16_prove, prove_lane_turn, lane_test and
 * device_message_send are those below. */
#include "faulty_child.h"
#include "base/rng.h"
#include "engine/device_child.h"
#include "engine/device_message.h"
#include "engine/engine.h"
#include "engine/lane_test.h"
#include "groth16/prove_lanes.h"
#include "support/wrapped_prove.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static bool wants(const char *what, unsigned long *number)
{
    const char *text = getenv(FAULTY_CHILD);
    const size_t length = strlen(what);

    if (text == NULL || strncmp(text, what, length) != 0) return false;
    *number = strtoul(text + length, NULL, 10);
    return true;
}

/* -- right ones with a fault --------------------------------------------------------------------------------------------- */

static bool is_child;

/* In a function of its own, which no compiler sees through and no sanitizer looks into. */
__attribute__((noinline, no_sanitize("address", "undefined", "thread"))) static void write_to(volatile int *p)
{
    *p = 1;
}

cuzk_status __wrap_groth16_prove(struct task *t, struct groth16_proof *out, const struct groth16_key *key,
                                 const struct groth16_plan *plan, const struct witness *w,
                                 struct groth16_timings *timings)
{
    static atomic_ulong proofs;
    static int *volatile nowhere;
    unsigned long number;

    if (is_child) {
        const unsigned long nth = atomic_fetch_add(&proofs, 1) + 1;
        if (wants("mute", &number) || (wants("crash ", &number) && nth % number == 0) ||
            (wants("poison ", &number) && (unsigned long)key->curve->id == number))
            write_to(nowhere);
        while (wants("loop ", &number) && nth % number == 0) sleep(1);
    }
    return __real_groth16_prove(t, out, key, plan, w, timings);
}

cuzk_status __real_prove_lane_turn(struct prove_lane *lane, struct task *t);
cuzk_status __wrap_prove_lane_turn(struct prove_lane *lane, struct task *t);

cuzk_status __wrap_prove_lane_turn(struct prove_lane *lane, struct task *t)
{
    static atomic_ulong proofs;
    const bool first = lane->compute == NULL || lane->lanes == NULL;
    unsigned long ms, number;

    if (first && is_child && wants("line ", &number)) {
        const unsigned long nth = atomic_fetch_add(&proofs, 1) + 1;
        while (nth % number == 0) {
            task_progress(t, LANES_WAITING, 0, 1);
            usleep(20000);
        }
    }
    TRY(__real_prove_lane_turn(lane, t));
    if (first && is_child && wants("slow ", &ms)) usleep((useconds_t)ms * 1000);
    return CUZK_OK;
}

cuzk_status __real_lane_test(struct task *t, const struct place *place);
cuzk_status __wrap_lane_test(struct task *t, const struct place *place);

cuzk_status __wrap_lane_test(struct task *t, const struct place *place)
{
    unsigned long number;

    while (is_child && wants("mute", &number)) sleep(1);
    return __real_lane_test(t, place);
}

/* -- requests that cannot be sent ----------------------------------------------------------------------------------------- */

static atomic_int unsent;

void faulty_send(int why) { atomic_store(&unsent, why); }

int __real_device_message_send(const struct device_message *m, int socket);
int __wrap_device_message_send(const struct device_message *m, int socket);

int __wrap_device_message_send(const struct device_message *m, int socket)
{
    const int why = m->kind == DEVICE_PROVE ? atomic_exchange(&unsent, 0) : 0;

    return why != 0 ? why : __real_device_message_send(m, socket);
}

/* -- false ones ---------------------------------------------------------------------------------------------------------- */

static unsigned long say;

static void put_ok(struct device_message *m, uint32_t kind, uint64_t number)
{
    const struct error none = { .status = CUZK_OK };

    device_message_begin(m, kind | DEVICE_ANSWER, number);
    device_message_put_error(m, &none);
}

static void put_size(struct device_message *m, uint64_t proof)
{
    device_message_put(m, 0);
    device_message_put(m, proof);
}

static void answer_falsely(struct device_message *m, int socket)
{
    const uint32_t kind = m->kind;
    const uint64_t number = m->number;
    int pair[2];
    uint8_t noise[512];
    struct task t;

    device_message_drop(m);
    put_ok(m, kind, number);
    switch ((enum faulty_answer)say) {
    case ANSWER_NOISE:
        task_init(&t);
        if (rng_bytes(&t, noise, sizeof noise) != CUZK_OK) abort();
        (void)!send(socket, noise, sizeof noise, MSG_NOSIGNAL);
        return;
    case ANSWER_EMPTY:
        device_message_begin(m, kind | DEVICE_ANSWER, number);
        break;
    case ANSWER_NUMBER:
        put_ok(m, kind, number + 1);
        break;
    case ANSWER_KIND:
        put_ok(m, kind == DEVICE_TEST ? DEVICE_PROVE : DEVICE_TEST, number);
        break;
    case ANSWER_LENGTH:
        device_message_begin(m, kind | DEVICE_ANSWER, number);
        for (int i = 0; i < 4; i++) device_message_put(m, i == 3 ? 4000 : 0);
        break;
    case ANSWER_LONG:
        for (int i = 0; i < 100; i++) device_message_put(m, 1);
        break;
    case ANSWER_STATUS:
        device_message_begin(m, kind | DEVICE_ANSWER, number);
        device_message_put(m, CUZK_INTERNAL + 1);
        for (int i = 0; i < 6; i++) device_message_put(m, 0);
        break;
    case ANSWER_NO_BLOB:
        put_size(m, 200);
        break;
    case ANSWER_PIPE:
        if (pipe(pair) != 0) abort();
        put_size(m, 200);
        device_message_put_fd(m, pair[0]);
        break;
    case ANSWER_UNSEALED:
        pair[0] = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (pair[0] < 0 || ftruncate(pair[0], 200) != 0) abort();
        put_size(m, 200);
        device_message_put_fd(m, pair[0]);
        break;
    case ANSWER_HUGE:
        pair[0] = memfd_create("small", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (pair[0] < 0 || ftruncate(pair[0], 200) != 0 ||
            fcntl(pair[0], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
            abort();
        put_size(m, UINT64_MAX);
        device_message_put_fd(m, pair[0]);
        break;
    case ANSWER_CLOSE:
        shutdown(socket, SHUT_RDWR);
        return;
    case ANSWER_NEVER:
        return;
    case ANSWER_SHUT: /* what was sent before the end was seen */
        return;
    case ANSWER_FDS:
        for (int i = 0; i < 40; i++) device_message_put_fd(m, STDERR_FILENO);
        break;
    case ANSWERS:
        abort();
    }
    (void)!device_message_send(m, socket);
}

static void *listen_to(void *context)
{
    const int socket = *(const int *)context;
    struct device_message *m = malloc(sizeof *m);

    while (m != NULL && device_message_receive(m, socket) == 0) answer_falsely(m, socket);
    while (m != NULL) pause(); /* whatever happened: it does not end by itself */
    return NULL;
}

static int lie(void)
{
    static struct device_message m;
    static int sockets[DEVICE_CHANNELS];
    pthread_t thread;

    if (device_message_receive(&m, 3) != 0) return 1;
    const unsigned count = m.fd_count - 1;
    close(device_message_take_fd(&m));
    for (unsigned i = 0; i < count; i++) {
        sockets[i] = device_message_take_fd(&m);
        if (say == ANSWER_SHUT) shutdown(sockets[i], SHUT_RDWR);
        if (pthread_create(&thread, NULL, listen_to, &sockets[i]) != 0) return 1;
    }
    put_ok(&m, DEVICE_HELLO, 0);
    device_message_put_text(&m, "cpu");
    device_message_put(&m, 0);
    device_message_put_text(&m, "a liar");
    device_message_put_text(&m, "");
    for (int i = 0; i < 3; i++) device_message_put(&m, 0);
    if (device_message_send(&m, 3) != 0) return 1;
    (void)!device_message_receive(&m, 3);
    return 0;
}

static int refuse(void)
{
    static struct device_message m;
    const struct error e = { .status = CUZK_DEVICE_UNAVAILABLE, .text = "no device has this\nindex\x01\xff" };

    if (device_message_receive(&m, 3) != 0) return 1;
    device_message_drop(&m);
    device_message_begin(&m, DEVICE_HELLO | DEVICE_ANSWER, 0);
    device_message_put_error(&m, &e);
    return device_message_send(&m, 3) != 0;
}

int faulty_child_main(int argc, char **argv)
{
    unsigned long number;

    if (argc < 2 || strcmp(argv[1], DEVICE_CHILD_ARGUMENT) != 0) return -1;
    is_child = true;
    if (wants("exit ", &number)) _exit((int)number);
    if (wants("refuse", &number)) return refuse();
    if (wants("say ", &say)) return lie();
    if (wants("deaf", &number)) {
        close(3);
        for (;;) pause();
    }
    return engine_device_main(argc, argv);
}
