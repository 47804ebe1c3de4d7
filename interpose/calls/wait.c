/* Receiving large data without a copy. */
#include "interpose/calls/wait.h"

#include <errno.h>

/* What a device that makes its readers wait gives at most at once. */
enum { DEVICE_MOST_BYTES = 4 << 20 };

/* Calls with these want something else than the next bytes, or more of them
 * than there are. */
enum { OTHER_FLAGS = MSG_PEEK | MSG_OOB | MSG_ERRQUEUE | MSG_WAITALL };

static const struct call_part *waits_of(const struct call_shape *shape)
{
    const struct call_part *part = shape->parts;
    while (part->role != CALL_END && part->role != CALL_WAITS)
        part++;
    return part->role == CALL_END ? NULL : part;
}

enum call_policy call_source_look(struct call_source *source,
                                  const struct call_shape *shape,
                                  const uintptr_t *words, size_t bytes)
{
    struct stat about;
    int saved = errno;
    *source = (struct call_source){.waits = waits_of(shape)};
    if (!source->waits)
        return CALL_LENDS;
    source->file = (int)words[source->waits->argument];
    if (source->waits->count < CALL_WORDS) {
        /* Of recv and its like; what is no socket they refuse. */
        source->flags = (int)words[source->waits->count];
        source->socket = true;
        return source->flags & OTHER_FLAGS ? CALL_BOUNCES : CALL_LENDS_LARGE;
    }
    bool known = HOOK_REAL(fstat)(source->file, &about) == 0;
    errno = saved;
    if (!known || S_ISREG(about.st_mode) || S_ISBLK(about.st_mode))
        return CALL_LENDS;
    source->socket = S_ISSOCK(about.st_mode);
    source->pipe = S_ISFIFO(about.st_mode);
    if (source->socket || source->pipe)
        return source->waits->count == CALL_PLACED ? CALL_BOUNCES
                                                   : CALL_LENDS_LARGE;
    return bytes <= DEVICE_MOST_BYTES ? CALL_BOUNCES : CALL_LENDS;
}

/* read and readv, which have no flags. */
static long try_list(const struct call_source *source, struct iovec *list,
                     size_t count)
{
    struct msghdr header = {.msg_iov = list, .msg_iovlen = count};
    if (source->socket)
        return HOOK_REAL(recvmsg)(source->file, &header, MSG_DONTWAIT);
    long got =
        HOOK_REAL(preadv64v2)(source->file, list, (int)count, -1, RWF_NOWAIT);
    if (got < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        errno = EAGAIN;
    return got;
}

long call_source_try(const struct call_source *source,
                     const struct call_part *bulk, uintptr_t *words,
                     call_issue_fn *issue, void *context)
{
    if (source->waits->count < CALL_WORDS) {
        words[source->waits->count] |= MSG_DONTWAIT;
        return issue(context, words);
    }
    uintptr_t at = words[bulk->argument], count = words[bulk->count];
    if (bulk->role == CALL_LIST_OUT)
        return try_list(source, (struct iovec *)at, count);
    return try_list(source, &(struct iovec){(void *)at, count}, 1);
}

static bool option_is(int file, int option, int value)
{
    int is = value;
    socklen_t bytes = sizeof is;
    return HOOK_REAL(getsockopt)(file, SOL_SOCKET, option, &is, &bytes) != 0 ||
           is == value;
}

/* Can the first byte be waited for, and be looked at without a trace? */
static bool has_first_byte(int file)
{
    int saved = errno;
    bool known = option_is(file, SO_DOMAIN, AF_UNIX) ||
                 option_is(file, SO_DOMAIN, AF_INET) ||
                 option_is(file, SO_DOMAIN, AF_INET6);
    known = known && option_is(file, SO_RCVLOWAT, 1) &&
            option_is(file, SO_PEEK_OFF, -1);
    errno = saved;
    return known;
}

bool call_source_wait(const struct call_source *source,
                      enum call_policy *policy)
{
    char first;
    *policy = CALL_BOUNCES;
    if (!source->socket || !has_first_byte(source->file))
        return true;
    *policy = CALL_LENDS_LARGE;
    int flags = (source->flags & MSG_DONTWAIT) | MSG_PEEK;
    return HOOK_REAL(recv)(source->file, &first, 1, flags) >= 0;
}
