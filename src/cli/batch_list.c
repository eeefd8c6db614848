/* A list of proofs to make, one a line. */
#include "cli/batch_list.h"
#include "base/grow.h"
#include "base/mapfile.h"
#include "cli/cli.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_LEAST = 3, FIELDS_MOST = 4, LINES_MOST = 10000000 };

/* -- lines ------------------------------------------------------------------------------------------------------------- */

static cuzk_status bad_line(struct task *t, const char *path, unsigned number, const char *what)
{
    const cuzk_status status = FAIL(t, CUZK_MALFORMED, "line %u of the list %s", number, what);
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL,
                    "a line is: KEY WITNESS PROOF [PUBLIC]; a name with blanks stands between double quotes");
    return status;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The field at *at, ended in place; NULL where there is none.  false: quotes that do not close, or do so within a word. */
static bool next_field(char **field, char **at)
{
    while (is_blank(**at)) ++*at;
    *field = NULL;
    if (**at == '\0') return true;
    const bool quoted = **at == '"';
    if (quoted) ++*at;
    *field = *at;
    while (**at != '\0' && (quoted ? **at != '"' : !is_blank(**at))) ++*at;
    if (quoted && (**at == '\0' || !(is_blank((*at)[1]) || (*at)[1] == '\0'))) return false;
    if (**at != '\0') *(*at)++ = '\0';
    return true;
}

static cuzk_status add_line(struct batch_list *l, struct task *t, const char *path, unsigned number, char *at)
{
    char *field[FIELDS_MOST + 1] = { NULL };
    unsigned count = 0;

    do {
        if (!next_field(&field[count], &at)) return bad_line(t, path, number, "has quotes that do not close");
    } while (field[count] != NULL && ++count <= FIELDS_MOST);
    if (count == 0 || field[0][0] == '#') return CUZK_OK;
    if (count < FIELDS_LEAST) return bad_line(t, path, number, "has fewer than three names");
    if (count > FIELDS_MOST) return bad_line(t, path, number, "has more than four names");
    for (unsigned i = 0; i < count; i++) {
        if (field[i][0] == '\0') return bad_line(t, path, number, "has an empty name");
        if (cli_is_stdout(field[i])) return bad_line(t, path, number, "names a standard stream");
    }
    if (!grow(&l->line, &l->capacity, l->count + 1, sizeof *l->line))
        return FAIL(t, CUZK_NO_MEMORY, "no memory for a list of %zu lines", l->count + 1);
    l->line[l->count++] = (struct batch_line){ number, field[0], field[1], field[2], field[3] };
    return CUZK_OK;
}

static cuzk_status read_lines(struct batch_list *l, struct task *t, const char *path)
{
    unsigned number = 0;

    for (char *at = l->text; at != NULL;) {
        char *const end = strchr(at, '\n');
        if (end != NULL) *end = '\0';
        if (++number > LINES_MOST) return bad_line(t, path, number, "is one too many: 10000000 are the most");
        TRY(add_line(l, t, path, number, at));
        at = end != NULL ? end + 1 : NULL;
    }
    if (l->count > 0) return CUZK_OK;
    const cuzk_status status = FAIL(t, CUZK_INVALID_ARGUMENT, "the list names no proof");
    task_fail_place(t, path, ERROR_NO_OFFSET, NULL, "write a line for each: KEY WITNESS PROOF [PUBLIC]");
    return status;
}

/* -- files that are apart ---------------------------------------------------------------------------------------------- */

/* The name of a key's derived form, once where lines of one key follow each other; *out NULL: the line before has it.  false: no memory. */
static bool name_beside(char **out, const struct batch_list *l, size_t i)
{
    char beside[PATH_MAX];

    *out = NULL;
    if (i > 0 && strcmp(l->line[i].key, l->line[i - 1].key) == 0) return true;
    if (cli_derived_beside(beside, l->line[i].key) == NULL) return true;
    *out = strdup(beside);
    return *out != NULL;
}

/* Each output is replaced whole: a slip in a list would cost a key, the list, or a proof that another line has made. */
static cuzk_status check_apart(const struct batch_list *l, struct task *t, const char *path, const char *r1cs)
{
    struct apart_name *const names = calloc(l->count + 1, (FIELDS_MOST + 1) * sizeof *names);
    char **const beside = calloc(l->count, sizeof *beside);
    bool room = names != NULL && beside != NULL;
    cuzk_status status;
    size_t n = 0;

    for (size_t i = 0; room && i < l->count; i++) {
        const struct batch_line *b = &l->line[i];
        room = name_beside(&beside[i], l, i);
        names[n++] = (struct apart_name){ b->key, false, b->number, NULL };
        names[n++] = (struct apart_name){ beside[i], false, b->number, NULL };
        names[n++] = (struct apart_name){ b->witness, false, b->number, NULL };
        names[n++] = (struct apart_name){ b->proof, true, b->number, NULL };
        names[n++] = (struct apart_name){ b->publics, true, b->number, NULL };
    }
    if (room) {
        names[n++] = (struct apart_name){ strcmp(path, "-") == 0 ? NULL : path, false, 0, NULL };
        names[n++] = (struct apart_name){ r1cs, false, 0, NULL };
        status = apart_check(t, path, names, n);
    } else {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for a list of %zu lines", l->count);
    }
    for (size_t i = 0; beside != NULL && i < l->count; i++) free(beside[i]);
    free(beside);
    free(names);
    return status;
}

cuzk_status batch_list_read(struct batch_list *out, struct task *t, const char *path, const char *r1cs)
{
    struct mapfile file = { 0 };
    cuzk_status status;

    memset(out, 0, sizeof *out);
    TRY_GOTO(out, mapfile_open(&file, t, path));
    out->text = malloc(file.bytes.size + 1);
    if (out->text == NULL) {
        status = FAIL(t, CUZK_NO_MEMORY, "no memory for a list of %zu bytes", file.bytes.size);
        goto out;
    }
    if (file.bytes.size > 0) memcpy(out->text, file.bytes.data, file.bytes.size);
    out->text[file.bytes.size] = '\0';
    if (strlen(out->text) != file.bytes.size) {
        status = FAIL(t, CUZK_MALFORMED, "the list is not a text: it holds a zero byte");
        task_fail_place(t, path, strlen(out->text), NULL, NULL);
        goto out;
    }
    TRY_GOTO(out, read_lines(out, t, path));
    TRY_GOTO(out, check_apart(out, t, path, r1cs));
out:
    mapfile_close(&file);
    if (status != CUZK_OK) batch_list_free(out);
    return status;
}

void batch_list_free(struct batch_list *l)
{
    free(l->text);
    free(l->line);
    memset(l, 0, sizeof *l);
}
