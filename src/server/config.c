/* The configuration of cuzkd: defaults, then a TOML file, then flags, all by the table in config.def. */
#include "server/config.h"
#include "base/mapfile.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "server/toml_read.h"
#include "wire/address.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_TEXT,
    KIND_LIST,
    KIND_ADDRESSES,
    KIND_NUMBERS,
    KIND_COUNT,
    KIND_BYTES,
    KIND_TIME,
    KIND_TRUTH,
    KIND_CHOICE,
    KIND_IGNORED
};

struct row {
    const char *table, *key;
    enum kind kind;
    const char *flag, *standard;
    uint64_t least, most;
    const char *help;
};
static const struct row rows[CONFIG_COUNT] = {
#define X(id, table, key, kind, flag, standard, least, most, help) \
    [CONFIG_##id] = { table, key, KIND_##kind, flag, standard, least, most, help },
#include "server/config.def"
#undef X
};

static const struct unit {
    const char *name;
    uint64_t factor;
} byte_units[] = { { "", 1 },
                   { "B", 1 },
                   { "KiB", 1ull << 10 },
                   { "MiB", 1ull << 20 },
                   { "GiB", 1ull << 30 },
                   { "TiB", 1ull << 40 },
                   { "KB", 1000 },
                   { "MB", 1000000 },
                   { "GB", 1000000000 },
                   { "TB", 1000000000000 } },
  time_units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };

/* Where a value stands: in a file's line, or (line 0) in a flag. */
struct origin {
    const char *path;
    unsigned line;
    char name[128]; /* "memory.total_budget" */
};

static cuzk_status fail_at(struct task *t, const struct origin *o, const char *what, const char *advice)
{
    if (o->line)
        FAIL(t, CUZK_INVALID_ARGUMENT, "line %u: %s %s", o->line, o->name, what);
    else
        FAIL(t, CUZK_INVALID_ARGUMENT, "%s %s", o->name, what);
    task_fail_place(t, o->path, ERROR_NO_OFFSET, o->name, advice);
    return CUZK_INVALID_ARGUMENT;
}

static cuzk_status set_string(struct task *t, char **at, const char *text)
{
    char *copy = strdup(text);
    if (!copy) return FAIL(t, CUZK_NO_MEMORY, "no memory for the configuration");
    free(*at);
    *at = copy;
    return CUZK_OK;
}

/* Of a flag: the file's texts are such, by TOML and toml_read.h. */
static cuzk_status check_plain(struct task *t, const struct origin *o, const char *text)
{
    const size_t bytes = strlen(text), plain = utf8_plain_bytes((const uint8_t *)text, bytes);
    if (plain == bytes) return CUZK_OK;
    return fail_at(t, o,
                   utf8_length((const uint8_t *)text + plain, bytes - plain) ? "has a control character"
                                                                             : "is not UTF-8",
                   NULL);
}

/* -- values -------------------------------------------------------------------------------------------------------------- */

static bool scale(uint64_t number, const char *unit, const struct unit *units, size_t count, uint64_t *out)
{
    while (*unit == ' ') unit++;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(unit, units[i].name)) return !__builtin_mul_overflow(number, units[i].factor, out);
    return false;
}

/* 0 stands for what cuzkd chooses. */
static bool may_be_auto(const struct row *row) { return !strcmp(row->standard, "auto"); }

/* "256MiB", "5m", "7", "auto" */
static bool parse_number(const struct row *row, const char *text, uint64_t *out)
{
    if (!strcmp(text, "auto")) {
        *out = 0;
        return may_be_auto(row);
    }
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    const uint64_t number = strtoull(text, &end, 10);
    if (errno) return false;
    if (row->kind == KIND_COUNT) {
        *out = number;
        return !*end;
    }
    return row->kind == KIND_BYTES ? scale(number, end, byte_units, ARRAY_COUNT(byte_units), out)
                                   : scale(number, end, time_units, ARRAY_COUNT(time_units), out);
}

