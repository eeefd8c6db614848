/* Log lines as another program reads them from standard error. */
#include "support/cm.h"
#include "base/log.h"
#include "base/task.h"
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITERS 4
#define LINES   200

static int kept_stderr;
static FILE *capture;

static void capture_start(void)
{
    capture = tmpfile();
    fflush(stderr);
    kept_stderr = dup(STDERR_FILENO);
    dup2(fileno(capture), STDERR_FILENO);
}

/* What was written since capture_start; the caller frees it. */
static char *capture_end(void)
{
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    fseek(capture, 0, SEEK_END);
    long size = ftell(capture);
    rewind(capture);
    char *text = calloc(1, (size_t)size + 1);
    if (text == NULL || fread(text, 1, (size_t)size, capture) != (size_t)size) abort();
    fclose(capture);
    return text;
}

static void text_lines_have_time_level_and_tag(void **state)
{
    (void)state;
    struct task t;
    task_init(&t);
    t.tag = "job 7";
    log_setup(LOG_INFO, LOG_TEXT);
    capture_start();
    log_info(&t, "%d of %d", 3, 5);
    log_warn(NULL, "no tag");
    log_debug(&t, "not shown");
    char *text = capture_end();
    int year, month, day, hour, minute, second, ms, end = 0;
    assert_int_equal(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ info job 7: 3 of 5%n", &year, &month, &day,
                            &hour, &minute, &second, &ms, &end),
                     7);
    assert_true(end > 0 && text[end] == '\n');
    assert_non_null(strstr(text, "Z warn no tag\n"));
    assert_null(strstr(text, "not shown"));
    free(text);
}

static void levels_above_the_limit_are_silent(void **state)
{
    (void)state;
    log_setup(LOG_ERROR, LOG_TEXT);
    assert_true(log_enabled(LOG_ERROR));
    assert_false(log_enabled(LOG_WARN));
    capture_start();
    log_warn(NULL, "quiet");
    log_line(NULL, LOG_ERROR, "loud");
    char *text = capture_end();
    assert_null(strstr(text, "quiet"));
    assert_non_null(strstr(text, " error loud\n"));
    free(text);
    log_setup(LOG_DEBUG, LOG_TEXT);
    capture_start();
    log_debug(NULL, "now shown");
    text = capture_end();
    assert_non_null(strstr(text, " debug now shown\n"));
    free(text);
}

static void hostile_text_stays_one_json_line(void **state)
{
    (void)state;
    struct task t;
    task_init(&t);
    t.tag = "a\"b\\c";
    log_setup(LOG_INFO, LOG_JSON);
    capture_start();
    log_info(&t, "%s", "line\nbreak \x1b[31m \"quoted\" \\ \xc3\xa4 \xff \xc0\x80 \xed\xa0\x80 \xe2\x82");
    char *text = capture_end();
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    json_t *line = json_loads(text, 0, NULL); /* refuses invalid UTF-8 and control characters */
    assert_non_null(line);
    assert_string_equal(json_string_value(json_object_get(line, "level")), "info");
    assert_string_equal(json_string_value(json_object_get(line, "tag")), "a\"b\\c");
    assert_string_equal(json_string_value(json_object_get(line, "text")),
                        "line?break ?[31m \"quoted\" \\ \xc3\xa4 ? ?? ??? ??");
    json_decref(line);
    free(text);
}

static void long_text_is_cut_and_still_json(void **state)
{
    (void)state;
    static char longer[10000];
    memset(longer, '"', sizeof longer - 1); /* doubles when escaped */
    struct task t;
    task_init(&t);
    t.tag = longer;
    log_setup(LOG_INFO, LOG_JSON);
    capture_start();
    log_info(&t, "%s", longer);
    char *text = capture_end();
    json_t *line = json_loads(text, 0, NULL);
    assert_non_null(line);
    assert_true(strlen(json_string_value(json_object_get(line, "text"))) > 500);
    json_decref(line);
    free(text);
}

static void *writer_main(void *argument)
{
    for (int i = 0; i < LINES; i++) log_info(NULL, "%s", (const char *)argument);
    return NULL;
}

static void lines_of_threads_do_not_mix(void **state)
{
    (void)state;
    pthread_t threads[WRITERS];
    log_setup(LOG_INFO, LOG_TEXT);
    capture_start();
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, writer_main, "abcdefghijklmnopqrstuvwxyz");
    for (int i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);
    char *text = capture_end();
    int lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++)
        assert_string_equal(line + strlen("2026-01-01T00:00:00.000Z"), " info abcdefghijklmnopqrstuvwxyz");
    assert_int_equal(lines, WRITERS * LINES);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_lines_have_time_level_and_tag),
        cmocka_unit_test(levels_above_the_limit_are_silent),
        cmocka_unit_test(hostile_text_stays_one_json_line),
        cmocka_unit_test(long_text_is_cut_and_still_json),
        cmocka_unit_test(lines_of_threads_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
