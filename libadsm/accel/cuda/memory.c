/*
 * The CUDA back end: device memory, address ranges and pinned host memory.
 */
#include "accel/address/way.h"
#include "accel/cuda/call.h"
#include "accel/error.h"
#include "base/lock.h"

int adsm_cuda_host_pin(struct adsm_accel *accel, void *at, size_t bytes,
                       bool *owned)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    *owned = false;
    if (!cu->MemHostRegister || !cu->MemHostUnregister)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the driver has no cuMemHostRegister", NULL);
    struct adsm_cuda_visit visit;
    int status = adsm_cuda_enter(&visit, accel);
    if (status != ADSM_OK)
        return status;
    adsm_cu_result result =
        cu->MemHostRegister(at, bytes, ADSM_CU_HOSTREGISTER_PORTABLE);
    *owned = result == ADSM_CU_SUCCESS;
    if (result == ADSM_CU_HOST_MEMORY_ALREADY_REGISTERED)
        result = ADSM_CU_SUCCESS;
    /* Drivers differ in what they say of memory that they cannot lock, and at
     * the limit of it. That nothing more is known is no sign of a lost device:
     * the next call would tell. */
    bool unknown = result == ADSM_CU_UNKNOWN;
    if (unknown)
        visit.accel = NULL;
    status = adsm_cuda_leave(&visit, "MemHostRegister", result);
    if (status == ADSM_OK || status == ADSM_E_UNSUPPORTED ||
        (status == ADSM_E_DEVICE_LOST && !unknown))
        return status;
    return ADSM_E_LIMIT;
}

int adsm_cuda_host_unpin(struct adsm_accel *accel, void *at)
{
    return ADSM_CUDA(accel, MemHostUnregister, at);
}

int adsm_cuda_memory_alloc(struct adsm_accel *accel, size_t bytes,
                           struct adsm_daddr *at)
{
    adsm_cu_deviceptr found = 0;
    int status = ADSM_CUDA(accel, MemAlloc, &found, bytes);
    at->at = found;
    return status;
}

int adsm_cuda_memory_free(struct adsm_accel *accel, struct adsm_daddr at)
{
    return ADSM_CUDA(accel, MemFree, at.at);
}

int adsm_cuda_memory_info(struct adsm_accel *accel, size_t *free_bytes,
                          size_t *total_bytes)
{
    return ADSM_CUDA(accel, MemGetInfo, free_bytes, total_bytes);
}

bool adsm_cuda_memory_is_managed(struct adsm_accel *accel, struct adsm_daddr at)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    int managed = 0;
    return cu->PointerGetAttribute &&
           ADSM_CUDA(accel, PointerGetAttribute, &managed,
                     ADSM_CU_POINTER_IS_MANAGED, at.at) == ADSM_OK &&
           managed != 0;
}

/* What drivers before CUDA 11.3 do not know comes last. */
static int find(struct adsm_daddr at, struct adsm_memory *memory,
                unsigned count)
{
    int asked[] = {ADSM_CU_POINTER_MEMORY_TYPE, ADSM_CU_POINTER_IS_MANAGED,
                   ADSM_CU_POINTER_CONTEXT,     ADSM_CU_POINTER_DEVICE_ORDINAL,
                   ADSM_CU_POINTER_RANGE_START, ADSM_CU_POINTER_RANGE_BYTES,
                   ADSM_CU_POINTER_POOL,        ADSM_CU_POINTER_ACCESS};
    unsigned type = 0, managed = 0, access = ADSM_CU_MEM_ACCESS_READ_WRITE;
    void *pool = NULL;
    *memory = (struct adsm_memory){.ordinal = -1};
    void *answers[] = {&type,
                       &managed,
                       &memory->context,
                       &memory->ordinal,
                       &memory->begin.at,
                       &memory->bytes,
                       &pool,
                       &access};
    if (ADSM_CUDA(NULL, PointerGetAttributes, count, asked, answers, at.at) !=
        ADSM_OK)
        return ADSM_E_UNSUPPORTED;
    /* Neither a context's nor a pool's: mapped to reserved addresses. */
    memory->mapped = !memory->context && !pool;
    /* What is mapped may be in nobody's reach yet. */
    bool is = type == ADSM_CU_MEMORY_DEVICE && !managed && memory->bytes != 0 &&
              memory->ordinal >= 0 &&
              (!memory->mapped || access == ADSM_CU_MEM_ACCESS_READ_WRITE);
    return is ? ADSM_OK : ADSM_E_NOT_FOUND;
}

int adsm_cuda_memory_find(struct adsm_daddr at, struct adsm_memory *memory)
{
    enum { BEFORE_POOLS = 6, ALL = 8 };
    if (!adsm_cuda_api()->PointerGetAttributes)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the driver has no cuPointerGetAttributes",
                               NULL);
    int status = find(at, memory, ALL);
    if (status == ADSM_E_UNSUPPORTED)
        status = find(at, memory, BEFORE_POOLS);
    return status == ADSM_OK ? status : ADSM_E_NOT_FOUND;
}

static struct adsm_cu_allocation_prop on_device(const struct adsm_accel *accel)
{
    return (struct adsm_cu_allocation_prop){
        .type = ADSM_CU_MEM_ALLOCATION_PINNED,
        .location = {.type = ADSM_CU_MEM_LOCATION_DEVICE, .id = accel->ordinal},
    };
}