static const char *form_of(const struct row *row, char out[160])
{
    static const char *const forms[] = { [KIND_COUNT] = "a whole number",
                                         [KIND_BYTES] = "a size like \"256MiB\"",
                                         [KIND_TIME] = "a time like \"500ms\", \"30s\", \"5m\" or \"24h\"" };
    char least[32], most[32];
    snprintf(least, sizeof least, "%" PRIu64 "%s", row->least, row->kind == KIND_TIME ? "ms" : "");
    snprintf(most, sizeof most, "%" PRIu64 "%s", row->most, row->kind == KIND_TIME ? "ms" : "");
    snprintf(out, 160, "takes %s from %s to %s%s", forms[row->kind], least, most,
             may_be_auto(row) ? ", or \"auto\"" : "");
    return out;
}

static cuzk_status set_number(struct config *c, struct task *t, enum config_id id, const struct origin *o,
                              bool valid, uint64_t number, const char *shown)
{
    const struct row *row = &rows[id];
    if (valid && number >= row->least && number <= row->most) {
        c->numbers[id] = number;
        return CUZK_OK;
    }
    char form[160], what[256];
    snprintf(what, sizeof what, "%s, not '%.60s'", form_of(row, form), shown);
    return fail_at(t, o, what, NULL);
}

/* The words of a CHOICE stand between the brackets of its help. */
static cuzk_status set_choice(struct config *c, struct task *t, enum config_id id, const struct origin *o,
                              const char *text)
{
    char words[96], what[256];
    const char *open = strchr(rows[id].help, '(') + 1;
    snprintf(words, sizeof words, "%.*s", (int)(strchr(open, ')') - open), open);
    snprintf(what, sizeof what, "is one of %s, not '%.60s'", words, text);
    uint64_t index = 0;
    char *rest = NULL;
    for (const char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest), index++) {
        if (strcmp(word, text)) continue;
        c->numbers[id] = index;
        return set_string(t, &c->texts[id], text);
    }
    return fail_at(t, o, what, NULL);
}

/* text: items with separator between them, or empty: there are none. */
static cuzk_status split(struct config *c, struct task *t, enum config_id id, const struct origin *o,
                         const char *text, char separator)
{
    TRY(set_string(t, &c->texts[id], text));
    size_t count = 1;
    for (char *p = c->texts[id]; *p; p++) {
        if (*p == separator) *p = '\n';
        count += *p == '\n';
    }
    return count <= CONFIG_LIST_MOST ? CUZK_OK : fail_at(t, o, "has more than 256 items", NULL);
}

/* An empty item could not be told from the end of the list, nor one that is longer than CONFIG_ITEM_BYTES be looked at whole. */
static cuzk_status check_item(struct task *t, const struct origin *o, enum kind kind, const char *at,
                              size_t bytes)
{
    char item[CONFIG_ITEM_BYTES], what[ERROR_TEXT_BYTES];
    if (bytes == 0) return fail_at(t, o, "has an empty item", NULL);
    if (bytes >= CONFIG_ITEM_BYTES) {
        snprintf(what, sizeof what, "has an item of %zu bytes, and %d is the most: %.40s...", bytes,
                 CONFIG_ITEM_BYTES - 1, at);
        return fail_at(t, o, what, NULL);
    }
    if (kind != KIND_ADDRESSES) return CUZK_OK;
    struct address parsed;
    struct task of_item;
    task_init(&of_item);
    snprintf(item, sizeof item, "%.*s", (int)bytes, at);
    if (address_parse(&parsed, &of_item, item) == CUZK_OK) return CUZK_OK;
    snprintf(what, sizeof what, "names no address: %.400s", of_item.error.text);
    return fail_at(t, o, what, of_item.error.advice);
}

static cuzk_status set_list(struct config *c, struct task *t, enum config_id id, const struct origin *o,
                            const char *text, char separator)
{
    TRY(split(c, t, id, o, text, separator));
    const char *at = c->texts[id];
    for (bool more = *at != '\0'; more;) {
        const size_t bytes = strcspn(at, "\n");
        TRY(check_item(t, o, rows[id].kind, at, bytes));
        more = at[bytes] == '\n';
        at += bytes + 1;
    }
    return CUZK_OK;
}

