/* Derived keys in use: a cache file beside a proving key, checked and put in the place of the key's L and H. */
#include "groth16/key_derived.h"
#include "base/filenote.h"
#include "groth16/chunks.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK_CHUNK 4096 /* points: some milliseconds of curve equations */

#define ADVICE_AGAIN "make it again (cuzk key derive), or prove with --key-mode original"

const char *groth16_h_mode_name(enum groth16_h_mode mode)
{
    return mode == H_LAGRANGE_4 ? "derived, 4 transforms" : "original, 6 transforms";
}

/* -- digests ----------------------------------------------------------------------------------------------------------- */

static void hex(char *out, const uint8_t digest[SHA256_BYTES])
{
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

void groth16_key_note_sha256(const struct groth16_key *key, const uint8_t digest[SHA256_BYTES])
{
    char text[8 + 2 * SHA256_BYTES] = "sha256 ";

    hex(text + 7, digest);
    filenote_write(&key->file, "sha256", text);
}

void groth16_key_sha256(const struct groth16_key *key, uint8_t out[SHA256_BYTES])
{
    sha256_of(out, key->file.bytes.data, key->file.bytes.size);
    groth16_key_note_sha256(key, out);
}

bool groth16_key_has_sha256(const struct groth16_key *key, const uint8_t digest[SHA256_BYTES])
{
    uint8_t own[SHA256_BYTES];
    char text[8 + 2 * SHA256_BYTES] = "sha256 ";

    hex(text + 7, digest);
    if (filenote_holds(&key->file, "checked", text) || filenote_holds(&key->file, "sha256", text))
        return true;
    groth16_key_sha256(key, own);
    return memcmp(own, digest, sizeof own) == 0;
}

void derived_note(char out[DERIVED_NOTE_BYTES], const struct derived_file *d)
{
    uint8_t digest[SHA256_BYTES];
    struct sha256 s;

    sha256_init(&s);
    sha256_update(&s, d->key_digest, sizeof d->key_digest);
    sha256_update(&s, d->part_digest, sizeof d->part_digest);
    sha256_final(&s, digest);
    memcpy(out, "parts ", 6);
    hex(out + 6, digest);
}

struct digests {
    struct span of[DERIVED_PARTS + 1]; /* the key's file last */
    uint8_t digest[DERIVED_PARTS + 1][SHA256_BYTES];
};

static cuzk_status take_digest(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    struct digests *d = context;

    (void)t;
    (void)end;
    sha256_of(d->digest[begin], d->of[begin].data, d->of[begin].size);
    return CUZK_OK;
}

cuzk_status groth16_derived_finish(struct task *t, uint8_t *file, const struct derived_shape *shape,
                                   struct span key, const uint8_t *key_digest)
{
    const size_t point = shape->curve->g1.aff_bytes;
    struct derived_layout at;
    struct digests d;

    derived_layout_plan(&at, shape);
    for (int part = 0; part < DERIVED_PARTS; part++)
        d.of[part] = span_of(file + at.offset[part], at.count[part] * point);
    d.of[DERIVED_PARTS] = key;
    TRY(chunks_run(t, "digests", DERIVED_PARTS + (key_digest == NULL), 1, take_digest, &d));
    derived_file_head(file, shape, (const uint8_t(*)[SHA256_BYTES])d.digest,
                      key_digest != NULL ? key_digest : d.digest[DERIVED_PARTS], key.size);
    return CUZK_OK;
}

/* -- whether it may be used ---------------------------------------------------------------------------------------------- */

/* The file must be the user's or root's, and nobody else may write it. */
static cuzk_status check_owner(struct task *t, const struct mapfile *f, const char *path)
{
    struct stat st;
    const char *what = NULL;

    if (!f->mapped || stat(path, &st) != 0 || st.st_ino != f->inode || st.st_dev != f->device)
        what = "is not a plain file, or was replaced while it was opened";
    else if (st.st_uid != geteuid() && st.st_uid != 0)
        what = "belongs to another user";
    else if ((st.st_mode & 022) != 0)
        what = "can be written by other users";
    if (what == NULL) return CUZK_OK;
    const cuzk_status status =
        FAIL(t, CUZK_INVALID_ARGUMENT, "the derived key %s, so it is not trusted", what);
    task_fail_place(t, f->path, ERROR_NO_OFFSET, NULL,
                    "own it yourself, mode 0600; or make it again: cuzk key derive");
    return status;
}

static cuzk_status differs(struct task *t, const char *path, const char *what, uint64_t derived,
                           uint64_t original)
{
    const cuzk_status status =
        FAIL(t, CUZK_MISMATCH, "the derived key is of another key: %s is %llu in it, %llu in the key", what,
             (unsigned long long)derived, (unsigned long long)original);
    task_fail_place(t, path, ERROR_NO_OFFSET, what, ADVICE_AGAIN);
    return status;
}

static cuzk_status fits(struct task *t, const struct groth16_key *key, const char *path,
                        const struct derived_file *d)
{
    const struct derived_shape *s = &d->shape;
    cuzk_status status;

    if (s->curve != key->curve) {
        status = FAIL(t, CUZK_MISMATCH, "the derived key is over %s, the key over %s", s->curve->name,
                      key->curve->name);
        task_fail_place(t, path, ERROR_NO_OFFSET, "curve", ADVICE_AGAIN);
        return status;
    }
    if (s->convention != key->domain.convention)
        return differs(t, path, "root of unity", s->convention, key->domain.convention);
    if (s->domain_log2 != key->domain.log2)
        return differs(t, path, "domain", s->domain_log2, key->domain.log2);
    if (s->variable_count != key->variable_count)
        return differs(t, path, "variables", s->variable_count, key->variable_count);
    if (s->input_count != key->public_count + 1)
        return differs(t, path, "inputs", s->input_count, key->public_count + 1);
    if (d->key_bytes != key->file.bytes.size)
        return differs(t, path, "bytes", d->key_bytes, key->file.bytes.size);
    if (groth16_key_has_sha256(key, d->key_digest)) return CUZK_OK;
    status =
        FAIL(t, CUZK_MISMATCH,
             "the derived key is stale: it was made from a file with other contents than %s", key->file.path);
    task_fail_place(t, path, ERROR_NO_OFFSET, "digest of the original", ADVICE_AGAIN);
    return status;
}

struct points {
    const struct derived_file *derived;
    const char *path;
    enum derived_part part;
};

static cuzk_status check_points(struct task *t, void *context, uint64_t begin, uint64_t end)
{
    const struct points *p = context;
    const struct group *g = &p->derived->shape.curve->g1;

    for (uint64_t i = begin; i < end; i++) {
        const enum point_check verdict =
            g->aff_check(p->derived->part[p->part].data + i * g->aff_bytes, false);
        if (verdict == POINT_OK) continue;
        const cuzk_status status = FAIL(t, CUZK_KEY_INVALID, "point %llu of %s %s", (unsigned long long)i,
                                        derived_part_name(p->part), point_check_text(verdict));
        task_fail_place(t, p->path, p->derived->layout.offset[p->part] + i * g->aff_bytes,
                        derived_part_name(p->part), ADVICE_AGAIN);
        return status;
    }
    return CUZK_OK;
}

static cuzk_status check_contents(struct task *t, const struct mapfile *f, const struct derived_file *d)
{
    char note[DERIVED_NOTE_BYTES];

    derived_note(note, d);
    if (filenote_holds(f, "checked", note) || filenote_holds(f, "derived", note)) return CUZK_OK;
    TRY(derived_file_check(t, f->path, d));
    for (enum derived_part part = 0; part < DERIVED_PARTS; part++) {
        struct points p = { d, f->path, part };
        TRY(chunks_run(t, "derived key", d->layout.count[part], CHECK_CHUNK, check_points, &p));
    }
    filenote_write(f, "derived", note);
    return CUZK_OK;
}

/* -- use ----------------------------------------------------------------------------------------------------------------- */

static void put(struct groth16_key *key, const struct derived_file *d)
{
    key->derived = *d;
    key->h_mode = H_LAGRANGE_4;
    key->point[QUERY_L] =
        span_of(d->part[DERIVED_IC].data, d->part[DERIVED_IC].size + d->part[DERIVED_L].size);
    key->point_count[QUERY_L] = key->variable_count;
    key->encoded[QUERY_L] = false;
    if (d->layout.count[DERIVED_H] == 0) return; /* snarkjs: the key's own */
    key->point[QUERY_H] = d->part[DERIVED_H];
    key->point_count[QUERY_H] = key->domain.size;
    key->encoded[QUERY_H] = false;
}

cuzk_status groth16_key_use_derived(struct groth16_key *key, struct task *t, const char *path)
{
    char beside[ERROR_PATH_BYTES + sizeof DERIVED_SUFFIX];
    struct mapfile file = { 0 };
    struct derived_file d;
    cuzk_status status;

    if (path == NULL) {
        snprintf(beside, sizeof beside, "%s" DERIVED_SUFFIX, key->file.path);
        path = beside;
    }
    TRY(mapfile_open(&file, t, path));
    TRY_GOTO(out, check_owner(t, &file, path));
    TRY_GOTO(out, derived_file_parse(&d, t, file.path, file.bytes));
    TRY_GOTO(out, fits(t, key, file.path, &d));
    TRY_GOTO(out, check_contents(t, &file, &d));
    key->derived_file = file;
    put(key, &d);
    return CUZK_OK;
out:
    mapfile_close(&file);
    return status;
}

static cuzk_status none_there(struct task *t, const struct groth16_key *key)
{
    const bool built_in = key->constraints != NULL;
    char advice[ERROR_TEXT_BYTES];

    FAIL(t, CUZK_NOT_FOUND, "there is no derived form of the key: %s" DERIVED_SUFFIX " is not there", key->file.path);
    snprintf(advice, sizeof advice, "make it: cuzk key derive %s %s; or leave the choice to the key mode auto",
             built_in ? key->constraints->name : key->file.path, built_in ? "--params DIR" : "--r1cs CIRCUIT.r1cs");
    task_fail_place(t, key->file.path, ERROR_NO_OFFSET, NULL, advice);
    return CUZK_NOT_FOUND;
}

cuzk_status groth16_key_choose(struct groth16_key *key, struct task *t, enum groth16_key_mode mode,
                               const char *path, struct error *refused)
{
    struct task quiet;

    memset(refused, 0, sizeof *refused);
    if (mode == KEY_MODE_ORIGINAL || !key->can_prove) return CUZK_OK;
    quiet = *t;
    if (mode == KEY_MODE_DERIVED || path != NULL) {
        const cuzk_status used = groth16_key_use_derived(key, &quiet, path);
        if (used == CUZK_NOT_FOUND && path == NULL) return none_there(t, key);
        t->error = quiet.error;
        return used;
    }
    const cuzk_status status = groth16_key_use_derived(key, &quiet, NULL);
    if (status == CUZK_CANCELLED || status == CUZK_DEADLINE || status == CUZK_NO_MEMORY) {
        t->error = quiet.error;
        return status;
    }
    if (status != CUZK_OK && status != CUZK_NOT_FOUND) *refused = quiet.error;
    return CUZK_OK;
}
