/* Prefix sums over the threads of a block. */

/* Exclusive prefix sum over the block's threads, whole warps of them; *total gets the sum.  scratch: 33 numbers in shared memory. */
template <class T> static __device__ __forceinline__ T block_scan(T v, T *scratch, T *total)
{
    const uint32_t all = 0xffffffffu;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    T x = v;
    for (int d = 1; d < 32; d <<= 1) {
        const T y = __shfl_up_sync(all, x, d);
        if (lane >= d) x += y;
    }
    __syncthreads();
    if (lane == 31) scratch[warp] = x;
    __syncthreads();
    if (warp == 0) {
        const T own = lane < warps ? scratch[lane] : 0;
        T s = own;
        for (int d = 1; d < 32; d <<= 1) {
            const T y = __shfl_up_sync(all, s, d);
            if (lane >= d) s += y;
        }
        scratch[lane] = s - own;
        if (lane == 31) scratch[32] = s;
    }
    __syncthreads();
    *total = scratch[32];
    return scratch[warp] + x - v;
}
