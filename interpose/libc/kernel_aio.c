/*
 * Linux's own asynchronous I/O; see kernel_aio.h.
 *
 * Lock: `lock`, rank API: the table of operations, by the block that the kernel
 * knows. Who takes an operation out of it has it alone.
 */
#include "interpose/libc/kernel_aio.h"
#include "interpose/calls/call.h"
#include "interpose/calls/list.h"
#include "interpose/calls/roles.h"
#include "interpose/libc/flight.h"
#include "interpose/libc/pieces.h"
#include "interpose/loader.h"
#include "base/lock.h"
#include "base/status.h"
#include "os/look.h"

#include <errno.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct operation {
    struct iocb block; /* the kernel's                                       */
    struct iocb *of;   /* the program's                                      */
    uintptr_t context;
    struct flights *ranges;
    UT_hash_handle hh;
    const struct iocb *key;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_API);
static struct operation *operations; /* lock */
static _Atomic int count;

static long issue(void *number, const uintptr_t *w)
{
    return hook_next_syscall((long)number, w[0], w[1], w[2], w[3], w[4], w[5]);
}

/* ---- the table ---------------------------------------------------------------- */

static bool keep(struct operation *operation)
{
    adsm_lock_acquire(&lock);
    operation->key = &operation->block;
    HASH_ADD_PTR(operations, key, operation);
    bool is_in = operation->hh.tbl != NULL;
    count += is_in;
    adsm_lock_release(&lock);
    return is_in;
}

/* The lock is held. */
static void take_out(struct operation *operation)
{
    HASH_DEL(operations, operation);
    count--;
}

/* That of a block of the kernel's, no longer in the table; NULL: it is none of
 * ours. */
static struct operation *take(const struct iocb *block)
{
    struct operation *operation = NULL;
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0)
        return NULL;
    adsm_lock_acquire(&lock);
    HASH_FIND_PTR(operations, &block, operation);
    if (operation)
        take_out(operation);
    adsm_lock_release(&lock);
    return operation;
}

static int end(struct operation *operation, size_t done)
{
    int status = flights_end(operation->ranges, done);
    free(operation->ranges);
    free(operation);
    return status;
}

/* ---- beginning ------------------------------------------------------------------ */

/* What an operation does to memory. */
static bool has_memory(const struct iocb *block, enum adsm_access *access,
                       bool *vector)
{
    int code = block->aio_lio_opcode;
    *vector = code == IOCB_CMD_PREADV || code == IOCB_CMD_PWRITEV;
    *access = code == IOCB_CMD_PREAD || code == IOCB_CMD_PREADV ? ADSM_WRITE
                                                                : ADSM_READ;
    return *vector || code == IOCB_CMD_PREAD || code == IOCB_CMD_PWRITE;
}

/* Is block *given, which is copied? One that is not there is: the kernel says
 * so. */
static bool is_plain(const struct iocb *given, struct iocb *block)
{
    enum adsm_access access;
    bool vector, there = adsm_look(block, given, sizeof *block);
    if (!there || !hook_is_plain(given, sizeof *given))
        return !there;
    if (!has_memory(block, &access, &vector))
        return true;
    const void *at = (const void *)(uintptr_t)block->aio_buf;
    return vector ? call_list_is_plain(at, block->aio_nbytes)
                  : hook_is_plain(at, block->aio_nbytes);
}

static bool list_is_plain(struct iocb *const *list, long number)
{
    struct iocb block, *at;
    if (number <= 0)
        return true;
    if (!hook_is_plain(list, call_bytes((uintptr_t)number, sizeof *list)))
        return false;
    for (long i = 0; i < number && adsm_look(&at, &list[i], sizeof at); i++)
        if (!is_plain(at, &block))
            return false;
    return true;
}

/* The buffers of operation->block in memory that the kernel may use. */
static int begin(struct operation *operation)
{
    struct iocb *block = &operation->block;
    enum adsm_access access;
    bool vector, has = has_memory(block, &access, &vector);
    void *at = (void *)(uintptr_t)block->aio_buf;
    struct iovec one = {at, block->aio_nbytes};
    size_t ranges = !has ? 0 : vector ? block->aio_nbytes : 1;
    if (ranges > IOV_MAX)
        ranges = 0; /* the kernel refuses that many */
    operation->ranges = flights_make((int)ranges);
    if (!operation->ranges)
        return ADSM_E_NOMEM;
    if (ranges == 0)
        return ADSM_OK;
    int status = flights_begin(operation->ranges, vector ? at : &one, access);
    block->aio_buf = vector ? (uintptr_t)operation->ranges->iov
                            : (uintptr_t)operation->ranges->each[0].at;
    return status;
}

static long refuse(struct operation *operation, int status)
{
    hook_failed("asynchronous I/O", status);
    if (operation)
        free(operation->ranges);
    free(operation);
    errno = status == ADSM_E_NOMEM ? EAGAIN : pieces_errno(status);
    return -1;
}

