/* The forms of the engine's calls that wait for their answer. */
#include "engine/engine.h"
#include "base/bytes.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
    struct job_answer job;
    struct key_answer key;
};

static void waiting_init(struct waiting *w)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->done, NULL);
}

static void wait_for(struct waiting *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->is_done) pthread_cond_wait(&w->done, &w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->lock);
}

static void is_told(struct waiting *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_done = true;
    pthread_cond_signal(&w->done);
    pthread_mutex_unlock(&w->lock);
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = malloc(bytes + 1);

    if (copy != NULL && bytes > 0) memcpy(copy, data, bytes);
    return copy;
}

static void job_is_told(void *context, const struct job_answer *answer)
{
    struct waiting *w = context;

    w->job = *answer;
    w->job.error_text = copy_of(answer->error_text, strlen(answer->error_text) + 1);
    w->job.proof.data = copy_of(answer->proof.data, answer->proof.size);
    w->job.text.data = copy_of(answer->text.data, answer->text.size);
    if (w->job.error_text == NULL || w->job.proof.data == NULL || w->job.text.data == NULL) {
        job_answer_free(&w->job);
        w->job.status = CUZK_NO_MEMORY;
    }
    is_told(w);
}

void job_answer_free(struct job_answer *a)
{
    free((void *)(uintptr_t)a->error_text);
    free((void *)(uintptr_t)a->proof.data);
    free((void *)(uintptr_t)a->text.data);
    a->error_text = NULL;
    a->proof = a->text = span_of(NULL, 0);
}

cuzk_status engine_submit_wait(struct engine *e, struct task *t, const struct engine_request *r,
                               struct job_answer *out)
{
    struct waiting w;

    waiting_init(&w);
    const cuzk_status status = engine_submit(e, t, r, job_is_told, &w);
    if (status != CUZK_OK) {
        is_told(&w);
        wait_for(&w);
        return status;
    }
    wait_for(&w);
    *out = w.job;
    return CUZK_OK;
}

void engine_await_wait(struct engine *e, const char *job_id, uint64_t timeout_ms, struct job_answer *out)
{
    struct waiting w;

    waiting_init(&w);
    engine_await(e, job_id, timeout_ms, job_is_told, &w);
    wait_for(&w);
    *out = w.job;
}

void engine_cancel_wait(struct engine *e, const char *job_id, struct job_answer *out)
{
    struct waiting w;

    waiting_init(&w);
    engine_cancel(e, job_id, job_is_told, &w);
    wait_for(&w);
    *out = w.job;
}

static void key_is_told(void *context, const struct key_answer *answer)
{
    struct waiting *w = context;

    w->key = *answer;
    w->key.error_text = "";
    is_told(w);
}

void engine_preload_wait(struct engine *e, const char *circuit, struct key_answer *out)
{
    struct waiting w;

    waiting_init(&w);
    engine_preload(e, circuit, key_is_told, &w);
    wait_for(&w);
    *out = w.key;
}

void engine_evict_wait(struct engine *e, const char *circuit, struct key_answer *out)
{
    struct waiting w;

    waiting_init(&w);
    engine_evict(e, circuit, key_is_told, &w);
    wait_for(&w);
    *out = w.key;
}
