/* Files in and out: mapped, piped, missing, replaced whole, and nothing left behind after a failure. */
#include "support/cm.h"
#include "base/mapfile.h"
#include "base/mapguard.h"
#include "base/tempfile.h"
#include "support/prng.h"
#include "support/temp_folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>

#define BIG_BYTES 300001

static struct prng prng;
static struct temp_folder folder;
static uint8_t big[BIG_BYTES];

static int make_folder(void **state)
{
    (void)state;
    temp_folder_create(&folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    temp_folder_remove(&folder);
    return 0;
}

static size_t entries(void)
{
    DIR *d = opendir(folder.path);
    size_t n = 0;
    while (readdir(d) != NULL) n++;
    closedir(d);
    return n - 2;
}

static void assert_contents(const char *path, const void *data, size_t bytes)
{
    struct task t;
    struct mapfile f;
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_OK);
    assert_int_equal(f.bytes.size, bytes);
    assert_memory_equal(f.bytes.data, data, bytes);
    mapfile_close(&f);
}

static void written_then_mapped(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct task t;
    struct mapfile f;
    struct stat st;
    temp_folder_path(path, &folder, "a");
    task_init(&t);
    assert_int_equal(mapfile_write(&t, path, big, sizeof big, 0640), CUZK_OK);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_true(f.mapped);
    assert_string_equal(f.path, path);
    assert_true(f.inode == st.st_ino && f.device == st.st_dev);
    assert_true(f.mtime_ns / 1000000000 == (uint64_t)st.st_mtim.tv_sec);
    assert_int_equal(f.bytes.size, sizeof big);
    assert_memory_equal(f.bytes.data, big, sizeof big);
    mapfile_close(&f);
    assert_null(f.bytes.data);
    mapfile_close(&f);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(st.st_mode & 0777, 0640 & ~mask);
    assert_int_equal(entries(), 1);
}

static void empty_file_empty_span(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct task t;
    temp_folder_path(path, &folder, "empty");
    task_init(&t);
    assert_int_equal(mapfile_write(&t, path, NULL, 0, 0600), CUZK_OK);
    assert_contents(path, "", 0);
}

static void files_of_proc_are_read(void **state)
{
    (void)state;
    struct task t;
    struct mapfile f;
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, "/proc/self/status"), CUZK_OK);
    assert_true(f.bytes.size > 100);
    assert_memory_equal(f.bytes.data, "Name:", 5);
    mapfile_close(&f);
}

static void refusals_name_path_and_reason(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct task t;
    struct mapfile f;
    temp_folder_path(path, &folder, "missing");
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_NOT_FOUND);
    assert_string_equal(t.error.path, path);
    assert_int_equal(t.error.sys_errno, ENOENT);
    assert_non_null(strstr(t.error.text, "No such file"));
    mapfile_close(&f);

    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, folder.path), CUZK_IO);
    assert_int_equal(t.error.sys_errno, EISDIR);
    assert_non_null(strstr(t.error.text, "directory"));

    task_init(&t);
    temp_folder_path(path, &folder, "no/such/folder");
    assert_int_equal(mapfile_write(&t, path, "x", 1, 0600), CUZK_NOT_FOUND);
    assert_string_equal(t.error.path, path);

    task_init(&t);
    assert_int_equal(mapfile_write(&t, folder.path, "x", 1, 0600), CUZK_IO);

    char longer[PATH_MAX + 100];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    task_init(&t);
    assert_int_equal(mapfile_write(&t, longer, "x", 1, 0600), CUZK_IO);
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, longer), CUZK_IO);
    assert_int_equal(entries(), 0);
}

struct feed {
    int fd;
    size_t bytes;
};

static void *feed_main(void *argument)
{
    struct feed *f = argument;
    for (size_t at = 0; at < f->bytes;) {
        size_t n = f->bytes - at < 7777 ? f->bytes - at : 7777;
        ssize_t done = write(f->fd, big + at, n);
        if (done <= 0) break;
        at += (size_t)done;
    }
    close(f->fd);
    return NULL;
}

