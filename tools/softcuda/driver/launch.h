/*
 * Kernel launches, for streams and for graphs.
 */
#ifndef SOFTCUDA_DRIVER_LAUNCH_H
#define SOFTCUDA_DRIVER_LAUNCH_H

#include "driver/module.h"
#include "driver/sched.h"

struct sc_shape {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    bool cooperative;
};

/** Can a kernel run like that?  Return: what a launch returns. */
CUresult sc_launch_check(const struct sc_shape *shape,
                         const struct CUfunc_st *f);

/** Pack parameters as the device wants them.
 *  @params room for the kernel's param_bytes; @list one of both is NULL */
CUresult sc_launch_pack(uint8_t *params, const struct CUfunc_st *f, void **list,
                        void **extra);

/** Make the operation of a launch, its parameters not yet filled in.
 *  @params receives where they go. Return: NULL when memory ran out. */
struct sc_op *sc_launch_make(CUcontext ctx, const struct CUfunc_st *f,
                             const struct sc_shape *shape, uint8_t **params);

/** Make the operation of a memset.
 *  @on_host whether it writes page-locked memory; may be NULL */
CUresult sc_fill_make(const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext ctx,
                      struct sc_op **op, bool *on_host);

/** What a shaped copy's structure says. Return: as the call. */
CUresult sc_copy_shape(const CUDA_MEMCPY3D *from, struct sc_copy *copy);

/** Make the operation of a copy of more than nothing. */
CUresult sc_copy_make(struct sc_copy *copy, CUcontext ctx, struct sc_op **op);

#endif
