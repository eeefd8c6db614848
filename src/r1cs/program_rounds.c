/* When each strand of each scope runs, and the calls whose bits are made at the end. */
#include "r1cs/image_program_inside.h"

/* A strand of a scope on its way to its place among the items. */
struct placed {
    uint32_t round, cost, order;
    struct program_item item;
};

/* By round, the longest first: what begins last should not be what takes longest. */
static int compare_placed(const void *x, const void *y)
{
    const struct placed *a = x, *b = y;
    if (a->round != b->round) return a->round < b->round ? -1 : 1;
    if (a->cost != b->cost) return a->cost > b->cost ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* The circuit's own waves that parts wait for come first, its others last: beside the parts' longest strands. */
struct timetable {
    uint32_t own_first; /* waves behind the prologue that parts wait for */
    uint32_t own_shift; /* of the others */
    uint32_t round_count;
};

static uint32_t round_of(const struct timetable *x, uint32_t scope, uint32_t after, uint32_t wave)
{
    if (scope > 0) return 1 + after + wave;
    return wave > x->own_first ? wave + x->own_shift : wave;
}

static void make_timetable(struct timetable *x, const struct image_program *p,
                           const struct program_body *bodies, const uint32_t *body_of, const uint32_t *after)
{
    *x = (struct timetable){ 0, 0, bodies[0].wave_count };
    for (uint32_t s = 1; s < p->scope_count; s++) {
        const uint32_t end = 1 + after[s] + bodies[body_of[s]].wave_count;
        if (end > x->round_count) x->round_count = end;
        if (after[s] > x->own_first) x->own_first = after[s];
    }
    x->own_shift = x->round_count - bodies[0].wave_count;
}

static size_t strands_of(const struct image_program *p, const struct program_body *bodies,
                         const uint32_t *body_of)
{
    size_t n = 0;
    for (uint32_t s = 0; s < p->scope_count; s++) n += bodies[body_of[s]].strand_count;
    return n;
}

static void place_strands(struct placed *out, const struct image_program *p,
                          const struct program_body *bodies, const uint32_t *body_of, const uint32_t *after,
                          const struct timetable *x)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < p->scope_count; s++) {
        const struct program_body *b = &bodies[body_of[s]];
        for (uint32_t i = b->first_strand; i < b->first_strand + b->strand_count; i++, n++) {
            const struct program_strand *strand = &p->strands[i];
            out[n] = (struct placed){ round_of(x, s, after[s], strand->wave), strand->cost, n, { i, s } };
        }
    }
}

static cuzk_status make_rounds(struct program_maker *mk, const struct timetable *x,
                               const struct placed *placed, size_t count)
{
    struct image_program *p = mk->out;
    TRY(MAKER_ROOM(mk, item, count));
    TRY(MAKER_ROOM(mk, round, x->round_count));
    for (uint32_t r = 0; r < x->round_count; r++) {
        struct program_round *round = &p->rounds[p->round_count++];
        *round = (struct program_round){ (uint32_t)p->item_count, 0, 0 };
        while (p->item_count < count && placed[p->item_count].round == r) {
            const struct program_item *item = &placed[p->item_count].item;
            round->item_count++;
            round->wide |= p->strands[item->strand].wave == 0;
            p->items[p->item_count++] = *item;
        }
    }
    return CUZK_OK;
}

/* The calls of marked functions, function by function. */
static cuzk_status make_jobs(struct program_maker *mk, const struct program_body *bodies,
                             const uint32_t *body_of)
{
    struct image_program *p = mk->out;
    for (uint32_t f = 0; f < p->function_count; f++) {
        if (p->functions[f].native == WORD_NATIVE_NONE) continue;
        for (uint32_t s = 0; s < p->scope_count; s++) {
            const struct program_body *b = &bodies[body_of[s]];
            for (uint32_t i = b->first_op; i < b->first_op + b->op_count; i++) {
                if (p->ops[i].s.code != STEP_CALL || p->ops[i].s.b != f) continue;
                TRY(MAKER_ROOM(mk, job, 1));
                p->jobs[p->job_count++] = (struct program_job){ i, s };
            }
        }
        TRY(MAKER_ROOM(mk, job, JOB_LANES));
        while (p->job_count % JOB_LANES != 0) p->jobs[p->job_count++] = (struct program_job){ UINT32_MAX, 0 };
    }
    return CUZK_OK;
}

cuzk_status program_rounds(struct program_maker *mk, const struct program_body *bodies,
                           const uint32_t *body_of, const uint32_t *after)
{
    const size_t count = strands_of(mk->out, bodies, body_of);
    struct placed *placed = malloc((count + 1) * sizeof *placed);
    struct timetable x;
    if (placed == NULL)
        return FAIL(mk->task, CUZK_NO_MEMORY, "no memory for the programs of circuit %s", mk->image->name);
    make_timetable(&x, mk->out, bodies, body_of, after);
    place_strands(placed, mk->out, bodies, body_of, after, &x);
    qsort(placed, count, sizeof *placed, compare_placed);
    const cuzk_status status = make_rounds(mk, &x, placed, count);
    free(placed);
    return status != CUZK_OK ? status : make_jobs(mk, bodies, body_of);
}
