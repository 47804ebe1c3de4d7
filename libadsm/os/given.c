/* Memory that the program gives; see given.h. */
#include "os/given.h"

#include "base/log.h"
#include "base/system.h"
#include "os/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECE = 2 << 20, LINE = 4096 + 128 };

/* ---- what lies there ----------------------------------------------------------- */

/* A mapping, as /proc/self/maps has it. */
struct line {
    unsigned long begin, end, offset, inode;
    unsigned major, minor;
    char allows[5];
};

/* What is known of a range so far: it goes up to `end`. */
struct range {
    uintptr_t end;
    struct line last;
    const char *why;
};

static bool goes_on(const struct line *last, const struct line *line)
{
    return line->inode == last->inode && line->major == last->major &&
           line->minor == last->minor &&
           line->offset - last->offset == line->begin - last->begin;
}

/* One more mapping, that begins where the range ends. */
static void add(struct range *range, const struct line *line)
{
    bool first = range->last.end == 0;
    if (line->allows[0] != 'r' || line->allows[1] != 'w')
        range->why = "some of it cannot be read and written";
    else if (!first && line->allows[3] != range->last.allows[3])
        range->why = "some of it is shared, some is private";
    else if (!first && line->allows[3] == 's' && !goes_on(&range->last, line))
        range->why = "it is of several files, or places of one";
    range->last = *line;
    range->end = line->end;
}

static bool parse(const char *text, struct line *line)
{
    return sscanf(text, "%lx-%lx %4s %lx %x:%x %lu", &line->begin, &line->end,
                  line->allows, &line->offset, &line->major, &line->minor,
                  &line->inode) == 7;
}

/* ADSM_E_INVALID: `range->why` */
static adsm_status_t look(uintptr_t end, struct range *range)
{
    char text[LINE];
    struct line line;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return ADSM_E_SYSTEM;
    while (range->end < end && !range->why && fgets(text, sizeof text, maps))
        if (parse(text, &line) && line.begin <= range->end &&
            line.end > range->end)
            add(range, &line);
    fclose(maps);
    if (range->end < end && !range->why)
        range->why = "no memory is mapped at some of it";
    return range->why ? ADSM_E_INVALID : ADSM_OK;
}

/* ---- there and back ---------------------------------------------------------------- */

static adsm_status_t status_of(int error)
{
    return error == ENOMEM   ? ADSM_E_NOMEM
           : error == EAGAIN ? ADSM_E_LIMIT
                             : ADSM_E_SYSTEM;
}

/* A second mapping of what is shared, or memory for a copy. */
static bool map_shadow(const struct adsm_given *given)
{
    void *made = given->is_private
                     ? adsm_system_mmap(
                           given->shadow, given->bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
                     : adsm_system_mremap(given->at, 0, given->bytes,
                                          MREMAP_MAYMOVE | MREMAP_FIXED,
                                          (uintptr_t)given->shadow);
    return made != MAP_FAILED;
}

/* Pages come as bytes do, and go where those were: for both at once there may be
 * no room. `advice` lets them go. Return: how many: fewer where the system has no
 * more */
static size_t move(uint8_t *to, uint8_t *from, size_t bytes, int advice)
{
    size_t at = 0;
    while (at < bytes) {
        size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (adsm_vm_populate((uintptr_t)to + at, n, true) != ADSM_OK)
            break;
        memcpy(to + at, from + at, n);
        (void)adsm_system_madvise(from + at, n, advice);
        at += n;
    }
    return at;
}

/* All of it, or none. */
static bool move_all(uint8_t *to, uint8_t *from, size_t bytes, int advice,
                     int back)
{
    size_t moved = move(to, from, bytes, advice);
    if (moved < bytes)
        (void)move(from, to, moved, back);
    return moved == bytes;
}

static void drop_shadow(struct adsm_given *given)
{
    adsm_vm_release((uintptr_t)given->shadow, given->bytes);
    given->shadow = NULL;
}

/* As the arena's segments are. */
static void set_apart(const struct adsm_given *given)
{
    adsm_vm_keep_from_children((uintptr_t)given->shadow, given->bytes);
    (void)adsm_system_madvise(given->shadow, given->bytes, MADV_DONTDUMP);
}

static adsm_status_t take(struct adsm_given *given)
{
    uint8_t *shadow = given->shadow;
    if (!map_shadow(given))
        return status_of(errno);
    if (given->is_private &&
        !move_all(shadow, given->at, given->bytes, MADV_DONTNEED, MADV_REMOVE))
        return ADSM_E_NOMEM;
    set_apart(given);
    adsm_status_t status =
        adsm_vm_placeholder((uintptr_t)given->at, given->bytes);
    if (status != ADSM_OK && given->is_private)
        (void)move(given->at, shadow, given->bytes, MADV_REMOVE);
    return status;
}

adsm_status_t adsm_given_take(void *at, size_t bytes, struct adsm_given *given,
                              const char **why)
{
    struct range range = {.end = (uintptr_t)at};
    *given = (struct adsm_given){.at = at, .bytes = bytes};
    adsm_status_t status = look((uintptr_t)at + bytes, &range);
    *why = range.why;
    if (status != ADSM_OK)
        return status;
    given->is_private = range.last.allows[3] == 'p';
    given->shadow = (uint8_t *)adsm_vm_reserve(bytes, PIECE, 0);
    if (!given->shadow)
        return ADSM_E_NOMEM;
    status = take(given);
    if (status != ADSM_OK)
        drop_shadow(given);
    return status;
}

/* Memory of its own again. */
static bool give_private(const struct adsm_given *given)
{
    return adsm_system_mmap(given->at, given->bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                            0) != MAP_FAILED &&
           move_all(given->at, given->shadow, given->bytes, MADV_REMOVE,
                    MADV_DONTNEED);
}

/* The shadow's. */
static bool give_shared(const struct adsm_given *given)
{
    uintptr_t at = (uintptr_t)given->at;
    if (adsm_vm_map_again(at, given->bytes, given->shadow) != ADSM_OK ||
        adsm_vm_protect(at, given->bytes, ADSM_PROT_READ_WRITE) != ADSM_OK)
        return false;
    (void)adsm_system_madvise(given->at, given->bytes, MADV_DOFORK);
    (void)adsm_system_madvise(given->at, given->bytes, MADV_DODUMP);
    return true;
}

void adsm_given_back(struct adsm_given *given)
{
    int saved_errno = errno;
    if (!(given->is_private && give_private(given)) && !give_shared(given))
        adsm_log(ADSM_LOG_ERROR,
                 "%zu bytes at %p that the program had given cannot be mapped "
                 "there again",
                 given->bytes, (void *)given->at);
    drop_shadow(given);
    errno = saved_errno;
}
