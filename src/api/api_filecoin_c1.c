/* Vanilla proofs: read, checked, made. */
#include "api/api_filecoin.h"
#include "circuits/porep/porep_seal.h"
#include "base/bytes.h"
#include "formats/c1json.h"
#include <stdlib.h>
#include <string.h>

static cuzk_status open_c1(struct api_call *call, cuzk_c1 **out, struct span data, const char *path)
{
    void *handle;

    TRY(api_new(call, &handle, sizeof(cuzk_c1)));
    cuzk_c1 *c1 = handle;
    const cuzk_status status = c1_read(&c1->c1, &call->task, data, path);
    if (status != CUZK_OK) {
        task_fail_place(
            &call->task, path, ERROR_NO_OFFSET, NULL,
            status == CUZK_NO_MEMORY
                ? NULL
                : "give the output of Commit Phase 1 as it was written: JSON, JSON in Curio's wrapper, "
                  "or bincode");
        free(c1);
        return status;
    }
    *out = c1;
    return CUZK_OK;
}

cuzk_status cuzk_c1_open(cuzk_c1 **out, const char *path, cuzk_error *error)
{
    struct mapfile file = { 0 };
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (path == NULL) return api_end(&call, api_refuse(&call, "path"), error);
    cuzk_status status = mapfile_open(&file, &call.task, path);
    if (status == CUZK_OK) status = open_c1(&call, out, file.bytes, file.path);
    mapfile_close(&file);
    return api_end(&call, status, error);
}

cuzk_status cuzk_c1_from_memory(cuzk_c1 **out, const void *data, size_t bytes, cuzk_error *error)
{
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (data == NULL) return api_end(&call, api_refuse(&call, "data"), error);
    return api_end(&call, open_c1(&call, out, span_of(data, bytes), "the vanilla proofs in memory"), error);
}

void cuzk_c1_close(cuzk_c1 *c1)
{
    if (c1 == NULL) return;
    c1_fini(&c1->c1);
    free(c1);
}

void cuzk_c1_describe(const cuzk_c1 *c1, cuzk_c1_info *out)
{
    cuzk_c1_info own = CUZK_C1_INFO_INIT;
    const struct c1 *c = &c1->c1;

    own.proof_type = c->proof->name;
    own.sector_name = c->shape->name;
    own.sector_bytes = c->shape->sector_bytes;
    own.partitions = c->partitions;
    own.challenges = c->shape->challenges;
    memcpy(own.comm_r, c->comm_r, 32);
    memcpy(own.comm_d, c->comm_d, 32);
    memcpy(own.replica_id, c->replica_id, 32);
    memcpy(own.seed, c->seed, 32);
    memcpy(own.ticket, c->ticket, 32);
    own.has_sector = c->has_sector;
    own.has_prover = c->has_prover;
    own.sector = c->sector_number;
    memcpy(own.prover_id, c->prover_id, 32);
    api_copy_out(out, &own, sizeof own);
}

cuzk_status cuzk_c1_check(cuzk_context *context, const cuzk_c1 *c1, const cuzk_watch *watch,
                          cuzk_error *error)
{
    struct api_call call;

    api_begin(&call, context, watch);
    if (c1 == NULL) return api_end(&call, api_refuse(&call, "c1"), error);
    return api_end(&call, porep_check(&c1->c1, &call.task), error);
}

cuzk_status cuzk_c1_check_identity(const cuzk_c1 *c1, uint64_t miner, uint64_t sector, cuzk_error *error)
{
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (c1 == NULL) return api_end(&call, api_refuse(&call, "c1"), error);
    return api_end(&call, porep_check_identity(&c1->c1, &call.task, miner, sector), error);
}

/* -- making them ------------------------------------------------------------------------------------------------------- */

static cuzk_status find_proof_type(const struct registered_proof **out, struct task *t, const char *name)
{
    *out = registered_proof_by_name(name, strlen(name));
    if (*out != NULL) return CUZK_OK;
    const cuzk_status status = FAIL(t, CUZK_INVALID_ARGUMENT, "there is no proof type '%s'", name);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "proof_type", "proof types are named like StackedDrg32GiBV1_1");
    return status;
}

cuzk_status cuzk_c1_generate(cuzk_c1 **out, cuzk_context *context, const cuzk_c1_options *options,
                             const cuzk_watch *watch, cuzk_error *error)
{
    cuzk_c1_options own = CUZK_C1_OPTIONS_INIT;
    struct porep_seal_request request;
    struct api_call call;
    void *handle;

    api_begin(&call, context, watch);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    api_copy_in(&own, sizeof own, options);
    if (own.proof_type == NULL) return api_end(&call, api_refuse(&call, "proof_type"), error);
    cuzk_status status = find_proof_type(&request.proof, &call.task, own.proof_type);
    if (status == CUZK_OK) status = api_new(&call, &handle, sizeof(cuzk_c1));
    if (status != CUZK_OK) return api_end(&call, status, error);
    request.miner = own.miner;
    request.sector = own.sector;
    request.seed = own.seed;
    cuzk_c1 *c1 = handle;
    status = own.sparse ? porep_seal_sparse(&c1->c1, &call.task, &request)
                        : porep_seal(&c1->c1, &call.task, &request);
    if (status == CUZK_OK)
        *out = c1;
    else
        cuzk_c1_close(c1);
    return api_end(&call, status, error);
}

cuzk_status cuzk_c1_save(const cuzk_c1 *c1, const char *path, int wrapped, cuzk_error *error)
{
    struct api_call call;
    uint8_t *text = NULL;
    size_t bytes = 0;

    api_begin(&call, NULL, NULL);
    if (c1 == NULL) return api_end(&call, api_refuse(&call, "c1"), error);
    if (path == NULL) return api_end(&call, api_refuse(&call, "path"), error);
    cuzk_status status = c1json_write(&c1->c1, &call.task, wrapped != 0, &text, &bytes);
    if (status == CUZK_OK) status = mapfile_write(&call.task, path, text, bytes, 0600);
    if (text != NULL) wipe(text, bytes);
    free(text);
    return api_end(&call, status, error);
}
