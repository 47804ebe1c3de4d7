/* Waits and protections of memory that host and device share; see direct.h. */
#include "mm/state/direct.h"

#include "accel/fence.h"
#include "mm/object/index.h"
#include "mm/state/run.h"
#include "mm/watch/keep.h"
#include "os/fault_range.h"

/* Opening costs a fault, and a look at each entry of the page table. */
enum { BLOCK_BYTES = 2 << 20 };

static struct {
    _Atomic uint32_t count; /* of all objects */
    _Atomic bool any_kept;  /* pages that were left open for good */
} loans;

bool adsm_direct_serves(struct adsm_accel *accel)
{
    return adsm_address_strategy(accel, NULL) == ADSM_DIRECT;
}

size_t adsm_direct_bytes(const void *address)
{
    struct adsm_object *object = adsm_index_acquire(address);
    size_t bytes = 0;
    if (!object)
        return 0;
    if (object->direct)
        bytes = (size_t)(object->host + object->bytes - (uint8_t *)address);
    adsm_rwlock_release_shared(&object->lock);
    return bytes;
}

int adsm_direct_order(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_accel *home)
{
    struct adsm_fence so_far;
    if (accel == home)
        return ADSM_OK;
    int rc = adsm_fence_record(home, adsm_accel_launch_stream(home), &so_far);
    return rc == ADSM_OK ? adsm_fence_order(accel, stream, so_far) : rc;
}

int adsm_direct_ordered(struct adsm_accel *accel, struct adsm_fence fence,
                        struct adsm_accel *home)
{
    if (accel == home)
        return ADSM_OK;
    return adsm_fence_order(home, adsm_accel_launch_stream(home), fence);
}

size_t adsm_direct_block_bytes(size_t bytes, size_t unit, size_t budget)
{
    size_t block = BLOCK_BYTES;
    while (bytes / block > budget)
        block *= 2;
    return block < unit ? block : unit;
}

int adsm_direct_wait(struct adsm_object *object)
{
    int rc = adsm_fence_wait(object->work);
    return rc == ADSM_OK ? adsm_lane_wait_noted(object->home) : rc;
}

int adsm_direct_protect(struct adsm_object *object, size_t offset, size_t bytes,
                        enum adsm_prot prot)
{
    bool opens = prot == ADSM_PROT_READ_WRITE;
    int rc = ADSM_OK;
    if (!opens && atomic_load(&object->lent) > 0)
        return ADSM_OK;
    for (size_t n, end = offset + bytes; offset < end && rc == ADSM_OK;
         offset += n) {
        bool kept = false;
        n = opens ? end - offset
                  : adsm_keep_pages(object, offset, end - offset, &kept);
        if (kept)
            atomic_store(&loans.any_kept, true);
        else
            rc = adsm_fault_range_protect((uintptr_t)object->host + offset, n,
                                          prot);
    }
    return rc;
}

bool adsm_direct_is_open(const struct adsm_object *object)
{
    return object->direct &&
           (atomic_load(&object->lent) > 0 || atomic_load(&object->kept));
}

bool adsm_direct_any_is_open(void)
{
    return atomic_load(&loans.count) > 0 || atomic_load(&loans.any_kept);
}

void adsm_direct_lend(struct adsm_object *object)
{
    atomic_fetch_add(&loans.count, 1);
    atomic_fetch_add(&object->lent, 1);
}

/* Blocks from `first` on that are in this state, held. */
static uint32_t hold_run(struct adsm_object *object, uint32_t first,
                         enum adsm_state state)
{
    uint32_t i = first;
    for (; i < object->block_count && adsm_block_try_hold(object, i); i++)
        if (adsm_block_state(object, i) != state) {
            adsm_block_release(object, i, 1);
            break;
        }
    return i - first;
}

/* What calls have left open for the loans. Blocks are held meanwhile, or a loan
 * that begins now could find one that is said to be open and is not any more. Who
 * holds one opens it. At the limit on mappings they stay open until their next
 * change. */
static void close_blocks(struct adsm_object *object)
{
    for (uint32_t n, i = 0; i < object->block_count; i += n ? n : 1) {
        enum adsm_state state = adsm_block_state(object, i);
        n = state == ADSM_DIRTY ? 0 : hold_run(object, i, state);
        if (n > 0) {
            (void)!adsm_run_protect(object, i, n, state);
            adsm_block_release(object, i, n);
        }
    }
}

void adsm_direct_take_back(struct adsm_object *object)
{
    if (atomic_fetch_sub(&object->lent, 1) == 1)
        close_blocks(object);
    atomic_fetch_sub(&loans.count, 1);
}
