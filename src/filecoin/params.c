/* Parameter folders in the layout of FIL_PROOFS_PARAMETER_CACHE: where files are, and whether they are what parameters.json says.
 * Folders are read only: no locks, no caches inside them. */
#include "filecoin/params.h"
#include "base/filenote.h"
#include "circuits/porep/porep.h"
#include "formats/filvk.h"
#include <blake2.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FOLDER "/var/tmp/filecoin-proof-parameters"
#define MANIFEST       "parameters.json"
#define DEV_MARK       "INSECURE-DEVELOPMENT-KEYS.txt"
#define DIGEST_BYTES   16 /* of BLAKE2b-512's 64: what the manifest holds */
#define DIGEST_CHUNK   ((size_t)8 << 20)

/* -- places ------------------------------------------------------------------------------------------------------------ */

const char *params_folder_default(void)
{
    const char *folder = getenv("FIL_PROOFS_PARAMETER_CACHE");

    return folder != NULL && folder[0] != '\0' ? folder : DEFAULT_FOLDER;
}

static cuzk_status join(char out[PATH_MAX], struct task *t, const char *folder, const char *name)
{
    const int n = snprintf(out, PATH_MAX, "%s/%s", folder, name);

    return n > 0 && n < PATH_MAX
               ? CUZK_OK
               : FAIL(t, CUZK_INVALID_ARGUMENT, "the path of %s in %s is too long", name, folder);
}

cuzk_status params_path(char out[PATH_MAX], struct task *t, const char *folder,
                        const struct porep_shape *shape, const char *suffix)
{
    char name[POREP_PARAMETER_NAME_BYTES + 16];

    porep_parameter_name(shape, name);
    strcat(name, suffix); /* ".params" at most */
    return join(out, t, folder, name);
}

cuzk_status params_folder_find(char out[PATH_MAX], struct task *t, const char *given)
{
    const char *folder = given != NULL ? given : params_folder_default();
    struct stat st;
    cuzk_status status;

    if (stat(folder, &st) != 0) {
        status = FAIL(t, errno == ENOENT || errno == ENOTDIR ? CUZK_NOT_FOUND : CUZK_IO,
                      "the parameter folder %s cannot be used: %s", folder, strerror(errno));
    } else if (!S_ISDIR(st.st_mode)) {
        status = FAIL(t, CUZK_NOT_FOUND, "the parameter folder %s is not a folder", folder);
    } else {
        return snprintf(out, PATH_MAX, "%s", folder) < PATH_MAX
                   ? CUZK_OK
                   : FAIL(t, CUZK_INVALID_ARGUMENT, "the folder's path is too long");
    }
    task_fail_place(t, folder, ERROR_NO_OFFSET, NULL,
                    "name the folder (--params DIR, or FIL_PROOFS_PARAMETER_CACHE); lotus fetch-params "
                    "fetches the real parameters, cuzk "
                    "setup --dev makes some for trying out");
    return status;
}

/* -- development folders ----------------------------------------------------------------------------------------------- */

bool params_folder_is_development(const char *folder)
{
    char path[PATH_MAX];
    struct stat st;
    struct task quiet;

    task_init(&quiet);
    return join(path, &quiet, folder, DEV_MARK) == CUZK_OK && stat(path, &st) == 0;
}

static cuzk_status refuse_folder(struct task *t, const char *folder, const char *why)
{
    const cuzk_status status =
        FAIL(t, CUZK_INVALID_ARGUMENT, "development keys do not go into %s: %s", folder, why);

    task_fail_place(t, folder, ERROR_NO_OFFSET, NULL, "name a new folder, for development keys only");
    return status;
}

