/* Which part next. */
#include "engine/split.h"

static bool may_run(const struct part *p, const struct lane_book *b, uint32_t lane, uint64_t now_ns)
{
    if (p->not_before_ns > now_ns) return false;
    return p->lane != lane || !lane_book_other_open(b, lane);
}

bool split_next(const struct job *j, const struct lane_book *b, uint32_t lane, uint64_t now_ns,
                unsigned *part, bool *synthesis)
{
    const unsigned stages = b->lanes[lane].stages;
    const bool has_synthesis = j->circuit->kind->has_synthesis;
    const unsigned first_stage = has_synthesis ? LANE_SYNTHESISES : LANE_PROVES;

    if (stages & LANE_PROVES) {
        for (unsigned i = 0; i < j->part_count; i++) {
            if (j->parts[i].state != PART_READY || !may_run(&j->parts[i], b, lane, now_ns)) continue;
            *part = i;
            *synthesis = false;
            return true;
        }
    }
    if ((stages & first_stage) == 0) return false;
    for (unsigned i = 0; i < j->part_count; i++) {
        if (j->parts[i].state != PART_WAITING || !may_run(&j->parts[i], b, lane, now_ns)) continue;
        *part = i;
        *synthesis = has_synthesis;
        return true;
    }
    return false;
}

/* -- batches ------------------------------------------------------------------------------------------------------------ */

static bool has_batch_of(const struct lane *l, const struct job *j)
{
    return l->batch_count > 0 && l->job != NULL && l->job->circuit == j->circuit;
}

static bool may_join(const struct part *p) { return !p->singly && !p->was_lost; }

/* Devices that have a lane for proofs, now or soon. */
static unsigned devices_of(const struct lane_book *b)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        const struct lane *l = &b->lanes[i];
        const bool works = l->state == LANE_IDLE || l->state == LANE_BUSY || l->state == LANE_TESTING;
        if (works && (l->stages & LANE_PROVES)) seen |= 1u << l->device;
    }
    return (unsigned)__builtin_popcount(seen);
}

unsigned split_batch(const struct job *j, const struct lane_book *b, uint32_t lane, uint64_t now_ns,
                     unsigned *parts, bool *wait)
{
    const struct lane *own = &b->lanes[lane];
    const unsigned most = j->circuit->batch.parts_most;
    unsigned left = 0, count = 0;

    *wait = false;
    if (most == 0 || (own->stages & LANE_PROVES) == 0) return 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct lane *l = &b->lanes[i];
        if (l->device != own->device || !has_batch_of(l, j)) continue;
        if (l->state == LANE_STUCK) return 0; /* it holds the place */
        *wait |= l->state == LANE_BUSY;
    }
    for (unsigned i = 0; i < j->part_count; i++) {
        const struct part *p = &j->parts[i];
        if (p->state == PART_READY) return 0; /* what holds memory goes first */
        left += may_join(p) && (p->state != PART_DONE || p->prove_ns != 0); /* what was done before a restart needs no device */
    }
    const unsigned devices = devices_of(b), rounds = (left + most * devices - 1) / (most * devices),
                   share = rounds != 0 ? (left + devices * rounds - 1) / (devices * rounds) : 0;
    for (unsigned i = 0; i < j->part_count && count < share; i++)
        if (j->parts[i].state == PART_WAITING && may_join(&j->parts[i]) && may_run(&j->parts[i], b, lane, now_ns))
            parts[count++] = i;
    *wait &= count > 0;
    return *wait ? 0 : count;
}

uint64_t split_next_ns(const struct job *j, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < j->part_count; i++) {
        const struct part *p = &j->parts[i];
        if ((p->state == PART_WAITING || p->state == PART_READY) && p->not_before_ns > now_ns &&
            p->not_before_ns < next)
            next = p->not_before_ns;
    }
    return next;
}
