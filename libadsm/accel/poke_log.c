/* The log of gathered stores, and the kernel that writes them; see poke.h. */
#include "accel/poke.h"

#include "accel/device.h"
#include "accel/dma.h"
#include "accel/dma_write.h"
#include "accel/error.h"
#include "accel/extent.h"
#include "accel/lane.h"
#include "accel/launched.h"
#include "accel/poke_parts.h"
#include "base/log.h"
#include "base/stats.h"

#include <string.h>

enum {
    WORD = sizeof(uint64_t),
    /* Words that one store may lie in. */
    WORDS_OF_ONE = ADSM_POKE_BYTES / WORD + 1,
    WARP = 32,
    /* Copies until a device that had work is looked at once more. */
    AGAIN = 64,
};

_Static_assert(sizeof(struct adsm_poke_words) <= 4096,
               "the parameters of a kernel take 4 KiB");

/* clang-format off */
static const char text[] =
#include <poke_ptx.inc>
;
/* clang-format on */

void adsm_poke_init(struct adsm_accel *accel)
{
    adsm_lock_init(&accel->poke->lock, ADSM_RANK_POKE);
    accel->lanes->submit = adsm_poke_submit;
}

static void empty(struct adsm_poke *poke)
{
    poke->stores = 0;
    poke->afters = 0;
    poke->words.count = 0;
}

void adsm_poke_clear(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    atomic_store(&poke->asked, true);
    atomic_store(&poke->kernel, NULL);
    empty(poke);
    if (poke->module && adsm_accel_health(accel) == ADSM_OK)
        (void)accel->ops->module_unload(accel, poke->module);
    poke->module = NULL;
    adsm_poke_free_memory(accel);
}

/* ---- the kernel ---------------------------------------------------------- */

static int load(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    void *kernel = NULL;
    int status =
        accel->ops->module_load(accel, text, sizeof text, &poke->module);
    if (status == ADSM_OK)
        status =
            accel->ops->kernel_get(accel, poke->module, "adsm_poke", &kernel);
    if (status == ADSM_OK)
        atomic_store(&poke->kernel, kernel);
    return status;
}

void adsm_poke_prepare(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    if (atomic_load_explicit(&poke->copies, memory_order_relaxed) <
            ADSM_POKE_COPIES ||
        atomic_load(&poke->asked))
        return;
    atomic_store(&poke->copies, ADSM_POKE_COPIES - AGAIN);
    if (!adsm_lanes_are_idle(accel) || atomic_exchange(&poke->asked, true))
        return;
    if (load(accel) == ADSM_OK)
        return;
    adsm_log(ADSM_LOG_INFO, "stores are sent one by one: %s",
             adsm_accel_error_text());
    adsm_accel_error_forget();
}

/* ---- sending; the lock is held ------------------------------------------- */

/* What the log, and what else comes, has to come behind. */
static int order(struct adsm_accel *accel)
{
    const struct adsm_poke *poke = accel->poke;
    adsm_stream stream = accel->lanes->lane[ADSM_LANE_UPLOAD].stream;
    int status = ADSM_OK;
    for (uint32_t i = 0; i < poke->afters && status == ADSM_OK; i++)
        status = adsm_fence_order(accel, stream, poke->after[i]);
    return status == ADSM_OK
               ? adsm_lane_order_noted(accel, accel, ADSM_LANE_UPLOAD)
               : status;
}

static int launch(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    uint32_t count = poke->words.count;
    void *values[] = {&poke->words};
    struct adsm_launch launch = {
        .kernel = atomic_load(&poke->kernel),
        .grid = {1, 1, 1},
        .block = {(count + WARP - 1) / WARP * WARP, 1, 1},
        .stream = accel->lanes->lane[ADSM_LANE_UPLOAD].stream,
        .values = values,
    };
    if (!launch.kernel)
        return ADSM_E_UNSUPPORTED;
    int status = accel->ops->launch(accel, &launch);
    ADSM_COUNT(store_sends, status == ADSM_OK);
    return status;
}

/* Bytes that lie side by side from the word's `first` on, as a copy. */
static int copy(struct adsm_accel *accel, uint32_t word, uint32_t first,
                size_t bytes)
{
    const struct adsm_poke_words *words = &accel->poke->words;
    const uint8_t *from = (const uint8_t *)&words->value[word] + first;
    struct adsm_daddr to = {words->at[word] + first};
    uint32_t slot;
    int status = adsm_poke_slot(accel, from, bytes, false, &slot, &from);
    if (status != ADSM_OK)
        return status;
    status = adsm_extent_copy_up(
        accel, accel->lanes->lane[ADSM_LANE_UPLOAD].stream, to, from, bytes);
    adsm_poke_slot_sent(accel, slot, adsm_dma_last_upload(accel));
    ADSM_COUNT(store_sends, status == ADSM_OK);
    return status;
}

static int copy_word(struct adsm_accel *accel, uint32_t word)
{
    uint32_t stored = accel->poke->words.stored[word];
    int status = ADSM_OK;
    for (uint32_t n, at = 0; stored >> at && status == ADSM_OK; at += n) {
        at += (uint32_t)__builtin_ctz(stored >> at);
        n = (uint32_t)__builtin_ctz(~(stored >> at));
        status = copy(accel, word, at, n);
    }
    return status;
}

/* The first store alone, whose words lie side by side in the log as well. */
static int copy_first(struct adsm_accel *accel)
{
    const struct adsm_poke *poke = accel->poke;
    return copy(accel, 0, (uint32_t)__builtin_ctz(poke->words.stored[0]),
                poke->bytes);
}

