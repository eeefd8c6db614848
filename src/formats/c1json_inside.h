/* The scanner's state, shared by c1json.c (what values mean) and c1json_scan.c (characters). */
#ifndef CUZK_FORMATS_C1JSON_INSIDE_H
#define CUZK_FORMATS_C1JSON_INSIDE_H

#include "formats/c1json.h"

#include <openssl/evp.h>

#define C1JSON_DEPTH 64
#define C1JSON_TEXT  64 /* bytes of a member's name or a short string, the end included */

/* What a value is. */
enum node {
    N_SKIP,
    N_ROOT,
    N_VANILLA,
    N_PARTITIONS,
    N_PARTITION,
    N_PROOF,
    N_MERKLE,
    N_DATA,
    N_VARIANT,
    N_PATH,
    N_LEVELS,
    N_LEVEL,
    N_HASHES,
    N_COLUMNS,
    N_COLUMN_PROOFS,
    N_COLUMN_PROOF,
    N_COLUMN,
    N_ROWS,
    N_LABELS,
    N_LABEL,
    N_PARENTS,
    N_HASH, /* an array of 32 byte values */
    N_NUMBER,
    N_TEXT,
    N_BASE64,
};

/* What a hash, a number or a text is for; also the extra knowledge that a member carries downwards. */
enum use {
    U_NONE,
    U_COMM_R,
    U_COMM_D,
    U_REPLICA_ID,
    U_SEED,
    U_TICKET,
    U_ROOT,
    U_LEAF,
    U_SIBLING,
    U_ROW,
    U_LABEL_PARENT, /* hashes */
    U_INDEX,
    U_COLUMN_INDEX,
    U_LAYER,
    U_NODE,
    U_SECTOR,
    U_SIZE, /* numbers */
    U_D,
    U_R,
    U_C,
    U_DRG,
    U_EXP,
    U_ENCODING,
    U_SINGLE,
    U_SUB,
    U_TOP,
    U_BASE_PATH,
    U_SUB_PATH,
    U_TOP_PATH, /* selectors */
};

struct level {
    enum node node;
    enum use use;
    bool object;
    uint32_t count; /* elements so far */
    uint64_t seen;  /* members, by their place in the table */
};

enum lexer { L_VALUE, L_FIRST, L_KEY, L_FIRST_KEY, L_COLON, L_AFTER, L_STRING, L_NUMBER, L_LITERAL, L_END };

struct c1json {
    struct c1 *c;
    struct c1json *inside; /* of Phase1Out */
    uint64_t offset;
    enum lexer state;
    struct level stack[C1JSON_DEPTH];
    unsigned depth;
    enum node next; /* what the value to come is */
    enum use next_use;
    /* the scalar being read */
    char text[C1JSON_TEXT];
    unsigned text_length;
    bool text_long, text_is_key, escape;
    uint64_t number;
    unsigned digits;
    uint8_t hash[32];
    enum use hash_use;
    /* where we are */
    struct c1_place place;
    unsigned first_level, variant_paths;
    bool wrapped, decoding;
    EVP_ENCODE_CTX *base64;
    uint8_t *decoded;
};

cuzk_status c1json_fail(struct c1json *j, struct task *t, const char *why);

/* Events; each is told in the scanner's state what was read. */
cuzk_status c1json_key(struct c1json *j, struct task *t);     /* text is a member's name */
cuzk_status c1json_element(struct c1json *j, struct task *t); /* a value begins in an array */
cuzk_status c1json_begin(struct c1json *j, struct task *t, bool object);
cuzk_status c1json_end(struct c1json *j, struct task *t, bool object);
cuzk_status c1json_number(struct c1json *j, struct task *t);

#endif
