/* Small well-formed files of every format, made from nothing, for tests of the parsers and as seeds of the fuzz targets.
 *
 * Points are multiples of the generators by numbers from the seed; the keys belong to no circuit.  Every buffer is a heap block
 * of exactly its size, so that a read beyond it is seen by the sanitizer. */
#ifndef CUZK_TESTS_FORMAT_SAMPLES_H
#define CUZK_TESTS_FORMAT_SAMPLES_H

#include "curve/curve.h"
#include "formats/groth16_points.h"
#include "support/prng.h"

struct blob {
    uint8_t *data;
    size_t size;
};
struct blob blob_copy(const void *data, size_t size);
void blob_free(struct blob *b);
static inline struct span blob_span(const struct blob *b) { return span_of(b->data, b->size); }

void sample_point(struct g_aff *out, struct prng *rng, const struct group *g);
void sample_proof(struct proof_points *out, struct prng *rng, const struct curve *c);
void sample_vk(struct vk_points *out, struct prng *rng, const struct curve *c, uint64_t ic_count);

#define SAMPLE_VARS   5
#define SAMPLE_DOMAIN 4
#define SAMPLE_COEFS  6
struct blob sample_zkey(struct prng *rng, const struct curve *c, uint32_t n_public);
struct blob sample_wtns(struct prng *rng, const struct curve *c, uint32_t count);
/* Three constraints over six wires with 2, 0 and 3 terms in A, and so on; 1 output, 1 public input, 2 private inputs. */
#define SAMPLE_R1CS_TERMS 11
struct blob sample_r1cs(struct prng *rng, const struct curve *c);
struct blob sample_ptau(struct prng *rng, const struct curve *c, unsigned power, bool prepared);

struct blob sample_filvk(struct prng *rng, uint32_t ic_count, bool compressed);
/* ic 2, h 3, l 3, a 4, b 2 and trailing bytes. */
struct blob sample_filparams(struct prng *rng, size_t trailing);
struct blob sample_proof_bytes(struct prng *rng, size_t count);

/* Sections of a container file: *out_offset is where the contents begin. */
bool sample_section(const struct blob *b, uint32_t type, size_t *out_offset, size_t *out_size);
/* Replaces the contents of a section; the file's size changes. */
void sample_section_set(struct blob *b, uint32_t type, const void *data, size_t size);
void sample_section_cut(struct blob *b, uint32_t type, size_t keep);
void sample_section_append(struct blob *b, uint32_t type, const void *data, size_t size);
/* Writes the same sections in the order of their types, or from the last to the first. */
void sample_sections_reorder(struct blob *b, bool backwards);

#endif
