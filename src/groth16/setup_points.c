/* The points of a development key, made on any backend in bounded memory. */
#include "groth16/setup_points.h"
#include "base/bytes.h"
#include "base/clock.h"
#include <string.h>

/* Points multiplied at once, at most.  On a CPU the tables of fixed_base are cheap beside the sums from here on (18 additions a point
 * instead of 22 at 2^15); a GPU has its table ready and takes 14 ms for so many points of G1. */
#define CPU_CHUNK    ((uint64_t)1 << 18)
#define DEVICE_CHUNK ((uint64_t)1 << 20)
#define LEAST_CHUNK  ((uint64_t)1 << 12)

static cuzk_status take_host(struct setup_points *p, struct task *t)
{
    const size_t scalar_bytes = p->chunk * sizeof(struct fr_int),
                 point_bytes = p->to_host ? p->chunk * p->scalars->curve->g2.aff_bytes : 0;
    void *at;

    TRY(arena_open(&p->arena, t, 2 * (arena_round(scalar_bytes) + arena_round(point_bytes)), ARENA_SECRET));
    for (int i = 0; i < 2; i++) {
        TRY(arena_take(&p->arena, t, &at, scalar_bytes));
        p->slot[i].integers = at;
        TRY(arena_take(&p->arena, t, &at, point_bytes));
        p->slot[i].host_points = p->to_host ? at : NULL;
    }
    return CUZK_OK;
}

static void give_device(struct setup_points *p)
{
    for (int i = 0; i < 2; i++) {
        p->backend->buffer_give(&p->slot[i].scalars);
        p->backend->buffer_give(&p->slot[i].points);
    }
}

static cuzk_status take_device(struct setup_points *p, struct task *t)
{
    const size_t scalar_bytes = p->chunk * sizeof(struct fr_int),
                 point_bytes = p->chunk * p->scalars->curve->g2.aff_bytes;
    cuzk_status status = CUZK_OK;

    for (int i = 0; i < 2; i++) {
        struct setup_slot *s = &p->slot[i];
        TRY_GOTO(out,
                 p->backend->buffer_take(&s->scalars, t, p->device, MEM_DEVICE, scalar_bytes, BUFFER_SECRET));
        if (p->to_host)
            TRY_GOTO(out, p->backend->buffer_take(&s->points, t, p->device, MEM_DEVICE, point_bytes, 0));
    }
out:
    if (status != CUZK_OK) give_device(p);
    return status;
}

/* As many points as the device has room for now. */
static cuzk_status take_device_room(struct setup_points *p, struct task *t)
{
    for (;; p->chunk /= 2) {
        struct task quiet = *t;
        const cuzk_status status = take_device(p, &quiet);
        if (status == CUZK_NO_MEMORY && p->chunk > LEAST_CHUNK) continue;
        t->error = quiet.error;
        return status;
    }
}

cuzk_status setup_points_init(struct setup_points *out, struct task *t, const struct setup_scalars *scalars,
                              const struct backend *backend, struct device *device, uint64_t chunk_most,
                              bool to_host)
{
    const uint64_t longest =
                       scalars->variables > scalars->domain.size ? scalars->variables : scalars->domain.size,
                   most = longest < chunk_most ? longest : chunk_most;

    memset(out, 0, sizeof *out);
    out->scalars = scalars;
    out->backend = backend;
    out->device = device;
    out->to_host = to_host;
    out->chunk = backend->reads_host_memory ? CPU_CHUNK : DEVICE_CHUNK;
    if (out->chunk > most) out->chunk = most;
    for (int i = 0; i < 2; i++) TRY(backend->stream_open(&out->slot[i].stream, t, device));
    if (!backend->reads_host_memory) TRY(take_device_room(out, t));
    TRY(take_host(out, t));
    for (int i = 0; i < 2 && backend->reads_host_memory; i++) {
        struct setup_slot *s = &out->slot[i];
        s->scalars = buffer_borrow(device, span_of(s->integers, out->chunk * sizeof *s->integers));
        if (to_host)
            s->points =
                buffer_borrow(device, span_of(s->host_points, out->chunk * scalars->curve->g2.aff_bytes));
    }
    return CUZK_OK;
}

