/* Fuzzes the reader of requests for jobs: the message in pieces whose sizes the input's first bytes give. */
#include "wire/submit_decode.h"
#include "fuzz.h"

#define PIECE_SIZES 4

struct pieces {
    const uint8_t *at;
    size_t left;
    uint8_t sizes[PIECE_SIZES];
    unsigned next;
};

static bool next_piece(void *context, struct span *piece)
{
    struct pieces *p = context;
    if (p->left == 0) return false;
    size_t size = 1u + p->sizes[p->next++ % PIECE_SIZES];
    if (size > p->left) size = p->left;
    *piece = span_of(p->at, size);
    p->at += size;
    p->left -= size;
    return true;
}

static cuzk_status decode(struct task *t, struct submit *out, const uint8_t *data, size_t size,
                          const uint8_t sizes[PIECE_SIZES], bool in_prove)
{
    struct pieces p = { .at = data, .left = size };
    struct wire_reader r;
    memcpy(p.sizes, sizes, PIECE_SIZES);
    task_init(t);
    wire_reader_init(&r, next_piece, &p, size);
    return submit_decode(t, out, &r, in_prove);
}

static void same_bytes(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes, uint64_t most)
{
    if (a_bytes != b_bytes || a_bytes > most || (a == NULL) != (a_bytes == 0)) abort();
    if (a_bytes && memcmp(a, b, (size_t)a_bytes) != 0) abort();
}

/* However it is cut, a message is read the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t whole[PIECE_SIZES] = { 255, 255, 255, 255 };
    struct submit a, b;
    struct task ta, tb;
    if (size < PIECE_SIZES + 1) return 0;
    const bool in_prove = data[PIECE_SIZES] & 1;
    const uint8_t *message = data + PIECE_SIZES + 1;
    size -= PIECE_SIZES + 1;
    const cuzk_status status = decode(&ta, &a, message, size, data, in_prove);
    if (status != ta.error.status || (status != CUZK_OK && ta.error.text[0] == '\0')) abort();
    if (decode(&tb, &b, message, size, whole, in_prove) != status ||
        strcmp(ta.error.text, tb.error.text) != 0)
        abort();
    if (status == CUZK_OK) {
        if (strlen(a.request_id) >= SUBMIT_REQUEST_ID_BYTES || strlen(a.circuit) >= SUBMIT_CIRCUIT_BYTES)
            abort();
        if (strcmp(a.request_id, b.request_id) != 0 || strcmp(a.circuit, b.circuit) != 0) abort();
        same_bytes(a.vanilla_proof, a.vanilla_proof_bytes, b.vanilla_proof, b.vanilla_proof_bytes, size);
        same_bytes(a.witness, a.witness_bytes, b.witness, b.witness_bytes, size);
    }
    submit_free(&a);
    submit_free(&b);
    return 0;
}
