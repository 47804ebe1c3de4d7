/* Transfers in flight; see flight.h. */
#include "range/flight.h"

static bool meets(const struct adsm_flight *flight, size_t begin, size_t end)
{
    return flight->begin < end && begin < flight->end;
}

void adsm_flights_before_read(const struct adsm_flights *flights, size_t begin,
                              size_t end, struct adsm_waits *waits)
{
    for (uint32_t i = 0; i < flights->count; i++)
        if (flights->flight[i].down && meets(&flights->flight[i], begin, end))
            adsm_waits_add(waits, flights->flight[i].fence);
}

void adsm_flights_before_write(const struct adsm_flights *flights, size_t begin,
                               size_t end, struct adsm_waits *waits)
{
    for (uint32_t i = 0; i < flights->count; i++)
        if (meets(&flights->flight[i], begin, end))
            adsm_waits_add(waits, flights->flight[i].fence);
}

void adsm_flights_end_run(struct adsm_flights *flights, size_t begin,
                          size_t end, struct adsm_waits *waits)
{
    for (uint32_t i = 0; i < flights->count; i++) {
        struct adsm_flight *flight = &flights->flight[i];
        if (!flight->down || !meets(flight, begin, end))
            continue;
        flight->ended = true;
        adsm_waits_add(waits, flight->fence);
    }
}

static void forget_ended(struct adsm_flights *flights)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < flights->count; i++)
        if (!adsm_fence_done(flights->flight[i].fence))
            flights->flight[kept++] = flights->flight[i];
    flights->count = kept;
}

static bool is_alike(const struct adsm_flight *a, const struct adsm_flight *b)
{
    return a->down == b->down && a->fence.accel == b->fence.accel &&
           a->fence.lane == b->fence.lane;
}

/* One entry for two of a lane; where there are none, one ends. */
static void merge_two(struct adsm_flights *flights)
{
    struct adsm_flight *all = flights->flight;
    for (uint32_t i = 0; i < flights->count; i++)
        for (uint32_t k = i + 1; k < flights->count; k++) {
            if (!is_alike(&all[i], &all[k]))
                continue;
            if (all[k].begin < all[i].begin)
                all[i].begin = all[k].begin;
            if (all[k].end > all[i].end)
                all[i].end = all[k].end;
            if (all[k].fence.seq > all[i].fence.seq)
                all[i].fence = all[k].fence;
            all[k] = all[--flights->count];
            return;
        }
    /* A failed wait is a lost device: nothing of it is under way any more. */
    (void)adsm_fence_wait(all[0].fence);
    all[0] = all[--flights->count];
}

void adsm_flights_add(struct adsm_flights *flights, struct adsm_flight flight)
{
    for (uint32_t i = 0; i < flights->count; i++) {
        struct adsm_flight *old = &flights->flight[i];
        /* The next one of a run of rows or parts. */
        if (!old->ended && is_alike(old, &flight) && old->end >= flight.begin &&
            old->begin <= flight.begin) {
            if (old->end < flight.end)
                old->end = flight.end;
            old->fence = flight.fence;
            return;
        }
    }
    if (flights->count == ADSM_FLIGHTS)
        forget_ended(flights);
    if (flights->count == ADSM_FLIGHTS)
        merge_two(flights);
    flights->flight[flights->count++] = flight;
}
