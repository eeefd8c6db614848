/* Gives back what proof and key readers took. */
#include "formats/groth16_points.h"
#include <stdlib.h>
#include <string.h>

void vk_points_fini(struct vk_points *vk)
{
    free(vk->ic);
    memset(vk, 0, sizeof *vk);
}

void public_values_fini(struct public_values *p)
{
    free(p->value);
    memset(p, 0, sizeof *p);
}
