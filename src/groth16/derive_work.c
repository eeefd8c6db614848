/* Checkpoints of a derivation: the points of its transforms between two passes, in a file beside the derived key to be. */
#include "groth16/derive_work.h"
#include "base/bytes.h"
#include "base/tempfile.h"
#include "base/thread.h"
#include "groth16/chunks.h"
#include "groth16/key_derived.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC       "cuzk-drw"
#define MAGIC_BYTES 8
#define VERSION     1
#define PAGE        4096 /* a record lies in one, so that a torn write damages one record */
#define CHUNK       ((uint64_t)1 << 24)
#define HASH_PIECE  ((size_t)1 << 24)
#define WAIT_NS     10000000 /* for the key's digest, between two looks at whether the task is to stop */
/* Of what writing the last one took: so writing takes at most a ninth of the time, and a third about where a transform ends, whose points no later
 * checkpoint holds. */
#define COST_FACTOR     8
#define COST_FACTOR_END 2

/* Offsets in the head, and in a record. */
enum {
    AT_VERSION = 8,
    AT_CURVE = 12,
    AT_CONVENTION = 16,
    AT_LOG2 = 20,
    AT_VECTORS = 24,
    AT_PASSES = 28,
    AT_STEPS = 32,
    AT_KEY_BYTES = 40,
    AT_KEY_DIGEST = 48,
    AT_HEAD_DIGEST = AT_KEY_DIGEST + SHA256_BYTES,
    HEAD_BYTES = AT_HEAD_DIGEST + SHA256_BYTES,

    AT_SEQUENCE = 0,
    AT_VECTOR = 8,
    VECTOR_BYTES = 8 + SHA256_BYTES,
    AT_RECORD_DIGEST = AT_VECTOR + DERIVE_WORK_MOST * VECTOR_BYTES,
    RECORD_BYTES = AT_RECORD_DIGEST + SHA256_BYTES,
};

/* -- saying -------------------------------------------------------------------------------------------------------------- */

static void note(const struct derive_work *w, const char *format, ...) PRINTF_LIKE(2, 3);
static void note(const struct derive_work *w, const char *format, ...)
{
    char text[1024];
    va_list args;

    if (w->options == NULL || w->options->note == NULL) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->options->note(w->options->context, text);
}

/* -- the key's digest ------------------------------------------------------------------------------------------------------ */

static void *hash_key(void *context)
{
    struct derive_work *w = context;
    const struct span file = w->key->file.bytes;
    struct sha256 s;

    sha256_init(&s);
    for (size_t at = 0; at < file.size; at += HASH_PIECE) {
        if (atomic_load_explicit(&w->stop, memory_order_relaxed)) return NULL;
        sha256_update(&s, file.data + at, file.size - at < HASH_PIECE ? file.size - at : HASH_PIECE);
    }
    sha256_final(&s, w->key_digest);
    atomic_store_explicit(&w->hashed, true, memory_order_release);
    return NULL;
}

/* A large file takes as long as a transform on a card: meanwhile. */
static void start_hashing(struct derive_work *w)
{
    if (w->digest_known) return;
    w->hashes = thread_start(&w->hashing, "cuzk-key-hash", hash_key, w) == 0;
}

/* In short steps: from a slow disk a large file takes minutes. */
static cuzk_status wait_for_hash(const struct derive_work *w, struct task *t)
{
    const struct timespec step = { .tv_nsec = WAIT_NS };

    while (!atomic_load_explicit(&w->hashed, memory_order_acquire)) {
        TRY(task_poll(t));
        nanosleep(&step, NULL);
    }
    return CUZK_OK;
}

cuzk_status derive_work_key_digest(struct derive_work *w, struct task *t, uint8_t out[SHA256_BYTES])
{
    if (w->hashes) {
        TRY(wait_for_hash(w, t));
        pthread_join(w->hashing, NULL);
        w->hashes = false;
        groth16_key_note_sha256(w->key, w->key_digest);
    } else if (!w->digest_known) {
        groth16_key_sha256(w->key, w->key_digest);
    }
    w->digest_known = true;
    memcpy(out, w->key_digest, SHA256_BYTES);
    return CUZK_OK;
}

/* -- bytes --------------------------------------------------------------------------------------------------------------- */

static size_t vector_bytes(const struct derive_work *w)
{
    return w->key->domain.size * w->key->curve->g1.aff_bytes;
}

