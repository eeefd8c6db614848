/* A queue with many senders and one receiver that can wait for it together with other descriptors.
 *
 * Sending never blocks and takes no lock: the list is a stack that the receiver takes whole and turns around, so messages of one
 * sender arrive in the order in which they were sent. */
#ifndef CUZK_BASE_MAILBOX_H
#define CUZK_BASE_MAILBOX_H

#include "base/task.h"

/* Embedded as a member of what is sent; the mailbox owns no message and frees none. */
struct message {
    struct message *next_message;
};

struct mailbox {
    _Atomic(struct message *) sent; /* newest first */
    struct message *received;       /* oldest first; the receiver's own */
    int event_fd;                   /* readable while there may be messages */
};

cuzk_status mailbox_init(struct mailbox *m, struct task *t) MUST_CHECK; /* CUZK_IO: out of descriptors */
void mailbox_fini(struct mailbox *m); /* no message may be left, no sender may run */

/** Thread: any.  The message belongs to the receiver from here on. */
void mailbox_send(struct mailbox *m, struct message *message);

/** The oldest message, or NULL after timeout_ms without one (0: at once, -1: wait for ever).  Thread: the receiver's only. */
struct message *mailbox_take(struct mailbox *m, int timeout_ms);

/** For poll(2): readable when mailbox_take may find something. */
static inline int mailbox_fd(const struct mailbox *m) { return m->event_fd; }

#endif
