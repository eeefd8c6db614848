/* A kind of work: how jobs of it are checked, cut into parts, run, verified and put together.  The engine knows no other word of
 * what is being proved; a new kind is one table and a line in job_kind.c. */
#ifndef CUZK_ENGINE_JOB_KIND_H
#define CUZK_ENGINE_JOB_KIND_H

#include "backend/backend.h"
#include "base/span.h"
#include "engine/budget.h"
#include "groth16/key_derived.h"
#include "groth16/prove.h"

#define JOB_PARTS_MOST  256
#define JOB_TABLES_MOST 8
#define JOB_BATCH_MOST  16 /* parts that are proved together */

/* How parts of one job are proved together on a device: docs/decisions/0011-parts-in-batches.md. */
struct circuit_batch {
    unsigned parts_most;    /* at a time; 0: not on this device, and nothing below counts */
    bool beside;            /* a part may be proved by itself while the key is loaded for batches; else it is loaded anew for that */
    struct bytes key_bytes; /* instead of the circuit's: what stays for all batches included */
    uint64_t own_bytes;     /* of its heap, what each device takes for itself */
    struct bytes run_bytes; /* that a batch takes in addition, whatever its number of parts */
    uint64_t device_bytes, host_bytes; /* the kind's own, from measure: within what a batch is to be planned */
};

/* A circuit as configured; immutable while the engine runs.  Of bytes on devices only the line BYTES_DEVICE is filled by a kind: that of
 * whatever device a part runs on; a key is on all of them. */
struct circuit {
    char *name, *key_path, *r1cs_path; /* r1cs_path NULL: none */
    const struct job_kind *kind;
    enum groth16_key_mode
        key_mode; /* as configured; after measure the form that was found: the plan is of that one */
    bool preload, optional;
    struct bytes key_bytes;       /* that the loaded key takes, at most */
    uint64_t key_own_bytes;       /* heap of it that every process which loads it takes for itself; the rest are pages of files */
    struct bytes synthesis_bytes; /* that a part takes while it is synthesised, what it leaves included */
    struct bytes carry_bytes;     /* of which it leaves this much until it is proved */
    struct bytes prove_bytes;     /* that a part takes in addition while it is proved */
    uint64_t block_bytes;         /* of its heap, what is one block that a lane may keep for the next proof; 0: nothing */
    unsigned
        table_id; /* what a device keeps once such a job has run, shared by circuits of the same id ... */
    uint64_t table_bytes; /* ... and its heap bytes; 0: nothing */
    uint64_t note;        /* of the kind's own, from measure */
    struct circuit_batch batch;
};

#define PLACE_IDLE_STREAMS 4 /* that keys keep on a device between proofs (groth16/key_device.c) */

/* Where a part runs. */
struct place {
    const struct backend *backend;
    struct device *device;
    struct lanes *lanes; /* of the device, through which its proofs go; NULL: none */
    const struct buffer *block; /* the lane's own, for a proof to work in, of at least the circuit's block_bytes; NULL: none */
    uint64_t spoken_for; /* bytes of the device that are the engine's own: a kind that plans with all of its memory leaves them */
};

/* What a part is made from. */
struct part_input {
    const struct circuit *circuit;
    void *key; /* from load */
    struct span parameters;
    struct span payload; /* empty after synthesis where there is one */
    unsigned part, part_count;
};

/* What a part becomes, and also what all parts of a job become together.  Owned: part_output_free. */
struct part_output {
    uint8_t *proof;
    size_t proof_bytes;
    char *text; /* NULL: none */
    size_t text_bytes;
};
void part_output_free(struct part_output *o); /* legal on a zeroed one */

/** Says in the log which form of its key a circuit proves with, and why another is not used, and keeps the choice for load. */
void kind_chosen(struct circuit *c, const struct task *t, const struct groth16_key *key,
                 const struct error *refused);

/** The tables of the device that proofs on key use. */
void kind_table(struct circuit *c, const struct groth16_key *key);
/** job_kind.key_mark of a key: of the identity, size and times of its files. */
uint64_t kind_key_mark(const struct groth16_key *key);
/** Adds to c what plan takes on its device: the host's memory, or the device's own, for the proof and for the key. */
void kind_add_plan(struct circuit *c, const struct groth16_plan *plan);
/** CUZK_INTERNAL unless what is granted covers plan and host_bytes beside it. */
cuzk_status kind_check_grant(struct task *t, const struct groth16_plan *plan, uint64_t host_bytes,
                             const struct bytes *granted) MUST_CHECK;

