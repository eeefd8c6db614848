/* Random circuits with a witness that satisfies them. */
#include "support/random_circuit.h"
#include "base/bytes.h"

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

struct making {
    const struct curve *curve;
    const struct random_circuit_options *options;
    struct prng *random;
    struct bytes rows; /* section 2 */
    struct fr *value;  /* by wire */
    uint32_t wires;
};

static void put(struct bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size);
        b->data = realloc(b->data, b->capacity);
        if (b->data == NULL) abort();
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_u32(struct bytes *b, uint32_t v)
{
    uint8_t raw[4];
    store_le32(raw, v);
    put(b, raw, sizeof raw);
}

static void put_u64(struct bytes *b, uint64_t v)
{
    put_u32(b, (uint32_t)v);
    put_u32(b, (uint32_t)(v >> 32));
}

static void put_term(struct making *m, uint32_t wire, const struct fr *coefficient)
{
    struct fr_int integer;
    uint8_t raw[32];

    m->curve->fr.to_int(&integer, coefficient);
    words_to_le(raw, integer.w, 4);
    put_u32(&m->rows, wire);
    put(&m->rows, raw, sizeof raw);
}

static void random_scalar(struct making *m, struct fr *out)
{
    uint8_t wide[64];
    prng_bytes(m->random, wide, sizeof wide);
    m->curve->fr.from_wide(out, wide);
}

/* What coefficients look like: mostly 1 and -1, some small, some of full size. */
static void random_coefficient(struct making *m, struct fr *out)
{
    const struct scalar_field *f = &m->curve->fr;

    switch (prng_below(m->random, 8)) {
    case 0:
        random_scalar(m, out);
        return;
    case 1:
        f->from_u64(out, 1 + prng_below(m->random, 1000));
        return;
    case 2:
        f->from_u64(out, 1ull << prng_below(m->random, 60));
        return;
    case 3:
    case 4:
        f->from_u64(out, 1);
        f->neg(out, out);
        return;
    default:
        f->from_u64(out, 1);
    }
}

static uint32_t add_wire(struct making *m, const struct fr *value)
{
    m->value[m->wires] = *value;
    return m->wires++;
}

/* A combination of one to four distinct earlier wires; *sum is its value. */
static void random_combination(struct making *m, struct fr *sum)
{
    const struct scalar_field *f = &m->curve->fr;
    const uint32_t terms = 1 + (uint32_t)prng_below(m->random, m->wires < 4 ? m->wires : 4);
    uint32_t chosen[4];
    struct fr coefficient, product;

    put_u32(&m->rows, terms);
    memset(sum, 0, sizeof *sum);
    for (uint32_t i = 0; i < terms; i++) {
        bool again = true;
        while (again) {
            chosen[i] = (uint32_t)prng_below(m->random, m->wires);
            again = false;
            for (uint32_t k = 0; k < i; k++) again |= chosen[k] == chosen[i];
        }
        random_coefficient(m, &coefficient);
        put_term(m, chosen[i], &coefficient);
        f->mul(&product, &coefficient, &m->value[chosen[i]]);
        f->add(sum, sum, &product);
    }
}

static void row_bit(struct making *m) /* x (1 - x) = 0 */
{
    const struct scalar_field *f = &m->curve->fr;
    struct fr x, one, minus;

    f->from_u64(&one, 1);
    f->neg(&minus, &one);
    f->from_u64(&x, prng_below(m->random, 2));
    const uint32_t wire = add_wire(m, &x);
    put_u32(&m->rows, 1);
    put_term(m, wire, &one);
    put_u32(&m->rows, 2);
    put_term(m, wire, &minus); /* not sorted by wire, as circom's are not */
    put_term(m, 0, &one);
    put_u32(&m->rows, 0);
}

static void row_product(struct making *m) /* z = (..)(..) */
{
    const struct scalar_field *f = &m->curve->fr;
    struct fr a, b, one;

    f->from_u64(&one, 1);
    random_combination(m, &a);
    random_combination(m, &b);
    f->mul(&a, &a, &b);
    put_u32(&m->rows, 1);
    put_term(m, add_wire(m, &a), &one);
}

