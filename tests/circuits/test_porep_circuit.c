/* The PoRep circuit against the original: digests over every row, counts, names; and what an image can be turned into.
 *
 * The digests are those of rows dumped from the original gadget sources (bellperson, neptune v11, rust-fil-proofs). */
#include "porep_trial.h"

#include "circuits/porep/porep_circuit.h"
#include "hash/sha256.h"
#include "row_check.h"
#include "support/prng.h"

#include <stdlib.h>

static const struct digest_case {
    const char *shape;
    unsigned challenges;
    const char *digest;
} quick[] = {
    { "2KiB", 2, "71c0fea6df6fd723527666f9edc811c5f57bc38886629d9dc7eda107a1610126" },
    { "4KiB", 1, "ec782131466f1af92cd6e4baafe2271c4d0653467da94b99f4e520954c5f848f" },
    { "8MiB", 1, "9e2411a4585bad352b97932d86a22df912584a34899546443b43fc117c5fc8e7" },
}, slow[] = {
    { "512MiB", 1, "a2dea841ad598680ab2dcfe985d1339d2c6bf13f9ab9e661e4f012f45b8b10ba" },
    { "32GiB", 1, "fb706a8dde5d9c4ac558ffc712b399f2d2537363ba5eb8763e7100689a15a740" },
    { "64GiB", 1, "035a75826428059eb3f9fa83aa4f450662fa73dbb0fca5cea4e12e4379263708" },
    { "32GiB", 18, "ccfc3f83c3efb866409a70a967ade4a70dd016e108d191f07a55e8d616ea6071" },
};

/* Whole circuits, trailing rows included.  The 32 GiB line is the published one. */
static const struct total_case {
    const char *shape;
    struct circuit_totals totals;
} totals[] = {
    { "2KiB", { 40, 2685673, 2687961, { 6421005, 2689006, 5824682 }, 2674908, 685521, 1 } },
    { "8MiB", { 40, 3842449, 3844969, { 9388453, 3847886, 8234882 }, 3814996, 1011289, 1 } },
    { "512MiB", { 40, 4420837, 4423473, { 10872177, 4427326, 9439982 }, 4385040, 1174173, 1 } },
    { "32GiB", { 328, 130169893, 130278869, { 309405051, 130327340, 282656500 }, 129753292, 33112281, 1 } },
    { "64GiB", { 328, 131076643, 131186177, { 311892525, 131235764, 284512534 }, 130637542, 33386943, 1 } },
};

static void check_digests(const struct digest_case *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct task t;
        struct circuit_image m;
        uint8_t digest[32];
        char text[65];
        task_init(&t);
        must(&t, porep_circuit_record(&m, &t, porep_shape_by_name(list[i].shape), list[i].challenges));
        assert_true(image_bytes(&m) <= 64u << 20);
        must(&t, image_digest(&m, &t, digest, NULL));
        hex_of(text, digest);
        printf("%s, %u challenges: %s, image of %llu bytes\n", list[i].shape, list[i].challenges, text,
               (unsigned long long)image_bytes(&m));
        assert_string_equal(text, list[i].digest);
        image_fini(&m);
    }
}

static void test_digests(void **state)
{
    (void)state;
    check_digests(quick, ARRAY_COUNT(quick));
}

static void test_digests_slow(void **state)
{
    (void)state;
    check_digests(slow, ARRAY_COUNT(slow));
}

static void check_totals(const struct total_case *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct porep_shape *s = porep_shape_by_name(list[i].shape);
        struct task t;
        struct circuit_image m;
        struct circuit_totals found;
        task_init(&t);
        must(&t, porep_circuit_record(&m, &t, s, s->challenges));
        must(&t, image_totals(&m, &t, &found));
        assert_memory_equal(&found, &list[i].totals, sizeof found);
        assert_int_equal(found.inputs, porep_input_count(s));
        image_fini(&m);
    }
}

static void test_totals(void **state)
{
    (void)state;
    check_totals(totals, 3);
}

static void test_totals_slow(void **state)
{
    (void)state;
    check_totals(totals + 3, 2);
}

