/* Fuzzes the reader of the daemon's configuration: what is accepted is printed as a file that means the same. */
#include "server/config.h"
#include "fuzz.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config c, again;
    struct task t;
    task_init(&t);
    if (config_init(&c, &t, no_warning) != CUZK_OK) abort();
    const cuzk_status status = config_read_text(&c, &t, FUZZ_PATH, (const char *)data, size);
    if (status == CUZK_NO_MEMORY) abort();
    if (fuzz_ok(&t, status)) {
        size_t first_size, second_size;
        char *first = print(&c, &first_size);
        if (config_init(&again, &t, no_warning) != CUZK_OK) abort();
        if (config_read_text(&again, &t, FUZZ_PATH, first, first_size) != CUZK_OK) abort();
        char *second = print(&again, &second_size);
        if (first_size != second_size || memcmp(first, second, first_size) != 0) abort();
        free(second);
        config_fini(&again);
        free(first);
    }
    config_fini(&c);
    return 0;
}