static void row_linear(struct making *m) /* 0 = z - (..), A and B empty; C's terms: the combination, then z */
{
    const struct scalar_field *f = &m->curve->fr;
    struct fr sum, minus;

    put_u32(&m->rows, 0);
    put_u32(&m->rows, 0);
    const size_t at = m->rows.size;
    random_combination(m, &sum);
    store_le32(m->rows.data + at, load_le32(m->rows.data + at) + 1);
    f->from_u64(&minus, 1);
    f->neg(&minus, &minus);
    put_term(m, add_wire(m, &sum), &minus);
}

static void row_empty(struct making *m)
{
    for (int side = 0; side < 3; side++) put_u32(&m->rows, 0);
}

static void row_input(struct making *m) /* x x = y with x new: full-size, or small */
{
    const struct scalar_field *f = &m->curve->fr;
    struct fr x, y, one;

    f->from_u64(&one, 1);
    if (prng_below(m->random, 2))
        random_scalar(m, &x);
    else
        f->from_u64(&x, 1 + prng_below(m->random, 1u << 20));
    f->mul(&y, &x, &x);
    const uint32_t wire = add_wire(m, &x);
    for (int side = 0; side < 2; side++) {
        put_u32(&m->rows, 1);
        put_term(m, wire, &one);
    }
    put_u32(&m->rows, 1);
    put_term(m, add_wire(m, &y), &one);
}

static void make_rows(struct making *m)
{
    struct fr x;

    m->curve->fr.from_u64(&x, 1);
    add_wire(m, &x);
    for (uint32_t i = 0; i < m->options->publics; i++) {
        random_scalar(m, &x);
        add_wire(m, &x);
    }
    for (uint32_t i = 0; i < m->options->constraints; i++) {
        const uint64_t kind = i == 0 ? 9 : prng_below(m->random, 10);
        if (kind < 3)
            row_bit(m);
        else if (kind < 6)
            row_product(m);
        else if (kind < 7)
            row_linear(m);
        else if (kind < 8)
            row_empty(m);
        else
            row_input(m);
        if (m->options->unused_wires && prng_below(m->random, 16) == 0) {
            random_scalar(m, &x);
            add_wire(m, &x);
        }
    }
}

static void put_header(struct bytes *b, const struct making *m)
{
    uint8_t raw[32];

    words_to_le(raw, m->curve->fr.modulus.w, 4);
    put_u32(b, 32);
    put(b, raw, sizeof raw);
    put_u32(b, m->wires);
    put_u32(b, 0); /* outputs */
    put_u32(b, m->options->publics);
    put_u32(b, 0);        /* private inputs: not told apart */
    put_u64(b, m->wires); /* labels */
    put_u32(b, m->options->constraints);
}

void random_circuit_make(struct random_circuit *out, struct prng *random,
                         const struct random_circuit_options *o)
{
    struct making m = { .curve = o->curve, .options = o, .random = random };
    struct bytes file = { 0 };
    struct fr_int integer;

    memset(out, 0, sizeof *out);
    m.value = calloc((size_t)o->publics + 1 + 3 * (size_t)o->constraints, sizeof *m.value);
    if (m.value == NULL) abort();
    make_rows(&m);

    put(&file, "r1cs", 4);
    put_u32(&file, 1);
    put_u32(&file, 2);
    put_u32(&file, 2); /* the constraints first, as circom writes */
    put_u64(&file, m.rows.size);
    put(&file, m.rows.data, m.rows.size);
    put_u32(&file, 1);
    put_u64(&file, 64);
    put_header(&file, &m);

    out->r1cs = file.data;
    out->r1cs_bytes = file.size;
    out->count = m.wires;
    out->values = malloc((size_t)m.wires * 32);
    if (out->values == NULL) abort();
    for (uint32_t i = 0; i < m.wires; i++) {
        o->curve->fr.to_int(&integer, &m.value[i]);
        words_to_le(out->values + 32 * (size_t)i, integer.w, 4);
    }
    out->witness.curve = o->curve;
    out->witness.values = span_of(out->values, (size_t)m.wires * 32);
    out->witness.count = m.wires;
    free(m.rows.data);
    free(m.value);
}

void random_circuit_fini(struct random_circuit *c)
{
    free(c->r1cs);
    free(c->values);
    memset(c, 0, sizeof *c);
}
