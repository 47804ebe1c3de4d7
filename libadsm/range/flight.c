/* Transfers in flight; see flight.h. */
#include "range/flight.h"

/* A run of so many bytes is waited for by itself: pieces of a call, which are
 * larger, leave in one direction while others come in the other. */
enum { LARGE = 1 << 20 };

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

static uint64_t later(const struct adsm_flight *a, const struct adsm_flight *b)
{
    return a->fence.seq > b->fence.seq ? a->fence.seq : b->fence.seq;
}

/* The two of a lane that end first. Return: false when there are none */
static bool oldest_two(struct adsm_flights *flights, struct adsm_flight **one,
                       struct adsm_flight **other)
{
    struct adsm_flight *all = flights->flight;
    *one = NULL;
    for (uint32_t i = 0; i < flights->count; i++)
        for (uint32_t k = i + 1; k < flights->count; k++)
            if (is_alike(&all[i], &all[k]) &&
                (!*one || later(&all[i], &all[k]) < later(*one, *other))) {
                *one = &all[i];
                *other = &all[k];
            }
    return *one != NULL;
}

/* One entry for two of a lane; where there are none, one ends. */
static void merge_two(struct adsm_flights *flights)
{
    struct adsm_flight *last = &flights->flight[flights->count - 1];
    struct adsm_flight *one, *other;
    if (!oldest_two(flights, &one, &other)) {
        /* A failed wait is a lost device: nothing of it is under way any more. */
        one = flights->flight;
        (void)adsm_fence_wait(one->fence);
        *one = *last;
    } else {
        if (other->begin < one->begin)
            one->begin = other->begin;
        if (other->end > one->end)
            one->end = other->end;
        if (other->fence.seq > one->fence.seq)
            one->fence = other->fence;
        *other = *last;
    }
    flights->count--;
}

void adsm_flights_add(struct adsm_flights *flights, struct adsm_flight flight)
{
    for (uint32_t i = 0; i < flights->count; i++) {
        struct adsm_flight *old = &flights->flight[i];
        /* The next one of a run of rows or blocks. */
        if (!old->ended && old->end - old->begin < LARGE &&
            is_alike(old, &flight) && old->end >= flight.begin &&
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
