/* What a file is, from its contents. */
#include "api/api.h"
#include "base/bytes.h"
#include "formats/filparams.h"
#include "formats/identify.h"
#include "formats/ptau.h"
#include "formats/r1cs_file.h"
#include "formats/snarkjs_json.h"
#include "formats/trapdoor_file.h"
#include "formats/wtns.h"
#include "formats/zkey.h"
#include <string.h>

static void count(cuzk_file_info *info, const char *name, uint64_t value)
{
    if (info->count_count == ARRAY_COUNT(info->counts)) return;
    cuzk_count *c = &info->counts[info->count_count++];
    api_text(c->name, sizeof c->name, name);
    c->value = value;
}

static void of_curve(cuzk_file_info *info, const struct curve *c)
{
    api_text(info->curve, sizeof info->curve, c->name);
}

static cuzk_status zkey_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct zkey z;

    TRY(zkey_parse(&z, t, path, data));
    of_curve(info, z.curve);
    count(info, "variables", z.n_vars);
    count(info, "publics", z.n_public);
    count(info, "domain_size", z.domain_size);
    count(info, "coefficients", z.n_coefs);
    count(info, "points_a", z.n_vars);
    count(info, "points_b", z.n_vars);
    count(info, "points_c", (uint64_t)z.n_vars - z.n_public - 1);
    count(info, "points_h", z.domain_size);
    count(info, "points_ic", (uint64_t)z.n_public + 1);
    if (z.contributions.size >= 68) count(info, "contributions", load_le32(z.contributions.data + 64));
    return CUZK_OK;
}

static cuzk_status r1cs_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct r1cs_file r;

    TRY(r1cs_file_parse(&r, t, path, data));
    of_curve(info, r.curve);
    count(info, "variables", r.n_wires);
    count(info, "constraints", r.n_constraints);
    count(info, "publics", r.n_public);
    count(info, "outputs", r.n_outputs);
    count(info, "public_inputs", r.n_public_inputs);
    count(info, "private_inputs", r.n_private_inputs);
    count(info, "labels", r.n_labels);
    return CUZK_OK;
}

static cuzk_status wtns_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct witness w;

    TRY(wtns_parse(&w, t, path, data));
    of_curve(info, w.curve);
    count(info, "values", w.count);
    return CUZK_OK;
}

static cuzk_status ptau_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct ptau p;

    TRY(ptau_parse(&p, t, path, data));
    of_curve(info, p.curve);
    count(info, "power", p.power);
    count(info, "ceremony_power", p.ceremony_power);
    count(info, "prepared", p.prepared);
    return CUZK_OK;
}

static cuzk_status params_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct filparams p;

    TRY(filparams_parse(&p, t, path, data));
    of_curve(info, p.vk.curve);
    count(info, "publics", p.vk.ic_count - 1);
    count(info, "points_ic", p.vk.ic_count);
    count(info, "points_h", p.h_count);
    count(info, "points_l", p.l_count);
    count(info, "points_a", p.a_count);
    count(info, "points_b", p.b_g1_count);
    count(info, "trailing_bytes", p.trailing_bytes);
    return CUZK_OK;
}

static cuzk_status filvk_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct filvk vk;

    TRY(filvk_parse(&vk, t, path, data));
    of_curve(info, vk.curve);
    count(info, "publics", vk.ic_count - 1);
    count(info, "points_ic", vk.ic_count);
    return CUZK_OK;
}

static cuzk_status vk_json_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct vk_points points = { 0 };

    TRY(snarkjs_vk_read(&points, t, path, data));
    of_curve(info, points.curve);
    count(info, "publics", points.ic_count - 1);
    count(info, "points_ic", points.ic_count);
    vk_points_fini(&points);
    return CUZK_OK;
}

static cuzk_status proof_json_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    static const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };
    struct proof_points points;
    struct task attempt;

    for (size_t i = 0; i < ARRAY_COUNT(curves); i++) {
        task_init(&attempt);
        if (snarkjs_proof_read(&points, &attempt, path, data, curves[i]) != CUZK_OK) continue;
        of_curve(info, curves[i]);
        return CUZK_OK;
    }
    return snarkjs_proof_read(&points, t, path, data, NULL);
}

static cuzk_status public_json_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct public_values values = { 0 };

    TRY(snarkjs_public_read(&values, t, path, data, NULL));
    count(info, "publics", values.count);
    public_values_fini(&values);
    return CUZK_OK;
}

static cuzk_status proof_bytes_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    (void)t;
    (void)path;
    of_curve(info, &curve_bls12_381);
    count(info, "proofs", data.size / 192);
    return CUZK_OK;
}

