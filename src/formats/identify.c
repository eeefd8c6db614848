/* Tells the kinds of files apart by their first bytes. */
#include "formats/identify.h"
#include "base/bytes.h"
#include "formats/fail_at.h"
#include "formats/proof_codec.h"

#define LOOK_BYTES 65536
#define TEXT_BYTES 4096 /* longer texts are not an error page */

static const char *const kind_texts[FILE_KIND_COUNT] = {
    [FILE_UNKNOWN] = "a file of unknown kind",
    [FILE_EMPTY] = "an empty file",
    [FILE_HTML] = "an HTML or XML page",
    [FILE_TEXT] = "a short text",
    [FILE_R1CS] = "a constraint system (.r1cs)",
    [FILE_WTNS] = "a witness file (.wtns)",
    [FILE_ZKEY_GROTH16] = "a Groth16 proving key (.zkey)",
    [FILE_ZKEY_PLONK] = "a PLONK proving key (.zkey)",
    [FILE_ZKEY_FFLONK] = "an FFLONK proving key (.zkey)",
    [FILE_ZKEY_OTHER] = "a proving key (.zkey) of unknown protocol",
    [FILE_PTAU] = "a powers-of-tau file (.ptau)",
    [FILE_WASM] = "a WebAssembly program (.wasm)",
    [FILE_PROOF_JSON] = "a proof (proof.json)",
    [FILE_PUBLIC_JSON] = "a list of public signals (public.json)",
    [FILE_VK_JSON] = "a verification key (verification_key.json)",
    [FILE_TRAPDOOR_JSON] = "a trapdoor file",
    [FILE_JSON] = "a JSON file",
    [FILE_FIL_PARAMS] = "a proving key in bellman's layout (.params)",
    [FILE_FIL_VK] = "a verifying key in bellman's layout (.vk)",
    [FILE_FIL_VK_COMPRESSED] = "a verifying key in bellman's layout (.vk, compressed points)",
    [FILE_PROOF_BYTES] = "a proof of 192 bytes or several of them",
    [FILE_DERIVED] = "a derived proving key (.derived)",
};

const char *file_kind_text(enum file_kind kind)
{
    return (unsigned)kind < FILE_KIND_COUNT ? kind_texts[kind] : kind_texts[FILE_UNKNOWN];
}

static bool starts_with(struct span file, const char *magic, size_t bytes)
{
    return file.size >= bytes && memcmp(file.data, magic, bytes) == 0;
}

#define MOST_SECTIONS 64 /* looked through for the protocol, section 1 */

static enum file_kind identify_zkey(struct span file)
{
    uint64_t at = 12;
    for (int i = 0; i < MOST_SECTIONS && span_holds(file, at, 12 + 4); i++) {
        uint64_t size = load_le64(file.data + at + 4);
        if (load_le32(file.data + at) == 1) {
            switch (load_le32(file.data + at + 12)) {
            case 1:
                return FILE_ZKEY_GROTH16;
            case 2:
                return FILE_ZKEY_PLONK;
            case 10:
                return FILE_ZKEY_FFLONK;
            default:
                return FILE_ZKEY_OTHER;
            }
        }
        if (!span_holds(file, at + 12, size)) break;
        at += 12 + size;
    }
    return FILE_ZKEY_OTHER;
}

static bool is_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool contains(struct span look, const char *word)
{
    return memmem(look.data, look.size, word, strlen(word)) != NULL;
}

static enum file_kind identify_text(struct span file)
{
    struct span look = span_of(file.data, file.size < LOOK_BYTES ? file.size : LOOK_BYTES);
    size_t i = 0;
    while (i < look.size && is_space(look.data[i])) i++;
    if (i == look.size) return FILE_UNKNOWN;
    uint8_t first = look.data[i];
    uint8_t second = i + 1 < look.size ? look.data[i + 1] : 0;
    if (first == '[') return FILE_PUBLIC_JSON;
    if (first == '{') {
        if (contains(look, "\"vk_alpha_1\"")) return FILE_VK_JSON;
        if (contains(look, "\"pi_a\"")) return FILE_PROOF_JSON;
        if (contains(look, "\"cuzk_trapdoor\"")) return FILE_TRAPDOOR_JSON;
        return FILE_JSON;
    }
    if (first == '<' && (second == '!' || second == '?' || ((second | 32) >= 'a' && (second | 32) <= 'z')))
        return FILE_HTML;
    if (file.size > TEXT_BYTES) return FILE_UNKNOWN;
    for (size_t k = i; k < look.size; k++) {
        if (look.data[k] < ' ' && !is_space(look.data[k])) return FILE_UNKNOWN;
        if (look.data[k] > '~') return FILE_UNKNOWN;
    }
    return FILE_TEXT;
}

