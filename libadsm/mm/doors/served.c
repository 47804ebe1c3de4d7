/* Decode, send, step over; see served.h. */
#include "mm/doors/served.h"

#include "accel/poke.h"
#include "base/stats.h"
#include "mm/watch/scatter.h"
#include "os/fault.h"
#include "os/store.h"

/* Does all of it lie in the block? */
static bool is_within(const struct adsm_object *object, uint32_t i,
                      const struct adsm_stored *store)
{
    uintptr_t begin = (uintptr_t)object->host + adsm_block_begin(object, i);
    size_t bytes = adsm_block_bytes(object, i);
    return store->address >= begin && store->bytes <= bytes &&
           store->address - begin <= bytes - store->bytes;
}

bool adsm_serve_store(struct adsm_object *object, uint32_t i,
                      const struct adsm_cause *cause)
{
    struct adsm_stored store;
    struct adsm_fence done;
    if (!adsm_scatter_may(object, i) || !adsm_fault_store(&store) ||
        !is_within(object, i, &store))
        return false;
    size_t from = store.address - (uintptr_t)object->host;
    if (!adsm_scatter_wants(object, i, from, from + store.bytes))
        return false;
    struct adsm_cause its = adsm_object_cause(object, from, cause);
    int rc =
        adsm_poke_send(object->home, adsm_daddr_add(object->device, from),
                       store.value, store.bytes, object->work, &done, &its);
    /* Also of one that failed, it may be on its way: so it is sent again, with
     * its block. */
    if (done.seq > 0)
        object->sent[i] = done.seq;
    if (rc != ADSM_OK)
        return false;
    adsm_fault_step(&store);
    ADSM_COUNT(stores, 1);
    return true;
}
