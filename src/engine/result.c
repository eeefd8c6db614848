/* The shelf and the answers. */
#include "engine/result.h"
#include <stdlib.h>
#include <string.h>

void result_put(struct result_shelf *s, struct job *j)
{
    j->shelf_next = NULL;
    if (s->newest != NULL)
        s->newest->shelf_next = j;
    else
        s->oldest = j;
    s->newest = j;
    s->count++;
}

struct job *result_forget(struct result_shelf *s, size_t most, uint64_t keep_ns, uint64_t now_ns)
{
    struct job *j = s->oldest;

    if (j == NULL || (s->count <= most && now_ns - j->end_ns < keep_ns)) return NULL;
    s->oldest = j->shelf_next;
    if (s->oldest == NULL) s->newest = NULL;
    s->count--;
    return j;
}

cuzk_status result_assemble(struct task *t, struct job *j)
{
    struct part_output parts[JOB_PARTS_MOST];

    for (unsigned i = 0; i < j->part_count; i++) parts[i] = j->parts[i].output;
    return j->circuit->kind->assemble(t, &j->result, j->circuit, parts, j->part_count);
}

void result_answer(struct job_answer *out, const struct job *j, uint64_t now_ns)
{
    memset(out, 0, sizeof *out);
    memcpy(out->job_id, j->id, sizeof out->job_id);
    out->error_text = j->error_text;
    out->end = j->state == JOB_ENDED ? j->end : JOB_UNFINISHED;
    out->status = out->end == JOB_FAILED || out->end == JOB_CANCELLED ? j->status : CUZK_OK;
    if (out->end == JOB_DONE) {
        out->proof = span_of(j->result.proof, j->result.proof_bytes);
        out->text = span_of(j->result.text, j->result.text_bytes);
    }
    out->attempts = j->attempts;
    out->was_running = j->was_running;
    job_timings(j, now_ns, &out->timings);
}
