/* Reading from a place of a file into shared memory that is open. */
#include "interpose/calls/direct.h"
#include "mm/direct.h"
#include "os/look.h"

#include <errno.h>

enum { RANGES = 8 };

/* The ranges of one call. */
struct direct {
    int count; /* of those that are shared */
    struct adsm_direct ranges[RANGES];
    size_t bytes; /* of all */
};

static bool add(struct direct *direct, const void *at, size_t bytes)
{
    direct->bytes += bytes;
    return hook_is_plain(at, bytes) ||
           adsm_direct_write(at, bytes, &direct->ranges[direct->count++]);
}

static bool add_list(struct direct *direct, const struct iovec *list,
                     uintptr_t count)
{
    if (count > RANGES || !hook_is_plain(list, count * sizeof *list))
        return false;
    for (uintptr_t i = 0; i < count; i++) {
        struct iovec each;
        if (!adsm_look(&each, &list[i], sizeof each) ||
            !add(direct, each.iov_base, each.iov_len))
            return false;
    }
    return true;
}

/* Is it such a call, on such memory? */
static bool begin(struct direct *direct, const struct call_part *parts,
                  const uintptr_t *words)
{
    uintptr_t at = words[parts->argument];
    if (parts[1].role != CALL_WAITS || parts[1].count != CALL_PLACED ||
        adsm_turn_is_mine())
        return false;
    direct->count = 0;
    direct->bytes = 0;
    return parts->role == CALL_BULK_OUT
               ? add(direct, (void *)at, words[parts->count])
               : parts->role == CALL_LIST_OUT &&
                     add_list(direct, (void *)at, words[parts->count]);
}

static bool lasts(const struct direct *direct)
{
    int i = 0;
    while (i < direct->count && adsm_direct_lasts(&direct->ranges[i]))
        i++;
    return i == direct->count;
}

/* Does a place of it have the same bytes the next time? */
static bool has_places(int file)
{
    struct stat about;
    return HOOK_REAL(fstat)(file, &about) == 0 &&
           (S_ISREG(about.st_mode) || S_ISBLK(about.st_mode));
}

/* Some of it may be missing, or be where the device does not hear of it. */
static bool is_done(const struct direct *direct, int file, long result)
{
    if (result <= 0)
        return result == 0 || errno != EFAULT;
    if ((size_t)result == direct->bytes && lasts(direct))
        return true;
    return !has_places(file);
}

bool call_direct(const struct call_shape *shape, const uintptr_t *words,
                 call_issue_fn *issue, void *context, long *result)
{
    struct direct direct;
    if (!begin(&direct, shape->parts, words))
        return false;
    int saved = errno;
    long got = issue(context, words);
    int then = errno;
    bool done = is_done(&direct, (int)words[shape->parts[1].argument], got);
    errno = done ? then : saved;
    *result = got;
    return done;
}
