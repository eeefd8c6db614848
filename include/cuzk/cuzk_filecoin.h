/* Filecoin's proof of replication (PoRep): the output of Commit Phase 1 in, 192 bytes a partition out.
 *
 *     cuzk_c1_open(&c1, "c1.json", &err);                             the vanilla proofs: JSON, base64 wrapper or bincode
 *     cuzk_c1_describe(c1, &info);
 *     cuzk_porep_key_open(&key, ctx, info.sector_bytes, NULL, NULL, &err);   circuit, parameters and verifying key
 *     cuzk_porep_prove(proofs, sizeof proofs, &bytes, ctx, key, c1, &request, NULL, &err);
 *
 * The circuit is built in: no Rust, no .r1cs.  Every partition is proved, and then verified against public inputs that are derived
 * from miner, sector, ticket, seed, comm_d and comm_r, before a byte is handed out.  Conventions are those of cuzk.h. */
#ifndef CUZK_CUZK_FILECOIN_H
#define CUZK_CUZK_FILECOIN_H

#include "cuzk/cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuzk_c1 cuzk_c1; /* vanilla proofs of a sector; wiped when closed */
typedef struct cuzk_porep_key
    cuzk_porep_key; /* what proofs of a sector size share: immutable, for any number of threads */

#define CUZK_FILECOIN_PROOF_BYTES 192 /* of one partition: A, B, C compressed */

/* -- names ------------------------------------------------------------------------------------------------------------- */

/** Bytes of a sector size by name ("2KiB", "2k", "32GiB", "32g", also with "porep-" in front), or 0. */
CUZK_API uint64_t cuzk_sector_bytes(const char *name);
/** "32GiB", or NULL if there is no such sector size. */
CUZK_API const char *cuzk_sector_name(uint64_t sector_bytes);
/** The name of its parameter files without .params or .vk, as cuzk_proof_encode writes it; 0 if there is no such sector size. */
CUZK_API size_t cuzk_porep_parameter_name(uint64_t sector_bytes, char *buffer, size_t capacity);
/** Where parameters are looked for when no folder is given: $FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters. */
CUZK_API const char *cuzk_filecoin_parameter_folder(void);
/** A miner's actor id as the 32 bytes that proofs know. */
CUZK_API void cuzk_prover_id(unsigned char out[32], uint64_t miner);

/* -- vanilla proofs ---------------------------------------------------------------------------------------------------- */

CUZK_CHECKED cuzk_status cuzk_c1_open(cuzk_c1 **out, const char *path, cuzk_error *error);
CUZK_CHECKED cuzk_status cuzk_c1_from_memory(cuzk_c1 **out, const void *data, size_t bytes,
                                             cuzk_error *error);
CUZK_API void cuzk_c1_close(cuzk_c1 *c1);

