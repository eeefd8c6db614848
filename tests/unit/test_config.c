/* src/server/config.c: what is accepted is printed as a file that means the same; what makes no sense is refused with key and line. */
#include "server/config.h"
#include "support/cm.h"
#include "support/prng.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char warnings[4096];

static void keep_warning(const char *text)
{
    const size_t n = strlen(warnings);
    snprintf(warnings + n, sizeof warnings - n, "%s\n", text);
}

static struct config *start(struct task *t)
{
    struct config *c = malloc(sizeof *c);
    assert_non_null(c);
    task_init(t);
    assert_int_equal(config_init(c, t, keep_warning), CUZK_OK);
    return c;
}

static void end(struct config *c)
{
    config_fini(c);
    free(c);
}

static char *printed(const struct config *c)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    assert_non_null(f);
    config_print(c, f);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void expect_readable(const struct config *c)
{
    struct task t;
    char *text = printed(c);
    struct config *again = start(&t);
    if (config_read_text(again, &t, "printed", text, strlen(text)) != CUZK_OK) {
        fail_msg("%s\n%s", t.error.text, text);
    }
    char *last = printed(again);
    assert_string_equal(last, text);
    assert_memory_equal(again->numbers, c->numbers, sizeof c->numbers);
    for (size_t i = 0; i < CONFIG_COUNT; i++) {
        assert_int_equal(!again->texts[i], !c->texts[i]);
        if (c->texts[i]) assert_string_equal(again->texts[i], c->texts[i]);
    }
    free(last);
    free(text);
    end(again);
}

static void accept(const char *text, const char *shown)
{
    struct task t;
    struct config *c = start(&t);
    if (config_read_text(c, &t, "c.toml", text, strlen(text)) != CUZK_OK) {
        fail_msg("%s: %s", text, t.error.text);
    }
    char *out = printed(c);
    if (!strstr(out, shown)) fail_msg("no '%s' in %s", shown, out);
    free(out);
    expect_readable(c);
    end(c);
}

static void accept_flag(const char *flag, const char *value, const char *shown)
{
    struct task t;
    struct config *c = start(&t);
    char *argv[] = { (char *)flag, (char *)value };
    int used;
    if (config_flag(c, &t, 2, argv, &used) != CUZK_OK) fail_msg("%s: %s", value, t.error.text);
    char *out = printed(c);
    if (!strstr(out, shown)) fail_msg("no '%s' in %s", shown, out);
    free(out);
    expect_readable(c);
    end(c);
}

static void refuse(const char *text, const char *what)
{
    struct task t;
    struct config *c = start(&t);
    assert_int_equal(config_read_text(c, &t, "c.toml", text, strlen(text)), CUZK_INVALID_ARGUMENT);
    if (!strstr(t.error.text, what)) fail_msg("%s: %s", text, t.error.text);
    assert_string_equal(t.error.path, "c.toml");
    end(c);
}

static void refuse_flag(const char *flag, const char *value, const char *what)
{
    struct task t;
    struct config *c = start(&t);
    char *argv[] = { (char *)flag, (char *)value };
    int used;
    assert_int_equal(config_flag(c, &t, 2, argv, &used), CUZK_INVALID_ARGUMENT);
    if (!strstr(t.error.text, what)) fail_msg("%s: %s", value, t.error.text);
    end(c);
}

static void lists_have_no_empty_item(void **state)
{
    (void)state;
    static const char *const keys[] = { "daemon.listen", "srs.preload" };
    for (size_t i = 0; i < 2; i++) {
        static const char *const values[] = {
            "\"a:1,\"",        "\",a:1\"",        "\"a:1,,b:2\"", "\",\"",        "\",,\"",
            "[\"a:1\", \"\"]", "[\"\", \"a:1\"]", "[\"\"]",       "[\"\", \"\"]", "[\"a:1\", \"\", \"b:2\"]"
        };
        for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
            char text[128], what[64];
            snprintf(text, sizeof text, "\n%s = %s\n", keys[i], values[j]);
            snprintf(what, sizeof what, "line 2: %s has an empty item", keys[i]);
            refuse(text, what);
        }
    }
    refuse_flag("--preload", "a,", "--preload has an empty item");
    refuse_flag("--listen", ",a:1", "--listen has an empty item");
    accept("srs.preload = \"\"", "preload = []\n");
    accept("srs.preload = []", "preload = []\n");
    accept_flag("--preload", "", "preload = []\n");
}

