/*
 * Host memory of shared objects in memfd segments: see os/arena.h.
 *
 * Owns the list of segments and a bitmap of used granules for each. Segments
 * grow in size as they grow in number, so that a thousand objects or a
 * terabyte need a handful of open files. Lock: arena_lock, rank ARENA.
 */
#include "os/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/system.h"
#include "os/vm.h"

#define GRANULE             ADSM_ARENA_GRANULE_BYTES
#define SEGMENT_FIRST       ((size_t)1 << 30)
#define SEGMENT_LAST        ((size_t)64 << 30)
#define WORD_BITS           64
#define WORDS_FOR(granules) (((granules) + WORD_BITS - 1) / WORD_BITS)

/* Lives in a mapping of its own, `map_bytes` long. Its file has no descriptor:
 * programs close what they have not opened, and open others in its place. */
struct segment {
    struct segment *next;
    size_t map_bytes;
    uint8_t *shadow;
    size_t granules;
    size_t used; /* granules in use */
    size_t hint; /* no free granule below this one */
    uint64_t bitmap[];
};

static struct {
    struct adsm_lock lock;
    struct segment *segments; /* lock */
    size_t count;             /* lock */
} arena = {.lock = ADSM_LOCK_INIT(ADSM_RANK_ARENA)};

static bool bit_get(const struct segment *segment, size_t i)
{
    return (segment->bitmap[i / WORD_BITS] >> (i % WORD_BITS)) & 1;
}

static void bits_set(struct segment *segment, size_t first, size_t count,
                     bool value)
{
    for (size_t i = first; i < first + count; i++) {
        uint64_t bit = UINT64_C(1) << (i % WORD_BITS);
        if (value)
            segment->bitmap[i / WORD_BITS] |= bit;
        else
            segment->bitmap[i / WORD_BITS] &= ~bit;
    }
}

/* First granule not below `at` with the wanted value; `granules` for none. */
static size_t bits_next(const struct segment *segment, size_t at, bool value)
{
    while (at < segment->granules) {
        uint64_t word = segment->bitmap[at / WORD_BITS];
        word = (value ? word : ~word) >> (at % WORD_BITS);
        if (word != 0) {
            at += (size_t)__builtin_ctzll(word);
            return at < segment->granules ? at : segment->granules;
        }
        at = (at / WORD_BITS + 1) * WORD_BITS;
    }
    return segment->granules;
}

/* First fit. Return: first granule; segment->granules when none fits. */
static size_t segment_find(struct segment *segment, size_t count)
{
    if (segment->granules - segment->used < count)
        return segment->granules;
    size_t at = bits_next(segment, segment->hint, false);
    segment->hint = at;
    while (at < segment->granules) {
        size_t end = bits_next(segment, at, true);
        if (end - at >= count)
            return at;
        at = bits_next(segment, end, false);
    }
    return segment->granules;
}

/* A file beyond RLIMIT_FSIZE would cost the program a SIGXFSZ. */
static size_t segment_size_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > SIZE_MAX / 2)
        return SIZE_MAX / 2;
    return (size_t)limit.rlim_cur & ~(GRANULE - 1);
}