/* BLS12-381's modulus begins with byte 0x1a, so no coordinate begins with more. */
#define TOP_BYTE 0x1a

static enum file_kind identify_bellman(struct span file)
{
    /* alpha1, beta1: 2 coordinates each; beta2, gamma2: 4; delta1: 2; delta2: 4: 18 coordinates of 48 bytes. */
    if (file.size < 18 * 48 + 4) return FILE_UNKNOWN;
    for (size_t i = 0; i < 18; i++)
        if (file.data[48 * i] > TOP_BYTE) return FILE_UNKNOWN;
    uint64_t ic_end = 18 * 48 + 4 + 96 * (uint64_t)load_be32(file.data + 18 * 48);
    return file.size > ic_end ? FILE_FIL_PARAMS : FILE_FIL_VK;
}

static bool is_compressed_head(uint8_t c) { return (c & 0x80) != 0 && (c & 0x1f) <= TOP_BYTE; }

static enum file_kind identify_compressed(struct span file)
{
    if (file.size >= PROOF_BYTES && file.size % PROOF_BYTES == 0) {
        bool all = true;
        for (size_t p = 0; p < file.size && p < LOOK_BYTES && all; p += PROOF_BYTES)
            all = is_compressed_head(file.data[p]) && is_compressed_head(file.data[p + 48]) &&
                  is_compressed_head(file.data[p + 144]);
        if (all) return FILE_PROOF_BYTES;
    }
    static const size_t heads[] = { 0, 48, 96, 192, 288, 336 };
    if (file.size < 9 * 48 + 4) return FILE_UNKNOWN;
    for (size_t i = 0; i < ARRAY_COUNT(heads); i++)
        if (!is_compressed_head(file.data[heads[i]])) return FILE_UNKNOWN;
    return FILE_FIL_VK_COMPRESSED;
}

enum file_kind identify(struct span file)
{
    if (file.size == 0) return FILE_EMPTY;
    if (starts_with(file, "r1cs", 4)) return FILE_R1CS;
    if (starts_with(file, "wtns", 4)) return FILE_WTNS;
    if (starts_with(file, "zkey", 4)) return identify_zkey(file);
    if (starts_with(file, "ptau", 4)) return FILE_PTAU;
    if (starts_with(file, "\0asm", 4)) return FILE_WASM;
    if (starts_with(file, "cuzk-drv", 8)) return FILE_DERIVED;
    enum file_kind kind =
        identify_bellman(file); /* before texts: a coordinate may begin with a blank and a bracket */
    if (kind == FILE_UNKNOWN) kind = identify_text(file);
    if (kind == FILE_UNKNOWN) kind = identify_compressed(file);
    return kind;
}

static const char *advice_for(enum file_kind kind, enum file_kind wanted)
{
    switch (kind) {
    case FILE_EMPTY:
        return "A copy or download did not finish, or the program that should write the file failed: make it "
               "again.";
    case FILE_HTML:
    case FILE_TEXT:
        return "Most likely a server answered with a message instead of the file: read it, then download "
               "again.";
    case FILE_UNKNOWN:
        return "Check the path, and that the file was copied whole and in binary mode.";
    case FILE_ZKEY_PLONK:
    case FILE_ZKEY_FFLONK:
        return "cuzk proves Groth16 only: make a key with a Groth16 set-up.";
    default:
        break;
    }
    return kind == wanted ? ADVICE_DAMAGED
                          : "The arguments may be in the wrong order: check which file each of them names.";
}

cuzk_status identify_fail(struct task *t, const char *path, struct span file, enum file_kind wanted,
                          const char *reason)
{
    enum file_kind kind = identify(file);
    const char *advice = advice_for(kind, wanted);
    if (kind == FILE_UNKNOWN || kind == wanted)
        return FAIL_AT(t, path, 0, NULL, advice, CUZK_MALFORMED, "this is not %s: %s", file_kind_text(wanted),
                       reason);
    return FAIL_AT(t, path, 0, NULL, advice, CUZK_MALFORMED, "this is %s, where %s is needed",
                   file_kind_text(kind), file_kind_text(wanted));
}
