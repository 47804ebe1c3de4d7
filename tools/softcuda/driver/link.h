/*
 * Pacing of one direction of the link between host and device.
 */
#ifndef SOFTCUDA_DRIVER_LINK_H
#define SOFTCUDA_DRIVER_LINK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/** One direction; each device has two, so the link is full duplex. */
struct sc_link {
    pthread_mutex_t lock; /* leaf */
    uint64_t bytes_per_second;
    uint64_t latency_ns; /* of each copy, however small */
    uint64_t free_ns;    /* when the wire is free again; under lock */
    unsigned users;      /* copies under way; under lock */
    _Atomic uint64_t none;
    _Atomic uint64_t *bytes; /* ever moved, for the statistics */
};

/** Prepare a direction; 0 bytes per second means unthrottled. Thread: one. */
void sc_link_init(struct sc_link *link, uint64_t bytes_per_second,
                  uint64_t latency_ns);

/** A copy begins; NULL is no link.  Thread: any. */
void sc_link_open(struct sc_link *link);

/** The copy ended, but for its latency: sleep that out.  Thread: any. */
void sc_link_close(struct sc_link *link);

/**
 * Account for bytes that were just moved and sleep until the wire would have
 * moved them.
 *
 * @bytes moved by the caller, between sc_link_open and sc_link_close
 * Thread: any; callers of one direction share its rate
 * Signal: never
 */
void sc_link_pass(struct sc_link *link, uint64_t bytes);

/** How long bytes are on the wire; 0 for NULL and unthrottled. Thread: any. */
uint64_t sc_link_wire_ns(const struct sc_link *link, uint64_t bytes);

/** Bytes to move between two calls of sc_link_pass. Thread: any. */
uint64_t sc_link_chunk(const struct sc_link *link);

#endif
