/* The schedule of Poseidon's optimised permutation, once: values, traces and constraints are bindings of this body.
 *
 * Takes  PW_NAME     the function's name            PW_CONTEXT  type of its context
 *        PW_ELEMENT  type of a state element
 *        pw_tag(c, e, tag)              e = the constant first element
 *        pw_first(c, e, i, key, post)   e = (input i + key)^5 + post, an input being a variable already
 *        pw_sbox(c, e, post)            e = e^5 + post; post NULL: none
 *        pw_mix(c, e, matrix, width)    row vector times matrix
 *        pw_sparse(c, e, row, column, width)   e0' = <row, e>, ej' = ej + column[j-1] e0
 *        pw_output(c, e, width)         element 1 is the result; the state is not used again
 * Order of the calls is the order in which bellperson's circuit allocates (neptune v11, "poseidon_hash"). */
static void PW_NAME(PW_CONTEXT *c, const struct poseidon_constants *p, uint64_t tag)
{
    const unsigned width = p->width;
    const bls12_381_fr_t *key = p->keys;
    PW_ELEMENT e[POSEIDON_MAX_WIDTH];
    bls12_381_fr_t constant, square;

    bls12_381_fr_from_u64(&constant, tag);
    bls12_381_fr_add(&constant, &constant, &key[0]);
    bls12_381_fr_sqr(&square, &constant);
    bls12_381_fr_sqr(&square, &square);
    bls12_381_fr_mul(&constant, &constant, &square);
    bls12_381_fr_add(&constant, &constant, &key[width]);
    pw_tag(c, &e[0], &constant);
    for (unsigned i = 1; i < width; i++) pw_first(c, &e[i], i - 1, &key[i], &key[width + i]);
    key += 2 * width;
    pw_mix(c, e, p->mds, width);

    for (unsigned round = 1; round < POSEIDON_FULL_ROUNDS / 2; round++) {
        for (unsigned i = 0; i < width; i++) pw_sbox(c, &e[i], key++);
        pw_mix(c, e, round == POSEIDON_FULL_ROUNDS / 2 - 1 ? p->pre : p->mds, width);
    }
    for (unsigned round = 0; round < p->partial_rounds; round++) {
        const bls12_381_fr_t *sparse = p->sparse + round * (2 * width - 1);
        pw_sbox(c, &e[0], key++);
        pw_sparse(c, e, sparse, sparse + width, width);
    }
    for (unsigned round = 0; round < POSEIDON_FULL_ROUNDS / 2; round++) {
        const bool last = round == POSEIDON_FULL_ROUNDS / 2 - 1;
        for (unsigned i = 0; i < width; i++) pw_sbox(c, &e[i], last ? NULL : key++);
        pw_mix(c, e, p->mds, width);
    }
    pw_output(c, e, width);
}
