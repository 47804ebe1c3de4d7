/*
 * What adsm-info asks of the driver and of a device beyond the address
 * strategy: each is tried, not read from a version number.
 */
#ifndef ADSM_ACCEL_INSPECT_H
#define ADSM_ACCEL_INSPECT_H

#include "accel/types.h"

enum { ADSM_FINDINGS = 3 };

/** What was looked at, what it is, and what that means. */
struct adsm_finding {
    const char *what;
    char state[32];
    char why[512];
};

/**
 * The driver's file and version, and its look-up of functions.
 *
 * @found  filled; the rest stays empty
 * Return: how many there are; 0 before adsm_accel_init succeeded
 * Thread: any. Signal: never
 */
int adsm_inspect_driver(struct adsm_finding found[ADSM_FINDINGS]);

/**
 * Whether the runtime's memory is page-locked, how memory that is not is
 * copied, and in what pieces memory is mapped. Uses some memory of both sides
 * meanwhile.
 *
 * Return: how many there are
 * Thread: any. Signal: never
 */
int adsm_inspect_device(struct adsm_accel *accel,
                        struct adsm_finding found[ADSM_FINDINGS]);

#endif
