/*
 * Owns: address reservations, physical memory handles, their mappings, and
 * the entry points for them.
 * Does not own: the block table (memory.c).  Lock: sc_memory_lock.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/addresses.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/handle.h"
#include "driver/memory.h"

struct sc_physical {
    struct sc_device *device;
    uint64_t offset, bytes;
    unsigned handles; /* creations and retains not released */
    unsigned maps;
    CUmemAllocationProp prop;
};

/* under sc_memory_lock */
static struct sc_range *reserved;
static size_t reserved_count, reserved_capacity;

static bool is_paged(uint64_t value)
{
    return value % SC_PAGE == 0;
}

static bool remember(uint64_t base, uint64_t bytes)
{
    if (reserved_count == reserved_capacity) {
        size_t capacity = reserved_capacity ? reserved_capacity * 2 : 16;
        void *grown = realloc(reserved, capacity * sizeof *reserved);
        if (!grown)
            return false;
        reserved = grown;
        reserved_capacity = capacity;
    }
    reserved[reserved_count++] = (struct sc_range){base, bytes};
    return true;
}

static struct sc_range *reservation_of(uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < reserved_count; i++)
        if (address >= reserved[i].base &&
            address - reserved[i].base < reserved[i].bytes &&
            bytes <= reserved[i].bytes - (address - reserved[i].base))
            return &reserved[i];
    return NULL;
}

