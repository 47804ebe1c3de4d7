/*
 * Calls that fit into no table: ends of split file accesses, the buffer of
 * buffered sends, and the end of MPI.
 */
#include "interpose/mpi/exports.h"
#include "interpose/mpi/invoke.h"
#include "interpose/mpi/room.h"
#include "interpose/mpi/wait.h"
#include "base/status.h"

/* MPI is told where it was told to begin. */
static int end_split(enum mpi_name name, mpi_word file, mpi_word buffer,
                     mpi_word status)
{
    struct mpi_status own;
    struct mpi_use *use =
        mpi_waits(MPI_FILES) ? mpi_use_take(MPI_FILES, file) : NULL;
    if (!use)
        return mpi_invoke(name, (const mpi_word[]){file, buffer, status}, 3);
    const struct mpi_image *image = &use->image[0];
    mpi_word given =
        buffer - (mpi_word)image->low + (mpi_word)(uintptr_t)image->memory;
    if (status == mpi_abi()->status_ignore)
        status = (mpi_word)&own;
    int rc = mpi_invoke(name, (const mpi_word[]){file, given, status}, 3);
    if (rc == MPI_SUCCESS)
        rc = mpi_use_settle(use, (const void *)status);
    mpi_use_free(use);
    return rc;
}

#define SPLIT_END(name)                                                        \
    int MPI_##name(mpi_word file, mpi_word buffer, mpi_word status)            \
    {                                                                          \
        return end_split(MPI_AT_##name, file, buffer, status);                 \
    }
SPLIT_END(File_read_all_end)
SPLIT_END(File_write_all_end)
SPLIT_END(File_read_at_all_end)
SPLIT_END(File_write_at_all_end)
SPLIT_END(File_read_ordered_end)
SPLIT_END(File_write_ordered_end)

/* MPI keeps messages in the attached buffer as it likes, and its contents are
 * nobody's business: it gets plain memory of that length. One at a time. */
static struct {
    mpi_word buffer;
    char *room;
    size_t bytes;
} attached;

static int attach(enum mpi_name name, mpi_word buffer, size_t bytes,
                  mpi_word argument)
{
    if (hook_is_plain((const void *)buffer, bytes))
        return mpi_invoke(name, (const mpi_word[]){buffer, argument}, 2);
    char *room = mpi_room_get(0, bytes);
    if (!room)
        return mpi_fail(&mpi_rows[name], 0, ADSM_E_NOMEM);
    int rc = mpi_invoke(name, (const mpi_word[]){(mpi_word)room, argument}, 2);
    if (rc != MPI_SUCCESS) {
        mpi_room_put(room, bytes);
        return rc;
    }
    attached.buffer = buffer;
    attached.room = room;
    attached.bytes = bytes;
    return rc;
}

int MPI_Buffer_attach(mpi_word buffer, mpi_word bytes)
{
    return attach(MPI_AT_Buffer_attach, buffer, (size_t)(int)bytes, bytes);
}

int MPI_Buffer_attach_c(mpi_word buffer, mpi_word bytes)
{
    return attach(MPI_AT_Buffer_attach_c, buffer, (size_t)bytes, bytes);
}

static int detach(enum mpi_name name, mpi_word buffer, mpi_word bytes)
{
    int rc = mpi_invoke(name, (const mpi_word[]){buffer, bytes}, 2);
    if (rc == MPI_SUCCESS && attached.room &&
        *(char **)buffer == attached.room) {
        *(mpi_word *)buffer = attached.buffer;
        mpi_room_put(attached.room, attached.bytes);
        attached.room = NULL;
    }
    return rc;
}

int MPI_Buffer_detach(mpi_word buffer, mpi_word bytes)
{
    return detach(MPI_AT_Buffer_detach, buffer, bytes);
}

int MPI_Buffer_detach_c(mpi_word buffer, mpi_word bytes)
{
    return detach(MPI_AT_Buffer_detach_c, buffer, bytes);
}

int MPI_Finalize(void)
{
    if (mpi_waits(MPI_ORPHANS))
        mpi_wait_orphans(true);
    return MPI_REAL(Finalize, 0, 0);
}
