/* The part of the CUDA runtime's interface that cuzk uses, for builds in which tests/cuda_host stands for the runtime.
 *
 * Names, values and meanings are those of CUDA 13 (https://docs.nvidia.com/cuda/cuda-runtime-api).  Found in the include path before
 * any CUDA toolkit; C and C++.  What a test may change about the device is in cuda_host.h. */
#ifndef CUZK_TESTS_CUDA_HOST_CUDA_RUNTIME_API_H
#define CUZK_TESTS_CUDA_HOST_CUDA_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#define CUDART_VERSION 13000

/* X(name, value, text) */
#define CUDA_HOST_ERRORS(X)                                                                                             \
    X(cudaSuccess, 0, "no error")                                                                                       \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                                                     \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                                                    \
    X(cudaErrorInitializationError, 3, "initialization error")                                                          \
    X(cudaErrorCudartUnloading, 4, "driver shutting down")                                                              \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                               \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                         \
    X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")                  \
    X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                             \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                                    \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                     \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                            \
    X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")                 \
    X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                            \
    X(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution")                    \
    X(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.")              \
    X(cudaErrorSystemNotReady, 802, "system not yet initialized")                                                       \
    X(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination")            \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                                   \
    X(cudaErrorNotReady, 600, "device not ready")                                                                       \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                         \
    X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                    \
    X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                           \
    X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                                         \
    X(cudaErrorAssert, 710, "device-side assert triggered")                                                             \
    X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")         \
    X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")               \
    X(cudaErrorHardwareStackError, 714, "hardware stack error")                                                         \
    X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                                       \
    X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                            \
    X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")                      \
    X(cudaErrorInvalidPc, 718, "invalid program counter")                                                               \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                        \
    X(cudaErrorNotSupported, 801, "operation not supported")                                                            \
    X(cudaErrorUnknown, 999, "unknown error")

typedef enum cudaError {
#define CUDA_HOST_ENUM(name, value, text) name = value,
    CUDA_HOST_ERRORS(CUDA_HOST_ENUM)
#undef CUDA_HOST_ENUM
} cudaError_t;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;

enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

enum {
    cudaStreamDefault = 0, cudaStreamNonBlocking = 1,
    cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
    cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
    cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterReadOnly = 8,
    cudaDeviceScheduleAuto = 0, cudaDeviceScheduleBlockingSync = 4,
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int regsPerBlock, warpSize, maxThreadsPerBlock, major, minor, multiProcessorCount, l2CacheSize, memoryBusWidth, maxThreadsPerMultiProcessor;
    int pciBusID, pciDeviceID, pciDomainID, integrated, ECCEnabled;
};
struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};

#ifdef __cplusplus
extern "C" {
#endif
const char *cudaGetErrorName(cudaError_t e);
const char *cudaGetErrorString(cudaError_t e);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDeviceGetPCIBusId(char *out, int size, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t s);
cudaError_t cudaFreeAsync(void *p, cudaStream_t s);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep);
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value);
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags);
cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *p);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s);
cudaError_t cudaStreamCreate(cudaStream_t *s);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaStreamQuery(cudaStream_t s);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *e);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventQuery(cudaEvent_t e);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t shared_bytes);
#ifdef __cplusplus
}
#endif

#endif
