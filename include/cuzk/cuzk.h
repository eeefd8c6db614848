/* cuzk: Groth16 proofs over BN254 and BLS12-381 from snarkjs (.zkey) and bellman (.params) keys.  The library in one screen:
 *
 *     cuzk_context_create(&ctx, NULL, &err);                          worker threads and the device that computes
 *     cuzk_key_open(&key, ctx, "circuit.zkey", NULL, &err);           once; proofs on it may run from many threads
 *     cuzk_witness_open(&witness, "witness.wtns", &err);
 *     cuzk_prove(&proof, &publics, ctx, key, witness, NULL, &err);    proved and verified, or an error that says why
 *     cuzk_proof_save_both(proof, "proof.json", CUZK_JSON, publics, "public.json", &err);
 *
 * Conventions.  A function that can fail returns a cuzk_status; CUZK_OK is 0.  Results go through the first argument and are
 * untouched on failure.  The last argument takes the detail of a failure and may be NULL.  Every _close and _destroy accepts
 * NULL; elsewhere NULL in the place of something needed is CUZK_INVALID_ARGUMENT, and 0, NULL or nothing where there is no
 * status.  Paths are UTF-8 file names; "-" is standard input or output.  Handles other than a context and a key belong to one
 * thread at a time, but may be read by many.  Nothing is printed and no signal or locale is touched. */
#ifndef CUZK_CUZK_H
#define CUZK_CUZK_H

#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CUZK_API     __attribute__((visibility("default")))
#define CUZK_CHECKED CUZK_API __attribute__((warn_unused_result))
#else
#define CUZK_API
#define CUZK_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuzk_context cuzk_context; /* threads and a device; any number of threads may use one */
typedef struct cuzk_key cuzk_key; /* a proving key: immutable once open; any number of threads may use one */
typedef struct cuzk_vk cuzk_vk;   /* a verifying key */
typedef struct cuzk_witness cuzk_witness; /* the values of all variables: secret, wiped when closed */
typedef struct cuzk_proof cuzk_proof;     /* the three points of a proof */
typedef struct cuzk_publics cuzk_publics; /* the public inputs, in order */

/* -- errors ------------------------------------------------------------------------------------------------------------ */

typedef struct cuzk_error {
    size_t size;
    cuzk_status status;
    char text[512];   /* what happened and why: one sentence */
    char advice[512]; /* what to do; may be empty */
    char path[256];   /* the file at fault; may be empty */
    char field[64];   /* the field inside it; may be empty */
    uint64_t offset;  /* byte offset in the file, UINT64_MAX if it has none */
    int sys_errno;    /* errno, or 0 */
} cuzk_error;
#define CUZK_ERROR_INIT                                            \
    {                                                              \
        sizeof(cuzk_error), CUZK_OK, "", "", "", "", UINT64_MAX, 0 \
    }

CUZK_API const char *cuzk_status_name(cuzk_status status); /* "MALFORMED" */
CUZK_API const char *cuzk_status_text(cuzk_status status); /* "malformed input" */
CUZK_API int cuzk_status_exit_code(cuzk_status status);    /* of the command line */
CUZK_API const char *cuzk_version(void);                   /* "0.1.0" */

/* -- long calls: watching, cancelling ---------------------------------------------------------------------------------- */

typedef struct cuzk_watch {
    size_t size;
    const unsigned char *
        cancel; /* NULL, or a flag that another thread sets to 1 with an atomic store: CUZK_CANCELLED follows */
    double timeout_ms; /* 0, or 1e12 and more: none; else CUZK_DEADLINE after so many milliseconds */
    void (*progress)(void *context, const char *what, uint64_t done,
                     uint64_t total); /* NULL: nobody watches.  total may be 0, as of a proof that is first in line */
    void *progress_context;
} cuzk_watch;
#define CUZK_WATCH_INIT                         \
    {                                           \
        sizeof(cuzk_watch), NULL, 0, NULL, NULL \
    }

/* -- context ----------------------------------------------------------------------------------------------------------- */

