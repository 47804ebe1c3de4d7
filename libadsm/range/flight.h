/*
 * Transfers in flight that touch an object's host pages.
 *
 * An upload reads the shadow until its fence, a download writes it. Who changes
 * host bytes waits for both kinds, who reads them for downloads. Kept like the
 * fences of a copy (order.h): bounded, never refusing, hulls of one lane.
 *
 * Lock: the object's, exclusively to add; shared to wait. Thread: any.
 */
#ifndef ADSM_RANGE_FLIGHT_H
#define ADSM_RANGE_FLIGHT_H

#include "range/order.h"

/* What 32 pieces of a call upload and fetch, and some more. */
enum { ADSM_FLIGHTS = 72 };

struct adsm_flight {
    size_t begin, end; /* bytes of the object */
    struct adsm_fence fence;
    bool down;  /* writes them */
    bool ended; /* a run that what comes behind it does not join */
};

struct adsm_flights {
    struct adsm_flight flight[ADSM_FLIGHTS];
    uint32_t count;
};

/** What must end before bytes [begin, end) of the shadow are read, or changed.
 *  Signal: fault path */
void adsm_flights_before_read(const struct adsm_flights *flights, size_t begin,
                              size_t end, struct adsm_waits *waits);
void adsm_flights_before_write(const struct adsm_flights *flights, size_t begin,
                               size_t end, struct adsm_waits *waits);

/** What comes behind downloads of bytes [begin, end) is waited for apart from
 *  them. @waits  their fences. Signal: never */
void adsm_flights_end_run(struct adsm_flights *flights, size_t begin,
                          size_t end, struct adsm_waits *waits);

/** One more. Signal: never */
void adsm_flights_add(struct adsm_flights *flights, struct adsm_flight flight);

#endif
