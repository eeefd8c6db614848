/* Addresses: where the daemon listens and where a client finds it. */
#ifndef CUZK_WIRE_ADDRESS_H
#define CUZK_WIRE_ADDRESS_H

#include "base/task.h"

#define ADDRESS_BYTES 128 /* a unix path has at most 107 */

/* "host:port", "[v6]:port" or "unix:///path" taken apart. */
struct address {
    bool is_unix;
    char host[ADDRESS_BYTES], port[8]; /* host: the path if is_unix */
};
/** Errors  CUZK_INVALID_ARGUMENT says what an address looks like. */
cuzk_status address_parse(struct address *out, struct task *t, const char *text) MUST_CHECK;
bool address_is_local(const struct address *a); /* unix or loopback: nobody else's machine can reach it */

#endif