static uint64_t area_offset(const struct derive_work *w, uint32_t area)
{
    const uint64_t bytes = (vector_bytes(w) + PAGE - 1) / PAGE * PAGE;

    return 3 * PAGE + area * bytes;
}

/* All bytes, or an errno. */
static int read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
    uint8_t *p = to;

    while (bytes > 0) {
        const ssize_t got = pread(fd, p, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) return ENODATA;
        p += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return 0;
}

static int write_at(int fd, const void *from, size_t bytes, uint64_t offset)
{
    const uint8_t *p = from;

    while (bytes > 0) {
        const ssize_t put = pwrite(fd, p, bytes, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        p += put;
        offset += (uint64_t)put;
        bytes -= (size_t)put;
    }
    return 0;
}

/* Everything in a head but whose key it is. */
static void write_head(const struct derive_work *w, uint8_t head[HEAD_BYTES])
{
    const struct groth16_key *key = w->key;

    memset(head, 0, HEAD_BYTES);
    memcpy(head, MAGIC, MAGIC_BYTES);
    store_le32(head + AT_VERSION, VERSION);
    store_le32(head + AT_CURVE, (uint32_t)key->curve->id);
    store_le32(head + AT_CONVENTION, (uint32_t)key->domain.convention);
    store_le32(head + AT_LOG2, key->domain.log2);
    store_le32(head + AT_VECTORS, w->vectors);
    store_le32(head + AT_PASSES, w->passes);
    store_le32(head + AT_STEPS, w->steps);
    store_le64(head + AT_KEY_BYTES, key->file.bytes.size);
}

static void record_digest(const struct derive_work *w, const uint8_t *record, uint8_t out[SHA256_BYTES])
{
    struct sha256 s;

    sha256_init(&s);
    sha256_update(&s, w->head_digest, sizeof w->head_digest);
    sha256_update(&s, record, AT_RECORD_DIGEST);
    sha256_final(&s, out);
}

/* A vector's points between memory and file, chunk by chunk on all threads; the digest is that of the chunks' digests. */
struct transfer {
    const struct derive_work *w;
    uint8_t *points;
    uint64_t offset;
    bool writes;
    uint8_t *digests;
    atomic_int why; /* errno of a chunk */
};

static cuzk_status transfer_chunk(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    struct transfer *x = context;
    const int why = x->writes ? write_at(x->w->fd, x->points + begin, end - begin, x->offset + begin)
                              : read_at(x->w->fd, x->points + begin, end - begin, x->offset + begin);

    (void)t;
    sha256_of(x->digests + begin / CHUNK * SHA256_BYTES, x->points + begin, end - begin);
    if (why != 0) atomic_store(&x->why, why);
    return CUZK_OK;
}

/* *why an errno, or 0. */
static cuzk_status transfer(struct derive_work *w, struct task *t, uint32_t area, bool writes,
                            uint8_t *points, uint8_t digest[SHA256_BYTES], int *why)
{
    const uint64_t bytes = vector_bytes(w), chunks = (bytes + CHUNK - 1) / CHUNK;
    struct transfer x = { .w = w, .points = points, .offset = area_offset(w, area), .writes = writes };
    cuzk_status status = CUZK_OK;

    *why = ENOMEM;
    x.digests = malloc(chunks * SHA256_BYTES);
    if (x.digests == NULL) return CUZK_OK;
    atomic_init(&x.why, 0);
    status = chunks_run(t, writes ? "writing a checkpoint" : "reading a checkpoint", bytes, CHUNK,
                        transfer_chunk, &x);
    sha256_of(digest, x.digests, chunks * SHA256_BYTES);
    *why = atomic_load(&x.why);
    free(x.digests);
    return status;
}

/* -- finding ------------------------------------------------------------------------------------------------------------- */

enum lock { LOCKED, GONE, HELD, REFUSED };

/* Whether an open file may be trusted and nobody else holds it; what: else why not. */
static enum lock lock_file(const struct derive_work *w, char *what, size_t what_bytes)
{
    struct stat st, named;

    if (fstat(w->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        snprintf(what, what_bytes, "is not a plain file");
        return REFUSED;
    }
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
        snprintf(what, what_bytes, "is not this user's alone");
        return REFUSED;
    }
    if (flock(w->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            snprintf(what, what_bytes, "is in use by another derivation");
            return HELD;
        }
        snprintf(what, what_bytes, "cannot be locked: %s", strerror(errno));
        return REFUSED;
    }
    if (stat(w->path, &named) == 0 && named.st_ino == st.st_ino && named.st_dev == st.st_dev) return LOCKED;
    snprintf(what, what_bytes, "was removed by another derivation");
    return GONE;
}

/* Takes hold of the file that is there, or of a new one.  False: there is none, or none that may be used. */
static bool take_file(struct derive_work *w, bool make)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (make ? O_CREAT | O_EXCL : 0);
    char what[256];
    enum lock lock = GONE;

    /* One that another derivation ended with between the two calls says nothing of the next. */
    for (int attempt = 0; attempt < 2 && lock == GONE; attempt++) {
        w->fd = open(w->path, flags, 0600);
        if (w->fd < 0) {
            if (errno == ENOENT && !make) return false;
            snprintf(what, sizeof what, "could not be %s: %s", make ? "made" : "opened", strerror(errno));
            break;
        }
        lock = lock_file(w, what, sizeof what);
        if (lock == LOCKED) return true;
        if (lock == REFUSED && make) unlink(w->path); /* nobody else can have taken it */
        close(w->fd);
        w->fd = -1;
    }
    note(w, "no checkpoints: %s %s", w->path, what);
    w->off = true;
    return false;
}

