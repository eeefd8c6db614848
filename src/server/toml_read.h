/* Reads a TOML file leaf by leaf, with line numbers; C's view of toml++. */
#ifndef CUZK_SERVER_TOML_READ_H
#define CUZK_SERVER_TOML_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOML_DEPTH_MOST 8
#define TOML_TEXTS_MOST 256
/* A text with a control character (a NUL, a newline) is TOML_OTHER, and says so in kind_name: it could not be told apart from two texts,
 * or from a shorter one.  A table is shown as a leaf, TOML_TABLE, only if it is empty or too deep. */

enum toml_kind { TOML_TEXT, TOML_WHOLE, TOML_TRUTH, TOML_TEXTS, TOML_WHOLES, TOML_TABLE, TOML_OTHER };

/* A key and its value; all of it lives until the callback returns. */
struct toml_leaf {
    const char *path[TOML_DEPTH_MOST]; /* tables, outermost first, then the key; control characters are '?' */
    size_t depth;
    unsigned line;
    enum toml_kind kind;
    const char *kind_name; /* "an array", for error texts */
    const char *text;      /* TOML_TEXT */
    int64_t whole;
    bool truth;
    const char *texts[TOML_TEXTS_MOST]; /* TOML_TEXTS: an array that holds texts only, or nothing */
    size_t text_count;
    int64_t wholes[TOML_TEXTS_MOST]; /* TOML_WHOLES: one that holds whole numbers only, at least one */
    size_t whole_count;
};

/** Calls leaf for every key in the order of the tables, until it returns false.
 * Out     error, line  if the text is not TOML (false is returned): what is wrong, and where
 * Throws nothing. */
bool toml_read(const char *text, size_t bytes, bool (*leaf)(void *context, const struct toml_leaf *l),
               void *context, char *error, size_t error_bytes, unsigned *line);

#ifdef __cplusplus
}
#endif

#endif