typedef struct cuzk_context_options {
    size_t size;
    unsigned threads; /* 0: one a usable CPU (affinity and cgroup quota respected) */
    const char *
        backend; /* NULL: "cpu"; "cuda": an NVIDIA card, where this build has it.  There is no falling back to another */
    unsigned device_index; /* of the backend's devices: cuzk_devices */
    uint64_t
        memory_bytes; /* cpu: most that one proof may take, 0: what the machine or its cgroup has.  cuda: of the card's
                            * memory, taken at once for all keys and proofs; 0: all that is free but one GiB */
    unsigned lanes; /* 1 .. 12: proofs under way at once in the device's memory; calls beyond that, and calls for which there is no room
                     * yet, wait, first come first served.  0: cuda: 3; cpu: no call waits for another */
} cuzk_context_options;
#define CUZK_CONTEXT_OPTIONS_INIT                      \
    {                                                  \
        sizeof(cuzk_context_options), 0, NULL, 0, 0, 0 \
    }
#define CUZK_LANES_MOST 12

CUZK_CHECKED cuzk_status cuzk_context_create(cuzk_context **out, const cuzk_context_options *options,
                                             cuzk_error *error);
CUZK_API void
cuzk_context_destroy(cuzk_context *context); /* after its keys are closed and its calls have returned */

typedef struct cuzk_device_info {
    size_t size;
    char backend[8], name[128],
        variant[64];  /* "cpu", "AMD EPYC ...", "mulx/adx"; "cuda", "NVIDIA H200", "sm_90" */
    unsigned threads; /* worker threads of the context; in cuzk_devices also the multiprocessors of a card */
    uint64_t memory_bytes;
} cuzk_device_info;
#define CUZK_DEVICE_INFO_INIT                      \
    {                                              \
        sizeof(cuzk_device_info), "", "", "", 0, 0 \
    }
CUZK_API void cuzk_context_device(const cuzk_context *context, cuzk_device_info *out);

typedef struct cuzk_lanes_info {
    size_t size;
    unsigned lanes, computing;     /* proofs under way at once; of these, how many compute at once.  0: no call waits for another */
    uint64_t proofs, failed;       /* since the context was made */
    uint64_t staged_late;          /* of the proofs: not before their turn, since there was no room ("prestage_setup=skip_vram") */
    uint64_t peak_bytes;           /* of the device's memory that proofs took at once */
    uint64_t stream_bytes;         /* of it that is always taken, for what computes */
} cuzk_lanes_info;
#define CUZK_LANES_INFO_INIT                            \
    {                                                   \
        sizeof(cuzk_lanes_info), 0, 0, 0, 0, 0, 0, 0    \
    }
/** Zeros before the context's first proof. */
CUZK_API void cuzk_context_lanes(cuzk_context *context, cuzk_lanes_info *out);

/** What this build has code for on a backend: "sm_80 sm_90"; NULL: the build has no such backend. */
CUZK_API const char *cuzk_backend_targets(const char *backend);
/** The devices of a backend that this process can see.  No driver and no card are no error: *count is 0.
 * In      capacity  of out; set out[0].size = sizeof *out first
 * Out     count  of all devices, which may be more than capacity
 * Errors  CUZK_UNSUPPORTED: the build has no such backend. */
CUZK_CHECKED cuzk_status cuzk_devices(cuzk_device_info *out, size_t capacity, size_t *count,
                                      const char *backend, cuzk_error *error);

/* -- keys -------------------------------------------------------------------------------------------------------------- */

/* Which form of a key proves.  A derived key (cuzk_key_derive) makes the same proofs with four transforms instead of six. */
typedef enum cuzk_key_mode {
    CUZK_KEY_AUTO =
        0, /* the derived key that lies beside the key, if there is one and nothing is wrong with it */
    CUZK_KEY_ORIGINAL = 1, /* the key as it is */
    CUZK_KEY_DERIVED = 2,  /* the derived key, or an error */
} cuzk_key_mode;

typedef struct cuzk_key_options {
    size_t size;
    const char *
        r1cs_path; /* needed with bellman parameters, which do not hold the constraints; with a zkey it lets an
                            * unsatisfied row be named */
    cuzk_key_mode mode;
    const char *derived_path; /* NULL: the key's name and ".derived" */
} cuzk_key_options;
#define CUZK_KEY_OPTIONS_INIT                               \
    {                                                       \
        sizeof(cuzk_key_options), NULL, CUZK_KEY_AUTO, NULL \
    }

