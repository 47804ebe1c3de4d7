/* Where runs lie, and what is done with them; see run.h. */
#include "mm/state/run.h"

#include "base/clock.h"
#include "base/stats.h"
#include "mm/object/holders.h"
#include "mm/object/host.h"
#include "mm/object/paging.h"
#include "mm/state/direct.h"
#include "mm/state/mapping.h"
#include "mm/watch/keep.h"
#include "mm/watch/sparse.h"
#include "os/fault.h"
#include "os/fault_range.h"
#include "os/huge.h"

size_t adsm_run_offset(const struct adsm_object *object, uint32_t first)
{
    return adsm_block_begin(object, first);
}

size_t adsm_run_bytes(const struct adsm_object *object, uint32_t first,
                      uint32_t count)
{
    size_t end = adsm_block_begin(object, first + count);
    if (end > object->bytes)
        end = object->bytes;
    return end - adsm_run_offset(object, first);
}

size_t adsm_run_page_bytes(const struct adsm_object *object, uint32_t first,
                           uint32_t count)
{
    size_t mask = adsm_vm_page_bytes() - 1;
    return (adsm_run_bytes(object, first, count) + mask) & ~mask;
}

/* ---- protection ---------------------------------------------------------- */

/* [offset, +bytes) as `state` asks for. */
static int protect_bytes(struct adsm_object *object, size_t offset,
                         size_t bytes, enum adsm_state state)
{
    static const enum adsm_prot of_state[ADSM_STATES] = {
        [ADSM_INVALID] = ADSM_PROT_NONE,
        [ADSM_READ_ONLY] = ADSM_PROT_READ,
        [ADSM_DIRTY] = ADSM_PROT_READ_WRITE,
    };
    if (state != ADSM_DIRTY)
        atomic_fetch_add(&object->closings, 1);
    if (!atomic_load_explicit(&object->backed, memory_order_acquire))
        return ADSM_OK; /* nothing is mapped, the placeholder stands */
    if (object->direct)
        return adsm_direct_protect(object, offset, bytes, of_state[state]);
    adsm_paging_split(object, offset, bytes);
    return adsm_fault_range_protect((uintptr_t)object->host + offset, bytes,
                                    of_state[state]);
}

int adsm_run_protect(struct adsm_object *object, uint32_t first, uint32_t count,
                     enum adsm_state state)
{
    size_t bytes = adsm_run_page_bytes(object, first, count);
    /* Nothing behind the end stays open that had to be opened with the rest. */
    if (count == object->block_count && state == ADSM_INVALID)
        bytes = object->span.bytes;
    return protect_bytes(object, adsm_run_offset(object, first), bytes, state);
}

int adsm_run_protect_all(struct adsm_object *object, uint32_t first,
                         uint32_t count, enum adsm_state state)
{
    int rc = adsm_run_protect(object, first, count, state);
    for (uint32_t n, i = first; rc != ADSM_OK && i < first + count; i += n) {
        n = adsm_block_run(object, i, first + count - i);
        (void)adsm_run_protect(object, i, n, adsm_block_state(object, i));
    }
    return rc;
}

int adsm_run_show(struct adsm_object *object, uint32_t i, size_t begin,
                  size_t end, enum adsm_state as)
{
    size_t first = adsm_run_offset(object, i);
    size_t last = first + adsm_run_page_bytes(object, i, 1);
    size_t mask = adsm_vm_page_bytes() - 1;
    if (begin > first)
        first = begin & ~mask;
    if (end < last)
        last = (end + mask) & ~mask;
    return protect_bytes(object, first, last - first, as);
}

/* ---- transfers ----------------------------------------------------------- */

int adsm_run_prepare(struct adsm_object *object, uint32_t first, uint32_t count,
                     bool open)
{
    int rc = open ? adsm_mapping_back(object) : adsm_mapping_shadow(object);
    if (rc != ADSM_OK)
        return rc;
    return adsm_object_commit(object, adsm_run_offset(object, first),
                              adsm_run_bytes(object, first, count));
}

static void set_sent(struct adsm_object *object, uint32_t first, uint32_t count,
                     uint64_t number)
{
    for (uint32_t i = first; i < first + count; i++)
        object->sent[i] = number;
}

static int fetch_stretch(struct adsm_object *object, size_t offset,
                         size_t bytes, const struct adsm_cause *cause)
{
    if (!adsm_object_is_gathered(object))
        return adsm_holders_fetch(object, offset, bytes, cause);
    /* Uploads to copies may still read there, which a download waits for only
     * where they go home. */
    adsm_holders_await(object, offset, bytes);
    struct adsm_cause its = adsm_object_cause(object, offset, cause);
    return adsm_dma_download(object->home, object->shadow.shadow + offset,
                             adsm_daddr_add(object->device, offset), bytes,
                             object->work, &its);
}

int adsm_run_fetch_bytes(struct adsm_object *object, size_t offset,
                         size_t bytes, const struct adsm_cause *cause)
{
    int rc = ADSM_OK;
    while (bytes > 0 && rc == ADSM_OK) {
        bool kept;
        size_t n = adsm_keep_run(object, offset, bytes, &kept);
        if (!kept)
            rc = fetch_stretch(object, offset, n, cause);
        offset += n;
        bytes -= n;
    }
    return rc;
}

