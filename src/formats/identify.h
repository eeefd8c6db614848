/* What kind of file is this?  For messages that help, and for commands that take any key. */
#ifndef CUZK_FORMATS_IDENTIFY_H
#define CUZK_FORMATS_IDENTIFY_H

#include "base/span.h"
#include "base/task.h"

enum file_kind {
    FILE_UNKNOWN,
    FILE_EMPTY,
    FILE_HTML, /* a page: what a gateway answers instead of a file */
    FILE_TEXT, /* a short text that is not JSON */
    FILE_R1CS,
    FILE_WTNS,
    FILE_ZKEY_GROTH16,
    FILE_ZKEY_PLONK,
    FILE_ZKEY_FFLONK,
    FILE_ZKEY_OTHER, /* cut before its protocol, or a protocol without a name */
    FILE_PTAU,
    FILE_WASM,
    FILE_PROOF_JSON,
    FILE_PUBLIC_JSON,
    FILE_VK_JSON,
    FILE_TRAPDOOR_JSON,
    FILE_JSON, /* none of the above: a circuit's input.json, ... */
    FILE_FIL_PARAMS,
    FILE_FIL_VK,
    FILE_FIL_VK_COMPRESSED,
    FILE_PROOF_BYTES,
    FILE_DERIVED,
    FILE_KIND_COUNT
};

/** Looks at the first bytes and the length; does not check the rest.  Thread  any.  Cost  reads at most 64 KiB. */
enum file_kind identify(struct span file);

const char *file_kind_text(enum file_kind kind); /* "a witness file (.wtns)" */

/** FAILs with CUZK_MALFORMED: path is not `wanted`; if it is another known kind, says which, and that arguments may be swapped;
 * says what to do about empty files and HTML pages.  reason: what the parser saw, e.g. "does not start with \"zkey\"". */
cuzk_status identify_fail(struct task *t, const char *path, struct span file, enum file_kind wanted,
                          const char *reason);

#endif
