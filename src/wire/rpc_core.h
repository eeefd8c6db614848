/* gRPC core's start and end in this process, and where its own log lines go. */
#ifndef CUZK_WIRE_RPC_CORE_H
#define CUZK_WIRE_RPC_CORE_H

#include <grpc/slice.h>

void rpc_core_init(void);
void rpc_core_fini(void); /* as many as rpc_core_init */

/** Gives back a slice that core has received.  Not grpc_slice_unref: where its memory comes from the resource quota, giving it back may
 * wake core's reclaimers, which run only inside a call to core that has set them up (libgrpc 1.51); outside, the process dies. */
void rpc_drop_received(grpc_slice slice);

#endif