static bool same_folder(const char *x, const char *y)
{
    struct stat a, b;

    return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_empty(const char *folder)
{
    const struct dirent *entry;
    bool empty = true;
    DIR *d = opendir(folder);

    if (d == NULL) return false;
    while (empty && (entry = readdir(d)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(d);
    return empty;
}

cuzk_status params_folder_claim(struct task *t, const char *folder)
{
    static const char text[] =
        "The parameters in this folder were made by cuzk setup --dev: whoever made them can forge proofs.\n"
        "They are for development and tests.  Never put real parameters here, nor these anywhere else.\n";
    char mark[PATH_MAX];

    if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
        const int why = errno;
        const cuzk_status status = FAIL(t, why == ENOENT ? CUZK_NOT_FOUND : CUZK_IO,
                                        "the folder %s cannot be made: %s", folder, strerror(why));
        task_fail_place(t, folder, ERROR_NO_OFFSET, NULL, NULL);
        task_fail_errno(t, why);
        return status;
    }
    if (params_folder_is_development(folder)) return CUZK_OK;
    if (same_folder(folder, params_folder_default()) || same_folder(folder, DEFAULT_FOLDER))
        return refuse_folder(t, folder, "it is where real parameters are looked for");
    if (!is_empty(folder)) return refuse_folder(t, folder, "it holds other files");
    TRY(join(mark, t, folder, DEV_MARK));
    return mapfile_write(t, mark, text, sizeof text - 1, 0644);
}

/* -- the manifest ------------------------------------------------------------------------------------------------------ */

/* The digest that the folder's manifest has for a file, as hex; empty if there is no manifest or it does not name the file. */
static cuzk_status manifest_digest(char out[2 * DIGEST_BYTES + 1], struct task *t, const char *folder,
                                   const char *file_name)
{
    char path[PATH_MAX];
    json_error_t why;
    struct stat st;

    out[0] = '\0';
    TRY(join(path, t, folder, MANIFEST));
    if (stat(path, &st) != 0 && errno == ENOENT) return CUZK_OK;
    json_t *manifest = json_load_file(path, 0, &why);
    if (manifest == NULL) {
        const cuzk_status status = FAIL(t, CUZK_MALFORMED, "the manifest cannot be read: %s", why.text);
        task_fail_place(t, path, why.position >= 0 ? (uint64_t)why.position : ERROR_NO_OFFSET, NULL,
                        "fetch it again, or remove it to do without digests");
        return status;
    }
    const json_t *entry = json_object_get(manifest, file_name);
    const char *digest = json_string_value(json_object_get(entry, "digest"));
    cuzk_status status = CUZK_OK;
    if (digest != NULL && strlen(digest) == 2 * DIGEST_BYTES) {
        memcpy(out, digest, 2 * DIGEST_BYTES + 1);
    } else if (entry != NULL) {
        status = FAIL(t, CUZK_MALFORMED, "the manifest's entry for %s has no digest of %d hex digits",
                      file_name, 2 * DIGEST_BYTES);
        task_fail_place(t, path, ERROR_NO_OFFSET, "digest",
                        "fetch it again, or remove it to do without digests");
    }
    json_decref(manifest);
    return status;
}

static cuzk_status digest_of(char out[2 * DIGEST_BYTES + 1], struct task *t, const struct mapfile *f)
{
    const struct span all = f->bytes;
    uint8_t digest[64];
    blake2b_state state;

    blake2b_init(&state, sizeof digest);
    for (size_t at = 0; at < all.size; at += DIGEST_CHUNK) {
        task_progress(t, "digest of the parameters", at, all.size);
        TRY(task_poll(t));
        blake2b_update(&state, all.data + at, all.size - at < DIGEST_CHUNK ? all.size - at : DIGEST_CHUNK);
    }
    blake2b_final(&state, digest, sizeof digest);
    task_progress(t, "digest of the parameters", all.size, all.size);
    for (int i = 0; i < DIGEST_BYTES; i++) snprintf(out + 2 * i, 3, "%02x", digest[i]);
    return CUZK_OK;
}

static cuzk_status check_digest(struct task *t, const struct mapfile *f, const char *folder,
                                const char *file_name, bool remember, bool *known)
{
    char wanted[2 * DIGEST_BYTES + 1], found[2 * DIGEST_BYTES + 1], note[64];

    TRY(manifest_digest(wanted, t, folder, file_name));
    if (known != NULL) *known = wanted[0] != '\0';
    if (wanted[0] == '\0') return CUZK_OK;
    snprintf(note, sizeof note, "blake2b-512/16 %s", wanted);
    if (remember && filenote_holds(f, "digest", note)) return CUZK_OK;
    TRY(digest_of(found, t, f));
    if (strcmp(found, wanted) == 0) {
        if (remember) filenote_write(f, "digest", note);
        return CUZK_OK;
    }
    const cuzk_status status = FAIL(t, CUZK_KEY_INVALID,
                                    "the file's digest is %s, but " MANIFEST
                                    " beside it has %s: it is damaged, or not the file of this name",
                                    found, wanted);
    task_fail_place(t, f->path, ERROR_NO_OFFSET, "digest", "fetch the parameters again");
    return status;
}

/* -- files ------------------------------------------------------------------------------------------------------------- */

/* What downloads leave behind when they go wrong. */
static cuzk_status refuse_debris(struct task *t, const struct mapfile *f)
{
    const struct span s = f->bytes;
    const char *what = NULL;
    size_t at = 0;

    while (at < s.size && at < 64 && (s.data[at] == ' ' || (s.data[at] >= '\t' && s.data[at] <= '\r'))) at++;
    if (s.size == 0)
        what = "is empty";
    else if (at < s.size && s.data[at] == '<')
        what = "is an HTML page, not parameters: a server's answer was saved in its place";
    else if (at < s.size && s.data[at] == '{')
        what = "is JSON, not parameters: a server's answer was saved in its place";
    if (what == NULL) return CUZK_OK;
    const cuzk_status status = FAIL(t, CUZK_MALFORMED, "the file %s", what);
    task_fail_place(t, f->path, ERROR_NO_OFFSET, NULL, "fetch it again");
    return status;
}

cuzk_status params_file_open(struct mapfile *out, struct task *t, const char *folder,
                             const struct porep_shape *shape, const char *suffix)
{
    char path[PATH_MAX];

    TRY(params_path(path, t, folder, shape, suffix));
    cuzk_status status;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        status = FAIL(t, CUZK_NOT_FOUND, "the parameters of %s sectors are not in %s", shape->name, folder);
        task_fail_place(t, path, ERROR_NO_OFFSET, NULL,
                        "fetch them (lotus fetch-params), or make some for trying out: cuzk setup --dev");
        return status;
    }
    TRY(mapfile_open(out, t, path));
    status = refuse_debris(t, out);
    if (status != CUZK_OK) mapfile_close(out);
    return status;
}

cuzk_status params_file_open_checked(struct mapfile *out, struct task *t, const char *folder,
                                     const struct porep_shape *shape, const char *suffix, bool remember,
                                     bool *known)
{
    char name[POREP_PARAMETER_NAME_BYTES + 16];

    TRY(params_file_open(out, t, folder, shape, suffix));
    porep_parameter_name(shape, name);
    strcat(name, suffix);
    const cuzk_status status = check_digest(t, out, folder, name, remember, known);
    if (status != CUZK_OK) mapfile_close(out);
    return status;
}

static cuzk_status parse_vk(struct groth16_vk *out, struct task *t, const struct mapfile *f,
                            const struct porep_shape *shape)
{
    struct vk_points read = { 0 };
    struct filvk vk;

    TRY(filvk_parse(&vk, t, f->path, f->bytes));
    if (vk.ic_count != porep_input_count(shape)) {
        const cuzk_status status =
            FAIL(t, CUZK_MISMATCH, "the verifying key is for %u public inputs; PoRep of %s sectors has %zu",
                 vk.ic_count - 1, shape->name, porep_input_count(shape) - 1);
        task_fail_place(t, f->path, ERROR_NO_OFFSET, "ic", "fetch the parameters again");
        return status;
    }
    TRY(filvk_points(&read, t, &vk));
    const struct groth16_vk_points points = {
        .alpha1 = &read.alpha1,
        .beta1 = &vk.beta1,
        .beta2 = &read.beta2,
        .gamma2 = &read.gamma2,
        .delta1 = &vk.delta1,
        .delta2 = &read.delta2,
        .ic = read.ic,
        .ic_stride = sizeof *read.ic,
        .ic_count = read.ic_count,
    };
    cuzk_status status = groth16_vk_init(t, out, &curve_bls12_381, &points);
    vk_points_fini(&read);
    if (status == CUZK_OK) status = groth16_vk_check(t, out);
    if (status != CUZK_OK) {
        task_fail_place(t, f->path, ERROR_NO_OFFSET, NULL, NULL);
        groth16_vk_fini(out);
    }
    return status;
}

cuzk_status params_vk_open(struct groth16_vk *out, struct task *t, const char *folder,
                           const struct porep_shape *shape)
{
    struct mapfile file = { 0 };

    TRY(params_file_open_checked(&file, t, folder, shape, ".vk", false, NULL));
    const cuzk_status status = parse_vk(out, t, &file, shape);
    mapfile_close(&file);
    return status;
}