static cuzk_status set_numbers(struct config *c, struct task *t, enum config_id id, const struct origin *o,
                               const char *text)
{
    TRY(split(c, t, id, o, text, ','));
    char *at = c->texts[id];
    for (bool more = *at != '\0'; more;) {
        char what[128];
        const size_t bytes = strcspn(at, "\n"), digits = strspn(at, "0123456789");
        const uint64_t number = strtoull(at, NULL, 10);
        if (digits != bytes || digits == 0 || digits > 9 || number < rows[id].least ||
            number > rows[id].most) {
            snprintf(what, sizeof what, "takes whole numbers from %" PRIu64 " to %" PRIu64 ", not '%.*s'",
                     rows[id].least, rows[id].most, (int)(bytes < 60 ? bytes : 60), at);
            return fail_at(t, o, what, NULL);
        }
        size_t zeros = strspn(at, "0"); /* before the number, which TOML has without */
        zeros -= zeros == digits;
        memmove(at, at + zeros, strlen(at + zeros) + 1);
        more = at[bytes - zeros] == '\n';
        at += bytes - zeros + 1;
    }
    return CUZK_OK;
}

static void warn_ignored(struct config *c, enum config_id id, const struct origin *o)
{
    if (c->warned[id]) return;
    c->warned[id] = true;
    char text[384];
    if (o->line)
        snprintf(text, sizeof text, "%.160s, line %u: %s has no effect: %s", o->path, o->line, o->name,
                 rows[id].help);
    else
        snprintf(text, sizeof text, "%s has no effect: %s", o->name, rows[id].help);
    c->warn(text);
}

/* A value written as text: of a flag, of a default, or of a quoted value in a file. */
static cuzk_status set_text(struct config *c, struct task *t, enum config_id id, const struct origin *o,
                            const char *text)
{
    uint64_t number = 0;
    switch (rows[id].kind) {
    case KIND_TEXT:
        if (!text[0] && rows[id].standard[0]) return fail_at(t, o, "takes a text, not an empty one", NULL);
        return set_string(t, &c->texts[id], text);
    case KIND_LIST:
    case KIND_ADDRESSES:
        return set_list(c, t, id, o, text, ',');
    case KIND_NUMBERS:
        return set_numbers(c, t, id, o, text);
    case KIND_CHOICE:
        return set_choice(c, t, id, o, text);
    case KIND_TRUTH:
        if (strcmp(text, "true") && strcmp(text, "false")) return fail_at(t, o, "is true or false", NULL);
        c->numbers[id] = !strcmp(text, "true");
        return CUZK_OK;
    case KIND_IGNORED:
        warn_ignored(c, id, o);
        return CUZK_OK;
    case KIND_COUNT:
    case KIND_BYTES:
    case KIND_TIME:
        break;
    }
    const bool valid = parse_number(&rows[id], text, &number);
    return set_number(c, t, id, o, valid, number, text);
}

static cuzk_status fail_type(struct task *t, const struct row *row, const struct origin *o,
                             const struct toml_leaf *l)
{
    static const char *const takes[] = { [KIND_TEXT] = "a text",
                                         [KIND_LIST] = "a text or an array of texts",
                                         [KIND_ADDRESSES] = "a text or an array of texts",
                                         [KIND_NUMBERS] = "an array of whole numbers",
                                         [KIND_CHOICE] = "a text",
                                         [KIND_TRUTH] = "true or false",
                                         [KIND_IGNORED] = "anything" };
    char form[160], what[256];
    const bool number = row->kind == KIND_COUNT || row->kind == KIND_BYTES || row->kind == KIND_TIME;
    if (number)
        snprintf(what, sizeof what, "%s, not %s", form_of(row, form), l->kind_name);
    else
        snprintf(what, sizeof what, "takes %s, not %s", takes[row->kind], l->kind_name);
    return fail_at(t, o, what, NULL);
}

