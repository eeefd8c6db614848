/* A circuit's constraints as groth16 takes them: counts, and functions that walk the rows or evaluate them.
 *
 * Circuits that are files (.r1cs) and circuits that are programs (circuits/) both come in this form, so set-up, key and prover know
 * neither.  The rows that bind the inputs (input x 0 = 0, one an input, behind all others) are implied everywhere: no walk gives
 * them, all counts of rows that a key has include them. */
#ifndef CUZK_GROTH16_CONSTRAINTS_H
#define CUZK_GROTH16_CONSTRAINTS_H

#include "formats/r1cs_file.h"
#include "r1cs/image.h"
#include "r1cs/witness.h"

/* One coefficient, possibly 0, in Montgomery form; side: enum r1cs_side. */
struct constraint_term {
    uint64_t row;
    uint32_t variable;
    unsigned side;
    struct fr coefficient;
};

/** Takes a term; another status than CUZK_OK ends the walk. */
typedef cuzk_status constraint_sink(void *context, struct task *t, const struct constraint_term *term);

/* Ranges of variables: begin up to end. */
struct constraint_own {
    uint64_t inputs_begin, inputs_end, others_begin, others_end;
};
static inline bool constraint_owns(const struct constraint_own *o, uint64_t variable)
{
    return (variable >= o->others_begin && variable < o->others_end) ||
           (variable >= o->inputs_begin && variable < o->inputs_end);
}

struct constraints {
    const char *name; /* for messages: a path, or "porep-2KiB" */
    const struct curve *curve;
    uint64_t variable_count; /* inputs, the constant first, then the others */
    uint64_t input_count;    /* the constant included */
    uint64_t row_count;      /* without the rows that bind the inputs */
    const void *circuit;     /* the functions' first argument: immutable, borrowed */

    /** Every term of every row, rows in order.  May run more than once. */
    cuzk_status (*walk)(const void *circuit, struct task *t, constraint_sink *sink, void *sink_context);
    /** The same in pieces that different threads may walk at the same time, 0 up to piece_count; NULL: there are none.
     * Out  own  the variables that occur in no other piece; before the first term */
    cuzk_status (*walk_piece)(const void *circuit, struct task *t, uint32_t piece, struct constraint_own *own,
                              constraint_sink *sink, void *sink_context);
    uint32_t piece_count;
    /** a = A w, b = B w, binding rows included: row_count + input_count values each, on t->pool.  NULL: the key's matrices do it.
     * In  w  whose assignment is what the circuit itself made */
    cuzk_status (*evaluate)(const void *circuit, struct task *t, struct fr *a, struct fr *b,
                            const struct witness *w);
    /** CUZK_UNSATISFIED names the first row that w does not satisfy.  NULL where evaluate is. */
    cuzk_status (*check)(const void *circuit, struct task *t, const struct witness *w);
    /** The circuit as data for backends that evaluate images, its trailing rows the binding ones; NULL: there is none. */
    const struct circuit_image *image;
    /** What w's assignment consists of.  NULL where image is. */
    void (*parts)(struct witness_parts *out, const struct witness *w);
};

/** Those of a circuit file, which is borrowed. */
void constraints_of_r1cs(struct constraints *out, const struct r1cs_file *circuit);

/* Walks on all threads: by pieces where a circuit has them, else in one. */
static inline uint32_t constraints_pieces(const struct constraints *c)
{
    return c->walk_piece != NULL ? c->piece_count : 1;
}
/** Walks one piece; of the only one every variable is own. */
cuzk_status constraints_walk_piece(struct task *t, const struct constraints *c, uint32_t piece,
                                   struct constraint_own *own, constraint_sink *sink,
                                   void *sink_context) MUST_CHECK;
/** Calls body for each piece, on t->pool; t of body is its own, with the cancel flag and the deadline of the caller's.
 * In  body  calls constraints_walk_piece with a sink of its own;  what  for task_progress, or NULL */
typedef cuzk_status constraints_walk_body(void *context, struct task *t, const struct constraints *c,
                                          uint32_t piece);
cuzk_status constraints_walk(struct task *t, const char *what, const struct constraints *c,
                             constraints_walk_body *body, void *context) MUST_CHECK;

/** log2 of the domain that the rows take. */
unsigned constraints_domain_log2(const struct constraints *c);

#endif
