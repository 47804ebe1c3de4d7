/*
 * MPI on shared memory: what its files share.
 *
 * libadsm-mpi.so exports the functions of mpi_calls.def and stands before the
 * MPI library of the program, which it finds at run time: nothing of it is
 * linked. Open MPI's handles are pointers and MPICH's are ints, so arguments
 * travel as machine words and go on as they came.
 *
 * What MPI reads is read at the shadow address, made readable before: nothing
 * is held, as nobody may change what is being sent. What MPI writes goes to
 * plain memory laid out alike (an *image*) and from there into shared memory
 * when the call is complete: a block that waited for a message would keep other
 * threads and launches away, and the message may wait for them.
 */
#ifndef INTERPOSE_MPI_MPI_H
#define INTERPOSE_MPI_MPI_H

#include "interpose/plain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** An argument: pointer, handle or integer. Of a 32-bit one the upper half is
 *  whatever the caller left there. */
typedef intptr_t mpi_word;

/** Every hooked function. */
enum mpi_name {
#define MPI_CALL(name, arity, how, ...) MPI_AT_##name,
#define MPI_HOOK(name, arity)           MPI_AT_##name,
#include "interpose/mpi/calls.def"
    MPI_NAMES
};

enum { MPI_MOST_ARGUMENTS = 13, MPI_MOST_BUFFERS = 3 };

enum mpi_access { MPI_READS = 1, MPI_WRITES = 2, MPI_CHANGES = 3 };

/** Whose buffer counts. MPI_IF_OP: unless the operation is MPI_NO_OP; MPI_FIRST:
 *  rank 0's. */
enum mpi_who {
    MPI_EVERYBODY,
    MPI_ROOT_ONLY,
    MPI_OTHERS,
    MPI_IF_IN_PLACE,
    MPI_IF_NOT_IN_PLACE,
    MPI_FIRST,
    MPI_NOT_FIRST,
    MPI_IF_OP
};

/** For whom there is one more count. */
enum mpi_times { MPI_ONCE, MPI_RANKS, MPI_SOURCES, MPI_DESTINATIONS };

/** What the count argument is. */
enum mpi_shape {
    MPI_NUMBER,
    MPI_LIST,            /* one each, displacements in extents            */
    MPI_TYPED_LIST,      /* one each with a type, displacements in bytes  */
    MPI_WIDE_TYPED_LIST, /* the same, displacements are MPI_Aint          */
    MPI_SUM,             /* one each, the elements lie side by side       */
    MPI_MINE             /* one each, of which the caller's counts        */
};

/** A buffer of a call: places of arguments. Place 0 is none but for `at`:
 *  without a count one element is meant, without a type bytes. */
struct mpi_buffer {
    uint8_t at, count, displs, type;
    uint8_t access, who, times, shape;
    bool keeps; /* its contents count when argument 0 is MPI_IN_PLACE */
};

/** How a call runs. */
enum mpi_kind {
    MPI_NOW,        /* complete when it returns                        */
    MPI_LATER,      /* complete when its request is                    */
    MPI_PERSISTENT, /* as often as its request is started              */
    MPI_EPOCH,      /* complete at the next synchronisation of a window */
    MPI_SPLIT,      /* complete at the _end of a file                  */
    MPI_REFUSED     /* cannot be had on shared memory                  */
};

/** A row of mpi_calls.def. Places of arguments; 0 is none. */
struct mpi_row {
    const char *name;
    uint8_t arity;
    uint8_t kind;
    uint8_t comm, root, status, request, window, target, op;
    bool wide;    /* counts and displacements have 64 bits        */
    bool counted; /* the status says how many bytes have arrived  */
    struct mpi_buffer buffer[MPI_MOST_BUFFERS]; /* access 0: no more */
};

extern const struct mpi_row mpi_rows[MPI_NAMES];

/** The function behind `name`, or NULL. Thread: any. Signal: never */
void *mpi_real(enum mpi_name name);

/** There is no function behind `name`: say so once. Return: an error of MPI */
int mpi_absent(enum mpi_name name);

#endif
