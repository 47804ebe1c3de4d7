/*
 * Software devices for one case, which has a process of its own.
 */
#ifndef TESTS_CONTAINERS_START_H
#define TESTS_CONTAINERS_START_H

#include "containers.h"

#include <stdlib.h>

/** Bring up devices with that much memory each. */
static inline void start(const char *devices, const char *memory)
{
    setenv("SOFTCUDA_DEVICES", devices, 1);
    setenv("SOFTCUDA_MEMORY", memory, 1);
    containers_start(atoi(devices));
}

#endif
