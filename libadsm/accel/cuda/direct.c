/*
 * The CUDA back end: page-locked host memory that kernels use where it is.
 */
#include "accel/cuda/call.h"
#include "accel/error.h"

static int attribute(struct adsm_accel *accel, int which, int *value)
{
    *value = 0;
    int status =
        ADSM_CUDA(accel, DeviceGetAttribute, value, which, accel->ordinal);
    /* A driver older than the attribute: no. */
    return status == ADSM_E_DEVICE_LOST ? status : ADSM_OK;
}

/* Does the device share the host's memory, and reach it by tables of its own?
 * Pages that are closed to the CPU would be to kernels that go by the host's. */
static int check_device(struct adsm_accel *accel, bool asked)
{
    int integrated, tables, pageable;
    int status = attribute(accel, ADSM_CU_DEVICE_INTEGRATED, &integrated);
    if (status == ADSM_OK)
        status = attribute(accel, ADSM_CU_DEVICE_HOST_PAGE_TABLES, &tables);
    if (status == ADSM_OK)
        status = attribute(accel, ADSM_CU_DEVICE_PAGEABLE_ACCESS, &pageable);
    if (status == ADSM_OK && tables)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "kernels go by the host's page table: what is "
                               "closed to the CPU would be closed to them",
                               NULL);
    if (status != ADSM_OK || integrated || (pageable && asked))
        return status;
    return adsm_accel_fail(
        ADSM_E_UNSUPPORTED,
        pageable ? "the device reads the host's pages, but across the bus"
                 : "the device has memory of its own",
        NULL);
}

/* Has the memory one address for both? */
static int check_address(struct adsm_accel *accel)
{
    adsm_cu_deviceptr device = 0;
    struct adsm_direct direct;
    int status = adsm_cuda_direct_alloc(accel, 1, &direct);
    if (status != ADSM_OK)
        return status;
    status = ADSM_CUDA(accel, MemHostGetDevicePointer, &device, direct.host, 0);
    int freed = adsm_cuda_direct_free(accel, direct.handle);
    if (status == ADSM_OK && device != direct.device.at)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the host's memory has another address on the "
                               "device",
                               NULL);
    return status == ADSM_OK ? freed : status;
}

int adsm_cuda_direct_probe(struct adsm_accel *accel, bool asked)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    if (!cu->MemHostAlloc || !cu->MemFreeHost || !cu->MemHostGetDevicePointer)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the driver has no cuMemHostAlloc", NULL);
    int status = check_device(accel, asked);
    return status == ADSM_OK ? check_address(accel) : status;
}

int adsm_cuda_direct_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_direct *direct)
{
    /* Portable: other devices of the program may use it as well. */
    int status = ADSM_CUDA(accel, MemHostAlloc, &direct->handle, bytes,
                           ADSM_CU_MEMHOSTALLOC_PORTABLE |
                               ADSM_CU_MEMHOSTALLOC_DEVICEMAP);
    direct->host = direct->handle;
    direct->device.at = (uintptr_t)direct->host;
    return status;
}

int adsm_cuda_direct_free(struct adsm_accel *accel, void *handle)
{
    return ADSM_CUDA(accel, MemFreeHost, handle);
}
