/*
 * Memory of others: the synchronisations of windows, at which what was fetched
 * is brought and what was kept to be sent is given back.
 */
#include "interpose/mpi/exports.h"
#include "interpose/mpi/invoke.h"
#include "interpose/mpi/use.h"

static struct mpi_use *begin(mpi_word window, int target)
{
    if (!mpi_waits(MPI_WINDOWS))
        return NULL;
    return mpi_use_take_window(mpi_handle(mpi_abi(), window), target);
}

static int end(struct mpi_use *chain, int rc)
{
    while (chain) {
        struct mpi_use *use = chain;
        chain = use->next;
        int failed =
            rc == MPI_SUCCESS ? mpi_use_settle(use, NULL) : MPI_SUCCESS;
        rc = rc != MPI_SUCCESS ? rc : failed;
        mpi_use_free(use);
    }
    return rc;
}

/* Of all targets: with the window as last argument. */
int MPI_Win_fence(mpi_word assertion, mpi_word window)
{
    struct mpi_use *chain = begin(window, MPI_ANY_TARGET);
    return end(chain, MPI_REAL(Win_fence, 2, assertion, window));
}

#define OF_ALL(name)                                                           \
    int MPI_##name(mpi_word window)                                            \
    {                                                                          \
        struct mpi_use *chain = begin(window, MPI_ANY_TARGET);                 \
        return end(chain, MPI_REAL(name, 1, window));                          \
    }
OF_ALL(Win_complete)
OF_ALL(Win_unlock_all)
OF_ALL(Win_flush_all)
OF_ALL(Win_flush_local_all)

#define OF_ONE(name)                                                           \
    int MPI_##name(mpi_word target, mpi_word window)                           \
    {                                                                          \
        struct mpi_use *chain = begin(window, (int)target);                    \
        return end(chain, MPI_REAL(name, 2, target, window));                  \
    }
OF_ONE(Win_unlock)
OF_ONE(Win_flush)
OF_ONE(Win_flush_local)
