/* Listening sockets, and the thread that accepts connections up to a limit. */
#ifndef CUZK_WIRE_LISTENER_H
#define CUZK_WIRE_LISTENER_H

#include "wire/address.h"

struct listener;
/** Takes over fd: connected, non-blocking, closed on exec.  surplus: there are connection_most already, and this one is to be told so.
 * Thread  the listener's. */
typedef void listener_accepted(void *context, int fd, bool surplus);

cuzk_status listener_create(struct listener **out, struct task *t, unsigned connection_most,
                            listener_accepted *accepted, void *context) MUST_CHECK;
/** As rpc_server_listen.  A unix socket gets mode 0660; one that nobody listens at any more is replaced. */
cuzk_status listener_add(struct listener *l, struct task *t, const char *address, char *bound,
                         size_t bound_bytes) MUST_CHECK;
cuzk_status listener_start(struct listener *l, struct task *t) MUST_CHECK;
void listener_stop(struct listener *l);    /* closes the sockets and removes those of unix */
void listener_destroy(struct listener *l); /* NULL is legal */

#endif
