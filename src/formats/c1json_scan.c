/* The scanner: characters to events, in pieces of any size; base64 is decoded and scanned as it comes.
 *
 * 37 MB for a 32 GiB sector; nearly all of it is arrays of byte values, which have a loop of their own. */
#include "formats/c1json_inside.h"

#include "base/bytes.h"

#include <stdlib.h>

#define CHUNK 49152 /* of decoded base64 */

/* -- base64 -- */

static size_t base64_length(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && ((p[i] >= '+' && p[i] <= '9' && p[i] != ',' && p[i] != '-' && p[i] != '.') ||
                     ((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'z') || p[i] == '=' || p[i] <= ' '))
        i++;
    return i;
}

static cuzk_status decode(struct c1json *j, struct task *t, const uint8_t *p, size_t n)
{
    const uint8_t *const start = p;
    while (n > 0) {
        const size_t piece = n < CHUNK ? n : CHUNK;
        int out = 0;
        /* the decoder takes a '-' for the end, and would drop what follows */
        if (memchr(p, '-', piece) != NULL ||
            EVP_DecodeUpdate(j->base64, j->decoded, &out, p, (int)piece) < 0) {
            j->offset += (uint64_t)(p - start) + base64_length(p, piece);
            return c1json_fail(j, t, "Phase1Out is not base64 (of the standard alphabet, padded)");
        }
        TRY(c1json_push(j->inside, t, j->decoded, (size_t)out));
        p += piece;
        n -= piece;
    }
    return CUZK_OK;
}

static cuzk_status decode_begin(struct c1json *j, struct task *t)
{
    j->wrapped = true;
    TRY(c1json_create(&j->inside, t, j->c));
    j->inside->decoding = true;
    j->base64 = EVP_ENCODE_CTX_new();
    j->decoded = malloc(CHUNK + 64);
    if (j->base64 == NULL || j->decoded == NULL)
        return FAIL(t, CUZK_NO_MEMORY, "no memory to decode Phase1Out");
    EVP_DecodeInit(j->base64);
    return CUZK_OK;
}

static cuzk_status decode_end(struct c1json *j, struct task *t)
{
    int out = 0;
    if (EVP_DecodeFinal(j->base64, j->decoded, &out) < 0)
        return c1json_fail(j, t, "Phase1Out ends within a group of base64");
    TRY(c1json_push(j->inside, t, j->decoded, (size_t)out));
    return c1json_finish(j->inside, t);
}

/* -- characters -- */

static cuzk_status string_done(struct c1json *j, struct task *t)
{
    j->text[j->text_length] = '\0';
    if (j->text_is_key) {
        j->state = L_COLON;
        return c1json_key(j, t);
    }
    j->state = L_AFTER;
    if (j->next == N_BASE64) return decode_end(j, t);
    if (j->next == N_TEXT) {
        j->c->proof = j->text_long ? NULL : registered_proof_by_name(j->text, j->text_length);
        if (j->c->proof == NULL) return c1json_fail(j, t, "registered_proof is not the name of a seal proof");
        return CUZK_OK;
    }
    return j->next == N_SKIP ? CUZK_OK : c1json_fail(j, t, "a string where none belongs");
}

/* The rest of a string; *at moves to behind what was taken. */
static cuzk_status string_more(struct c1json *j, struct task *t, const uint8_t *p, size_t size, size_t *at)
{
    const bool base64 = !j->text_is_key && j->next == N_BASE64;
    while (*at < size && j->state == L_STRING) {
        size_t run = *at;
        while (!j->escape && base64 && run < size && p[run] != '"' && p[run] != '\\') run++;
        if (run > *at) {
            TRY(decode(j, t, p + *at, run - *at));
            *at = run;
            continue;
        }
        uint8_t ch = p[(*at)++];
        if (!j->escape && ch == '"') return string_done(j, t);
        if (!j->escape && ch == '\\') {
            j->escape = true;
            continue;
        }
        if (!j->escape && ch < 0x20) return c1json_fail(j, t, "a control character in a string");
        if (j->escape) {
            j->escape = false;
            if (base64) {
                if (ch == 'n' || ch == 'r') continue; /* line breaks */
                if (ch != '/') return c1json_fail(j, t, "Phase1Out is not base64");
                TRY(decode(j, t, &ch, 1));
                continue;
            }
            if (ch == 'u') ch = '?'; /* no name of interest has one */
        }
        if (j->text_length + 1 < C1JSON_TEXT)
            j->text[j->text_length++] = (char)ch;
        else
            j->text_long = true;
    }
    return CUZK_OK;
}

