/* The circuits whose keys lie in a parameter folder. */
#include "engine/param_circuits.h"
#include "engine/engine.h"
#include "filecoin/params.h"
#include <unistd.h>

const struct param_circuit param_circuits[PARAM_CIRCUIT_COUNT] = {
    { "porep-2k", &kind_porep, 2048 },           { "porep-8m", &kind_porep, 8ull << 20 },
    { "porep-512m", &kind_porep, 512ull << 20 }, { "porep-32g", &kind_porep, 32ull << 30 },
    { "porep-64g", &kind_porep, 64ull << 30 },
};

const char *engine_parameter_folder(void) { return params_folder_default(); }

cuzk_status engine_find_circuits(struct engine_circuit out[ENGINE_FOUND_MOST], size_t *count, struct task *t,
                                 const char *folder)
{
    char path[PATH_MAX];

    STATIC_ASSERT(PARAM_CIRCUIT_COUNT <= ENGINE_FOUND_MOST, "all may be there");
    *count = 0;
    TRY(params_folder_find(path, t, folder));
    for (size_t i = 0; i < PARAM_CIRCUIT_COUNT; i++) {
        const struct param_circuit *c = &param_circuits[i];
        TRY(params_path(path, t, folder, porep_shape_by_bytes(c->sector_bytes), ".params"));
        if (access(path, F_OK) != 0) continue;
        out[(*count)++] =
            (struct engine_circuit){ .name = c->name, .kind = c->kind, .key_path = folder, .optional = true };
    }
    return CUZK_OK;
}
