/* Verifies proofs for the daemon's tests with the public library, many in one process: a daemon's word is not taken for its proofs.
 *
 * Each line of standard input is VK <tab> PROOF <tab> PUBLIC: the path of a verifying key, and the two texts that snarkjs writes.
 * Each line of standard output is "ok", or says why not. */
#include "cuzk/cuzk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MOST 16

struct known_key {
    char *path;
    cuzk_vk *vk;
};

static const cuzk_vk *key_of(const char *path, cuzk_error *error)
{
    static struct known_key keys[KEYS_MOST];
    static size_t count;
    size_t i = 0;

    while (i < count && strcmp(keys[i].path, path) != 0) i++;
    if (i < count) return keys[i].vk;
    if (count == KEYS_MOST || cuzk_vk_open(&keys[count].vk, path, error) != CUZK_OK) return NULL;
    keys[count].path = strdup(path);
    return keys[count++].vk;
}

static cuzk_status check(char *line, cuzk_error *error)
{
    char *rest = NULL;
    const char *path = strtok_r(line, "\t\n", &rest), *proof_text = strtok_r(NULL, "\t\n", &rest),
               *public_text = strtok_r(NULL, "\t\n", &rest);
    const cuzk_vk *vk = public_text != NULL ? key_of(path, error) : NULL;
    cuzk_publics *publics = NULL;
    cuzk_proof *proof = NULL;

    if (vk == NULL) return CUZK_INVALID_ARGUMENT;
    cuzk_status status = cuzk_proof_from_memory(&proof, proof_text, strlen(proof_text), error);
    if (status == CUZK_OK)
        status = cuzk_publics_from_memory(&publics, public_text, strlen(public_text), error);
    if (status == CUZK_OK) status = cuzk_verify(vk, publics, proof, error);
    cuzk_publics_close(publics);
    cuzk_proof_close(proof);
    return status;
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;

    while (getline(&line, &capacity, stdin) > 0) {
        cuzk_error error = CUZK_ERROR_INIT;
        const cuzk_status status = check(line, &error);
        if (status == CUZK_OK)
            puts("ok");
        else
            printf("status %d: %s\n", (int)status, error.text);
        fflush(stdout);
    }
    free(line);
    return 0;
}