static cuzk_status start_value(struct c1json *j, struct task *t, uint8_t ch)
{
    if (j->depth == 0 && ch != '{') return c1json_fail(j, t, "an object was expected");
    if (j->depth > 0 && !j->stack[j->depth - 1].object) {
        struct level *l = &j->stack[j->depth - 1];
        if (l->node == N_HASH) {
            l->count++;
            j->next = N_SKIP;
            if (ch < '0' || ch > '9') return c1json_fail(j, t, "a hash is 32 values from 0 to 255");
        } else {
            TRY(c1json_element(j, t));
        }
    }
    if (ch == '{' || ch == '[') return c1json_begin(j, t, ch == '{');
    if (ch == '"') {
        j->state = L_STRING;
        j->text_length = 0;
        j->text_long = j->escape = j->text_is_key = false;
        return j->next == N_BASE64 ? decode_begin(j, t) : CUZK_OK;
    }
    if (ch >= '0' && ch <= '9') {
        j->state = L_NUMBER;
        j->number = (uint64_t)(ch - '0');
        j->digits = 1;
        return CUZK_OK;
    }
    if (j->next != N_SKIP || !((ch >= 'a' && ch <= 'z') || ch == '-'))
        return c1json_fail(j, t, "a value of the wrong kind");
    j->state = L_LITERAL;
    return CUZK_OK;
}

static cuzk_status digit(struct c1json *j, struct task *t, unsigned d)
{
    if (j->digits == 1 && j->number == 0) return c1json_fail(j, t, "a number with leading zeros");
    if (++j->digits > 20 || j->number > (UINT64_MAX - d) / 10)
        return j->next == N_SKIP ? CUZK_OK : c1json_fail(j, t, "a number that exceeds 64 bits");
    j->number = 10 * j->number + d;
    return CUZK_OK;
}

static bool part_of_literal(uint8_t ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '+' || ch == '-' || ch == '.' ||
           ch == 'E';
}

/* One character outside strings, numbers and literals. */
static cuzk_status structure(struct c1json *j, struct task *t, uint8_t ch)
{
    if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') return CUZK_OK;
    switch (j->state) {
    case L_FIRST:
        if (ch == ']') return c1json_end(j, t, false);
        return start_value(j, t, ch);
    case L_VALUE:
        return start_value(j, t, ch);
    case L_FIRST_KEY:
        if (ch == '}') return c1json_end(j, t, true);
        /* fall through */
    case L_KEY:
        if (ch != '"') return c1json_fail(j, t, "a member's name was expected");
        j->state = L_STRING;
        j->text_length = 0;
        j->text_long = j->escape = false;
        j->text_is_key = true;
        return CUZK_OK;
    case L_COLON:
        j->state = L_VALUE;
        return ch == ':' ? CUZK_OK : c1json_fail(j, t, "':' was expected");
    case L_AFTER:
        if (ch == ',') {
            j->state = j->stack[j->depth - 1].object ? L_KEY : L_VALUE;
            return CUZK_OK;
        }
        if (ch == ']' || ch == '}') return c1json_end(j, t, ch == '}');
        return c1json_fail(j, t, "',' or the end of the array or object was expected");
    default:
        return c1json_fail(j, t, "text behind the end");
    }
}