/** Opens a key for proving.  The layout is told by the contents.  The file is mapped, not read whole: do not change it while
 * the key is open.
 * Errors  CUZK_NOT_FOUND, CUZK_IO, CUZK_MALFORMED, CUZK_UNSUPPORTED (another protocol), CUZK_MISMATCH (r1cs of another circuit),
 *         CUZK_KEY_INVALID (a bad point where a few are always checked). */
CUZK_CHECKED cuzk_status cuzk_key_open(cuzk_key **out, cuzk_context *context, const char *path,
                                       const cuzk_key_options *options, cuzk_error *error);
CUZK_API void cuzk_key_close(cuzk_key *key);

typedef struct cuzk_key_info {
    size_t size;
    const char *layout; /* "zkey", "bellman" */
    const char *curve;  /* "bn254", "bls12_381" */
    uint64_t variables, publics, domain_size, constraints,
        entries; /* publics without the constant; entries of A and B */
    uint64_t points_a, points_b, points_l, points_h, points_ic; /* points that the key holds, by query */
    uint64_t file_bytes, heap_bytes; /* mapped from the file; held on the heap beside it */
    int checked; /* 1: this very file passed cuzk_key_check before, and so did a derived key that is used */
    const char *mode; /* "original, 6 transforms" or "derived, 4 transforms" */
    const char *
        derived_refused; /* CUZK_KEY_AUTO: why the derived key that lies there is not used; NULL: it is, or there is none */
} cuzk_key_info;
#define CUZK_KEY_INFO_INIT                                                                   \
    {                                                                                        \
        sizeof(cuzk_key_info), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL \
    }
CUZK_API void cuzk_key_describe(const cuzk_key *key, cuzk_key_info *out); /* texts live as long as the key */

typedef struct cuzk_derive_options {
    size_t size;
    int64_t checkpoint_seconds; /* of work since the last that are worth one; 0: after every pass; below 0: none at all */
    /* NULL, or told when a stage has ended ("points of H", "transform 1 of 2 (LD)", "checkpoint", "C into L", ...), and, in a sentence, what
     * becomes of checkpoints.  On the caller's thread. */
    void (*stage)(void *context, const char *stage, double ms);
    void (*note)(void *context, const char *text);
    void *context;
} cuzk_derive_options;
#define CUZK_DERIVE_OPTIONS_INIT                          \
    {                                                     \
        sizeof(cuzk_derive_options), 60, NULL, NULL, NULL \
    }

/** Makes the derived form of a key and writes it to path (NULL: the key's name and ".derived"), where cuzk_key_open finds it: a cache that
 * only its maker trusts, mode 0600, bound to the key by its SHA-256.  Checked against the key with fresh randomness before it is kept.
 * Long transforms leave checkpoints in path and ".work", from which the next call for the same key and path goes on, on any backend; the file
 * goes when the derived key is there.  One that is damaged, of another key or cannot be written is said (note) and is no error.
 * In      key  opened with CUZK_KEY_ORIGINAL and its r1cs;  options  NULL: as CUZK_DERIVE_OPTIONS_INIT
 * Errors  CUZK_INVALID_ARGUMENT: without the circuit there is nothing to derive from; CUZK_MISMATCH: the r1cs is another circuit's;
 *         CUZK_KEY_INVALID: the check failed; CUZK_NO_MEMORY, CUZK_TOO_LARGE, CUZK_IO, CUZK_CANCELLED, CUZK_DEADLINE.
 * Cost    domain_size log2(domain_size) products of a point by a scalar, and a quarter more: 40 us each and core (BLS12-381). */
CUZK_CHECKED cuzk_status cuzk_key_derive(cuzk_context *context, const cuzk_key *key, const char *path,
                                         const cuzk_derive_options *options, const cuzk_watch *watch,
                                         cuzk_error *error);

