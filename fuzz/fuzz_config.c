/* Fuzzes the reader of the daemon's configuration: what is accepted is printed as a file that means the same.
 *
 * An input is a file's text; after its first NUL there may be flags, a NUL between one word and the next. */
#include "server/config.h"
#include "fuzz.h"

enum { WORDS_MOST = 64 };

static void no_warning(const char *text)
{
    if (text[0] == '\0') abort();
}

static char *print(const struct config *c, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    if (!f) abort();
    config_print(c, f);
    if (fclose(f) != 0) abort();
    return text;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void expect_same(const struct config *a, const struct config *b)
{
    if (memcmp(a->numbers, b->numbers, sizeof a->numbers) != 0 || a->circuit_count != b->circuit_count)
        abort();
    for (size_t i = 0; i < CONFIG_COUNT; i++)
        if (!same_text(a->texts[i], b->texts[i])) abort();
    /* A file's tables are read in the order of their names, flags in their own. */
    for (size_t i = 0; i < a->circuit_count; i++) {
        size_t j = 0;
        while (j < b->circuit_count && strcmp(a->circuits[i].name, b->circuits[j].name) != 0) j++;
        if (j == b->circuit_count) abort();
        const struct config_circuit *x = &a->circuits[i], *y = &b->circuits[j];
        if (!same_text(x->key, y->key) || !same_text(x->r1cs, y->r1cs) || !same_text(x->kind, y->kind) ||
            x->preload != y->preload)
            abort();
    }
}

/* What c is printed as, read as a file. */
static void expect_readable(const struct config *c)
{
    static struct config again;
    struct task t;
    size_t bytes;
    task_init(&t);
    char *text = print(c, &bytes);
    if (config_init(&again, &t, no_warning) != CUZK_OK) abort();
    if (config_read_text(&again, &t, FUZZ_PATH, text, bytes) != CUZK_OK) abort();
    expect_same(c, &again);
    free(text);
    config_fini(&again);
}

/* The words after the text, until one is no flag. */
static cuzk_status take_flags(struct config *c, struct task *t, char *words, size_t bytes)
{
    char *argv[WORDS_MOST + 1] = { NULL };
    int argc = 0, used;
    for (size_t at = 0; at < bytes && argc < WORDS_MOST; at += strlen(words + at) + 1)
        argv[argc++] = words + at;
    for (int i = 0; i < argc; i += used) {
        TRY(config_flag(c, t, argc - i, argv + i, &used));
        if (used == 0) break;
    }
    return CUZK_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config c;
    struct task t;
    task_init(&t);
    const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
    const size_t text_bytes = end ? (size_t)(end - data) : size;
    if (config_init(&c, &t, no_warning) != CUZK_OK) abort();
    cuzk_status status = config_read_text(&c, &t, FUZZ_PATH, (const char *)data, text_bytes);
    if (status == CUZK_NO_MEMORY) abort();
    if (fuzz_ok(&t, status) && end) {
        const size_t bytes = size - text_bytes - 1;
        char *words = calloc(1, bytes + 1);
        if (!words) abort();
        memcpy(words, end + 1, bytes);
        status = take_flags(&c, &t, words, bytes);
        if (status != t.error.status || (status != CUZK_OK && !t.error.text[0])) abort();
        free(words);
    }
    if (status == CUZK_OK) {
        const cuzk_status sound = config_check(&c, &t);
        if (sound != t.error.status || (sound != CUZK_OK && !t.error.text[0])) abort();
        expect_readable(&c);
    }
    config_fini(&c);
    return 0;
}
