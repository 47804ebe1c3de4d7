/*
 * The calls of the list of hooks that have a shape: their numbers, and for
 * those whose wrapper is written by hand the call as the list describes it.
 */
#ifndef INTERPOSE_CALLS_HOOKS_H
#define INTERPOSE_CALLS_HOOKS_H

#include "interpose/calls/call.h"

enum {
#define ADSM_HOOK_CALL(returns, name, params, parts) CALL_OF_##name,
#define ADSM_HOOK_OWN(returns, name, params, parts)  CALL_OF_##name,
#define ADSM_HOOK_ODD(returns, name, params, parts)  CALL_OF_##name,
#include "interpose/hooks.def"
    CALL_SHAPES
};

extern const struct call_shape call_shapes[CALL_SHAPES];

/* call_NAME: the real function, on memory that may be shared. */
#define ADSM_HOOK_OWN(returns, name, params, parts) returns call_##name params;
#include "interpose/hooks.def"

#endif
