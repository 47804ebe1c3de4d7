/*
 * The SOFTCUDA_* environment variables, read once by cuInit.
 */
#ifndef SOFTCUDA_DRIVER_OPTIONS_H
#define SOFTCUDA_DRIVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/protocol.h"

/** What hardware takes for a call however little it does; 0: nothing is added. */
struct sc_latency {
    uint64_t launch_ns; /* a launch */
    uint64_t wait_ns;   /* a launch and the wait for it, together */
    uint64_t up_ns;     /* a copy to the device */
    uint64_t down_ns;   /* a copy to the host */
};

struct sc_options {
    int devices;           /* SOFTCUDA_DEVICES, 1..16 */
    uint64_t memory_bytes; /* SOFTCUDA_MEMORY, of each device */
    /* SOFTCUDA_LINK, of each device, 0 = unthrottled */
    uint64_t link_bytes_per_second[SC_MAX_DEVICES];
    struct sc_latency latency; /* SOFTCUDA_LATENCY, of all devices */
    /* SOFTCUDA_PACE, of each device, 0 = what the processors give */
    uint64_t pace_threads_per_second[SC_MAX_DEVICES];
    bool peer;           /* SOFTCUDA_PEER */
    bool integrated;     /* SOFTCUDA_INTEGRATED */
    bool stats;          /* SOFTCUDA_STATS */
    const char *program; /* SOFTCUDA_DEVICE_PROGRAM or NULL */
};

/**
 * Read the environment.  A bad value costs one warning on stderr that says
 * what would be right, and keeps the default; so does a variable of that prefix
 * that is none.
 *
 * @options receives every field
 * Thread: one, before any other use of the driver
 * Signal: never
 */
void sc_options_read(struct sc_options *options);

/**
 * Parse a size such as 512M or 1.5G (K, M, G, T are powers of 1024).
 *
 * @text  NUL-terminated; @bytes receives the size
 * Return: false when the text is no size
 * Thread: any
 */
bool sc_options_parse_size(const char *text, uint64_t *bytes);

/**
 * Parse a rate such as 12GB/s, 800MB/s, 1GiB/s or 0 (unthrottled).
 *
 * @text  NUL-terminated; @rate receives bytes per second
 * Return: false when the text is no rate
 * Thread: any
 */
bool sc_options_parse_rate(const char *text, uint64_t *rate);

#endif
