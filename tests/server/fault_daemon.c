/* Makes a cuzkd of tests whose backends fail as the environment says; cuzkd itself knows nothing of it.
 *
 *     CUZK_FAULT="N STATUS WRONG"    every N-th call of the backend fails with STATUS (0: none), every WRONG-th sum is wrong (0: none)
 *
 * The backends are chosen with --engine.backend fault or blind. */
#include "backend/fault/blind_backend.h"
#include "backend/fault/fault_backend.h"
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void arm(void)
{
    const char *text = getenv("CUZK_FAULT");
    unsigned long long every = 0, wrong = 0;
    int status = 0;

    if (text == NULL) return;
    if (sscanf(text, "%llu %d %llu", &every, &status, &wrong) != 3) {
        fprintf(stderr, "CUZK_FAULT is not 'N STATUS WRONG': %s\n", text);
        exit(2);
    }
    fault_arm(UINT64_MAX, (cuzk_status)status);
    fault_every(every, (cuzk_status)status, wrong);
}
