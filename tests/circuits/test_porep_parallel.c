/* Worker threads change nothing: generator, checks, witness and evaluation on a pool give what one thread gives. */
#include "porep_trial.h"

#include "base/pool.h"

#include <stdlib.h>

static void seal(struct c1 *out, struct task *t, unsigned registered, bool sparse)
{
    const struct porep_seal_request r = {
        .proof = registered_proof_by_number(registered), .miner = 1000, .sector = 1, .seed = 7
    };
    must(t, (sparse ? porep_seal_sparse : porep_seal)(out, t, &r));
}

static void test_same(void **state)
{
    static const struct {
        unsigned registered;
        bool sparse;
    } cases[] = { { 5, false }, { 15, false }, { 6, true } };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct porep_shape *shape = registered_proof_by_number(cases[i].registered)->shape;
        struct proving one, many;
        struct c1 c1, again;
        struct pool *pool;
        task_init(&many.t);
        must(&many.t, pool_create(&pool, &many.t, 4));
        proving_open(&one, shape);
        task_init(&many.t);
        many.t.pool = pool;
        must(&many.t, porep_circuit_open(&many.circuit, &many.t, shape, NULL));
        must(&many.t, assignment_create(&many.w, &many.t, &many.circuit.image));
        seal(&c1, &one.t, cases[i].registered, cases[i].sparse);
        seal(&again, &many.t, cases[i].registered, cases[i].sparse);
        assert_same_proofs(&c1, &again);
        must(&many.t, porep_check(&c1, &many.t));
        assert_partition(&one, &c1, 0);
        assert_partition(&many, &c1, 0);
        assert_memory_equal(one.w.bits, many.w.bits,
                            one.w.bits_bytes - 8); /* the last word is never written */
        assert_memory_equal(one.w.numbers, many.w.numbers,
                            one.circuit.image.number_total * sizeof *one.w.numbers);

        const size_t rows = image_circuit(&one.circuit.image)->row_count,
                     bytes = rows * sizeof(bls12_381_fr_t);
        bls12_381_fr_t *v[4];
        for (int j = 0; j < 4; j++) assert_non_null(v[j] = malloc(bytes));
        must(&one.t, image_evaluate(&one.circuit.image, &one.t, v[0], v[1], &one.w, &one.circuit.map));
        must(&many.t, image_evaluate(&many.circuit.image, &many.t, v[2], v[3], &many.w, &many.circuit.map));
        assert_memory_equal(v[0], v[2], bytes);
        assert_memory_equal(v[1], v[3], bytes);
        for (int j = 0; j < 4; j++) free(v[j]);

        /* the first wrong row is the same one, whichever part is worked on first */
        const uint32_t last = image_circuit(&one.circuit.image)->aux_count - 1;
        many.w.numbers[aux_map_find(&many.circuit.map, last)].l[0] ^= 1;
        one.w.numbers[aux_map_find(&one.circuit.map, last)].l[0] ^= 1;
        many.w.bits[100] ^= 1;
        one.w.bits[100] ^= 1;
        struct task t[2];
        task_init(&t[0]);
        task_init(&t[1]);
        t[1].pool = pool;
        assert_int_equal(image_check(&one.circuit.image, &t[0], &one.w, &one.circuit.map), CUZK_UNSATISFIED);
        assert_int_equal(image_check(&many.circuit.image, &t[1], &many.w, &many.circuit.map),
                         CUZK_UNSATISFIED);
        assert_string_equal(t[0].error.text, t[1].error.text);
        c1_fini(&c1);
        c1_fini(&again);
        proving_close(&one);
        proving_close(&many);
        pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
