/* cuzk devices: what can prove here? */
#include "cli/cli.h"
#include <stdio.h>

static const char help[] =
    "Lists the processors and cards on which proofs can be made, and what this build has code for.  --device "
    "N of prove, plan and bench\n"
    "takes a card's number.  A machine without a card or without a driver is no error: the list says so.";

enum { DEVICES_MOST = 64 };

static json_t *json_device(const cuzk_device_info *d, size_t index)
{
    return json_pack("{s:s, s:I, s:s, s:s, s:I, s:i}", "backend", d->backend, "index", (json_int_t)index,
                     "name", d->name, "variant", d->variant, "memory_bytes", (json_int_t)d->memory_bytes,
                     "units", (int)d->threads);
}

/* The devices of one backend of this build, and a sentence where there are none. */
static cuzk_status list(const char *backend, const char *unit, json_t *array, cuzk_error *error)
{
    cuzk_device_info found[DEVICES_MOST] = { CUZK_DEVICE_INFO_INIT };
    size_t count = 0;
    const cuzk_status status = cuzk_devices(found, DEVICES_MOST, &count, backend, error);
    if (status != CUZK_OK) return status;
    for (size_t i = 0; i < count && i < DEVICES_MOST; i++) {
        const cuzk_device_info *d = &found[i];
        if (cli.json)
            json_array_append_new(array, json_device(d, i));
        else
            printf("%-5s %zu  %s, %s, %u %s, %s\n", d->backend, i, d->name, d->variant, d->threads, unit,
                   cli_bytes(d->memory_bytes));
    }
    if (count == 0 && !cli.json)
        printf("%-5s -  no NVIDIA driver, or no card that this process can see (nvidia-smi tells which)\n",
               backend);
    return CUZK_OK;
}

int cmd_devices(int argc, char **argv)
{
    const struct option_row options[] = { CLI_COMMON_OPTIONS };
    const char *const cuda = cuzk_backend_targets("cuda");
    cuzk_error error = CUZK_ERROR_INIT;
    struct task t;

    const int over = cli_begin(&t, argc, argv, "devices", help, options, ARRAY_COUNT(options), NULL, 0);
    if (over >= 0) return over;
    json_t *array = json_array();
    cuzk_status status = list("cpu", "threads", array, &error);
    if (status == CUZK_OK && cuda != NULL) status = list("cuda", "multiprocessors", array, &error);
    if (status != CUZK_OK) {
        json_decref(array);
        return cli_fail(&error);
    }
    if (cli.json) {
        cli_print_json(json_pack("{s:s, s:o, s:{s:s, s:s?}}", "status", "OK", "devices", array, "targets",
                                 "cpu", cuzk_backend_targets("cpu"), "cuda", cuda));
        return 0;
    }
    json_decref(array);
    if (cuda == NULL) printf("cuda  -  this build has no CUDA backend (cmake -DCUZK_CUDA=ON)\n");
    printf("code in this build: cpu %s%s%s\n", cuzk_backend_targets("cpu"), cuda != NULL ? "; cuda " : "",
           cuda != NULL ? cuda : "");
    return 0;
}
