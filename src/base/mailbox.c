/* The stack of sent messages and the event descriptor that wakes the receiver. */
#include "base/mailbox.h"
#include "base/clock.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

cuzk_status mailbox_init(struct mailbox *m, struct task *t)
{
    atomic_init(&m->sent, NULL);
    m->received = NULL;
    m->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m->event_fd >= 0) return CUZK_OK;
    int why = errno;
    FAIL(t, CUZK_IO, "an event descriptor could not be had: %s", strerror(why));
    task_fail_errno(t, why);
    return CUZK_IO;
}

void mailbox_fini(struct mailbox *m)
{
    if (m->event_fd >= 0) close(m->event_fd);
    m->event_fd = -1;
}

void mailbox_send(struct mailbox *m, struct message *message)
{
    struct message *newest = atomic_load_explicit(&m->sent, memory_order_relaxed);
    do {
        message->next_message = newest;
    } while (!atomic_compare_exchange_weak_explicit(&m->sent, &newest, message, memory_order_release,
                                                    memory_order_relaxed));
    if (newest != NULL) return; /* whoever sent the first one wakes the receiver */
    uint64_t one = 1;
    ssize_t written;
    do {
        written = write(m->event_fd, &one, sizeof one);
    } while (written < 0 && errno == EINTR); /* EAGAIN: the counter is full, so it is readable */
}

/* Takes what was sent.  The descriptor is cleared first: a message sent after that raises it again. */
static void receive(struct mailbox *m)
{
    uint64_t count;
    ssize_t got = read(m->event_fd, &count, sizeof count);
    (void)got; /* EAGAIN: nothing new */
    struct message *newest = atomic_exchange_explicit(&m->sent, NULL, memory_order_acquire);
    while (newest != NULL) {
        struct message *older = newest->next_message;
        newest->next_message = m->received;
        m->received = newest;
        newest = older;
    }
    /* mailbox_fd stays readable for one who polls before each take. */
    if (m->received != NULL && m->received->next_message != NULL) {
        uint64_t one = 1;
        ssize_t written = write(m->event_fd, &one, sizeof one);
        (void)written;
    }
}

struct message *mailbox_take(struct mailbox *m, int timeout_ms)
{
    uint64_t start_ns = clock_now_ns();
    int left_ms = timeout_ms;
    while (m->received == NULL) {
        receive(m);
        if (m->received != NULL || left_ms == 0) break;
        struct pollfd p = { .fd = m->event_fd, .events = POLLIN };
        poll(&p, 1, left_ms); /* interrupted: the time left is counted below */
        if (timeout_ms > 0) {
            uint64_t gone_ms = (clock_now_ns() - start_ns) / 1000000;
            left_ms = gone_ms >= (uint64_t)timeout_ms ? 0 : timeout_ms - (int)gone_ms;
        }
    }
    struct message *oldest = m->received;
    if (oldest != NULL) m->received = oldest->next_message;
    return oldest;
}
