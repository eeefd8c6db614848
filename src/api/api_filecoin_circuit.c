/* Built-in circuits: their names, counts and digests, and development parameters for them. */
#include "api/api_filecoin.h"
#include "base/bytes.h"
#include "groth16/key_derived.h"
#include "groth16/setup.h"
#include <string.h>

/* -- names ------------------------------------------------------------------------------------------------------------- */

static const struct porep_shape *real_shape(uint64_t sector_bytes)
{
    static const uint64_t real[] = { 2048, 8ull << 20, 512ull << 20, 32ull << 30, 64ull << 30 };

    for (size_t i = 0; i < ARRAY_COUNT(real); i++)
        if (real[i] == sector_bytes) return porep_shape_by_bytes(sector_bytes);
    return NULL;
}

uint64_t cuzk_sector_bytes(const char *name)
{
    uint64_t n = 0;
    unsigned shift;

    if (name == NULL) return 0;
    if (strncmp(name, "porep-", 6) == 0) name += 6;
    for (; *name >= '0' && *name <= '9' && n < 10000; name++) n = 10 * n + (uint64_t)(*name - '0');
    switch (*name) {
    case 'k':
    case 'K':
        shift = 10;
        break;
    case 'm':
    case 'M':
        shift = 20;
        break;
    case 'g':
    case 'G':
        shift = 30;
        break;
    default:
        return 0;
    }
    if (name[1] != '\0' && strcmp(name + 1, "iB") != 0 && strcmp(name + 1, "ib") != 0) return 0;
    return real_shape(n << shift) != NULL ? n << shift : 0;
}

const char *cuzk_sector_name(uint64_t sector_bytes)
{
    const struct porep_shape *s = real_shape(sector_bytes);

    return s != NULL ? s->name : NULL;
}

cuzk_status porep_shape_need(const struct porep_shape **out, struct task *t, uint64_t sector_bytes)
{
    *out = real_shape(sector_bytes);
    if (*out != NULL) return CUZK_OK;
    const cuzk_status status = FAIL(t, CUZK_INVALID_ARGUMENT, "there is no sector size of %llu bytes",
                                    (unsigned long long)sector_bytes);
    task_fail_place(t, NULL, ERROR_NO_OFFSET, "sector_bytes",
                    "2KiB, 8MiB, 512MiB, 32GiB and 64GiB have parameters");
    return status;
}

size_t cuzk_porep_parameter_name(uint64_t sector_bytes, char *buffer, size_t capacity)
{
    const struct porep_shape *s = real_shape(sector_bytes);
    char name[POREP_PARAMETER_NAME_BYTES];

    if (s == NULL) return 0;
    porep_parameter_name(s, name);
    return api_put(buffer, capacity, name, strlen(name), true);
}

/* -- counts and digests ------------------------------------------------------------------------------------------------ */

/* What the original's own circuits have: figures published for 32 GiB, the rest and the digests from rows dumped by bellperson's
 * gadgets (the statement of the circuit, 5.2 and 5.3). */
static const struct reference {
    uint64_t sector_bytes;
    struct circuit_totals totals;
    uint8_t digest[32];
} references[] = {
    { 2048,
      { 40, 2685673, 2687961, { 6421005, 2689006, 5824682 }, 2674908, 685521, 1 },
      { 0x71, 0xc0, 0xfe, 0xa6, 0xdf, 0x6f, 0xd7, 0x23, 0x52, 0x76, 0x66, 0xf9, 0xed, 0xc8, 0x11, 0xc5,
        0xf5, 0x7b, 0xc3, 0x88, 0x86, 0x62, 0x9d, 0x9d, 0xc7, 0xed, 0xa1, 0x07, 0xa1, 0x61, 0x01, 0x26 } },
    { 32ull << 30,
      { 328, 130169893, 130278869, { 309405051, 130327340, 282656500 }, 129753292, 33112281, 1 },
      { 0xcc, 0xfc, 0x3f, 0x83, 0xc3, 0xef, 0xb8, 0x66, 0x40, 0x9a, 0x70, 0xa9, 0x67, 0xad, 0xe4, 0xa7,
        0x0d, 0xd0, 0x16, 0xe1, 0x08, 0xd1, 0x91, 0xf0, 0x7a, 0x55, 0xe8, 0xd6, 0x16, 0xea, 0x60, 0x71 } },
};

static cuzk_status compare(struct task *t, cuzk_circuit_info *out, const struct porep_shape *shape,
                           const struct circuit_totals *totals)
{
    for (size_t i = 0; i < ARRAY_COUNT(references); i++) {
        const struct reference *r = &references[i];
        if (r->sector_bytes != shape->sector_bytes) continue;
        if (memcmp(&r->totals, totals, sizeof *totals) != 0)
            return FAIL(t, CUZK_INTERNAL, "circuit %s does not have the reference's counts", out->name);
        if (out->has_digest && memcmp(r->digest, out->digest, sizeof r->digest) != 0)
            return FAIL(t, CUZK_INTERNAL, "circuit %s does not have the reference's digest", out->name);
        out->has_reference = 1;
    }
    return CUZK_OK;
}

