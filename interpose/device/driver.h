/*
 * What is asked of a back end's driver in the name of the program.
 *
 * Functions of this folder return a status of the runtime, or minus the driver's
 * own answer, which the program gets as it is. They know no type of a driver.
 */
#ifndef INTERPOSE_DEVICE_DRIVER_H
#define INTERPOSE_DEVICE_DRIVER_H

#include "accel/accel.h"

struct device_driver {
    /* The accel of the calling thread's context; NULL: it has none. */
    struct adsm_accel *(*current)(void);
    /* Is work on a stream recorded instead of run? */
    bool (*records)(adsm_stream stream);
    /* Does the driver know the memory, as page-locked or its own? Of other memory
     * it may read or write the bytes in the call, when they are due. */
    bool (*knows)(const void *memory);
    /* Wait for what a stream has. Return: ADSM_OK, or minus an answer */
    int (*wait)(adsm_stream stream);
};

/** Where a call of the program is ordered, in handles every thread reads
 *  alike. */
struct device_order {
    const struct device_driver *driver;
    adsm_stream stream;
    bool per_thread; /* means another stream in another thread */
};

#endif
