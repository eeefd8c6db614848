/* Writes the seeds of the fuzz targets into a folder: fuzz_seeds FOLDER.  Small well-formed files from a fixed number, so that
 * the corpus can be made again. */
#include "base/bytes.h"
#include "circuits/gadgets/gadgets.h"
#include "formats/c1.h"
#include "formats/c1json.h"
#include "formats/derived_file.h"
#include "formats/snarkjs_json.h"
#include "formats/trapdoor_file.h"
#include "support/format_samples.h"
#include <stdio.h>
#include <sys/stat.h>

static const char *root;

static void write_seed(const char *target, const char *name, const void *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, target);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%s/%s", root, target, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void write_blob(const char *target, const char *name, struct blob b)
{
    write_seed(target, name, b.data, b.size);
    if (b.size < 6000) write_seed("fuzz_identify", name, b.data, b.size);
    blob_free(&b);
}

static void write_text(const char *name, struct json_text *text)
{
    write_blob("fuzz_json", name, blob_copy(text->data, text->size));
    json_text_fini(text);
}

static void must(cuzk_status status)
{
    if (status != CUZK_OK) exit(1);
}

/* A derived key of three variables, its points noise: who reads the file looks at those later. */
static void seed_derived(struct prng *rng, const struct curve *c, enum root_convention convention)
{
    const struct derived_shape shape = { c, convention, 1, 3, 2 };
    struct derived_layout at;
    uint8_t digest[SHA256_BYTES];
    char name[64];

    derived_layout_plan(&at, &shape);
    uint8_t *file = malloc(at.file_bytes);
    if (file == NULL) exit(1);
    prng_bytes(rng, file, at.file_bytes);
    prng_bytes(rng, digest, sizeof digest);
    derived_file_finish(file, &shape, digest, 1000);
    snprintf(name, sizeof name, "%s-root%d.derived", c->snarkjs_name, (int)convention);
    write_blob("fuzz_derived", name, blob_copy(file, at.file_bytes));
    free(file);
}

static void seed_curve(struct prng *rng, const struct curve *c)
{

    char name[64];
    struct task t;
    struct json_text text;
    struct proof_points proof;
    struct vk_points vk;
    task_init(&t);
    for (uint32_t n_public = 0; n_public < 2; n_public++) {
        snprintf(name, sizeof name, "%s-public%u.zkey", c->snarkjs_name, n_public);
        write_blob("fuzz_zkey", name, sample_zkey(rng, c, n_public));
    }
    struct blob backwards = sample_zkey(rng, c, 1);
    sample_sections_reorder(&backwards, true);
    snprintf(name, sizeof name, "%s-backwards.zkey", c->snarkjs_name);
    write_blob("fuzz_zkey", name, backwards);
    snprintf(name, sizeof name, "%s.wtns", c->snarkjs_name);
    write_blob("fuzz_wtns", name, sample_wtns(rng, c, 3));
    snprintf(name, sizeof name, "%s.r1cs", c->snarkjs_name);
    write_blob("fuzz_r1cs", name, sample_r1cs(rng, c));
    snprintf(name, sizeof name, "%s.ptau", c->snarkjs_name);
    write_blob("fuzz_ptau", name, sample_ptau(rng, c, 1, false));
    snprintf(name, sizeof name, "%s-prepared.ptau", c->snarkjs_name);
    write_blob("fuzz_ptau", name, sample_ptau(rng, c, 0, true));

    sample_proof(&proof, rng, c);
    must(snarkjs_proof_write(&t, &text, c, &proof));
    snprintf(name, sizeof name, "%s-proof.json", c->snarkjs_name);
    write_text(name, &text);
    memset(&proof, 0, sizeof proof);
    must(snarkjs_proof_write(&t, &text, c, &proof));
    snprintf(name, sizeof name, "%s-infinity.json", c->snarkjs_name);
    write_text(name, &text);
    sample_vk(&vk, rng, c, 2);
    must(snarkjs_vk_write(&t, &text, &vk));
    snprintf(name, sizeof name, "%s-vk.json", c->snarkjs_name);
    write_text(name, &text);
    vk_points_fini(&vk);

    struct trapdoor secrets = { .curve = c, .layout = ROOT_SNARKJS };
    struct fr_int *values[] = { &secrets.tau, &secrets.alpha, &secrets.beta, &secrets.gamma, &secrets.delta };
    for (size_t i = 0; i < ARRAY_COUNT(values); i++) values[i]->w[0] = prng_u64(rng);
    char path[4096];
    snprintf(path, sizeof path, "%s/fuzz_trapdoor", root);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/fuzz_trapdoor/%s.json", root, c->snarkjs_name);
    must(trapdoor_file_write(&t, path, &secrets));
}

