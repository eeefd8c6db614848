/* Randomness from getrandom(2). */
#include "base/rng.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>

cuzk_status rng_bytes(struct task *t, void *out, size_t bytes)
{
    uint8_t *p = out;
    while (bytes > 0) {
        ssize_t got = getrandom(p, bytes, 0);
        if (got < 0) {
            int why = errno;
            if (why == EINTR) continue;
            FAIL(t, CUZK_IO, "the system gave no random bytes: %s", strerror(why));
            task_fail_errno(t, why);
            return CUZK_IO;
        }
        p += got;
        bytes -= (size_t)got;
    }
    return CUZK_OK;
}
