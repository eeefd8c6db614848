/* The book on the lanes. */
#include "engine/lane.h"
#include <stdlib.h>
#include <string.h>

#define HOUR_NS (3600u * 1000000000ull)

const char *lane_state_name(enum lane_state s)
{
    static const char *const name[] = { "idle", "proving", "testing", "quarantined", "stuck", "closed" };
    return name[s];
}

cuzk_status lane_book_init(struct lane_book *b, struct task *t, uint32_t count, unsigned strikes_most)
{
    memset(b, 0, sizeof *b);
    b->lanes = calloc(count + 1u, sizeof *b->lanes);
    if (b->lanes == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for a table of %u lanes", count);
    b->count = count;
    b->strikes_most = strikes_most;
    for (uint32_t i = 0; i < count; i++) b->lanes[i].stages = LANE_SYNTHESISES | LANE_PROVES;
    return CUZK_OK;
}

void lane_book_fini(struct lane_book *b)
{
    free(b->lanes);
    b->lanes = NULL;
}

static bool open_lane(const struct lane *l) { return l->state != LANE_CLOSED && l->state != LANE_STUCK; }

bool lane_book_other_open(const struct lane_book *b, uint32_t lane)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (i != lane && open_lane(&b->lanes[i])) return true;
    return false;
}

bool lane_book_any_open(const struct lane_book *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->lanes[i].state != LANE_CLOSED) return true;
    return false;
}

unsigned lane_strikes(const struct lane *l, uint64_t now_ns)
{
    unsigned recent = 0;

    for (unsigned i = 0; i < LANE_STRIKES_KEPT && i < l->strike_count; i++)
        recent += now_ns - l->strike_ns[i] < HOUR_NS;
    return recent;
}

bool lane_strike(struct lane_book *b, uint32_t lane, uint64_t now_ns)
{
    struct lane *l = &b->lanes[lane];

    l->strike_ns[l->strike_count++ % LANE_STRIKES_KEPT] = now_ns;
    return b->strikes_most != 0 && lane_strikes(l, now_ns) >= b->strikes_most;
}
