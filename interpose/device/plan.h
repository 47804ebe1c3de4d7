/*
 * Launches that were made before, and what they touch.
 *
 * A program launches the same kernels with the same arguments over and over, and
 * what such a launch uses was found out by the first (device/reach.h). It holds
 * as long as no object came, since its arguments may lead to that one; that one
 * has gone is seen by who looks at the use (mm/object/use.h).
 *
 * Owns a table of a fixed size, in which a launch takes the turn of another. No
 * lock (base/cell.h). Thread: any. Signal: any handler
 */
#ifndef INTERPOSE_DEVICE_PLAN_H
#define INTERPOSE_DEVICE_PLAN_H

#include "interpose/device/arguments.h"
#include "interpose/device/reach.h"

enum { DEVICE_PLAN_ARGUMENT_BYTES = 128, DEVICE_PLAN_USES = 8 };

/** Which launch it is. */
struct device_launch {
    uintptr_t kernel;
    uint64_t age; /* of the kernel's handle: grows when that may be another's */
    const struct sc_geometry *geometry;
    const struct device_arguments *arguments;
};

/** What tells a launch from others. */
struct device_plan_key {
    uint64_t objects; /* how many had come when it was looked for last */
    size_t bytes;     /* of arguments; 0: too many, or nobody can tell */
    size_t place;     /* where it is looked for */
    uint64_t values[DEVICE_PLAN_ARGUMENT_BYTES / sizeof(uint64_t)];
};

/** The key of a launch, to look for it with. */
void device_plan_key(const struct device_launch *launch,
                     struct device_plan_key *key);

/** Was one like it noted, which uses no object? It holds for as long as
 *  key->objects have come. */
bool device_plan_is_bare(const struct device_launch *launch,
                         struct device_plan_key *key);

/**
 * What the launch uses, where one like it was noted: the call then names all it
 * uses, as device_reach_tell says it.
 *
 * @told  where its uses are put
 */
bool device_plan_recall(struct adsm_call *call,
                        const struct device_launch *launch,
                        struct device_plan_key *key, struct device_told *told);

/** What was told of the launch, which is noted if that is all it uses, and
 *  little. */
void device_plan_note(const struct adsm_call *call,
                      const struct device_launch *launch,
                      const struct device_plan_key *key);

#endif
