/* Calls on shared buffers until they are complete. */
#include "interpose/mpi/use.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/status.h"

#include <stdlib.h>

_Atomic unsigned mpi_waiting[MPI_LISTS];

/* In order of arrival, by key: a library may give the same request to several
 * calls when all of them are complete. */
enum { SLOTS = 256 };

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_POOL);
static struct mpi_use *slots[MPI_LISTS][SLOTS];

static struct mpi_use **slot_of(enum mpi_list list, mpi_word key)
{
    uint64_t hash = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);
    return &slots[list][list == MPI_ORPHANS ? 0 : hash >> 56];
}

bool mpi_use_begin(struct mpi_use *use, const struct mpi_row *row,
                   const mpi_word *args)
{
    *use = (struct mpi_use){.row = row};
    bool shared = false;
    for (int i = 0; i < MPI_MOST_BUFFERS && row->buffer[i].access; i++) {
        struct mpi_image *image = &use->image[i];
        use->count = i + 1;
        if (!mpi_image_describe(row, &row->buffer[i], args, image))
            *image = (struct mpi_image){0};
        else if (mpi_image_is_shared(image))
            shared = true;
        else
            mpi_image_close(image);
    }
    if (!shared)
        mpi_use_end(use);
    return shared;
}

int mpi_use_open(struct mpi_use *use, mpi_word *args)
{
    bool lasting = use->row->kind == MPI_PERSISTENT;
    int status = ADSM_OK;
    for (int i = 0; i < use->count && status == ADSM_OK; i++)
        if (use->image[i].count > 0)
            status = mpi_image_open(&use->image[i], lasting,
                                    &args[use->row->buffer[i].at]);
    if (status != ADSM_OK)
        mpi_use_end(use);
    return status;
}

bool mpi_use_lasts(const struct mpi_use *use)
{
    for (int i = 0; i < use->count; i++)
        if (use->image[i].memory)
            return true;
    return false;
}

static long long arrived(const struct mpi_use *use, const void *status)
{
    const struct mpi_abi *abi = mpi_abi();
    long long bytes = 0;
    int cancelled = 0;
    if (!use->row->counted || !status)
        return MPI_ALL_BYTES;
    /* Only such receives can be cancelled; those of files leave the flag as the
     * status had it before. */
    bool may_be = use->row->comm && use->row->kind != MPI_NOW;
    if ((may_be && (abi->Test_cancelled(status, &cancelled) || cancelled)) ||
        abi->Get_elements_x(status, abi->byte, &bytes) || bytes < 0)
        return 0;
    return bytes;
}

int mpi_use_settle(const struct mpi_use *use, const void *status)
{
    int failed = ADSM_OK;
    for (int i = 0; i < use->count; i++) {
        const struct mpi_image *image = &use->image[i];
        if (!image->memory || !(image->access & MPI_WRITES))
            continue;
        int rc = mpi_image_put(image, arrived(use, status));
        failed = failed ? failed : rc;
    }
    return failed ? mpi_fail(use->row, 0, failed) : MPI_SUCCESS;
}

void mpi_use_end(struct mpi_use *use)
{
    for (int i = 0; i < use->count; i++)
        mpi_image_close(&use->image[i]);
    use->count = 0;
}

void mpi_use_return(struct mpi_use *use, enum mpi_list list, mpi_word key)
{
    use->key = key;
    use->next = NULL;
    adsm_lock_acquire(&lock);
    struct mpi_use **at = slot_of(list, key);
    while (*at)
        at = &(*at)->next;
    *at = use;
    adsm_lock_release(&lock);
    atomic_fetch_add_explicit(&mpi_waiting[list], 1, memory_order_relaxed);
}

void mpi_use_keep(struct mpi_use *use, struct mpi_use *room, enum mpi_list list,
                  mpi_word key)
{
    *room = *use;
    for (int i = 0; i < room->count; i++)
        if (room->image[i].parts == &use->image[i].one)
            room->image[i].parts = &room->image[i].one;
    use->count = 0;
    mpi_use_return(room, list, key);
}

static struct mpi_use *take(enum mpi_list list, mpi_word key, bool any)
{
    adsm_lock_acquire(&lock);
    struct mpi_use **at = slot_of(list, key);
    while (*at && !any && (*at)->key != key)
        at = &(*at)->next;
    struct mpi_use *use = *at;
    if (use)
        *at = use->next;
    adsm_lock_release(&lock);
    if (use)
        atomic_fetch_sub_explicit(&mpi_waiting[list], 1, memory_order_relaxed);
    return use;
}

struct mpi_use *mpi_use_take(enum mpi_list list, mpi_word key)
{
    return take(list, key, false);
}

struct mpi_use *mpi_use_take_orphan(void)
{
    return take(MPI_ORPHANS, 0, true);
}

struct mpi_use *mpi_use_take_window(mpi_word window, int target)
{
    struct mpi_use *chain = NULL, **end = &chain;
    unsigned taken = 0;
    adsm_lock_acquire(&lock);
    struct mpi_use **at = slot_of(MPI_WINDOWS, window);
    while (*at) {
        struct mpi_use *use = *at;
        if (use->key != window ||
            (target != MPI_ANY_TARGET && use->target != target)) {
            at = &use->next;
            continue;
        }
        *at = use->next;
        use->next = NULL;
        *end = use;
        end = &use->next;
        taken++;
    }
    adsm_lock_release(&lock);
    atomic_fetch_sub_explicit(&mpi_waiting[MPI_WINDOWS], taken,
                              memory_order_relaxed);
    return chain;
}

void mpi_use_free(struct mpi_use *use)
{
    mpi_use_end(use);
    free(use);
}

int mpi_fail(const struct mpi_row *row, mpi_word comm, int status)
{
    const struct mpi_abi *abi = mpi_abi();
    bool refused = row->kind == MPI_REFUSED;
    int code = refused ? MPI_ERR_BUFFER : abi->err_other;
    if (!refused)
        adsm_log(ADSM_LOG_ERROR, "MPI_%s on shared memory failed: %s",
                 row->name, adsm_status_text(status));
    if (comm)
        abi->Comm_call_errhandler(comm, code);
    return code;
}
