/*
 * What the driver is asked about an address.
 */
#ifndef INTERPOSE_CUDA_POINTER_H
#define INTERPOSE_CUDA_POINTER_H

#include "interpose/cuda/types.h"

/** Memory was allocated at this address: whatever lay there before was another
 *  allocation. Costs nothing until a program has asked for the identity of one.
 *  Thread: any. Signal: never */
void cuda_pointer_made(CUdeviceptr base);

#endif
