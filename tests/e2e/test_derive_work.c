/* Derivations that are interrupted and go on: after every pass, by a signal at any moment, on another backend; files of checkpoints that are
 * damaged, foreign, not one's own or have no room.  Whatever happens the derived key has the bytes of one that was made at once.
 *
 * Use: test_derive_work [emulated], as test_derive_work_cuda on a GPU, and by itself: test_derive_work --derive BACKEND KEY R1CS OUT. */
#include "support/cm.h"
#include "base/bytes.h"
#include "groth16/derive_fold.h"
#include "groth16/derive_work.h"
#include "groth16/key_derived.h"
#include "groth16/setup.h"
#include "support/oracle.h"
#include "support/proving.h"
#include "support/small_image.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#if defined(CUZK_CUDA_EMULATED)
#include "cuda_host.h"
#endif

#define PAGE 4096

static struct proving proving; /* on the CPU: set-up, and what to compare with */
static const struct backend *deriver;
static struct device *device; /* of deriver */
static const char *self;

struct sample {
    struct random_circuit circuit;
    char r1cs[PATH_MAX], key[PATH_MAX], out[PATH_MAX + 16], work[PATH_MAX + 32];
    uint8_t *expected; /* bytes of the derived key */
    size_t bytes;
};

static int open_proving(void **state)
{
    const struct device_options options = { .memory_bytes =
                                                deriver->reads_host_memory ? 0 : (size_t)1 << 30 };
    struct task t;

    (void)state;
    proving_open(&proving, "cpu");
    setenv("XDG_CACHE_HOME", proving.folder.path, 1);
    proving_task(&t, &proving);
    proving_must(&t, deriver->open(&device, &t, &options), "the deriving device");
    return 0;
}

static int close_proving(void **state)
{
    (void)state;
    deriver->close(device);
    proving_close(&proving);
    return 0;
}

static struct groth16_key *open_key(const struct sample *s)
{
    return proving_key_open(&proving, s->key, s->r1cs);
}

/* What a derivation told. */
struct told {
    char text[4096];
    unsigned checkpoints;
    atomic_bool cancel;
    unsigned cancel_after;      /* checkpoints */
    const struct rlimit *limit; /* NULL, or on the size of files, from when the derived key has its space */
};

static void told_note(void *context, const char *text)
{
    struct told *told = context;
    const size_t n = strlen(told->text);

    snprintf(told->text + n, sizeof told->text - n, "%s\n", text);
}

static void told_stage(void *context, const char *stage, double ms)
{
    struct told *told = context;

    assert_true(ms >= 0);
    if (told->limit != NULL && strcmp(stage, "points of H") == 0)
        assert_int_equal(setrlimit(RLIMIT_FSIZE, told->limit), 0);
    if (strcmp(stage, "checkpoint") != 0) return;
    if (++told->checkpoints == told->cancel_after) atomic_store(&told->cancel, true);
}

static cuzk_status derive_on(struct task *t, const struct sample *s, struct told *told,
                             uint64_t checkpoint_ms, const struct backend *backend, struct device *on)
{
    const struct groth16_derive_options options = { checkpoint_ms, told_stage, told_note, told };
    struct groth16_key *key = open_key(s);

    told->text[0] = '\0';
    told->checkpoints = 0;
    atomic_store(&told->cancel, false);
    proving_task(t, &proving);
    t->cancel = &told->cancel;
    const cuzk_status status = groth16_derive(t, key, s->out, &options, backend, on);
    groth16_key_unref(key);
    return status;
}

static cuzk_status derive(struct task *t, const struct sample *s, struct told *told, uint64_t checkpoint_ms)
{
    return derive_on(t, s, told, checkpoint_ms, deriver, device);
}

