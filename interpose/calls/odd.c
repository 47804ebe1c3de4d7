/*
 * Wrappers of calls whose arguments the list of hooks cannot describe alone:
 * those with a variable number of them, and those where a size is no plain
 * product.
 */
#include "interpose/calls/command.h"
#include "interpose/calls/hooks.h"
#include "interpose/calls/list.h"
#include "interpose/calls/request.h"
#include "interpose/calls/roles.h"
#include "base/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <utmp.h>
#include <utmpx.h>

#define SHAPE(name) (&call_shapes[CALL_OF_##name])

/* The last argument of a call of which `before` is the one before. */
#define LAST(type, before)                                                     \
    ({                                                                         \
        va_list last_list;                                                     \
        va_start(last_list, before);                                           \
        type last = va_arg(last_list, type);                                   \
        va_end(last_list);                                                     \
        last;                                                                  \
    })

/* ---- open ---------------------------------------------------------------- */

static mode_t mode_of(int flags, mode_t mode)
{
    return flags & (O_CREAT | __O_TMPFILE) ? mode : 0;
}

#define OPEN(name)                                                             \
    static long issue_##name(void *context, const uintptr_t *w)                \
    {                                                                          \
        (void)context;                                                         \
        return HOOK_REAL(name)((const char *)w[0], (int)w[1], (mode_t)w[2]);   \
    }                                                                          \
    int name(const char *path, int flags, ...)                                 \
    {                                                                          \
        mode_t mode = mode_of(flags, LAST(mode_t, flags));                     \
        const uintptr_t w[CALL_WORDS] = {(uintptr_t)path, (uintptr_t)flags,    \
                                         mode};                                \
        if (hook_likely(hook_is_plain(path, CALL_PATH_MOST)))                  \
            return HOOK_REAL(name)(path, flags, mode);                         \
        return (int)call_shared(SHAPE(name), w, issue_##name, NULL);           \
    }

#define OPENAT(name)                                                           \
    static long issue_##name(void *context, const uintptr_t *w)                \
    {                                                                          \
        (void)context;                                                         \
        return HOOK_REAL(name)((int)w[0], (const char *)w[1], (int)w[2],       \
                               (mode_t)w[3]);                                  \
    }                                                                          \
    int name(int folder, const char *path, int flags, ...)                     \
    {                                                                          \
        mode_t mode = mode_of(flags, LAST(mode_t, flags));                     \
        const uintptr_t w[CALL_WORDS] = {(uintptr_t)folder, (uintptr_t)path,   \
                                         (uintptr_t)flags, mode};              \
        if (hook_likely(hook_is_plain(path, CALL_PATH_MOST)))                  \
            return HOOK_REAL(name)(folder, path, flags, mode);                 \
        return (int)call_shared(SHAPE(name), w, issue_##name, NULL);           \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

static long issue_mq_open(void *context, const uintptr_t *w)
{
    (void)context;
    return HOOK_REAL(mq_open)((const char *)w[0], (int)w[1], (mode_t)w[2],
                              (struct mq_attr *)w[3]);
}

mqd_t mq_open(const char *name, int flags, ...)
{
    uintptr_t w[CALL_WORDS] = {(uintptr_t)name, (uintptr_t)flags};
    va_list rest;
    va_start(rest, flags);
    if (flags & O_CREAT) {
        w[2] = va_arg(rest, mode_t);
        w[3] = (uintptr_t)va_arg(rest, struct mq_attr *);
    }
    va_end(rest);
    if (hook_likely(call_is_plain(SHAPE(mq_open), w)))
        return (mqd_t)issue_mq_open(NULL, w);
    return (mqd_t)call_shared(SHAPE(mq_open), w, issue_mq_open, NULL);
}

/* ---- requests ------------------------------------------------------------ */

static long issue_ioctl(void *context, const uintptr_t *w)
{
    (void)context;
    return HOOK_REAL(ioctl)((int)w[0], w[1], (void *)w[2]);
}

int ioctl(int file, unsigned long request, ...)
{
    void *at = LAST(void *, request);
    const uintptr_t w[CALL_WORDS] = {(uintptr_t)file, request, (uintptr_t)at};
    if (hook_likely(hook_is_plain(at, CALL_REQUEST_MOST)))
        return HOOK_REAL(ioctl)(file, request, at);
    if (!call_ioctl_bytes(request) && !hook_is_plain(at, 1))
        adsm_log_once(ADSM_LOG_INFO,
                      "ioctl 0x%lx is not known: it fails on shared memory "
                      "that is closed to the CPU",
                      request);
    return (int)call_shared(SHAPE(ioctl), w, issue_ioctl, NULL);
}

#define FCNTL(name)                                                            \
    static long issue_##name(void *context, const uintptr_t *w)                \
    {                                                                          \
        (void)context;                                                         \
        return HOOK_REAL(name)((int)w[0], (int)w[1], (void *)w[2]);            \
    }                                                                          \
    int name(int file, int command, ...)                                       \
    {                                                                          \
        void *at = LAST(void *, command);                                      \
        const uintptr_t w[CALL_WORDS] = {(uintptr_t)file, (uintptr_t)command,  \
                                         (uintptr_t)at};                       \
        if (hook_likely(hook_is_plain(at, sizeof(struct flock))))              \
            return HOOK_REAL(name)(file, command, at);                         \
        return (int)call_shared(SHAPE(name), w, issue_##name, NULL);           \
    }

FCNTL(fcntl)
FCNTL(fcntl64)

/* Four words follow, of which an option uses as many as it has. */
static long issue_prctl(void *context, const uintptr_t *w)
{
    (void)context;
    return HOOK_REAL(prctl)((int)w[0], w[1], w[2], w[3], w[4]);
}

int prctl(int option, ...)
{
    uintptr_t w[CALL_WORDS] = {(uintptr_t)option};
    va_list rest;
    va_start(rest, option);
    for (int i = 1; i < 5; i++)
        w[i] = va_arg(rest, uintptr_t);
    va_end(rest);
    if (hook_likely(call_is_plain(SHAPE(prctl), w)))
        return (int)issue_prctl(NULL, w);
    return (int)call_shared(SHAPE(prctl), w, issue_prctl, NULL);
}

static long issue_semctl(void *context, const uintptr_t *w)
{
    (void)context;
    return HOOK_REAL(semctl)((int)w[0], (int)w[1], (int)w[2], (void *)w[3]);
}

int semctl(int set, int number, int command, ...)
{
    void *at = LAST(void *, command);
    const uintptr_t w[CALL_WORDS] = {(uintptr_t)set, (uintptr_t)number,
                                     (uintptr_t)command, (uintptr_t)at};
    if (hook_likely(hook_is_plain(at, CALL_COMMAND_MOST)))
        return HOOK_REAL(semctl)(set, number, command, at);
    return (int)call_shared(SHAPE(semctl), w, issue_semctl, NULL);
}

/* ---- pages given to pipes ------------------------------------------------ */

static long issue_vmsplice(void *context, const uintptr_t *w)
{
    (void)context;
    return HOOK_REAL(vmsplice)((int)w[0], (const struct iovec *)w[1], w[2],
                               (unsigned)w[3]);
}

/* A pipe that is written to keeps the pages themselves, as with other memory;
 * from one that is read they are copied. */
ssize_t vmsplice(int file, const struct iovec *list, size_t count,
                 unsigned flags)
{
    static const struct call_shape out = {
        .name = "vmsplice",
        .parts = {{CALL_LIST_OUT, 1, 2, 1}, {CALL_WAITS, 0, CALL_PLACED, 0}}};
    const uintptr_t w[CALL_WORDS] = {(uintptr_t)file, (uintptr_t)list, count,
                                     flags};
    if (hook_likely(call_list_is_plain(list, count)))
        return HOOK_REAL(vmsplice)(file, list, count, flags);
    int mode = HOOK_REAL(fcntl)(file, F_GETFL);
    bool reads = mode >= 0 && (mode & O_ACCMODE) == O_RDONLY;
    return call_shared(reads ? &out : SHAPE(vmsplice), w, issue_vmsplice, NULL);
}

/* ---- more arguments than a system call has ------------------------------- */

ssize_t __recvfrom_chk(int file, void *to, size_t bytes, size_t room, int flags,
                       struct sockaddr *from, socklen_t *length)
{
    if (hook_unlikely(bytes > room)) /* the real function's to report */
        return HOOK_REAL(__recvfrom_chk)(file, to, bytes, room, flags, from,
                                         length);
    return recvfrom(file, to, bytes, flags, from, length);
}

/* ---- no result --------------------------------------------------------------- */

#define UPDATE(name, type)                                                     \
    static long issue_##name(void *context, const uintptr_t *w)                \
    {                                                                          \
        (void)context;                                                         \
        HOOK_REAL(name)((const char *)w[0], (const type *)w[1]);               \
        return 0;                                                              \
    }                                                                          \
    void name(const char *file, const type *entry)                             \
    {                                                                          \
        static const struct call_shape shape = {                               \
            #name, false, {PATH(0) IN(1, type)}};                              \
        const uintptr_t w[CALL_WORDS] = {(uintptr_t)file, (uintptr_t)entry};   \
        if (hook_likely(call_is_plain(&shape, w)))                             \
            HOOK_REAL(name)(file, entry);                                      \
        else                                                                   \
            (void)call_shared(&shape, w, issue_##name, NULL);                  \
    }

UPDATE(updwtmp, struct utmp)
UPDATE(updwtmpx, struct utmpx)

/* ---- sizes that are no product ------------------------------------------- */

/* Messages have their kind before their text. */
enum { KIND_BYTES = sizeof(long) };

static long issue_msgsnd(void *context, const uintptr_t *w)
{
    return HOOK_REAL(msgsnd)((int)w[0], (void *)w[1], *(size_t *)context,
                             (int)w[3]);
}

int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
    const uintptr_t w[CALL_WORDS] = {(uintptr_t)queue, (uintptr_t)message,
                                     bytes + KIND_BYTES, (uintptr_t)flags};
    if (hook_likely(hook_is_plain(message, bytes + KIND_BYTES)))
        return HOOK_REAL(msgsnd)(queue, message, bytes, flags);
    return (int)call_shared(SHAPE(msgsnd), w, issue_msgsnd, &bytes);
}

static long issue_msgrcv(void *context, const uintptr_t *w)
{
    return HOOK_REAL(msgrcv)((int)w[0], (void *)w[1], *(size_t *)context,
                             (long)w[3], (int)w[4]);
}

ssize_t msgrcv(int queue, void *message, size_t bytes, long kind, int flags)
{
    const uintptr_t w[CALL_WORDS] = {(uintptr_t)queue, (uintptr_t)message,
                                     bytes + KIND_BYTES, (uintptr_t)kind,
                                     (uintptr_t)flags};
    if (hook_likely(hook_is_plain(message, bytes + KIND_BYTES)))
        return HOOK_REAL(msgrcv)(queue, message, bytes, kind, flags);
    return call_shared(SHAPE(msgrcv), w, issue_msgrcv, &bytes);
}

/* What mincore is asked about. */
struct pages {
    void *at;
    size_t bytes;
};

static long issue_mincore(void *context, const uintptr_t *w)
{
    const struct pages *pages = context;
    return HOOK_REAL(mincore)(pages->at, pages->bytes, (unsigned char *)w[2]);
}

int mincore(void *at, size_t bytes, unsigned char *answers)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t count = bytes / page + (bytes % page != 0);
    const uintptr_t w[CALL_WORDS] = {0, count, (uintptr_t)answers};
    struct pages pages = {at, bytes};
    if (hook_likely(hook_is_plain(answers, count)))
        return HOOK_REAL(mincore)(at, bytes, answers);
    return (int)call_shared(SHAPE(mincore), w, issue_mincore, &pages);
}
