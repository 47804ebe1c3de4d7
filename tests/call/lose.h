/* A device that dies. */
#ifndef TESTS_CALL_LOSE_H
#define TESTS_CALL_LOSE_H

#include "common/kill_device.h"
#include "common/must_api.h"

#include <unistd.h>

/* Kill it and wait until everybody knows. */
static inline void lose(int device)
{
    ck_assert_int_eq(kill_device(device), 1);
    while (adsmDeviceMemory(device, NULL, NULL) == ADSM_OK)
        usleep(1000);
}

#endif