static cuzk_status trapdoor_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct trapdoor secrets;

    TRY(trapdoor_file_read(&secrets, t, path, data));
    of_curve(info, secrets.curve);
    wipe(&secrets, sizeof secrets);
    return CUZK_OK;
}

static cuzk_status derived_info(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    struct derived_file d;

    TRY(derived_file_parse(&d, t, path, data));
    of_curve(info, d.shape.curve);
    count(info, "variables", d.shape.variable_count);
    count(info, "publics", d.shape.input_count - 1);
    count(info, "domain", (uint64_t)1 << d.shape.domain_log2);
    count(info, "root", d.shape.convention);
    for (enum derived_part part = 0; part < DERIVED_PARTS; part++)
        count(info, derived_part_name(part), d.layout.count[part]);
    return CUZK_OK;
}

static cuzk_status name_only(struct task *t, cuzk_file_info *info, const char *path, struct span data)
{
    (void)t;
    (void)info;
    (void)path;
    (void)data;
    return CUZK_OK;
}

static const struct kind_row {
    enum file_kind kind;
    cuzk_file_kind public_kind;
    const char *name, *protocol;
    cuzk_status (*read)(struct task *t, cuzk_file_info *info, const char *path, struct span data);
} kinds[] = {
    { FILE_ZKEY_GROTH16, CUZK_FILE_ZKEY, "snarkjs proving key (zkey)", "groth16", zkey_info },
    { FILE_ZKEY_PLONK, CUZK_FILE_ZKEY, "snarkjs proving key (zkey)", "plonk", name_only },
    { FILE_ZKEY_FFLONK, CUZK_FILE_ZKEY, "snarkjs proving key (zkey)", "fflonk", name_only },
    { FILE_WTNS, CUZK_FILE_WTNS, "witness (wtns)", "", wtns_info },
    { FILE_R1CS, CUZK_FILE_R1CS, "circuit (r1cs)", "", r1cs_info },
    { FILE_PTAU, CUZK_FILE_PTAU, "powers of tau (ptau)", "", ptau_info },
    { FILE_FIL_PARAMS, CUZK_FILE_PARAMS, "bellman proving key (params)", "groth16", params_info },
    { FILE_FIL_VK, CUZK_FILE_BELLMAN_VK, "bellman verifying key (vk)", "groth16", filvk_info },
    { FILE_FIL_VK_COMPRESSED, CUZK_FILE_BELLMAN_VK, "bellman verifying key (vk), compressed", "groth16",
      filvk_info },
    { FILE_PROOF_BYTES, CUZK_FILE_PROOF_BYTES, "proofs of 192 bytes", "groth16", proof_bytes_info },
    { FILE_PROOF_JSON, CUZK_FILE_PROOF_JSON, "proof (JSON)", "groth16", proof_json_info },
    { FILE_PUBLIC_JSON, CUZK_FILE_PUBLIC_JSON, "public inputs (JSON)", "", public_json_info },
    { FILE_VK_JSON, CUZK_FILE_VK_JSON, "verifying key (JSON)", "groth16", vk_json_info },
    { FILE_TRAPDOOR_JSON, CUZK_FILE_TRAPDOOR, "trapdoor of a development key", "groth16", trapdoor_info },
    { FILE_DERIVED, CUZK_FILE_DERIVED, "derived proving key (cuzk's own)", "groth16", derived_info },
};

static cuzk_status inspect(struct task *t, cuzk_file_info *own, const char *path, struct span data)
{
    const enum file_kind kind = identify(data);

    own->bytes = data.size;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (kinds[i].kind != kind) continue;
        own->kind = kinds[i].public_kind;
        api_text(own->kind_name, sizeof own->kind_name, kinds[i].name);
        api_text(own->protocol, sizeof own->protocol, kinds[i].protocol);
        return kinds[i].read(t, own, path, data);
    }
    const cuzk_status status =
        FAIL(t, CUZK_UNSUPPORTED, "%s is %s, which cuzk does not read", path, file_kind_text(kind));
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, NULL);
    return status;
}

cuzk_status cuzk_inspect(cuzk_file_info *info, const char *path, cuzk_error *error)
{
    cuzk_file_info own;
    struct mapfile file = { 0 };
    struct api_call call;

    api_begin(&call, NULL, NULL);
    if (info == NULL) return api_end(&call, api_refuse(&call, "info"), error);
    if (path == NULL) return api_end(&call, api_refuse(&call, "path"), error);
    memset(&own, 0, sizeof own);
    cuzk_status status = mapfile_open(&file, &call.task, path);
    if (status == CUZK_OK) status = inspect(&call.task, &own, file.path, file.bytes);
    mapfile_close(&file);
    if (status == CUZK_OK) api_copy_out(info, &own, sizeof own);
    return api_end(&call, status, error);
}