/* A record's state into w, if it is whole and newer than what w has. */
static void read_record(struct derive_work *w, const uint8_t *record)
{
    struct derive_work_vector vector[DERIVE_WORK_MOST];
    uint8_t digest[SHA256_BYTES];
    const uint64_t sequence = load_le64(record + AT_SEQUENCE);

    record_digest(w, record, digest);
    if (memcmp(digest, record + AT_RECORD_DIGEST, sizeof digest) != 0 || sequence <= w->sequence) return;
    for (uint32_t v = 0; v < DERIVE_WORK_MOST; v++) {
        const uint8_t *at = record + AT_VECTOR + v * VECTOR_BYTES;
        vector[v].passes = load_le32(at);
        vector[v].area = load_le32(at + 4);
        memcpy(vector[v].digest, at + 8, SHA256_BYTES);
        if (vector[v].passes == 0) continue;
        if (v >= w->vectors || vector[v].passes > w->passes || vector[v].area > w->vectors) return;
        if (v > 0 && vector[0].passes != 0 && vector[0].area == vector[v].area) return;
    }
    w->sequence = sequence;
    memcpy(w->vector, vector, sizeof vector);
}

/* Why the file cannot be gone on with; NULL: it can.  Sets w->started, or w->blank. */
static const char *read_state(struct derive_work *w, struct task *t)
{
    uint8_t file[3 * PAGE], own[HEAD_BYTES], digest[SHA256_BYTES];

    memset(file, 0, sizeof file);
    const int why = read_at(w->fd, file, sizeof file, 0);
    if (why != 0 && why != ENODATA) return "could not be read";
    w->blank = true; /* no derivation can go on from it, this or another */
    if (why != 0) return "is cut short";
    sha256_of(digest, file, AT_HEAD_DIGEST);
    if (memcmp(digest, file + AT_HEAD_DIGEST, sizeof digest) != 0) return "is damaged";
    w->blank = false;
    write_head(w, own);
    if (memcmp(file + AT_VERSION, own + AT_VERSION, AT_CURVE - AT_VERSION) != 0)
        return "is of another version";
    if (memcmp(file, own, AT_VECTORS) != 0 || memcmp(file + AT_KEY_BYTES, own + AT_KEY_BYTES, 8) != 0)
        return "is of another key";
    if (memcmp(file + AT_VECTORS, own + AT_VECTORS, AT_KEY_BYTES - AT_VECTORS) != 0)
        return "has transforms of other steps";
    if (w->digest_known) {
        if (memcmp(w->key_digest, file + AT_KEY_DIGEST, SHA256_BYTES) != 0) return "is of another key";
    } else {
        task_progress(t, "SHA-256 of the key", 0, 1);
        if (!groth16_key_has_sha256(w->key, file + AT_KEY_DIGEST)) return "is of another key";
        memcpy(w->key_digest, file + AT_KEY_DIGEST, SHA256_BYTES);
        w->digest_known = true;
    }
    memcpy(w->head_digest, digest, sizeof digest);
    w->started = true;
    read_record(w, file + PAGE);
    read_record(w, file + 2 * PAGE);
    if (w->sequence == 0) return "holds no whole checkpoint";
    return NULL;
}

/* Empty, or so long and zeros where head and records go: the run before ended, or the power went, before these were on the disk. */
static bool holds_nothing(const uint8_t pages[3 * PAGE])
{
    for (size_t i = 0; i < 3 * PAGE; i++)
        if (pages[i] != 0) return false;
    return true;
}