static void pipes_are_read_to_the_end(void **state)
{
    (void)state;
    size_t sizes[] = { 0, 1, 65535, 65536, 65537, BIG_BYTES };
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        int ends[2];
        char path[64];
        pthread_t thread;
        assert_int_equal(pipe(ends), 0);
        struct feed feed = { ends[1], sizes[i] };
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        assert_int_equal(pthread_create(&thread, NULL, feed_main, &feed), 0);
        struct task t;
        struct mapfile f;
        task_init(&t);
        cuzk_status status = mapfile_open(&f, &t, path);
        pthread_join(thread, NULL);
        close(ends[0]);
        assert_int_equal(status, CUZK_OK);
        assert_false(f.mapped);
        assert_int_equal(f.bytes.size, sizes[i]);
        assert_memory_equal(f.bytes.data, big, sizes[i]);
        mapfile_close(&f);
    }
}

/* Said ahead is what mapfile_write then says, and nothing is left behind. */
static void writing_is_foretold(void **state)
{
    (void)state;
    char good[PATH_MAX], missing[PATH_MAX], beneath[PATH_MAX];
    temp_folder_path(good, &folder, "new");
    temp_folder_path(missing, &folder, "no/such");
    temp_folder_path(beneath, &folder, "new/x");
    const char *const paths[] = { missing, folder.path, beneath, "", "-", "/dev/null", "/", "/no/such" };
    for (int exists = 0; exists < 2; exists++) {
        struct task t, u;
        for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
            task_init(&t);
            task_init(&u);
            const size_t before = entries();
            const cuzk_status said = mapfile_check_writable(&t, paths[i]);
            assert_int_equal(mapfile_write(&u, paths[i], "", 0, 0600), said);
            assert_string_equal(t.error.advice, u.error.advice);
            assert_int_equal(entries(), before);
        }
        task_init(&t);
        assert_int_equal(mapfile_check_writable(&t, good), CUZK_OK);
        assert_int_equal(entries(), exists);
        assert_int_equal(mapfile_write(&t, good, "x", 1, 0600), CUZK_OK);
    }
    assert_int_equal(unlink(good), 0);
}

static void what_never_ends_is_refused(void **state)
{
    (void)state;
    struct task t;
    struct mapfile f;
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, "/dev/zero"), CUZK_TOO_LARGE);
    assert_string_equal(t.error.path, "/dev/zero");
    assert_non_null(strstr(t.error.text, "67108864"));
    assert_null(f.bytes.data);
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, "/dev/null"), CUZK_OK);
    assert_int_equal(f.bytes.size, 0);
    mapfile_close(&f);
}

static void refusals_say_what_to_do(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct task t;
    struct mapfile f;
    temp_folder_path(path, &folder, "missing");
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_NOT_FOUND);
    assert_non_null(strstr(t.error.advice, "path"));
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, folder.path), CUZK_IO);
    assert_non_null(strstr(t.error.advice, "not a folder"));
    task_init(&t);
    assert_int_equal(mapfile_write(&t, "/dev/full", "x", 1, 0600), CUZK_IO);
    assert_non_null(strstr(t.error.advice, "free space"));
    task_init(&t);
    temp_folder_path(path, &folder, "round");
    assert_int_equal(symlink("round", path), 0);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_IO);
    assert_non_null(strstr(t.error.advice, "circle"));
}