static cuzk_status scalar(struct c1json *j, struct task *t, uint8_t ch)
{
    if (j->state == L_NUMBER) {
        if (ch >= '0' && ch <= '9') return digit(j, t, (unsigned)(ch - '0'));
        if (part_of_literal(ch)) {
            if (j->next != N_SKIP || j->stack[j->depth - 1].node == N_HASH)
                return c1json_fail(j, t, "only unsigned integers belong here");
            j->state = L_LITERAL;
            return CUZK_OK;
        }
        j->state = L_AFTER;
        TRY(c1json_number(j, t));
    } else {
        if (part_of_literal(ch)) return CUZK_OK;
        j->state = L_AFTER;
    }
    return structure(j, t, ch);
}

/* The inner loop: byte values, within a hash, with no white space. */
static size_t hash_bytes(struct c1json *j, const uint8_t *p, size_t size)
{
    struct level *l = &j->stack[j->depth - 1];
    size_t at = 0;
    while (l->count < 32 && at + 4 < size) {
        unsigned v = p[at] - (unsigned)'0', n = 1;
        if (v > 9) break;
        for (; n < 3 && (unsigned)(p[at + n] - '0') <= 9; n++) v = 10 * v + (p[at + n] - (unsigned)'0');
        if (p[at + n] != ',' || v > 255 || (n > 1 && p[at] == '0')) break;
        j->hash[l->count++] = (uint8_t)v;
        at += n + 1;
    }
    return at;
}

cuzk_status c1json_push(struct c1json *j, struct task *t, const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t at = 0;
    while (at < size) {
        const size_t before = at;
        if (j->state == L_STRING) {
            TRY(string_more(j, t, p, size, &at));
        } else {
            if ((j->state == L_VALUE || j->state == L_FIRST) && j->depth > 0 &&
                j->stack[j->depth - 1].node == N_HASH) {
                at += hash_bytes(j, p + at, size - at);
                if (at > before) {
                    j->state = L_VALUE;
                    j->offset += at - before;
                    continue;
                }
            }
            const uint8_t ch = p[at++];
            if (j->state == L_NUMBER || j->state == L_LITERAL)
                TRY(scalar(j, t, ch));
            else
                TRY(structure(j, t, ch));
        }
        j->offset += at - before;
    }
    return CUZK_OK;
}

cuzk_status c1json_create(struct c1json **out, struct task *t, struct c1 *c)
{
    struct c1json *j = calloc(1, sizeof *j);
    *out = j;
    if (j == NULL) return FAIL(t, CUZK_NO_MEMORY, "no memory to read a C1 output");
    j->c = c;
    j->state = L_VALUE;
    j->next = N_ROOT;
    return CUZK_OK;
}

cuzk_status c1json_finish(struct c1json *j, struct task *t)
{
    if (j->state != L_END) return c1json_fail(j, t, "the text ends before its end");
    if (j->decoding) return CUZK_OK;
    if (j->c->proof == NULL || j->c->shape == NULL)
        return c1json_fail(j, t, "neither a C1 output nor a wrapper of one");
    return c1_complete(j->c, t);
}

void c1json_destroy(struct c1json *j)
{
    if (j == NULL) return;
    c1json_destroy(j->inside);
    if (j->base64 != NULL) EVP_ENCODE_CTX_free(j->base64);
    if (j->decoded != NULL) wipe(j->decoded, CHUNK + 64);
    free(j->decoded);
    wipe(j, sizeof *j);
    free(j);
}

cuzk_status c1json_read(struct c1 *c, struct task *t, struct span file)
{
    struct c1json *j;
    cuzk_status status = c1json_create(&j, t, c);
    if (status == CUZK_OK) status = c1json_push(j, t, file.data, file.size);
    if (status == CUZK_OK) status = c1json_finish(j, t);
    c1json_destroy(j);
    return status;
}