int adsm_run_fetch(struct adsm_object *object, uint32_t first, uint32_t count,
                   const struct adsm_cause *cause)
{
    if (object->direct)
        return adsm_direct_wait(object);
    ADSM_COUNT(fetches, 1);
    int rc = adsm_run_fetch_bytes(object, adsm_run_offset(object, first),
                                  adsm_run_bytes(object, first, count), cause);
    /* It waited for the home's; await asks for those of others. */
    if (rc == ADSM_OK && adsm_object_is_gathered(object))
        set_sent(object, first, count, 0);
    return rc;
}

static int upload(struct adsm_object *object, uint32_t first, uint32_t count,
                  struct adsm_fence *done, const struct adsm_cause *cause)
{
    size_t offset = adsm_run_offset(object, first);
    struct adsm_cause its = adsm_object_cause(object, offset, cause);
    ADSM_COUNT(flushes, 1);
    return adsm_dma_upload(object->home, adsm_daddr_add(object->device, offset),
                           object->shadow.shadow + offset,
                           adsm_run_bytes(object, first, count), object->work,
                           done, &its);
}

/* Blocks that are all watched, or all not. */
static int send_run(struct adsm_object *object, uint32_t first, uint32_t count,
                    const struct adsm_cause *cause)
{
    struct adsm_fence done = {0};
    int rc = adsm_sparse_is_watched(object, first)
                 ? adsm_sparse_flush(object, first, count, &done, cause)
                 : upload(object, first, count, &done, cause);
    /* Also of one that failed, a part may be on its way. */
    if (done.seq > 0)
        set_sent(object, first, count, done.seq);
    return rc;
}

int adsm_run_flush(struct adsm_object *object, uint32_t first, uint32_t count,
                   const struct adsm_cause *cause)
{
    int rc = ADSM_OK;
    if (object->direct)
        return rc; /* under way for as long as the work behind it */
    for (uint32_t n, i = first; i < first + count && rc == ADSM_OK; i += n) {
        n = adsm_sparse_run(object, i, first + count - i);
        rc = send_run(object, i, n, cause);
    }
    return rc;
}

void adsm_run_await_uploads(struct adsm_object *object, uint32_t first,
                            uint32_t count)
{
    uint64_t last = 0;
    if (object->direct) {
        /* A lost device has ended all its work. */
        (void)!adsm_direct_wait(object);
        return;
    }
    for (uint32_t i = first; i < first + count; i++)
        if (object->sent[i] > last)
            last = object->sent[i];
    /* A failed wait is a lost device, which the next transfer reports. */
    (void)adsm_dma_await_upload(object->home, last);
    adsm_holders_await(object, adsm_run_offset(object, first),
                       adsm_run_bytes(object, first, count));
}

/* ---- the page table ------------------------------------------------------ */

/* Fill in the page table at A once: 0.1 us a page here, 0.5 us as a fault. What
 * lies between blocks that want it is filled in with them, in one call. */
void adsm_run_populate_small(struct adsm_object *object, uint32_t first,
                             uint32_t count, bool write)
{
    if (object->direct)
        return; /* the driver got its pages */
    while (count > 0 && adsm_block_flags(object, first, ADSM_BLOCK_MAPPED))
        first++, count--;
    while (count > 0 &&
           adsm_block_flags(object, first + count - 1, ADSM_BLOCK_MAPPED))
        count--;
    if (count == 0)
        return;
    uint64_t began = adsm_now_ns();
    adsm_status_t rc = adsm_fault_range_populate(
        (uintptr_t)object->host + adsm_run_offset(object, first),
        adsm_run_page_bytes(object, first, count), write);
    adsm_object_memory_add(adsm_now_ns() - began);
    for (uint32_t i = first; rc == ADSM_OK && write && i < first + count; i++)
        (void)adsm_block_change(object, i, 0, ADSM_BLOCK_MAPPED);
}

/* With each read that faults the kernel fills in 16 pages around it: 64 of them
 * take 9 to 14 us so, and 19 to 24 here. Not so where another thread answers. */
static bool comes_as_quick(const struct adsm_object *object, uint32_t first,
                           uint32_t count, bool write)
{
    return !write && !adsm_fault_is_remote() &&
           adsm_run_bytes(object, first, count) < ADSM_HUGE_BYTES;
}

/* Blocks none of which is watched. */
static void populate_plain(struct adsm_object *object, uint32_t first,
                           uint32_t count, bool write)
{
    size_t offset = adsm_run_offset(object, first);
    size_t bytes = adsm_run_page_bytes(object, first, count);
    adsm_paging_join(object, offset, bytes);
    adsm_run_populate_small(object, first, count, write);
    adsm_paging_joined(object, offset, bytes);
}

void adsm_run_populate(struct adsm_object *object, uint32_t first,
                       uint32_t count, bool write)
{
    if (!atomic_load_explicit(&object->backed, memory_order_acquire) ||
        comes_as_quick(object, first, count, write))
        return;
    for (uint32_t n, i = first; i < first + count; i += n) {
        n = adsm_sparse_run(object, i, first + count - i);
        if (!adsm_sparse_is_watched(object, i))
            populate_plain(object, i, n, write);
    }
}
