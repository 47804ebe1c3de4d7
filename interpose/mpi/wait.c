/*
 * Requests that become complete.
 *
 * Uses are taken out of the list before MPI is called: it may give the same
 * request to another thread as soon as it is complete. Those that are not
 * complete afterwards go back.
 */
#include "interpose/mpi/wait.h"
#include "interpose/mpi/exports.h"
#include "interpose/mpi/invoke.h"

#include <stdlib.h>

enum { FEW = 16 };

/* The requests of one call. */
struct waiting {
    const struct mpi_abi *abi;
    void *requests;
    int count;
    char *statuses; /* the program's, or our own                       */
    struct mpi_use **use;
    mpi_word *key; /* as they were                                     */
    struct mpi_use *few_use[FEW];
    mpi_word few_key[FEW];
    struct mpi_status few_status[FEW];
    void *allocated;
};

static bool prepare(struct waiting *w, mpi_word count, mpi_word requests,
                    mpi_word statuses)
{
    w->abi = mpi_abi();
    w->requests = (void *)requests;
    w->count = (int)count;
    w->use = w->few_use;
    w->key = w->few_key;
    w->statuses = (char *)w->few_status;
    w->allocated = NULL;
    if (!w->abi || w->count <= 0)
        return false;
    if (w->count > FEW) {
        size_t n = (size_t)w->count;
        w->allocated = malloc(
            n * (sizeof *w->use + sizeof *w->key + sizeof(struct mpi_status)));
        if (!w->allocated)
            return false;
        w->statuses = w->allocated;
        w->use = (void *)(w->statuses + n * sizeof(struct mpi_status));
        w->key = (void *)(w->use + n);
    }
    if (statuses != w->abi->status_ignore)
        w->statuses = (char *)statuses;
    return true;
}

/* Take the uses of these requests. Return: false when there are none */
static bool begin(struct waiting *w, mpi_word count, mpi_word requests,
                  mpi_word statuses)
{
    bool any = false;
    if (!mpi_waits(MPI_REQUESTS) || !prepare(w, count, requests, statuses))
        return false;
    for (int i = 0; i < w->count; i++) {
        w->key[i] = mpi_handle_at(w->abi, w->requests, (size_t)i);
        w->use[i] = mpi_use_take(MPI_REQUESTS, w->key[i]);
        any = any || w->use[i];
    }
    if (!any)
        free(w->allocated);
    return any;
}

int mpi_wait_complete(struct mpi_use *use, mpi_word key, const void *status)
{
    bool persistent = use->row->kind == MPI_PERSISTENT;
    int rc = MPI_SUCCESS;
    if (use->active && !use->settled)
        rc = mpi_use_settle(use, status);
    use->active = false;
    if (persistent)
        mpi_use_return(use, MPI_REQUESTS, key);
    else
        mpi_use_free(use);
    return rc;
}

static void put_back(struct waiting *w, int i)
{
    if (w->use[i])
        mpi_use_return(w->use[i], MPI_REQUESTS, w->key[i]);
    w->use[i] = NULL;
}

/* Request `i` is complete; its status is number `at`. */
static int complete(struct waiting *w, int i, int at)
{
    const char *status = w->statuses + (size_t)at * w->abi->status_bytes;
    struct mpi_use *use = i >= 0 && i < w->count ? w->use[i] : NULL;
    if (!use)
        return MPI_SUCCESS;
    w->use[i] = NULL;
    return mpi_wait_complete(use, w->key[i], status);
}

/* End it: what is not complete goes back, and what failed brings nothing. */
static void end(struct waiting *w, bool failed)
{
    for (int i = 0; i < w->count; i++) {
        bool gone = failed &&
                    mpi_handle_at(w->abi, w->requests, (size_t)i) != w->key[i];
        if (gone && w->use[i])
            mpi_use_free(w->use[i]);
        else
            put_back(w, i);
    }
    free(w->allocated);
}

static int complete_all(struct waiting *w, int rc)
{
    for (int i = 0; i < w->count; i++) {
        const int *error =
            (const int *)(w->statuses + (size_t)i * w->abi->status_bytes +
                          w->abi->status_error);
        bool good = rc == MPI_SUCCESS ||
                    (rc == w->abi->err_in_status && *error == MPI_SUCCESS);
        int failed = good ? complete(w, i, i) : MPI_SUCCESS;
        rc = rc != MPI_SUCCESS ? rc : failed;
    }
    end(w, rc != MPI_SUCCESS);
    return rc;
}

static int complete_one(struct waiting *w, int rc, int which)
{
    bool failed = rc != MPI_SUCCESS;
    if (!failed)
        rc = complete(w, which, 0);
    end(w, failed);
    return rc;
}

