/* The ring, and how it is sent from; see poke.h. */
#include "accel/poke.h"

#include "accel/device.h"
#include "accel/dma.h"
#include "accel/error.h"
#include "accel/pinned.h"

#include <string.h>

enum { MEMORY_BYTES = ADSM_POKE_SLOTS * ADSM_POKE_BYTES };

#define TAKEN UINT64_MAX

void adsm_poke_clear(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    atomic_store(&poke->tried, true);
    adsm_pinned_free(atomic_exchange(&poke->memory, NULL), MEMORY_BYTES);
}

static uint8_t *memory_of(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    if (!atomic_load(&poke->memory) && !atomic_exchange(&poke->tried, true))
        atomic_store(&poke->memory, adsm_pinned_make(accel, MEMORY_BYTES));
    return atomic_load(&poke->memory);
}

/* A slot that no copy uses, which is the caller's from then on. */
static bool take(struct adsm_accel *accel, uint32_t *slot)
{
    struct adsm_poke *poke = accel->poke;
    *slot = atomic_fetch_add(&poke->next, 1) % ADSM_POKE_SLOTS;
    uint64_t sent = atomic_load(&poke->sent[*slot]);
    return sent != TAKEN && adsm_dma_is_uploaded(accel, sent) &&
           atomic_compare_exchange_strong(&poke->sent[*slot], &sent, TAKEN);
}

int adsm_poke_send(struct adsm_accel *accel, struct adsm_daddr to,
                   const void *value, size_t bytes, struct adsm_fence after,
                   struct adsm_fence *done, const struct adsm_cause *cause)
{
    uint32_t slot;
    uint8_t *from = bytes <= ADSM_POKE_BYTES ? memory_of(accel) : NULL;
    *done = (struct adsm_fence){0};
    if (!from)
        return ADSM_E_UNSUPPORTED;
    if (!take(accel, &slot))
        return ADSM_E_LIMIT;
    from += (size_t)slot * ADSM_POKE_BYTES;
    memcpy(from, value, bytes);
    int rc = adsm_dma_upload(accel, to, from, bytes, after, done, cause);
    atomic_store(&accel->poke->sent[slot], done->seq);
    if (rc != ADSM_OK)
        adsm_accel_error_forget();
    return rc;
}
