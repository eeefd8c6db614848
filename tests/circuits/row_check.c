/* See row_check.h.  Field arithmetic on canonical values only: nothing is shared with evaluate.c. */
#include "row_check.h"

static void side_value(const struct row_check *c, const struct expanded_row *row, int side,
                       bls12_381_fr_t *out)
{
    bls12_381_fr_set_zero(out);
    for (uint32_t i = 0; i < row->count[side]; i++) {
        bls12_381_fr_int plain;
        bls12_381_fr_t v;
        assignment_value(c->w, c->map, &plain, row->side[side][i].var);
        bls12_381_fr_from_int(&v, &plain);
        bls12_381_fr_mul(&v, &v, expanded_coefficient(row, row->side[side][i].coefficient));
        bls12_381_fr_add(out, out, &v);
    }
}

static cuzk_status check_row(void *context, struct task *t, const struct expanded_row *row)
{
    struct row_check *c = context;
    bls12_381_fr_t value[3], product;
    (void)t;
    for (int i = 0; i < 3; i++) side_value(c, row, i, &value[i]);
    bls12_381_fr_mul(&product, &value[0], &value[1]);
    if (!bls12_381_fr_eq(&product, &value[2]) && c->bad_row == ROW_CHECK_NONE) c->bad_row = row->index;
    if (c->a != NULL && c->bad_value == ROW_CHECK_NONE &&
        (!bls12_381_fr_eq(&value[0], &c->a[row->index]) || !bls12_381_fr_eq(&value[1], &c->b[row->index])))
        c->bad_value = row->index;
    return CUZK_OK;
}

cuzk_status row_check_run(struct row_check *c, struct task *t, const struct circuit_image *m)
{
    c->bad_row = c->bad_value = ROW_CHECK_NONE;
    return image_expand(m, t, check_row, c);
}
