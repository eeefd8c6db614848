/* The ledger: three kinds of bytes, one account each; nothing is taken that is not written here first. */
#ifndef CUZK_ENGINE_BUDGET_H
#define CUZK_ENGINE_BUDGET_H

#include "base/task.h"

#define BUDGET_DEVICES_MOST 16 /* as ENGINE_DEVICES_MOST */

enum bytes_kind { BYTES_HEAP, BYTES_PINNED, BYTES_DEVICE, BYTES_KINDS = BYTES_DEVICE + BUDGET_DEVICES_MOST };

/* So many bytes of every kind; BYTES_DEVICE + i is device i. */
struct bytes {
    uint64_t of[BYTES_KINDS];
};

struct budget {
    struct bytes total, used, peak;
};

static inline void bytes_add(struct bytes *a, const struct bytes *b)
{
    for (int k = 0; k < BYTES_KINDS; k++)
        a->of[k] = a->of[k] > UINT64_MAX - b->of[k] ? UINT64_MAX : a->of[k] + b->of[k];
}
static inline void bytes_max(struct bytes *a, const struct bytes *b)
{
    for (int k = 0; k < BYTES_KINDS; k++)
        if (a->of[k] < b->of[k]) a->of[k] = b->of[k];
}
/** The first kind of which need is more than room, or -1. */
int bytes_lacking(const struct bytes *need, const struct bytes *room);
const char *bytes_kind_name(int kind); /* "heap" */

void budget_init(struct budget *b, const struct bytes *total);
/** All of it, or nothing (false). */
bool budget_take(struct budget *b, const struct bytes *need);
/** Aborts if more is given than was taken: the ledger would be worthless from there on. */
void budget_give(struct budget *b, const struct bytes *back);
void budget_free(const struct budget *b, struct bytes *out);

/** CUZK_TOO_LARGE with both numbers if need exceeds the whole budget, else CUZK_OK. */
cuzk_status budget_fits(struct task *t, const struct budget *b, const struct bytes *need,
                        const char *who) MUST_CHECK;

/** The host bytes to use when none are configured: hostmem's limit less margin_bytes (UINT64_MAX: an eighth). */
uint64_t budget_default_heap(uint64_t margin_bytes);

#endif