static void items_are_kept_whole_or_refused(void **state)
{
    (void)state;
    char item[CONFIG_ITEM_BYTES + 1] = "", text[2 * CONFIG_ITEM_BYTES];
    memset(item, 'x', CONFIG_ITEM_BYTES - 1);
    snprintf(text, sizeof text, "srs.preload = [\"b\", \"%s\"]", item);
    accept(text, item);
    item[CONFIG_ITEM_BYTES - 1] = 'x';
    snprintf(text, sizeof text, "srs.preload = [\"b\", \"%s\"]", item);
    refuse(text, "line 1: srs.preload has an item of 512 bytes, and 511 is the most");
    refuse_flag("--preload", item, "--preload has an item of 512 bytes, and 511 is the most");

    char many[3 * CONFIG_LIST_MOST + 32] = "srs.preload = \"a";
    for (size_t i = 1; i < CONFIG_LIST_MOST; i++) strcat(many, ",a");
    strcat(many, "\"");
    accept(many, "\"a\", \"a\"");
    many[strlen(many) - 1] = '\0';
    strcat(many, ",a\"");
    refuse(many, "line 1: srs.preload has more than 256 items");
    refuse_flag("--preload", strchr(many, '"') + 1, "--preload has more than 256 items");
}

static void an_address_that_is_none_is_refused_where_it_stands(void **state)
{
    (void)state;
    static const char *const values[] = { "a",        "a:",    ":1",     "a:b",   "a:65536",
                                          "a:000001", "::1:1", "[::1:1", "[]:1",  "a b:1",
                                          " a:1",     "a|b:1", "a:1 ",   "a/b:1", "h\xc3\xa9:1" };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[128], what[128];
        snprintf(text, sizeof text, "[daemon]\n\nlisten = [\"localhost:1\", \"%s\"]\n", values[i]);
        snprintf(what, sizeof what, "line 3: daemon.listen names no address: '%s' is not an address",
                 values[i]);
        refuse(text, what);
        refuse_flag("--listen", values[i], "--listen names no address: ");
    }
    refuse("daemon.listen = \"unix:\"",
           "line 1: daemon.listen names no address: the address 'unix:' names no socket");
    accept("daemon.listen = \"h:0,[::1]:65535,[fe80::1%eth0]:1,unix:/a,unix:///b c\"",
           "[\"h:0\", \"[::1]:65535\", \"[fe80::1%eth0]:1\", \"unix:/a\", \"unix:///b c\"]");
    accept("daemon.listen = ['unix:///a,\"\\b']", "[\"unix:///a,\\\"\\\\b\"]");
}

static void numbers_are_printed_as_toml_writes_them(void **state)
{
    (void)state;
    accept_flag("--gpus.devices", "007,0,00,63", "devices = [7, 0, 0, 63]\n");
    accept_flag("--gpus.devices", "0", "devices = [0]\n");
    accept_flag("--gpus.devices", "", "devices = []\n");
    accept_flag("--lanes", "007", "lanes = 7\n");
    accept("gpus.devices = [+1, 0x3f]", "devices = [1, 63]\n");
    refuse_flag("--gpus.devices", "1,", "takes whole numbers from 0 to 63, not ''");
    refuse_flag("--gpus.devices", "0000000001", "takes whole numbers");
}

static void texts_are_one_line_of_utf8(void **state)
{
    (void)state;
    refuse_flag("--data", "a\nb", "--data has a control character");
    refuse_flag("--data", "a\x7f", "--data has a control character");
    refuse_flag("--data", "a\xff", "--data is not UTF-8");
    refuse_flag("--data", "\xc0\x80", "--data is not UTF-8");
    refuse_flag("--data", "\xed\xa0\x80", "--data is not UTF-8");
    refuse_flag("--circuit", "a=\xff", "--circuit is not UTF-8");
    refuse_flag("--preload", "\xe2\x82", "--preload is not UTF-8");
    refuse_flag("--backend", "", "--backend takes a text, not an empty one");
    refuse("engine.backend = \"\"", "line 1: engine.backend takes a text, not an empty one");
    accept_flag("--data", "\xf0\x9f\x98\x80\"\\", "data = \"\xf0\x9f\x98\x80\\\"\\\\\"\n");
    accept("jobs.data = \"\\u00e9\\U0001F600\\u0085\\ufffe\"",
           "data = \"\xc3\xa9\xf0\x9f\x98\x80\xc2\x85\xef\xbf\xbe\"\n");
}

