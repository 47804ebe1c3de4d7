/*
 * CUDA runtime API, version 13.0, for programs built without the SDK.
 *
 * Source- and binary-compatible with the SDK's header for the calls that
 * softcuda's libcudart has.  C only: what nvcc adds (<<<>>>, overloads for
 * symbols) needs its compiler.
 */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include <stddef.h>

#define CUDART_VERSION 13000

#include "softcudart/types.h"
#include "softcudart/launch.h"
#include "softcudart/device.h"
#include "softcudart/texture.h"
#include "softcudart/graph.h"
#include "softcudart/names.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "softcudart/calls.h"
#include "softcudart/graph_calls.h"

#ifdef __cplusplus
}
#endif

#endif