static void dash_reads_standard_input(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct task t;
    struct mapfile f;
    temp_folder_path(path, &folder, "in");
    task_init(&t);
    assert_int_equal(mapfile_write(&t, path, big, 1000, 0600), CUZK_OK);
    int kept = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    dup2(fd, STDIN_FILENO);
    cuzk_status whole = mapfile_open(&f, &t, "-");
    bool whole_right = whole == CUZK_OK && f.bytes.size == 1000 && memcmp(f.bytes.data, big, 1000) == 0;
    mapfile_close(&f);
    lseek(fd, 400, SEEK_SET); /* somebody before us read 400 bytes */
    cuzk_status rest = mapfile_open(&f, &t, "-");
    bool rest_right = rest == CUZK_OK && f.bytes.size == 600 && memcmp(f.bytes.data, big + 400, 600) == 0;
    mapfile_close(&f);
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(fd);
    assert_true(whole_right);
    assert_true(rest_right);
}

static void standard_output_under_its_names(void **state)
{
    (void)state;
    char path[PATH_MAX];
    temp_folder_path(path, &folder, "out");
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), fd = open(path, O_RDWR | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    struct task t;
    task_init(&t);
    cuzk_status a = mapfile_write(&t, "-", "one ", 4, 0600);
    cuzk_status b = mapfile_write(&t, "/dev/stdout", "two ", 4, 0600);
    cuzk_status c = mapfile_write(&t, "/dev/fd/1", "three ", 6, 0600);
    cuzk_status d = mapfile_write(&t, "/proc/self/fd/1", "four", 4, 0600);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(fd);
    assert_true(a == CUZK_OK && b == CUZK_OK && c == CUZK_OK && d == CUZK_OK);
    assert_contents(path, "one two three four", 18);
    assert_int_equal(entries(), 1);
}

/* Reads a pipe to its end, then looks for the other output. */
struct pipe_reader {
    char pipe[PATH_MAX], other[PATH_MAX];
    bool there;
};
static void *read_to_the_end(void *context)
{
    struct pipe_reader *r = context;
    char got[8];
    const int fd = open(r->pipe, O_RDONLY);
    while (read(fd, got, sizeof got) > 0) {}
    r->there = access(r->other, F_OK) == 0;
    close(fd);
    return NULL;
}

static void devices_and_pipes_are_written_directly(void **state)
{
    (void)state;
    struct task t;
    struct stat st;
    task_init(&t);
    assert_int_equal(mapfile_write(&t, "/dev/null", big, sizeof big, 0600), CUZK_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));

    char path[PATH_MAX];
    temp_folder_path(path, &folder, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(mapfile_write(&t, path, "hello", 5, 0600), CUZK_OK);
    char got[8];
    assert_int_equal(read(reader, got, sizeof got), 5);
    assert_memory_equal(got, "hello", 5);
    close(reader);
    assert_int_equal(entries(), 1);

    struct pipe_reader r = { .there = false };
    pthread_t thread;
    memcpy(r.pipe, path, sizeof path);
    temp_folder_path(r.other, &folder, "other");
    const struct mapfile_output both[] = { { r.pipe, "hello", 5, 0600 }, { r.other, "you", 3, 0600 } };
    assert_int_equal(pthread_create(&thread, NULL, read_to_the_end, &r), 0);
    assert_int_equal(mapfile_write_together(&t, both, 2), CUZK_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(r.there);
}

static void a_full_device_is_an_error(void **state)
{
    (void)state;
    struct task t;
    if (access("/dev/full", W_OK) != 0) {
        print_message("skipped: no /dev/full\n");
        skip();
    }
    task_init(&t);
    assert_int_equal(mapfile_write(&t, "/dev/full", "x", 1, 0600), CUZK_IO);
    assert_int_equal(t.error.sys_errno, ENOSPC);
}

static void a_failed_write_keeps_the_old_file(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct task t;
    temp_folder_path(path, &folder, "kept");
    task_init(&t);
    assert_int_equal(mapfile_write(&t, path, "old", 3, 0600), CUZK_OK);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    fflush(stdout);
    setrlimit(RLIMIT_FSIZE, &small);
    cuzk_status status = mapfile_write(&t, path, big, sizeof big, 0600);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, CUZK_IO);
    assert_int_equal(t.error.sys_errno, EFBIG);
    assert_contents(path, "old", 3);
    assert_int_equal(entries(), 1);
}

