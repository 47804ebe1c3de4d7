/* POSIX asynchronous I/O on memory that may be shared; see aio_record.h. */
#include "interpose/libc/aio_record.h"
#include "interpose/libc/pieces.h"
#include "base/status.h"

#include <errno.h>
#include <stdlib.h>

/* On 64-bit systems the forms with 64 are the same functions. */
_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "64-bit only");

static bool is_plain(const struct aiocb *block, bool has_buffer)
{
    return hook_is_plain(block, sizeof *block) &&
           (!has_buffer ||
            hook_is_plain((void *)block->aio_buf, block->aio_nbytes));
}

static int refuse(int status)
{
    hook_failed("asynchronous I/O", status);
    errno = status == ADSM_E_NOMEM ? EAGAIN : pieces_errno(status);
    return -1;
}

/* The operation has ended; on a thread of libc's for this. */
static void on_end(union sigval value)
{
    struct aio_record *record = value.sival_ptr;
    struct sigevent event = record->event;
    (void)aio_record_error(record);
    aio_record_unuse(record);
    aio_tell(&event);
}

/* Be told before the program is. */
static void divert(struct aio_record *record)
{
    struct sigevent *event = &record->block.aio_sigevent;
    record->event = *event;
    if (event->sigev_notify != SIGEV_SIGNAL &&
        event->sigev_notify != SIGEV_THREAD)
        return;
    if (event->sigev_notify == SIGEV_SIGNAL)
        event->sigev_notify_attributes = NULL;
    event->sigev_notify = SIGEV_THREAD;
    event->sigev_notify_function = on_end;
    event->sigev_value.sival_ptr = record;
    record->users++;
}

enum kind { KIND_READ, KIND_WRITE, KIND_FSYNC };

static int issue(enum kind kind, int operation, struct aiocb *block)
{
    switch (kind) {
    case KIND_READ:
        return HOOK_REAL(aio_read)(block);
    case KIND_WRITE:
        return HOOK_REAL(aio_write)(block);
    default:
        return HOOK_REAL(aio_fsync)(operation, block);
    }
}

static enum adsm_access access_of(bool reads)
{
    return reads ? ADSM_WRITE : ADSM_READ;
}

static __attribute__((noinline)) int begin_shared(enum kind kind, int operation,
                                                  const struct aiocb *block)
{
    struct aio_record *record;
    int status = aio_record_make(block, access_of(kind == KIND_READ),
                                 kind != KIND_FSYNC, &record);
    if (status)
        return refuse(status);
    divert(record);
    int failed = issue(kind, operation, &record->block);
    if (failed) {
        int saved = errno;
        record->users = 1; /* nobody will be told */
        aio_record_drop(record);
        errno = saved;
    }
    return failed;
}

/* A block that is used anew has no record of what it was used for before. */
static void forget(const struct aiocb *block)
{
    struct aio_record *old = aio_any() ? aio_record_find(block) : NULL;
    if (hook_unlikely(old != NULL))
        aio_record_drop(old);
}

static int begin(enum kind kind, int operation, struct aiocb *block)
{
    if (hook_unlikely(!is_plain(block, kind != KIND_FSYNC)))
        return begin_shared(kind, operation, block);
    forget(block);
    return issue(kind, operation, block);
}

int aio_read(struct aiocb *block)
{
    return begin(KIND_READ, 0, block);
}

int aio_write(struct aiocb *block)
{
    return begin(KIND_WRITE, 0, block);
}

int aio_fsync(int operation, struct aiocb *block)
{
    return begin(KIND_FSYNC, operation, block);
}

/* ---- what became of it --------------------------------------------------- */

static struct aio_record *record_of(const struct aiocb *block)
{
    return hook_likely(!aio_any()) ? NULL : aio_record_find(block);
}

int aio_error(const struct aiocb *block)
{
    struct aio_record *record = record_of(block);
    return record ? aio_record_error(record) : HOOK_REAL(aio_error)(block);
}

ssize_t aio_return(struct aiocb *block)
{
    struct aio_record *record = record_of(block);
    if (!record)
        return HOOK_REAL(aio_return)(block);
    (void)aio_record_error(record); /* a program that did not ask */
    ssize_t done = HOOK_REAL(aio_return)(&record->block);
    int error = done < 0 ? errno : record->error;
    aio_record_drop(record);
    errno = error ? error : errno;
    return error ? -1 : done;
}

int aio_cancel(int fd, struct aiocb *block)
{
    struct aio_record *record = block ? record_of(block) : NULL;
    return HOOK_REAL(aio_cancel)(fd, record ? &record->block : block);
}

/* The list with libc's blocks in it, whose records stay until `settle_all`:
 * another thread may ask for a result before this one wakes up. */
static void translate(const struct aiocb *const list[], int count,
                      const struct aiocb **own)
{
    for (int i = 0; i < count; i++) {
        struct aio_record *record = list[i] ? aio_record_use(list[i]) : NULL;
        own[i] = record ? &record->block : list[i];
    }
}

static void settle_all(const struct aiocb *const list[], int count,
                       const struct aiocb *const own[])
{
    int saved = errno;
    for (int i = 0; i < count; i++) {
        struct aio_record *record = (struct aio_record *)own[i];
        if (own[i] == list[i])
            continue;
        (void)aio_record_error(record);
        aio_record_unuse(record);
    }
    errno = saved;
}

enum { LIST_FEW = 64 };

