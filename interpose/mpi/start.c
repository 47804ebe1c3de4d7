/*
 * Persistent requests, and requests that are freed.
 */
#include "interpose/mpi/exports.h"
#include "interpose/mpi/invoke.h"
#include "interpose/mpi/wait.h"
#include "base/status.h"

#include <sched.h>

/* What MPI reads is copied at each start; what it only writes needs nothing. */
static int fill(struct mpi_use *use)
{
    int status = ADSM_OK;
    for (int i = 0; i < use->count && status == ADSM_OK; i++)
        if (use->image[i].memory && use->image[i].access & MPI_READS)
            status = mpi_image_fill(&use->image[i]);
    return status == ADSM_OK ? MPI_SUCCESS : mpi_fail(use->row, 0, status);
}

/* The uses of `count` requests become what they are while MPI works on them, or
 * no longer. */
static int mark(const void *requests, int count, bool active)
{
    const struct mpi_abi *abi = mpi_abi();
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        mpi_word key = mpi_handle_at(abi, requests, (size_t)i);
        struct mpi_use *use = mpi_use_take(MPI_REQUESTS, key);
        if (!use)
            continue;
        rc = active ? fill(use) : MPI_SUCCESS;
        use->active = active && rc == MPI_SUCCESS;
        use->settled = false;
        mpi_use_return(use, MPI_REQUESTS, key);
    }
    return rc;
}

int MPI_Start(mpi_word request)
{
    bool any = mpi_waits(MPI_REQUESTS);
    int rc = any ? mark((const void *)request, 1, true) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        return rc;
    rc = MPI_REAL(Start, 1, request);
    if (rc != MPI_SUCCESS && any)
        mark((const void *)request, 1, false);
    return rc;
}

int MPI_Startall(mpi_word count, mpi_word requests)
{
    bool any = mpi_waits(MPI_REQUESTS);
    int rc = any ? mark((const void *)requests, (int)count, true) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        return rc;
    rc = MPI_REAL(Startall, 2, count, requests);
    if (rc != MPI_SUCCESS && any)
        mark((const void *)requests, (int)count, false);
    return rc;
}

/* A request that is not complete stays with us, as only it can tell when its
 * image may go and its data are there. */
int MPI_Request_free(mpi_word request)
{
    const struct mpi_abi *abi;
    if (!mpi_waits(MPI_REQUESTS) || !(abi = mpi_abi()))
        return MPI_REAL(Request_free, 1, request);
    mpi_word key = mpi_handle_at(abi, (const void *)request, 0);
    struct mpi_use *use = mpi_use_take(MPI_REQUESTS, key);
    if (use && use->active && !use->settled) {
        mpi_use_return(use, MPI_ORPHANS, key);
        if (abi->handles_are_ints)
            *(int *)request = (int)abi->request_null;
        else
            *(mpi_word *)request = abi->request_null;
        return MPI_SUCCESS;
    }
    if (use)
        mpi_use_free(use);
    return MPI_REAL(Request_free, 1, request);
}

/* Ask for the request of one orphan. Return: false when it is not complete */
static bool settle(struct mpi_use *use)
{
    const struct mpi_abi *abi = mpi_abi();
    struct mpi_status status;
    mpi_word request = use->key; /* ints are in its lower half */
    int there = 0;
    if (abi->Test(&request, &there, &status) == MPI_SUCCESS && !there)
        return false;
    if (there)
        mpi_use_settle(use, &status);
    if (use->row->kind == MPI_PERSISTENT)
        abi->Request_free(&request);
    mpi_use_free(use);
    return true;
}

void mpi_wait_orphans(bool all)
{
    struct mpi_use *use;
    unsigned left =
        atomic_load_explicit(&mpi_waiting[MPI_ORPHANS], memory_order_relaxed);
    while (left > 0 && (use = mpi_use_take_orphan())) {
        if (settle(use)) {
            left--;
            continue;
        }
        mpi_use_return(use, MPI_ORPHANS, use->key);
        if (all)
            sched_yield();
        else
            left--;
    }
}