/* What goes wrong with one of two outputs, when writing or in the very end, leaves both as they were. */
static void outputs_are_written_together_or_not_at_all(void **state)
{
    (void)state;
    char a[PATH_MAX], b[PATH_MAX];
    struct task t;
    temp_folder_path(a, &folder, "a");
    temp_folder_path(b, &folder, "b");
    for (int existed = 0; existed < 2; existed++) {
        const size_t before = entries();
        const char *const bad[] = { "/dev/full", folder.path, "/no/such" };
        for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
            for (int first = 0; first < 2; first++) {
                const struct mapfile_output good = { a, "new", 3, 0600 }, broken = { bad[i], "x", 1, 0600 },
                                            both[] = { first ? good : broken, first ? broken : good };
                task_init(&t);
                assert_int_not_equal(mapfile_write_together(&t, both, 2), CUZK_OK);
                assert_int_equal(entries(), before);
                if (existed) assert_contents(a, "old", 3);
            }
        /* The last name cannot be given when the first one has been: a folder has taken it meanwhile. */
        struct tempfile files[2];
        size_t at;
        task_init(&t);
        assert_int_equal(tempfile_open(&files[0], &t, a, 0600), 0);
        assert_int_equal(tempfile_open(&files[1], &t, b, 0600), 0);
        assert_int_equal(write(files[0].fd, "new", 3), 3);
        assert_int_equal(mkdir(b, 0700), 0);
        assert_int_not_equal(tempfile_commit((struct tempfile *const[]){ &files[0], &files[1] }, 2, &at), 0);
        assert_int_equal(at, 1);
        assert_int_equal(rmdir(b), 0);
        assert_int_equal(entries(), before);
        if (existed) assert_contents(a, "old", 3);
        const struct mapfile_output both[] = { { a, "old", 3, 0600 }, { b, "more", 4, 0600 } };
        assert_int_equal(mapfile_write_together(&t, both, 2), CUZK_OK);
        assert_contents(a, "old", 3);
        assert_contents(b, "more", 4);
        assert_int_equal(unlink(b), 0);
        assert_int_equal(entries(), 1);
    }
}

/* Where a file in the making has a name, a signal's handler finds it, and what is done is not touched. */
static void files_in_the_making_are_removed_by_a_signal(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct tempfile f;
    struct task t;
    size_t at;
    temp_folder_path(path, &folder, "made");
    task_init(&t);
    for (int i = 0; i < 100; i++) { /* more than there are places */
        assert_int_equal(tempfile_open(&f, &t, path, 0600), 0);
        if (!f.named) { /* as on a file system that knows no files without one */
            const int fd = open(f.temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
            assert_true(fd >= 0);
            close(fd);
        }
        tempfile_remove_all();
        assert_int_equal(entries(), 0);
        tempfile_discard(&f);
    }
    assert_int_equal(tempfile_open(&f, &t, path, 0600), 0);
    assert_int_equal(tempfile_commit((struct tempfile *const[]){ &f }, 1, &at), 0);
    tempfile_remove_all();
    assert_int_equal(entries(), 1);
}

static void an_open_file_survives_its_replacement(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct task t;
    struct mapfile f;
    temp_folder_path(path, &folder, "a");
    task_init(&t);
    assert_int_equal(mapfile_write(&t, path, big, 5000, 0600), CUZK_OK);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_OK);
    assert_int_equal(mapfile_write(&t, path, "new", 3, 0600), CUZK_OK);
    assert_memory_equal(f.bytes.data, big, 5000);
    mapfile_close(&f);
    assert_contents(path, "new", 3);
}