/* The vanilla proofs of a 2 KiB sector whose hashes are all zero: well formed, and true of nothing. */
static void seed_c1(void)
{
    struct c1 c;
    struct task t;
    task_init(&t);
    c1_init(&c);
    c.proof = registered_proof_by_name("StackedDrg2KiBV1_1", 18);
    c.shape = c.proof->shape;
    while (c.partitions < registered_proof_partitions(c.proof)) must(c1_add_partition(&c, &t));
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        uint8_t *text;
        size_t bytes;
        must(c1json_write(&c, &t, wrapped, &text, &bytes));
        write_seed("fuzz_c1", wrapped ? "wrapped.json" : "plain.json", text, bytes);
        free(text);
    }
    c1_fini(&c);
}

/* A template of words and numbers, with every kind of step and row but calls; outs: how many of its words its calls take back. */
static uint32_t image_node(struct builder *b, const struct template_key *key, bool poseidon, size_t outs)
{
    struct multi_eq sums = { 0 };
    struct word in[2], out, more;
    struct number imports[2];
    uint32_t id;

    if (!template_begin(b, &id, key, in, imports)) return id;
    const struct word *const operands[2] = { &in[0], &in[1] };
    word_xor(b, &out, &in[0], 7, &in[1], WORD_SHIFT + 3);
    word_ch(b, &out, &out, &in[0], &in[1]);
    word_maj(b, &more, &out, &in[0], &in[1]);
    word_add(b, &sums, &out, operands, 2);
    multi_eq_close(b, &sums);
    multi_eq_fini(&sums);
    word_bswap(b, &out, &out);
    word_and_lanes(b, &more, &in[0], 3, 9, true);
    const struct number packed = number_pack(b, &out, 1, 19),
                        picked = number_pick(b, &in[1], 5, imports[0], imports[1]);
    (void)number_sum(b, picked, packed);
    if (poseidon) (void)gadget_poseidon(b, imports, 2);
    return template_end(b, &out, outs);
}

/* Called once inside and, if parts, twice as parts of their own. */
static void seed_image(const char *name, bool parts, bool poseidon)
{
    struct builder *b;
    struct circuit_image m;
    struct word in[2], out, bits[8];
    struct number pair[2], last;
    struct task t;
    uint8_t *file;
    size_t bytes;

    task_init(&t);
    must(builder_create(&b, &t, name));
    for (int i = 0; i < 2; i++) {
        word_index(b, &in[i], 32);
        pair[i] = number_source(b);
    }
    struct template_key key = { .name = "node", .words = in, .word_count = 2, .number_count = 2 };
    template_call(b, image_node(b, &key, poseidon, 1), in, pair, &out, &last, false);
    number_bits(b, last, bits);
    number_input(b, last);
    words_input(b, (struct word[2]){ out, in[0] }, (uint8_t[2]){ 32, 17 }, 2);
    strcpy(key.name, "part");
    for (int i = 0; parts && i < 2; i++)
        template_call(b, image_node(b, &key, poseidon, 0), in, pair, NULL, NULL, true);
    must(builder_finish(b, &m));
    must(image_save(&m, &t, &file, &bytes));
    write_seed("fuzz_image", name, file, bytes);
    free(file);
    image_fini(&m);
}

int main(int argc, char **argv)
{
    struct prng rng;
    if (argc != 2) {
        fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    root = argv[1];
    mkdir(root, 0755);
    prng_seed(&rng, 1);
    seed_curve(&rng, &curve_bn254);
    seed_curve(&rng, &curve_bls12_381);
    static const char publics[] = "[\n \"33\",\n 7, \"0xff\", 123456789012345678901234567890\n]";
    write_blob("fuzz_json", "public.json", blob_copy(publics, sizeof publics - 1));
    write_blob("fuzz_filvk", "plain.vk", sample_filvk(&rng, 2, false));
    write_blob("fuzz_filvk", "compressed.vk", sample_filvk(&rng, 2, true));
    write_blob("fuzz_filparams", "plain.params", sample_filparams(&rng, 0));
    write_blob("fuzz_filparams", "trailing.params", sample_filparams(&rng, 9));
    write_blob("fuzz_proof", "one.proof", sample_proof_bytes(&rng, 1));
    write_blob("fuzz_proof", "three.proof", sample_proof_bytes(&rng, 3));
    seed_c1();
    seed_image("plain", false, false);
    seed_image("parts", true, false);
    seed_image("poseidon", true, true);
    write_blob("fuzz_identify", "page.html", blob_copy("<!DOCTYPE html>\n", 16));
    write_blob("fuzz_identify", "answer.txt", blob_copy("404: Not Found\n", 15));
    write_blob("fuzz_identify", "empty", blob_copy("", 0));
    const struct curve *const curves[] = { &curve_bn254, &curve_bls12_381 };
    for (size_t c = 0; c < ARRAY_COUNT(curves); c++) {
        seed_derived(&rng, curves[c], ROOT_SNARKJS);
        seed_derived(&rng, curves[c], ROOT_BELLMAN);
    }
    return 0;
}