typedef struct cuzk_check_options {
    size_t size;
    const cuzk_vk *vk; /* NULL, or a verifying key that the key has to agree with */
    int remember;      /* 1: note a success, by the file's digest and identity, in $XDG_CACHE_HOME/cuzk */
} cuzk_check_options;
#define CUZK_CHECK_OPTIONS_INIT             \
    {                                       \
        sizeof(cuzk_check_options), NULL, 1 \
    }

/** Checks everything that can be checked about a key without its secrets: every point canonical, on the curve and in the
 * subgroup; G1 and G2 copies of beta, delta and B agree; no point that must not be infinity is.  A key from a stranger may still
 * have been made with a known trapdoor: only its ceremony can say.
 * Errors  CUZK_KEY_INVALID names the first bad point, CUZK_MISMATCH the part in which key and vk differ. */
CUZK_CHECKED cuzk_status cuzk_key_check(cuzk_context *context, cuzk_key *key,
                                        const cuzk_check_options *options, const cuzk_watch *watch,
                                        cuzk_error *error);

typedef struct cuzk_plan {
    size_t size;
    uint64_t file_bytes;  /* of the mapped key: page cache */
    uint64_t key_bytes;   /* heap that the open key holds, shared by all its proofs */
    uint64_t proof_bytes; /* of the device's memory (cpu: heap) that each running proof takes, in one piece */
    uint64_t a_bytes, b_bytes, witness_bytes,
        workspace_bytes; /* a, b, workspace: of proof_bytes; the witness is the caller's */
    uint64_t
        resident_bytes; /* cuda: of the card's memory that the key takes from its first proof until it is closed */
} cuzk_plan;
#define CUZK_PLAN_INIT                            \
    {                                             \
        sizeof(cuzk_plan), 0, 0, 0, 0, 0, 0, 0, 0 \
    }
/** What a proof on the key will take: the very plan that cuzk_prove executes. */
CUZK_CHECKED cuzk_status cuzk_key_plan(cuzk_plan *out, cuzk_context *context, const cuzk_key *key,
                                       cuzk_error *error);

/* How long proofs on a key will take on a device: from rates that were measured before, to choose by; the witness's values full-size. */
typedef struct cuzk_prediction {
    size_t size;
    double open_ms, key_ms; /* once: the device made ready, the key brought there; 0 on a CPU */
    double proof_ms;        /* of one alone */
    double steady_ms;       /* from one proof to the next when several are under way */
} cuzk_prediction;
#define CUZK_PREDICTION_INIT                \
    {                                       \
        sizeof(cuzk_prediction), 0, 0, 0, 0 \
    }
/** In  device  of cuzk_devices or cuzk_context_device; it need not be open.  Cost  none */
CUZK_CHECKED cuzk_status cuzk_key_predict(cuzk_prediction *out, const cuzk_key *key,
                                          const cuzk_device_info *device, cuzk_error *error);

/* -- proving ----------------------------------------------------------------------------------------------------------- */

/** A witness from a .wtns file. */
CUZK_CHECKED cuzk_status cuzk_witness_open(cuzk_witness **out, const char *path, cuzk_error *error);
/** From memory: the bytes of a .wtns file, borrowed until the witness is closed. */
CUZK_CHECKED cuzk_status cuzk_witness_from_memory(cuzk_witness **out, const void *wtns, size_t bytes,
                                                  cuzk_error *error);
/** From plain values: count little-endian integers of 32 bytes, value 0 being 1; borrowed.  curve as in cuzk_key_info. */
CUZK_CHECKED cuzk_status cuzk_witness_from_values(cuzk_witness **out, const char *curve, const void *values,
                                                  uint64_t count, cuzk_error *error);
CUZK_API void cuzk_witness_close(cuzk_witness *witness);

/** Proves, with fresh randomness from the operating system, and verifies the proof before it returns it.
 * Out     publics  may be NULL
 * Errors  CUZK_UNSATISFIED (the first row if the constraints are at hand), CUZK_MISMATCH (a witness of another circuit),
 *         CUZK_MALFORMED (a value >= r), CUZK_NO_MEMORY, CUZK_TOO_LARGE, CUZK_CANCELLED, CUZK_DEADLINE.
 * Thread  any; calls on one key run at the same time and share the context's workers, in as many lanes as it has. */
