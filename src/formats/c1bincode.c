/* Reader of bincode C1 outputs. */
#include "formats/c1bincode.h"

#include "base/bytes.h"

struct reader {
    struct span file;
    uint64_t at;
    struct c1 *c;
    struct task *t;
    struct c1_place place;
};

static cuzk_status fail_here(struct reader *r, const char *field, const char *why)
{
    const cuzk_status status = r->c->partitions == 0
                                   ? FAIL(r->t, CUZK_MALFORMED, "C1 bincode: %s", why)
                                   : FAIL(r->t, CUZK_MALFORMED, "partition %u, challenge %u, %s: %s",
                                          r->place.partition, r->place.challenge, field, why);
    task_fail_place(r->t, r->c->path[0] ? r->c->path : NULL, r->at, field, NULL);
    return status;
}

static cuzk_status take(struct reader *r, const uint8_t **out, uint64_t bytes, const char *field)
{
    *out = r->file.data;
    if (!span_holds(r->file, r->at, bytes)) return fail_here(r, field, "the file ends here");
    *out = r->file.data + r->at;
    r->at += bytes;
    return CUZK_OK;
}

static cuzk_status take32(struct reader *r, uint32_t *out, const char *field)
{
    const uint8_t *p;
    TRY(take(r, &p, 4, field));
    *out = load_le32(p);
    return CUZK_OK;
}

static cuzk_status take64(struct reader *r, uint64_t *out, const char *field)
{
    const uint8_t *p;
    TRY(take(r, &p, 8, field));
    *out = load_le64(p);
    return CUZK_OK;
}

static cuzk_status take_count(struct reader *r, uint64_t expected, const char *field)
{
    uint64_t n;
    TRY(take64(r, &n, field));
    return n == expected ? CUZK_OK
                         : fail_here(r, field, "the number of elements is not what this sector size has");
}

static cuzk_status take_hash(struct reader *r, enum c1_item item, const char *field)
{
    const uint8_t *p;
    TRY(take(r, &p, 32, field));
    return c1_put_hash(r->c, r->t, item, &r->place, p);
}

static cuzk_status read_levels(struct reader *r, unsigned first, unsigned count)
{
    TRY(take_count(r, count, "path"));
    for (unsigned l = first; l < first + count; l++) {
        const unsigned hashes = c1_arity(r->c->shape, r->place.merkle, l) - 1;
        uint64_t index;
        r->place.level = l;
        TRY(take_count(r, hashes, "hashes"));
        for (r->place.sibling = 0; r->place.sibling < hashes; r->place.sibling++)
            TRY(take_hash(r, C1_SIBLING, "hashes"));
        r->place.sibling = 0;
        TRY(take64(r, &index, "index"));
        TRY(c1_put_index(r->c, r->t, &r->place, index));
    }
    return CUZK_OK;
}

static cuzk_status read_merkle(struct reader *r, unsigned merkle)
{
    const struct porep_shape *s = r->c->shape;
    const uint32_t expected = merkle == C1_MERKLE_D ? 0 : s->top ? 2 : s->sub ? 1 : 0;
    uint32_t variant;
    r->place.merkle = merkle;
    TRY(take32(r, &variant, "data"));
    if (variant != expected)
        return fail_here(r, "data", "the kind of Merkle proof is not what this sector size has");
    if (variant == 0) {
        TRY(take_hash(r, C1_ROOT, "root"));
        TRY(take_hash(r, C1_LEAF, "leaf"));
        return read_levels(r, 0, c1_levels(s, merkle));
    }
    TRY(read_levels(r, 0, s->base_levels));
    TRY(read_levels(r, s->base_levels, 1));
    if (variant == 2) TRY(read_levels(r, s->base_levels + 1, 1));
    TRY(take_hash(r, C1_ROOT, "root"));
    return take_hash(r, C1_LEAF, "leaf");
}

static cuzk_status read_column(struct reader *r, unsigned merkle)
{
    struct c1_extra *x = c1_extra_of(r->c, r->place.partition, r->place.challenge);
    r->place.merkle = merkle;
    TRY(take32(r, &x->column_index[merkle], "column index"));
    TRY(take_count(r, r->c->shape->layers, "column rows"));
    for (r->place.row = 0; r->place.row < r->c->shape->layers; r->place.row++)
        TRY(take_hash(r, C1_COLUMN_ROW, "column rows"));
    return read_merkle(r, merkle);
}