static void sample_make(struct sample *s, const struct curve *c, enum root_convention layout, unsigned log2,
                        const char *name)
{
    const uint32_t publics = log2 < 4 ? 0 : 3;
    const struct random_circuit_options o = { c, (1u << log2) - publics - 1, publics,
                                              layout == ROOT_SNARKJS };
    struct trapdoor secrets;
    struct told told = { .text = "" };
    char file[64];
    struct task t;

    random_circuit_make(&s->circuit, &proving.random, &o);
    proving_secrets(&secrets, &proving, c, layout);
    groth16_key_unref(proving_key(&proving, &s->circuit, &secrets, name));
    snprintf(file, sizeof file, "%s.r1cs", name);
    temp_folder_path(s->r1cs, &proving.folder, file);
    snprintf(file, sizeof file, "%s.%s", name, layout == ROOT_BELLMAN ? "params" : "zkey");
    temp_folder_path(s->key, &proving.folder, file);
    snprintf(s->out, sizeof s->out, "%s" DERIVED_SUFFIX, s->key);
    snprintf(s->work, sizeof s->work, "%s" DERIVE_WORK_SUFFIX, s->out);
    unlink(s->work);
    proving_must(&t, derive_on(&t, s, &told, DERIVE_NO_CHECKPOINT, proving.backend, proving.device),
                 "deriving at once");
    assert_int_equal(told.checkpoints, 0);
    s->expected = proving_read_file(s->out, &s->bytes);
    unlink(s->out);
}

static void sample_free(struct sample *s)
{
    unlink(s->out);
    unlink(s->work);
    free(s->expected);
    random_circuit_fini(&s->circuit);
}

static void is_expected(const struct sample *s, const char *path)
{
    size_t bytes;
    uint8_t *made = proving_read_file(path, &bytes);

    assert_int_equal(bytes, s->bytes);
    assert_memory_equal(made, s->expected, bytes);
    free(made);
}

/* A derivation to its end, and the bytes. */
static void finishes(const struct sample *s, struct told *told, uint64_t checkpoint_ms,
                     const struct backend *backend, struct device *on)
{
    struct task t;

    proving_must(&t, derive_on(&t, s, told, checkpoint_ms, backend, on), "deriving");
    is_expected(s, s->out);
    unlink(s->out);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

/* -- interruptions ------------------------------------------------------------------------------------------------------- */

/* Cancelled after each pass in turn, the derivation goes on with the next one, on this backend and on the CPU. */
static void each_pass(const struct curve *c, enum root_convention layout, unsigned log2)
{
    const unsigned passes = 2 * (log2 + 1);
    struct told told = { .text = "" };
    struct stat st;
    struct sample s;
    struct task t;

    sample_make(&s, c, layout, log2, "passes");
    for (unsigned at = 1; at <= passes; at++) {
        const bool other = at % 2 == 0;
        told.cancel_after = at;
        assert_int_equal(derive(&t, &s, &told, 0), CUZK_CANCELLED);
        assert_int_equal(told.checkpoints, at);
        assert_false(is_there(s.out));
        assert_int_equal(stat(s.work, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        told.cancel_after = 0;
        finishes(&s, &told, 0, other ? proving.backend : deriver, other ? proving.device : device);
        assert_int_equal(told.checkpoints, passes - at);
        assert_non_null(strstr(told.text, "goes on with transform"));
        assert_false(is_there(s.work));
    }
    /* one pass a run, to the end */
    told.cancel_after = 1;
    for (unsigned at = 1; at <= passes; at++) assert_int_equal(derive(&t, &s, &told, 0), CUZK_CANCELLED);
    told.cancel_after = 0;
    finishes(&s, &told, 0, deriver, device);
    assert_int_equal(told.checkpoints, 0);
    /* a short derivation writes none */
    finishes(&s, &told, DERIVE_CHECKPOINT_MS, deriver, device);
    assert_int_equal(told.checkpoints, 0);
    assert_false(is_there(s.work));
    sample_free(&s);
}

static void every_pass_may_be_the_last(void **state)
{
    const bool emulated = !deriver->reads_host_memory; /* a second a derivation */

    (void)state;
    each_pass(&curve_bls12_381, ROOT_BELLMAN, emulated ? 2 : 5);
    each_pass(&curve_bn254, ROOT_SNARKJS, emulated ? 2 : 5);
    if (emulated) return;
    each_pass(&curve_bls12_381, ROOT_SNARKJS, 2);
    each_pass(&curve_bls12_381, ROOT_BELLMAN, 2);
}

/* A process of its own, killed at some moment of its work, again and again; then one that may end.  What it leaves is never wrong, and a derived
 * key that has a name, if only the one that it has before its own, is whole. */
static pid_t start_child(const struct sample *s)
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child != 0) return child;
    char *const arguments[] = { (char *)(uintptr_t)self,
                                "--derive",
                                (char *)(uintptr_t)deriver->name,
                                (char *)(uintptr_t)s->key,
                                (char *)(uintptr_t)s->r1cs,
                                (char *)(uintptr_t)s->out,
                                NULL };
    execv("/proc/self/exe", arguments);
    _exit(127);
}

/* The number of the newest record, be it whole or not; 0: there is none. */
static uint64_t newest_record(const struct sample *s)
{
    uint8_t pages[3 * PAGE] = { 0 };
    const int fd = open(s->work, O_RDONLY | O_CLOEXEC);

    if (fd < 0) return 0;
    const ssize_t got = read(fd, pages, sizeof pages);
    close(fd);
    if (got != sizeof pages) return 0;
    const uint64_t even = load_le64(pages + PAGE), odd = load_le64(pages + 2 * PAGE);
    return even > odd ? even : odd;
}

/* Removes them. */
static void parts_are_whole(const struct sample *s)
{
    DIR *folder = opendir(proving.folder.path);
    const struct dirent *entry;
    char path[PATH_MAX];

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        const size_t n = strlen(entry->d_name);
        if (n < 5 || strcmp(entry->d_name + n - 5, ".part") != 0) continue;
        temp_folder_path(path, &proving.folder, entry->d_name);
        is_expected(s, path);
        unlink(path);
    }
    closedir(folder);
}