static cuzk_status set_leaf(struct config *c, struct task *t, enum config_id id, const struct origin *o,
                            const struct toml_leaf *l)
{
    const struct row *row = &rows[id];
    if (row->kind == KIND_IGNORED) {
        warn_ignored(c, id, o);
        return CUZK_OK;
    }
    if (l->kind == TOML_WHOLES && row->kind == KIND_NUMBERS) {
        char joined[TOML_TEXTS_MOST * 21 + 1] = "";
        size_t bytes = 0;
        for (size_t i = 0; i < l->whole_count; i++)
            bytes += (size_t)snprintf(joined + bytes, sizeof joined - bytes, "%s%" PRId64, i ? "\n" : "",
                                      l->wholes[i]);
        return set_numbers(c, t, id, o, joined);
    }
    if (l->kind == TOML_TEXTS && l->text_count == 0 && row->kind == KIND_NUMBERS)
        return set_numbers(c, t, id, o, "");
    if (l->kind == TOML_TEXT && row->kind != KIND_TRUTH && row->kind != KIND_NUMBERS &&
        (row->kind != KIND_COUNT || !strcmp(l->text, "auto")))
        return set_text(c, t, id, o, l->text);
    if (l->kind == TOML_TRUTH && row->kind == KIND_TRUTH) {
        c->numbers[id] = l->truth;
        return CUZK_OK;
    }
    if (l->kind == TOML_WHOLE && (row->kind == KIND_COUNT || row->kind == KIND_BYTES)) {
        char shown[32];
        snprintf(shown, sizeof shown, "%" PRId64, l->whole);
        return set_number(c, t, id, o, l->whole >= 0, (uint64_t)l->whole, shown);
    }
    if (l->kind == TOML_TEXTS && (row->kind == KIND_LIST || row->kind == KIND_ADDRESSES)) {
        for (size_t i = 0; i < l->text_count; i++)
            if (!l->texts[i][0]) return fail_at(t, o, "has an empty item", NULL);
        size_t bytes = 1;
        for (size_t i = 0; i < l->text_count; i++) bytes += strlen(l->texts[i]) + 1;
        char *joined = calloc(1, bytes);
        if (!joined) return FAIL(t, CUZK_NO_MEMORY, "no memory for the configuration");
        for (size_t i = 0; i < l->text_count; i++) {
            if (i) strcat(joined, "\n");
            strcat(joined, l->texts[i]);
        }
        const cuzk_status status = set_list(c, t, id, o, joined, '\n'); /* commas are the items' own */
        free(joined);
        return status;
    }
    return fail_type(t, row, o, l);
}

/* -- circuits ------------------------------------------------------------------------------------------------------------ */

static bool name_is_plain(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n < 64 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

static cuzk_status circuit_named(struct config *c, struct task *t, struct config_circuit **out,
                                 const struct origin *o, const char *name)
{
    if (!name_is_plain(name))
        return fail_at(t, o, "is not a circuit's name: at most 63 letters, digits, '-', '_' and '.'", NULL);
    for (size_t i = 0; i < c->circuit_count; i++) {
        *out = &c->circuits[i];
        if (!strcmp((*out)->name, name)) return CUZK_OK;
    }
    if (c->circuit_count == CONFIG_CIRCUITS_MOST)
        return fail_at(t, o, "is one circuit too many: 256 may be configured", NULL);
    *out = &c->circuits[c->circuit_count];
    TRY(set_string(t, &(*out)->name, name));
    c->circuit_count++;
    return CUZK_OK;
}

static cuzk_status set_circuit(struct config *c, struct task *t, struct origin *o, const struct toml_leaf *l)
{
    struct config_circuit *circuit;
    if (l->depth < 2 || l->depth > 3)
        return fail_at(t, o, "is no key of the table circuits", "write [circuits] NAME = \"KEY.zkey\"");
    TRY(circuit_named(c, t, &circuit, o, l->path[1]));
    const char *key = l->depth == 3 ? l->path[2] : "key";
    static const char *const keys[] = { "key", "r1cs", "kind", "preload" };
    char **texts[] = { &circuit->key, &circuit->r1cs, &circuit->kind };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        if (strcmp(key, keys[i])) continue;
        if (l->kind == TOML_TEXT && l->text[0]) return set_string(t, texts[i], l->text);
        char what[96];
        snprintf(what, sizeof what, "takes a text, not %s",
                 l->kind == TOML_TEXT ? "an empty one" : l->kind_name);
        return fail_at(t, o, what, NULL);
    }
    if (!strcmp(key, "preload")) {
        if (l->kind != TOML_TRUTH) return fail_at(t, o, "is true or false", NULL);
        circuit->preload = l->truth;
        return CUZK_OK;
    }
    const int nearest = nearest_word(key, keys, ARRAY_COUNT(keys));
    char advice[96];
    snprintf(advice, sizeof advice, "did you mean %s?", nearest >= 0 ? keys[nearest] : "key");
    return fail_at(t, o, "is not known", nearest >= 0 ? advice : "a circuit has key, r1cs, kind and preload");
}

