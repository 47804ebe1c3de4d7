/* See room.h. Larger pieces are kept in a short list under a lock. */
#include "interpose/mpi/room.h"
#include "base/lock.h"
#include "base/system.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    LINE = 64,
    SMALL_BYTES = 64 << 10, /* malloc's                              */
    KEPT_MOST_BYTES = 64 << 20,
    KEPT_MOST = 4
};

struct kept {
    char *map;
    size_t bytes;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_POOL);
static struct kept kept[KEPT_MOST];
static int kept_count;

/* What is asked of the system: powers of two, so that messages of different
 * lengths can use the same piece. */
static size_t map_bytes(size_t bytes)
{
    size_t whole = SMALL_BYTES;
    bytes += LINE;
    if (bytes > KEPT_MOST_BYTES)
        return (bytes + 4095) & ~(size_t)4095;
    while (whole < bytes)
        whole *= 2;
    return whole;
}

static char *take_kept(size_t bytes)
{
    char *map = NULL;
    adsm_lock_acquire(&lock);
    for (int i = 0; i < kept_count && !map; i++)
        if (kept[i].bytes == bytes) {
            map = kept[i].map;
            kept[i] = kept[--kept_count];
        }
    adsm_lock_release(&lock);
    return map;
}

/* The oldest makes room. Return: what has to go, map NULL for none */
static struct kept keep(char *map, size_t bytes)
{
    struct kept gone = {NULL, 0};
    adsm_lock_acquire(&lock);
    if (kept_count == KEPT_MOST) {
        gone = kept[0];
        for (int i = 1; i < KEPT_MOST; i++)
            kept[i - 1] = kept[i];
        kept_count--;
    }
    kept[kept_count++] = (struct kept){map, bytes};
    adsm_lock_release(&lock);
    return gone;
}

static char *map_new(size_t bytes)
{
    char *map =
        adsm_system_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

char *mpi_room_get(uintptr_t like, size_t bytes)
{
    char *map;
    if (bytes > SIZE_MAX / 4)
        return NULL;
    if (bytes + LINE <= SMALL_BYTES) {
        map = aligned_alloc(LINE, (bytes + 2 * LINE - 1) & ~(size_t)(LINE - 1));
    } else {
        size_t whole = map_bytes(bytes);
        map = take_kept(whole);
        map = map ? map : map_new(whole);
    }
    return map ? map + like % LINE : NULL;
}

void mpi_room_put(char *room, size_t bytes)
{
    char *map = room - (uintptr_t)room % LINE;
    if (bytes + LINE <= SMALL_BYTES) {
        free(map);
        return;
    }
    struct kept gone = {map, map_bytes(bytes)};
    if (gone.bytes <= KEPT_MOST_BYTES)
        gone = keep(map, gone.bytes);
    if (gone.map)
        adsm_system_munmap(gone.map, gone.bytes);
}