static int complete_some(struct waiting *w, int rc, int count,
                         const int *indices)
{
    bool failed = rc != MPI_SUCCESS;
    for (int k = 0; !failed && k < count; k++) {
        int one = complete(w, indices[k], k);
        rc = rc != MPI_SUCCESS ? rc : one;
    }
    end(w, failed);
    return rc;
}

/* What the program freed before its end is looked after here. */
static void settle_orphans(void)
{
    if (mpi_waits(MPI_ORPHANS))
        mpi_wait_orphans(false);
}

int MPI_Wait(mpi_word request, mpi_word status)
{
    struct waiting w;
    settle_orphans();
    if (!begin(&w, 1, request, status))
        return MPI_REAL(Wait, 2, request, status);
    int rc = MPI_REAL(Wait, 2, request, (mpi_word)w.statuses);
    return complete_one(&w, rc, 0);
}

int MPI_Waitall(mpi_word count, mpi_word requests, mpi_word statuses)
{
    struct waiting w;
    settle_orphans();
    if (!begin(&w, count, requests, statuses))
        return MPI_REAL(Waitall, 3, count, requests, statuses);
    int rc = MPI_REAL(Waitall, 3, count, requests, (mpi_word)w.statuses);
    return complete_all(&w, rc);
}

int MPI_Waitany(mpi_word count, mpi_word requests, mpi_word index,
                mpi_word status)
{
    struct waiting w;
    settle_orphans();
    if (!begin(&w, count, requests, status))
        return MPI_REAL(Waitany, 4, count, requests, index, status);
    int rc = MPI_REAL(Waitany, 4, count, requests, index, (mpi_word)w.statuses);
    return complete_one(&w, rc, *(const int *)index);
}

int MPI_Waitsome(mpi_word count, mpi_word requests, mpi_word done,
                 mpi_word indices, mpi_word statuses)
{
    struct waiting w;
    settle_orphans();
    if (!begin(&w, count, requests, statuses))
        return MPI_REAL(Waitsome, 5, count, requests, done, indices, statuses);
    int rc = MPI_REAL(Waitsome, 5, count, requests, done, indices,
                      (mpi_word)w.statuses);
    return complete_some(&w, rc, *(const int *)done, (const int *)indices);
}

int MPI_Test(mpi_word request, mpi_word flag, mpi_word status)
{
    struct waiting w;
    settle_orphans();
    if (!begin(&w, 1, request, status))
        return MPI_REAL(Test, 3, request, flag, status);
    int rc = MPI_REAL(Test, 3, request, flag, (mpi_word)w.statuses);
    return complete_one(&w, rc, *(const int *)flag ? 0 : -1);
}

int MPI_Testall(mpi_word count, mpi_word requests, mpi_word flag,
                mpi_word statuses)
{
    struct waiting w;
    settle_orphans();
    if (!begin(&w, count, requests, statuses))
        return MPI_REAL(Testall, 4, count, requests, flag, statuses);
    int rc = MPI_REAL(Testall, 4, count, requests, flag, (mpi_word)w.statuses);
    if (rc != MPI_SUCCESS || *(const int *)flag)
        return complete_all(&w, rc);
    end(&w, false);
    return rc;
}

int MPI_Testany(mpi_word count, mpi_word requests, mpi_word index,
                mpi_word flag, mpi_word status)
{
    struct waiting w;
    settle_orphans();
    if (!begin(&w, count, requests, status))
        return MPI_REAL(Testany, 5, count, requests, index, flag, status);
    int rc = MPI_REAL(Testany, 5, count, requests, index, flag,
                      (mpi_word)w.statuses);
    return complete_one(&w, rc, *(const int *)flag ? *(const int *)index : -1);
}

int MPI_Testsome(mpi_word count, mpi_word requests, mpi_word done,
                 mpi_word indices, mpi_word statuses)
{
    struct waiting w;
    settle_orphans();
    if (!begin(&w, count, requests, statuses))
        return MPI_REAL(Testsome, 5, count, requests, done, indices, statuses);
    int rc = MPI_REAL(Testsome, 5, count, requests, done, indices,
                      (mpi_word)w.statuses);
    return complete_some(&w, rc, *(const int *)done, (const int *)indices);
}

/* The request stays; what it brought may be looked at. */
int MPI_Request_get_status(mpi_word request, mpi_word flag, mpi_word status)
{
    struct waiting w;
    if (!begin(&w, 1, (mpi_word)&request, status))
        return MPI_REAL(Request_get_status, 3, request, flag, status);
    int rc =
        MPI_REAL(Request_get_status, 3, request, flag, (mpi_word)w.statuses);
    struct mpi_use *use = w.use[0];
    if (rc == MPI_SUCCESS && *(const int *)flag && use->active &&
        !use->settled) {
        rc = mpi_use_settle(use, w.statuses);
        use->settled = true;
    }
    end(&w, false);
    return rc;
}
