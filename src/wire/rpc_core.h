/* gRPC core's start and end in this process, and where its own log lines go. */
#ifndef CUZK_WIRE_RPC_CORE_H
#define CUZK_WIRE_RPC_CORE_H

void rpc_core_init(void);
void rpc_core_fini(void); /* as many as rpc_core_init */

#endif
