/*
 * Calls with buffers: the rows of mpi_calls.def and what runs them.
 */
#include "interpose/mpi/exports.h"
#include "interpose/mpi/invoke.h"
#include "interpose/mpi/use.h"
#include "base/log.h"
#include "base/status.h"

#include <stdlib.h>

_Thread_local int hook_bare; /* the driver's calls do not come here */

#define MPI_CALL(name_, arity_, how, ...)                                      \
    [MPI_AT_##name_] = {.name = #name_,                                        \
                        .arity = arity_,                                       \
                        MPI_EXPAND how,                                        \
                        .buffer = {__VA_ARGS__}},
#define MPI_HOOK(name_, arity_)                                                \
    [MPI_AT_##name_] = {.name = #name_, .arity = arity_},
const struct mpi_row mpi_rows[MPI_NAMES] = {
#include "interpose/mpi/calls.def"
};

/* Two loads for each buffer. An address of 0 is none, or MPI_BOTTOM with the
 * addresses in the datatype. */
static inline bool may_be_shared(const struct mpi_row *row,
                                 const mpi_word *args)
{
    for (int i = 0; i < MPI_MOST_BUFFERS && row->buffer[i].access; i++) {
        const void *at = (const void *)args[row->buffer[i].at];
        if (hook_unlikely(!at || !hook_is_plain(at, 1)))
            return true;
    }
    return false;
}

static int refuse(const struct mpi_row *row, const mpi_word *args)
{
    adsm_log(ADSM_LOG_ERROR,
             "MPI_%s cannot use shared memory: give it plain memory, as from "
             "MPI_Alloc_mem, and copy",
             row->name);
    return mpi_fail(row, row->comm ? args[row->comm] : 0, ADSM_E_UNSUPPORTED);
}

/* Where a use that has images stays, and by what it is found. */
static enum mpi_list list_of(struct mpi_use *use, const mpi_word *args,
                             mpi_word *key)
{
    const struct mpi_row *row = use->row;
    switch ((enum mpi_kind)row->kind) {
    case MPI_EPOCH:
        *key = mpi_handle(mpi_abi(), args[row->window]);
        use->target = (int)args[row->target];
        return MPI_WINDOWS;
    case MPI_SPLIT:
        *key = args[0];
        return MPI_FILES;
    default:
        use->active = row->kind == MPI_LATER;
        *key = mpi_handle_at(mpi_abi(), (const void *)args[row->request], 0);
        return MPI_REQUESTS;
    }
}

/* Begin what is complete later; `room` is had before MPI gets a request that
 * cannot be taken back. */
static int call_lasting(enum mpi_name name, mpi_word *args, struct mpi_use *use)
{
    const struct mpi_row *row = use->row;
    mpi_word key;
    struct mpi_use *room = malloc(sizeof *room);
    if (!room)
        return mpi_fail(row, row->comm ? args[row->comm] : 0, ADSM_E_NOMEM);
    int rc = mpi_invoke(name, args, row->arity);
    if (rc == MPI_SUCCESS && mpi_use_lasts(use)) {
        enum mpi_list list = list_of(use, args, &key);
        mpi_use_keep(use, room, list, key);
    } else {
        free(room);
    }
    return rc;
}

static int call_now(enum mpi_name name, mpi_word *args, struct mpi_use *use)
{
    const struct mpi_row *row = use->row;
    struct mpi_status own;
    if (row->status && args[row->status] == mpi_abi()->status_ignore)
        args[row->status] = (mpi_word)&own;
    int rc = mpi_invoke(name, args, row->arity);
    if (rc != MPI_SUCCESS)
        return rc;
    return mpi_use_settle(use,
                          row->status ? (const void *)args[row->status] : NULL);
}

static __attribute__((noinline)) int call_shared(enum mpi_name name,
                                                 mpi_word *args)
{
    const struct mpi_row *row = &mpi_rows[name];
    struct mpi_use use;
    if (!mpi_abi() || !mpi_use_begin(&use, row, args))
        return mpi_invoke(name, args, row->arity);
    if (row->kind == MPI_REFUSED) {
        mpi_use_end(&use);
        return refuse(row, args);
    }
    int status = mpi_use_open(&use, args);
    if (status != ADSM_OK)
        return mpi_fail(row, row->comm ? args[row->comm] : 0, status);
    int rc = row->kind == MPI_NOW ? call_now(name, args, &use)
                                  : call_lasting(name, args, &use);
    mpi_use_end(&use);
    return rc;
}

static inline int call(enum mpi_name name, mpi_word *args, int arity)
{
    if (hook_likely(!may_be_shared(&mpi_rows[name], args)))
        return mpi_invoke(name, args, arity);
    return call_shared(name, args);
}

#define MPI_CALL(name, arity, how, ...)                                        \
    int MPI_##name(MPI_P##arity)                                               \
    {                                                                          \
        mpi_word args[] = {MPI_A##arity};                                      \
        return call(MPI_AT_##name, args, arity);                               \
    }
#include "interpose/mpi/calls.def"
