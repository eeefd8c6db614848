/* Fuzzes the reader of circuit images, each input as it is and with the digest that its contents have.  What loads is run: no interpreter
 * may leave its arrays, and the programs for devices are made or refused. */
#include "circuits/gadgets/evaluate.h"
#include "circuits/gadgets/expand.h"
#include "fuzz.h"
#include "hash/sha256.h"
#include "r1cs/image_program.h"

enum { DIGEST_AT = 88, HEAD_BYTES = 128 }; /* image_file.c */

static bool reported(struct task *t, cuzk_status status)
{
    if (status != t->error.status || (status != CUZK_OK && t->error.text[0] == '\0')) abort();
    task_init(t);
    return status == CUZK_OK;
}

static cuzk_status count_row(void *context, struct task *t, const struct expanded_row *row)
{
    (void)t;
    for (int side = 0; side < 3; side++)
        for (uint32_t i = 0; i < row->count[side]; i++)
            if (bls12_381_fr_is_zero(expanded_coefficient(row, row->side[side][i].coefficient))) abort();
    ++*(uint64_t *)context;
    return CUZK_OK;
}

/* The witness of a statement of nothing but ones, and its rows. */
static void assign(const struct circuit_image *m)
{
    struct task t;
    struct aux_map map;
    struct assignment w;
    uint64_t rows = 0;
    const size_t number_count = (size_t)m->source_number_total + 1,
                 word_count = (size_t)m->source_word_total + 1;
    bls12_381_fr_int *numbers = calloc(number_count, sizeof *numbers);
    uint32_t *words = calloc(word_count, sizeof *words);
    const struct circuit_template *c = image_circuit(m);

    if (numbers == NULL || words == NULL) abort();
    for (size_t i = 0; i < number_count; i++) numbers[i].l[0] = 1;
    for (size_t i = 0; i < word_count; i++) words[i] = 1;
    const struct statement s = { numbers, numbers + c->source_numbers, words, words + c->source_words };
    task_init(&t);
    if (reported(&t, image_expand(m, &t, count_row, &rows)) && rows != c->row_count) abort();
    if (reported(&t, aux_map_create(&map, &t, m))) {
        if (!reported(&t, assignment_create(&w, &t, m))) abort();
        if (reported(&t, image_assign(m, &t, &w, &s))) reported(&t, image_check(m, &t, &w, &map));
        assignment_fini(&w);
    }
    aux_map_fini(&map);
    free(numbers);
    free(words);
}

static void read(struct span file)
{
    struct circuit_image m;
    struct image_program program;
    struct task t;
    uint8_t *again;
    size_t bytes;

    task_init(&t);
    if (!reported(&t, image_load(&m, &t, file))) return;
    if (!reported(&t, image_save(&m, &t, &again, &bytes))) abort();
    if (bytes != file.size) abort();
    free(again);
    const struct circuit_template *c = image_circuit(&m);
    if (c->row_count < 1u << 16 && c->aux_count < 1u << 18 && c->depth_words < 1u << 16 &&
        m.source_word_total < 1u << 16)
        assign(&m);
    reported(&t, image_program_create(&program, &t, &m));
    image_program_fini(&program);
    image_fini(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sha256 s;

    read(span_of(data, size));
    if (size < HEAD_BYTES) return 0;
    uint8_t *copy = malloc(size);
    if (copy == NULL) abort();
    memcpy(copy, data, size);
    sha256_init(&s);
    sha256_update(&s, copy, DIGEST_AT);
    sha256_update(&s, copy + HEAD_BYTES, size - HEAD_BYTES);
    sha256_final(&s, copy + DIGEST_AT);
    read(span_of(copy, size));
    free(copy);
    return 0;
}
