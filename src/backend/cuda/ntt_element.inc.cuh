/* What all kernels of the transforms share.  Takes  FE  prefix of the field. */
#include "backend/cuda/ntt_kernels.h"
#include "backend/cuda/launch.h"
#include "backend/cuda/fe_device_names.h"

static __device__ __forceinline__ const fe_t *param(const struct ntt_element *e) { return (const fe_t *)e; }

/* a + b, (a - b) */
static __device__ __forceinline__ void cross(fe_t *a, fe_t *b)
{
    fe_t s;
    fe_add(&s, a, b);
    fe_sub(b, a, b);
    *a = s;
}

static __device__ __forceinline__ uint4 *shared_points(void)
{
    SHARED_DYNAMIC(uint4, points);
    return points;
}
