/* cuzk submit, await, cancel, status, preload, evict: handed to cuzk-client, which lies beside cuzk where gRPC was there to build it. */
#include "cli/cli.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cmd_remote(int argc, char **argv)
{
    static const char name[] = "cuzk-client";
    char path[PATH_MAX + sizeof name];
    struct task t;
    task_init(&t);
    char **arguments =
        calloc((size_t)argc + 2, sizeof *arguments); /* the program, the command's name, the rest, NULL */
    if (!arguments) {
        FAIL(&t, CUZK_NO_MEMORY, "no memory for the arguments");
        return cli_fail_task(&t);
    }
    const ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX);
    path[bytes > 0 ? bytes : 0] = '\0';
    char *slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, name, sizeof name);
    arguments[0] = path;
    memcpy(arguments + 1, argv, (size_t)argc * sizeof *argv);
    execv(path, arguments);
    const int error = errno;
    free(arguments);
    FAIL(&t, error == ENOENT ? CUZK_NOT_FOUND : CUZK_IO, "cuzk %s needs %s, which cannot be started: %s", argv[0],
         path, strerror(error));
    task_fail_place(&t, NULL, ERROR_NO_OFFSET, NULL,
                    "build cuzk where the packages of gRPC are (tools/setup build installs them)");
    return cli_fail_task(&t);
}
