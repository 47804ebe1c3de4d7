/*
 * Owns: cudaGetDeviceProperties, in the layout of each version.
 */
#include <string.h>

#include "cudart/old_device.h"
#include "cudart/rt.h"

/* Attributes the driver does not know read as 0. */
static int attribute(CUdevice_attribute which, int device)
{
    int value = 0;
    return cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value
                                                                       : 0;
}

/* What is no attribute: the same fields in every version.  Nothing is written
 * for a device that is none. */
#define IDENTIFY(p, device)                                                    \
    do {                                                                       \
        char name[sizeof((p)->name)];                                          \
        SC_RT_TRY(sc_rt_init());                                               \
        SC_RT_TRY(SC_RT_DRIVER(cuDeviceGetName(name, sizeof name, (device)))); \
        memset((p), 0, sizeof *(p));                                           \
        memcpy((p)->name, name, sizeof name);                                  \
        SC_RT_TRY(                                                             \
            SC_RT_DRIVER(cuDeviceTotalMem(&(p)->totalGlobalMem, (device))));   \
        SC_RT_TRY(SC_RT_DRIVER(cuDeviceGetUuid(&(p)->uuid, (device))));        \
    } while (0)

#define SET(p, field, which, device)                                           \
    (p)->field = (__typeof__((p)->field))attribute(                            \
        CU_DEVICE_ATTRIBUTE_##which, (device));

#if SC_CUDART >= 13
static cudaError_t fill(struct cudaDeviceProp *p, int device)
{
    IDENTIFY(p, device);
#define SC_RT_PROPERTY(field, which)    SET(p, field, which, device)
#define SC_RT_PROPERTY_12(field, which) SET(p, field, which, device)
#define SC_RT_PROPERTY_13(field, which) SET(p, field, which, device)
#define SC_RT_PROPERTY_OLD(field, which)
#include "cudart/property.def"
    return cudaSuccess;
}

SC_RT cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    return sc_rt_done(prop ? fill(prop, device) : cudaErrorInvalidValue);
}
#else
static cudaError_t fill(struct sc_rt_prop_12 *p, int device)
{
    IDENTIFY(p, device);
#define SC_RT_PROPERTY(field, which)     SET(p, field, which, device)
#define SC_RT_PROPERTY_OLD(field, which) SET(p, field, which, device)
#define SC_RT_PROPERTY_12(field, which)  SET(p, field, which, device)
#define SC_RT_PROPERTY_13(field, which)
#include "cudart/property.def"
    return cudaSuccess;
}

SC_RT cudaGetDeviceProperties_v2(struct sc_rt_prop_12 *prop, int device);
SC_RT sc_rt_get_properties_11(void *prop,
                              int device) __asm__("cudaGetDeviceProperties");

SC_RT cudaGetDeviceProperties_v2(struct sc_rt_prop_12 *prop, int device)
{
    return sc_rt_done(prop ? fill(prop, device) : cudaErrorInvalidValue);
}

/* The struct of 11 is the beginning of that of 12. */
SC_RT sc_rt_get_properties_11(void *prop, int device)
{
    struct sc_rt_prop_12 all;
    if (!prop)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(fill(&all, device));
    memcpy(prop, &all, offsetof(struct sc_rt_prop_12, hostRegisterSupported));
    return cudaSuccess;
}
#endif