/* No launch is tried again. */
static int copy_all(struct adsm_accel *accel)
{
    int status = adsm_accel_health(accel);
    if (status == ADSM_OK)
        atomic_store(&accel->poke->kernel, NULL);
    for (uint32_t i = 0; i < accel->poke->words.count && status == ADSM_OK; i++)
        status = copy_word(accel, i);
    return status;
}

static int submit(struct adsm_accel *accel)
{
    struct adsm_poke *poke = accel->poke;
    if (poke->stores == 0)
        return ADSM_OK;
    int status = order(accel);
    if (status != ADSM_OK)
        return status;
    status = ADSM_E_LIMIT;
    if (poke->stores == 1)
        status = copy_first(accel);
    if (status != ADSM_OK)
        status = launch(accel);
    if (status != ADSM_OK)
        status = copy_all(accel);
    if (status != ADSM_OK)
        return status;
    adsm_accel_error_forget();
    empty(poke);
    adsm_lane_unhold(accel, ADSM_LANE_UPLOAD);
    return ADSM_OK;
}

int adsm_poke_submit(struct adsm_accel *accel)
{
    /* First: in a child nobody would give the lock back. */
    int status = adsm_accel_usable(accel);
    if (status != ADSM_OK)
        return status;
    adsm_lock_acquire(&accel->poke->lock);
    status = submit(accel);
    adsm_lock_release(&accel->poke->lock);
    return status;
}

void adsm_poke_submit_all(void)
{
    /* A failure is told to who waits. */
    for (struct adsm_accel *accel = adsm_accel_first(); accel;
         accel = accel->next)
        (void)!adsm_lane_submit(accel, UINT64_MAX);
}

/* ---- gathering; the lock is held ----------------------------------------- */

/* Let the log come behind `after`. Return: false: there is no room */
static bool comes_behind(struct adsm_poke *poke, struct adsm_fence after)
{
    uint32_t i = 0;
    if (!after.accel || after.seq == 0)
        return true;
    while (i < poke->afters && !(poke->after[i].accel == after.accel &&
                                 poke->after[i].lane == after.lane))
        i++;
    if (i == ADSM_POKE_AFTER)
        return false;
    if (i == poke->afters)
        poke->after[poke->afters++] = after;
    else if (poke->after[i].seq < after.seq)
        poke->after[i].seq = after.seq;
    return true;
}

/* Room for one more store behind `after`. */
static int make_room(struct adsm_accel *accel, struct adsm_fence after)
{
    struct adsm_poke *poke = accel->poke;
    if (poke->words.count + WORDS_OF_ONE <= ADSM_POKE_WORDS &&
        comes_behind(poke, after))
        return ADSM_OK;
    int status = submit(accel);
    if (status == ADSM_OK)
        (void)comes_behind(poke, after);
    return status;
}

/* Index of the word at this address, which is new where none is there. */
static uint32_t find(struct adsm_poke_words *words, uint64_t at)
{
    uint32_t i = 0;
    while (i < words->count && words->at[i] != at)
        i++;
    if (i == words->count) {
        words->at[i] = at;
        words->stored[i] = 0;
        words->count++;
    }
    return i;
}

static void put(struct adsm_poke_words *words, uint64_t to, const uint8_t *from,
                size_t bytes)
{
    for (size_t n; bytes > 0; to += n, from += n, bytes -= n) {
        uint32_t first = to % WORD, i = find(words, to - first);
        n = bytes < WORD - first ? bytes : WORD - first;
        memcpy((uint8_t *)&words->value[i] + first, from, n);
        words->stored[i] |= (uint8_t)(((1u << n) - 1) << first);
    }
}

static int gather(struct adsm_accel *accel, struct adsm_daddr to,
                  const void *value, size_t bytes, struct adsm_fence after,
                  struct adsm_fence *done)
{
    struct adsm_poke *poke = accel->poke;
    int status = make_room(accel, after);
    if (status != ADSM_OK)
        return status;
    if (poke->stores++ == 0)
        poke->bytes = bytes;
    put(&poke->words, to.at, value, bytes);
    uint64_t seq = adsm_lane_hold(accel, ADSM_LANE_UPLOAD);
    adsm_dma_remember_write(accel, to, bytes, seq);
    *done = (struct adsm_fence){accel, ADSM_LANE_UPLOAD, seq};
    return ADSM_OK;
}

int adsm_poke_gather(struct adsm_accel *accel, struct adsm_daddr to,
                     const void *value, size_t bytes, struct adsm_fence after,
                     struct adsm_fence *done)
{
    struct adsm_poke *poke = accel->poke;
    if (!atomic_load(&poke->kernel) || bytes > ADSM_POKE_BYTES ||
        adsm_extent_cuts(accel, to))
        return ADSM_E_UNSUPPORTED;
    int status = adsm_accel_usable(accel);
    /* One of an upload lane may be held: that of another accel may not be sent
     * under our lock. */
    if (status == ADSM_OK && after.accel && after.lane == ADSM_LANE_UPLOAD)
        status = adsm_lane_submit(after.accel, after.seq);
    if (status != ADSM_OK)
        return status;
    adsm_lock_acquire(&poke->lock);
    status = gather(accel, to, value, bytes, after, done);
    adsm_lock_release(&poke->lock);
    return status;
}

void adsm_poke_forget(struct adsm_accel *accel, struct adsm_daddr at,
                      size_t bytes)
{
    struct adsm_poke *poke = accel->poke;
    struct adsm_poke_words *words = &poke->words;
    adsm_lock_acquire(&poke->lock);
    for (uint32_t i = 0; i < words->count; i++)
        if (words->at[i] >= at.at && words->at[i] < at.at + bytes)
            words->stored[i] = 0;
    poke->stores += poke->stores == 1; /* which is no copy any more */
    adsm_lock_release(&poke->lock);
}
