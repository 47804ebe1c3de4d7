/*
 * The lines of SOFTCUDA_STATS=1, and of memory that ran out, which the program's
 * side prints when the program ends by itself, and the device process when it
 * does not.
 */
#ifndef SOFTCUDA_BASE_REPORT_H
#define SOFTCUDA_BASE_REPORT_H

#include <stdint.h>

struct sc_report {
    const char *name; /* of a kernel */
    uint64_t launches, ns;
    uint64_t interpreted, native, both; /* launches */
    const char *why; /* last reason not to be native, "" none */
};

/** Bytes that went each way. Thread: any. Signal: never */
void sc_report_device(int ordinal, uint64_t up, uint64_t down);

/** Launches under a pace and those behind it, if there were any.
 *  Thread: any. Signal: never */
void sc_report_pace(int ordinal, uint64_t paced, uint64_t late);

/** An allocation that a device had no room for.  Thread: any. Signal: never */
void sc_report_shortage(int ordinal, uint64_t bytes, uint64_t used,
                        uint64_t total);

/** One kernel, if it was launched. Thread: any. Signal: never */
void sc_report_kernel(const struct sc_report *kernel);

#endif
