/*
 * Events, for the files that record them.
 */
#ifndef SOFTCUDA_DRIVER_EVENT_H
#define SOFTCUDA_DRIVER_EVENT_H

#include "driver/graph.h"

struct CUevent_st {
    CUcontext ctx;
    unsigned flags;
    struct sc_op *op; /* latest record, holds a reference; NULL never */
    /* graph lock: when it was last recorded in a capture, which one, and
     * behind which nodes */
    _Atomic uint64_t capture; /* 0: not in one */
    struct sc_node_list captured;
};

/** Let an event stand for an operation. Thread: holds sc_sched_lock. */
void sc_event_set(CUevent event, struct sc_op *op);

#endif
