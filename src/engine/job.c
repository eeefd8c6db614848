/* One job.
 *
 *   submit -> ACCEPTING --journal has it--> QUEUED --a part starts--> STARTED --all parts done, or failed--> RECORDING
 *                 |                            |                        |                                      |
 *                 | refused: destroyed         +---- cancelled, expired, failed: RECORDING --------------------+
 *                                                                                              journal has it, or has failed
 *                                                                                                              v
 *                                                                                  waiters are told         ENDED -> forgotten
 *
 *   A job that is not durable passes ACCEPTING and RECORDING in the same step.
 *
 *   part:   WAITING -> SYNTHESISING -> READY -> PROVING -> DONE      kinds with synthesis; the carry lives from READY to DONE
 *           WAITING ----------------------------> PROVING -> DONE      kinds without
 *           back to WAITING from SYNTHESISING and PROVING, to READY from PROVING: another attempt, or its lane is stuck
 *           WAITING -> DONE: found in the journal
 *
 *   engine_core.c performs the arrows: core_submit, core_journaled, part_start, part_ended, job_finish. */
#include "engine/job.h"
#include "base/bytes.h"
#include <stdio.h>
#include <stdlib.h>

const char *part_state_name(enum part_state s)
{
    static const char *const name[] = { "pending", "synthesizing", "synth_done", "gpu", "done" };
    return name[s];
}

void part_output_free(struct part_output *o)
{
    free(o->proof);
    free(o->text);
    memset(o, 0, sizeof *o);
}

cuzk_status job_create(struct job **out, struct task *t, struct circuit *c, unsigned part_count,
                       struct span parameters)
{
    struct job *j = calloc(1, sizeof *j);

    if (j != NULL) {
        j->parts = calloc(part_count + 1u, sizeof *j->parts);
        j->parameters = malloc(parameters.size + 1);
    }
    if (j == NULL || j->parts == NULL || j->parameters == NULL) {
        if (j != NULL) {
            free(j->parts);
            free(j->parameters);
        }
        free(j);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a job of %u parts", part_count);
    }
    if (parameters.size > 0) memcpy(j->parameters, parameters.data, parameters.size);
    j->parameter_bytes = parameters.size;
    j->part_count = part_count;
    j->circuit = c;
    if (c != NULL) snprintf(j->kind_name, sizeof j->kind_name, "%s", c->kind->name);
    for (unsigned i = 0; i < part_count; i++) j->parts[i].lane = JOB_NO_LANE;
    *out = j;
    return CUZK_OK;
}

void job_release_inputs(struct job *j)
{
    if (j->payload != NULL) wipe(j->payload, j->payload_bytes);
    free(j->payload);
    j->payload = NULL;
    for (unsigned i = 0; i < j->part_count; i++) {
        struct part *p = &j->parts[i];
        j->synthesis_ms_before += (double)p->synthesis_ns * 1e-6;
        j->prove_ms_before += (double)p->prove_ns * 1e-6;
        p->synthesis_ns = p->prove_ns = 0;
        part_output_free(&p->output);
        if (p->carry != NULL) j->circuit->kind->carry_free(p->carry);
        p->carry = NULL;
    }
}

void job_destroy(struct job *j)
{
    if (j == NULL) return;
    job_release_inputs(j);
    part_output_free(&j->result);
    free(j->parts);
    free(j->parameters);
    free(j);
}

static void no_arrow(const struct job *j, const char *what, int from, int to)
{
    fprintf(stderr, "cuzk: job %s: no arrow leads from %s state %d to %d\n", j->id, what, from, to);
    abort();
}

void job_part_move(struct job *j, unsigned part, enum part_state to)
{
    static const unsigned char arrows[] = {
        /* from: the set of states it may go to */
        [PART_WAITING] = 1 << PART_SYNTHESISING | 1 << PART_PROVING | 1 << PART_DONE,
        [PART_SYNTHESISING] = 1 << PART_READY | 1 << PART_WAITING,
        [PART_READY] = 1 << PART_PROVING,
        [PART_PROVING] = 1 << PART_DONE | 1 << PART_READY | 1 << PART_WAITING,
        [PART_DONE] = 0,
    };
    struct part *p = &j->parts[part];

    if ((arrows[p->state] >> to & 1) == 0) no_arrow(j, "part", p->state, to);
    p->state = to;
    if (to == PART_DONE) j->parts_done++;
}

void job_move(struct job *j, enum job_state to)
{
    static const unsigned char arrows[] = {
        [JOB_ACCEPTING] = 1 << JOB_QUEUED | 1 << JOB_RECORDING,
        [JOB_QUEUED] = 1 << JOB_STARTED | 1 << JOB_RECORDING,
        [JOB_STARTED] = 1 << JOB_RECORDING,
        [JOB_RECORDING] = 1 << JOB_ENDED,
        [JOB_ENDED] = 0,
    };

    if ((arrows[j->state] >> to & 1) == 0) no_arrow(j, "job", j->state, to);
    j->state = to;
}

void job_timings(const struct job *j, uint64_t now_ns, struct job_timings *out)
{
    const uint64_t end_ns = j->state >= JOB_RECORDING ? j->end_ns : now_ns;
    const uint64_t start_ns = j->first_start_ns != 0 ? j->first_start_ns : end_ns;

    out->synthesis_ms = j->synthesis_ms_before;
    out->prove_ms = j->prove_ms_before;
    for (unsigned i = 0; i < j->part_count; i++) {
        out->synthesis_ms += (double)j->parts[i].synthesis_ns * 1e-6;
        out->prove_ms += (double)j->parts[i].prove_ns * 1e-6;
    }
    out->queue_ms = (double)(start_ns - j->submit_ns) * 1e-6;
    out->key_ms = (double)j->key_ns * 1e-6;
    out->total_ms = (double)(end_ns - j->submit_ns) * 1e-6;
}

void job_error(struct job *j, cuzk_status status, const struct error *e)
{
    const char *separator = e->advice[0] != '\0' ? "; " : "";
    char place[ERROR_PATH_BYTES + 80] = "";

    if (e->path[0] != '\0' || e->field[0] != '\0')
        snprintf(place, sizeof place, " (%s%s%s)", e->path,
                 e->path[0] != '\0' && e->field[0] != '\0' ? ", " : "", e->field);
    j->status = status;
    snprintf(j->error_text, sizeof j->error_text, "%s%s%s%s", e->text, place, separator, e->advice);
}
