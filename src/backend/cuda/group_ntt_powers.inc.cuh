/* Powers of a root of unity as scalars of half the length, for one scalar field.
 *
 * Takes  FE, FE_UPPER  the field      GLV  struct glv_lattice's initialiser      POWERS  exported name */
#include "backend/cuda/group_ntt_kernels.h"
#include "backend/cuda/launch.h"
#include "curve/glv.h"
#include "backend/cuda/fe_device_names.h"

#define THREADS 128

static_assert(sizeof(struct glv_scalar) == GROUP_NTT_SCALAR_BYTES, "the host counts with this size");

static __global__ void __launch_bounds__(THREADS) k_powers(struct group_ntt_powers p)
{
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.count) return;
    const struct glv_lattice lattice = GLV;
    struct glv_scalar scalar;
    uint64_t plain[4];
    fe_t w, k;
    fe_set_one(&w);
    if (p.first) fe_read_const(&w, p.first);
    for (unsigned b = 0; b < p.square_count; b++) {
        if (!((p.i0 + i) >> b & 1)) continue;
        fe_read_const(&k, (const uint8_t *)p.squares + b * sizeof k);
        fe_mul(&w, &k, &w);
    }
    fe_set_zero(&k); /* the integer 1: out of Montgomery form */
    k.v[0] = 1;
    fe_mul(&w, &k, &w);
    fe_canon(&w);
    for (int n = 0; n < 4; n++) plain[n] = w.v[2 * n] | (uint64_t)w.v[2 * n + 1] << 32;
    glv_split(&scalar, &lattice, plain);
    ((struct glv_scalar *)p.out)[i] = scalar;
}

extern "C" int POWERS(const struct group_ntt_powers *p, void *stream)
{
    LAUNCH(k_powers, (unsigned)((p->count + THREADS - 1) / THREADS), THREADS, 0, stream)(*p);
    return cudaGetLastError();
}
