/* The engine's side of a device's process.
 *
 *     DOWN -> WANTED -> STARTING -> UP -> ENDING -> DOWN
 *
 * WANTED is set by whoever needs it (enter), STARTING by the keeper's thread, which starts it and says hello; ENDING as soon as anybody
 * sees that it is over, and the keeper waits there until the last user has let go of its descriptors. */
#include "engine/device_process.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/thread.h"
#include "engine/device_child.h"
#include "engine/device_message.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 50 /* at the cancel flag while an answer is awaited */
#define SILENT_MS \
    250 /* a request that has said nothing of waiting for so long works; it says so every 50 ms */
#define START_MS        120000 /* for the device to be open */
#define UNLOAD_MS       60000  /* for a key's memory to be given back */
#define QUIT_MS         5000   /* for the process to end by itself */
#define TEST_TRIES      4
#define OUTPUT_MOST     ((uint64_t)1 << 20) /* far above any proof of one part */
#define CHILD_SOCKET    3
#define CHILD_SOCKET_IS "3"
#define NOBODY          UINT32_MAX
#define NOT_UNDERSTOOD  "its answer is not understood"

extern char **environ;

enum process_state { PROCESS_DOWN, PROCESS_WANTED, PROCESS_STARTING, PROCESS_UP, PROCESS_ENDING };

struct device_process {
    struct device_process_options options;
    struct device_blob page;
    struct device_shared *shared;
    struct device_info info;
    pthread_t keeper;
    bool keeper_runs;
    atomic_bool hurried; /* the engine ends */

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    enum process_state state;
    bool quit, reaped;
    pid_t pid;
    int control, channel[DEVICE_CHANNELS];
    unsigned users, users_alone, waiting_alone;
    unsigned users_at_end; /* when the end was first seen */
    uint32_t blamed;       /* the channel that did not answer, or not as it should; NOBODY */
    char cause[192];       /* of the latest end */
    struct error start_error;
    unsigned start_failures; /* ever */
    uint64_t starts;
    uint64_t number;        /* of the latest exchange */
    uint64_t runs_answered; /* those that were cancelled not counted */
    struct request_seen {
        bool under_way;
        unsigned waits;    /* as last looked at */
        uint64_t moved_ns; /* when they last changed; at first the beginning */
    } seen[DEVICE_CHANNELS];
};

static unsigned channel_count(const struct device_process *p) { return p->options.lane_count + 1; }

/* Until something changes, or some milliseconds have passed. */
static void wait_changed(struct device_process *p, unsigned ms)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&p->changed, &p->lock, &at);
}

/* -- the end of a process ------------------------------------------------------------------------------------------------ */

/* Locked.  The first word counts: what else ran at that moment is in doubt. */
static void begin_end(struct device_process *p, uint32_t blamed)
{
    if (p->state != PROCESS_UP) return;
    p->state = PROCESS_ENDING;
    p->users_at_end = p->users;
    p->blamed = blamed;
    pthread_cond_broadcast(&p->changed);
}

/* Locked.  It is not reaped, so the number is still its own. */
static void kill_it(const struct device_process *p)
{
    if (!p->reaped && p->pid > 0) kill(p->pid, SIGKILL);
}