static bool names_come_last(void)
{
    const int fd = open(proving.folder.path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0) close(fd);
    return fd >= 0 && access("/proc/self/fd", X_OK) == 0;
}

static void killed_at_any_moment(void **state)
{
    const unsigned kills = deriver->reads_host_memory ? 12 : 3;
    const bool unnamed = names_come_last();
    struct told told = { .text = "" };
    unsigned killed = 0;
    struct sample s;

    (void)state;
    if (!unnamed) puts("not looked at: names of unfinished keys, on a file system that has none without");
    sample_make(&s, &curve_bls12_381, ROOT_BELLMAN, deriver->reads_host_memory ? 9 : 3, "killed");
    for (unsigned runs = 0; killed < kills && runs < 10 * kills; runs++) {
        const uint64_t before = newest_record(&s);
        const pid_t child = start_child(&s);
        int how = 0;
        bool ended = false;
        /* from its first checkpoint on, at a moment that is drawn */
        while (!(ended = waitpid(child, &how, WNOHANG) == child) && newest_record(&s) <= before) usleep(500);
        if (!ended) {
            usleep((useconds_t)prng_below(&proving.random, 60000));
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &how, 0), child);
        }
        if (unnamed) parts_are_whole(&s);
        if (is_there(s.out)) { /* it was faster than the signal */
            is_expected(&s, s.out);
            unlink(s.out);
        } else {
            assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
            assert_true(newest_record(&s) > before);
            killed++;
        }
    }
    if (killed < kills) printf("killed %u times only: the machine is busy\n", killed);
    const bool goes_on = newest_record(&s) > 0;
    finishes(&s, &told, 0, deriver, device);
    assert_int_equal(strstr(told.text, "goes on with transform") != NULL, goes_on);
    assert_false(is_there(s.work));
    sample_free(&s);
}

/* -- files that will not do ------------------------------------------------------------------------------------------------ */

/* Leaves the checkpoint after the 9th pass: the second vector's third of 2^5 points. */
static void interrupt(const struct sample *s, struct told *told)
{
    struct task t;

    unlink(s->work);
    told->cancel_after = 9;
    assert_int_equal(derive(&t, s, told, 0), CUZK_CANCELLED);
    told->cancel_after = 0;
}

static void change(const char *path, size_t at, uint8_t by)
{
    FILE *f = fopen(path, "r+b");
    int byte;

    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    byte = fgetc(f);
    assert_true(byte != EOF);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    fputc(byte ^ by, f);
    assert_int_equal(fclose(f), 0);
}

