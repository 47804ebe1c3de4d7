/*
 * Questions about an address.
 *
 * The driver knows the memory behind a shared address, but not the allocation:
 * several may lie in what it sees as one, and what it sees as mapped by the
 * program, or as page-locked memory of the host, is memory of cuMemAlloc to the
 * program. The driver answers first; what it cannot know is answered from here.
 *
 * Owns the identities of allocations: given out when they are asked for, kept
 * until other memory is allocated at the same address. Lock: one for all, rank
 * MODULE.
 */
#include "interpose/cuda/pointer.h"
#include "accel/accel.h"
#include "base/lock.h"
#include "base/status.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/context.h"
#include "mm/heap/heap.h"
#include "mm/object/movable.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* CUpointer_attribute, as far as answers are ours. */
enum {
    ATTRIBUTE_CONTEXT = 1,
    ATTRIBUTE_TYPE = 2,
    ATTRIBUTE_DEVICE_POINTER = 3,
    ATTRIBUTE_HOST_POINTER = 4,
    ATTRIBUTE_SYNC = 6,
    ATTRIBUTE_BUFFER_ID = 7,
    ATTRIBUTE_MANAGED = 8,
    ATTRIBUTE_ORDINAL = 9,
    ATTRIBUTE_IPC = 10,
    ATTRIBUTE_START = 11,
    ATTRIBUTE_BYTES = 12,
    ATTRIBUTE_MAPPED = 13,
    ATTRIBUTE_HANDLE_TYPES = 14,
    ATTRIBUTE_RDMA = 15,
    ATTRIBUTE_ACCESS = 16,
    ATTRIBUTE_POOL = 17,
    ATTRIBUTE_MAPPING_BYTES = 18,
    ATTRIBUTE_MAPPING_START = 19,
    ATTRIBUTE_BLOCK_ID = 20,
    ATTRIBUTE_DECOMPRESS = 21, /* the last of CUDA 13.0 */
};

/* No driver counts that far. */
#define FIRST_ID (UINT64_C(1) << 63)

struct identity {
    CUdeviceptr base; /* the key */
    uint64_t id;
    UT_hash_handle hh;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE);
static struct identity *identities;
static uint64_t given;
static _Atomic bool any_given;

void cuda_pointer_made(CUdeviceptr base)
{
    struct identity *old;
    if (hook_likely(!atomic_load_explicit(&any_given, memory_order_acquire)))
        return;
    adsm_lock_acquire(&lock);
    HASH_FIND(hh, identities, &base, sizeof base, old);
    if (old)
        HASH_DEL(identities, old);
    adsm_lock_release(&lock);
    free(old);
}

