/* Circuit images in files: a head with version and SHA-256, then the arrays as they stand in memory, little-endian. */
#include "r1cs/image.h"
#include "r1cs/image_sound.h"

#include "base/bytes.h"
#include "hash/sha256.h"

#include <stdlib.h>

#define VERSION    1
#define HEAD_BYTES 128
/* Head: 0 magic[8]; 8 version u32; 12 templates u32; 16 coefficients u32; 24 rows, 32 steps, 40 arguments, 48 numbers, all u64;
 * 56 name[32]; 88 SHA-256 of the head before it and of all that follows the head. */
static const uint8_t magic[8] = { 'c', 'u', 'z', 'k', 'i', 'm', 'g', '\n' };

STATIC_ASSERT(sizeof(struct circuit_template) == 112 && sizeof(struct step) == 40,
              "the structures are what version 1 of the file says");
STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "memory is little-endian, like the file");

/* The arrays in the order of the file. */
struct section {
    void **data;
    uint64_t count, element_bytes;
};

static void sections(struct circuit_image *m, struct section s[6])
{
    s[0] = (struct section){ (void **)&m->templates, m->template_count, sizeof *m->templates };
    s[1] = (struct section){ (void **)&m->steps, m->steps_size, sizeof *m->steps };
    s[2] = (struct section){ (void **)&m->coefficients, m->coefficient_count, sizeof *m->coefficients };
    s[3] = (struct section){ (void **)&m->rows, m->rows_size, sizeof *m->rows };
    s[4] = (struct section){ (void **)&m->arguments, m->arguments_size, sizeof *m->arguments };
    s[5] = (struct section){ (void **)&m->number_aux, m->number_aux_size, sizeof *m->number_aux };
}

static void file_digest(uint8_t out[32], const uint8_t *file, size_t bytes)
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, file, 88);
    sha256_update(&s, file + HEAD_BYTES, bytes - HEAD_BYTES);
    sha256_final(&s, out);
}

cuzk_status image_save(const struct circuit_image *m, struct task *t, uint8_t **out, size_t *bytes)
{
    struct circuit_image copy = *m;
    struct section s[6];
    size_t at = HEAD_BYTES;
    sections(&copy, s);
    *bytes = HEAD_BYTES;
    for (int i = 0; i < 6; i++) *bytes += (size_t)(s[i].count * s[i].element_bytes);
    uint8_t *p = *out = calloc(1, *bytes);
    if (p == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to save circuit %s", m->name);
    memcpy(p, magic, sizeof magic);
    store_le32(p + 8, VERSION);
    store_le32(p + 12, m->template_count);
    store_le32(p + 16, m->coefficient_count);
    store_le64(p + 24, m->rows_size);
    store_le64(p + 32, m->steps_size);
    store_le64(p + 40, m->arguments_size);
    store_le64(p + 48, m->number_aux_size);
    memcpy(p + 56, m->name, sizeof m->name);
    for (int i = 0; i < 6; i++) {
        const size_t n = (size_t)(s[i].count * s[i].element_bytes);
        if (n != 0) memcpy(p + at, *s[i].data, n);
        at += n;
    }
    file_digest(p + 88, p, *bytes);
    return CUZK_OK;
}

static cuzk_status malformed(struct task *t, uint64_t offset, const char *field, const char *why)
{
    const cuzk_status status = FAIL(t, CUZK_MALFORMED, "circuit image: %s", why);
    task_fail_place(t, NULL, offset, field, NULL);
    return status;
}

static cuzk_status read_head(struct circuit_image *m, struct task *t, struct span file)
{
    const uint8_t *p = file.data;
    if (file.size < HEAD_BYTES) return malformed(t, file.size, "head", "the file is shorter than its head");
    if (memcmp(p, magic, sizeof magic) != 0) return malformed(t, 0, "magic", "this is no circuit image");
    if (load_le32(p + 8) != VERSION) {
        const cuzk_status status =
            FAIL(t, CUZK_UNSUPPORTED, "circuit image of version %u; this program reads version %u",
                 load_le32(p + 8), VERSION);
        task_fail_place(t, NULL, 8, "version", NULL);
        return status;
    }
    m->template_count = load_le32(p + 12);
    m->coefficient_count = load_le32(p + 16);
    m->rows_size = load_le64(p + 24);
    m->steps_size = load_le64(p + 32);
    m->arguments_size = load_le64(p + 40);
    m->number_aux_size = load_le64(p + 48);
    memcpy(m->name, p + 56, sizeof m->name);
    m->name[sizeof m->name - 1] = '\0';
    return CUZK_OK;
}

static cuzk_status read_sections(struct circuit_image *m, struct task *t, struct span file)
{
    struct section s[6];
    uint64_t at = HEAD_BYTES;
    sections(m, s);
    for (int i = 0; i < 6; i++) {
        if (s[i].count > (file.size - at) / s[i].element_bytes)
            return malformed(t, at, "arrays", "the file is shorter than its head says");
        at += s[i].count * s[i].element_bytes;
    }
    if (at != file.size) return malformed(t, at, "arrays", "the file is longer than its head says");
    uint8_t digest[32];
    file_digest(digest, file.data, file.size);
    if (memcmp(digest, file.data + 88, 32) != 0)
        return malformed(t, 88, "digest", "the contents do not have the digest in the head");
    at = HEAD_BYTES;
    for (int i = 0; i < 6; i++) {
        const size_t n = (size_t)(s[i].count * s[i].element_bytes);
        *s[i].data = malloc(n + 1);
        if (*s[i].data == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory for circuit %s", m->name);
        memcpy(*s[i].data, file.data + at, n);
        at += n;
    }
    return CUZK_OK;
}

cuzk_status image_load(struct circuit_image *out, struct task *t, struct span file)
{
    memset(out, 0, sizeof *out);
    cuzk_status status = read_head(out, t, file);
    if (status == CUZK_OK) status = read_sections(out, t, file);
    if (status == CUZK_OK) status = image_sound(out, t);
    if (status == CUZK_OK) status = image_derive(out, t);
    if (status != CUZK_OK) image_fini(out);
    return status;
}
