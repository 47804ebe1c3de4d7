/* Copies between the program's memory and private buffers. */
#include "interpose/calls/copy.h"
#include "base/status.h"
#include "base/system.h"
#include "interpose/hook.h"
#include "mm/doors/bulk.h"
#include "os/look.h"
#include "os/real.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,      /* stride in which memory is looked at         */
    KEPT_BYTES = 256 << 10, /* of a buffer that is kept                    */
    KEPT_BUFFERS = 8,
    PROBES = 64, /* pages looked at by one call                 */
};

/* ---- buffers ------------------------------------------------------------- */

static _Atomic(void *) kept[KEPT_BUFFERS];

static void *map_bytes(size_t bytes, int protection)
{
    void *map =
        adsm_system_mmap(NULL, bytes, protection,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static bool take_kept(struct call_buffer *buffer)
{
    for (int i = 0; i < KEPT_BUFFERS && !buffer->map; i++)
        if (atomic_load_explicit(&kept[i], memory_order_relaxed))
            buffer->map = atomic_exchange(&kept[i], NULL);
    if (!buffer->map)
        buffer->map = map_bytes(KEPT_BYTES, PROT_READ | PROT_WRITE);
    buffer->map_bytes = KEPT_BYTES;
    buffer->at = buffer->map;
    return buffer->map;
}

static bool take_guarded(struct call_buffer *buffer, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (bytes + page - 1) / page * page;
    buffer->map_bytes = room + page;
    buffer->map = map_bytes(buffer->map_bytes, PROT_NONE);
    if (!buffer->map)
        return false;
    buffer->at = (char *)buffer->map + room - bytes;
    if (adsm_system_mprotect(buffer->map, room, PROT_READ | PROT_WRITE) == 0)
        return true;
    call_buffer_give(buffer);
    return false;
}

bool call_buffer_take(struct call_buffer *buffer, size_t bytes, bool guarded)
{
    *buffer = (struct call_buffer){0};
    if (guarded)
        return take_guarded(buffer, bytes);
    if (bytes <= KEPT_BYTES)
        return take_kept(buffer);
    buffer->map_bytes = bytes;
    buffer->map = map_bytes(bytes, PROT_READ | PROT_WRITE);
    buffer->at = buffer->map;
    return buffer->map;
}

void call_buffer_give(struct call_buffer *buffer)
{
    int saved = errno;
    void *none = NULL;
    bool keep = buffer->map && buffer->map_bytes == KEPT_BYTES &&
                buffer->at == buffer->map;
    for (int i = 0; keep && i < KEPT_BUFFERS; i++, none = NULL)
        if (atomic_compare_exchange_strong(&kept[i], &none, buffer->map))
            buffer->map = NULL, keep = false;
    if (buffer->map)
        adsm_system_munmap(buffer->map, buffer->map_bytes);
    buffer->map = NULL;
    errno = saved;
}

/* ---- ranges -------------------------------------------------------------- */

struct call_stretch call_stretch(const void *at, size_t bytes)
{
    struct call_stretch stretch = {bytes, false};
    uintptr_t a = (uintptr_t)at, border = adsm_index_border(a);
    struct adsm_object *object;
    /* What was adopted for the call may have been given up since. */
    do
        object = adsm_index_acquire(at);
    while (!object && adsm_placeholder_is(a) && adsm_adopt(a));
    if (object) {
        stretch.shared = true;
        stretch.bytes =
            object->bytes - (size_t)((const uint8_t *)at - object->host);
        adsm_rwlock_release_shared(&object->lock);
    } else {
        while (border && border - a < bytes &&
               !adsm_index_find((void *)border) && !adsm_placeholder_is(border))
            border = adsm_index_border(border);
        stretch.bytes = border ? border - a : bytes;
    }
    if (stretch.bytes > bytes)
        stretch.bytes = bytes;
    return stretch;
}

/* Bytes until the page of `at` ends, `bytes` at most. */
static size_t in_page(const char *at, size_t bytes)
{
    size_t left = PAGE_BYTES - (uintptr_t)at % PAGE_BYTES;
    return left < bytes ? left : bytes;
}

/* Plain bytes that are there, by reading one of each page. */
static size_t reach_plain(const char *program, size_t bytes)
{
    char seen[PROBES];
    struct iovec there[PROBES];
    size_t done = 0;
    while (done < bytes) {
        size_t ahead = done;
        int n = 0;
        for (; n < PROBES && ahead < bytes; n++) {
            there[n] = (struct iovec){(char *)program + ahead, 1};
            ahead += in_page(program + ahead, bytes - ahead);
        }
        ssize_t found =
            HOOK_REAL(process_vm_readv)(getpid(), &(struct iovec){seen, PROBES},
                                        1, there, (unsigned long)n, 0);
        if (found == n) {
            done = ahead;
            continue;
        }
        for (ssize_t i = 0; i < found; i++)
            done += in_page(program + done, bytes - done);
        break;
    }
    return done;
}

/* Without a lock: of an object that is freed meanwhile any answer is right. */
static bool is_inside(const char *at, size_t bytes)
{
    const struct adsm_object *object = adsm_index_find(at);
    return object && object->bytes >= bytes &&
           (size_t)((const uint8_t *)at - object->host) <=
               object->bytes - bytes;
}

size_t call_reach(const void *program, size_t bytes)
{
    const char *at = program;
    if (is_inside(at, bytes))
        return bytes;
    size_t done = 0;
    int saved = errno;
    while (done < bytes) {
        struct call_stretch next = call_stretch(at + done, bytes - done);
        size_t there =
            next.shared ? next.bytes : reach_plain(at + done, next.bytes);
        done += there;
        if (there < next.bytes)
            break;
    }
    errno = saved;
    return done;
}

int call_get(void *to, const void *program, size_t bytes, size_t *done)
{
    int saved = errno;
    hook_enter();
    int status = adsm_bulk_get(to, program, bytes, done);
    hook_leave();
    errno = saved;
    return status;
}

int call_put(void *program, const void *from, size_t bytes)
{
    int saved = errno;
    size_t done;
    hook_enter();
    int status = adsm_bulk_put(program, from, bytes, &done);
    hook_leave();
    errno = saved;
    return status ? status : done < bytes ? ADSM_E_NOT_SHARED : ADSM_OK;
}

/* The next stretch of bytes at or behind *from that differ. */
static bool next_change(const char *a, const char *b, size_t bytes,
                        size_t *from, size_t *to)
{
    size_t i = *from;
    while (i < bytes && a[i] == b[i])
        i++;
    *from = i;
    while (i < bytes && a[i] != b[i])
        i++;
    *to = i;
    return *from < bytes;
}

/* Changes within one stretch of shared memory, under one loan: the blocks are
 * held, made current by reading them first. */
static int put_shared(char *program, const char *from, const char *before,
                      size_t bytes)
{
    struct adsm_loan loan;
    int status = adsm_loan_begin(program, bytes, ADSM_READ, &loan);
    if (!status)
        status = adsm_loan_end(&loan, 0);
    if (!status)
        status = adsm_loan_begin(program, bytes, ADSM_WRITE, &loan);
    if (status)
        return status;
    if (!loan.object && !adsm_index_find(program))
        return ADSM_E_NOT_SHARED; /* freed meanwhile */
    size_t begin = 0, end;
    for (; next_change(from, before, loan.bytes, &begin, &end); begin = end)
        adsm_real()->memcpy((char *)loan.address + begin, from + begin,
                            end - begin);
    return loan.object ? adsm_loan_end(&loan, loan.bytes) : ADSM_OK;
}

int call_put_changes(void *program, const void *from, const void *before,
                     size_t bytes)
{
    const char *now = from, *was = before;
    int status = ADSM_OK, saved = errno;
    size_t begin = 0, end = 0;
    if (!next_change(now, was, bytes, &begin, &end))
        return ADSM_OK;
    size_t last = bytes;
    while (now[last - 1] == was[last - 1])
        last--;
    hook_enter();
    while (begin < last && !status) {
        char *there = (char *)program + begin;
        struct call_stretch next = call_stretch(there, last - begin);
        if (next.shared)
            status = put_shared(there, now + begin, was + begin, next.bytes);
        else if (adsm_look_put(there, now + begin, next.bytes) < next.bytes)
            status = ADSM_E_NOT_SHARED;
        begin += next.bytes;
    }
    hook_leave();
    errno = saved;
    return status;
}
