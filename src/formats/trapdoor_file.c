/* Writes and reads trapdoor files. */
#include "formats/trapdoor_file.h"
#include "base/bytes.h"
#include "base/mapfile.h"
#include "formats/decimal.h"
#include "formats/fail_at.h"
#include "formats/json_value.h"
#include <stdio.h>

#define FR_WORDS   4
#define MOST_BYTES 65536
#define WARNING                                                                                          \
    "THE HOLDER OF THIS FILE CAN FORGE PROOFS.  For development and tests only; never use its keys for " \
    "anything of value."

#define SECRETS 5
static const char *const secret_names[SECRETS] = { "tau", "alpha", "beta", "gamma", "delta" };

static const char *layout_name(enum root_convention layout)
{
    return layout == ROOT_SNARKJS ? "snarkjs" : "bellman";
}

cuzk_status trapdoor_file_write(struct task *t, const char *path, const struct trapdoor *secrets)
{
    const struct fr_int *values[SECRETS] = { &secrets->tau, &secrets->alpha, &secrets->beta, &secrets->gamma,
                                             &secrets->delta };
    char text[2048], digits[DECIMAL_MOST_DIGITS];
    int n = snprintf(text, sizeof text,
                     "{\n \"warning\": \"" WARNING
                     "\",\n \"cuzk_trapdoor\": 1,\n \"curve\": \"%s\",\n \"layout\": \"%s\"",
                     secrets->curve->snarkjs_name, layout_name(secrets->layout));
    for (int i = 0; i < SECRETS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, ",\n \"%s\": \"%.*s\"", secret_names[i],
                      (int)decimal_write(digits, values[i]->w, FR_WORDS), digits);
    n += snprintf(text + n, sizeof text - (size_t)n, "\n}\n");
    cuzk_status status = mapfile_write(t, path, text, (size_t)n, 0600);
    wipe(text, sizeof text);
    wipe(digits, sizeof digits);
    return status;
}

static cuzk_status read_secrets(struct trapdoor *out, struct task *t, const char *path, const json_t *root)
{
    const char *curve = json_string_value(json_object_get(root, "curve"));
    const char *layout = json_string_value(json_object_get(root, "layout"));
    const json_t *version = json_object_get(root, "cuzk_trapdoor");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "cuzk_trapdoor", NULL, CUZK_MALFORMED,
                       "this is not a trapdoor file of version 1: \"cuzk_trapdoor\": 1 is missing");
    out->curve = curve != NULL ? curve_by_name(curve) : NULL;
    if (out->curve == NULL)
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "curve", "Supported are bn128 and bls12381.", CUZK_MALFORMED,
                       "the curve is missing or not supported");
    if (layout == NULL || (strcmp(layout, "snarkjs") != 0 && strcmp(layout, "bellman") != 0))
        return FAIL_AT(t, path, ERROR_NO_OFFSET, "layout", NULL, CUZK_MALFORMED,
                       "the layout is missing or neither \"snarkjs\" nor \"bellman\"");
    out->layout = layout[0] == 's' ? ROOT_SNARKJS : ROOT_BELLMAN;

    struct fr_int *values[SECRETS] = { &out->tau, &out->alpha, &out->beta, &out->gamma, &out->delta };
    for (int i = 0; i < SECRETS; i++) {
        const json_t *value = json_object_get(root, secret_names[i]);
        TRY(json_value_number(values[i]->w, t, path, value, FR_WORDS, out->curve->fr.modulus.w,
                              "the scalar field's prime r", secret_names[i]));
        if ((values[i]->w[0] | values[i]->w[1] | values[i]->w[2] | values[i]->w[3]) == 0)
            return FAIL_AT(t, path, ERROR_NO_OFFSET, secret_names[i], NULL, CUZK_MALFORMED, "%s is zero",
                           secret_names[i]);
    }
    return CUZK_OK;
}

cuzk_status trapdoor_file_read(struct trapdoor *out, struct task *t, const char *path, struct span text)
{
    json_t *root;
    memset(out, 0, sizeof *out);
    TRY(json_value_load(&root, t, path, text, MOST_BYTES, JSON_OBJECT, FILE_TRAPDOOR_JSON));
    cuzk_status status = read_secrets(out, t, path, root);
    for (int i = 0; i < SECRETS; i++) {
        json_t *value = json_object_get(root, secret_names[i]);
        /* jansson hands its own copy of the digits out as const; nobody else reads them before they are freed. */
        if (json_is_string(value))
            wipe((char *)(uintptr_t)json_string_value(value), json_string_length(value));
    }
    json_decref(root);
    if (status != CUZK_OK) wipe(out, sizeof *out);
    return status;
}