/* NAME=KEY[,R1CS] */
static cuzk_status circuit_flag(struct config *c, struct task *t, const char *text)
{
    struct origin o = { .name = "--circuit" };
    struct config_circuit *circuit;
    char name[64];
    const char *equals = strchr(text, '='), *comma = equals ? strchr(equals, ',') : NULL;
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name || !equals[1] ||
        equals[1] == ',' || (comma && !comma[1]))
        return fail_at(t, &o, "takes NAME=KEY or NAME=KEY,R1CS", NULL);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    TRY(check_plain(t, &o, text));
    TRY(circuit_named(c, t, &circuit, &o, name));
    if (circuit->from_flag) {
        char what[128];
        snprintf(what, sizeof what, "names the circuit %s twice", name);
        return fail_at(t, &o, what, "give each circuit a name of its own");
    }
    circuit->from_flag = true;
    TRY(set_string(t, &circuit->key, equals + 1));
    free(circuit->r1cs); /* the file's, which belongs to the file's key */
    circuit->r1cs = NULL;
    if (comma) {
        circuit->key[comma - equals - 1] = '\0';
        TRY(set_string(t, &circuit->r1cs, comma + 1));
    }
    return CUZK_OK;
}

/* -- file ---------------------------------------------------------------------------------------------------------------- */

struct reading {
    struct config *config;
    struct task *task;
    const char *path;
};

/* "table.key" of every row, and the names of a circuit's table. */
static cuzk_status fail_unknown(struct task *t, const struct origin *o)
{
    const char *names[CONFIG_COUNT];
    char full[CONFIG_COUNT][64], advice[128];
    for (size_t i = 0; i < CONFIG_COUNT; i++) {
        snprintf(full[i], sizeof full[i], "%s.%s", rows[i].table, rows[i].key);
        names[i] = full[i];
    }
    const int nearest = nearest_word(o->name, names, CONFIG_COUNT);
    if (nearest >= 0)
        snprintf(advice, sizeof advice, "did you mean %s?", names[nearest]);
    else
        snprintf(advice, sizeof advice, "cuzkd --help lists the keys");
    return fail_at(t, o, "is not known", advice);
}

static bool row_is(const struct row *row, const struct toml_leaf *l)
{
    char table[128] = "";
    for (size_t i = 0; i + 1 < l->depth; i++) {
        const size_t n = strlen(table);
        snprintf(table + n, sizeof table - n, "%s%s", i ? "." : "", l->path[i]);
    }
    return !strcmp(table, row->table) && (!strcmp(row->key, "*") || !strcmp(l->path[l->depth - 1], row->key));
}

/* Whether the leaf stands where a table does: [circuits], [memory], [gpus] of [gpus.affinity]. */
static bool is_table(const struct toml_leaf *l)
{
    if (l->depth == 1 && !strcmp(l->path[0], "circuits")) return true;
    for (size_t i = 0; i < CONFIG_COUNT; i++) {
        const struct row as_table = { .table = rows[i].table, .key = "*" };
        struct toml_leaf below = *l;
        if (below.depth == TOML_DEPTH_MOST) return false;
        below.path[below.depth++] = "*";
        if (row_is(&as_table, &below)) return true;
    }
    return false;
}

