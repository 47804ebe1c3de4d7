/*
 * Device memory stays as the driver made it until the CPU touches it: the hooks'
 * side of mm/doors/adopt.h.
 *
 * Under ADSM_ADDRESS=adopt every allocation is the driver's own, whichever call
 * makes it. What hooks have to say is where memory came, and that it is about to
 * go. Thread: any. Signal: never.
 */
#ifndef INTERPOSE_DEVICE_ADOPT_H
#define INTERPOSE_DEVICE_ADOPT_H

#include "mm/doors/adopt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Is that so? Decided at the first call, which brings the runtime up then. */
bool device_adopts(void);

/** The driver gave the program memory; or mapped it where the program asked. */
void device_came(uint64_t begin, size_t bytes);
void device_came_mapped(uint64_t begin, size_t bytes);
void device_came_variable(uint64_t begin, size_t bytes);

/** From here to the end of the block, which submits work of the program, nothing
 *  else is adopted. */
#define DEVICE_STAYS                                                           \
    __attribute__((cleanup(device_leave), unused)) const bool device_stays =   \
        device_stay()
bool device_stay(void);
void device_leave(const bool *stays);

/** On its way back to the driver. */
struct device_going {
    bool passes, stops;
};

/**
 * Before the call that gives memory back, and behind it: an allocation; what is
 * mapped in a range; variables of a module; all of a context, of which the objects
 * go in between. Nothing else in between but that call.
 */
struct device_going device_goes(uint64_t begin);
struct device_going device_range_goes(uint64_t begin, size_t bytes);
struct device_going device_variables_go(void);
struct device_going device_context_goes(void);
void device_gone(struct device_going going);

#endif
