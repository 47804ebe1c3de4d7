/*
 * Several devices for the accel suites.
 */
#ifndef TESTS_ACCEL_DEVICES_H
#define TESTS_ACCEL_DEVICES_H

#include "fixture.h"

enum { DEVICES = 4 };

/** The options of the environment and all devices, of which there are four. */
static inline void devices_up(struct adsm_accel *accels[DEVICES])
{
    setenv("SOFTCUDA_DEVICES", "4", 1);
    adsm_options_load();
    for (int i = 0; i < DEVICES; i++)
        must(adsm_accel_open(i, &accels[i]));
}

#endif
