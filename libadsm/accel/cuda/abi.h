/*
 * The part of the CUDA Driver API's binary interface that this project calls.
 *
 * Ours, so that nothing needs the SDK to build: the same numbers and layouts
 * under names that cannot collide with those of a real cuda.h. Handles are
 * pointers to things only the driver knows. No code, no lock.
 */
#ifndef ADSM_ACCEL_CUDA_ABI_H
#define ADSM_ACCEL_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int adsm_cu_result;
typedef int adsm_cu_device;
typedef unsigned long long adsm_cu_deviceptr;
typedef unsigned long long adsm_cu_allocation; /* generic handle of the VMM */
typedef struct adsm_cu_context_s *adsm_cu_context;
typedef struct adsm_cu_stream_s *adsm_cu_stream;
typedef struct adsm_cu_event_s *adsm_cu_event;
typedef struct adsm_cu_module_s *adsm_cu_module;
typedef struct adsm_cu_function_s *adsm_cu_function;

/* Results that are told apart; all others only have a name and a text. */
enum {
    ADSM_CU_SUCCESS = 0,
    ADSM_CU_INVALID_VALUE = 1,
    ADSM_CU_OUT_OF_MEMORY = 2,
    ADSM_CU_NOT_INITIALIZED = 3,
    ADSM_CU_DEINITIALIZED = 4,
    ADSM_CU_DEVICE_UNAVAILABLE = 46,
    ADSM_CU_NO_DEVICE = 100,
    ADSM_CU_INVALID_DEVICE = 101,
    ADSM_CU_INVALID_IMAGE = 200,
    ADSM_CU_INVALID_CONTEXT = 201,
    ADSM_CU_NO_BINARY_FOR_GPU = 209,
    ADSM_CU_ECC_UNCORRECTABLE = 214,
    ADSM_CU_UNSUPPORTED_LIMIT = 215,
    ADSM_CU_INVALID_PTX = 218,
    ADSM_CU_NVLINK_UNCORRECTABLE = 220,
    ADSM_CU_JIT_COMPILER_NOT_FOUND = 221,
    ADSM_CU_UNSUPPORTED_PTX_VERSION = 222,
    ADSM_CU_CONTAINED = 226,
    ADSM_CU_INVALID_SOURCE = 300,
    ADSM_CU_INVALID_HANDLE = 400,
    ADSM_CU_NOT_FOUND = 500,
    ADSM_CU_NOT_READY = 600,
    ADSM_CU_ILLEGAL_ADDRESS = 700,
    ADSM_CU_LAUNCH_OUT_OF_RESOURCES = 701,
    ADSM_CU_LAUNCH_TIMEOUT = 702,
    ADSM_CU_CONTEXT_IS_DESTROYED = 709,
    ADSM_CU_ASSERT = 710,
    ADSM_CU_HOST_MEMORY_ALREADY_REGISTERED = 712,
    ADSM_CU_HARDWARE_STACK_ERROR = 714,
    ADSM_CU_ILLEGAL_INSTRUCTION = 715,
    ADSM_CU_MISALIGNED_ADDRESS = 716,
    ADSM_CU_INVALID_ADDRESS_SPACE = 717,
    ADSM_CU_INVALID_PC = 718,
    ADSM_CU_LAUNCH_FAILED = 719,
    ADSM_CU_TENSOR_MEMORY_LEAK = 721,
    ADSM_CU_NOT_SUPPORTED = 801,
    ADSM_CU_MPS_CLIENT_TERMINATED = 810,
    ADSM_CU_UNKNOWN = 999,
};

enum {
    ADSM_CU_STREAM_NON_BLOCKING = 1,
    ADSM_CU_CAPTURE_RELAXED = 2,
    ADSM_CU_EVENT_BLOCKING_SYNC = 1,
    ADSM_CU_EVENT_DISABLE_TIMING = 2,
    ADSM_CU_HOSTREGISTER_PORTABLE = 1,
    ADSM_CU_MEMHOSTALLOC_PORTABLE = 1,
    ADSM_CU_MEMHOSTALLOC_DEVICEMAP = 2,
    ADSM_CU_POINTER_CONTEXT = 1,
    ADSM_CU_POINTER_MEMORY_TYPE = 2,
    ADSM_CU_POINTER_IS_MANAGED = 8,
    ADSM_CU_POINTER_DEVICE_ORDINAL = 9,
    ADSM_CU_POINTER_RANGE_START = 11,
    ADSM_CU_POINTER_RANGE_BYTES = 12,
    ADSM_CU_POINTER_ACCESS = 16,
    ADSM_CU_POINTER_POOL = 17,
    ADSM_CU_DEVICE_INTEGRATED = 18,
    ADSM_CU_DEVICE_PAGEABLE_ACCESS = 88,
    ADSM_CU_DEVICE_HOST_PAGE_TABLES = 100,
    ADSM_CU_DEVICE_VMM_SUPPORTED = 102,
    ADSM_CU_JIT_ERROR_LOG_BUFFER = 5,
    ADSM_CU_JIT_ERROR_LOG_BUFFER_BYTES = 6,
    ADSM_CU_MEM_ALLOCATION_PINNED = 1,
    ADSM_CU_MEM_LOCATION_DEVICE = 1,
    ADSM_CU_MEM_GRANULARITY_MINIMUM = 0,
    ADSM_CU_MEM_ACCESS_READ_WRITE = 3,
    ADSM_CU_MEMORY_HOST = 1,
    ADSM_CU_MEMORY_DEVICE = 2,
};

/** Stream handles that are not pointers. */
#define ADSM_CU_STREAM_LEGACY     ((adsm_cu_stream)0x1)
#define ADSM_CU_STREAM_PER_THREAD ((adsm_cu_stream)0x2)

struct adsm_cu_location {
    int type;
    int id;
};

struct adsm_cu_allocation_prop {
    int type;
    int requested_handle_types;
    struct adsm_cu_location location;
    void *win32_handle_meta_data;
    struct {
        unsigned char compression_type;
        unsigned char gpu_direct_rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } alloc_flags;
};

struct adsm_cu_access {
    struct adsm_cu_location location;
    int flags;
};

/** One side of a copy of a box. `context` counts in copies between devices
 *  only, and must be NULL in others. */
struct adsm_cu_copy3_side {
    size_t x_bytes, y, z, level;
    int memory;
    const void *host;
    adsm_cu_deviceptr device;
    void *array;
    adsm_cu_context context;
    size_t pitch, height; /* from row to row; rows from plane to plane */
};

struct adsm_cu_copy3 {
    struct adsm_cu_copy3_side from, to;
    size_t bytes, rows, planes;
};

_Static_assert(sizeof(struct adsm_cu_copy3) == 200 &&
                   offsetof(struct adsm_cu_copy3, to.memory) == 120,
               "layout of the driver's copies");

_Static_assert(sizeof(struct adsm_cu_allocation_prop) == 32 &&
                   sizeof(struct adsm_cu_access) == 12,
               "layout of the driver's structures");

#endif
