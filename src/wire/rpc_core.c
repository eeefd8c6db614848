/* gRPC core's start and end in this process, and where its own log lines go. */
#include "wire/rpc_core.h"
#include "base/log.h"
#include <grpc/byte_buffer.h>
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

void rpc_drop_received(grpc_slice slice)
{
    grpc_byte_buffer *holder = grpc_raw_byte_buffer_create(&slice, 1); /* holds one more reference */
    grpc_slice_unref(slice);
    grpc_byte_buffer_destroy(holder); /* gives the last one back, inside core */
}