static int segment_open(size_t bytes)
{
    int fd = memfd_create("adsm", MFD_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        adsm_log_once(ADSM_LOG_ERROR, "no file descriptor is left for shared "
                                      "memory (ulimit -n)");
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* The shadow mapping, aligned so that huge pages are possible. */
static uint8_t *segment_map(size_t bytes)
{
    int fd = segment_open(bytes);
    uintptr_t at = fd >= 0 ? adsm_vm_reserve(bytes, GRANULE, 0) : 0;
    if (at != 0 &&
        adsm_vm_map_file(at, bytes, fd, 0, ADSM_PROT_READ_WRITE) != ADSM_OK) {
        adsm_vm_release(at, bytes);
        at = 0;
    }
    if (fd >= 0)
        close(fd);
    return (uint8_t *)at;
}

static struct segment *segment_create(size_t bytes)
{
    size_t granules = bytes / GRANULE;
    size_t map_bytes = adsm_system_map_bytes(
        sizeof(struct segment) + WORDS_FOR(granules) * sizeof(uint64_t));
    struct segment *segment =
        adsm_system_mmap(NULL, map_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (segment == MAP_FAILED)
        return NULL;
    segment->shadow = segment_map(bytes);
    if (segment->shadow == NULL) {
        adsm_system_munmap(segment, map_bytes);
        return NULL;
    }
    segment->map_bytes = map_bytes;
    segment->granules = granules;
    return segment;
}

static void segment_destroy(struct segment *segment)
{
    adsm_system_munmap(segment->shadow, segment->granules * GRANULE);
    adsm_system_munmap(segment, segment->map_bytes);
}

/* Add a segment that holds `bytes` at least, as large as can be had. */
static struct segment *arena_grow(size_t bytes)
{
    size_t wish = SEGMENT_FIRST;
    for (size_t i = 0; i < arena.count && wish < SEGMENT_LAST; i++)
        wish *= 2;
    size_t limit = segment_size_limit();
    if (wish > limit)
        wish = limit;
    if (wish < bytes)
        wish = bytes;
    if (bytes > limit)
        adsm_log_once(ADSM_LOG_ERROR, "files may not be as large as shared "
                                      "memory needs them (ulimit -f)");
    for (; bytes <= limit; wish /= 2) {
        wish = wish < bytes ? bytes : wish & ~(GRANULE - 1);
        struct segment *segment = segment_create(wish);
        if (segment != NULL) {
            segment->next = arena.segments;
            arena.segments = segment;
            arena.count++;
            return segment;
        }
        if (wish == bytes)
            break;
    }
    return NULL;
}

static struct segment *arena_take(size_t count, size_t *first)
{
    struct segment *segment = arena.segments;
    for (; segment != NULL; segment = segment->next) {
        *first = segment_find(segment, count);
        if (*first < segment->granules)
            break;
    }
    if (segment == NULL) {
        segment = arena_grow(count * GRANULE);
        *first = 0;
    }
    if (segment != NULL) {
        bits_set(segment, *first, count, true);
        segment->used += count;
    }
    return segment;
}

adsm_status_t adsm_arena_alloc(struct adsm_arena_range *range, size_t bytes)
{
    memset(range, 0, sizeof *range);
    if (bytes == 0 || bytes > SIZE_MAX / 4)
        return ADSM_E_NOMEM;
    int saved_errno = errno;
    size_t count = (bytes + GRANULE - 1) / GRANULE, first = 0;
    adsm_lock_acquire(&arena.lock);
    struct segment *segment = arena_take(count, &first);
    adsm_lock_release(&arena.lock);
    errno = saved_errno;
    if (segment == NULL)
        return ADSM_E_NOMEM;
    range->shadow = segment->shadow + first * GRANULE;
    range->bytes = count * GRANULE;
    range->segment = segment;
    return ADSM_OK;
}

/* Return the pages to the system. Those that the program has locked, as with
 * mlockall, have to be unlocked first, which splits no mapping. */
static void arena_punch(const struct segment *segment, uint8_t *at,
                        size_t bytes)
{
    if (adsm_system_madvise(at, bytes, MADV_REMOVE) == 0 || errno != EINVAL)
        return;
    adsm_system_munlock(segment->shadow, segment->granules * GRANULE);
    (void)adsm_system_madvise(at, bytes, MADV_REMOVE);
}

void adsm_arena_free(struct adsm_arena_range *range)
{
    struct segment *segment = range->segment;
    if (segment == NULL)
        return;
    int saved_errno = errno;
    size_t first = (size_t)(range->shadow - segment->shadow) / GRANULE;
    size_t count = range->bytes / GRANULE;
    /* Before the granules can have a new owner, who expects zeros. */
    arena_punch(segment, range->shadow, range->bytes);
    adsm_lock_acquire(&arena.lock);
    bits_set(segment, first, count, false);
    segment->used -= count;
    if (first < segment->hint)
        segment->hint = first;
    adsm_lock_release(&arena.lock);
    errno = saved_errno;
    memset(range, 0, sizeof *range);
}

static bool arena_is_within(const struct adsm_arena_range *range, size_t offset,
                            size_t bytes)
{
    return offset <= range->bytes && bytes <= range->bytes - offset;
}

adsm_status_t adsm_arena_commit(const struct adsm_arena_range *range,
                                size_t offset, size_t bytes)
{
    if (!arena_is_within(range, offset, bytes))
        return ADSM_E_INVALID;
    size_t page = adsm_vm_page_bytes();
    size_t start = offset & ~(page - 1);
    size_t end = (offset + bytes + page - 1) & ~(page - 1);
    return bytes == 0 ? ADSM_OK
                      : adsm_vm_populate((uintptr_t)range->shadow + start,
                                         end - start, true);
}

void adsm_arena_decommit(const struct adsm_arena_range *range, size_t offset,
                         size_t bytes)
{
    if (!arena_is_within(range, offset, bytes))
        return;
    int saved_errno = errno;
    size_t page = adsm_vm_page_bytes();
    size_t start = (offset + page - 1) & ~(page - 1);
    size_t end = (offset + bytes) & ~(page - 1);
    if (end > start)
        arena_punch(range->segment, range->shadow + start, end - start);
    errno = saved_errno;
}

/* Pages of one granule that are there. */
static size_t granule_pages(uint8_t *at)
{
    unsigned char there[GRANULE / 4096];
    size_t pages = 0, count = GRANULE / adsm_vm_page_bytes();
    if (adsm_system_mincore(at, GRANULE, there) != 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        pages += there[i] & 1;
    return pages;
}

uint64_t adsm_arena_bytes_committed(void)
{
    int saved_errno = errno;
    uint64_t pages = 0;
    adsm_lock_acquire(&arena.lock);
    for (struct segment *s = arena.segments; s != NULL; s = s->next)
        for (size_t i = bits_next(s, 0, true); i < s->granules;
             i = bits_next(s, i + 1, true))
            pages += granule_pages(s->shadow + i * GRANULE);
    adsm_lock_release(&arena.lock);
    errno = saved_errno;
    return pages * adsm_vm_page_bytes();
}

size_t adsm_arena_segments(void)
{
    adsm_lock_acquire(&arena.lock);
    size_t count = arena.count;
    adsm_lock_release(&arena.lock);
    return count;
}

bool adsm_arena_is_valid(void)
{
    bool valid = true;
    size_t count = 0;
    adsm_lock_acquire(&arena.lock);
    for (struct segment *s = arena.segments; s != NULL; s = s->next, count++) {
        size_t used = 0;
        for (size_t i = 0; i < s->granules; i++) {
            used += bit_get(s, i);
            valid = valid && (i >= s->hint || bit_get(s, i));
        }
        valid = valid && used == s->used;
    }
    valid = valid && count == arena.count;
    adsm_lock_release(&arena.lock);
    return valid;
}

void adsm_arena_fini(void)
{
    adsm_lock_acquire(&arena.lock);
    struct segment *segment = arena.segments;
    arena.segments = NULL;
    arena.count = 0;
    adsm_lock_release(&arena.lock);
    while (segment != NULL) {
        struct segment *next = segment->next;
        segment_destroy(segment);
        segment = next;
    }
}
