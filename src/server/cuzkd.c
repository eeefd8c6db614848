/* cuzkd: the proving daemon.  Reads its configuration, opens the engine, serves gRPC, and ends when it is told to.
 *
 * SIGTERM or SIGINT drains: no new jobs, those that are there may end until drain_timeout has passed.  A second one stops at once;
 * durable jobs stay in the journal in either case. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mapguard.h"
#include "base/status.h"
#include "engine/engine.h"
#include "server/config.h"
#include "server/heap.h"
#include "server/service.h"
#include "wire/listener.h"
#include "wire/rpc.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUBMIT_WORKERS 4    /* threads that read and digest requests for jobs */
#define POLL_MS        50   /* while draining */
#define CALLS_GRACE_MS 2000 /* for answers on their way when the server stops */

static const char help[] =
    "usage: cuzkd [--config FILE] [--check-config] [flags]\n"
    "\n"
    "Proves for many clients over gRPC (service cuzk.v1.ProvingEngine) and keeps the keys in memory.  "
    "Without --config it reads\n" CONFIG_DEFAULT_PATH
    " if that is there.  A flag has precedence over the file.  SIGTERM drains; a second one stops at once.\n"
    "\n"
    "A first service, for one circuit:\n"
    "  cuzkd --circuit membership=membership.zkey\n"
    "  cuzk submit 127.0.0.1:9820 membership witness.wtns --wait\n"
    "\n"
    "  --config FILE                                  a TOML file: [table] key = value\n"
    "  --check-config                                 print what is in force, as such a file, and end\n"
    "  --circuit NAME=KEY[,R1CS]                      a circuit that jobs may name, as in the table "
    "[circuits]; may come often\n"
    "  --help, --version\n";

/* -- the configuration --------------------------------------------------------------------------------------------------- */

static void warn(const char *text) { log_warn(NULL, "%s", text); }

static int fail(const struct task *t)
{
    const struct error *e = &t->error;
    fprintf(stderr, "cuzkd: error: %s%s%s\n", e->path, e->path[0] ? ": " : "", e->text);
    if (e->advice[0]) fprintf(stderr, "  what to do: %s\n", e->advice);
    return status_exit_code(e->status);
}

static cuzk_status take_flags(struct config *c, struct task *t, int argc, char **argv, bool *check_only)
{
    for (int i = 1; i < argc;) {
        int used;
        if (!strcmp(argv[i], "--check-config")) {
            *check_only = true;
            i++;
            continue;
        }
        if (!strncmp(argv[i], "--config=", 9)) {
            i++;
            continue;
        }
        if (!strcmp(argv[i], "--config")) {
            i += 2;
            continue;
        }
        TRY(config_flag(c, t, argc - i, argv + i, &used));
        if (!used) {
            const char *nearest = config_nearest_flag(argv[i]);
            FAIL(t, CUZK_INVALID_ARGUMENT, "unknown argument %s", argv[i]);
            char advice[128];
            snprintf(advice, sizeof advice, "did you mean %s?", nearest ? nearest : "");
            task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL,
                            nearest ? advice : "cuzkd --help lists the flags");
            return t->error.status;
        }
        i += used;
    }
    return CUZK_OK;
}

/* --config's file, or the usual one if it is there. */
static cuzk_status take_file(struct config *c, struct task *t, int argc, char **argv)
{
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        const bool joined = !strncmp(argv[i], "--config=", 9);
        if (!joined && strcmp(argv[i], "--config")) continue;
        if (!joined && i + 1 == argc) return FAIL(t, CUZK_INVALID_ARGUMENT, "--config needs a file");
        if (path) return FAIL(t, CUZK_INVALID_ARGUMENT, "--config names two files; cuzkd reads one");
        path = joined ? argv[i] + 9 : argv[++i];
    }
    if (path) return config_read_file(c, t, path);
    return access(CONFIG_DEFAULT_PATH, F_OK) ? CUZK_OK : config_read_file(c, t, CONFIG_DEFAULT_PATH);
}

