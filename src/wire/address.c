/* Addresses as the configuration and the command line write them; nothing is looked up. */
#include "wire/address.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

/* Of names and of numbers, with the zone of a version 6 address. */
static const char host_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:%";

cuzk_status address_parse(struct address *out, struct task *t, const char *text)
{
    memset(out, 0, sizeof *out);
    const char *host = text, *end;
    if (!strncmp(text, "unix:", 5)) {
        out->is_unix = true;
        host = text + 5;
        if (!strncmp(host, "//", 2)) host += 2;
        if (!*host)
            return FAIL(t, CUZK_INVALID_ARGUMENT,
                        "the address '%s' names no socket: unix:///run/cuzk/cuzk.sock", text);
        if (strlen(host) >= sizeof((struct sockaddr_un *)0)->sun_path)
            return FAIL(t, CUZK_INVALID_ARGUMENT,
                        "the path of a unix socket has at most %zu bytes, and '%s' has %zu",
                        sizeof((struct sockaddr_un *)0)->sun_path - 1, host, strlen(host));
        memcpy(out->host, host, strlen(host) + 1);
        return CUZK_OK;
    }
    const char *colon = strrchr(text, ':');
    if (!colon) goto malformed;
    end = colon;
    if (*host == '[') {
        host++;
        if (end == text || *--end != ']' || end < host) goto malformed;
    } else if (memchr(host, ':', (size_t)(end - host))) {
        goto malformed; /* a version 6 address without its brackets */
    }
    const size_t host_bytes = (size_t)(end - host), port_bytes = strlen(colon + 1);
    if (!host_bytes || host_bytes >= sizeof out->host || !port_bytes || port_bytes > 5) goto malformed;
    if (strspn(host, host_characters) < host_bytes) goto malformed;
    if (strspn(colon + 1, "0123456789") != port_bytes || strtoul(colon + 1, NULL, 10) > 65535) goto malformed;
    memcpy(out->host, host, host_bytes);
    memcpy(out->port, colon + 1, port_bytes);
    return CUZK_OK;
malformed:
    FAIL(t, CUZK_INVALID_ARGUMENT, "'%s' is not an address", text);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, NULL, "write host:port, [::1]:port or unix:///path");
    return t->error.status;
}

bool address_is_local(const struct address *a)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (a->is_unix || !strcmp(a->host, "localhost")) return true;
    if (inet_pton(AF_INET, a->host, &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, a->host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}