static void find(struct derive_work *w, struct task *t)
{
    uint8_t pages[3 * PAGE];
    const char *what;

    if (!take_file(w, false)) return;
    memset(pages, 0, sizeof pages);
    const int why = read_at(w->fd, pages, sizeof pages, 0);
    if ((why == 0 || why == ENODATA) && holds_nothing(pages)) {
        w->blank = true;
        return;
    }
    if (memcmp(pages, MAGIC, MAGIC_BYTES) != 0) {
        note(w, "no checkpoints: %s is something else", w->path);
        close(w->fd);
        w->fd = -1;
        w->off = true;
        return;
    }
    what = read_state(w, t);
    if (what != NULL)
        note(w, "%s %s: the transforms begin anew, and the first checkpoint replaces it", w->path, what);
}

void derive_work_open(struct derive_work *out, struct task *t, const struct groth16_key *key,
                      const char *path, uint32_t vectors, uint32_t passes, uint32_t steps,
                      const struct groth16_derive_options *options)
{
    memset(out, 0, sizeof *out);
    out->key = key;
    out->options = options;
    out->fd = -1;
    out->vectors = vectors;
    out->passes = passes;
    out->steps = steps;
    atomic_init(&out->stop, false);
    atomic_init(&out->hashed, false);
    if ((size_t)snprintf(out->path, sizeof out->path, "%s" DERIVE_WORK_SUFFIX, path) >= sizeof out->path)
        out->off = true;
    else
        out->unwanted = options != NULL && options->checkpoint_ms == DERIVE_NO_CHECKPOINT;
    if (out->unwanted) out->off = true;
    if (!out->off) find(out, t);
    out->last_ns = clock_now_ns();
    start_hashing(out);
}

void derive_work_close(struct derive_work *w)
{
    if (w->key == NULL) return;
    if (w->hashes) {
        atomic_store_explicit(&w->stop, true, memory_order_relaxed);
        pthread_join(w->hashing, NULL);
    }
    if (w->fd >= 0) close(w->fd);
    memset(w, 0, sizeof *w);
    w->fd = -1;
}

void derive_work_remove(struct derive_work *w)
{
    /* Another key's stays; ours is locked, so nobody else's. */
    if (w->fd >= 0 && (w->started || w->blank)) unlink(w->path);
}

void derive_work_finish(struct derive_work *w, struct task *t)
{
    if (w->unwanted) {
        w->options = NULL; /* of one that must stay nothing need be said */
        find(w, t);
    }
    derive_work_remove(w);
}

/* -- going on ------------------------------------------------------------------------------------------------------------ */

cuzk_status derive_work_load(struct derive_work *w, struct task *t, uint32_t vector, uint8_t *points)
{
    struct derive_work_vector *const v = &w->vector[vector];
    uint8_t digest[SHA256_BYTES];
    int why;

    if (v->passes == 0) return CUZK_OK;
    TRY(transfer(w, t, v->area, false, points, digest, &why));
    if (why == 0 && memcmp(digest, v->digest, sizeof digest) == 0) {
        w->last_ns = clock_now_ns();
        note(w, "goes on with transform %u of %u after pass %u of %u, from %s", vector + 1, w->vectors,
             v->passes, w->passes, w->path);
        return CUZK_OK;
    }
    note(w, "the points of transform %u in %s are damaged%s%s: it begins anew", vector + 1, w->path,
         why != 0 ? ": " : "", why != 0 ? strerror(why) : "");
    memset(v, 0, sizeof *v);
    return CUZK_OK;
}

bool derive_work_due(const struct derive_work *w, bool ends)
{
    const uint64_t after_ms = w->options != NULL ? w->options->checkpoint_ms : DERIVE_CHECKPOINT_MS;

    if (w->off) return false;
    if (after_ms == 0) return true;
    /* The first one's head has the digest: the device need not wait for a disk. */
    if (w->hashes && !atomic_load_explicit(&w->hashed, memory_order_acquire)) return false;
    const uint64_t since_ns = clock_now_ns() - w->last_ns;
    return since_ns / 1000000 >= after_ms && since_ns >= (ends ? COST_FACTOR_END : COST_FACTOR) * w->cost_ns;
}

