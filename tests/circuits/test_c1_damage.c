/* Vanilla proofs that are damaged: every field altered, JSON edited, cut and turned, in pieces of every size. */
#include "porep_trial.h"

#include "base/mapfile.h"
#include "formats/c1json.h"
#include "support/prng.h"
#include "support/shared_data.h"

#include <stdlib.h>

#define VANILLA "data/filecoin/vanilla/"

/* One field of a good C1 output altered: porep_check names it, or the witness does not satisfy the circuit. */
static void test_faults(void **state)
{
    struct c1 c1;
    struct task t;
    (void)state;
    task_init(&t);
    sealed(&c1, &t, 5);
    const unsigned numbers = porep_challenge_numbers(c1.shape), words = porep_challenge_words(c1.shape);
    for (unsigned challenge = 0; challenge < 2; challenge++) {
        char where[32];
        snprintf(where, sizeof where, "partition 0, challenge %u", challenge);
        for (unsigned i = 0; i < numbers; i++) {
            bls12_381_fr_int *v = c1_numbers(&c1, 0, challenge) + i;
            v->l[0] ^= 1;
            task_init(&t);
            assert_int_equal(porep_check(&c1, &t), CUZK_MISMATCH);
            assert_non_null(strstr(t.error.text, where));
            v->l[0] ^= 1;
        }
        for (unsigned i = 0; i < words; i++) {
            uint32_t *v = c1_words(&c1, 0, challenge) + i;
            *v ^= 1;
            task_init(&t);
            assert_int_equal(porep_check(&c1, &t), CUZK_MISMATCH);
            assert_non_null(strstr(t.error.text, where));
            *v ^= 1;
        }
        uint8_t *extra = (uint8_t *)c1_extra_of(&c1, 0, challenge);
        struct c1_extra *x = c1_extra_of(&c1, 0, challenge);
        struct {
            void *data;
            size_t bytes;
        } fields[] = { { x->root, sizeof x->root },
                       { x->column, 2 * 32 },
                       { x->label_layer, 3 * 4 },
                       { x->label_node, 3 * 8 } };
        assert_non_null(extra);
        for (size_t f = 0; f < ARRAY_COUNT(fields); f++)
            for (size_t i = 0; i < fields[f].bytes; i += 4) {
                uint8_t *p = (uint8_t *)fields[f].data + i;
                *p ^= 1;
                task_init(&t);
                assert_int_equal(porep_check(&c1, &t), CUZK_MISMATCH);
                *p ^= 1;
            }
    }
    uint8_t *const head[] = { c1.comm_r, c1.comm_d, c1.replica_id, c1.seed };
    for (size_t i = 0; i < ARRAY_COUNT(head); i++) {
        head[i][0] ^= 1;
        task_init(&t);
        assert_int_equal(porep_check(&c1, &t), CUZK_MISMATCH);
        head[i][0] ^= 1;
        uint8_t saved[32];
        memcpy(saved, head[i], 32);
        memset(head[i], 0, 32);
        task_init(&t);
        assert_int_equal(porep_check(&c1, &t), CUZK_MALFORMED);
        memset(head[i], 0xff, 32);
        task_init(&t);
        assert_int_not_equal(porep_check(&c1, &t), CUZK_OK);
        memcpy(head[i], saved, 32);
    }
    task_init(&t);
    must(&t, porep_check(&c1, &t));
    c1_fini(&c1);
}

