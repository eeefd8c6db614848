/* gRPC core's start and end in this process, and where its own log lines go. */
#include "wire/rpc_core.h"
#include "base/log.h"
#include <grpc/grpc.h>
#include <grpc/support/log.h>

/* What core calls an error is mostly a peer that went away. */
static void log_core(gpr_log_func_args *args) { log_debug(NULL, "grpc: %s", args->message); }

void rpc_core_init(void)
{
    gpr_set_log_function(log_core);
    grpc_init();
}

void rpc_core_fini(void) { grpc_shutdown(); }