/* Names in Filecoin's parameters.json. */
static void test_names(void **state)
{
    static const struct {
        const char *shape, *hex;
    } names[] = {
        { "2KiB", "8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f" },
        { "8MiB", "8-0-0-sha256_hasher-ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb" },
        { "512MiB", "8-0-0-sha256_hasher-6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472" },
        { "32GiB", "8-8-0-sha256_hasher-82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820" },
        { "64GiB", "8-8-2-sha256_hasher-96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char name[POREP_PARAMETER_NAME_BYTES], want[POREP_PARAMETER_NAME_BYTES];
        porep_parameter_name(porep_shape_by_name(names[i].shape), name);
        snprintf(want, sizeof want, "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-%s",
                 names[i].hex);
        assert_string_equal(name, want);
    }
}

/* SHA-256 over all parents of the 2 KiB graphs, published in rust-fil-proofs' parent_cache.json. */
static void test_parents(void **state)
{
    static const struct {
        unsigned registered;
        const char *digest;
    } graphs[] = {
        { 0, "3da49221e2ed55371b86d0bf3d6526fcf128af61bed904f966428db1b531750d" },
        { 5, "840057702eea7652cf97e04306c30fe57174714d90de156a25eddd6075c25b97" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(graphs); i++) {
        const struct registered_proof *r = registered_proof_by_number(graphs[i].registered);
        struct porep_graph g;
        struct sha256 s;
        uint8_t id[32], digest[32];
        char text[65];
        registered_proof_porep_id(r, id);
        porep_graph_init(&g, id, r->shape->nodes, r->legacy_graph);
        sha256_init(&s);
        for (uint64_t v = 0; v < r->shape->nodes; v++) {
            uint32_t parents[POREP_PARENTS];
            uint8_t bytes[4 * POREP_PARENTS];
            porep_graph_parents(&g, parents, v);
            for (unsigned j = 0; j < POREP_PARENTS; j++) store_le32(bytes + 4 * j, parents[j]);
            sha256_update(&s, bytes, sizeof bytes);
        }
        sha256_final(&s, digest);
        hex_of(text, digest);
        assert_string_equal(text, graphs[i].digest);
    }
}

static void test_file(void **state)
{
    struct task t;
    struct circuit_image m, back;
    uint8_t *file, digest[2][32];
    size_t bytes;
    struct prng r;
    (void)state;
    prng_init(&r);
    task_init(&t);
    must(&t, porep_circuit_record(&m, &t, porep_shape_by_name("2KiB"), 1));
    must(&t, image_save(&m, &t, &file, &bytes));
    must(&t, image_load(&back, &t, span_of(file, bytes)));
    assert_string_equal(back.name, "porep-2KiB");
    must(&t, image_digest(&m, &t, digest[0], NULL));
    must(&t, image_digest(&back, &t, digest[1], NULL));
    assert_memory_equal(digest[0], digest[1], 32);
    image_fini(&back);
    for (unsigned i = 0; i < 40; i++) { /* cut, or a bit turned: always named, never loaded */
        const size_t cut = (size_t)prng_below(&r, bytes), at = (size_t)prng_below(&r, bytes);
        uint8_t *copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, file, bytes);
        copy[at] ^= (uint8_t)(1u << prng_below(&r, 8));
        task_init(&t);
        assert_int_equal(image_load(&back, &t, span_of(file, cut)), CUZK_MALFORMED);
        task_init(&t);
        assert_int_not_equal(image_load(&back, &t, span_of(copy, bytes)), CUZK_OK);
        assert_true(t.error.text[0] != '\0');
        free(copy);
    }
    free(file);
    image_fini(&m);
}

/* A file whose digest is right although its contents were altered: loads and runs safely, or is refused. */
static void test_file_forged(void **state)
{
    struct task t;
    struct circuit_image m, back;
    uint8_t *file;
    size_t bytes;
    struct prng r;
    unsigned refused = 0, loaded = 0;
    (void)state;
    prng_init(&r);
    task_init(&t);
    must(&t, porep_circuit_record(&m, &t, porep_shape_by_name("2KiB"), 1));
    must(&t, image_save(&m, &t, &file, &bytes));
    for (unsigned i = 0; i < 60; i++) {
        struct sha256 s;
        uint8_t saved, digest[32];
        const size_t head = 88, at = i % 3 == 0 ? 128 + (size_t)prng_below(&r, 112 * m.template_count)
                                                : 128 + (size_t)prng_below(&r, bytes - 128);
        saved = file[at];
        file[at] ^= (uint8_t)(1 + prng_below(&r, 255));
        sha256_init(&s);
        sha256_update(&s, file, head);
        sha256_update(&s, file + 128, bytes - 128);
        sha256_final(&s, digest);
        memcpy(file + head, digest, 32);
        task_init(&t);
        if (image_load(&back, &t, span_of(file, bytes)) == CUZK_OK) {
            struct assignment w;
            struct aux_map map;
            loaded++;
            task_init(&t);
            if (aux_map_create(&map, &t, &back) == CUZK_OK) {
                bls12_381_fr_int *numbers = calloc(back.source_number_total + 1, sizeof *numbers);
                uint32_t *words = calloc(back.source_word_total + 1, sizeof *words);
                const struct statement st = { numbers, numbers, words, words };
                assert_non_null(numbers);
                assert_non_null(words);
                must(&t, assignment_create(&w, &t, &back));
                must(&t, image_assign(&back, &t, &w, &st));
                (void)!image_check(&back, &t, &w, &map);
                assignment_fini(&w);
                free(numbers);
                free(words);
            }
            aux_map_fini(&map);
            image_fini(&back);
        } else {
            refused++;
        }
        file[at] = saved;
    }
    printf("%u refused, %u loaded\n", refused, loaded);
    assert_true(refused > 0);
    free(file);
    image_fini(&m);
}

/* The matrices hold what the expansion gives. */
struct csr_compare {
    const struct csr *m;
    uint32_t inputs;
    uint64_t rows;
};

static cuzk_status compare_row(void *context, struct task *t, const struct expanded_row *row)
{
    struct csr_compare *c = context;
    (void)t;
    for (int i = 0; i < 3; i++) {
        const struct csr *m = &c->m[i];
        const uint64_t at = m->row_start[row->index];
        if (m->row_start[row->index + 1] - at != row->count[i])
            fail_msg("row %llu", (unsigned long long)row->index);
        for (uint32_t j = 0; j < row->count[i]; j++) {
            const uint32_t var = row->side[i][j].var,
                           column = var & VAR_AUX ? c->inputs + (var & ~VAR_AUX) : var;
            if (m->column[at + j] != column ||
                memcmp(&m->dictionary[m->coefficient[at + j]],
                       expanded_coefficient(row, row->side[i][j].coefficient), 32) != 0)
                fail_msg("row %llu", (unsigned long long)row->index);
        }
    }
    c->rows++;
    return CUZK_OK;
}

static void test_csr(void **state)
{
    struct task t;
    struct porep_circuit c;
    struct csr m[3];
    (void)state;
    task_init(&t);
    must(&t, porep_circuit_open(&c, &t, porep_shape_by_name("2KiB"), NULL));
    must(&t, porep_circuit_csr(&c, &t, m));
    struct csr_compare compare = { m, image_circuit(&c.image)->input_count, 0 };
    must(&t, image_expand(&c.image, &t, compare_row, &compare));
    assert_int_equal(compare.rows, m[0].row_count);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(m[i].entry_count, totals[0].totals.entries[i]);
        assert_int_equal(m[i].column_count, 40 + 2685673);
        csr_fini(&m[i]);
    }
    porep_circuit_close(&c);
}

int main(void)
{
    const struct CMUnitTest fast_tests[] = {
        cmocka_unit_test(test_digests),     cmocka_unit_test(test_totals), cmocka_unit_test(test_names),
        cmocka_unit_test(test_parents),     cmocka_unit_test(test_csr),    cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_forged),
    };
    const struct CMUnitTest slow_tests[] = { cmocka_unit_test(test_digests_slow),
                                             cmocka_unit_test(test_totals_slow) };
    return getenv("CUZK_SLOW") != NULL ? cmocka_run_group_tests(slow_tests, NULL, NULL)
                                       : cmocka_run_group_tests(fast_tests, NULL, NULL);
}
