/*
 * The few types of the CUDA Driver API that the hooks look into.
 *
 * The library is built without the CUDA SDK; a test compares these layouts
 * with cuda.h. Handles are opaque pointers, results plain numbers.
 */
#ifndef INTERPOSE_CUDA_TYPES_H
#define INTERPOSE_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef void *CUcontext;
typedef void *CUstream;
typedef void *CUevent;
typedef void *CUgreenCtx;
typedef void *CUlibrary;
typedef void *CUkernel;
typedef void *CUmodule;
typedef void *CUfunction;
typedef void *CUarray;
typedef void *CUmemoryPool;
typedef void *CUgraph;
typedef void *CUgraphExec;
typedef void *CUgraphNode;

/* Of memory, for other processes. */
struct cuda_ipc_handle {
    char bytes[64];
};

typedef void cuda_host_fn(void *);
typedef void cuda_stream_callback(CUstream, CUresult, void *);

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_CONTAINED = 226,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
    CUDA_ERROR_INVALID_PC = 718,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999,
};

enum { CUDA_MEMORY_HOST = 1, CUDA_MEMORY_DEVICE = 2, CUDA_MEMORY_UNIFIED = 4 };

/* Stream handles with a meaning of their own. */
#define CUDA_STREAM_LEGACY     ((CUstream)0x1)
#define CUDA_STREAM_PER_THREAD ((CUstream)0x2)

/* Entries of the `extra` argument of a launch. */
#define CUDA_PARAM_END    ((void *)0x00)
#define CUDA_PARAM_BUFFER ((void *)0x01)
#define CUDA_PARAM_SIZE   ((void *)0x02)

/** CUDA_MEMCPY2D. */
struct cuda_copy2d {
    size_t src_x, src_y;
    int src_type;
    const void *src_host;
    CUdeviceptr src_device;
    CUarray src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    void *dst_host;
    CUdeviceptr dst_device;
    CUarray dst_array;
    size_t dst_pitch;
    size_t width, height;
};

/** CUDA_MEMCPY3D; CUDA_MEMCPY3D_PEER has contexts where this is reserved. */
struct cuda_copy3d {
    size_t src_x, src_y, src_z, src_lod;
    int src_type;
    const void *src_host;
    CUdeviceptr src_device;
    CUarray src_array;
    CUcontext src_context;
    size_t src_pitch, src_height;
    size_t dst_x, dst_y, dst_z, dst_lod;
    int dst_type;
    void *dst_host;
    CUdeviceptr dst_device;
    CUarray dst_array;
    CUcontext dst_context;
    size_t dst_pitch, dst_height;
    size_t width, height, depth;
};

/** CUlaunchConfig. */
struct cuda_launch {
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    void *attributes;
    unsigned attribute_count;
};

/** CUDA_HOST_NODE_PARAMS. */
struct cuda_host_node {
    cuda_host_fn *function;
    void *data;
};

/** CUDA_MEM_ALLOC_NODE_PARAMS. */
struct cuda_alloc_node {
    char pool[88];
    const void *access;
    size_t access_count, bytes;
    CUdeviceptr at; /* out */
};

enum { CUDA_GRAPH_NODE_HOST = 3, CUDA_GRAPH_NODE_ALLOC = 10 };

/** CUgraphNodeParams. */
struct cuda_node_params {
    int type;
    int reserved[3];
    union {
        struct cuda_host_node host;
        struct cuda_alloc_node alloc;
        long long words[29];
    };
    long long more;
};

#endif