static void damage_is_found(void **state)
{
    /* the head; where the points of either transform stand; both records; one record */
    static const struct {
        size_t at[2];
        const char *said;
    } damages[] = {
        { { 0, 0 }, "is something else" },
        { { 8, 0 }, "is damaged" },
        { { 50, 0 }, "is damaged" },
        { { 100, 0 }, "is damaged" },
        { { PAGE + 3, 2 * PAGE + 3 }, "holds no whole checkpoint" },
        { { PAGE + 3, 0 }, "goes on with" },
        { { 2 * PAGE + 3, 0 }, "goes on with" },
    };
    struct told told = { .text = "" };
    struct sample s;
    struct task t;
    struct stat st;

    (void)state;
    sample_make(&s, &curve_bls12_381, ROOT_BELLMAN, 5, "damaged");
    /* with checkpoints of its own, and without: what is of use to nobody is left in neither case */
    for (size_t i = 0; i < 2 * ARRAY_COUNT(damages); i++) {
        const size_t *const at = damages[i / 2].at;
        interrupt(&s, &told);
        for (int k = 0; k < 2 && (k == 0 || at[k] != 0); k++) change(s.work, at[k], 0x10);
        finishes(&s, &told, i % 2 == 0 ? 0 : DERIVE_CHECKPOINT_MS, deriver, device);
        if (strstr(told.text, damages[i / 2].said) == NULL) fail_msg("damage %zu: said %s", i, told.text);
        assert_int_equal(is_there(s.work), i / 2 == 0); /* what is something else is left alone */
    }
    /* what a loss of power leaves of a file whose bytes were not on the disk yet: a size and zeros */
    for (int i = 0; i < 6; i++) {
        interrupt(&s, &told);
        assert_int_equal(stat(s.work, &st), 0);
        assert_int_equal(truncate(s.work, 0), 0);
        assert_int_equal(truncate(s.work, i < 2 ? 0 : i < 4 ? PAGE + 1 : st.st_size), 0);
        finishes(&s, &told, i % 2 == 0 ? 0 : DERIVE_CHECKPOINT_MS, deriver, device);
        assert_string_equal(told.text, "");
        assert_int_equal(told.checkpoints, i % 2 == 0 ? 12 : 0);
        assert_false(is_there(s.work));
    }
    /* any byte of the points that count: that transform begins anew, or the byte did not count */
    unsigned found = 0;
    for (int i = 0; i < 12; i++) {
        interrupt(&s, &told);
        assert_int_equal(stat(s.work, &st), 0);
        change(s.work, 3 * PAGE + prng_below(&proving.random, (uint64_t)st.st_size - 3 * PAGE), 1);
        finishes(&s, &told, 0, deriver, device);
        found += strstr(told.text, "are damaged: it begins anew") != NULL;
        assert_false(is_there(s.work));
    }
    assert_true(found > 0);
    /* cut short anywhere */
    for (int i = 0; i < 8; i++) {
        interrupt(&s, &told);
        assert_int_equal(stat(s.work, &st), 0);
        assert_int_equal(truncate(s.work, (off_t)prng_below(&proving.random, (uint64_t)st.st_size)), 0);
        finishes(&s, &told, 0, deriver, device);
    }
    /* others may read it */
    interrupt(&s, &told);
    assert_int_equal(chmod(s.work, 0640), 0);
    finishes(&s, &told, 0, deriver, device);
    assert_non_null(strstr(told.text, "is not this user's alone"));
    assert_true(is_there(s.work));
    /* a link, and a folder */
    unlink(s.work);
    assert_int_equal(symlink("/etc/passwd", s.work), 0);
    finishes(&s, &told, 0, deriver, device);
    assert_non_null(strstr(told.text, "no checkpoints"));
    unlink(s.work);
    assert_int_equal(mkdir(s.work, 0700), 0);
    finishes(&s, &told, 0, deriver, device);
    assert_non_null(strstr(told.text, "no checkpoints"));
    assert_int_equal(rmdir(s.work), 0);
    /* none wanted: none is gone on from, and none stays beside the derived key */
    interrupt(&s, &told);
    finishes(&s, &told, DERIVE_NO_CHECKPOINT, deriver, device);
    assert_string_equal(told.text, "");
    assert_false(is_there(s.work));
    (void)t;
    sample_free(&s);
}

