/* Names, texts, retry classes and exit codes of cuzk_status, from the table in include/cuzk/status.def. */
#ifndef CUZK_BASE_STATUS_H
#define CUZK_BASE_STATUS_H

#include "cuzk/status.h"

enum status_retry { RETRY_NEVER, RETRY_LATER, RETRY_ELSEWHERE, RETRY_BUG };

const char *status_name(cuzk_status status); /* "MALFORMED" */
const char *status_text(cuzk_status status); /* "malformed input" */
enum status_retry status_retry_class(cuzk_status status);
int status_exit_code(cuzk_status status);
int status_grpc_code(cuzk_status status);

#endif