struct job_kind {
    const char *name;
    bool durable;       /* unless the request says otherwise */
    bool has_synthesis; /* a part is synthesised, then proved; else only proved */
    bool in_lanes;      /* in a device's process its proofs stand in one line (groth16/prove_lanes.h) */

    /** Fills the byte counts, for any lane of this place.  Thread  engine_open's. */
    cuzk_status (*measure)(struct task *t, struct circuit *c, const struct place *place);

    /** Thread  the loader's.  *bytes: what the key really takes, at most c->key_bytes. */
    cuzk_status (*load)(struct task *t, void **key, struct bytes *bytes, const struct circuit *c);
    void (*unload)(void *key);

    /** Whether this payload can be a job on c, as far as can be told without the key; and in how many parts.
     * Thread  the submitter's. */
    cuzk_status (*validate)(struct task *t, unsigned *part_count, const struct circuit *c,
                            struct span parameters, struct span payload);

    /** Whether the files of a loaded key are still what was loaded: asked after a failure.  CUZK_IO: not.  Thread  a lane's. */
    cuzk_status (*key_intact)(struct task *t, const void *key);
    /** Which file a loaded key is from: two processes that have loaded the same one agree.  Thread  any. */
    uint64_t (*key_mark)(const void *key);

    /* -- on a lane; t->cancel is set by the engine, t->pool is there -- */
    /** *carry: to be freed with carry_free, by whoever holds it last; secret.  Not called if !has_synthesis. */
    cuzk_status (*synthesise)(struct task *t, void **carry, const struct part_input *in);
    void (*carry_free)(void *carry);
    /* Of a kind with synthesis whose proofs may be made in a device's process (device_process.h): a carry as bytes, and there as a view
     * of them, for prove and carry_free alone.  carry_view  CUZK_MISMATCH: not as many bytes as this key's parts leave. */
    size_t (*carry_size)(const void *carry);
    void (*carry_write)(uint8_t *out, const void *carry);
    cuzk_status (*carry_view)(struct task *t, void **carry, const void *key, struct span bytes);
    /** Makes out->proof alone.  Draws fresh randomness at every call.  carry NULL if !has_synthesis; it may be needed again (another attempt). */
    cuzk_status (*prove)(struct task *t, struct part_output *out, const struct part_input *in, void *carry,
                         const struct place *place, const struct bytes *granted);
    /** Verifies out->proof, all of which may come from a process that is not trusted, and adds the text of a kind that has one.
     * CUZK_PROOF_INVALID: the part is wrong and nothing says that the input is at fault; any other error says that it is. */
    cuzk_status (*verify)(struct task *t, struct part_output *out, const struct part_input *in,
                          void *carry);

    /* Of a kind with circuits whose batch.parts_most is not 0: parts that have not been synthesised, from the payload. */
    /** Makes out[i].proof of parts[i]; where it is NULL, that part is to be tried by itself, which tells why.
     * Errors  of the batch as a whole: CUZK_NO_MEMORY and what a device may say: its parts are tried by themselves; else the request is at
     *         fault, and the text is what a part by itself would have said.  Thread  a lane's; at most one at a time on a key and device */
    cuzk_status (*prove_parts)(struct task *t, struct part_output *out, const struct part_input *in,
                               const unsigned *parts, unsigned count, const struct place *place,
                               const struct bytes *granted);
    /** Verifies what is there of out[i].proof, all of which may come from a process that is not trusted.
     * Out     *wrong: bit i is set if out[i] does not verify */
    cuzk_status (*verify_parts)(struct task *t, unsigned *wrong, const struct part_output *out,
                                const struct part_input *in, const unsigned *parts, unsigned count);

    /** Joins the verified parts, in order.  Cheap.  Thread  the engine's. */
    cuzk_status (*assemble)(struct task *t, struct part_output *out, const struct circuit *c,
                            const struct part_output *parts, unsigned part_count);
};

#endif