static void copy_file(const char *to, const char *from)
{
    size_t bytes;
    struct task t;
    uint8_t *all = proving_read_file(from, &bytes);

    proving_task(&t, &proving);
    unlink(to);
    proving_must(&t, mapfile_write(&t, to, all, bytes, 0600), to);
    free(all);
}

static void another_keys_file_is_not_used(void **state)
{
    struct told told = { .text = "" };
    struct sample s, other, snarkjs;

    (void)state;
    sample_make(&s, &curve_bls12_381, ROOT_BELLMAN, 5, "own");
    sample_make(&other, &curve_bls12_381, ROOT_BELLMAN, 5, "other");
    sample_make(&snarkjs, &curve_bls12_381, ROOT_SNARKJS, 5, "snarkjs");
    interrupt(&other, &told);
    copy_file(s.work, other.work);
    finishes(&s, &told, DERIVE_CHECKPOINT_MS, deriver, device); /* writes none itself: the other's stays */
    assert_non_null(strstr(told.text, "is of another key"));
    assert_true(is_there(s.work));
    finishes(&s, &told, DERIVE_NO_CHECKPOINT, deriver, device);
    assert_string_equal(told.text, "");
    assert_true(is_there(s.work));
    finishes(&s, &told, 0, deriver, device);
    assert_non_null(strstr(told.text, "is of another key"));
    assert_false(is_there(s.work));
    copy_file(snarkjs.work, other.work);
    finishes(&snarkjs, &told, 0, deriver, device);
    assert_non_null(strstr(told.text, "is of another key"));
    finishes(&other, &told, 0, deriver, device); /* whose own is as it was */
    assert_non_null(strstr(told.text, "goes on with"));
    sample_free(&s);
    sample_free(&other);
    sample_free(&snarkjs);
}

/* Two at a time: the second has no checkpoints, and says so. */
static void one_at_a_time(void **state)
{
    struct told told = { .text = "" };
    struct derive_work work;
    struct sample s;
    struct task t;

    (void)state;
    sample_make(&s, &curve_bls12_381, ROOT_BELLMAN, 5, "twice");
    interrupt(&s, &told);
    struct groth16_key *key = open_key(&s);
    proving_task(&t, &proving);
    derive_work_open(&work, &t, key, s.out, 2, 6, GROUP_NTT_RADIX_2, NULL);
    assert_int_equal(work.vector[0].passes, 6);
    assert_int_equal(work.vector[1].passes, 3);
    finishes(&s, &told, 0, deriver, device);
    assert_non_null(strstr(told.text, "is in use by another derivation"));
    assert_true(is_there(s.work));
    derive_work_close(&work);
    derive_work_close(&work);
    /* passes that are other steps */
    const struct groth16_derive_options options = { 0, NULL, told_note, &told };
    told.text[0] = '\0';
    derive_work_open(&work, &t, key, s.out, 2, 6, GROUP_NTT_RADIX_2 + 1, &options);
    assert_int_equal(work.vector[0].passes, 0);
    assert_non_null(strstr(told.text, "has transforms of other steps"));
    derive_work_close(&work);
    assert_true(is_there(s.work));
    groth16_key_unref(key);
    sample_free(&s);
}

/* While the key's digest is being taken the device does not wait for it, and who waits can be cancelled. */
static void the_digest_comes_meanwhile(void **state)
{
    const struct groth16_derive_options options = { .checkpoint_ms = 1 };
    struct derive_work work = { .fd = -1, .options = &options, .hashes = true };
    uint8_t digest[SHA256_BYTES];
    atomic_bool cancel;
    struct task t;

    (void)state;
    atomic_init(&cancel, true);
    assert_false(derive_work_due(&work, false));
    assert_false(derive_work_due(&work, true));
    proving_task(&t, &proving);
    t.cancel = &cancel;
    assert_int_equal(derive_work_key_digest(&work, &t, digest), CUZK_CANCELLED);
    atomic_store(&work.hashed, true);
    assert_true(derive_work_due(&work, false));
}