/* The file with this derivation's head and no record; the key's digest is known.  0, or an errno. */
static int begin_file(struct derive_work *w)
{
    uint8_t pages[3 * PAGE];

    memset(w->vector, 0, sizeof w->vector); /* what an unusable file held */
    w->sequence = 0;
    memset(pages, 0, sizeof pages);
    write_head(w, pages);
    memcpy(pages + AT_KEY_DIGEST, w->key_digest, sizeof w->key_digest);
    sha256_of(w->head_digest, pages, AT_HEAD_DIGEST);
    memcpy(pages + AT_HEAD_DIGEST, w->head_digest, sizeof w->head_digest);
    if (ftruncate(w->fd, 0) != 0) return errno;
    w->started = true;
    const int why = write_at(w->fd, pages, sizeof pages, 0);
    if (why != 0) return why;
    /* Before the space for points is reserved, which can be on the disk sooner than a head that waits in memory. */
    if (fdatasync(w->fd) != 0) return errno;
    tempfile_sync_folder(w->path);
    return 0;
}

/* The record of a state whose areas are on the disk already. */
static int write_record(struct derive_work *w, const struct derive_work_vector *state)
{
    uint8_t record[RECORD_BYTES];
    const uint64_t sequence = w->sequence + 1;

    store_le64(record + AT_SEQUENCE, sequence);
    for (uint32_t v = 0; v < DERIVE_WORK_MOST; v++) {
        uint8_t *at = record + AT_VECTOR + v * VECTOR_BYTES;
        store_le32(at, state[v].passes);
        store_le32(at + 4, state[v].area);
        memcpy(at + 8, state[v].digest, SHA256_BYTES);
    }
    record_digest(w, record, record + AT_RECORD_DIGEST);
    const int why = write_at(w->fd, record, sizeof record, PAGE * (1 + sequence % 2));
    if (why != 0) return why;
    if (fdatasync(w->fd) != 0) return errno;
    w->sequence = sequence;
    memcpy(w->vector, state, sizeof w->vector);
    return 0;
}

/* One more area than there are vectors: the points go where no vector's last checkpoint stands. */
static uint32_t free_area(const struct derive_work *w)
{
    uint32_t area = 0;

    for (uint32_t v = 0; v < w->vectors; v++)
        for (uint32_t u = 0; u < w->vectors; u++)
            if (w->vector[u].passes != 0 && w->vector[u].area == area) area++;
    return area;
}

static cuzk_status save(struct derive_work *w, struct task *t, uint32_t vector, uint32_t passes,
                        const uint8_t *points, int *why)
{
    struct derive_work_vector state[DERIVE_WORK_MOST];

    memcpy(state, w->vector, sizeof state);
    state[vector].passes = passes;
    state[vector].area = free_area(w);
    while ((*why = posix_fallocate(w->fd, (off_t)area_offset(w, state[vector].area),
                                   (off_t)vector_bytes(w))) == EINTR)
        TRY(task_poll(t));
    if (*why != 0) return CUZK_OK;
    TRY(transfer(w, t, state[vector].area, true, (uint8_t *)(uintptr_t)points, state[vector].digest, why));
    if (*why == 0 && fdatasync(w->fd) != 0) *why = errno;
    if (*why == 0) *why = write_record(w, state);
    /* The kernel need not keep what is read after a crash only. */
    (void)posix_fadvise(w->fd, 0, 0, POSIX_FADV_DONTNEED);
    return CUZK_OK;
}

cuzk_status derive_work_save(struct derive_work *w, struct task *t, uint32_t vector, uint32_t passes,
                             const uint8_t *points)
{
    uint8_t digest[SHA256_BYTES];
    int why = 0;

    if (!w->started) {
        TRY(derive_work_key_digest(w, t, digest));
        if (w->fd < 0) {
            if (!take_file(w, true)) return CUZK_OK;
            w->blank = true;
        }
        why = begin_file(w);
    }
    const uint64_t begin_ns = clock_now_ns();
    uint64_t since_ns = begin_ns;
    if (why == 0) TRY(save(w, t, vector, passes, points, &why));
    if (why != 0) {
        note(w, "no more checkpoints: %s could not be written: %s; the derivation goes on without", w->path,
             strerror(why));
        w->off = true;
        if (w->sequence == 0) { /* it holds nothing: its space is of use to others */
            derive_work_remove(w);
            close(w->fd);
            w->fd = -1;
        }
        return CUZK_OK;
    }
    derive_stage(w->options, "checkpoint", &since_ns);
    w->last_ns = since_ns;
    w->cost_ns = since_ns - begin_ns;
    w->kept_ns += w->cost_ns;
    return CUZK_OK;
}