int aio_suspend(const struct aiocb *const list[], int count,
                const struct timespec *patience)
{
    const struct aiocb *few[LIST_FEW], **own = few;
    if (hook_likely(!aio_any()) || count <= 0)
        return HOOK_REAL(aio_suspend)(list, count, patience);
    if (count > LIST_FEW && !(own = malloc((size_t)count * sizeof *own))) {
        errno = EAGAIN;
        return -1;
    }
    translate(list, count, own);
    int failed = HOOK_REAL(aio_suspend)(own, count, patience);
    settle_all(list, count, own);
    if (own != few)
        free(own);
    return failed;
}

/* ---- lists --------------------------------------------------------------- */

/* What the end of a list is waited for with. */
struct group {
    struct sigevent event; /* the program's                                  */
    int count;
    struct aio_record *records[];
};

static void on_end_of_list(union sigval value)
{
    struct group *group = value.sival_ptr;
    struct sigevent event = group->event;
    for (int i = 0; i < group->count; i++) {
        (void)aio_record_error(group->records[i]);
        aio_record_unuse(group->records[i]);
    }
    free(group);
    aio_tell(&event);
}

static bool is_used(const struct aiocb *block)
{
    return block && block->aio_lio_opcode != LIO_NOP;
}

static bool list_is_plain(struct aiocb *const list[], int count)
{
    for (int i = 0; i < count; i++)
        if (is_used(list[i]) && !is_plain(list[i], true))
            return false;
    return true;
}

/* Records for what is shared of the list, which `own` gets with them. */
static int make_records(struct aiocb *const list[], int count,
                        struct aiocb **own, struct group *group)
{
    int status = ADSM_OK;
    for (int i = 0; i < count && !status; i++) {
        struct aio_record *record;
        own[i] = list[i];
        if (!is_used(list[i]))
            continue;
        forget(list[i]);
        if (is_plain(list[i], true))
            continue;
        bool reads = list[i]->aio_lio_opcode == LIO_READ;
        status = aio_record_make(list[i], access_of(reads), true, &record);
        if (status)
            break;
        record->block.aio_sigevent.sigev_notify = SIGEV_NONE;
        group->records[group->count++] = record;
        own[i] = &record->block;
    }
    for (int i = 0; status && i < group->count; i++)
        aio_record_drop(group->records[i]);
    return status;
}

static bool is_told(int mode, const struct sigevent *event)
{
    return mode == LIO_NOWAIT && event &&
           (event->sigev_notify == SIGEV_SIGNAL ||
            event->sigev_notify == SIGEV_THREAD);
}

/* Begin the list whose records are in `group`, which is freed. */
static int begin_list(int mode, struct aiocb *const own[], int count,
                      struct sigevent *event, struct group *group)
{
    struct sigevent diverted;
    bool told = is_told(mode, event);
    if (told) {
        diverted = group->event = *event;
        if (event->sigev_notify == SIGEV_SIGNAL)
            diverted.sigev_notify_attributes = NULL;
        diverted.sigev_notify = SIGEV_THREAD;
        diverted.sigev_notify_function = on_end_of_list;
        diverted.sigev_value.sival_ptr = group;
        for (int i = 0; i < group->count; i++)
            group->records[i]->users++;
    }
    int failed =
        HOOK_REAL(lio_listio)(mode, own, count, told ? &diverted : event);
    int saved = errno;
    if (mode == LIO_WAIT)
        for (int i = 0; i < group->count; i++)
            (void)aio_record_error(group->records[i]);
    if (!told)
        free(group);
    errno = saved;
    return failed;
}

static __attribute__((noinline)) int list_shared(int mode,
                                                 struct aiocb *const list[],
                                                 int count,
                                                 struct sigevent *event)
{
    size_t room = (size_t)count;
    struct aiocb **own = malloc(room * sizeof *own);
    struct group *group =
        calloc(1, sizeof *group + room * sizeof *group->records);
    int status =
        own && group ? make_records(list, count, own, group) : ADSM_E_NOMEM;
    if (status) {
        free(own);
        free(group);
        return refuse(status);
    }
    int failed = begin_list(mode, own, count, event, group);
    int saved = errno;
    free(own);
    errno = saved;
    return failed;
}

int lio_listio(int mode, struct aiocb *const list[], int count,
               struct sigevent *event)
{
    if ((mode != LIO_WAIT && mode != LIO_NOWAIT) || count <= 0 ||
        (hook_likely(!aio_any()) && hook_likely(list_is_plain(list, count))))
        return HOOK_REAL(lio_listio)(mode, list, count, event);
    return list_shared(mode, list, count, event);
}

/* ---- the same functions under their other names -------------------------- */

int aio_read64(struct aiocb64 *block)
{
    return aio_read((struct aiocb *)block);
}

int aio_write64(struct aiocb64 *block)
{
    return aio_write((struct aiocb *)block);
}

int aio_fsync64(int operation, struct aiocb64 *block)
{
    return aio_fsync(operation, (struct aiocb *)block);
}

int aio_error64(const struct aiocb64 *block)
{
    return aio_error((const struct aiocb *)block);
}

ssize_t aio_return64(struct aiocb64 *block)
{
    return aio_return((struct aiocb *)block);
}

int aio_cancel64(int fd, struct aiocb64 *block)
{
    return aio_cancel(fd, (struct aiocb *)block);
}

int aio_suspend64(const struct aiocb64 *const list[], int count,
                  const struct timespec *patience)
{
    return aio_suspend((const struct aiocb *const *)list, count, patience);
}

int lio_listio64(int mode, struct aiocb64 *const list[], int count,
                 struct sigevent *event)
{
    return lio_listio(mode, (struct aiocb *const *)list, count, event);
}