int adsm_cuda_range_granule(struct adsm_accel *accel, size_t *bytes)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    if (!cu->MemAddressReserve || !cu->MemAddressFree || !cu->MemCreate ||
        !cu->MemRelease || !cu->MemMap || !cu->MemUnmap || !cu->MemSetAccess ||
        !cu->MemGetAllocationGranularity)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the driver cannot reserve device addresses",
                               NULL);
    int able = 0;
    int status = ADSM_CUDA(accel, DeviceGetAttribute, &able,
                           ADSM_CU_DEVICE_VMM_SUPPORTED, accel->ordinal);
    if (status == ADSM_OK && !able)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the device cannot map memory to reserved "
                               "addresses",
                               NULL);
    struct adsm_cu_allocation_prop prop = on_device(accel);
    if (status == ADSM_OK)
        status = ADSM_CUDA(accel, MemGetAllocationGranularity, bytes, &prop,
                           ADSM_CU_MEM_GRANULARITY_MINIMUM);
    return status;
}

int adsm_cuda_range_reserve(struct adsm_accel *accel, size_t bytes,
                            struct adsm_daddr *at)
{
    adsm_cu_deviceptr found = 0;
    /* Alignment 0 is the granularity; more than that is refused by some
     * drivers, so callers that need more reserve more. */
    int status = ADSM_CUDA(accel, MemAddressReserve, &found, bytes, 0, 0, 0);
    at->at = found;
    return status;
}

/* Ranges belong to no context: they are given back when it is gone, too. */
int adsm_cuda_range_free(struct adsm_accel *accel, struct adsm_daddr at,
                         size_t bytes)
{
    (void)accel;
    return ADSM_CUDA(NULL, MemAddressFree, at.at, bytes);
}

int adsm_cuda_range_open(struct adsm_accel *accel, struct adsm_daddr at,
                         size_t bytes, int ordinal, bool enable)
{
    struct adsm_cu_access access = {
        .location = {.type = ADSM_CU_MEM_LOCATION_DEVICE, .id = ordinal},
        .flags = enable ? ADSM_CU_MEM_ACCESS_READ_WRITE : 0,
    };
    return ADSM_CUDA(accel, MemSetAccess, at.at, bytes, &access, 1);
}

/* The device itself, and those that were let in before. */
static int open_new(struct adsm_accel *accel, struct adsm_daddr at,
                    size_t bytes)
{
    adsm_device_set guests = atomic_load(&accel->guests);
    int status = adsm_cuda_range_open(accel, at, bytes, accel->ordinal, true);
    for (int i = 0; i < ADSM_MOST_DEVICES && status == ADSM_OK; i++)
        if (guests & adsm_device_bit(i))
            status = adsm_cuda_range_open(accel, at, bytes, i, true);
    return status;
}

int adsm_cuda_piece_create(struct adsm_accel *accel, size_t bytes,
                           uint64_t *handle)
{
    struct adsm_cu_allocation_prop prop = on_device(accel);
    adsm_cu_allocation memory = 0;
    int status = ADSM_CUDA(accel, MemCreate, &memory, bytes, &prop, 0);
    *handle = memory;
    return status;
}

int adsm_cuda_piece_free(struct adsm_accel *accel, uint64_t handle)
{
    (void)accel; /* handles outlive contexts */
    return ADSM_CUDA(NULL, MemRelease, handle);
}

/* Drivers wait for kernels, also of other contexts, and with their locks held:
 * a handler that touched shared memory would wait for those. */
static int unmap(struct adsm_daddr at, size_t bytes)
{
    struct adsm_cuda_visit visit;
    int status = adsm_cuda_enter(&visit, NULL);
    if (status != ADSM_OK)
        return status;
    uint64_t opened = adsm_quiet_wait_begin();
    adsm_cu_result result = adsm_cuda_api()->MemUnmap(at.at, bytes);
    adsm_quiet_wait_end(opened);
    return adsm_cuda_leave(&visit, "MemUnmap", result);
}

int adsm_cuda_pieces_map(struct adsm_accel *accel, struct adsm_daddr at,
                         size_t piece_bytes, const uint64_t *handles,
                         size_t count)
{
    size_t mapped = 0;
    int status = ADSM_OK;
    while (mapped < count && status == ADSM_OK) {
        uint64_t to = at.at + mapped * piece_bytes;
        status =
            ADSM_CUDA(accel, MemMap, to, piece_bytes, 0, handles[mapped], 0);
        mapped += status == ADSM_OK;
    }
    if (status == ADSM_OK)
        status = open_new(accel, at, count * piece_bytes);
    if (status == ADSM_OK)
        atomic_fetch_add_explicit(&accel->address->mapped, count * piece_bytes,
                                  memory_order_relaxed);
    else if (mapped > 0)
        (void)unmap(at, mapped * piece_bytes);
    return status;
}

int adsm_cuda_pieces_unmap(struct adsm_accel *accel, struct adsm_daddr at,
                           size_t bytes)
{
    int status = unmap(at, bytes);
    if (status == ADSM_OK)
        atomic_fetch_sub_explicit(&accel->address->mapped, bytes,
                                  memory_order_relaxed);
    return status;
}

int adsm_cuda_range_map(struct adsm_accel *accel, struct adsm_daddr at,
                        size_t bytes, uint64_t *handle)
{
    int status = adsm_cuda_piece_create(accel, bytes, handle);
    if (status != ADSM_OK)
        return status;
    status = adsm_cuda_pieces_map(accel, at, bytes, handle, 1);
    if (status != ADSM_OK)
        (void)adsm_cuda_piece_free(accel, *handle);
    return status;
}

int adsm_cuda_range_unmap(struct adsm_accel *accel, struct adsm_daddr at,
                          size_t bytes, uint64_t handle)
{
    int status = unmap(at, bytes);
    /* The handle goes even so: nobody else would ever release it. */
    int released = adsm_cuda_piece_free(accel, handle);
    atomic_fetch_sub_explicit(&accel->address->mapped, bytes,
                              memory_order_relaxed);
    if (status == ADSM_OK)
        status = released;
    return status == ADSM_OK ? adsm_accel_health(accel) : status;
}
