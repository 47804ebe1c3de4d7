/*
 * Skeletons of several passes. Each is
 * made of calls that a program could make (adsmCallRangeV), with arrays between
 * them that are used again (call/scratch.h).
 *
 * Folding is by one tree over the indices, whatever the parts are, and parts
 * begin at multiples of chunks, so that each chunk is folded by one warp: the
 * result has the same bits however the call is spread. The tree, and what a scan
 * makes of it, is described in adsm.h; the kernels are adsm_operator.h's.
 *
 * Skeletons (SkePU: Enmyren and Kessler 2010, map, reduce, scan, mapreduce; farm:
 * Dastgeer, Kessler and Thibault 2011). Failures set the error detail. Thread:
 * any. Signal: never
 */
#ifndef ADSM_CALL_SKELETON_H
#define ADSM_CALL_SKELETON_H

#include "adsm_skeleton.h"

#include <stdbool.h>

/* Everything is as the public functions of these names have it. `opts` is not
 * NULL: what holds for the thread's calls. */
int adsm_reduce(const adsmOperator *op, void *result, const void *in,
                const adsmBox *range, int keep, const adsmOpts *opts);
int adsm_scan(const adsmOperator *op, void *out, const void *in, long n,
              bool exclusive, const adsmOpts *opts);
int adsm_map_reduce(adsmKernel *map, void *result, const adsmBox *range,
                    const adsmOpts *opts, int count, const adsmArg *args);

/** @device  of tasks where the options name none */
int adsm_farm(const adsmTask *tasks, int count, const adsmOpts *opts,
              int device);

#endif
