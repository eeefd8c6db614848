/* The memory of keys that have passed their check: one note a key. */
#include "base/filenote.h"
#include "groth16/key_check.h"
#include "groth16/key_derived.h"
#include "hash/sha256.h"
#include <stdio.h>

#define KEY_NOTE_BYTES (8 + 2 * SHA256_BYTES)

#define HASH_STEP ((size_t)64 << 20) /* bytes between two looks at the task */

static void note_of(char text[KEY_NOTE_BYTES], const uint8_t digest[SHA256_BYTES])
{
    int n = snprintf(text, KEY_NOTE_BYTES, "sha256 ");
    for (int i = 0; i < SHA256_BYTES; i++) n += snprintf(text + n, KEY_NOTE_BYTES - (size_t)n, "%02x", digest[i]);
}

static cuzk_status key_note(char text[KEY_NOTE_BYTES], struct task *t, const struct groth16_key *key)
{
    const struct span all = key->file.bytes;
    uint8_t digest[SHA256_BYTES];
    struct sha256 hash;

    sha256_init(&hash);
    for (size_t at = 0; at < all.size; at += HASH_STEP) {
        TRY(task_poll(t));
        sha256_update(&hash, all.data + at, all.size - at < HASH_STEP ? all.size - at : HASH_STEP);
    }
    sha256_final(&hash, digest);
    note_of(text, digest);
    return CUZK_OK;
}

void groth16_key_remember(const struct groth16_key *key)
{
    char text[KEY_NOTE_BYTES], note[DERIVED_NOTE_BYTES];
    uint8_t digest[SHA256_BYTES];

    sha256_of(digest, key->file.bytes.data, key->file.bytes.size);
    note_of(text, digest);
    filenote_write(&key->file, "checked", text);
    if (key->h_mode != H_LAGRANGE_4) return;
    derived_note(note, &key->derived);
    filenote_write(&key->derived_file, "checked", note);
}

bool groth16_key_is_known(const struct groth16_key *key)
{
    char note[DERIVED_NOTE_BYTES];

    if (!filenote_holds(&key->file, "checked", NULL)) return false;
    if (key->h_mode != H_LAGRANGE_4) return true;
    derived_note(note, &key->derived);
    return filenote_holds(&key->derived_file, "checked", note);
}

/* -- what was remembered, and is not so any more ------------------------------------------------------------------------- */

static cuzk_status check_derived(struct task *t, const struct groth16_key *key)
{
    const struct mapfile *f = &key->derived_file;
    struct task quiet;

    task_init(&quiet);
    quiet.cancel = t->cancel;
    quiet.deadline_ns = t->deadline_ns;
    if (derived_file_check(&quiet, f->path, &key->derived) == CUZK_OK) return CUZK_OK;
    TRY(task_poll(t));
    filenote_forget(f, "checked");
    filenote_forget(f, "derived");
    const cuzk_status status = FAIL(t, CUZK_KEY_INVALID,
                                    "the derived key %s is damaged: its part %s is not what it was when it was made and checked",
                                    f->path, quiet.error.field);
    task_fail_place(t, f->path, quiet.error.offset, quiet.error.field,
                    "make it again (cuzk key derive), or remove it; --key-mode original proves without it, and so does a cuzkd "
                    "that is started again");
    return status;
}

static cuzk_status check_file(struct task *t, const struct groth16_key *key)
{
    static const char *const kinds[] = { "checked", "sha256" };
    const struct mapfile *f = &key->file;
    char text[KEY_NOTE_BYTES];
    bool damaged = false;

    if (!filenote_holds(f, kinds[0], NULL) && !filenote_holds(f, kinds[1], NULL)) return CUZK_OK;
    TRY(key_note(text, t, key));
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (!filenote_holds(f, kinds[i], NULL) || filenote_holds(f, kinds[i], text)) continue;
        filenote_forget(f, kinds[i]);
        damaged = true;
    }
    if (!damaged) return CUZK_OK;
    const cuzk_status status = FAIL(t, CUZK_KEY_INVALID,
                                    "the key %s is damaged: its contents are not those that were checked, though its size and time are",
                                    f->path);
    task_fail_place(t, f->path, ERROR_NO_OFFSET, NULL, "fetch it again");
    return status;
}

cuzk_status groth16_key_check_contents(struct task *t, const struct groth16_key *key)
{
    if (key->h_mode == H_LAGRANGE_4 && key->derived_file.bytes.data != NULL) TRY(check_derived(t, key));
    return key->file.bytes.data != NULL ? check_file(t, key) : CUZK_OK;
}
