/* Copies out of the ring, and who gathers instead; see poke.h. */
#include "accel/poke.h"

#include "accel/device.h"
#include "accel/dma.h"
#include "accel/error.h"
#include "accel/lane.h"
#include "accel/pinned.h"
#include "accel/poke_parts.h"
#include "base/stats.h"
#include "base/trace.h"

#include <string.h>

enum { MEMORY_BYTES = ADSM_POKE_SLOTS * ADSM_POKE_BYTES };

#define TAKEN UINT64_MAX

static uint8_t *memory_of(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    if (!atomic_load(&poke->memory) && !atomic_exchange(&poke->tried, true))
        atomic_store(&poke->memory, adsm_pinned_make(accel, MEMORY_BYTES));
    return atomic_load(&poke->memory);
}

void adsm_poke_free_memory(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    atomic_store(&poke->tried, true);
    adsm_pinned_free(atomic_exchange(&poke->memory, NULL), MEMORY_BYTES);
}

static bool is_through(struct adsm_accel *accel, uint64_t sent, bool asks)
{
    struct adsm_lane *lane = &accel->lanes->lane[ADSM_LANE_UPLOAD];
    return asks ? adsm_dma_is_uploaded(accel, sent)
                : atomic_load(&lane->done) >= sent;
}

/* A slot that no copy uses, which is the caller's from then on. */
static bool take(struct adsm_accel *accel, bool asks, uint32_t *slot)
{
    struct adsm_poke *poke = accel->poke;
    *slot = atomic_fetch_add(&poke->next, 1) % ADSM_POKE_SLOTS;
    uint64_t sent = atomic_load(&poke->sent[*slot]);
    return sent != TAKEN && is_through(accel, sent, asks) &&
           atomic_compare_exchange_strong(&poke->sent[*slot], &sent, TAKEN);
}

int adsm_poke_slot(struct adsm_accel *accel, const void *value, size_t bytes,
                   bool asks, uint32_t *slot, const uint8_t **from)
{
    /* Page-locking takes locks of its own. */
    uint8_t *memory =
        asks ? memory_of(accel) : atomic_load(&accel->poke->memory);
    if (!memory || bytes > ADSM_POKE_BYTES)
        return ADSM_E_UNSUPPORTED;
    if (!take(accel, asks, slot))
        return ADSM_E_LIMIT;
    memory += (size_t)*slot * ADSM_POKE_BYTES;
    memcpy(memory, value, bytes);
    *from = memory;
    return ADSM_OK;
}

void adsm_poke_slot_sent(struct adsm_accel *accel, uint32_t slot, uint64_t seq)
{
    atomic_store(&accel->poke->sent[slot], seq);
}

static int copy(struct adsm_accel *accel, struct adsm_daddr to,
                const void *value, size_t bytes, struct adsm_fence after,
                struct adsm_fence *done, const struct adsm_cause *cause)
{
    uint32_t slot;
    const uint8_t *from;
    int rc = adsm_poke_slot(accel, value, bytes, true, &slot, &from);
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_dma_upload(accel, to, from, bytes, after, done, cause);
    adsm_poke_slot_sent(accel, slot, done->seq);
    ADSM_COUNT(store_sends, rc == ADSM_OK);
    /* Relaxed: a count, no more. */
    atomic_fetch_add_explicit(&accel->poke->copies, 1, memory_order_relaxed);
    return rc;
}

int adsm_poke_send(struct adsm_accel *accel, struct adsm_daddr to,
                   const void *value, size_t bytes, struct adsm_fence after,
                   struct adsm_fence *done, const struct adsm_cause *cause)
{
    uint64_t start = adsm_trace_begin();
    *done = (struct adsm_fence){0};
    int rc = adsm_poke_gather(accel, to, value, bytes, after, done);
    if (rc == ADSM_OK)
        adsm_trace_moved(ADSM_WAY_UP, "store", start, accel->device, bytes,
                         cause);
    else if (rc == ADSM_E_UNSUPPORTED)
        rc = copy(accel, to, value, bytes, after, done, cause);
    if (rc != ADSM_OK)
        adsm_accel_error_forget();
    return rc;
}
