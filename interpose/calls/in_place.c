/* Reading from a place of a file into shared memory that is open. */
#include "interpose/calls/in_place.h"
#include "mm/doors/in_place.h"
#include "os/look.h"

#include <errno.h>

enum { RANGES = 8 };

/* The ranges of one call. */
struct place {
    int count; /* of those that are shared */
    struct adsm_in_place ranges[RANGES];
    size_t bytes; /* of all */
};

static bool add(struct place *place, const void *at, size_t bytes)
{
    place->bytes += bytes;
    return hook_is_plain(at, bytes) ||
           adsm_in_place_write(at, bytes, &place->ranges[place->count++]);
}

static bool add_list(struct place *place, const struct iovec *list,
                     uintptr_t count)
{
    if (count > RANGES || !hook_is_plain(list, count * sizeof *list))
        return false;
    for (uintptr_t i = 0; i < count; i++) {
        struct iovec each;
        if (!adsm_look(&each, &list[i], sizeof each) ||
            !add(place, each.iov_base, each.iov_len))
            return false;
    }
    return true;
}

/* Is it such a call, on such memory? */
static bool begin(struct place *place, const struct call_part *parts,
                  const uintptr_t *words)
{
    uintptr_t at = words[parts->argument];
    if (parts[1].role != CALL_WAITS || parts[1].count != CALL_PLACED ||
        adsm_turn_is_mine())
        return false;
    place->count = 0;
    place->bytes = 0;
    return parts->role == CALL_BULK_OUT
               ? add(place, (void *)at, words[parts->count])
               : parts->role == CALL_LIST_OUT &&
                     add_list(place, (void *)at, words[parts->count]);
}

static bool lasts(const struct place *place)
{
    int i = 0;
    while (i < place->count && adsm_in_place_lasts(&place->ranges[i]))
        i++;
    return i == place->count;
}

/* Does a place of it have the same bytes the next time? */
static bool has_places(int file)
{
    struct stat about;
    return HOOK_REAL(fstat)(file, &about) == 0 &&
           (S_ISREG(about.st_mode) || S_ISBLK(about.st_mode));
}

/* Some of it may be missing, or be where the device does not hear of it. */
static bool is_done(const struct place *place, int file, long result)
{
    if (result <= 0)
        return result == 0 || errno != EFAULT;
    if ((size_t)result == place->bytes && lasts(place))
        return true;
    return !has_places(file);
}

bool call_in_place(const struct call_shape *shape, const uintptr_t *words,
                   call_issue_fn *issue, void *context, long *result)
{
    struct place place;
    if (!begin(&place, shape->parts, words))
        return false;
    int saved = errno;
    long got = issue(context, words);
    int then = errno;
    bool done = is_done(&place, (int)words[shape->parts[1].argument], got);
    errno = done ? then : saved;
    *result = got;
    return done;
}
