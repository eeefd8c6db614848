/* What the files of Filecoin's public surface share. */
#ifndef CUZK_API_API_FILECOIN_H
#define CUZK_API_API_FILECOIN_H

#include "api/api.h"
#include "cuzk/cuzk_filecoin.h"
#include "filecoin/porep_key.h"
#include "filecoin/porep_proof.h"

struct cuzk_c1 {
    struct c1 c1;
};

struct cuzk_porep_key {
    struct porep_key key;
    size_t proof_bytes; /* with the context that opened it */
};

/** The shape of a sector size with parameters, or CUZK_INVALID_ARGUMENT. */
cuzk_status porep_shape_need(const struct porep_shape **out, struct task *t,
                             uint64_t sector_bytes) MUST_CHECK;
/** That, and an empty handle for a key of the size, which is cuzk_porep_key_close's from here on. */
cuzk_status api_porep_key_new(cuzk_porep_key **out, const struct porep_shape **shape, struct api_call *call,
                              uint64_t sector_bytes) MUST_CHECK;

#endif