static void describe_end(char *out, size_t bytes, int status)
{
    if (WIFSIGNALED(status))
        snprintf(out, bytes, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(out, bytes, "exit code %d", WEXITSTATUS(status));
}

/* Not locked.  Waits for the process, which stays a zombie until the lock is held: nobody signals a number that is not its own. */
static int reap(struct device_process *p)
{
    siginfo_t info;
    int status = 0;

    while (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
    pthread_mutex_lock(&p->lock);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) continue;
    p->reaped = true;
    begin_end(p, NOBODY);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* Not locked: the keeper alone reaps.  Whether a process that has closed its socket comes to its end: how is what is to be said. */
static bool ends_soon(const struct device_process *p)
{
    const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };

    for (int i = 0; i < QUIT_MS / LOOK_MS; i++) {
        siginfo_t info = { .si_pid = 0 };
        if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid != 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static void close_sockets(struct device_process *p)
{
    if (p->control >= 0) close(p->control);
    for (unsigned i = 0; i < channel_count(p); i++)
        if (p->channel[i] >= 0) close(p->channel[i]);
    p->control = -1;
    for (unsigned i = 0; i < DEVICE_CHANNELS; i++) p->channel[i] = -1;
}

/* -- the beginning ------------------------------------------------------------------------------------------------------- */

static cuzk_status cannot_start(struct task *t, const struct device_process *p, const char *why)
{
    FAIL(t, CUZK_DEVICE_UNAVAILABLE, "the process of device %s-%u cannot be started: %s", p->options.backend,
         p->options.device.index, why);
    task_fail_place(
        t, NULL, ERROR_NO_OFFSET, NULL,
        "its own messages are before this; the configuration devices.process = \"never\" of cuzkd, --process never of cuzk "
        "prove, does without it");
    return t->error.status;
}

/* Starts the program with the control socket as its descriptor 3, and no other beyond the three of every program. */
static cuzk_status spawn(struct device_process *p, struct task *t, int socket)
{
    const char *const program = p->options.program != NULL ? p->options.program : "/proc/self/exe";
    char name[] = "cuzk-device", argument[] = DEVICE_CHILD_ARGUMENT, number[] = CHILD_SOCKET_IS;
    char *arguments[] = { name, argument, number, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t blocked;
    pid_t pid = 0;

    sigemptyset(
        &blocked); /* a terminal's and a service manager's signals are for the engine, which ends it in its time */
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGHUP);
    sigaddset(&blocked, SIGQUIT);
    int why = posix_spawn_file_actions_init(&files);
    if (why != 0) return cannot_start(t, p, strerror(why));
    why = posix_spawnattr_init(&attributes);
    if (why == 0) {
        why = posix_spawn_file_actions_adddup2(&files, socket, CHILD_SOCKET);
        if (why == 0) why = posix_spawn_file_actions_addclosefrom_np(&files, CHILD_SOCKET + 1);
        if (why == 0) why = posix_spawnattr_setsigmask(&attributes, &blocked);
        if (why == 0) why = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (why == 0) why = posix_spawn(&pid, program, &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    if (why != 0) {
        char text[PATH_MAX + 64];
        snprintf(text, sizeof text, "%s: %s", program, strerror(why));
        return cannot_start(t, p, text);
    }
    pthread_mutex_lock(&p->lock);
    p->pid = pid;
    p->reaped = false;
    pthread_mutex_unlock(&p->lock);
    return CUZK_OK;
}

static void write_hello(struct device_message *m, const struct device_process *p, const int *theirs)
{
    const struct device_options *d = &p->options.device;
    enum log_level level;
    enum log_format format;

    log_settings(&level, &format);
    device_message_begin(m, DEVICE_HELLO, 0);
    device_message_put_text(m, CUZK_VERSION);
    device_message_put_text(m, p->options.backend);
    device_message_put(m, d->index);
    device_message_put(m, d->memory_bytes);
    device_message_put(m, d->pinned_bytes);
    device_message_put(m, p->options.threads);
    device_message_put(m, channel_count(p));
    device_message_put(m, p->options.circuit_count);
    device_message_put(m, (uint64_t)level);
    device_message_put(m, (uint64_t)format);
    device_message_put_fd(m, p->page.fd);
    for (unsigned i = 0; i < channel_count(p); i++) device_message_put_fd(m, theirs[i]);
}

static bool read_hello(struct device_message *m, struct device_info *out, struct error *e)
{
    memset(out, 0, sizeof *out);
    device_message_get_error(m, e);
    if (e->status == CUZK_OK && !m->broken) {
        device_message_get_text(m, out->backend, sizeof out->backend);
        out->index = (unsigned)device_message_get(m);
        device_message_get_text(m, out->name, sizeof out->name);
        device_message_get_text(m, out->variant, sizeof out->variant);
        out->memory_bytes = device_message_get(m);
        out->unit_count = (unsigned)device_message_get(m);
        out->stream_bytes = device_message_get(m);
    }
    return m->kind == (DEVICE_HELLO | DEVICE_ANSWER) && device_message_done(m);
}

/* Whether there is something to read within the time; the end counts. */
static bool readable(int socket, uint64_t ms)
{
    struct pollfd f = { .fd = socket, .events = POLLIN };
    const uint64_t start_ns = clock_now_ns();

    for (;;) {
        const double past = clock_ms_since(start_ns);
        if (past >= (double)ms) return poll(&f, 1, 0) > 0;
        if (poll(&f, 1, (int)((double)ms - past) + 1) > 0) return true;
    }
}

static cuzk_status say_hello(struct device_process *p, struct task *t, const int *theirs)
{
    struct device_message m = { .fd_count = 0 };
    struct device_info info;
    struct error e;

    write_hello(&m, p, theirs);
    int why = device_message_send(&m, p->control);
    if (why != 0 && why != EPIPE) return cannot_start(t, p, strerror(why));
    if (!readable(p->control, START_MS)) return cannot_start(t, p, "it has not answered within two minutes");
    why = device_message_receive(&m, p->control);
    if (why == EPIPE) return CUZK_DEVICE_UNAVAILABLE; /* it has ended: the caller finds out how */
    const bool understood = why == 0 && read_hello(&m, &info, &e);
    device_message_drop(&m);
    if (!understood) return cannot_start(t, p, NOT_UNDERSTOOD);
    if (e.status != CUZK_OK) {
        t->error = e;
        return e.status;
    }
    if (p->starts == 0) p->info = info;
    return CUZK_OK;
}

static cuzk_status make_sockets(struct device_process *p, struct task *t, int *theirs, int *control)
{
    int pair[2];

    for (unsigned i = 0; i <= channel_count(p); i++) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
            return cannot_start(t, p, strerror(errno));
        *(i < channel_count(p) ? &p->channel[i] : &p->control) = pair[0];
        *(i < channel_count(p) ? &theirs[i] : control) = pair[1];
    }
    return CUZK_OK;
}

/* Not locked; the keeper alone touches the sockets in this state. */
static cuzk_status start(struct device_process *p, struct task *t)
{
    int theirs[DEVICE_CHANNELS], control = -1;
    bool spawned = false;
    cuzk_status status;

    for (unsigned i = 0; i < DEVICE_CHANNELS; i++) theirs[i] = -1;
    TRY_GOTO(out, make_sockets(p, t, theirs, &control));
    TRY_GOTO(out, spawn(p, t, control));
    spawned = true;
    close(control); /* so that its end is seen */
    control = -1;
    TRY_GOTO(out, say_hello(p, t, theirs));
out:
    if (control >= 0) close(control);
    for (unsigned i = 0; i < DEVICE_CHANNELS; i++)
        if (theirs[i] >= 0) close(theirs[i]);
    if (status == CUZK_OK) return CUZK_OK;
    if (spawned) {
        char text[256], end[128];
        if (t->error.status != CUZK_OK || !ends_soon(p)) {
            pthread_mutex_lock(&p->lock);
            kill_it(p);
            pthread_mutex_unlock(&p->lock);
        }
        describe_end(end, sizeof end, reap(p));
        snprintf(text, sizeof text, "it ended before it was ready: %s", end);
        if (t->error.status == CUZK_OK) cannot_start(t, p, text);
    }
    close_sockets(p);
    return t->error.status;
}

/* -- the keeper ---------------------------------------------------------------------------------------------------------- */

/* Locked.  Asks it to end, and waits; ends it if it does not. */
static void quit_it(struct device_process *p)
{
    shutdown(p->control, SHUT_RDWR);
    for (unsigned i = 0; i < channel_count(p); i++) shutdown(p->channel[i], SHUT_RDWR);
    const uint64_t start_ns = clock_now_ns();
    while (!p->reaped && clock_ms_since(start_ns) < QUIT_MS) wait_changed(p, LOOK_MS);
    kill_it(p);
}

/* Locked, and so again when it returns: from the start to the end of one process. */
static void keep_one(struct device_process *p)
{
    struct task t;

    p->state = PROCESS_STARTING;
    pthread_mutex_unlock(&p->lock);
    task_init(&t);
    const cuzk_status status = start(p, &t);
    pthread_mutex_lock(&p->lock);
    if (status != CUZK_OK) {
        p->start_error = t.error;
        p->start_failures++;
        p->state = PROCESS_DOWN;
        pthread_cond_broadcast(&p->changed);
        return;
    }
    const pid_t pid = p->pid;
    p->starts++;
    p->cause[0] = '\0';
    p->state = PROCESS_UP;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    log_info(NULL, "device %s-%u: process %d has it", p->options.backend, p->options.device.index, (int)pid);
    const int end = reap(p);
    pthread_mutex_lock(&p->lock);
    describe_end(p->cause, sizeof p->cause, end);
    pthread_cond_broadcast(&p->changed);
    if (!p->quit)
        log_line(
            NULL, LOG_ERROR,
            "device %s-%u: process %d ended with %u requests under way: %s; the next request starts another",
            p->options.backend, p->options.device.index, (int)pid, p->users_at_end, p->cause);
    while (p->users > 0) pthread_cond_wait(&p->changed, &p->lock);
    close_sockets(p);
    p->state = PROCESS_DOWN;
    pthread_cond_broadcast(&p->changed);
}

static void *keeper_main(void *context)
{
    struct device_process *p = context;

    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        if (p->state == PROCESS_WANTED)
            keep_one(p);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* -- turns --------------------------------------------------------------------------------------------------------------- */

static bool my_turn(const struct device_process *p, bool alone)
{
    if (alone) return p->users == 0;
    return p->users_alone == 0 && p->waiting_alone == 0;
}

/* Waits for a turn and for a process.  start: one is started; else CUZK_DEVICE_LOST says that there is none. */
static cuzk_status enter(struct device_process *p, struct task *t, bool alone, bool wants_start)
{
    cuzk_status status = CUZK_OK;

    pthread_mutex_lock(&p->lock);
    const unsigned failures = p->start_failures;
    p->waiting_alone += alone;
    for (;;) {
        status = task_poll(t);
        if (status != CUZK_OK) break;
        if (p->state == PROCESS_DOWN && p->start_failures != failures) {
            t->error = p->start_error;
            status = t->error.status;
            break;
        }
        if (p->state == PROCESS_DOWN && !wants_start) {
            status = CUZK_DEVICE_LOST;
            break;
        }
        if (my_turn(p, alone) && p->state == PROCESS_UP) break;
        if (p->state == PROCESS_DOWN) {
            p->state = PROCESS_WANTED;
            pthread_cond_broadcast(&p->changed);
        }
        wait_changed(p, LOOK_MS);
    }
    p->waiting_alone -= alone;
    if (status == CUZK_OK) {
        p->users++;
        p->users_alone += alone;
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return status;
}

static void leave(struct device_process *p, bool alone)
{
    pthread_mutex_lock(&p->lock);
    p->users--;
    p->users_alone -= alone;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* The process is over, or has to be: ends it, waits until it is gone, says how it went. */
static cuzk_status lost(struct device_process *p, struct task *t, unsigned channel, const char *blame,
                        enum device_loss *loss)
{
    pthread_mutex_lock(&p->lock);
    begin_end(p, blame != NULL ? channel : NOBODY);
    kill_it(p);
    while (!p->reaped) pthread_cond_wait(&p->changed, &p->lock);
    const bool own = p->blamed == channel || (p->blamed == NOBODY && p->users_at_end <= 1);
    *loss = own ? DEVICE_LOSS_OWN : DEVICE_LOSS_SHARED;
    while (p->cause[0] == '\0') pthread_cond_wait(&p->changed, &p->lock);
    FAIL(t, CUZK_DEVICE_LOST, "the process of device %s-%u has ended: %s%s%s%s", p->options.backend,
         p->options.device.index, p->cause, blame != NULL ? ", since " : "", blame != NULL ? blame : "",
         own ? "" : "; more than one request was under way there");
    pthread_mutex_unlock(&p->lock);
    return CUZK_DEVICE_LOST;
}

/* -- exchanges ----------------------------------------------------------------------------------------------------------- */

struct exchange {
    unsigned channel;
    uint64_t limit_ms;            /* for the answer; 0: none */
    bool alone;                   /* as it entered */
    const struct device_run *run; /* NULL: no run */
    enum device_loss loss;
    bool answered; /* out: m is an answer, and not the request that could not be sent */
};

/* Locked.  Whether somebody works there: some other request is under way that does not say it waits. */
static bool another_works(struct device_process *p, unsigned channel)
{
    bool works = false;

    for (unsigned i = 0; i < channel_count(p); i++) {
        struct request_seen *s = &p->seen[i];
        const unsigned waits = atomic_load(&p->shared->waits[i]);
        if (waits != s->waits) s->moved_ns = clock_now_ns();
        s->waits = waits;
        works |= i != channel && s->under_way && clock_ms_since(s->moved_ns) > SILENT_MS;
    }
    return works;
}

/* What a request has said of waiting, and whether that is to be believed. */
struct patience {
    unsigned waits;
    uint64_t runs_answered;
};

static void begin_patience(struct device_process *p, struct patience *out, unsigned channel)
{
    pthread_mutex_lock(&p->lock);
    out->waits = atomic_load(&p->shared->waits[channel]);
    out->runs_answered = p->runs_answered;
    p->seen[channel] =
        (struct request_seen){ .under_way = true, .waits = out->waits, .moved_ns = clock_now_ns() };
    pthread_mutex_unlock(&p->lock);
}

static void end_patience(struct device_process *p, const struct exchange *x, bool counts)
{
    pthread_mutex_lock(&p->lock);
    p->seen[x->channel].under_way = false;
    p->runs_answered += counts && x->run != NULL;
    pthread_mutex_unlock(&p->lock);
}

/* Whether the request waits for others that come forward: one of them works, which has a limit of its own, or a run has been answered since
 * it was last believed.  Where all say that they wait, what they wait for is at fault, and their time passes. */
static bool waits_for_others(struct device_process *p, struct patience *last, unsigned channel)
{
    const unsigned waits = atomic_load(&p->shared->waits[channel]);
    const bool says_so = waits != last->waits;

    last->waits = waits;
    pthread_mutex_lock(&p->lock);
    const bool believed = another_works(p, channel) || p->runs_answered != last->runs_answered;
    if (says_so && believed) last->runs_answered = p->runs_answered;
    pthread_mutex_unlock(&p->lock);
    return says_so && believed;
}

/* How long the answer to what was told to stop may take now. */
static uint64_t grace_ms(const struct device_process *p)
{
    return atomic_load(&p->hurried) && p->options.grace_ms > DEVICE_END_MS ? DEVICE_END_MS : p->options.grace_ms;
}

/* Waits for an answer.  Returns what is wrong with the process, or NULL; *ended: it has closed the socket. */
static const char *await(struct device_process *p, struct task *t, const struct exchange *x,
                         struct device_message *m, uint32_t kind, uint64_t number, bool *ended)
{
    const uint64_t start_ns = clock_now_ns();
    struct patience patience;
    uint64_t cancel_ns = 0;

    *ended = false;
    begin_patience(p, &patience, x->channel);
    while (!readable(p->channel[x->channel], LOOK_MS)) {
        if (waits_for_others(p, &patience, x->channel) && x->run != NULL && x->run->begins != NULL)
            x->run->begins(x->run->context);
        if (x->limit_ms != 0 && clock_ms_since(start_ns) > (double)x->limit_ms)
            return "it did not answer in time";
        if (t->cancel == NULL || !atomic_load(t->cancel)) continue;
        if (cancel_ns == 0) {
            cancel_ns = clock_now_ns();
            atomic_store(&p->shared->cancel[x->channel], true);
        }
        if (clock_ms_since(cancel_ns) > (double)grace_ms(p))
            return "it did not stop when it was told to";
    }
    const int why = device_message_receive(m, p->channel[x->channel]);
    *ended = why == EPIPE;
    if (why != 0 || m->kind != (kind | DEVICE_ANSWER) || m->number != number) return NOT_UNDERSTOOD;
    return NULL;
}

/* Sends m and receives the answer into it, up to its error, which is the result's.  A user's, between enter and leave. */
static cuzk_status exchange(struct device_process *p, struct task *t, struct exchange *x,
                            struct device_message *m)
{
    const uint32_t kind = m->kind;
    bool ended = false;
    struct error e;

    x->loss = DEVICE_LOSS_NONE;
    x->answered = false;
    atomic_store(&p->shared->cancel[x->channel], false);
    pthread_mutex_lock(&p->lock);
    const uint64_t number = m->number = ++p->number;
    pthread_mutex_unlock(&p->lock);
    const int why = device_message_send(m, p->channel[x->channel]);
    m->fd_count = 0;                /* they were the sender's */
    if (why != 0 && why != EPIPE) { /* the process knows nothing of it, and is as it was */
        device_message_begin(m, kind, number);
        return FAIL(t, CUZK_NO_MEMORY, "a request for a device's process cannot be sent: %s", strerror(why));
    }
    const char *blame = NULL;
    if (why == 0)
        blame = await(p, t, x, m, kind, number, &ended);
    else
        ended = true;
    if (blame == NULL && !ended) {
        device_message_get_error(m, &e);
        if (m->broken) blame = NOT_UNDERSTOOD;
    }
    end_patience(p, x, blame == NULL && !ended && e.status != CUZK_CANCELLED);
    if (blame != NULL || ended) {
        device_message_drop(m);
        lost(p, t, x->channel, ended ? NULL : blame, &x->loss);
        /* It was over before the request came.  Nobody is blamed for that, but who was alone counts it: else a process that always
         * ends between two requests would be tried for ever. */
        if (why == EPIPE) x->loss = x->alone ? DEVICE_LOSS_OWN : DEVICE_LOSS_SHARED;
        return CUZK_DEVICE_LOST;
    }
    x->answered = true;
    if (e.status == CUZK_OK) return CUZK_OK;
    if (e.status == CUZK_DEVICE_LOST) { /* its context is gone with that of all others there */
        device_message_drop(m);
        t->error = e;
        lost(p, t, x->channel, NULL, &x->loss);
        return CUZK_DEVICE_LOST;
    }
    t->error = e;
    return e.status;
}

/* After an answer that was read to its end. */
static cuzk_status understood(struct device_process *p, struct task *t, struct exchange *x,
                              struct device_message *m, cuzk_status status)
{
    if (x->loss != DEVICE_LOSS_NONE) return status;
    const bool done = device_message_done(m);
    device_message_drop(m);
    if (done) return status;
    memset(&t->error, 0, sizeof t->error);
    return lost(p, t, x->channel, NOT_UNDERSTOOD, &x->loss);
}

static void put_circuit(struct device_message *m, const struct circuit *c, size_t index)
{
    device_message_put(m, index);
    device_message_put_text(m, c->name);
    device_message_put_text(m, c->kind->name);
    device_message_put_text(m, c->key_path);
    device_message_put_text(m, c->r1cs_path);
    device_message_put(m, (uint64_t)c->key_mode);
    device_message_put(m, c->table_id);
    device_message_put(m, c->note);
    device_message_put(m, c->batch.parts_most);
    device_message_put(m, c->batch.beside);
    device_message_put(m, c->batch.device_bytes);
    device_message_put(m, c->batch.host_bytes);
}

static void put_bytes(struct device_message *m, const struct bytes *b)
{
    for (int i = 0; i < BYTES_KINDS; i++) device_message_put(m, b->of[i]);
}

static void get_bytes(struct device_message *m, struct bytes *b)
{
    for (int i = 0; i < BYTES_KINDS; i++) b->of[i] = device_message_get(m);
}

cuzk_status device_process_measure(struct device_process *p, struct task *t, struct circuit *c, size_t index)
{
    struct exchange x = { .channel = p->options.lane_count, .limit_ms = p->options.load_ms };
    struct device_message m;
    struct circuit got = *c;

    TRY(enter(p, t, false, true));
    device_message_begin(&m, DEVICE_MEASURE, 0);
    put_circuit(&m, c, index);
    cuzk_status status = exchange(p, t, &x, &m);
    if (status == CUZK_OK) {
        get_bytes(&m, &got.key_bytes);
        get_bytes(&m, &got.synthesis_bytes);
        get_bytes(&m, &got.carry_bytes);
        get_bytes(&m, &got.prove_bytes);
        got.key_own_bytes = device_message_get(&m);
        got.key_mode = (enum groth16_key_mode)device_message_get(&m);
        got.table_id = (unsigned)device_message_get(&m);
        got.table_bytes = device_message_get(&m);
        got.note = device_message_get(&m);
        got.batch.parts_most = (unsigned)device_message_get(&m);
        got.batch.beside = device_message_get(&m) != 0;
        get_bytes(&m, &got.batch.key_bytes);
        get_bytes(&m, &got.batch.run_bytes);
        got.batch.own_bytes = device_message_get(&m);
        got.batch.device_bytes = device_message_get(&m);
        got.batch.host_bytes = device_message_get(&m);
        if (got.key_mode > KEY_MODE_DERIVED || got.batch.parts_most > JOB_BATCH_MOST) m.broken = true;
    }
    status = understood(p, t, &x, &m, status);
    leave(p, false);
    if (status == CUZK_OK) *c = got;
    return status;
}

/* Others wait for the key meanwhile. */
static uint64_t load_limit_ms(const struct device_process *p, const struct circuit *c)
{
    const uint64_t gib = (c->key_bytes.of[BYTES_HEAP] >> 30) + 1, most = p->options.load_ms;

    return gib < DEVICE_LOAD_MS / DEVICE_LOAD_GIB_MS && DEVICE_LOAD_LEAST_MS + gib * DEVICE_LOAD_GIB_MS < most
               ? DEVICE_LOAD_LEAST_MS + gib * DEVICE_LOAD_GIB_MS
               : most;
}

cuzk_status device_process_load(struct device_process *p, struct task *t, const struct circuit *c,
                                size_t index, uint64_t mark)
{
    struct exchange x = { .channel = p->options.lane_count, .limit_ms = load_limit_ms(p, c) };
    struct device_message m;

    if (enter(p, t, false, false) != CUZK_OK) return CUZK_OK; /* the first proof there loads it */
    device_message_begin(&m, DEVICE_LOAD, 0);
    put_circuit(&m, c, index);
    device_message_put(&m, mark);
    const cuzk_status status = understood(p, t, &x, &m, exchange(p, t, &x, &m));
    leave(p, false);
    if (x.loss == DEVICE_LOSS_NONE) return status;
    log_warn(t, "%s; the first proof loads the key there", t->error.text);
    memset(&t->error, 0, sizeof t->error);
    return CUZK_OK;
}

void device_process_unload(struct device_process *p, size_t index)
{
    struct exchange x = { .channel = p->options.lane_count, .limit_ms = UNLOAD_MS };
    struct device_message m;
    struct task t;

    task_init(&t);
    if (enter(p, &t, false, false) != CUZK_OK) return; /* nothing is loaded */
    device_message_begin(&m, DEVICE_UNLOAD, 0);
    device_message_put(&m, index);
    if (understood(p, &t, &x, &m, exchange(p, &t, &x, &m)) != CUZK_OK) log_warn(NULL, "%s", t.error.text);
    leave(p, false);
}

/* -- runs ---------------------------------------------------------------------------------------------------------------- */

/* The proof, and nothing else: what is said about it is for this process to write, once it has verified. */
static cuzk_status take_output(struct task *t, struct part_output *out, struct device_message *m)
{
    const uint64_t bytes = device_message_get(m);
    const int fd = device_message_take_fd(m);

    if (bytes > OUTPUT_MOST || m->broken) {
        if (fd >= 0) close(fd);
        m->broken = true;
        return CUZK_OK;
    }
    const cuzk_status status = device_blob_read(t, &out->proof, fd, bytes);
    if (status == CUZK_DEVICE_LOST) m->broken = true;
    if (status == CUZK_OK) out->proof_bytes = bytes;
    return status;
}

/* What the proof is made from. */
static cuzk_status make_input(struct device_blob *b, struct task *t, const struct part_input *in,
                              const void *carry)
{
    const struct job_kind *kind = in->circuit->kind;

    if (carry != NULL) {
        TRY(device_blob_create(b, t, kind->carry_size(carry)));
        kind->carry_write(b->data, carry);
        return CUZK_OK;
    }
    TRY(device_blob_create(b, t, in->payload.size));
    if (in->payload.size != 0) memcpy(b->data, in->payload.data, in->payload.size);
    return CUZK_OK;
}

/* Proofs of a batch, in a row. */
static cuzk_status take_outputs(struct task *t, struct part_output *out, unsigned count, struct device_message *m)
{
    uint64_t sizes[JOB_BATCH_MOST], all = 0;
    uint8_t *proofs = NULL;

    for (unsigned i = 0; i < count; i++) {
        sizes[i] = device_message_get(m);
        if (sizes[i] > OUTPUT_MOST) m->broken = true;
        all += sizes[i] > OUTPUT_MOST ? 0 : sizes[i];
    }
    const int fd = device_message_take_fd(m);
    if (m->broken) {
        if (fd >= 0) close(fd);
        return CUZK_OK;
    }
    cuzk_status status = device_blob_read(t, &proofs, fd, all);
    if (status == CUZK_DEVICE_LOST) m->broken = true;
    for (unsigned i = 0, at = 0; status == CUZK_OK && i < count; at += (unsigned)sizes[i], i++) {
        if (sizes[i] == 0) continue;
        out[i].proof = malloc(sizes[i]);
        if (out[i].proof == NULL) {
            status = FAIL(t, CUZK_NO_MEMORY, "no memory for a proof");
            break;
        }
        memcpy(out[i].proof, proofs + at, sizes[i]);
        out[i].proof_bytes = sizes[i];
    }
    free(proofs);
    return status;
}

/* parts NULL: one, in->part. */
static cuzk_status prove_there(struct device_process *p, struct task *t, struct part_output *out,
                               struct device_run *run, const struct part_input *in, const unsigned *parts, unsigned count,
                               const struct device_blob *b, bool carried, const struct bytes *granted)
{
    struct exchange x = { .channel = run->channel, .alone = run->alone, .run = run };
    struct device_message m;

    device_message_begin(&m, parts != NULL ? DEVICE_PROVE_PARTS : DEVICE_PROVE, 0);
    put_circuit(&m, in->circuit, run->circuit_index);
    device_message_put(&m, run->key_mark);
    device_message_put(&m, in->part);
    device_message_put(&m, in->part_count);
    put_bytes(&m, granted);
    device_message_put_octets(&m, in->parameters.data, in->parameters.size);
    device_message_put(&m, carried);
    device_message_put(&m, b->bytes);
    device_message_put_fd(&m, b->fd);
    if (parts != NULL) device_message_put(&m, count);
    for (unsigned i = 0; parts != NULL && i < count; i++) device_message_put(&m, parts[i]);
    cuzk_status status = exchange(p, t, &x, &m);
    if (x.loss == DEVICE_LOSS_NONE && x.answered) {
        run->key_changed = device_message_get(&m) == 1;
        if (status == CUZK_OK) status = parts != NULL ? take_outputs(t, out, count, &m) : take_output(t, out, &m);
    }
    status = understood(p, t, &x, &m, status);
    run->loss = x.loss;
    return status;
}

static cuzk_status run_there(struct device_process *p, struct task *t, struct part_output *out, struct device_run *run,
                             const struct part_input *in, const unsigned *parts, unsigned count, const void *carry,
                             const struct bytes *granted)
{
    struct device_blob b = DEVICE_NO_BLOB;

    run->loss = DEVICE_LOSS_NONE;
    run->key_changed = false;
    TRY(enter(p, t, run->alone, true));
    if (run->begins != NULL) run->begins(run->context);
    cuzk_status status = make_input(&b, t, in, carry);
    if (status == CUZK_OK) status = prove_there(p, t, out, run, in, parts, count, &b, carry != NULL, granted);
    leave(p, run->alone);
    device_blob_close(&b, true);
    return status;
}

cuzk_status device_process_prove(struct device_process *p, struct task *t, struct part_output *out,
                                 struct device_run *run, const struct part_input *in, const void *carry,
                                 const struct bytes *granted)
{
    return run_there(p, t, out, run, in, NULL, 1, carry, granted);
}

cuzk_status device_process_prove_parts(struct device_process *p, struct task *t, struct part_output *out,
                                       struct device_run *run, const struct part_input *in, const unsigned *parts,
                                       unsigned count, const struct bytes *granted)
{
    return run_there(p, t, out, run, in, parts, count, NULL, granted);
}

cuzk_status device_process_test(struct device_process *p, struct task *t, unsigned channel)
{
    struct exchange x = { .channel = channel, .limit_ms = p->options.test_ms };
    struct device_message m;
    cuzk_status status = CUZK_OK;
    unsigned own = 0;

    for (int i = 0; i < TEST_TRIES; i++) {
        memset(&t->error, 0, sizeof t->error);
        TRY(enter(p, t, i > 0, true));
        device_message_begin(&m, DEVICE_TEST, 0);
        status = understood(p, t, &x, &m, exchange(p, t, &x, &m));
        leave(p, i > 0);
        own += x.loss == DEVICE_LOSS_OWN;
        if (x.loss == DEVICE_LOSS_NONE || own == 2) return status;
    }
    return status;
}

/* -- life ---------------------------------------------------------------------------------------------------------------- */

void device_process_info(const struct device_process *p, struct device_info *out) { *out = p->info; }

uint64_t device_process_restarts(struct device_process *p)
{
    pthread_mutex_lock(&p->lock);
    const uint64_t starts = p->starts;
    pthread_mutex_unlock(&p->lock);
    return starts > 0 ? starts - 1 : 0;
}

static cuzk_status begin_keeper(struct device_process *p, struct task *t)
{
    TRY(device_blob_create(&p->page, t, sizeof *p->shared));
    p->shared = (struct device_shared *)(void *)p->page.data;
    const int why = thread_start(&p->keeper, "cuzk-keeper", keeper_main, p);
    if (why != 0) return FAIL(t, CUZK_NO_MEMORY, "a thread cannot be started: %s", strerror(why));
    p->keeper_runs = true;
    TRY(enter(p, t, false, true));
    leave(p, false);
    return CUZK_OK;
}

cuzk_status device_process_open(struct device_process **out, struct task *t,
                                const struct device_process_options *o)
{
    pthread_condattr_t monotonic;
    struct device_process *p = calloc(1, sizeof *p);

    if (p == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a device's process");
    p->options = *o;
    if (p->options.test_ms == 0) p->options.test_ms = DEVICE_TEST_MS;
    if (p->options.load_ms == 0) p->options.load_ms = DEVICE_LOAD_MS;
    p->page = DEVICE_NO_BLOB;
    p->control = -1;
    for (unsigned i = 0; i < DEVICE_CHANNELS; i++) p->channel[i] = -1;
    p->reaped = true;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    const cuzk_status status = begin_keeper(p, t);
    if (status == CUZK_OK)
        *out = p;
    else
        device_process_close(p);
    return status;
}

void device_process_hurry(struct device_process *p)
{
    if (p != NULL) atomic_store(&p->hurried, true);
}

void device_process_close(struct device_process *p)
{
    if (p == NULL) return;
    if (p->keeper_runs) {
        pthread_mutex_lock(&p->lock);
        while (p->state == PROCESS_WANTED || p->state == PROCESS_STARTING) wait_changed(p, LOOK_MS);
        p->quit = true;
        if (p->state == PROCESS_UP) quit_it(p);
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->keeper, NULL);
    }
    device_blob_close(&p->page, false);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