static CUresult identify(CUdeviceptr base, uint64_t *id)
{
    struct identity *known;
    adsm_lock_acquire(&lock);
    HASH_FIND(hh, identities, &base, sizeof base, known);
    if (!known && (known = calloc(1, sizeof *known))) {
        *known = (struct identity){.base = base, .id = FIRST_ID + given++};
        HASH_ADD(hh, identities, base, sizeof known->base, known);
        if (!known->hh.tbl) {
            free(known);
            known = NULL;
        }
        atomic_store_explicit(&any_given, true, memory_order_release);
    }
    if (known)
        *id = known->id;
    adsm_lock_release(&lock);
    return known ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The allocation of the program around an address. */
struct allocation {
    CUdeviceptr base;
    size_t bytes;
    void *context;
    bool away; /* the driver sees nothing there, or memory of the host */
};

static bool is_corrected(int which)
{
    switch (which) {
    case ATTRIBUTE_CONTEXT:
    case ATTRIBUTE_BUFFER_ID:
    case ATTRIBUTE_BLOCK_ID:
    case ATTRIBUTE_START:
    case ATTRIBUTE_MAPPING_START:
    case ATTRIBUTE_BYTES:
    case ATTRIBUTE_MAPPING_BYTES:
    case ATTRIBUTE_IPC:
    case ATTRIBUTE_RDMA:
    case ATTRIBUTE_HANDLE_TYPES:
        return true;
    }
    return false;
}

/* What only the runtime knows, in place of what the driver has answered. */
static CUresult correct(void *answer, int which,
                        const struct allocation *allocation)
{
    uint64_t id;
    CUresult result = CUDA_SUCCESS;
    switch (which) {
    case ATTRIBUTE_CONTEXT:
        *(void **)answer = allocation->context;
        break;
    case ATTRIBUTE_BUFFER_ID:
    case ATTRIBUTE_BLOCK_ID:
        result = identify(allocation->base, &id);
        if (!result)
            *(uint64_t *)answer = id;
        break;
    case ATTRIBUTE_START:
    case ATTRIBUTE_MAPPING_START:
        *(CUdeviceptr *)answer = allocation->base;
        break;
    case ATTRIBUTE_BYTES:
    case ATTRIBUTE_MAPPING_BYTES:
        *(size_t *)answer = allocation->bytes;
        break;
    /* Who reads and writes it by these goes past the runtime: no such way. */
    case ATTRIBUTE_IPC:
    case ATTRIBUTE_RDMA:
        *(unsigned char *)answer = 0;
        break;
    case ATTRIBUTE_HANDLE_TYPES:
        *(uint64_t *)answer = 0;
        break;
    }
    return result;
}

/* In place of the driver, of memory that is away or the host's; what it would
 * answer if the device had it. */
static CUresult answer_away(void *answer, int which, CUdeviceptr at,
                            const struct allocation *allocation)
{
    enum { READ_AND_WRITE = 3 };
    switch (which) {
    case ATTRIBUTE_TYPE:
        *(unsigned *)answer = CUDA_MEMORY_DEVICE;
        return CUDA_SUCCESS;
    case ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)answer = at;
        return CUDA_SUCCESS;
    case ATTRIBUTE_ORDINAL:
        return cuda_driver_device(allocation->context, answer);
    case ATTRIBUTE_SYNC:
    case ATTRIBUTE_MANAGED:
    case ATTRIBUTE_MAPPED:
        *(unsigned char *)answer = which == ATTRIBUTE_MAPPED;
        return CUDA_SUCCESS;
    case ATTRIBUTE_ACCESS:
        *(unsigned *)answer = READ_AND_WRITE;
        return CUDA_SUCCESS;
    case ATTRIBUTE_POOL:
        *(void **)answer = NULL;
        return CUDA_SUCCESS;
    case ATTRIBUTE_HOST_POINTER:
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (is_corrected(which))
        return correct(answer, which, allocation);
    return which < ATTRIBUTE_CONTEXT || which > ATTRIBUTE_DECOMPRESS
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_ERROR_NOT_SUPPORTED;
}

/* Return: false where the driver is right: about memory that is not the
 * runtime's, and about *at = 0 in place of what is no allocation any more. */
static bool find(CUdeviceptr *at, struct allocation *allocation)
{
    void *base;
    if (hook_passes() || !device_is_ours(*at))
        return false;
    struct adsm_object *object = adsm_index_acquire((const void *)*at);
    if (object) {
        allocation->context = adsm_accel_context(object->home);
        /* Nor does the driver tell of memory that host and device share. */
        allocation->away = adsm_object_is_away(object) || object->direct;
        adsm_rwlock_release_shared(&object->lock);
    }
    if (!object || adsm_heap_range((const void *)*at, &base,
                                   &allocation->bytes) != ADSM_OK) {
        *at = 0;
        return false;
    }
    allocation->base = (CUdeviceptr)base;
    return true;
}

/* The driver has told of memory of the host, and what has no answer is 0. */
static CUresult answer_instead(void *answer, int which, CUdeviceptr at,
                               const struct allocation *allocation)
{
    if (which == ATTRIBUTE_HOST_POINTER)
        *(void **)answer = NULL;
    return answer_away(answer, which, at, allocation);
}

CUresult cuPointerGetAttribute(void *answer, int which, CUdeviceptr at)
{
    struct allocation allocation;
    bool found = find(&at, &allocation);
    CUresult result = CUDA_CALL(cuPointerGetAttribute, (answer, which, at));
    if (found && allocation.away && answer && !result)
        return answer_instead(answer, which, at, &allocation);
    if (found && allocation.away && answer &&
        result == CUDA_ERROR_INVALID_VALUE)
        return answer_away(answer, which, at, &allocation);
    return result || !found ? result : correct(answer, which, &allocation);
}

CUresult cuPointerGetAttributes(unsigned count, int *which, void **answers,
                                CUdeviceptr at)
{
    struct allocation allocation;
    bool found = find(&at, &allocation);
    CUresult result =
        CUDA_CALL(cuPointerGetAttributes, (count, which, answers, at));
    for (unsigned i = 0; found && !result && i < count; i++)
        if (!allocation.away)
            result = correct(answers[i], which[i], &allocation);
        else
            (void)answer_instead(answers[i], which[i], at, &allocation);
    return result;
}