SC_API cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment,
                           CUdeviceptr addr, unsigned long long flags)
{
    SC_TRY(sc_enter());
    if (!ptr || size == 0 || !is_paged(size) || flags != 0 ||
        (alignment & (alignment - 1)))
        return CUDA_ERROR_INVALID_VALUE;
    if (alignment < SC_PAGE)
        alignment = SC_PAGE;
    pthread_mutex_lock(&sc_memory_lock);
    uint64_t base = sc_addresses_map(size, alignment, addr);
    if (base != SC_RANGES_NONE && !remember(base, size)) {
        sc_addresses_unmap(base, size);
        base = SC_RANGES_NONE;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    if (base == SC_RANGES_NONE)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *ptr = base;
    return CUDA_SUCCESS;
}

SC_API cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    SC_TRY(sc_enter());
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_range *r = reservation_of(ptr, size);
    struct sc_block *inside = sc_memory_next(ptr);
    if (r && r->base == ptr && r->bytes == size &&
        !(inside && inside->address < ptr + size)) {
        *r = reserved[--reserved_count];
        sc_addresses_unmap(ptr, size);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}

static struct sc_device *location_device(const CUmemLocation *location)
{
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return NULL;
    return sc_device_get(location->id);
}

static CUresult check_prop(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return location_device(&prop->location) ? CUDA_SUCCESS
                                            : CUDA_ERROR_INVALID_DEVICE;
}

SC_API cuMemGetAllocationGranularity(size_t *granularity,
                                     const CUmemAllocationProp *prop,
                                     CUmemAllocationGranularity_flags option)
{
    SC_TRY(sc_enter());
    if (!granularity || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(check_prop(prop));
    *granularity = SC_PAGE;
    return CUDA_SUCCESS;
}

SC_API cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                   const CUmemAllocationProp *prop, unsigned long long flags)
{
    SC_TRY(sc_enter());
    if (!handle || size == 0 || !is_paged(size) || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(check_prop(prop));
    struct sc_device *device = location_device(&prop->location);
    pthread_mutex_lock(&sc_start_lock);
    CUresult result = sc_device_start(device);
    pthread_mutex_unlock(&sc_start_lock);
    SC_TRY(result);
    struct sc_physical *physical = calloc(1, sizeof *physical);
    if (!physical)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *physical = (struct sc_physical){
        .device = device, .bytes = size, .handles = 1, .prop = *prop};
    pthread_mutex_lock(&sc_memory_lock);
    physical->offset = sc_memory_take(device, size);
    bool fits = physical->offset != SC_RANGES_NONE;
    bool ok = fits;
    if (ok && !sc_handle_add(physical, SC_HANDLE_PHYSICAL)) {
        sc_memory_give(device, physical->offset, size);
        ok = false;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    if (!ok) {
        free(physical);
        return fits ? CUDA_ERROR_OUT_OF_MEMORY : sc_memory_refuse(device, size);
    }
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)physical;
    return CUDA_SUCCESS;
}

static struct sc_physical *physical_of(CUmemGenericAllocationHandle handle)
{
    struct sc_physical *physical = (void *)(uintptr_t)handle;
    return sc_handle_is(physical, SC_HANDLE_PHYSICAL) ? physical : NULL;
}

/* Memory lives as long as it has a handle or a mapping. */
static void collect(struct sc_physical *physical)
{
    if (physical->handles == 0)
        sc_handle_remove(physical);
    if (physical->handles > 0 || physical->maps > 0)
        return;
    sc_memory_give(physical->device, physical->offset, physical->bytes);
    free(physical);
}

SC_API cuMemRelease(CUmemGenericAllocationHandle handle)
{
    SC_TRY(sc_enter());
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_physical *physical = physical_of(handle);
    if (physical) {
        physical->handles--;
        collect(physical);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}

static CUresult map_locked(CUdeviceptr ptr, size_t size,
                           struct sc_physical *physical)
{
    if (!physical || size != physical->bytes || !reservation_of(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_block *next = sc_memory_next(ptr);
    if (sc_memory_find(ptr) || (next && next->address < ptr + size))
        return CUDA_ERROR_ALREADY_MAPPED;
    struct sc_block block = {.address = ptr,
                             .bytes = size,
                             .span = size,
                             .offset = physical->offset,
                             .kind = SC_BLOCK_MAPPED,
                             .device = physical->device,
                             .physical = physical};
    if (!sc_memory_add(&block))
        return CUDA_ERROR_OUT_OF_MEMORY;
    physical->maps++;
    return CUDA_SUCCESS;
}

SC_API cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    SC_TRY(sc_enter());
    if (!is_paged(ptr) || size == 0 || !is_paged(size) || offset != 0 ||
        flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    CUresult result = map_locked(ptr, size, physical_of(handle));
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}

/* Does [ptr, ptr + size) consist of whole mapped blocks? */
static bool whole_blocks(uint64_t ptr, uint64_t size)
{
    uint64_t at = ptr, end = ptr + size;
    while (at < end) {
        struct sc_block *b = sc_memory_find(at);
        if (!b || b->kind != SC_BLOCK_MAPPED || b->address != at ||
            b->bytes > end - at)
            return false;
        at += b->bytes;
    }
    return at == end && size > 0;
}

static void for_devices(uint32_t set, struct sc_block *b,
                        void (*act)(struct sc_device *, struct sc_block *))
{
    for (int i = 0; i < sc_device_count(); i++)
        if (set & 1u << i)
            act(sc_device_get(i), b);
}

static void hide(struct sc_device *device, struct sc_block *b)
{
    sc_memory_hide(device, b->address, b->bytes);
}

static void show(struct sc_device *device, struct sc_block *b)
{
    sc_memory_show(device, b->device, b->address, b->bytes, b->offset,
                   b->writable & 1u << device->ordinal);
}

SC_API cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    SC_TRY(sc_enter());
    for (int i = 0; i < sc_device_count(); i++)
        sc_device_drain(sc_device_get(i));
    pthread_mutex_lock(&sc_memory_lock);
    bool ok = whole_blocks(ptr, size);
    for (uint64_t at = ptr; ok && at < ptr + size;) {
        struct sc_block *b = sc_memory_find(at);
        struct sc_physical *physical = b->physical;
        at += b->bytes;
        for_devices(b->readable, b, hide);
        sc_memory_remove(b);
        physical->maps--;
        collect(physical);
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_access(const CUmemAccessDesc *desc, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_NOT_SUPPORTED;
        struct sc_device *device = location_device(&desc[i].location);
        if (!device)
            return CUDA_ERROR_INVALID_DEVICE;
        if (desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
            desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
            desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
        pthread_mutex_lock(&sc_start_lock);
        CUresult result = sc_device_start(device);
        pthread_mutex_unlock(&sc_start_lock);
        SC_TRY(result);
    }
    return CUDA_SUCCESS;
}

static CUresult set_access(struct sc_block *b, const CUmemAccessDesc *desc)
{
    struct sc_device *device = location_device(&desc->location);
    uint32_t bit = 1u << device->ordinal;
    if (device != b->device && !sc_options.peer)
        return CUDA_ERROR_INVALID_DEVICE;
    b->readable &= ~bit;
    b->writable &= ~bit;
    if (desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
        b->readable |= bit;
    if (desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        b->writable |= bit;
    for_devices(bit, b, b->readable & bit ? show : hide);
    return CUDA_SUCCESS;
}

SC_API cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                      size_t count)
{
    SC_TRY(sc_enter());
    if (!desc || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(check_access(desc, count));
    pthread_mutex_lock(&sc_memory_lock);
    CUresult result =
        whole_blocks(ptr, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (uint64_t at = ptr; result == CUDA_SUCCESS && at < ptr + size;) {
        struct sc_block *b = sc_memory_find(at);
        for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
            result = set_access(b, &desc[i]);
        at += b->bytes;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}

SC_API cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                      CUdeviceptr ptr)
{
    struct sc_block block;
    SC_TRY(sc_enter());
    if (!flags || !location || !location_device(location) ||
        !sc_memory_lookup(ptr, &block) || block.kind != SC_BLOCK_MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    uint32_t bit = 1u << location->id;
    *flags = block.writable & bit   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : block.readable & bit ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                    : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

SC_API
cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                       CUmemGenericAllocationHandle handle)
{
    SC_TRY(sc_enter());
    struct sc_physical *physical = physical_of(handle);
    if (!prop || !physical)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = physical->prop;
    return CUDA_SUCCESS;
}

SC_API cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle,
                                   void *addr)
{
    SC_TRY(sc_enter());
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *b = sc_memory_find((uint64_t)(uintptr_t)addr);
    if (b && b->kind == SC_BLOCK_MAPPED &&
        (b->physical->handles > 0 ||
         sc_handle_add(b->physical, SC_HANDLE_PHYSICAL))) {
        b->physical->handles++;
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)b->physical;
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}