/* Every key that takes a value, in bounds and at them. */
static void every_key_is_printed_as_it_was_read(void **state)
{
    (void)state;
    static const struct {
        const char *table, *key, *kind, *standard;
        uint64_t least, most;
    } rows[] = {
#define X(id, table, key, kind, flag, standard, least, most, help) \
    { table, key, #kind, standard, least, most },
#include "server/config.def"
#undef X
    };
    struct prng g;
    prng_init(&g);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t range = rows[i].most - rows[i].least, most = rows[i].most;
        const uint64_t numbers[] = { rows[i].least, most,
                                     rows[i].least + (range ? prng_u64(&g) % range : 0) };
        for (size_t j = 0; j < 3; j++) {
            char value[128] = "", text[256];
            if (!strcmp(rows[i].kind, "COUNT") || !strcmp(rows[i].kind, "BYTES"))
                snprintf(value, sizeof value, "%llu", (unsigned long long)numbers[j]);
            else if (!strcmp(rows[i].kind, "TIME"))
                snprintf(value, sizeof value, "\"%llums\"", (unsigned long long)numbers[j]);
            else if (!strcmp(rows[i].kind, "NUMBERS"))
                snprintf(value, sizeof value, "[%llu, %llu]", (unsigned long long)numbers[j],
                         (unsigned long long)numbers[0]);
            else if (!strcmp(rows[i].kind, "ADDRESSES"))
                snprintf(value, sizeof value, "\"unix:///%zu,h:%zu\"", j, i);
            else if (!strcmp(rows[i].kind, "LIST"))
                snprintf(value, sizeof value, "[\"%zu,\", \" %zu\", \",\"]", j, i);
            else if (!strcmp(rows[i].kind, "TEXT"))
                snprintf(value, sizeof value, "'%zu \\ \" [] #, %zu'", j, i);
            else if (!strcmp(rows[i].kind, "TRUTH"))
                snprintf(value, sizeof value, "%s", j ? "true" : "false");
            else if (!strcmp(rows[i].kind, "CHOICE"))
                snprintf(value, sizeof value, "\"%s\"", rows[i].standard);
            else
                assert_string_equal(rows[i].kind, "IGNORED");
            if (!value[0]) continue;
            snprintf(text, sizeof text, "%s.%s = %s\n", rows[i].table, rows[i].key, value);
            accept(text, rows[i].key);
        }
    }
}

static void a_printed_file_warns_of_nothing_that_was_not_said(void **state)
{
    (void)state;
    struct task t;
    warnings[0] = '\0';
    struct config *c = start(&t);
    char *text = printed(c);
    assert_int_equal(config_read_text(c, &t, "c.toml", text, strlen(text)), CUZK_OK);
    assert_int_equal(config_check(c, &t), CUZK_OK);
    assert_string_equal(warnings, "");
    free(text);
    static const char devices[] = "gpus = { devices = [1], memory = 1, gpu_workers_per_device = 1 }\n";
    assert_int_equal(config_read_text(c, &t, "c.toml", devices, strlen(devices)), CUZK_OK);
    assert_int_equal(config_check(c, &t), CUZK_OK);
    for (const char *const *key =
             (const char *const[]){ "devices", "memory", "gpu_workers_per_device", NULL };
         *key; key++) {
        char what[96];
        snprintf(what, sizeof what, "gpus.%s has no effect: [engine] backend is cpu\n", *key);
        assert_non_null(strstr(warnings, what));
    }
    end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_no_empty_item),
        cmocka_unit_test(items_are_kept_whole_or_refused),
        cmocka_unit_test(an_address_that_is_none_is_refused_where_it_stands),
        cmocka_unit_test(numbers_are_printed_as_toml_writes_them),
        cmocka_unit_test(texts_are_one_line_of_utf8),
        cmocka_unit_test(every_key_is_printed_as_it_was_read),
        cmocka_unit_test(a_printed_file_warns_of_nothing_that_was_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