static bool take_leaf(void *context, const struct toml_leaf *l)
{
    struct reading *r = context;
    struct origin o = { .path = r->path, .line = l->line };
    for (size_t i = 0; i < l->depth; i++) {
        const size_t n = strlen(o.name);
        snprintf(o.name + n, sizeof o.name - n, "%s%s", i ? "." : "", l->path[i]);
    }
    if (!strcmp(l->path[0], "circuits") && l->depth > 1 && l->depth < TOML_DEPTH_MOST)
        return set_circuit(r->config, r->task, &o, l) == CUZK_OK;
    for (size_t i = 0; i < CONFIG_COUNT; i++)
        if (row_is(&rows[i], l)) return set_leaf(r->config, r->task, (enum config_id)i, &o, l) == CUZK_OK;
    if (!is_table(l)) return fail_unknown(r->task, &o) == CUZK_OK;
    if (l->kind == TOML_TABLE) return true; /* with nothing in it */
    char what[96], advice[160];
    snprintf(what, sizeof what, "is a table, and not %s", l->kind_name);
    snprintf(advice, sizeof advice, "write [%.120s] once, and KEY = VALUE below it", o.name);
    return fail_at(r->task, &o, what, advice) == CUZK_OK;
}

cuzk_status config_read_text(struct config *c, struct task *t, const char *path, const char *text,
                             size_t bytes)
{
    struct reading r = { c, t, path };
    char error[256] = "";
    unsigned line;
    if (!toml_read(text, bytes, take_leaf, &r, error, sizeof error, &line)) {
        FAIL(t, CUZK_INVALID_ARGUMENT, "line %u: not TOML: %s", line, error);
        task_fail_place(t, path, ERROR_NO_OFFSET, NULL, NULL);
    }
    return t->error.status;
}

cuzk_status config_read_file(struct config *c, struct task *t, const char *path)
{
    struct mapfile f;
    TRY(mapfile_open(&f, t, path));
    const cuzk_status status = config_read_text(c, t, path, (const char *)f.bytes.data, f.bytes.size);
    mapfile_close(&f);
    return status;
}

/* -- flags, defaults ----------------------------------------------------------------------------------------------------- */

static bool flag_is(const struct row *row, const char *word, size_t bytes)
{
    char name[64];
    snprintf(name, sizeof name, "--%s.%s", row->table, row->key);
    return (strlen(name) == bytes && !memcmp(name, word, bytes)) ||
           (row->flag && strlen(row->flag) == bytes && !memcmp(row->flag, word, bytes));
}

cuzk_status config_flag(struct config *c, struct task *t, int argc, char **argv, int *used)
{
    const char *word = argv[0], *equals = strchr(word, '=');
    const size_t bytes = equals ? (size_t)(equals - word) : strlen(word);
    const char *value = equals ? equals + 1 : argc > 1 ? argv[1] : NULL;
    const bool is_circuit = bytes == strlen("--circuit") && !memcmp(word, "--circuit", bytes);
    size_t i = 0;
    while (i < CONFIG_COUNT && !flag_is(&rows[i], word, bytes)) i++;
    *used = 0;
    if (i == CONFIG_COUNT && !is_circuit) return CUZK_OK;
    *used = equals ? 1 : 2;
    struct origin o = { .path = NULL };
    snprintf(o.name, sizeof o.name, "%.*s", (int)bytes, word);
    if (!value) return fail_at(t, &o, "needs a value", NULL);
    if (is_circuit) return circuit_flag(c, t, value);
    TRY(check_plain(t, &o, value));
    return set_text(c, t, (enum config_id)i, &o, value);
}

const char *config_nearest_flag(const char *word)
{
    static char names[2 * CONFIG_COUNT][64];
    const char *candidates[2 * CONFIG_COUNT + 3] = { "--config", "--circuit", "--check-config" };
    size_t count = 3;
    for (size_t i = 0; i < CONFIG_COUNT; i++) {
        snprintf(names[i], sizeof names[i], "--%s.%s", rows[i].table, rows[i].key);
        candidates[count++] = names[i];
        if (rows[i].flag) candidates[count++] = rows[i].flag;
    }
    const int nearest = nearest_word(word, candidates, count);
    return nearest >= 0 ? candidates[nearest] : NULL;
}

