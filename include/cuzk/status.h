/* Status codes of every function of cuzk that can fail; generated from status.def. */
#ifndef CUZK_STATUS_H
#define CUZK_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cuzk_status {
#define X(name, value, retry, exit_code, grpc, text) CUZK_##name = value,
#include "cuzk/status.def"
#undef X
} cuzk_status;

#ifdef __cplusplus
}
#endif
#endif
