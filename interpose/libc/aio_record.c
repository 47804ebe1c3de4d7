/* Records of asynchronous operations; see aio_record.h. */
#include "interpose/libc/aio_record.h"
#include "interpose/libc/pieces.h"
#include "base/lock.h"
#include "base/status.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_API);
static struct aio_record *records; /* lock */
static _Atomic int count;

bool aio_any(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

/* The lock is held. */
static struct aio_record *look_up(const struct aiocb *of)
{
    struct aio_record *record;
    HASH_FIND_PTR(records, &of, record);
    return record;
}

struct aio_record *aio_record_find(const struct aiocb *of)
{
    adsm_lock_acquire(&lock);
    struct aio_record *record = look_up(of);
    adsm_lock_release(&lock);
    return record;
}

struct aio_record *aio_record_use(const struct aiocb *of)
{
    adsm_lock_acquire(&lock);
    struct aio_record *record = look_up(of);
    if (record)
        record->users++;
    adsm_lock_release(&lock);
    return record;
}

int aio_record_make(const struct aiocb *of, enum adsm_access access,
                    bool has_buffer, struct aio_record **made)
{
    struct aio_record *old = aio_record_find(of);
    struct aio_record *record = calloc(1, sizeof *record);
    if (!record)
        return ADSM_E_NOMEM;
    record->of = of;
    record->block = *of;
    record->users = 1;
    if (has_buffer) {
        int status = flight_begin(&record->flight, (void *)of->aio_buf,
                                  of->aio_nbytes, access);
        if (status) {
            free(record);
            return status;
        }
        record->block.aio_buf = record->flight.at;
    }
    if (old)
        aio_record_drop(old);
    adsm_lock_acquire(&lock);
    HASH_ADD_PTR(records, of, record);
    bool is_in = record->hh.tbl != NULL;
    count += is_in;
    adsm_lock_release(&lock);
    if (!is_in) {
        flight_end(&record->flight, 0);
        free(record);
        return ADSM_E_NOMEM;
    }
    *made = record;
    return ADSM_OK;
}

void aio_record_unuse(struct aio_record *record)
{
    if (atomic_fetch_sub(&record->users, 1) > 1)
        return;
    flight_end(&record->flight, 0);
    free(record);
}

void aio_record_drop(struct aio_record *record)
{
    adsm_lock_acquire(&lock);
    bool found = look_up(record->of) == record;
    if (found) {
        HASH_DEL(records, record);
        count--;
    }
    adsm_lock_release(&lock);
    if (found)
        aio_record_unuse(record);
}

/* It has ended, and nobody else moves what arrived. */
static void settle(struct aio_record *record, int error)
{
    ssize_t done = record->block.__return_value;
    int status =
        flight_end(&record->flight, error || done < 0 ? 0 : (size_t)done);
    if (status) {
        hook_failed("asynchronous I/O", status);
        record->error = pieces_errno(status);
    }
    /* Release: pairs with the load in aio_record_error. */
    atomic_store_explicit(&record->phase, AIO_ENDED, memory_order_release);
}

int aio_record_error(struct aio_record *record)
{
    int goes_on = AIO_GOES_ON;
    int error = HOOK_REAL(aio_error)(&record->block);
    if (error == EINPROGRESS)
        return error;
    if (atomic_compare_exchange_strong(&record->phase, &goes_on, AIO_MOVES))
        settle(record, error);
    if (atomic_load_explicit(&record->phase, memory_order_acquire) != AIO_ENDED)
        return EINPROGRESS;
    return error ? error : record->error;
}

/* A signal as libc sends it, from a thread that does not take it itself. */
static void tell_by_signal(const struct sigevent *event)
{
    sigset_t all;
    siginfo_t info = {0};
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    HOOK_REAL(pthread_sigmask)(SIG_SETMASK, &all, NULL);
    info.si_signo = event->sigev_signo;
    info.si_code = SI_ASYNCIO;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value = event->sigev_value;
    syscall(SYS_rt_sigqueueinfo, getpid(), event->sigev_signo, &info);
}

void aio_tell(const struct sigevent *event)
{
    if (event->sigev_notify == SIGEV_SIGNAL)
        tell_by_signal(event);
    else if (event->sigev_notify == SIGEV_THREAD)
        event->sigev_notify_function(event->sigev_value);
}
