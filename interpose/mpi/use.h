/*
 * The buffers of one call from its begin to its completion, and the lists of
 * calls that are not complete.
 *
 * A use with images stays in a list: by its request, by its window and target,
 * or by its file. Uses without images are over when MPI has been called: what
 * was lent for reading needs no end.
 *
 * Lock: one, for the lists, never held while MPI or the runtime is called.
 */
#ifndef INTERPOSE_MPI_USE_H
#define INTERPOSE_MPI_USE_H

#include "interpose/mpi/image.h"

#include <stdatomic.h>

struct mpi_use {
    const struct mpi_row *row;
    int count;
    struct mpi_image image[MPI_MOST_BUFFERS];
    bool active;          /* persistent: started and not complete           */
    bool settled;         /* its data have arrived already                  */
    int target;           /* of a window                                    */
    mpi_word key;         /* request, window or file                        */
    struct mpi_use *next; /* in the list                                    */
};

/** Lists of uses. */
enum mpi_list {
    MPI_REQUESTS,
    MPI_ORPHANS, /* requests that the program freed before their end */
    MPI_WINDOWS,
    MPI_FILES,
    MPI_LISTS
};

/** How many uses are in each list: nothing is to be done where there are none. */
extern _Atomic unsigned mpi_waiting[MPI_LISTS];

static inline bool mpi_waits(enum mpi_list list)
{
    /* Relaxed: the thread that has the request also saw its entry. */
    return hook_unlikely(
        atomic_load_explicit(&mpi_waiting[list], memory_order_relaxed) > 0);
}

/**
 * Describe the shared buffers of a call.
 *
 * Return: false when none is shared: nothing is to be ended
 * Thread: any. Signal: never
 */
bool mpi_use_begin(struct mpi_use *use, const struct mpi_row *row,
                   const mpi_word *args);

/** Open them all and put what MPI is to get into `args`. Return: a status, and
 *  then the use has ended */
int mpi_use_open(struct mpi_use *use, mpi_word *args);

/** Is there an image, so that something is left to do later? */
bool mpi_use_lasts(const struct mpi_use *use);

/**
 * The call is complete: bring its data.
 *
 * @status  of MPI; NULL or not counted: all of them arrived
 * Return: MPI_SUCCESS, or MPI's number for a failure (said)
 */
int mpi_use_settle(const struct mpi_use *use, const void *status);

/** Give images back. */
void mpi_use_end(struct mpi_use *use);

/** Put the use into a list, in `room` for one, which is the list's then; the
 *  use is over. */
void mpi_use_keep(struct mpi_use *use, struct mpi_use *room, enum mpi_list list,
                  mpi_word key);

/** Put a use that was taken into a list again. */
void mpi_use_return(struct mpi_use *use, enum mpi_list list, mpi_word key);

/** Take the oldest use of a key out of a list, or NULL. */
struct mpi_use *mpi_use_take(enum mpi_list list, mpi_word key);

/** Take the oldest of the orphans, whatever its key, or NULL. */
struct mpi_use *mpi_use_take_orphan(void);

/** End a use that was taken, and free it. */
void mpi_use_free(struct mpi_use *use);

/** Which of a window's uses: those with this target. */
enum { MPI_ANY_TARGET = -1 };

/** Take all uses of a window (of one target): a chain by `next`. */
struct mpi_use *mpi_use_take_window(mpi_word window, int target);

/** MPI's number for a status of the runtime, said once with the call's name and
 *  given to the error handler of `comm` (0: there is none). */
int mpi_fail(const struct mpi_row *row, mpi_word comm, int status);

#endif
