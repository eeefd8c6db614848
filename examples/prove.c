/* Proves with libcuzk: a key and a witness in, a proof and its public inputs out.
 *
 *     cc prove.c $(pkg-config --cflags --libs cuzk) -o prove
 *     ./prove circuit.zkey witness.wtns proof.json public.json */
#include <cuzk/cuzk.h>
#include <stdio.h>

static int explain(const cuzk_error *error)
{
    fprintf(stderr, "%s: %s\n", cuzk_status_name(error->status), error->text);
    if (error->path[0] != '\0') fprintf(stderr, "  in %s\n", error->path);
    if (error->advice[0] != '\0') fprintf(stderr, "  %s\n", error->advice);
    return cuzk_status_exit_code(error->status);
}

int main(int argc, char **argv)
{
    cuzk_error error = CUZK_ERROR_INIT;
    cuzk_context *context = NULL;
    cuzk_key *key = NULL;
    cuzk_witness *witness = NULL;
    cuzk_proof *proof = NULL;
    cuzk_publics *publics = NULL;
    int exit_code = 0;

    if (argc != 5) {
        fprintf(stderr, "usage: %s KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json\n", argv[0]);
        return 2;
    }
    /* The context and the key are made once; a server keeps them and proves from as many threads as it likes. */
    if (cuzk_context_create(&context, NULL, &error) != CUZK_OK ||
        cuzk_key_open(&key, context, argv[1], NULL, &error) != CUZK_OK ||
        cuzk_witness_open(&witness, argv[2], &error) != CUZK_OK ||
        cuzk_prove(&proof, &publics, context, key, witness, NULL, &error) !=
            CUZK_OK || /* verified before it is returned */
        cuzk_publics_save(publics, argv[4], &error) != CUZK_OK ||
        cuzk_proof_save(proof, argv[3], CUZK_JSON, &error) != CUZK_OK) {
        exit_code = explain(&error);
    } else {
        cuzk_timings timings = CUZK_TIMINGS_INIT;
        cuzk_proof_timings(proof, &timings);
        printf("proved and verified in %.1f ms with cuzk %s\n", timings.total_ms, cuzk_version());
    }
    cuzk_publics_close(publics);
    cuzk_proof_close(proof);
    cuzk_witness_close(witness);
    cuzk_key_close(key);
    cuzk_context_destroy(context);
    return exit_code;
}
