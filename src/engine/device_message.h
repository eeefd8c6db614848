/* What the engine and a device's process say to each other: one message a packet of a SOCK_SEQPACKET socket.
 *
 *     "cuzm"  version  kind  bytes of the body      4 little-endian words of 32 bits
 *     number of the exchange                        64 bits; an answer has its request's
 *     body                                          fields of 64 bits; texts and octets with their length before them
 *
 * What is large goes as a blob: a memfd whose size is sealed, so that neither side can take pages away under the other's hands.  Each
 * side checks every length against what has arrived, and what is read beyond the end is zero and makes the message broken. */
#ifndef CUZK_ENGINE_DEVICE_MESSAGE_H
#define CUZK_ENGINE_DEVICE_MESSAGE_H

#include "base/span.h"
#include "base/task.h"

#define DEVICE_MESSAGE_BYTES 16384 /* the most; circuit, paths and parameters have room */
#define DEVICE_MESSAGE_FDS   80    /* of HELLO: the shared page and a socket a lane */
#define DEVICE_CHANNELS      66    /* 64 lanes, the loader */

enum device_request {
    DEVICE_HELLO, /* on the control socket: what to open; fds: the shared page, the channels.  Answer: the device */
    DEVICE_MEASURE, /* a circuit.  Answer: what it takes there */
    DEVICE_LOAD,    /* a circuit, the mark of its key */
    DEVICE_UNLOAD,  /* a circuit's index */
    DEVICE_PROVE, /* a circuit, mark, part, grant, parameters; fds: payload or carry.  Answer: size; fds: the proof */
    DEVICE_PROVE_PARTS, /* the same, and which parts; fds: the payload.  Answer: the size of each proof, 0: none; fds: those, in a row */
    DEVICE_TEST,
    DEVICE_REQUESTS
};
#define DEVICE_ANSWER 0x80u /* added to the request's kind */

struct device_message {
    uint32_t kind;
    uint64_t number;
    size_t size, at; /* of the body; at: where reading or writing is */
    bool broken;     /* something did not fit, or was not there */
    unsigned fd_count;
    int fds[DEVICE_MESSAGE_FDS]; /* received: owned until taken */
    uint8_t bytes[DEVICE_MESSAGE_BYTES];
};

/* What both have mapped, for each channel. */
struct device_shared {
    atomic_bool cancel[DEVICE_CHANNELS]; /* the parent's */
    atomic_uint waits[DEVICE_CHANNELS];  /* the child's: counted on while a request waits there for others */
};

void device_message_begin(struct device_message *m, uint32_t kind, uint64_t number);
void device_message_put(struct device_message *m, uint64_t value);
void device_message_put_octets(struct device_message *m, const void *data, size_t bytes);
void device_message_put_text(struct device_message *m, const char *text); /* NULL is kept */
void device_message_put_fd(struct device_message *m, int fd);             /* stays the sender's */
void device_message_put_error(struct device_message *m, const struct error *e);

uint64_t device_message_get(struct device_message *m);
struct span device_message_get_octets(struct device_message *m);
/** At most bytes - 1 octets without a NUL; what is longer is broken.  Returns out, or NULL if NULL was sent. */
const char *device_message_get_text(struct device_message *m, char *out, size_t bytes);
/** The oldest descriptor not yet taken, the caller's from here on; -1 and broken: there is none. */
int device_message_take_fd(struct device_message *m);
void device_message_get_error(struct device_message *m, struct error *e); /* its texts are lines of UTF-8 */
/** Everything has been read, and nothing was missing or left over. */
bool device_message_done(const struct device_message *m);
void device_message_drop(
    struct device_message *m); /* closes descriptors that nobody took; legal on a zeroed one */

/** 0 or an errno; EMSGSIZE: broken. */
int device_message_send(const struct device_message *m, int socket);
/** 0, EPIPE: the other side is gone, EPROTO: not a message, or an errno.  Waits.  Descriptors have close-on-exec. */
int device_message_receive(struct device_message *m, int socket);

/* A blob. */
struct device_blob {
    int fd; /* -1: none */
    uint8_t *data;
    size_t bytes;
};
#define DEVICE_NO_BLOB ((struct device_blob){ .fd = -1 })
/** Pages are taken at once, and are in no core file.  Errors  CUZK_NO_MEMORY, CUZK_IO (descriptors). */
cuzk_status device_blob_create(struct device_blob *b, struct task *t, size_t bytes) MUST_CHECK;
/** Maps what another process has made.  fd is the blob's from here on, also on failure.  CUZK_DEVICE_LOST: it is not a blob of so many bytes. */
cuzk_status device_blob_map(struct device_blob *b, struct task *t, int fd, size_t bytes) MUST_CHECK;
/** Copies a blob of a process that is not trusted, and closes fd.  CUZK_DEVICE_LOST as above; CUZK_NO_MEMORY. */
cuzk_status device_blob_read(struct task *t, uint8_t **out, int fd, size_t bytes) MUST_CHECK;
void device_blob_close(struct device_blob *b, bool secret); /* secret: wiped */

#endif
