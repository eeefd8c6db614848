/* A device, workers and a folder for tests that make keys and proofs. */
#include "support/proving.h"
#include "base/status.h"
#include "groth16/setup.h"
#include <stdio.h>
#include <string.h>

void proving_must(const struct task *t, cuzk_status status, const char *what)
{
    if (status == CUZK_OK) return;
    fprintf(stderr, "%s: %s: %s (%s, field %s, offset %llu)\n", what, status_name(status), t->error.text,
            t->error.path, t->error.field, (unsigned long long)t->error.offset);
    abort();
}

void proving_task(struct task *t, const struct proving *p)
{
    task_init(t);
    t->pool = p->pool;
}

const struct backend *proving_backend(int argc, char **argv, bool *slow)
{
    const char *name = "cpu";
    size_t devices = 0;
    struct task t;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--slow") == 0)
            *slow = true;
        else
            name = argv[i];
    const struct backend *b = backend_by_name(name);
    task_init(&t);
    if (b != NULL && b->probe(&t, NULL, 0, &devices) == CUZK_OK && devices > 0) return b;
    printf("skipped: no %s device in this build or on this machine\n", name);
    return NULL;
}

void proving_open(struct proving *p, const char *backend)
{
    struct device_options options = { 0 };
    struct task t;

    memset(p, 0, sizeof *p);
    prng_init(&p->random);
    temp_folder_create(&p->folder);
    task_init(&t);
    proving_must(&t, pool_create(&p->pool, &t, 0), "pool");
    t.pool = p->pool;
    p->backend = backend_by_name(backend);
    if (p->backend == NULL) {
        fprintf(stderr, "no backend %s\n", backend);
        abort();
    }
    options.threads = pool_width(p->pool);
    proving_must(&t, p->backend->open(&p->device, &t, &options), "device");
}

void proving_close(struct proving *p)
{
    p->backend->close(p->device);
    pool_destroy(p->pool);
    temp_folder_remove(&p->folder);
}

static void random_fr(struct fr *out, struct proving *p, const struct curve *c)
{
    uint8_t wide[64];

    prng_bytes(&p->random, wide, sizeof wide);
    c->fr.from_wide(out, wide);
}

void proving_secrets(struct trapdoor *out, struct proving *p, const struct curve *c,
                     enum root_convention layout)
{
    struct fr_int *const secret[] = { &out->tau, &out->alpha, &out->beta, &out->gamma, &out->delta };
    struct fr drawn;

    out->curve = c;
    out->layout = layout;
    for (size_t i = 0; i < ARRAY_COUNT(secret); i++) {
        random_fr(&drawn, p, c);
        c->fr.to_int(secret[i], &drawn);
    }
    if (layout == ROOT_BELLMAN) return;
    c->fr.from_u64(&drawn, 1);
    c->fr.to_int(&out->gamma, &drawn);
}

void proving_blinding(struct groth16_blinding *out, struct proving *p, const struct curve *c)
{
    random_fr(&out->r, p, c);
    random_fr(&out->s, p, c);
}

void proving_circuit(struct r1cs_file *out, const struct random_circuit *circuit)
{
    struct task t;

    task_init(&t);
    proving_must(&t,
                 r1cs_file_parse(out, &t, "a random circuit", span_of(circuit->r1cs, circuit->r1cs_bytes)),
                 "circuit");
}

struct groth16_key *proving_key(struct proving *p, const struct random_circuit *circuit,
                                const struct trapdoor *secrets, const char *name)
{
    const bool bellman = secrets->layout == ROOT_BELLMAN;
    char file[64], r1cs_path[PATH_MAX], key_path[PATH_MAX];
    struct r1cs_file parsed;
    struct task t;

    snprintf(file, sizeof file, "%s.r1cs", name);
    temp_folder_path(r1cs_path, &p->folder, file);
    snprintf(file, sizeof file, "%s.%s", name, bellman ? "params" : "zkey");
    temp_folder_path(key_path, &p->folder, file);
    proving_task(&t, p);
    proving_must(&t, mapfile_write(&t, r1cs_path, circuit->r1cs, circuit->r1cs_bytes, 0600),
                 "writing the circuit");
    proving_circuit(&parsed, circuit);
    const struct groth16_setup_paths paths = { .key = key_path };
    proving_must(&t, groth16_setup_write(&t, &parsed, secrets, &paths, p->backend, p->device), "set-up");
    return proving_key_open(p, key_path, bellman ? r1cs_path : NULL);
}

struct groth16_key *proving_key_open(struct proving *p, const char *key_path, const char *r1cs_path)
{
    struct groth16_key *key;
    struct task t;

    proving_task(&t, p);
    proving_must(&t, groth16_key_open(&key, &t, key_path, r1cs_path), "opening the key");
    return key;
}

uint8_t *proving_read_file(const char *path, size_t *bytes)
{
    struct mapfile f = { 0 };
    struct task t;

    task_init(&t);
    proving_must(&t, mapfile_open(&f, &t, path), path);
    uint8_t *copy = malloc(f.bytes.size + 1);
    if (copy == NULL) abort();
    memcpy(copy, f.bytes.data, f.bytes.size);
    *bytes = f.bytes.size;
    mapfile_close(&f);
    return copy;
}

struct proving cpu_proving;

int cpu_proving_open(void **state)
{
    (void)state;
    proving_open(&cpu_proving, "cpu");
    return 0;
}

int cpu_proving_close(void **state)
{
    (void)state;
    proving_close(&cpu_proving);
    return 0;
}
