/* The ledger's arithmetic, and the default for the host. */
#include "engine/budget.h"
#include "base/hostmem.h"
#include <stdio.h>
#include <stdlib.h>

static const char *const device_names[BUDGET_DEVICES_MOST] = {
    "device 0", "device 1", "device 2",  "device 3",  "device 4",  "device 5",  "device 6",  "device 7",
    "device 8", "device 9", "device 10", "device 11", "device 12", "device 13", "device 14", "device 15",
};

const char *bytes_kind_name(int kind)
{
    if (kind == BYTES_HEAP) return "heap";
    if (kind == BYTES_PINNED) return "pinned";
    return device_names[kind - BYTES_DEVICE];
}

int bytes_lacking(const struct bytes *need, const struct bytes *room)
{
    for (int k = 0; k < BYTES_KINDS; k++)
        if (need->of[k] > room->of[k]) return k;
    return -1;
}

void budget_init(struct budget *b, const struct bytes *total)
{
    static const struct budget empty;

    *b = empty;
    b->total = *total;
}

void budget_free(const struct budget *b, struct bytes *out)
{
    for (int k = 0; k < BYTES_KINDS; k++) out->of[k] = b->total.of[k] - b->used.of[k];
}

bool budget_take(struct budget *b, const struct bytes *need)
{
    struct bytes room;

    budget_free(b, &room);
    if (bytes_lacking(need, &room) >= 0) return false;
    bytes_add(&b->used, need);
    bytes_max(&b->peak, &b->used);
    return true;
}

void budget_give(struct budget *b, const struct bytes *back)
{
    for (int k = 0; k < BYTES_KINDS; k++) {
        if (back->of[k] > b->used.of[k]) {
            fprintf(stderr, "cuzk: the ledger is given %llu bytes of %s of which %llu were taken\n",
                    (unsigned long long)back->of[k], bytes_kind_name(k), (unsigned long long)b->used.of[k]);
            abort();
        }
        b->used.of[k] -= back->of[k];
    }
}

cuzk_status budget_fits(struct task *t, const struct budget *b, const struct bytes *need, const char *who)
{
    const int k = bytes_lacking(need, &b->total);

    if (k < 0) return CUZK_OK;
    const bool device = k >= BYTES_DEVICE;
    const cuzk_status status =
        FAIL(t, CUZK_TOO_LARGE, "%s takes %llu bytes of %s; the whole budget is %llu beside what is set aside for %s",
             who, (unsigned long long)need->of[k], bytes_kind_name(k), (unsigned long long)b->total.of[k],
             device ? "the lanes' streams" : "queued payloads and tables");
    task_fail_place(t, NULL, ERROR_NO_OFFSET, bytes_kind_name(k),
                    device ? "give more of the device's memory (cuzkd: [gpus] memory; cuzk: --device-memory), or use fewer lanes; "
                             "cuzk prove --process never has no such lanes"
                           : "use a machine with more memory; cuzkd: raise [memory] total_budget or lower [limits] queued_bytes; "
                             "cuzk prove: --process never holds the key once");
    return status;
}

uint64_t budget_default_heap(uint64_t margin_bytes)
{
    const uint64_t limit = hostmem_limit_bytes();

    if (margin_bytes == UINT64_MAX) margin_bytes = limit / 8;
    return margin_bytes < limit ? limit - margin_bytes : 0;
}
