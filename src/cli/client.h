/* What the commands that speak to a cuzkd share. */
#ifndef CUZK_CLI_CLIENT_H
#define CUZK_CLI_CLIENT_H

#include "cli/cli.h"
#include "wire/rpc_client.h"
#include "cuzk/v1/proving.pb-c.h"

#define CLIENT_OPTIONS                                                                                       \
    { "--timeout-ms", OPTION_COUNT, &client.timeout_ms, 1, 604800000, "N", "give up after N milliseconds" }, \
        { "--json", OPTION_FLAG, &cli.json, 0, 0, NULL, "print one JSON object on standard output" },        \
    {                                                                                                        \
        "--quiet", OPTION_FLAG, &cli.quiet, 0, 0, NULL, "no progress and no warnings on standard error"      \
    }
#define CLIENT_ADDRESS                                                               \
    {                                                                                \
        "ADDRESS", &client.address, false, "of the cuzkd: host:port or unix:///path" \
    }

/* Set by these rows; one connection a command. */
struct client {
    const char *address;
    uint64_t timeout_ms; /* 0: none */
    struct rpc_client *rpc;
};
extern struct client client;

/** Parses the arguments, shows the help, connects.  false: the command ends with *exit_code. */
bool client_begin(struct task *t, int *exit_code, int argc, char **argv, const char *help,
                  const struct option_row *options, size_t option_count, const struct operand_row *operands,
                  size_t operand_count);
/** Prints the task's error unless status is OK, disconnects, and gives the exit code. */
int client_end(const struct task *t, cuzk_status status);

/** method: "GetStatus".  Out  answer  protobuf_c_message_free_unpacked it. */
cuzk_status client_call(struct task *t, ProtobufCMessage **answer, const char *method,
                        const ProtobufCMessage *request,
                        const ProtobufCMessageDescriptor *answer_type) MUST_CHECK;

int cmd_submit(int argc, char **argv); /* cmd_jobs.c */
int cmd_await(int argc, char **argv);
int cmd_cancel(int argc, char **argv);
int cmd_status(int argc, char **argv); /* client.c */
int cmd_preload(int argc, char **argv);
int cmd_evict(int argc, char **argv);

#endif