static cuzk_status take_config(struct config *c, struct task *t, int argc, char **argv, bool *check_only)
{
    TRY(config_init(c, t, warn));
    TRY(take_file(c, t, argc, argv));
    TRY(take_flags(c, t, argc, argv, check_only));
    return config_check(c, t);
}

/* The circuits of [circuits]. */
static cuzk_status configured_circuits(struct engine_circuit *out, struct task *t, const struct config *c)
{
    for (size_t i = 0; i < c->circuit_count; i++) {
        const struct config_circuit *from = &c->circuits[i];
        const char *kind = from->kind ? from->kind : "circom";
        out[i] = (struct engine_circuit){ .name = from->name,
                                          .kind = job_kind_by_name(kind),
                                          .key_path = from->key,
                                          .r1cs_path = from->r1cs,
                                          .key_mode = (enum engine_key_mode)c->numbers[CONFIG_KEY_MODE],
                                          .preload = from->preload };
        if (!out[i].kind)
            return FAIL(t, CUZK_UNSUPPORTED, "circuit %s: this build of cuzkd has no kind '%s'", from->name,
                        kind);
    }
    return CUZK_OK;
}

/* Those of the parameter cache, behind the configured ones of other names.  A folder that nobody named need not be there. */
static cuzk_status cached_circuits(struct engine_circuit *out, size_t *count, struct task *t,
                                   const char *named, enum engine_key_mode mode)
{
    const char *folder = named[0] ? named : engine_parameter_folder();
    struct engine_circuit found[ENGINE_FOUND_MOST];
    size_t found_count;
    if (!named[0] && access(folder, F_OK)) return CUZK_OK;
    TRY(engine_find_circuits(found, &found_count, t, folder));
    log_info(NULL, "%s holds the parameters of %zu circuits", folder, found_count);
    const size_t configured = *count;
    for (size_t i = 0; i < found_count; i++) {
        size_t same = 0;
        while (same < configured && strcmp(out[same].name, found[i].name)) same++;
        found[i].key_mode = mode;
        if (same == configured) out[(*count)++] = found[i];
    }
    return CUZK_OK;
}

static cuzk_status mark_preloads(struct engine_circuit *circuits, size_t count, struct task *t,
                                 const struct config *c)
{
    char name[CONFIG_ITEM_BYTES];
    for (size_t item = 0; config_item(c, CONFIG_PRELOAD, item, name, sizeof name); item++) {
        size_t i = 0;
        while (i < count && strcmp(circuits[i].name, name)) i++;
        if (i == count) {
            FAIL(t, CUZK_NOT_FOUND, "srs.preload names %s, whose parameters are not in %s", name,
                 c->texts[CONFIG_PARAM_CACHE][0] ? c->texts[CONFIG_PARAM_CACHE] : engine_parameter_folder());
            task_fail_place(t, NULL, ERROR_NO_OFFSET, "srs.preload",
                            "set [srs] param_cache or FIL_PROOFS_PARAMETER_CACHE; lotus fetch-params fetches "
                            "parameters");
            return t->error.status;
        }
        circuits[i].preload = true;
    }
    return CUZK_OK;
}

/* [gpus], for a backend whose devices have memory of their own. */
static cuzk_status take_devices(struct engine_options *o, struct task *t,
                                unsigned devices[ENGINE_DEVICES_MOST], const struct config *c)
{
    char number[16];
    if (!strcmp(o->backend, "cpu")) return CUZK_OK;
    for (; config_item(c, CONFIG_DEVICES, o->device_count, number, sizeof number); o->device_count++) {
        if (o->device_count == ENGINE_DEVICES_MOST)
            return FAIL(t, CUZK_INVALID_ARGUMENT, "gpus.devices names more than %d devices",
                        ENGINE_DEVICES_MOST);
        devices[o->device_count] = (unsigned)strtoul(number, NULL, 10);
    }
    if (o->device_count == 0) devices[o->device_count++] = 0;
    o->devices = devices;
    if (c->numbers[CONFIG_GPU_WORKERS])
        o->lane_count = (unsigned)(c->numbers[CONFIG_GPU_WORKERS] * o->device_count);
    else if (o->lane_count < o->device_count)
        o->lane_count = (unsigned)o->device_count;
    o->device_bytes = c->numbers[CONFIG_GPU_MEMORY];
    o->pinned_bytes = c->numbers[CONFIG_PINNED];
    o->batches_never = c->numbers[CONFIG_GPU_BATCHES] == 0;
    return CUZK_OK;
}

