/* Poseidon with its trace by one warp.  Included by image_assign.cu alone.
 *
 * Lane i has element i of the state.  In a partial round the lanes multiply the row by the old state while the first lane squares; the
 * dearest path is then four multiplications a round.  Values for the trace wait in shared memory until there is one for each lane, so that
 * leaving Montgomery form costs a multiplication for 32 of them.
 * Predicted: 65 rounds of about 2,500 clocks, 0.1 ms, whatever runs beside it on other processors. */

enum { TRACE_ROOM = 4 * ASSIGN_POSEIDON_WIDTH };

struct poseidon_run {
    fe_t *exchange; /* 32 elements that the lanes share */
    fe_t *trace;    /* TRACE_ROOM of them, in Montgomery form */
    uint8_t *out;   /* where they go */
    uint32_t lane, width;
};

DEVICE void constant_at(fe_t *r, const void *constants, uint32_t index)
{
    fe_read_const(r, (const uint8_t *)constants + (size_t)index * sizeof(fe_t));
}

/* Writes count values of the trace as integers. */
DEVICE void trace_flush(struct poseidon_run *c, uint32_t count)
{
    fe_t one, v;
    fe_set_zero(&one);
    one.v[0] = 1;
    __syncwarp();
    for (uint32_t i = c->lane; i < count; i += 32) {
        fe_mul(&v, &one, &c->trace[i]);
        fe_canon_once(&v);
        fe_write(c->out + (size_t)i * sizeof(fe_t), &v, 1);
    }
    __syncwarp();
    c->out += (size_t)count * sizeof(fe_t);
}

/* e = e^5 + post, e and post canonical; e^2, e^4 and the result for the trace. */
DEVICE void fifth_power(fe_t *e, const fe_t *post, fe_t trace[3])
{
    fe_mul(&trace[0], e, e);
    fe_canon_once(&trace[0]);
    fe_mul(&trace[1], &trace[0], &trace[0]);
    fe_mul(&trace[2], e, &trace[1]);
    fe_add(&trace[2], &trace[2], post);
    fe_canon_once(&trace[2]);
    *e = trace[2];
}

/* The S-boxes of a full round, their trace included.  entering: e itself is part of the trace. */
DEVICE void full_sboxes(struct poseidon_run *c, fe_t *e, const fe_t *post, bool entering)
{
    fe_t trace[4];
    trace[0] = *e;
    fifth_power(e, post, trace + 1);
    /* the first element of the first round is a constant, which the circuit does not allocate */
    const uint32_t each = entering ? 4 : 3, first = entering ? 0 : 1;
    if (c->lane >= first && c->lane < c->width) {
        fe_t *to = c->trace + (c->lane - first) * each;
        if (entering) *to++ = trace[0];
        UNROLL for (int i = 1; i < 4; i++) *to++ = trace[i];
    }
    trace_flush(c, (c->width - first) * each);
}

/* Row vector times matrix: as many lanes a column as there are. */
DEVICE void mix(struct poseidon_run *c, fe_t *e, const void *constants, uint32_t matrix)
{
    const uint32_t width = c->width, teams = 32 / width, team = c->lane / width, column = c->lane % width;
    fe_t sum, k, x;
    if (c->lane < width) c->exchange[c->lane] = *e;
    __syncwarp();
    fe_set_zero(&sum);
    NOT_UNROLLED for (uint32_t i = team; i < width; i += teams) {
        constant_at(&k, constants, matrix + i * width + column);
        x = c->exchange[i];
        fe_mul(&x, &k, &x);
        fe_add(&sum, &sum, &x);
    }
    __syncwarp();
    c->exchange[c->lane] = sum;
    __syncwarp();
    *e = c->exchange[column];
    NOT_UNROLLED for (uint32_t i = 1; i < teams; i++) fe_add(e, e, &c->exchange[i * width + column]);
    __syncwarp();
    fe_canon_once(e);
}

/* The sum over all lanes of a value that lanes 12 and above have as zero, for every lane below 16. */
DEVICE void sum_lanes(fe_t *v)
{
    NOT_UNROLLED for (uint32_t distance = 8; distance; distance /= 2) {
        fe_t other;
        UNROLL for (int i = 0; i < 8; i++) other.v[i] = __shfl_xor_sync(ALL, v->v[i], distance);
        fe_add(v, v, &other);
    }
}

DEVICE void partial_rounds(struct poseidon_run *c, fe_t *e, const struct assign_poseidon *p, const void *constants, uint32_t key)
{
    const uint32_t width = c->width, lane = c->lane, step = 2 * width - 1;
    const bool first = lane == 0, mine = lane < width;
    uint32_t waiting = 0;
    fe_t row, rest, post, product, sum, power;
    NOT_UNROLLED for (uint32_t round = 0; round < p->partial_rounds; round++) {
        const uint32_t sparse = p->sparse + round * step;
        constant_at(&row, constants, sparse + (mine ? lane : 0));
        constant_at(&rest, constants, sparse + (mine && !first ? width + lane - 1 : 0)); /* the first lane's is the row's first */
        constant_at(&post, constants, key + round);
        fe_t *trace = c->trace + waiting;
        if (first) trace[0] = *e;
        fe_select(&product, e, &row, first);
        fe_mul(&product, &product, e); /* the square, and the others' share of the row */
        fe_canon_once(&product);
        fe_set_zero(&sum);
        fe_cmov(&sum, &product, mine && !first);
        sum_lanes(&sum);
        if (first) trace[1] = product;
        fe_mul(&power, &product, &product);
        if (first) trace[2] = power;
        fe_mul(&power, e, &power);
        fe_add(&power, &power, &post);
        if (first) trace[3] = power;
        UNROLL for (int i = 0; i < 8; i++) power.v[i] = __shfl_sync(ALL, power.v[i], 0);
        fe_mul(&power, &rest, &power);
        fe_cmov(e, &sum, first);
        fe_add(e, e, &power);
        fe_canon_once(e);
        waiting += 4;
        if (waiting == 32) {
            trace_flush(c, waiting);
            waiting = 0;
        }
    }
    trace_flush(c, waiting);
}

/* The trace of Poseidon over inputs that stand as integers; in: this lane's, for lanes 1 .. width - 1. */
DEVICE void poseidon_trace(struct poseidon_run *c, const fe_t *in, const struct assign_poseidon *p, const void *constants)
{
    const uint32_t width = c->width, element = c->lane < width ? c->lane : 0, half = 4;
    const uint32_t r2[8] = BLS12_381_FR_R2_32;
    fe_t e, post;
    uint32_t key = p->keys;
    UNROLL for (int i = 0; i < 8; i++) post.v[i] = r2[i];
    fe_mul(&e, &post, in);
    constant_at(&post, constants, key + element);
    fe_add(&e, &e, &post);
    fe_canon_once(&e);
    NOT_UNROLLED for (uint32_t round = 0; round < half; round++) {
        key += width;
        constant_at(&post, constants, key + element);
        full_sboxes(c, &e, &post, round > 0);
        mix(c, &e, constants, round + 1 < half ? p->mds : p->pre);
    }
    key += width;
    partial_rounds(c, &e, p, constants, key);
    key += p->partial_rounds;
    NOT_UNROLLED for (uint32_t round = 0; round < half; round++) {
        if (round + 1 < half) constant_at(&post, constants, key + element);
        else fe_set_zero(&post);
        key += width;
        full_sboxes(c, &e, &post, true);
        mix(c, &e, constants, p->mds);
    }
    if (c->lane == 1) c->trace[0] = e;
    trace_flush(c, 1);
}
