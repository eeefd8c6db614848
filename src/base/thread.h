/* Threads of a library: signals belong to the threads of the program. */
#ifndef CUZK_BASE_THREAD_H
#define CUZK_BASE_THREAD_H

#include <pthread.h>

/** pthread_create for a thread that takes no signals but those that a fault of its own raises, which must reach a crash handler.
 * name: at most 15 characters.  Returns 0 or an errno. */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *context);

#endif