static cuzk_status open_engine(struct engine **out, struct task *t, const struct config *c)
{
    unsigned devices[ENGINE_DEVICES_MOST];
    static struct engine_circuit circuits[CONFIG_CIRCUITS_MOST + ENGINE_FOUND_MOST];
    struct engine_options o = ENGINE_DEFAULTS;
    o.circuit_count = c->circuit_count;
    TRY(configured_circuits(circuits, t, c));
    TRY(cached_circuits(circuits, &o.circuit_count, t, c->texts[CONFIG_PARAM_CACHE],
                        (enum engine_key_mode)c->numbers[CONFIG_KEY_MODE]));
    TRY(mark_preloads(circuits, o.circuit_count, t, c));
    o.circuits = circuits;
    o.backend = c->texts[CONFIG_BACKEND];
    o.lane_count = (unsigned)c->numbers[CONFIG_LANES];
    TRY(take_devices(&o, t, devices, c));
    o.threads = (unsigned)c->numbers[CONFIG_THREADS];
    o.heap_bytes = c->numbers[CONFIG_BUDGET];
    if (c->numbers[CONFIG_MARGIN]) o.margin_bytes = c->numbers[CONFIG_MARGIN];
    o.queue_most = (unsigned)c->numbers[CONFIG_QUEUED_JOBS];
    o.queue_most_bytes = c->numbers[CONFIG_QUEUED_BYTES];
    o.result_most = (unsigned)c->numbers[CONFIG_RESULTS];
    o.result_keep_ms = c->numbers[CONFIG_RESULT_KEEP];
    o.ageing_ms = c->numbers[CONFIG_AGEING];
    o.group_window_ms = c->numbers[CONFIG_GROUP];
    o.evict_idle_ms = c->numbers[CONFIG_EVICT_IDLE];
    o.watchdog_ms = c->numbers[CONFIG_WATCHDOG];
    o.job_ttl_ms = c->numbers[CONFIG_TTL];
    o.cancel_when_alone = c->numbers[CONFIG_CANCEL_ALONE] != 0;
    o.attempts_most = (unsigned)c->numbers[CONFIG_ATTEMPTS];
    o.lane_strikes_most = (unsigned)c->numbers[CONFIG_STRIKES];
    o.process = (enum engine_process)c->numbers[CONFIG_PROCESS];
    o.data_folder = c->texts[CONFIG_DATA][0] ? c->texts[CONFIG_DATA] : NULL;
    return engine_open(out, t, &o);
}

/* -- draining ------------------------------------------------------------------------------------------------------------ */

struct count {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool told;
    size_t jobs;
};

static void told_count(void *context, const struct engine_view *view)
{
    struct count *n = context;
    pthread_mutex_lock(&n->lock);
    n->jobs = view->job_count;
    n->told = true;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
}

static size_t unfinished_jobs(struct engine *e)
{
    struct count n = { .told = false };
    pthread_mutex_init(&n.lock, NULL);
    pthread_cond_init(&n.changed, NULL);
    engine_look(e, told_count, &n);
    pthread_mutex_lock(&n.lock);
    while (!n.told) pthread_cond_wait(&n.changed, &n.lock);
    pthread_mutex_unlock(&n.lock);
    pthread_cond_destroy(&n.changed);
    pthread_mutex_destroy(&n.lock);
    return n.jobs;
}

/* Until no job is left, the time is over, or a signal comes. */
static void drain(struct engine *e, const sigset_t *signals, uint64_t timeout_ms)
{
    const uint64_t start_ns = clock_now_ns();
    const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
    size_t jobs = unfinished_jobs(e);
    log_info(NULL, "draining: %zu jobs, for %llu s at most", jobs, (unsigned long long)(timeout_ms / 1000));
    while (jobs > 0 && clock_ms_since(start_ns) < (double)timeout_ms) {
        if (sigtimedwait(signals, NULL, &pause) > 0) {
            log_info(NULL, "stopping at once: %zu jobs are not finished", unfinished_jobs(e));
            return;
        }
        jobs = unfinished_jobs(e);
    }
    if (jobs) log_warn(NULL, "the time to drain is over: %zu jobs are not finished", jobs);
}

