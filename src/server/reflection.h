/* Server reflection: what services and messages there are, for clients like grpcurl. */
#ifndef CUZK_SERVER_REFLECTION_H
#define CUZK_SERVER_REFLECTION_H

#include "wire/rpc.h"

/** One message of a ServerReflectionInfo stream; v1 and v1alpha have the same wire format. */
void reflection_request(struct rpc_call *call, void *context);

#endif
