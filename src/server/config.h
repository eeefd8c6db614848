/* The configuration of cuzkd: defaults, then a TOML file, then flags, all by the table in config.def. */
#ifndef CUZK_SERVER_CONFIG_H
#define CUZK_SERVER_CONFIG_H

#include "base/task.h"
#include <stdio.h>

#define CONFIG_DEFAULT_PATH  "/data/zk/cuzk.toml"
#define CONFIG_CIRCUITS_MOST 256
#define CONFIG_LIST_MOST     256

enum config_id {
#define X(id, table, key, kind, flag, standard, least, most, help) CONFIG_##id,
#include "server/config.def"
#undef X
    CONFIG_COUNT
};

/* A circuit of [circuits]: name = "key" or name = { key = "...", r1cs = "...", kind = "circom", preload = true }. */
struct config_circuit {
    char *name, *key, *r1cs, *kind; /* r1cs, kind NULL: absent */
    bool preload;
    bool from_flag; /* its key */
};

struct config {
    uint64_t numbers[CONFIG_COUNT]; /* COUNT, BYTES, TIME, TRUTH, and the index of a CHOICE's word */
    char *texts[CONFIG_COUNT];      /* TEXT; of lists the items, none of them empty, separated by '\n' */
    struct config_circuit circuits[CONFIG_CIRCUITS_MOST];
    size_t circuit_count;
    bool warned[CONFIG_COUNT];      /* each ignored key is named once */
    void (*warn)(const char *text); /* where warnings go */
};

cuzk_status config_init(struct config *c, struct task *t,
                        void (*warn)(const char *text)) MUST_CHECK; /* the defaults */
void config_fini(struct config *c);

/** Errors  CUZK_INVALID_ARGUMENT with path, line ("line 7" in the text) and key: not TOML, an unknown key (the nearest is named), a wrong type
 *         or range; CUZK_NOT_FOUND, CUZK_IO: the file. */
cuzk_status config_read_file(struct config *c, struct task *t, const char *path) MUST_CHECK;
cuzk_status config_read_text(struct config *c, struct task *t, const char *path, const char *text,
                             size_t bytes) MUST_CHECK;

/** --table.key VALUE, a short flag with its value, or --circuit NAME=KEY[,R1CS].  Out  *used: arguments taken, 0: not a flag of the table. */
cuzk_status config_flag(struct config *c, struct task *t, int argc, char **argv, int *used) MUST_CHECK;
/** After file and flags: what only the whole can tell (names in preload, a circuit without a key). */
cuzk_status config_check(struct config *c, struct task *t) MUST_CHECK;

#define CONFIG_ITEM_BYTES 512 /* of a list, with NUL: longer ones are refused */
/** The item-th text of a list, copied to out, as much of it as fits; false: there are no more. */
bool config_item(const struct config *c, enum config_id id, size_t item, char *out, size_t out_bytes);
void config_print(const struct config *c, FILE *f); /* as a TOML file that means the same */
void config_print_help(FILE *f);
/** The nearest known flag, for a word that is none; NULL: none is near. */
const char *config_nearest_flag(const char *word);

#endif