static void a_link_keeps_pointing_to_its_file(void **state)
{
    (void)state;
    char path[PATH_MAX], link[PATH_MAX];
    struct task t;
    struct stat st;
    temp_folder_path(path, &folder, "target");
    temp_folder_path(link, &folder, "link");
    task_init(&t);
    assert_int_equal(mapfile_write(&t, path, "old", 3, 0600), CUZK_OK);
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(mapfile_write(&t, link, "new", 3, 0600), CUZK_OK);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_contents(path, "new", 3);
}

/* Cut short while it is mapped: zeros, a mark, the path; other mappings are as they were. */
static void a_file_that_is_cut_is_found_out(void **state)
{
    (void)state;
    char path[PATH_MAX], other[PATH_MAX];
    struct mapfile f, g;
    struct task t;
    mapguard_start(); /* here: cmocka takes the signals over before each case */
    task_init(&t);
    temp_folder_path(path, &folder, "cut");
    temp_folder_path(other, &folder, "whole");
    assert_int_equal(mapfile_write(&t, path, big, sizeof big, 0600), CUZK_OK);
    assert_int_equal(mapfile_write(&t, other, big, sizeof big, 0600), CUZK_OK);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_OK);
    assert_int_equal(mapfile_open(&g, &t, other), CUZK_OK);
    assert_int_equal(mapfile_check(&t, &f), CUZK_OK);
    assert_null(mapguard_lost());
    assert_int_equal(truncate(path, 5000), 0);
    const volatile uint8_t *p = f.bytes.data;
    for (size_t i = 16384; i < sizeof big; i++) assert_int_equal(p[i], 0);
    for (size_t i = 0; i < 5000; i++) assert_int_equal(p[i], big[i]);
    assert_string_equal(mapguard_lost(), path);
    assert_int_equal(mapfile_check(&t, &f), CUZK_IO);
    assert_non_null(strstr(t.error.text, "cut short"));
    assert_string_equal(t.error.path, path);
    task_init(&t);
    assert_int_equal(mapfile_check(&t, &g), CUZK_OK);
    assert_memory_equal(g.bytes.data, big, sizeof big);
    mapfile_close(&f);
    mapfile_close(&g);
}

static void a_file_that_is_written_to_is_found_out(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct mapfile f;
    struct task t;
    const struct timespec times[2] = { { 1000, 0 }, { 1000, 0 } };
    task_init(&t);
    temp_folder_path(path, &folder, "rewritten");
    assert_int_equal(mapfile_write(&t, path, big, sizeof big, 0600), CUZK_OK);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_OK);
    const int fd = open(path, O_WRONLY);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_int_equal(mapfile_check(&t, &f), CUZK_IO);
    assert_non_null(strstr(t.error.text, "written to"));
    mapfile_close(&f);
    task_init(&t);
    assert_int_equal(mapfile_open(&f, &t, path), CUZK_OK);
    assert_int_equal(mapfile_write(&t, path, big, 1000, 0600),
                     CUZK_OK); /* by another file: the mapping keeps the old one */
    assert_int_equal(mapfile_check(&t, &f), CUZK_OK);
    assert_int_equal(f.bytes.size, sizeof big);
    mapfile_close(&f);
}

int main(void)
{
    prng_init(&prng);
    prng_bytes(&prng, big, sizeof big);
#define T(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        T(written_then_mapped),
        T(empty_file_empty_span),
        T(files_of_proc_are_read),
        T(refusals_name_path_and_reason),
        T(refusals_say_what_to_do),
        T(writing_is_foretold),
        T(what_never_ends_is_refused),
        T(pipes_are_read_to_the_end),
        T(dash_reads_standard_input),
        T(standard_output_under_its_names),
        T(devices_and_pipes_are_written_directly),
        T(a_full_device_is_an_error),
        T(a_failed_write_keeps_the_old_file),
        T(outputs_are_written_together_or_not_at_all),
        T(files_in_the_making_are_removed_by_a_signal),
        T(an_open_file_survives_its_replacement),
        T(a_link_keeps_pointing_to_its_file),
        T(a_file_that_is_cut_is_found_out),
        T(a_file_that_is_written_to_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