/* -- serving ------------------------------------------------------------------------------------------------------------- */

static cuzk_status listen_everywhere(struct rpc_server *server, struct task *t, const struct config *c)
{
    char address[CONFIG_ITEM_BYTES], bound[ADDRESS_BYTES + 8];
    for (size_t i = 0; config_item(c, CONFIG_LISTEN, i, address, sizeof address); i++) {
        struct address parsed;
        TRY(address_parse(&parsed, t, address));
        TRY(rpc_server_listen(server, t, address, bound, sizeof bound));
        if (!address_is_local(&parsed))
            log_warn(NULL,
                     "%s can be reached from other machines, without encryption or passwords: put a proxy "
                     "with TLS before it",
                     bound);
        log_info(NULL, "listening on %s", bound);
    }
    return CUZK_OK;
}

static cuzk_status serve(struct task *t, const struct config *c, const sigset_t *signals)
{
    struct engine *engine = NULL;
    struct service *service = NULL;
    struct rpc_server *server = NULL;
    const struct rpc_options options = { .message_most_bytes = c->numbers[CONFIG_MESSAGE],
                                         .flight_most_bytes = c->numbers[CONFIG_FLIGHT],
                                         .connection_most = (unsigned)c->numbers[CONFIG_CONNECTIONS],
                                         .worker_count = SUBMIT_WORKERS };
    cuzk_status status;
    TRY_GOTO(out, open_engine(&engine, t, c));
    TRY_GOTO(out, service_create(&service, t, engine));
    if (c->texts[CONFIG_WITNESSES][0])
        TRY_GOTO(out, service_take_files(service, t, c->texts[CONFIG_WITNESSES], c->numbers[CONFIG_MESSAGE]));
    TRY_GOTO(out, rpc_server_open(&server, t, &options, service_methods, service_method_count, service));
    TRY_GOTO(out, listen_everywhere(server, t, c));
    TRY_GOTO(out, rpc_server_start(server, t));
    if (!c->texts[CONFIG_DATA][0]) log_warn(NULL, "no job survives a crash: [jobs] data names no folder");
    log_info(NULL, "cuzkd %s is ready", CUZK_VERSION);

    int number;
    while (sigwait(signals, &number)) continue;
    service_drain(service);
    drain(engine, signals, c->numbers[CONFIG_DRAIN]);
out:
    if (service) service_detach(service);
    engine_close(engine, 0); /* answers all that wait */
    if (server) rpc_server_stop(server, CALLS_GRACE_MS);
    rpc_server_close(server);
    service_destroy(service);
    return status;
}

int main(int argc, char **argv)
{
    struct task t;
    static struct config config;
    bool check_only = false;
    heap_settle();
    const int of_device = engine_device_main(argc, argv);
    if (of_device >= 0) return of_device;
    task_init(&t);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            config_print_help(stdout);
            return 0;
        }
        if (!strcmp(argv[i], "--version")) {
            puts("cuzkd " CUZK_VERSION);
            return 0;
        }
    }
    signal(SIGPIPE, SIG_IGN);
    mapguard_start();
    cuzk_status status = take_config(&config, &t, argc, argv, &check_only);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(
        SIG_BLOCK, &signals,
        NULL); /* before any thread starts; while the configuration is read they end the process */
    if (status == CUZK_OK && check_only) {
        config_print(&config, stdout);
    } else if (status == CUZK_OK) {
        log_setup((enum log_level)config.numbers[CONFIG_LOG_LEVEL],
                  (enum log_format)config.numbers[CONFIG_LOG_FORMAT]);
        status = serve(&t, &config, &signals);
        if (status == CUZK_OK) log_info(NULL, "cuzkd has ended");
    }
    const int exit_code = status == CUZK_OK ? 0 : fail(&t);
    config_fini(&config);
    return exit_code;
}
