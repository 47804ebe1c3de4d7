/*
 * What the overlapped forms share beyond cuda.h: two streams, page-locked
 * memory, and results that come in pieces while the device works on.
 *
 * Owns the streams, the events between them, and two page-locked pieces of the
 * host; overlap_open makes all of it, so that nothing is allocated while the
 * program works. What is enqueued is not waited for: the host's side of a copy
 * stays as it is until overlap_wait or overlap_reached. Copies are counted when
 * they are enqueued. Errors end the program with BENCH_EXIT_DEVICE. One thread,
 * no locks.
 */
#ifndef BENCH_PARBOIL_OVERLAP_H
#define BENCH_PARBOIL_OVERLAP_H

#include "common/cuda.h"

/** The two streams. */
enum overlap_lane {
    OVERLAP_WORK,  /* kernels, and copies that they wait for */
    OVERLAP_ASIDE, /* copies beside them */
    OVERLAP_LANES
};

/* Places in the work of a lane that can be waited for. */
#define OVERLAP_MARKS 16

/* Large enough for the link's full rate, small enough to begin soon. */
#define OVERLAP_PIECE_BYTES ((size_t)4 << 20)

/**
 * Make streams, events and the two pieces.
 *
 * @piece_bytes  of each; a result comes in pieces of this size. 0: none
 */
void overlap_open(size_t piece_bytes);
void overlap_close(void);

/** Page-locked memory of the host. */
void *pinned_alloc(size_t bytes);
void pinned_free(void *memory);

/** Enqueue copies, a clearing, a call. The host's memory is page-locked. */
void overlap_upload(enum overlap_lane lane, void *device, const void *host,
                    size_t bytes);
void overlap_download(enum overlap_lane lane, void *host, const void *device,
                      size_t bytes);
void overlap_clear(enum overlap_lane lane, void *device, size_t bytes);
void overlap_launch(CUfunction kernel, struct bench_dim grid,
                    struct bench_dim block, void **arguments);

/** What comes in `later` begins when all that is in `earlier` is done. */
void overlap_follow(enum overlap_lane later, enum overlap_lane earlier);

/** Wait for all that is in a lane. */
void overlap_wait(enum overlap_lane lane);

/** Remember this place of a lane; wait until the lane got there. */
void overlap_mark(int mark, enum overlap_lane lane);
void overlap_reached(int mark);

/** What becomes of a piece; it goes to `context` first. */
typedef void overlap_use(const void *context, const void *piece, size_t bytes);

/** A result on its way to the host. */
struct overlap_result {
    const char *device;
    overlap_use *use; /* gets the pieces in order */
    const void *context;
    size_t asked, used; /* bytes that are on their way or here; used up */
};

/** A result whose pieces go to bench_output. */
struct overlap_result overlap_output(const void *device);

/**
 * Its first `bytes` are there when the device got through what is enqueued
 * now. Enqueues the pieces that are complete by that, and uses up those before
 * them: waits where two pieces are under way.
 */
void overlap_ready(struct overlap_result *result, size_t bytes);

/** All `bytes` of it are: bring them and use them up. */
void overlap_finish(struct overlap_result *result, size_t bytes);

#endif
