/* The circuit and the witness of a partition; names of parameter files. */
#include "circuits/porep/porep.h"

#include "base/mapfile.h"
#include "circuits/porep/porep_circuit.h"
#include "hash/sha256.h"

#include <stdio.h>

static cuzk_status load(struct porep_circuit *out, struct task *t, const char *path)
{
    struct mapfile file;
    const struct porep_shape *s = out->shape;
    char name[sizeof out->image.name];
    TRY(mapfile_open(&file, t, path));
    cuzk_status status = image_load(&out->image, t, file.bytes);
    if (status != CUZK_OK)
        task_fail_place(t, path, ERROR_NO_OFFSET, NULL,
                        "delete the file: it is made again when it is missing");
    mapfile_close(&file);
    if (status != CUZK_OK) return status;
    snprintf(name, sizeof name, "porep-%s", s->name);
    if (strcmp(name, out->image.name) == 0 && image_circuit(&out->image)->input_count == porep_input_count(s))
        return CUZK_OK;
    status = FAIL(t, CUZK_MISMATCH, "the file holds circuit %s, not %s", out->image.name, name);
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, NULL);
    return status;
}

cuzk_status porep_circuit_open(struct porep_circuit *out, struct task *t, const struct porep_shape *shape,
                               const char *image_path)
{
    memset(out, 0, sizeof *out);
    out->shape = shape;
    cuzk_status status = image_path != NULL ? load(out, t, image_path)
                                            : porep_circuit_record(&out->image, t, shape, shape->challenges);
    if (status == CUZK_OK) status = aux_map_create(&out->map, t, &out->image);
    if (status != CUZK_OK) porep_circuit_close(out);
    return status;
}

void porep_circuit_close(struct porep_circuit *c)
{
    aux_map_fini(&c->map);
    image_fini(&c->image);
    memset(c, 0, sizeof *c);
}

static cuzk_status check_partition(const struct porep_circuit *c, struct task *t, const struct c1 *c1, unsigned partition)
{
    if (c1->shape != c->shape)
        return FAIL(t, CUZK_MISMATCH, "the vanilla proofs are of a %s sector, the circuit is for %s",
                    c1->shape->name, c->shape->name);
    if (partition >= c1->partitions)
        return FAIL(t, CUZK_INVALID_ARGUMENT, "partition %u of %u", partition, c1->partitions);
    return CUZK_OK;
}

/* What the circuit itself reads of the statement. */
static void header_of(bls12_381_fr_int header[POREP_HEADER_NUMBERS], const struct c1 *c1, unsigned partition)
{
    const struct c1_extra *x = c1_extra_of(c1, partition, 0);
    words_from_le(header[POREP_REPLICA_ID].l, c1->replica_id, 4);
    words_from_le(header[POREP_COMM_D].l, c1->comm_d, 4);
    words_from_le(header[POREP_COMM_R].l, c1->comm_r, 4);
    words_from_le(header[POREP_COMM_R_LAST].l, x->root[C1_MERKLE_R], 4);
    words_from_le(header[POREP_COMM_C].l, x->root[C1_MERKLE_C], 4);
}

cuzk_status porep_assign(const struct porep_circuit *c, struct task *t, struct assignment *a,
                         const struct c1 *c1, unsigned partition)
{
    bls12_381_fr_int header[POREP_HEADER_NUMBERS];
    TRY(check_partition(c, t, c1, partition));
    header_of(header, c1, partition);
    const struct statement s = { .own_numbers = header,
                                 .part_numbers = c1_numbers(c1, partition, 0),
                                 .part_words = c1_words(c1, partition, 0) };
    return image_assign(&c->image, t, a, &s);
}

cuzk_status porep_statement(const struct porep_circuit *c, struct task *t, uint8_t *out, const struct c1 *c1,
                            unsigned partition)
{
    bls12_381_fr_int header[POREP_HEADER_NUMBERS];
    const size_t numbers = (size_t)(c->image.source_number_total - POREP_HEADER_NUMBERS) * sizeof *header;
    TRY(check_partition(c, t, c1, partition));
    header_of(header, c1, partition);
    memcpy(out, header, sizeof header);
    memcpy(out + sizeof header, c1_numbers(c1, partition, 0), numbers);
    memcpy(out + sizeof header + numbers, c1_words(c1, partition, 0),
           c->image.source_word_total * sizeof(uint32_t));
    return CUZK_OK;
}

void porep_witness(const struct porep_circuit *c, const struct assignment *a, bls12_381_fr_int *out)
{
    assignment_values(a, &c->map, out);
}

void porep_public_of(struct porep_public *out, const struct c1 *c1)
{
    porep_public_init(out, c1->proof, c1->replica_id, c1->comm_d, c1->comm_r, c1->seed);
}

cuzk_status porep_check_identity(const struct c1 *c1, struct task *t, uint64_t miner, uint64_t sector)
{
    uint8_t prover[32], porep_id[32], replica_id[32];
    porep_prover_id(prover, miner);
    registered_proof_porep_id(c1->proof, porep_id);
    if (c1->has_sector && c1->sector_number != sector) {
        const cuzk_status status = FAIL(t, CUZK_MISMATCH, "the wrapper is of sector %llu, not %llu",
                                        (unsigned long long)c1->sector_number, (unsigned long long)sector);
        task_fail_place(t, c1->path[0] ? c1->path : NULL, ERROR_NO_OFFSET, "SectorNum",
                        "most often the file or the sector number is a wrong one");
        return status;
    }
    if (c1->has_prover && memcmp(c1->prover_id, prover, 32) != 0) {
        const cuzk_status status =
            FAIL(t, CUZK_MISMATCH, "the wrapper is of another miner than %llu", (unsigned long long)miner);
        task_fail_place(t, c1->path[0] ? c1->path : NULL, ERROR_NO_OFFSET, "prover_id",
                        "most often the file or the miner is a wrong one");
        return status;
    }
    porep_replica_id(replica_id, prover, sector, c1->ticket, c1->comm_d, porep_id);
    if (memcmp(replica_id, c1->replica_id, 32) == 0) return CUZK_OK;
    const cuzk_status status = FAIL(
        t, CUZK_MISMATCH, "replica_id is not that of miner %llu, sector %llu with this ticket and comm_d",
        (unsigned long long)miner, (unsigned long long)sector);
    task_fail_place(t, c1->path[0] ? c1->path : NULL, ERROR_NO_OFFSET, "replica_id",
                    "most often the miner or the sector number is wrong");
    return status;
}

void porep_parameter_name(const struct porep_shape *shape, char out[POREP_PARAMETER_NAME_BYTES])
{
    char tree[64], text[512], hex[65];
    uint8_t digest[32];
    snprintf(tree, sizeof tree, "merkletree-poseidon_hasher-8-%u-%u", shape->sub, shape->top);
    const int length = snprintf(
        text, sizeof text,
        "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: %d base_graph: "
        "drgraph::BucketGraph{size: %llu; degree: %d; hasher: poseidon_hasher} }, challenges: "
        "LayerChallenges { "
        "layers: %u, max_count: %u }, tree: %s }",
        POREP_EXP_PARENTS, (unsigned long long)shape->nodes, POREP_DRG_PARENTS, shape->layers,
        shape->challenges, tree);
    sha256_of(digest, text, (size_t)length);
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    snprintf(out, POREP_PARAMETER_NAME_BYTES, "v28-stacked-proof-of-replication-%s-sha256_hasher-%s", tree,
             hex);
}
