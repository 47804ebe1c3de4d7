/*
 * A driver that believes what copies call their sides: what is the host's by name
 * is refused where it is the device's. See planted.h, word "named".
 */
#include "planted.h"

#include <cuda.h>
#include <string.h>

/* The function behind, by the type of its declaration. */
#define REAL(name) ((__typeof__(&name))planted_real(#name))

static bool is_device(const void *at)
{
    CUmemorytype type;
    return at &&
           REAL(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       (CUdeviceptr)at) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

/* Either side of a copy of rows or of layers. */
#define LIES(copy)                                                             \
    (((copy)->srcMemoryType == CU_MEMORYTYPE_HOST &&                           \
      is_device((copy)->srcHost)) ||                                           \
     ((copy)->dstMemoryType == CU_MEMORYTYPE_HOST &&                           \
      is_device((copy)->dstHost)))

#define NAMED(name, lies, arguments, ...)                                      \
    static CUresult name##_named(__VA_ARGS__)                                  \
    {                                                                          \
        return (lies) ? CUDA_ERROR_INVALID_VALUE : REAL(name) arguments;       \
    }

NAMED(cuMemcpy2D_v2, LIES(copy), (copy), const CUDA_MEMCPY2D *copy)
NAMED(cuMemcpy2DUnaligned_v2, LIES(copy), (copy), const CUDA_MEMCPY2D *copy)
NAMED(cuMemcpy2DAsync_v2, LIES(copy), (copy, stream), const CUDA_MEMCPY2D *copy,
      CUstream stream)
NAMED(cuMemcpy3D_v2, LIES(copy), (copy), const CUDA_MEMCPY3D *copy)
NAMED(cuMemcpy3DAsync_v2, LIES(copy), (copy, stream), const CUDA_MEMCPY3D *copy,
      CUstream stream)
NAMED(cuMemcpyAtoH_v2, is_device(to), (to, from, at, bytes), void *to,
      CUarray from, size_t at, size_t bytes)
NAMED(cuMemcpyHtoA_v2, is_device(from), (to, at, from, bytes), CUarray to,
      size_t at, const void *from, size_t bytes)
NAMED(cuMemcpyAtoHAsync_v2, is_device(to), (to, from, at, bytes, stream),
      void *to, CUarray from, size_t at, size_t bytes, CUstream stream)
NAMED(cuMemcpyHtoAAsync_v2, is_device(from), (to, at, from, bytes, stream),
      CUarray to, size_t at, const void *from, size_t bytes, CUstream stream)

#define PLANT(name)                                                            \
    {                                                                          \
#name, (planted_function *)name##_named                                \
    }

static const struct {
    const char *name;
    planted_function *function;
} plants[] = {
    PLANT(cuMemcpy2D_v2),        PLANT(cuMemcpy2DUnaligned_v2),
    PLANT(cuMemcpy2DAsync_v2),   PLANT(cuMemcpy3D_v2),
    PLANT(cuMemcpy3DAsync_v2),   PLANT(cuMemcpyAtoH_v2),
    PLANT(cuMemcpyHtoA_v2),      PLANT(cuMemcpyAtoHAsync_v2),
    PLANT(cuMemcpyHtoAAsync_v2),
};

planted_function *planted_named(const char *name)
{
    if (!planted_has("named", NULL))
        return NULL;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        if (strcmp(plants[i].name, name) == 0)
            return plants[i].function;
    return NULL;
}
