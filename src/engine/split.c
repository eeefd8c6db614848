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
