/* The last kernels of a device, and which of them failed; see launched.h. */
#include "accel/launched.h"

#include "accel/device.h"
#include "accel/error.h"
#include "accel/lane.h"

#include <string.h>

void adsm_launched_init(struct adsm_launched *launched)
{
    adsm_lock_init(&launched->lock, ADSM_RANK_POOL);
}

static struct adsm_lane *lane_of(struct adsm_accel *accel)
{
    return &accel->lanes->lane[ADSM_LANE_LAUNCH];
}

void adsm_launched_add(struct adsm_accel *accel, const char *name, int part,
                       int parts)
{
    struct adsm_launched *launched = accel->launched;
    const struct adsm_lane *lane = lane_of(accel);
    adsm_lock_acquire(&launched->lock);
    uint32_t i = (uint32_t)(launched->count++ % ADSM_LAUNCHED);
    size_t n = strnlen(name, ADSM_LAUNCHED_NAME - 1);
    memcpy(launched->kernel[i].name, name, n);
    launched->kernel[i].name[n] = '\0';
    launched->kernel[i].part = part;
    launched->kernel[i].parts = parts;
    launched->kernel[i].seq = atomic_load(&lane->given);
    launched->kernel[i].notes = atomic_load(&lane->notes);
    adsm_lock_release(&launched->lock);
}

/* ---- what failed ----------------------------------------------------------- */

static void add(char words[ADSM_LAUNCHED_WORDS], const char *more)
{
    size_t used = strlen(words), n = strlen(more);
    if (n > ADSM_LAUNCHED_WORDS - 1 - used)
        n = ADSM_LAUNCHED_WORDS - 1 - used;
    memcpy(words + used, more, n);
    words[used + n] = '\0';
}

static void add_number(char words[ADSM_LAUNCHED_WORDS], const char *before,
                       uint64_t number)
{
    char digits[24];
    add(words, before);
    add(words, adsm_accel_number(digits, (int64_t)number));
}

/* The first kernel that nobody saw end. Return: how many there are with those
 * behind it, in the ring. The lock is held. */
static uint64_t find_first(struct adsm_accel *accel, uint64_t *first)
{
    const struct adsm_launched *launched = accel->launched;
    struct adsm_lane *lane = lane_of(accel);
    uint64_t done = atomic_load(&lane->done);
    uint64_t notes = atomic_load(&lane->notes_done);
    uint64_t end = launched->count;
    *first = end > ADSM_LAUNCHED ? end - ADSM_LAUNCHED : 0;
    while (*first < end &&
           launched->kernel[*first % ADSM_LAUNCHED].seq <= done &&
           launched->kernel[*first % ADSM_LAUNCHED].notes <= notes)
        ++*first;
    return end - *first;
}

static void add_suspects(struct adsm_accel *accel, char *words)
{
    const struct adsm_launched *launched = accel->launched;
    uint64_t first, count = find_first(accel, &first);
    uint32_t i = (uint32_t)(first % ADSM_LAUNCHED);
    if (count == 0)
        return;
    add(words, ", in ");
    if (launched->kernel[i].parts > 1) {
        add_number(words, "part ", (uint64_t)launched->kernel[i].part);
        add_number(words, " of ", (uint64_t)launched->kernel[i].parts);
        add(words, " of ");
    }
    add(words, "kernel '");
    add(words, launched->kernel[i].name);
    add(words, "'");
    if (count == ADSM_LAUNCHED)
        add(words, " or one of those launched before and behind it");
    else if (count > 2)
        add_number(words, " or one of those launched behind it, ", count - 1);
    else if (count == 2)
        add(words, " or the one launched behind it");
}

void adsm_launched_blame(struct adsm_accel *accel, const char *words)
{
    struct adsm_launched *launched = accel->launched;
    adsm_lock_acquire(&launched->lock);
    if (!launched->failed[0]) {
        add(launched->failed, words);
        add_suspects(accel, launched->failed);
    }
    adsm_lock_release(&launched->lock);
}

void adsm_launched_failed(struct adsm_accel *accel,
                          char words[ADSM_LAUNCHED_WORDS])
{
    adsm_lock_acquire(&accel->launched->lock);
    memcpy(words, accel->launched->failed, ADSM_LAUNCHED_WORDS);
    adsm_lock_release(&accel->launched->lock);
}

int adsm_accel_usable(struct adsm_accel *accel)
{
    if (adsm_accel_is_forked())
        return adsm_accel_fail(ADSM_E_FORKED, "the accelerator belongs to the ",
                               "parent of this forked process", NULL);
    int health = accel ? adsm_accel_health(accel) : ADSM_OK;
    if (health == ADSM_OK)
        return ADSM_OK;
    /* The text of the first failure may be another thread's. */
    if (health == ADSM_E_DEVICE_LOST)
        return adsm_accel_fail(health, "the device was lost earlier", NULL);
    char words[ADSM_LAUNCHED_WORDS];
    adsm_launched_failed(accel, words);
    return adsm_accel_fail(health,
                           "a kernel failed earlier, and the context cannot be "
                           "used any more",
                           words[0] ? ": " : "", words, NULL);
}
