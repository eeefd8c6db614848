/* A key in device memory: points, gather lists and the circuit, for backends that do not read host memory. */
#include "groth16/key_device.h"
#include "base/arena.h"
#include "groth16/key_secret.h"
#include "groth16/msm_set.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Streams kept by all keys together: a device has only so many (16 on CUDA), and each holds some of its memory. */
#define IDLE_MOST 4
static atomic_uint idle_streams;

#define SLICE_BYTES ((size_t)16 << 20) /* of points that are decoded before they are copied */

struct idle_stream {
    const struct backend *backend;
    struct device *device;
    struct stream *stream;
};

struct key_devices {
    pthread_mutex_t lock; /* held while a key is uploaded, so that it is uploaded once */
    struct key_device *first;
    struct idle_stream idle[IDLE_MOST];
    unsigned idle_count;
};

cuzk_status key_devices_create(struct key_devices **out, struct task *t)
{
    struct key_devices *d = calloc(1, sizeof *d);

    if (d == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key");
    if (pthread_mutex_init(&d->lock, NULL) != 0) {
        free(d);
        return FAIL(t, CUZK_NO_MEMORY, "no mutex for a key");
    }
    *out = d;
    return CUZK_OK;
}

static void release(struct key_device *k)
{
    k->backend->buffer_give(&k->block);
    free(k);
}

void key_devices_destroy(struct key_devices *d)
{
    if (d == NULL) return;
    for (unsigned i = 0; i < d->idle_count; i++) d->idle[i].backend->stream_close(d->idle[i].stream);
    atomic_fetch_sub(&idle_streams, d->idle_count);
    while (d->first != NULL) {
        struct key_device *const k = d->first;
        d->first = k->next;
        release(k);
    }
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* -- the block --------------------------------------------------------------------------------------------------------- */

struct layout {
    struct msm_row rows[QUERY_COUNT];
    size_t points[QUERY_COUNT], gather[QUERY_COUNT], matrix[2], tables, bytes;
};

static size_t points_bytes(const struct groth16_key *key, const struct msm_row *row)
{
    return row->count * key->curve->group[row->group]->aff_bytes;
}

static bool has_table(const struct key_residence *what, enum groth16_query q)
{
    return what->points && what->table[q].row_count > 1;
}

static size_t resident_bytes(const struct groth16_key *key, const struct msm_row *row,
                             const struct key_residence *what, enum groth16_query q)
{
    return has_table(what, q) ? what->table[q].table_bytes : what->points ? points_bytes(key, row) : 0;
}

static size_t place(size_t *at, size_t bytes)
{
    const size_t here = *at;

    *at += arena_round(bytes);
    return here;
}

static void layout_of(struct layout *l, const struct groth16_key *key, const struct backend *backend,
                      const struct key_residence *what)
{
    memset(l, 0, sizeof *l);
    msm_set_rows(l->rows, key);
    for (int q = 0; q < QUERY_COUNT; q++) {
        const struct msm_row *row = &l->rows[q];
        l->points[q] = place(&l->bytes, resident_bytes(key, row, what, q));
        if (row->gather == NULL) continue;
        l->gather[q] = q == QUERY_B2 ? l->gather[QUERY_B1] /* the same list */
                                     : place(&l->bytes, row->count * sizeof *row->gather);
    }
    if (key->constraints != NULL) {
        l->tables = place(&l->bytes, what->image.tables_bytes);
        return;
    }
    l->matrix[0] = place(&l->bytes, backend->matrix_bytes(&key->a));
    l->matrix[1] = place(&l->bytes, backend->matrix_bytes(&key->b));
}

uint64_t key_device_bytes(const struct groth16_key *key, const struct backend *backend,
                          const struct key_residence *what)
{
    struct layout l;

    layout_of(&l, key, backend, what);
    return l.bytes;
}

/* -- the upload -------------------------------------------------------------------------------------------------------- */

cuzk_status key_device_send_points(struct task *t, const struct groth16_key *key,
                                   const struct backend *backend, struct stream *stream, struct buffer *to,
                                   enum groth16_query q, uint64_t first, uint64_t count)
{
    const size_t each = key->curve->group[q == QUERY_B2 ? GROUP_G2 : GROUP_G1]->aff_bytes;
    const uint64_t slice = SLICE_BYTES / each;
    cuzk_status status = CUZK_OK;

    if (key->secret != NULL) return key_secret_fill(t, key, backend, stream, to, q, first, count);
    if (!key->encoded[q])
        return backend->upload(stream, t, to, 0, key->point[q].data + first * each, count * each);
    uint8_t *const decoded = malloc((count < slice ? count : slice) * each + 1);
    if (decoded == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to decode points");
    for (uint64_t done = 0; done < count; done += slice) {
        const uint64_t here = count - done < slice ? count - done : slice;
        TRY_GOTO(out, groth16_key_points(t, key, q, first + done, here, decoded));
        TRY_GOTO(out, backend->upload(stream, t, to, done * each, decoded,
                                      here * each)); /* has read it on return */
    }
out:
    free(decoded);
    return status;
}

static cuzk_status fill(struct key_device *k, struct task *t, const struct groth16_key *key,
                        struct stream *stream, const struct layout *l, const struct key_residence *what)
{
    const struct csr *const matrices[2] = { &key->a, &key->b };

    k->has_points = what->points;
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++) {
        const struct msm_row *row = &l->rows[q];
        const size_t list_bytes = row->count * sizeof *row->gather;
        TRY(task_poll(t));
        task_progress(t, "key", (uint64_t)q, QUERY_COUNT);
        if (what->points) {
            k->points[q] = buffer_piece(&k->block, l->points[q], resident_bytes(key, row, what, q));
            TRY(key_device_send_points(t, key, k->backend, stream, &k->points[q], q, 0, row->count));
        }
        if (has_table(what, q)) { /* whose first row the points are: they are there already */
            TRY(k->backend->msm_table_make(stream, t, &what->table[q], &k->points[q], &k->points[q], 0));
            k->rows[q] = what->table[q].row_count;
            k->windows[q] = what->table[q].window_count;
        }
        if (row->gather == NULL) continue;
        k->gather[q] = buffer_piece(&k->block, l->gather[q], list_bytes);
        if (q != QUERY_B2) TRY(k->backend->upload(stream, t, &k->gather[q], 0, row->gather, list_bytes));
    }
    if (key->constraints != NULL) {
        k->tables = buffer_piece(&k->block, l->tables, what->image.tables_bytes);
        TRY(k->backend->image_upload(stream, t, &what->image, &k->tables, key->constraints->image));
    }
    for (int m = 0; m < 2 && key->constraints == NULL; m++) {
        k->matrix[m] = buffer_piece(&k->block, l->matrix[m], k->backend->matrix_bytes(matrices[m]));
        TRY(k->backend->matrix_upload(stream, t, &k->matrix[m], matrices[m]));
    }
    return k->backend->stream_sync(stream, t);
}

static cuzk_status make(struct key_device **out, struct task *t, const struct groth16_key *key,
                        const struct backend *backend, struct device *device, struct stream *stream,
                        const struct key_residence *what)
{
    struct key_device *k = calloc(1, sizeof *k);
    struct layout l;

    if (k == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a key on a device");
    k->backend = backend;
    k->device = device;
    layout_of(&l, key, backend, what);
    cuzk_status status = backend->buffer_take(&k->block, t, device, MEM_DEVICE, l.bytes, 0);
    if (status == CUZK_OK) {
        status = fill(k, t, key, stream, &l, what);
        if (status != CUZK_OK) backend_settle(backend, stream);
    }
    if (status != CUZK_OK) {
        release(k);
        return status;
    }
    *out = k;
    return CUZK_OK;
}

/* Whether a sum with a table finds the one it is planned for; one without finds its points in the first row of any. */
static bool serves(const struct key_device *k, const struct key_residence *what)
{
    if (what->points && !k->has_points) return false;
    for (enum groth16_query q = 0; q < QUERY_COUNT; q++)
        if (has_table(what, q) &&
            (k->rows[q] != what->table[q].row_count || k->windows[q] != what->table[q].window_count))
            return false;
    return true;
}

/* Under the lock. */
static struct key_device *find(const struct key_devices *d, const struct backend *backend,
                               const struct device *device, const struct key_residence *what)
{
    struct key_device *k = d->first;

    while (k != NULL && !(k->backend == backend && k->device == device && serves(k, what))) k = k->next;
    return k;
}

bool key_device_is_there(const struct groth16_key *key, const struct backend *backend, struct device *device,
                         const struct key_residence *what)
{
    struct key_devices *const d = key->devices;

    pthread_mutex_lock(&d->lock);
    const bool there = find(d, backend, device, what) != NULL;
    pthread_mutex_unlock(&d->lock);
    return there;
}

cuzk_status key_device_take(const struct key_device **out, struct task *t, const struct groth16_key *key,
                            const struct backend *backend, struct device *device, struct stream *stream,
                            const struct key_residence *what)
{
    struct key_devices *const d = key->devices;
    cuzk_status status = CUZK_OK;

    pthread_mutex_lock(&d->lock);
    struct key_device *k = find(d, backend, device, what);
    if (k == NULL) {
        status = make(&k, t, key, backend, device, stream, what);
        if (status == CUZK_OK) {
            k->next = d->first;
            d->first = k;
        }
    }
    pthread_mutex_unlock(&d->lock);
    if (status == CUZK_OK) *out = k;
    return status;
}

void key_device_drop(const struct groth16_key *key, const struct backend *backend, struct device *device)
{
    struct key_devices *const d = key->devices;

    pthread_mutex_lock(&d->lock);
    for (unsigned i = d->idle_count; i-- > 0;) {
        if (d->idle[i].backend != backend || d->idle[i].device != device) continue;
        backend->stream_close(d->idle[i].stream);
        d->idle[i] = d->idle[--d->idle_count];
        atomic_fetch_sub(&idle_streams, 1);
    }
    for (struct key_device **at = &d->first; *at != NULL;) {
        struct key_device *const k = *at;
        if (k->backend == backend && k->device == device) {
            *at = k->next;
            release(k);
        } else {
            at = &k->next;
        }
    }
    pthread_mutex_unlock(&d->lock);
}

/* -- streams ----------------------------------------------------------------------------------------------------------- */

cuzk_status key_device_stream_take(struct stream **out, struct task *t, const struct groth16_key *key,
                                   const struct backend *backend, struct device *device)
{
    struct key_devices *const d = key->devices;

    *out = NULL;
    pthread_mutex_lock(&d->lock);
    for (unsigned i = d->idle_count; *out == NULL && i-- > 0;) {
        if (d->idle[i].backend != backend || d->idle[i].device != device) continue;
        *out = d->idle[i].stream;
        d->idle[i] = d->idle[--d->idle_count];
        atomic_fetch_sub(&idle_streams, 1);
    }
    pthread_mutex_unlock(&d->lock);
    return *out != NULL ? CUZK_OK : backend->stream_open(out, t, device);
}

void key_device_stream_give(const struct groth16_key *key, const struct backend *backend,
                            struct device *device, struct stream *stream)
{
    struct key_devices *const d = key->devices;
    const struct idle_stream entry = { backend, device, stream };

    if (backend->reads_host_memory) { /* costs nothing to open */
        backend->stream_close(stream);
        return;
    }
    pthread_mutex_lock(&d->lock);
    const bool kept = atomic_fetch_add(&idle_streams, 1) < IDLE_MOST;
    if (kept)
        d->idle[d->idle_count++] = entry;
    else
        atomic_fetch_sub(&idle_streams, 1);
    pthread_mutex_unlock(&d->lock);
    if (!kept) backend->stream_close(stream);
}
