/* See porep_trial.h. */
#include "porep_trial.h"

void assert_same_proofs(const struct c1 *x, const struct c1 *y)
{
    const size_t n = (size_t)x->partitions * x->shape->challenges;
    assert_ptr_equal(x->proof, y->proof);
    assert_int_equal(x->partitions, y->partitions);
    assert_memory_equal(x->numbers, y->numbers, n * porep_challenge_numbers(x->shape) * sizeof *x->numbers);
    assert_memory_equal(x->words, y->words, n * porep_challenge_words(x->shape) * sizeof *x->words);
    for (size_t i = 0; i < n; i++) {
        assert_memory_equal(x->extra[i].root, y->extra[i].root, sizeof x->extra[i].root);
        assert_memory_equal(x->extra[i].leaf, y->extra[i].leaf, sizeof x->extra[i].leaf);
        assert_memory_equal(x->extra[i].column, y->extra[i].column, sizeof x->extra[i].column);
        assert_memory_equal(x->extra[i].column_index, y->extra[i].column_index,
                            sizeof x->extra[i].column_index);
        assert_memory_equal(x->extra[i].label_parents, y->extra[i].label_parents,
                            sizeof x->extra[i].label_parents);
    }
    assert_memory_equal(x->comm_r, y->comm_r, 32);
    assert_memory_equal(x->comm_d, y->comm_d, 32);
    assert_memory_equal(x->replica_id, y->replica_id, 32);
    assert_memory_equal(x->seed, y->seed, 32);
    assert_memory_equal(x->ticket, y->ticket, 32);
}

void proving_open(struct proving *p, const struct porep_shape *shape)
{
    task_init(&p->t);
    must(&p->t, porep_circuit_open(&p->circuit, &p->t, shape, NULL));
    must(&p->t, assignment_create(&p->w, &p->t, &p->circuit.image));
}

void proving_close(struct proving *p)
{
    assignment_fini(&p->w);
    porep_circuit_close(&p->circuit);
}

void assert_partition(struct proving *p, const struct c1 *c1, unsigned partition)
{
    bls12_381_fr_int inputs[4 + 18 * POREP_MAX_CHALLENGES];
    struct porep_public public;
    must(&p->t, porep_assign(&p->circuit, &p->t, &p->w, c1, partition));
    must(&p->t, image_check(&p->circuit.image, &p->t, &p->w, &p->circuit.map));
    porep_public_of(&public, c1);
    must(&p->t, porep_public_inputs(&public, &p->t, partition, inputs));
    assert_memory_equal(inputs, p->w.inputs, porep_input_count(c1->shape) * sizeof *inputs);
}