/* The derived key has room, its checkpoints have not: the head, or the points of the first, the second, or the second vector's second. */
static void a_full_disk_is_no_failure(void **state)
{
    const size_t area = (size_t)96 << 8; /* of a vector's points: six pages */
    const struct {
        size_t bytes;
        unsigned checkpoints;
    } rooms[] = { { PAGE, 0 }, { 3 * PAGE, 0 }, { 3 * PAGE + area, 1 }, { 3 * PAGE + 2 * area, 9 + 1 } };
    struct told told = { .text = "" };
    struct rlimit before, limit;
    struct sample s;

    (void)state;
    sample_make(&s, &curve_bls12_381, ROOT_BELLMAN, 8, "full");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    told.limit = &limit;
    for (size_t i = 0; i < ARRAY_COUNT(rooms); i++) {
        limit = before;
        limit.rlim_cur = rooms[i].bytes;
        finishes(&s, &told, 0, deriver, device);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_non_null(strstr(told.text, "could not be written"));
        assert_int_equal(told.checkpoints, rooms[i].checkpoints);
        assert_false(is_there(s.work));
    }
    assert_true(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
    sample_free(&s);
}

/* A file that is whole and wrong: only its maker can have written it, and then the check finds it; it goes, so that the next run is right. */
static void wrong_points_do_not_pass(void **state)
{
    struct told told = { .text = "" };
    struct derive_work work;
    struct sample s;
    struct task t;

    (void)state;
    sample_make(&s, &curve_bls12_381, ROOT_BELLMAN, 4, "wrong");
    struct groth16_key *key = open_key(&s);
    const size_t point = key->curve->g1.aff_bytes;
    const struct groth16_derive_options options = { 0, NULL, told_note, &told };
    uint8_t *points = calloc(key->domain.size, point);
    assert_non_null(points);
    for (uint64_t i = 0; i < key->domain.size; i++)
        memcpy(points + i * point, &key->curve->g1.generator, point);
    proving_task(&t, &proving);
    derive_work_open(&work, &t, key, s.out, 2, 5, GROUP_NTT_RADIX_2, &options);
    proving_must(&t, derive_work_save(&work, &t, 0, 5, points), "a checkpoint");
    derive_work_close(&work);
    assert_int_equal(derive(&t, &s, &told, 0), CUZK_KEY_INVALID);
    assert_non_null(strstr(told.text, "goes on with transform 1 of 2 after pass 5 of 5"));
    assert_false(is_there(s.out));
    assert_false(is_there(s.work));
    finishes(&s, &told, 0, deriver, device);
    free(points);
    groth16_key_unref(key);
    sample_free(&s);
}

/* -- C into L -------------------------------------------------------------------------------------------------------------- */

struct definition {
    const struct curve *curve;
    const uint8_t *ld;
    struct g_jac *sum;
};

static cuzk_status dot_term(void *context, struct task *t, const struct constraint_term *term)
{
    const struct definition *const x = context;
    struct g_jac product;
    struct fr_int k;

    (void)t;
    if (term->side != R1CS_C) return CUZK_OK;
    x->curve->fr.to_int(&k, &term->coefficient);
    x->curve->g1.jac_from_aff(&product, x->ld + term->row * x->curve->g1.aff_bytes);
    x->curve->g1.jac_mul(&product, &product, &k);
    x->curve->g1.jac_neg(&product, &product);
    x->curve->g1.jac_add(&x->sum[term->variable], &x->sum[term->variable], &product);
    return CUZK_OK;
}

/* A circuit of pieces, whose C has powers of two: a product a term is the definition. */
static void rows_of_an_image(void **state)
{
    const struct curve *const c = &curve_bls12_381;
    struct small_image small;
    struct groth16_key *key;
    struct trapdoor secrets;
    char params[PATH_MAX];
    struct task t;

    (void)state;
    small_image_open(&small, &proving.random);
    temp_folder_path(params, &proving.folder, "image.params");
    proving_secrets(&secrets, &proving, c, ROOT_BELLMAN);
    proving_task(&t, &proving);
    proving_must(&t,
                 groth16_setup_constraints(&t, &small.constraints, &secrets,
                                           &(struct groth16_setup_paths){ .key = params }, proving.backend,
                                           proving.device),
                 "set-up");
    proving_must(&t, groth16_key_open_circuit(&key, &t, params, &small.constraints), "key");
    const size_t point = c->g1.aff_bytes;
    const uint64_t n = key->domain.size, variables = key->variable_count;
    uint8_t *const ld = calloc(n, point), *const l = calloc(variables, point);
    struct g_jac *const sum = calloc(variables, sizeof *sum), at;
    assert_true(ld != NULL && l != NULL && sum != NULL);
    c->g1.jac_from_aff(&at, &c->g1.generator);
    for (uint64_t i = 0; i < n; i++) { /* powers of two of the generator: not a pattern that C has */
        c->g1.batch_to_aff(ld + i * point, &at, 1);
        c->g1.jac_dbl(&at, &at);
        c->g1.jac_add_aff(&at, &at, &c->g1.generator);
    }
    for (uint64_t v = 0; v < variables; v++) {
        memcpy(l + v * point, ld + v % n * point, point);
        c->g1.jac_from_aff(&sum[v], l + v * point);
    }
    struct definition x = { c, ld, sum };
    proving_must(&t, small.constraints.walk(small.constraints.circuit, &t, dot_term, &x), "the definition");
    proving_must(&t, derive_fold(&t, key, &small.constraints, ld, l, NULL), "C into L");
    for (uint64_t v = 0; v < variables; v++) {
        struct g_jac made;
        c->g1.jac_from_aff(&made, l + v * point);
        if (!c->g1.jac_eq(&made, &sum[v])) fail_msg("variable %llu", (unsigned long long)v);
    }
    free(ld);
    free(l);
    free(sum);
    groth16_key_unref(key);
    small_image_close(&small);
}

/* -- the program ----------------------------------------------------------------------------------------------------------- */

/* Derives with a checkpoint after every pass: to be killed. */
static int derive_alone(char **argv)
{
    const struct backend *const backend = backend_by_name(argv[0]);
    const struct device_options options = { .memory_bytes = backend->reads_host_memory ? 0 : (size_t)1 << 30,
                                            .threads = 1 };
    const struct groth16_derive_options how = { .checkpoint_ms = 0 };
    struct device *on;
    struct groth16_key *key;
    struct task t;

    task_init(&t);
    proving_must(&t, backend->open(&on, &t, &options), "device");
    proving_must(&t, groth16_key_open(&key, &t, argv[1], argv[2]), "key");
    proving_must(&t, groth16_derive(&t, key, argv[3], &how, backend, on), "deriving");
    groth16_key_unref(key);
    backend->close(on);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pass_may_be_the_last),
        cmocka_unit_test(killed_at_any_moment),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(another_keys_file_is_not_used),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(the_digest_comes_meanwhile),
        cmocka_unit_test(a_full_disk_is_no_failure),
        cmocka_unit_test(wrong_points_do_not_pass),
        cmocka_unit_test(rows_of_an_image),
    };

    const struct CMUnitTest on_a_card[] = {
        cmocka_unit_test(every_pass_may_be_the_last),
        cmocka_unit_test(killed_at_any_moment),
    };

    self = argv[0];
    if (argc == 6 && strcmp(argv[1], "--derive") == 0) return derive_alone(argv + 2);
#if defined(CUZK_CUDA_EMULATED)
    deriver = backend_by_name(argc > 1 && strcmp(argv[1], "emulated") == 0 ? "cuda" : "cpu");
#else
    deriver = backend_by_name("cuda");
#endif
    size_t devices = 0;
    struct task t;
    task_init(&t);
    if (deriver == NULL || deriver->probe(&t, NULL, 0, &devices) != CUZK_OK || devices == 0) {
        puts("skipped: no such device in this build or on this machine");
        return 77;
    }
    /* What becomes of files is the same whoever has made the points. */
    return deriver->reads_host_memory ? cmocka_run_group_tests(tests, open_proving, close_proving)
                                      : cmocka_run_group_tests(on_a_card, open_proving, close_proving);
}