/* `block` is a copy of the program's, *of. */
static long submit_shared(uintptr_t context, const struct iocb *block,
                          struct iocb *of)
{
    struct operation *operation = calloc(1, sizeof *operation);
    if (!operation)
        return refuse(NULL, ADSM_E_NOMEM);
    operation->block = *block;
    operation->of = of;
    operation->context = context;
    int status = begin(operation);
    if (status)
        return refuse(operation, status);
    if (!keep(operation)) {
        (void)end(operation, 0);
        return refuse(NULL, ADSM_E_NOMEM);
    }
    struct iocb *own = &operation->block;
    const uintptr_t w[CALL_WORDS] = {context, 1, (uintptr_t)&own};
    long done = issue((void *)SYS_io_submit, w);
    if (done != 1 && take(own)) {
        int saved = errno;
        (void)end(operation, 0);
        errno = saved;
    }
    return done;
}

/* One after the other, as the kernel does it. */
long kernel_aio_submit(const uintptr_t *words)
{
    long number = (long)words[1], done = 0;
    struct iocb *const *list = (struct iocb *const *)words[2];
    if (hook_likely(list_is_plain(list, number)))
        return issue((void *)SYS_io_submit, words);
    for (; done < number; done++) {
        struct iocb block, *of; /* the list may be shared, too */
        bool there = adsm_look(&of, &list[done], sizeof of);
        const uintptr_t w[CALL_WORDS] = {
            words[0], 1, (uintptr_t)(there ? &of : &list[done])};
        long one = !there || is_plain(of, &block)
                       ? issue((void *)SYS_io_submit, w)
                       : submit_shared(words[0], &block, of);
        if (one != 1)
            return done ? done : one;
    }
    return done;
}

/* ---- events --------------------------------------------------------------------- */

/* What the kernel says of a block of ours, as the program is told it. */
static void settle(struct io_event *told)
{
    struct io_event event;
    struct operation *operation = NULL;
    if (adsm_look(&event, told, sizeof event))
        operation = take((const struct iocb *)(uintptr_t)event.obj);
    if (!operation)
        return;
    event.obj = (uintptr_t)operation->of;
    int status = end(operation, event.res > 0 ? (size_t)event.res : 0);
    if (status) {
        hook_failed("asynchronous I/O", status);
        event.res = -pieces_errno(status);
    }
    (void)call_put(told, &event, sizeof event);
}

static long get_events(const struct call_shape *shape, long number,
                       const uintptr_t *words)
{
    struct io_event *events = (struct io_event *)words[3];
    long done = call_is_plain(shape, words)
                    ? issue((void *)number, words)
                    : call_shared(shape, words, issue, (void *)number);
    int saved = errno;
    for (long i = 0; i < done; i++)
        settle(&events[i]);
    errno = saved;
    return done;
}

long kernel_aio_getevents(const uintptr_t *words)
{
    static const struct call_shape shape = {
        "io_getevents",
        false,
        {FILL(3, 2, struct io_event) IN(4, struct timespec)}};
    return get_events(&shape, SYS_io_getevents, words);
}

long kernel_aio_pgetevents(const uintptr_t *words)
{
    static const struct call_shape shape = {"io_pgetevents",
                                            false,
                                            {FILL(3, 2, struct io_event)
                                                 IN(4, struct timespec)
                                                     IN(5, uint64_t[2])}};
    return get_events(&shape, SYS_io_pgetevents, words);
}

/* ---- ends ------------------------------------------------------------------------ */

/* The kernel's block for one of the program's. */
static uintptr_t block_of(uintptr_t context, uintptr_t of)
{
    uintptr_t block = of;
    adsm_lock_acquire(&lock);
    for (struct operation *o = operations; o; o = o->hh.next)
        if (o->context == context && (uintptr_t)o->of == of)
            block = (uintptr_t)&o->block;
    adsm_lock_release(&lock);
    return block;
}

long kernel_aio_cancel(const uintptr_t *words)
{
    static const struct call_shape shape = {
        "io_cancel", false, {IN(1, struct iocb) OUT(2, struct io_event)}};
    uintptr_t w[CALL_WORDS];
    memcpy(w, words, sizeof w);
    w[1] = block_of(words[0], words[1]);
    long done = call_is_plain(&shape, w)
                    ? issue((void *)SYS_io_cancel, w)
                    : call_shared(&shape, w, issue, (void *)SYS_io_cancel);
    if (done == 0) /* kernels of today tell it by an event instead */
        settle((struct io_event *)words[2]);
    return done;
}

/* Nobody hears of what was under way: the kernel has waited for it. */
long kernel_aio_destroy(const uintptr_t *words)
{
    long done = issue((void *)SYS_io_destroy, words);
    struct operation *operation, *next, *ended = NULL;
    int saved = errno;
    adsm_lock_acquire(&lock);
    HASH_ITER(hh, operations, operation, next)
    {
        if (done != 0 || operation->context != words[0])
            continue;
        take_out(operation);
        operation->hh.next = ended;
        ended = operation;
    }
    adsm_lock_release(&lock);
    for (; ended; ended = next) {
        next = ended->hh.next;
        (void)end(ended, 0);
    }
    errno = saved;
    return done;
}