CUZK_CHECKED cuzk_status cuzk_prove(cuzk_proof **out, cuzk_publics **publics, cuzk_context *context,
                                    const cuzk_key *key, const cuzk_witness *witness, const cuzk_watch *watch,
                                    cuzk_error *error);

typedef struct cuzk_timings {
    size_t size;
    double witness_ms, eval_ms, quotient_ms, msm_ms[5], assemble_ms, verify_ms,
        total_ms; /* msm: A, B1, B2, L, H */
    double wait_ms;  /* of witness_ms: for the device's memory, and for the turn to compute */
    int staged_late; /* 1: in its turn, not before it, since there was no room */
    double alloc_ms;   /* of witness_ms: until it had its memory; the rest of wait_ms was for its turn */
    double release_ms; /* after the last sum: memory wiped and given back */
    unsigned lane;     /* which of the context's computed it */
    uint64_t domain_size;
} cuzk_timings;
#define CUZK_TIMINGS_INIT                                                           \
    {                                                                               \
        sizeof(cuzk_timings), 0, 0, 0, { 0, 0, 0, 0, 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
CUZK_API void cuzk_proof_timings(const cuzk_proof *proof,
                                 cuzk_timings *out); /* zeros for a proof that was not made here */
/** The same for people's logs: the fields of a CUZK_TIMING line (docs/cuda.md), cut to bytes - 1 octets; "" for a proof that was not made here.
 * Returns  out */
CUZK_API const char *cuzk_proof_timing_line(const cuzk_proof *proof, char *out, size_t bytes);
#define CUZK_TIMING_LINE_BYTES 320 /* enough */

/* -- proofs, public inputs, verifying keys ----------------------------------------------------------------------------- */

typedef enum cuzk_encoding {
    CUZK_JSON = 1,       /* snarkjs's text */
    CUZK_COMPRESSED = 2, /* BLS12-381 only.  Proof: 192 bytes A, B, C as in Filecoin and Zcash */
    CUZK_RAW = 3,        /* proof: big-endian A, B, C without flags, G2 with c1 first: 256 or 384 bytes */
    CUZK_BELLMAN = 4,    /* BLS12-381 verifying keys: a .vk file */
} cuzk_encoding;

/** From a file or from memory; the encoding is told by the contents. */
CUZK_CHECKED cuzk_status cuzk_proof_open(cuzk_proof **out, const char *path, cuzk_error *error);
CUZK_CHECKED cuzk_status cuzk_proof_from_memory(cuzk_proof **out, const void *data, size_t bytes,
                                                cuzk_error *error);
/** Like snprintf: writes at most capacity bytes (JSON with a final NUL that is not counted), returns the bytes that the whole
 * takes; 0 if the proof's curve has no such encoding. */
CUZK_API size_t cuzk_proof_encode(const cuzk_proof *proof, cuzk_encoding encoding, void *buffer,
                                  size_t capacity);
CUZK_CHECKED cuzk_status cuzk_proof_save(const cuzk_proof *proof, const char *path, cuzk_encoding encoding,
                                         cuzk_error *error);
/** By the text, or (rapidsnark's JSON does not say) by the curve on which the points lie. */
CUZK_API const char *cuzk_proof_curve(const cuzk_proof *proof);
CUZK_API void cuzk_proof_close(cuzk_proof *proof);

CUZK_CHECKED cuzk_status cuzk_publics_open(cuzk_publics **out, const char *path, cuzk_error *error);
CUZK_CHECKED cuzk_status cuzk_publics_from_memory(cuzk_publics **out, const void *json, size_t bytes,
                                                  cuzk_error *error);
/** From values: count little-endian integers of 32 bytes. */
CUZK_CHECKED cuzk_status cuzk_publics_from_values(cuzk_publics **out, const void *values, uint64_t count,
                                                  cuzk_error *error);
CUZK_API uint64_t cuzk_publics_count(const cuzk_publics *publics);
/** 32 little-endian bytes, valid as long as publics; NULL: no such value. */
CUZK_API const unsigned char *cuzk_publics_value(const cuzk_publics *publics, uint64_t i);
/** JSON, as cuzk_proof_encode. */
CUZK_API size_t cuzk_publics_encode(const cuzk_publics *publics, void *buffer, size_t capacity);
CUZK_CHECKED cuzk_status cuzk_publics_save(const cuzk_publics *publics, const char *path, cuzk_error *error);
/** Both, or neither: where one cannot be written, what stood under the other name stays. */
CUZK_CHECKED cuzk_status cuzk_proof_save_both(const cuzk_proof *proof, const char *path, cuzk_encoding encoding,
                                              const cuzk_publics *publics, const char *publics_path,
                                              cuzk_error *error);
CUZK_API void cuzk_publics_close(cuzk_publics *publics);

/** A verifying key from verification_key.json or a bellman .vk file; every point is checked. */
CUZK_CHECKED cuzk_status cuzk_vk_open(cuzk_vk **out, const char *path, cuzk_error *error);
CUZK_CHECKED cuzk_status cuzk_vk_from_memory(cuzk_vk **out, const void *data, size_t bytes,
                                             cuzk_error *error);
CUZK_CHECKED cuzk_status cuzk_vk_from_key(cuzk_vk **out, const cuzk_key *key, cuzk_error *error);
/** JSON or BELLMAN (needs a key that carries beta1 and delta1: from a proving key or a .vk), as cuzk_proof_encode. */
CUZK_API size_t cuzk_vk_encode(const cuzk_vk *vk, cuzk_encoding encoding, void *buffer, size_t capacity);
CUZK_CHECKED cuzk_status cuzk_vk_save(const cuzk_vk *vk, const char *path, cuzk_encoding encoding,
                                      cuzk_error *error);
CUZK_API const char *cuzk_vk_curve(const cuzk_vk *vk);
CUZK_API uint64_t cuzk_vk_publics(const cuzk_vk *vk); /* without the constant */
CUZK_API void cuzk_vk_close(cuzk_vk *vk);

/** CUZK_OK: valid.  CUZK_PROOF_INVALID: not, for whatever reason lies in the proof or the public inputs (a value >= r, a count
 * that does not fit the key); the text says which. */
CUZK_CHECKED cuzk_status cuzk_verify(const cuzk_vk *vk, const cuzk_publics *publics, const cuzk_proof *proof,
                                     cuzk_error *error);
/** All of count proofs at once by random linear combination.
 * Out  first_bad  index of the first proof that is not valid, or count; may be NULL */
CUZK_CHECKED cuzk_status cuzk_verify_batch(const cuzk_vk *vk, const cuzk_publics *const *publics,
                                           const cuzk_proof *const *proofs, size_t count, size_t *first_bad,
                                           cuzk_error *error);

/* -- files ------------------------------------------------------------------------------------------------------------- */

typedef enum cuzk_file_kind {
    CUZK_FILE_ZKEY = 1,
    CUZK_FILE_WTNS,
    CUZK_FILE_R1CS,
    CUZK_FILE_PTAU,
    CUZK_FILE_PARAMS,
    CUZK_FILE_BELLMAN_VK,
    CUZK_FILE_PROOF_BYTES,
    CUZK_FILE_PROOF_JSON,
    CUZK_FILE_PUBLIC_JSON,
    CUZK_FILE_VK_JSON,
    CUZK_FILE_TRAPDOOR,
    CUZK_FILE_DERIVED,
} cuzk_file_kind;

typedef struct cuzk_count {
    char name[24]; /* "variables" */
    uint64_t value;
} cuzk_count;

typedef struct cuzk_file_info {
    size_t size;
    cuzk_file_kind kind;
    char kind_name[48]; /* "snarkjs proving key (zkey)" */
    char curve[16];     /* empty if the file does not say */
    char protocol[16];  /* "groth16", "plonk", "fflonk"; empty if the file does not say */
    uint64_t bytes;
    cuzk_count counts[12]; /* variables, publics, constraints, points by query, ... */
    unsigned count_count;
} cuzk_file_info;

/** What a file is.  Set info->size = sizeof *info first.  CUZK_UNSUPPORTED: nothing that cuzk knows. */
CUZK_CHECKED cuzk_status cuzk_inspect(cuzk_file_info *info, const char *path, cuzk_error *error);

#ifdef __cplusplus
}
#endif
#endif