cuzk_status config_init(struct config *c, struct task *t, void (*warn)(const char *text))
{
    memset(c, 0, sizeof *c);
    c->warn = warn;
    for (size_t i = 0; i < CONFIG_COUNT; i++) {
        if (rows[i].kind == KIND_IGNORED) continue;
        struct origin o = { .path = NULL };
        snprintf(o.name, sizeof o.name, "%s.%s", rows[i].table, rows[i].key);
        TRY(set_text(c, t, (enum config_id)i, &o, rows[i].standard));
    }
    return CUZK_OK;
}

void config_fini(struct config *c)
{
    for (size_t i = 0; i < CONFIG_COUNT; i++) free(c->texts[i]);
    for (size_t i = 0; i < c->circuit_count; i++) {
        free(c->circuits[i].name);
        free(c->circuits[i].key);
        free(c->circuits[i].r1cs);
        free(c->circuits[i].kind);
    }
    memset(c, 0, sizeof *c);
}

bool config_item(const struct config *c, enum config_id id, size_t item, char *out, size_t out_bytes)
{
    const char *at = c->texts[id];
    if (!at[0]) return false;
    for (; item > 0; item--) {
        at = strchr(at, '\n');
        if (!at) return false;
        at++;
    }
    const size_t bytes = strcspn(at, "\n"), kept = bytes < out_bytes ? bytes : out_bytes - 1;
    memcpy(out, at, kept);
    out[kept] = '\0';
    return true;
}

/* "porep-32g": whether its parameters are there is for the start to say. */
static bool is_filecoin_name(const char *name)
{
    static const char *const kinds[] = { "porep-", "snap-", "wpost-", "winning-" }, *const sizes[] = {
        "2k", "8m", "512m", "32g", "64g"
    };
    for (size_t k = 0; k < ARRAY_COUNT(kinds); k++)
        for (size_t s = 0; s < ARRAY_COUNT(sizes) && !strncmp(name, kinds[k], strlen(kinds[k])); s++)
            if (!strcmp(name + strlen(kinds[k]), sizes[s])) return true;
    return false;
}

/* What is about devices with memory of their own has no effect on the CPU: said, and refused where it would promise something. */
static cuzk_status check_devices(struct config *c, struct task *t)
{
    static const enum config_id keys[] = { CONFIG_DEVICES, CONFIG_GPU_WORKERS, CONFIG_GPU_MEMORY };
    if (strcmp(c->texts[CONFIG_BACKEND], "cpu")) return CUZK_OK;
    if (c->numbers[CONFIG_PINNED])
        return FAIL(t, CUZK_INVALID_ARGUMENT,
                    "memory.pinned is for devices with memory of their own; the backend is cpu");
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        const struct row *row = &rows[keys[i]];
        const char *items = c->texts[keys[i]];
        char text[128];
        if (c->numbers[keys[i]] == 0 && (!items || !items[0])) continue; /* "auto", [] */
        snprintf(text, sizeof text, "%s.%s has no effect: [engine] backend is cpu", row->table, row->key);
        c->warn(text);
    }
    return CUZK_OK;
}

cuzk_status config_check(struct config *c, struct task *t)
{
    char name[CONFIG_ITEM_BYTES];
    TRY(check_devices(c, t));
    if (!c->texts[CONFIG_LISTEN][0]) return FAIL(t, CUZK_INVALID_ARGUMENT, "daemon.listen names no address");
    for (size_t i = 0; i < c->circuit_count; i++)
        if (!c->circuits[i].key)
            return FAIL(t, CUZK_INVALID_ARGUMENT, "the circuit %s has no key", c->circuits[i].name);
    for (size_t item = 0; config_item(c, CONFIG_PRELOAD, item, name, sizeof name); item++) {
        size_t i = 0;
        while (i < c->circuit_count && strcmp(c->circuits[i].name, name)) i++;
        if (i < c->circuit_count)
            c->circuits[i].preload = true;
        else if (!is_filecoin_name(name))
            return FAIL(t, CUZK_INVALID_ARGUMENT,
                        "srs.preload names %s, which is no circuit of [circuits] nor of Filecoin's", name);
    }
    return CUZK_OK;
}