void setup_points_fini(struct setup_points *p)
{
    if (p->backend == NULL) return;
    give_device(p);
    for (int i = 0; i < 2; i++)
        if (p->slot[i].stream != NULL) p->backend->stream_close(p->slot[i].stream);
    arena_close(&p->arena);
    memset(p, 0, sizeof *p);
}

/* -- one chunk --------------------------------------------------------------------------------------------------------- */

/* Puts a chunk's multiplications on a slot's stream. */
static cuzk_status start(struct setup_points *p, struct task *t, struct setup_slot *s, enum setup_query q,
                         enum group_id g, uint64_t begin, uint64_t count, struct buffer *to, size_t to_offset)
{
    const struct curve *c = p->scalars->curve;
    const struct g_aff *const base = &c->group[g]->generator;
    const uint64_t begin_ns = clock_now_ns();

    TRY(setup_scalars_make(p->scalars, t, s->integers, q, begin, count));
    if (!p->backend->reads_host_memory)
        TRY(p->backend->upload(s->stream, t, &s->scalars, 0, s->integers, count * sizeof *s->integers));
    p->host_ms += clock_ms_since(begin_ns);
    s->begin = begin;
    s->count = count;
    return p->backend->fixed_base(s->stream, t, c, g, to, to_offset, base, &s->scalars, 0, count);
}

/* Waits for a slot's chunk, if there is one, and hands it out. */
static cuzk_status finish(struct setup_points *p, struct task *t, struct setup_slot *s, const char *what,
                          enum group_id g, uint64_t first, uint64_t all, setup_points_sink *sink,
                          void *sink_context)
{
    const size_t bytes = s->count * p->scalars->curve->group[g]->aff_bytes;

    if (s->count == 0) return CUZK_OK;
    if (!p->backend->reads_host_memory && sink != NULL)
        TRY(p->backend->download(s->stream, t, s->host_points, &s->points, 0, bytes));
    TRY(p->backend->stream_sync(s->stream, t));
    if (sink != NULL) TRY(sink(sink_context, t, s->host_points, s->begin, s->count));
    task_progress(t, what, s->begin + s->count - first, all);
    s->count = 0;
    return CUZK_OK;
}

/* to NULL: to the slots' own buffers, and from there to sink. */
static cuzk_status run(struct setup_points *p, struct task *t, const char *what, enum setup_query q,
                       enum group_id g, uint64_t first, uint64_t count, struct buffer *to, size_t to_offset,
                       setup_points_sink *sink, void *sink_context)
{
    const size_t point_bytes = p->scalars->curve->group[g]->aff_bytes;
    unsigned turn = 0;
    cuzk_status status = CUZK_OK;

    task_progress(t, what, 0, count);
    for (uint64_t done = 0; done < count; done += p->chunk, turn = 1 - turn) {
        const uint64_t n = count - done < p->chunk ? count - done : p->chunk;
        struct setup_slot *const s = &p->slot[turn];
        TRY_GOTO(out, task_poll(t));
        TRY_GOTO(out, finish(p, t, s, what, g, first, count, sink, sink_context));
        TRY_GOTO(out, start(p, t, s, q, g, first + done, n, to != NULL ? to : &s->points,
                            to != NULL ? to_offset + done * point_bytes : 0));
    }
    for (int i = 0; i < 2; i++, turn = 1 - turn)
        TRY_GOTO(out, finish(p, t, &p->slot[turn], what, g, first, count, sink, sink_context));
out:
    for (int i = 0; i < 2 && status != CUZK_OK;
         i++) { /* nothing is under way in the slots' buffers, or in to */
        backend_settle(p->backend, p->slot[i].stream);
        p->slot[i].count = 0;
    }
    return status;
}

cuzk_status setup_points_make(struct setup_points *p, struct task *t, const char *what, enum setup_query q,
                              enum group_id g, uint64_t first, uint64_t count, setup_points_sink *sink,
                              void *sink_context)
{
    return run(p, t, what, q, g, first, count, NULL, 0, sink, sink_context);
}

cuzk_status setup_points_fill(struct setup_points *p, struct task *t, const char *what, enum setup_query q,
                              enum group_id g, uint64_t first, uint64_t count, struct buffer *to,
                              size_t to_offset)
{
    return run(p, t, what, q, g, first, count, to, to_offset, NULL, NULL);
}