static cuzk_status read_label(struct reader *r, unsigned label)
{
    struct c1_extra *x = c1_extra_of(r->c, r->place.partition, r->place.challenge);
    r->place.label = label;
    TRY(take_count(r, POREP_LABEL_PARENTS, "label parents"));
    for (r->place.parent = 0; r->place.parent < POREP_LABEL_PARENTS; r->place.parent++)
        TRY(take_hash(r, C1_LABEL_PARENT, "label parents"));
    TRY(take32(r, &x->label_layer[label], "layer_index"));
    return take64(r, &x->label_node[label], "node");
}

static cuzk_status read_proof(struct reader *r)
{
    const unsigned layers = r->c->shape->layers;
    TRY(read_merkle(r, C1_MERKLE_D));
    TRY(read_merkle(r, C1_MERKLE_R));
    TRY(read_column(r, C1_MERKLE_C));
    TRY(take_count(r, POREP_DRG_PARENTS, "drg_parents"));
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++) TRY(read_column(r, C1_MERKLE_PARENT + i));
    TRY(take_count(r, POREP_EXP_PARENTS, "exp_parents"));
    for (unsigned i = POREP_DRG_PARENTS; i < POREP_PARENTS; i++) TRY(read_column(r, C1_MERKLE_PARENT + i));
    TRY(take_count(r, layers, "labeling_proofs"));
    for (unsigned i = 0; i <= layers; i++) TRY(read_label(r, i));
    return CUZK_OK;
}

static cuzk_status read_c1(struct reader *r)
{
    struct c1 *c = r->c;
    uint8_t *const tail[5] = { c->comm_r, c->comm_d, c->replica_id, c->seed, c->ticket };
    uint32_t number, shape;
    uint64_t partitions;
    TRY(take32(r, &number, "registered_proof"));
    TRY(take32(r, &shape, "vanilla_proofs"));
    c->proof = registered_proof_by_number(number);
    if (c->proof == NULL || shape >= 5)
        return fail_here(r, "registered_proof",
                         "no such proof type; the file is neither JSON nor bincode of a C1 output");
    c->shape = registered_proof_by_number(shape)->shape;
    TRY(take64(r, &partitions, "vanilla_proofs"));
    if (partitions != registered_proof_partitions(c->proof))
        return fail_here(r, "vanilla_proofs", "wrong number of partitions");
    for (unsigned k = 0; k < partitions; k++) {
        TRY(task_poll(r->t));
        r->place.partition = k;
        r->place.challenge = 0;
        TRY(c1_add_partition(c, r->t));
        TRY(take_count(r, c->shape->challenges, "challenges"));
        for (unsigned i = 0; i < c->shape->challenges; i++) {
            r->place.challenge = i;
            TRY(read_proof(r));
        }
    }
    for (int i = 0; i < 5; i++) {
        const uint8_t *p;
        TRY(take(r, &p, 32, "commitments"));
        memcpy(tail[i], p, 32);
    }
    return c1_complete(c, r->t);
}

/* A C2Input starts with a u32 0 and the proof type, a bare output with the proof type and the sector size's index: the third word
 * is the low half of a partition count in the latter, and below 5 in the former only if the sizes agree. */
static bool is_wrapped(struct span file)
{
    if (file.size < 20 || load_le32(file.data) != 0) return false;
    const struct registered_proof *r = registered_proof_by_number(load_le32(file.data + 4));
    if (r == NULL || load_le32(file.data + 8) >= 5) return false;
    return load_le64(file.data + 12) == registered_proof_partitions(r) &&
           load_le32(file.data + 8) == r->number % 5;
}

cuzk_status c1bincode_read(struct c1 *c, struct task *t, struct span file)
{
    struct reader r = { .file = file, .c = c, .t = t };
    const bool wrapped = is_wrapped(file);
    if (wrapped) r.at = 4;
    TRY(read_c1(&r));
    if (wrapped) {
        const uint8_t *p;
        TRY(take(&r, &p, 40, "prover_id and sector_id"));
        memcpy(c->prover_id, p, 32);
        c->sector_number = load_le64(p + 32);
        c->has_prover = c->has_sector = true;
    }
    return r.at == file.size ? CUZK_OK : fail_here(&r, "end", "the file goes on behind the proof");
}
