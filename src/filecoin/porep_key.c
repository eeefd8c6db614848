/* What proofs of a sector size share. */
#include "filecoin/porep_key.h"
#include "groth16/key_check.h"
#include "groth16/key_secret.h"
#include <string.h>

/* What is certain before any counting: two vectors of the domain, and the values of all variables beside them. */
static cuzk_status check_least(struct task *t, const struct porep_binding *b, uint64_t memory_bytes)
{
    const uint64_t least =
        32 * ((2ull << constraints_domain_log2(&b->constraints)) + b->constraints.variable_count);

    if (memory_bytes == 0 || least <= memory_bytes) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_TOO_LARGE,
             "a proof of a %s sector takes at least %llu bytes of memory on this machine; the limit is %llu",
             b->circuit.shape->name, (unsigned long long)least, (unsigned long long)memory_bytes);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "memory_bytes",
                    "raise the limit, or use a machine with more memory");
    return status;
}

/* Everything before the .params file. */
static cuzk_status open_circuit(struct porep_key *k, struct task *t, const struct porep_shape *shape,
                                const char *given, char folder[PATH_MAX])
{
    TRY(params_folder_find(folder, t, given));
    k->development = params_folder_is_development(folder);
    TRY(params_vk_open(&k->vk, t, folder, shape));
    groth16_verifier_init(&k->verifier, &k->vk);
    return porep_bind(&k->binding, t, shape);
}

static cuzk_status finish(struct porep_key *k, struct task *t)
{
    TRY(groth16_key_compare_vk(t, k->key, &k->vk));
    k->shared_bytes = k->key->heap_bytes + image_bytes(&k->binding.circuit.image);
    return CUZK_OK;
}

cuzk_status porep_key_open(struct porep_key *out, struct task *t, const struct porep_shape *shape,
                           const char *given, enum groth16_key_mode mode, uint64_t memory_bytes)
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct mapfile file = { 0 };

    TRY(open_circuit(out, t, shape, given, folder));
    TRY(check_least(t, &out->binding, memory_bytes));
    TRY(params_path(path, t, folder, shape, ".params"));
    TRY(params_file_open_checked(&file, t, folder, shape, ".params", true, &out->checked));
    mapfile_close(&file); /* the key maps it for itself */
    TRY(groth16_key_open_circuit(&out->key, t, path, &out->binding.constraints));
    TRY(groth16_key_choose(out->key, t, mode, NULL, &out->derived_refused));
    out->checked = out->checked || groth16_key_is_known(out->key);
    return finish(out, t);
}

cuzk_status porep_key_outline(struct porep_key *out, struct task *t, const struct porep_shape *shape,
                              const char *given, enum groth16_key_mode mode)
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct mapfile file = { 0 };

    TRY(open_circuit(out, t, shape, given, folder));
    TRY(params_path(path, t, folder, shape, ".params"));
    TRY(params_file_open(&file, t, folder, shape, ".params"));
    mapfile_close(&file);
    TRY(groth16_key_outline(&out->key, t, path, &out->binding.constraints));
    TRY(groth16_key_choose(out->key, t, mode, NULL, &out->derived_refused));
    return finish(out, t);
}

cuzk_status porep_key_from_secret(struct porep_key *key, struct task *t, const struct trapdoor *secrets,
                                  bool derived, const struct backend *backend, struct device *device)
{
    TRY(groth16_key_from_secret(&key->key, t, &key->binding.constraints, secrets, derived, backend, device));
    groth16_verifier_init(&key->verifier, &key->key->vk);
    key->shared_bytes = key->key->heap_bytes + image_bytes(&key->binding.circuit.image);
    key->development = key->checked = true;
    return CUZK_OK;
}

void porep_key_close(struct porep_key *k)
{
    groth16_key_unref(k->key);
    groth16_vk_fini(&k->vk);
    porep_unbind(&k->binding);
    memset(k, 0, sizeof *k);
}