typedef struct cuzk_c1_info {
    size_t size;
    const char *proof_type;  /* "StackedDrg32GiBV1_1" */
    const char *sector_name; /* "32GiB" */
    uint64_t sector_bytes;
    unsigned partitions, challenges; /* challenges in each partition */
    unsigned char comm_r[32], comm_d[32], replica_id[32], seed[32], ticket[32];
    int has_sector, has_prover; /* whether the file names them */
    uint64_t sector;
    unsigned char prover_id[32];
} cuzk_c1_info;
#define CUZK_C1_INFO_INIT                                                                            \
    {                                                                                                \
        sizeof(cuzk_c1_info), NULL, NULL, 0, 0, 0, { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, 0, 0, 0, { 0 } \
    }
CUZK_API void cuzk_c1_describe(const cuzk_c1 *c1, cuzk_c1_info *out); /* texts live for ever */

/** Checks everything that can be checked without proving: challenges against seed and replica id, parents against the graph, labels,
 * columns, every path against its root, roots against comm_r and comm_d.
 * Errors  CUZK_MALFORMED, CUZK_MISMATCH: the text names partition, challenge and field. */
CUZK_CHECKED cuzk_status cuzk_c1_check(cuzk_context *context, const cuzk_c1 *c1, const cuzk_watch *watch,
                                       cuzk_error *error);

/** That the replica id in the file, and what a wrapper around it says, are those of this miner and sector.
 * Errors  CUZK_MISMATCH. */
CUZK_CHECKED cuzk_status cuzk_c1_check_identity(const cuzk_c1 *c1, uint64_t miner, uint64_t sector,
                                                cuzk_error *error);

typedef struct cuzk_c1_options {
    size_t size;
    const char *proof_type; /* "StackedDrg2KiBV1_1" */
    int sparse;             /* 0: seals a sector (up to 16 MiB); 1: of any size, only what the proof opens */
    uint64_t miner, sector;
    uint64_t seed; /* everything else follows from it */
} cuzk_c1_options;
#define CUZK_C1_OPTIONS_INIT                         \
    {                                                \
        sizeof(cuzk_c1_options), NULL, 0, 1000, 1, 0 \
    }

/** Vanilla proofs for people without a sector, from random data.  The same options give the same proofs.
 * Errors  CUZK_UNSUPPORTED (a large sector that is not sparse; sparse with challenges that depend on comm_r). */
CUZK_CHECKED cuzk_status cuzk_c1_generate(cuzk_c1 **out, cuzk_context *context,
                                          const cuzk_c1_options *options, const cuzk_watch *watch,
                                          cuzk_error *error);
/** As JSON; wrapped: inside {"SectorNum", "Phase1Out", "SectorSize"}, as Curio sends it. */
CUZK_CHECKED cuzk_status cuzk_c1_save(const cuzk_c1 *c1, const char *path, int wrapped, cuzk_error *error);

/* -- what a proof says --------------------------------------------------------------------------------------------------- */

typedef struct cuzk_porep_statement {
    size_t size;
    const char *proof_type;
    unsigned char prover_id[32];
    uint64_t sector;
    unsigned char ticket[32], seed[32], comm_r[32], comm_d[32];
    const unsigned char *porep_id; /* NULL: that of the proof type; else 32 bytes */
} cuzk_porep_statement;
#define CUZK_POREP_STATEMENT_INIT                                                      \
    {                                                                                  \
        sizeof(cuzk_porep_statement), NULL, { 0 }, 0, { 0 }, { 0 }, { 0 }, { 0 }, NULL \
    }

/** The statement of vanilla proofs for a miner and a sector; nothing is checked. */
CUZK_API void cuzk_c1_statement(const cuzk_c1 *c1, uint64_t miner, uint64_t sector,
                                cuzk_porep_statement *out);
/** How many partitions a proof type has, or 0 if there is no such type. */
CUZK_API unsigned cuzk_porep_partitions(const char *proof_type);
/** The public inputs of a partition, without the constant: replica id, comm_d, comm_r, and for each challenge the 18 numbers that
 * node and graph give.
 * Errors  CUZK_INVALID_ARGUMENT (proof type, partition), CUZK_MALFORMED (a commitment that is no field element). */
CUZK_CHECKED cuzk_status cuzk_porep_publics(cuzk_publics **out, const cuzk_porep_statement *statement,
                                            unsigned partition, cuzk_error *error);

/* -- parameters -------------------------------------------------------------------------------------------------------- */

typedef struct cuzk_porep_key_options {
    size_t size;
    const char *folder; /* NULL: cuzk_filecoin_parameter_folder() */
    cuzk_key_mode mode; /* a derived key lies beside the .params */
} cuzk_porep_key_options;
#define CUZK_POREP_KEY_OPTIONS_INIT                         \
    {                                                       \
        sizeof(cuzk_porep_key_options), NULL, CUZK_KEY_AUTO \
    }

/** Opens the parameters of a sector size.  The folder is only read, and nothing is locked.  The .vk must be the head of the .params;
 * every count must be the circuit's.  Where the folder has a parameters.json, digests are checked: the .vk's each time, the
 * .params's once for each file (remembered in $XDG_CACHE_HOME/cuzk by size, time and inode).
 * Errors  CUZK_NOT_FOUND, CUZK_IO, CUZK_MALFORMED (empty, cut short, an HTML page), CUZK_KEY_INVALID (digest, points), CUZK_MISMATCH
 *         (of another circuit; .vk and .params of different ceremonies), CUZK_TOO_LARGE (says how much memory it takes). */
CUZK_CHECKED cuzk_status cuzk_porep_key_open(cuzk_porep_key **out, cuzk_context *context,
                                             uint64_t sector_bytes, const cuzk_porep_key_options *options,
                                             const cuzk_watch *watch, cuzk_error *error);
CUZK_API void cuzk_porep_key_close(cuzk_porep_key *key);

typedef struct cuzk_porep_key_info {
    size_t size;
    const char *params_path; /* lives as long as the key */
    uint64_t file_bytes;     /* of .params: mapped */
    uint64_t shared_bytes;   /* heap that the open key holds */
    uint64_t proof_bytes;    /* heap that a proof takes beside it, all partitions one after another */
    uint64_t domain_size, variables;
    int development; /* 1: an insecure key made by cuzk setup --dev */
    int checked;     /* 1: its digest is that of parameters.json, or it passed cuzk_key_check before */
    const char *mode, *derived_refused; /* as in cuzk_key_info */
} cuzk_porep_key_info;
#define CUZK_POREP_KEY_INFO_INIT                                           \
    {                                                                      \
        sizeof(cuzk_porep_key_info), NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL \
    }
CUZK_API void cuzk_porep_key_describe(const cuzk_porep_key *key, cuzk_porep_key_info *out);

/** cuzk_key_derive for parameters: the circuit is at hand.
 * In  key  opened with CUZK_KEY_ORIGINAL;  path  NULL: beside the .params */
CUZK_CHECKED cuzk_status cuzk_porep_key_derive(cuzk_context *context, const cuzk_porep_key *key,
                                               const char *path, const cuzk_derive_options *options,
                                               const cuzk_watch *watch, cuzk_error *error);

/** Only the verifying key, from the same folder; checked in the same way. */
CUZK_CHECKED cuzk_status cuzk_porep_vk_open(cuzk_vk **out, uint64_t sector_bytes, const char *folder,
                                            cuzk_error *error);

/** Makes INSECURE development parameters (.params and .vk) in a folder of their own, under their real names.
 * In      trapdoor_path  NULL, or where the secrets go (mode 0600): for tests
 *         derived        1: their derived form (cuzk_key_mode) too, beside the .params
 * Errors  CUZK_INVALID_ARGUMENT: the folder is where real parameters are kept, or holds files that are not development keys. */
CUZK_CHECKED cuzk_status cuzk_porep_setup_dev(cuzk_context *context, uint64_t sector_bytes,
                                              const char *folder, const char *trapdoor_path, int derived,
                                              const cuzk_watch *watch, cuzk_error *error);

/* -- proving, verifying ------------------------------------------------------------------------------------------------ */

typedef struct cuzk_porep_request {
    size_t size;
    uint64_t miner, sector;
    /* NULL, or told how long each stage of each partition took: "check", "witness", "constraints", "quotient", "msm_a", "msm_b1", "msm_b2",
     * "msm_l", "msm_h", "assemble", "verify"; "verify_all" last, with the number of partitions.  Where a device makes the witnesses, first
     * "device" (the key's and circuit's way there), and the sums A, B1, B2, L of all partitions of a batch are those of its first. */
    void (*stage)(void *context, unsigned partition, const char *stage, double ms);
    void *stage_context;
} cuzk_porep_request;
#define CUZK_POREP_REQUEST_INIT                      \
    {                                                \
        sizeof(cuzk_porep_request), 0, 0, NULL, NULL \
    }

/** Bytes of all partitions' proofs. */
CUZK_API size_t cuzk_porep_proof_bytes(const cuzk_c1 *c1);

/** Proves all partitions and verifies them.
 * Out     proofs  cuzk_porep_proof_bytes(c1) bytes, written only if all is well
 * Errors  those of cuzk_c1_check; CUZK_MISMATCH (miner or sector is not the file's, or the key is for another size), CUZK_UNSATISFIED,
 *         CUZK_TOO_LARGE and CUZK_NO_MEMORY, CUZK_CANCELLED, CUZK_DEADLINE. */
CUZK_CHECKED cuzk_status cuzk_porep_prove(void *proofs, size_t capacity, cuzk_context *context,
                                          const cuzk_porep_key *key, const cuzk_c1 *c1,
                                          const cuzk_porep_request *request, const cuzk_watch *watch,
                                          cuzk_error *error);

/** Whether bytes are valid proofs of all partitions.
 * Errors  CUZK_PROOF_INVALID (names the first partition at fault), CUZK_MALFORMED (not 192 bytes a partition, not points). */
CUZK_CHECKED cuzk_status cuzk_porep_verify(const cuzk_vk *vk, const cuzk_porep_statement *statement,
                                           const void *proofs, size_t bytes, cuzk_error *error);

/* -- circuits ---------------------------------------------------------------------------------------------------------- */

typedef struct cuzk_circuit_info {
    size_t size;
    char name[32];              /* "porep-32GiB" */
    uint64_t inputs, aux, rows; /* the constant 1 and the rows that bind the inputs included */
    uint64_t entries_a, entries_b, entries_c;
    uint64_t dense_a, dense_b,
        dense_b_inputs; /* aux variables that occur in A and in B; inputs that occur in B */
    uint64_t domain_size, image_bytes, templates;
    int has_digest,
        has_reference; /* digest was asked for; reference is known, and inputs .. dense_b_inputs and digest agree with it */
    unsigned char digest[32];
} cuzk_circuit_info;
#define CUZK_CIRCUIT_INFO_INIT                                                         \
    {                                                                                  \
        sizeof(cuzk_circuit_info), "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 } \
    }

/** Counts a built-in circuit ("porep-32g") row by row and, if asked, hashes every row: SHA-256 over, for A, B, C of each row, the number
 * of terms (u32 LE) and each term's index (u32 LE, bit 31: aux) and coefficient (32 bytes LE).
 * Errors  CUZK_NOT_FOUND (no such circuit), CUZK_INTERNAL: the digest or a count is not the reference's.
 * Cost    32 GiB: 10 s; with digest, 36 bytes of hashing a non-zero. */
CUZK_CHECKED cuzk_status cuzk_circuit_describe(cuzk_circuit_info *out, cuzk_context *context,
                                               const char *name, int digest, const cuzk_watch *watch,
                                               cuzk_error *error);

#ifdef __cplusplus
}
#endif
#endif