static cuzk_status describe(struct task *t, cuzk_circuit_info *out, const struct porep_shape *shape,
                            bool digest)
{
    struct porep_binding binding = { 0 };
    struct circuit_totals totals;
    cuzk_status status;

    memset(&totals, 0, sizeof totals);
    TRY_GOTO(out, porep_bind(&binding, t, shape));
    const struct circuit_image *image = &binding.circuit.image;
    if (digest)
        TRY_GOTO(out, image_digest(image, t, out->digest, &totals));
    else
        TRY_GOTO(out, image_totals(image, t, &totals));
    api_text(out->name, sizeof out->name, image->name);
    out->inputs = totals.inputs;
    out->aux = totals.aux;
    out->rows = totals.rows;
    out->entries_a = totals.entries[0];
    out->entries_b = totals.entries[1];
    out->entries_c = totals.entries[2];
    out->dense_a = totals.a_aux;
    out->dense_b = totals.b_aux;
    out->dense_b_inputs = totals.b_inputs;
    out->domain_size = 1ull << constraints_domain_log2(&binding.constraints);
    out->image_bytes = image_bytes(image);
    out->templates = image->template_count;
    out->has_digest = digest;
    TRY_GOTO(out, compare(t, out, shape, &totals));
out:
    porep_unbind(&binding);
    return status;
}

cuzk_status cuzk_circuit_describe(cuzk_circuit_info *out, cuzk_context *context, const char *name, int digest,
                                  const cuzk_watch *watch, cuzk_error *error)
{
    cuzk_circuit_info own = CUZK_CIRCUIT_INFO_INIT;
    struct api_call call;

    api_begin(&call, context, watch);
    if (out == NULL) return api_end(&call, api_refuse(&call, "out"), error);
    if (name == NULL) return api_end(&call, api_refuse(&call, "name"), error);
    const uint64_t sector_bytes = strncmp(name, "porep-", 6) == 0 ? cuzk_sector_bytes(name) : 0;
    if (sector_bytes == 0) {
        const cuzk_status status =
            FAIL(&call.task, CUZK_NOT_FOUND, "there is no built-in circuit '%s'", name);
        task_fail_place(&call.task, NULL, ERROR_NO_OFFSET, "name",
                        "there are porep-2k, porep-8m, porep-512m, porep-32g and porep-64g");
        return api_end(&call, status, error);
    }
    const cuzk_status status = describe(&call.task, &own, real_shape(sector_bytes), digest != 0);
    if (status == CUZK_OK) api_copy_out(out, &own, sizeof own);
    return api_end(&call, status, error);
}

/* -- development parameters -------------------------------------------------------------------------------------------- */

static cuzk_status setup(struct api_call *call, const cuzk_context *context, const struct porep_shape *shape,
                         const char *folder, const char *trapdoor_path, bool derived)
{
    char params_file[PATH_MAX], vk_file[PATH_MAX], derived_file[PATH_MAX];
    struct task *t = &call->task;
    struct porep_binding binding = { 0 };
    struct trapdoor secrets;
    cuzk_status status;

    memset(&secrets, 0, sizeof secrets);
    if (trapdoor_path != NULL)
        TRY(mapfile_check_writable(t, trapdoor_path)); /* before keys that would need it */
    TRY(params_folder_claim(t, folder));
    TRY(params_path(params_file, t, folder, shape, ".params"));
    TRY(params_path(vk_file, t, folder, shape, ".vk"));
    TRY(params_path(derived_file, t, folder, shape, ".params" DERIVED_SUFFIX));
    const struct groth16_setup_paths paths = { params_file, vk_file, derived ? derived_file : NULL };
    TRY_GOTO(out, porep_bind(&binding, t, shape));
    TRY_GOTO(out, groth16_setup_draw(t, &secrets, &curve_bls12_381, ROOT_BELLMAN));
    TRY_GOTO(out, groth16_setup_constraints(t, &binding.constraints, &secrets, &paths, context->backend,
                                            context->device));
    if (trapdoor_path != NULL) TRY_GOTO(out, trapdoor_file_write(t, trapdoor_path, &secrets));
out:
    wipe(&secrets, sizeof secrets);
    porep_unbind(&binding);
    return status;
}

cuzk_status cuzk_porep_setup_dev(cuzk_context *context, uint64_t sector_bytes, const char *folder,
                                 const char *trapdoor_path, int derived, const cuzk_watch *watch,
                                 cuzk_error *error)
{
    const struct porep_shape *shape;
    struct api_call call;

    api_begin(&call, context, watch);
    if (context == NULL) return api_end(&call, api_refuse(&call, "context"), error);
    if (folder == NULL || folder[0] == '\0') return api_end(&call, api_refuse(&call, "folder"), error);
    cuzk_status status = porep_shape_need(&shape, &call.task, sector_bytes);
    if (status == CUZK_OK) status = setup(&call, context, shape, folder, trapdoor_path, derived != 0);
    return api_end(&call, status, error);
}
