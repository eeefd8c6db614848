/* Loads JSON texts within bounds. */
#include "formats/json_value.h"
#include "formats/decimal.h"
#include "formats/fail_at.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LONG_DIGITS 19 /* integers of so many digits may not fit into jansson's 64 bits */

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* One pass over the text outside strings: the deepest nesting, and how many long integers there are.  With out, also copies the
 * text, putting quotes around the long integers. */
struct scan {
    size_t long_integers;
    unsigned depth, deepest;
};

static struct scan scan_text(struct span text, char *out)
{
    struct scan s = { 0 };
    bool in_string = false;
    size_t w = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (in_string) {
            if (c == '\\' && i + 1 < text.size) {
                if (out != NULL) out[w++] = (char)c;
                c = text.data[++i];
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            s.depth++;
            if (s.depth > s.deepest) s.deepest = s.depth;
        } else if (c == ']' || c == '}') {
            if (s.depth > 0) s.depth--;
        } else if (is_digit(c) || c == '-' || c == '+' || c == '.') {
            /* A token that starts like a number and goes on to the next character that cannot be part of one. */
            size_t end = i;
            bool plain = c >= '1' && c <= '9';
            while (end < text.size && (is_digit(text.data[end]) || strchr("+-.eE", text.data[end]) != NULL) &&
                   text.data[end] != 0) {
                plain = plain && is_digit(text.data[end]);
                end++;
            }
            bool quote = plain && end - i >= LONG_DIGITS;
            s.long_integers += quote;
            if (out != NULL) {
                if (quote) out[w++] = '"';
                memcpy(out + w, text.data + i, end - i);
                w += end - i;
                if (quote) out[w++] = '"';
            }
            i = end - 1;
            continue;
        }
        if (out != NULL) out[w++] = (char)c;
    }
    return s;
}

static cuzk_status load(json_t **out, struct task *t, const char *path, const char *data, size_t size)
{
    json_error_t error;
    *out = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
    if (*out != NULL) return CUZK_OK;
    char field[64];
    snprintf(field, sizeof field, "line %d, column %d", error.line, error.column);
    if (json_error_code(&error) == json_error_out_of_memory)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, NULL, NULL, CUZK_NO_MEMORY,
                       "no memory for a JSON text of %zu bytes", size);
    return FAIL_AT(t, path, error.position < 0 ? ERROR_NO_OFFSET : (uint64_t)error.position, field,
                   "The file is damaged or was edited by hand: make it again.", CUZK_MALFORMED,
                   "not valid JSON: %s", error.text);
}

static bool starts_like(struct span text, json_type top)
{
    size_t i = 0;
    while (i < text.size && strchr(" \t\r\n", text.data[i]) != NULL && text.data[i] != 0) i++;
    return i < text.size && text.data[i] == (top == JSON_OBJECT ? '{' : '[');
}

cuzk_status json_value_load(json_t **out, struct task *t, const char *path, struct span text,
                            size_t most_bytes, json_type top, enum file_kind wanted)
{
    *out = NULL;
    while (text.size > 0 && text.data[text.size - 1] == 0) text.size--;
    if (!starts_like(text, top))
        return identify_fail(t, path, text, wanted,
                             top == JSON_OBJECT ? "it is not a JSON object"
                                                : "it is not a JSON array of numbers");
    enum file_kind kind = identify(text);
    if (kind != wanted && kind != FILE_JSON)
        return identify_fail(t, path, text, wanted, "it is another JSON file");
    if (text.size > most_bytes)
        return FAIL_AT(t, path, most_bytes, NULL, "Check the path: no file of this kind is that long.",
                       CUZK_TOO_LARGE, "a JSON text of %zu bytes; at most %zu are read", text.size,
                       most_bytes);
    struct scan s = scan_text(text, NULL);
    if (s.deepest > JSON_VALUE_MOST_DEPTH)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, NULL, ADVICE_DAMAGED, CUZK_MALFORMED,
                       "JSON nested %u deep; at most %d is read", s.deepest, JSON_VALUE_MOST_DEPTH);
    if (s.long_integers == 0) return load(out, t, path, (const char *)text.data, text.size);

    size_t size = text.size + 2 * s.long_integers;
    char *quoted = malloc(size);
    if (quoted == NULL)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, NULL, NULL, CUZK_NO_MEMORY,
                       "no memory for a JSON text of %zu bytes", size);
    scan_text(text, quoted);
    cuzk_status status = load(out, t, path, quoted, size);
    explicit_bzero(quoted, size);
    free(quoted);
    return status;
}

static bool is_below(const uint64_t *a, const uint64_t *b, size_t word_count)
{
    for (size_t i = word_count; i-- > 0;)
        if (a[i] != b[i]) return a[i] < b[i];
    return false;
}

cuzk_status json_value_number(uint64_t *words, struct task *t, const char *path, const json_t *value,
                              size_t word_count, const uint64_t *modulus, const char *modulus_name,
                              const char *name)
{
    enum decimal_verdict verdict = DECIMAL_NOT_A_NUMBER;
    if (value == NULL)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, name, NULL, CUZK_MALFORMED, "%s is missing", name);
    if (json_is_string(value)) {
        verdict = decimal_read(words, word_count, json_string_value(value), json_string_length(value));
    } else if (json_is_integer(value) && json_integer_value(value) >= 0) {
        memset(words, 0, word_count * sizeof *words);
        words[0] = (uint64_t)json_integer_value(value);
        verdict = DECIMAL_OK;
    }
    if (verdict == DECIMAL_NOT_A_NUMBER)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, name, "Write it as a decimal string, for example \"123\".",
                       CUZK_MALFORMED, "%s is not a non-negative integer", name);
    if (verdict == DECIMAL_TOO_LARGE || !is_below(words, modulus, word_count))
        return FAIL_AT(t, path, ERROR_NO_OFFSET, name,
                       "Reduce it, or make the file again with a correct tool.", CUZK_MALFORMED,
                       "%s is not smaller than %s", name, modulus_name);
    return CUZK_OK;
}
