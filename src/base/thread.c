/* Starting threads with signals blocked. */
#include "base/thread.h"
#include "base/bytes.h"
#include <signal.h>

int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *context)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF };
    sigset_t blocked, before;

    sigfillset(&blocked);
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const int why = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why == 0) pthread_setname_np(*thread, name);
    return why;
}