/* -- printing ------------------------------------------------------------------------------------------------------------ */

static void print_text(FILE *f, const char *text, size_t bytes)
{
    fputc('"', f);
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\')
            fprintf(f, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            fprintf(f, "\\u%04x", byte);
        else
            fputc(byte, f);
    }
    fputc('"', f);
}

static void print_value(const struct config *c, FILE *f, size_t i)
{
    const uint64_t n = c->numbers[i];
    const char *text = c->texts[i];
    switch (rows[i].kind) {
    case KIND_COUNT:
    case KIND_BYTES:
        if (n == 0 && may_be_auto(&rows[i]))
            fputs("\"auto\"", f);
        else
            fprintf(f, "%" PRIu64, n);
        break;
    case KIND_TIME:
        fprintf(f, "\"%" PRIu64 "ms\"", n);
        break;
    case KIND_TRUTH:
        fputs(n ? "true" : "false", f);
        break;
    case KIND_NUMBERS:
        fputc('[', f);
        for (const char *p = text; *p; p++) fputs(*p == '\n' ? ", " : (const char[]){ *p, '\0' }, f);
        fputc(']', f);
        break;
    case KIND_LIST:
    case KIND_ADDRESSES:
        fputc('[', f);
        for (size_t at = 0; text[at];) {
            const size_t bytes = strcspn(text + at, "\n");
            if (at) fputs(", ", f);
            print_text(f, text + at, bytes);
            at += bytes + (text[at + bytes] == '\n');
        }
        fputc(']', f);
        break;
    case KIND_TEXT:
    case KIND_CHOICE:
        print_text(f, text, strlen(text));
        break;
    case KIND_IGNORED:
        break;
    }
}

void config_print(const struct config *c, FILE *f)
{
    const char *table = "";
    for (size_t i = 0; i < CONFIG_COUNT; i++) {
        if (rows[i].kind == KIND_IGNORED) continue;
        if (strcmp(table, rows[i].table)) fprintf(f, "%s[%s]\n", table[0] ? "\n" : "", rows[i].table);
        table = rows[i].table;
        fprintf(f, "%s = ", rows[i].key);
        print_value(c, f, i);
        fputc('\n', f);
    }
    if (c->circuit_count) fputs("\n[circuits]\n", f);
    for (size_t i = 0; i < c->circuit_count; i++) {
        const struct config_circuit *circuit = &c->circuits[i];
        print_text(f, circuit->name, strlen(circuit->name));
        fputs(" = { ", f);
        const char *const names[] = { "key", "r1cs", "kind" }, *const values[] = { circuit->key,
                                                                                   circuit->r1cs,
                                                                                   circuit->kind };
        for (size_t j = 0; j < ARRAY_COUNT(names); j++) {
            if (!values[j]) continue;
            fprintf(f, "%s = ", names[j]);
            print_text(f, values[j], strlen(values[j]));
            fputs(", ", f);
        }
        fprintf(f, "preload = %s }\n", circuit->preload ? "true" : "false");
    }
}

void config_print_help(FILE *f)
{
    static const char *const arguments[] = {
        [KIND_TEXT] = "TEXT",   [KIND_LIST] = "LIST",  [KIND_ADDRESSES] = "LIST",
        [KIND_NUMBERS] = "N,N", [KIND_COUNT] = "N",    [KIND_BYTES] = "SIZE",
        [KIND_TIME] = "TIME",   [KIND_TRUTH] = "BOOL", [KIND_CHOICE] = "WORD"
    };
    for (size_t i = 0; i < CONFIG_COUNT; i++) {
        if (rows[i].kind == KIND_IGNORED) continue;
        char left[96];
        snprintf(left, sizeof left, "--%s.%s %s%s%s", rows[i].table, rows[i].key, arguments[rows[i].kind],
                 rows[i].flag ? ", " : "", rows[i].flag ? rows[i].flag : "");
        fprintf(f, "  %-46s %s%s%s%s\n", left, rows[i].help, rows[i].standard[0] ? " [" : "",
                rows[i].standard, rows[i].standard[0] ? "]" : "");
    }
}
