/* The points of a development key, made on any backend in bounded memory.
 *
 * Two slots take turns: while the device multiplies the generator by one chunk of scalars, this thread and t->pool make the scalars of
 * the next and do with the points of the last what the caller wants, encode them into a file for instance. */
#ifndef CUZK_GROTH16_SETUP_POINTS_H
#define CUZK_GROTH16_SETUP_POINTS_H

#include "backend/backend.h"
#include "groth16/setup_scalars.h"

struct setup_slot {
    struct stream *stream;
    struct buffer scalars, points; /* of the device */
    struct fr_int *integers;       /* secret, in the arena */
    uint8_t *host_points;          /* in the arena; where the backend reads host memory, points views it */
    uint64_t begin, count;         /* of the chunk under way; count 0: none */
};

struct setup_points {
    const struct setup_scalars *scalars; /* borrowed */
    const struct backend *backend;
    struct device *device;
    uint64_t chunk; /* points */
    bool to_host;   /* there is room for points to hand out */
    double
        host_ms; /* that this thread has spent on scalars and on their way to the device, beside which the device multiplies */
    struct arena arena;
    struct setup_slot slot[2];
};

/** In      chunk_most  points multiplied at once, at most; UINT64_MAX: as many as are efficient.  Fewer where the device has no room
 *         to_host     for setup_points_make; otherwise setup_points_fill is all that can be asked
 * Out     out: to be ended with setup_points_fini, also after an error
 * Errors  CUZK_NO_MEMORY; those of the backend
 * Cost    two streams; to_host at most 470 MB of host memory and as much of the device's (CPU: a quarter of it), otherwise 67 MB */
cuzk_status setup_points_init(struct setup_points *out, struct task *t, const struct setup_scalars *scalars,
                              const struct backend *backend, struct device *device, uint64_t chunk_most,
                              bool to_host) MUST_CHECK;
void setup_points_fini(struct setup_points *p); /* legal on a zeroed one */

/** Takes points [begin, begin + count) of a query: affine, Montgomery, packed; borrowed until it returns. */
typedef cuzk_status setup_points_sink(void *context, struct task *t, const uint8_t *points, uint64_t begin,
                                      uint64_t count);

/** Points [first, first + count) of a query in group g, chunk by chunk in order, each given to sink on this thread.
 * In      what  for task_progress
 * Cost    a multiplication of the generator a point: on a GPU about 32 additions, on a CPU 18 to 22 */
cuzk_status setup_points_make(struct setup_points *p, struct task *t, const char *what, enum setup_query q,
                              enum group_id g, uint64_t first, uint64_t count, setup_points_sink *sink,
                              void *sink_context) MUST_CHECK;

/** The same straight into a buffer of the device, from to_offset on; whole when it returns. */
cuzk_status setup_points_fill(struct setup_points *p, struct task *t, const char *what, enum setup_query q,
                              enum group_id g, uint64_t first, uint64_t count, struct buffer *to,
                              size_t to_offset) MUST_CHECK;

#endif
