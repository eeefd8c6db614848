/* Running a counted loop of the CPU backend on a bounded number of slots. */
#include "backend/cpu/cpu_run.h"

#include "base/clock.h"

struct loop {
    const struct cpu_team *team;
    cpu_body *body;
    void *context;
    size_t count;
    atomic_size_t next;
};

/* Reads only what other threads may read of a task. */
static bool stopped(const struct task *t)
{
    if (t->cancel && atomic_load_explicit(t->cancel, memory_order_relaxed)) return true;
    return t->deadline_ns != 0 && clock_now_ns() >= t->deadline_ns;
}

static void slot_body(void *context, size_t slot, unsigned worker)
{
    struct loop *l = context;
    (void)worker;
    for (;;) {
        const size_t index = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        if (index >= l->count || stopped(l->team->task)) return;
        l->body(l->context, index, (unsigned)slot);
    }
}

cuzk_status cpu_run(const struct cpu_team *team, size_t count, cpu_body *body, void *context)
{
    struct loop l = { .team = team, .body = body, .context = context, .count = count };
    atomic_init(&l.next, 0);
    pool_run(team->pool, count < team->slots ? count : team->slots, slot_body, &l);
    return task_poll(team->task);
}
