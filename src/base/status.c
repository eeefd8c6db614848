/* The table of include/cuzk/status.def as lookups.  A value outside the table is answered as CUZK_INTERNAL. */
#include "base/status.h"
#include "base/dialect.h"

struct row {
    const char *name, *text;
    enum status_retry retry;
    int exit_code, grpc_code;
};

static const struct row rows[] = {
#define X(name, value, retry, exit_code, grpc, text) \
    [value] = { #name, text, RETRY_##retry, exit_code, grpc },
#include "cuzk/status.def"
#undef X
};

static const struct row *row_of(cuzk_status status)
{
    size_t i = (size_t)status;
    return &rows[i < ARRAY_COUNT(rows) ? i : CUZK_INTERNAL];
}

const char *status_name(cuzk_status status) { return row_of(status)->name; }
const char *status_text(cuzk_status status) { return row_of(status)->text; }
enum status_retry status_retry_class(cuzk_status status) { return row_of(status)->retry; }
int status_exit_code(cuzk_status status) { return row_of(status)->exit_code; }
int status_grpc_code(cuzk_status status) { return row_of(status)->grpc_code; }