static void expect_json(const char *text, size_t bytes, cuzk_status status, const char *part)
{
    struct c1 c1;
    struct task t;
    task_init(&t);
    assert_int_equal(c1_read(&c1, &t, span_of(text, bytes), "made-up.json"), status);
    if (status != CUZK_OK && strstr(t.error.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", t.error.text, part);
    c1_fini(&c1);
}

/* Replaces the nth occurrence of a text in a good JSON. */
static char *edited(const char *text, size_t bytes, const char *from, const char *to, unsigned nth,
                    size_t *out_bytes)
{
    const char *at = text;
    for (unsigned i = 0; i <= nth; i++) {
        at = memmem(at + (i != 0), bytes - (size_t)(at + (i != 0) - text), from, strlen(from));
        assert_non_null(at);
    }
    char *out = malloc(bytes + strlen(to) + 1);
    assert_non_null(out);
    const size_t before = (size_t)(at - text), skip = before + strlen(from);
    memcpy(out, text, before);
    memcpy(out + before, to, strlen(to));
    memcpy(out + before + strlen(to), text + skip, bytes - skip);
    *out_bytes = bytes - strlen(from) + strlen(to);
    return out;
}

static void test_json_damage(void **state)
{
    static const struct {
        const char *from, *to;
        unsigned nth;
        cuzk_status status;
        const char *part;
    } edits[] = {
        { "\"comm_r\":", "\"comm_x\":", 0, CUZK_MALFORMED, "\"comm_r\" is missing" },
        { "\"comm_d\":", "\"comm_r\":", 0, CUZK_MALFORMED, "twice" },
        { "\"registered_proof\":\"StackedDrg2KiBV1_1\"", "\"registered_proof\":\"StackedDrg2KiBV9\"", 0,
          CUZK_MALFORMED, "registered_proof" },
        { "\"registered_proof\":\"StackedDrg2KiBV1_1\"", "\"registered_proof\":\"StackedDrg8MiBV1_1\"", 0,
          CUZK_MISMATCH, "2KiB" },
        { "\"registered_proof\":\"StackedDrg2KiBV1_1\"", "\"registered_proof\":7", 0, CUZK_MALFORMED,
          "number where none belongs" },
        { "\"StackedDrg2KiBV1\":", "\"StackedDrg2MiBV1\":", 0, CUZK_MALFORMED, "sector size" },
        { "\"StackedDrg2KiBV1\":", "\"StackedDrg32GiBV1\":", 0, CUZK_MALFORMED, "elements" },
        { "\"index\":", "\"index\":9", 5, CUZK_MALFORMED, "arity" },
        { "\"index\":", "\"index\":-", 5, CUZK_MALFORMED, "wrong kind" },
        { "\"index\":", "\"index\":1.", 5, CUZK_MALFORMED, "unsigned integers" },
        { "\"index\":", "\"index\":99999999999999999999", 5, CUZK_MALFORMED, "64 bits" },
        { "\"node\":", "\"node\":null,\"x\":", 0, CUZK_MALFORMED, "wrong kind" },
        { "\"root\":[", "\"root\":[256,", 0, CUZK_MALFORMED, "0 to 255" },
        { "\"root\":[", "\"root\":[1,", 0, CUZK_MALFORMED, "0 to 255" },
        { "\"root\":[", "\"root\":[[", 0, CUZK_MALFORMED, "0 to 255" },
        { "\"leaf\":[", "\"leaf\":{", 0, CUZK_MALFORMED, "wrong kind" },
        { "\"Single\":", "\"Sub\":", 1, CUZK_MALFORMED, "kind" },
        { "\"path\":{\"path\":", "\"sub_proof\":{\"path\":", 1, CUZK_MALFORMED, "kind" },
        { "\"labeling_proofs\":[", "\"labeling_proofs\":[{},", 0, CUZK_MALFORMED, "missing" },
        { "\"drg_parents\":[", "\"drg_parents\":[],\"zzz\":[", 0, CUZK_MALFORMED, "parents" },
        { "\"hashes\":[", "\"hashes\":[],\"zzz\":[", 0, CUZK_MALFORMED, "hashes" },
    };
    struct c1 c1;
    struct task t;
    uint8_t *json;
    size_t bytes;
    (void)state;
    task_init(&t);
    sealed(&c1, &t, 5);
    must(&t, c1json_write(&c1, &t, false, &json, &bytes));
    for (size_t i = 0; i < ARRAY_COUNT(edits); i++) {
        size_t size;
        char *text = edited((const char *)json, bytes, edits[i].from, edits[i].to, edits[i].nth, &size);
        expect_json(text, size, edits[i].status, edits[i].part);
        free(text);
    }
    /* liberal: white space, unknown members of any shape, another order */
    size_t size, more;
    char *text = edited((const char *)json, bytes, "{\"registered_proof\":\"StackedDrg2KiBV1_1\",",
                        "{ \t\r\n", 0, &size);
    char *last = edited(text, size, ",\"comm_r\":",
                        ",\"extra\":{\"a\":[1,-2.5e3,true,{\"b\":null}],\"c\":\"x\\u0041\\\"}\"} , "
                        "\"registered_proof\" : \"StackedDrg2KiBV1_1\",\"comm_r\":",
                        0, &more);
    expect_json(last, more, CUZK_OK, "");
    free(text);
    free(last);
    /* a hash >= r */
    struct c1_place p = { .merkle = C1_MERKLE_PARENT + 3, .level = 1, .sibling = 4, .challenge = 1 };
    memset(c1_sibling(&c1, &p), 0xff, 32);
    free(json);
    must(&t, c1json_write(&c1, &t, true, &json, &bytes));
    expect_json((const char *)json, bytes, CUZK_MALFORMED,
                "partition 0, challenge 1, drg parent 3, path level 1, hash 4");
    free(json);
    c1_fini(&c1);
}

/* Any cut of any form is named, and no damage of bytes is taken for a good proof unless it changes nothing. */
static void test_cut_and_turned(void **state)
{
    struct c1 c1, back;
    struct task t;
    struct prng r;
    (void)state;
    prng_init(&r);
    task_init(&t);
    sealed(&c1, &t, 5);
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        uint8_t *json;
        size_t bytes;
        must(&t, c1json_write(&c1, &t, wrapped != 0, &json, &bytes));
        for (unsigned i = 0; i < 300; i++) {
            const size_t cut = (size_t)prng_below(&r, bytes), at = (size_t)prng_below(&r, bytes);
            task_init(&t);
            assert_int_not_equal(c1_read(&back, &t, span_of(json, cut), NULL), CUZK_OK);
            assert_true(t.error.text[0] != '\0');
            const uint8_t saved = json[at];
            json[at] = (uint8_t)prng_u64(&r);
            task_init(&t);
            if (c1_read(&back, &t, span_of(json, bytes), NULL) == CUZK_OK) {
                task_init(&t);
                if (porep_check(&back, &t) ==
                    CUZK_OK) { /* a leaf or ticket byte that no check covers, or the same byte again */
                    struct proving p;
                    proving_open(&p, back.shape);
                    assert_partition(&p, &back, 0);
                    proving_close(&p);
                }
                c1_fini(&back);
            }
            json[at] = saved;
        }
        free(json);
    }
    c1_fini(&c1);
}

/* Pieces of every size give the same. */
static void test_pieces(void **state)
{
    struct c1 c1, back;
    struct task t;
    struct prng r;
    (void)state;
    prng_init(&r);
    task_init(&t);
    sealed(&c1, &t, 0);
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        uint8_t *json;
        size_t bytes;
        must(&t, c1json_write(&c1, &t, wrapped != 0, &json, &bytes));
        for (unsigned limit = 1; limit < 100; limit += limit < 10 ? 1 : 30) {
            struct c1json *j;
            c1_init(&back);
            must(&t, c1json_create(&j, &t, &back));
            for (size_t at = 0; at < bytes;) {
                size_t n = 1 + (size_t)prng_below(&r, limit);
                if (n > bytes - at) n = bytes - at;
                must(&t, c1json_push(j, &t, json + at, n));
                at += n;
            }
            must(&t, c1json_finish(j, &t));
            c1json_destroy(j);
            assert_same_proofs(&c1, &back);
            c1_fini(&back);
        }
        free(json);
    }
    c1_fini(&c1);
}

static void test_bincode_cut(void **state)
{
    char path[PATH_MAX];
    struct mapfile file;
    struct c1 c1;
    struct task t;
    struct prng r;
    (void)state;
    shared_data_need(path, VANILLA "c2-input-8MiB.bincode");
    prng_init(&r);
    task_init(&t);
    must(&t, mapfile_open(&file, &t, path));
    for (unsigned i = 0; i < 2000; i++) {
        task_init(&t);
        assert_int_not_equal(
            c1_read(&c1, &t, span_of(file.bytes.data, (size_t)prng_below(&r, file.bytes.size)), NULL),
            CUZK_OK);
    }
    mapfile_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),         cmocka_unit_test(test_json_damage),
        cmocka_unit_test(test_cut_and_turned), cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_bincode_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
