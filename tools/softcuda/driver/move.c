/*
 * Owns: how bytes move: by system calls, which check a host buffer as they
 * go, or for more than a little by the CPU through a view of the device's
 * memory (view.h), the host buffer checked first.
 * Does not own: what a copy means (copy.c), pacing (link.c).
 * Lock: `scratch_lock`, a leaf: the host file's scratch and the bounce buffer.
 */
#include "driver/move.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "driver/device.h"
#include "driver/ipc.h"
#include "driver/view.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define BOUNCE_BYTES (256u << 10)
/* From here on the check of the buffer is worth its system call. */
#define VIEW_BYTES (16u << 10)
/* From here on the caches would not keep what is written. */
#define STREAM_BYTES (1u << 20)
#define STREAM_STEP  (16u << 10)

static pthread_mutex_t scratch_lock = PTHREAD_MUTEX_INITIALIZER;

/* System calls directly: a library preloaded into the program may hook the
 * C library's wrappers, and hardware would not notice that either. */
static bool transfer(long number, int fd, uint64_t buffer, uint64_t bytes,
                     uint64_t offset)
{
    while (bytes > 0) {
        long n = syscall(number, fd, buffer, bytes, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        buffer += (uint64_t)n;
        bytes -= (uint64_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

/* Between the program's memory and a mapping of the device's, which costs what
 * the same by the file would, and needs no descriptor, which the program may
 * have closed, nor leave to write files so large (RLIMIT_FSIZE).
 * Return: bytes moved, -1 where the system does not allow it. */
static int64_t pass(long number, uint8_t *view, uint64_t buffer, uint64_t bytes)
{
    static _Atomic bool refused;
    struct iovec own = {(void *)(uintptr_t)buffer, bytes};
    struct iovec there = {view, bytes};
    if (refused)
        return -1;
    long n = syscall(number, getpid(), &own, 1, &there, 1, 0);
    if (n >= 0 || errno == EFAULT || errno == ENOMEM)
        return n < 0 ? 0 : n;
    refused = true;
    return -1;
}

/* Return: false: not this way; otherwise `moved` says whether all were. */
static bool by_view(long number, const struct sc_place *place, uint64_t buffer,
                    uint64_t bytes, bool *moved)
{
    uint8_t *base =
        place->device && !place->import ? sc_view_base(place->device) : NULL;
    int64_t n = base ? pass(number, base + place->offset, buffer, bytes) : -1;
    *moved = n == (int64_t)bytes;
    return n >= 0;
}

static int file_of(const struct sc_place *place)
{
    return place->import   ? sc_file_number(&place->import->file)
           : place->device ? sc_device_file(place->device)
                           : sc_memory_host_file();
}

static bool write_at(const struct sc_place *to, uint64_t buffer, uint64_t bytes)
{
    bool moved;
    return by_view(SYS_process_vm_writev, to, buffer, bytes, &moved)
               ? moved
               : transfer(SYS_pwrite64, file_of(to), buffer, bytes, to->offset);
}

static bool read_at(const struct sc_place *from, uint64_t buffer,
                    uint64_t bytes)
{
    bool moved;
    return by_view(SYS_process_vm_readv, from, buffer, bytes, &moved)
               ? moved
               : transfer(SYS_pread64, file_of(from), buffer, bytes,
                          from->offset);
}

/* The next two are not memcpy, which preloaded libraries and sanitizers
 * replace: hardware reads a buffer whatever they think of it. */
#define BARE __attribute__((no_sanitize("thread", "address", "undefined")))

BARE static void copy_bytes(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb"
                     : "+D"(dst), "+S"(src), "+c"(bytes)
                     :
                     : "memory");
#else
    memcpy(dst, src, bytes);
#endif
}

#if defined(__x86_64__)
BARE static inline void stream_line(uint8_t *dst, const uint8_t *src)
{
    const __m128i *from = (const void *)src;
    __m128i *to = (void *)dst;
    __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
}

/* Past the caches: what is written is not read first, and what others have in
 * the caches stays. Four pages side by side keep more of memory busy. */
BARE static void stream(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += STREAM_STEP)
        for (uint64_t i = at; i < at + STREAM_STEP / 4; i += 64)
            for (uint64_t page = 0; page < STREAM_STEP; page += STREAM_STEP / 4)
                stream_line(dst + i + page, src + i + page);
    _mm_sfence();
}
#endif

static void copy(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
#if defined(__x86_64__)
    if (bytes >= STREAM_BYTES) {
        uint64_t head = -(uintptr_t)dst % 64;
        uint64_t most = (bytes - head) / STREAM_STEP * STREAM_STEP;
        copy_bytes(dst, src, head);
        stream(dst + head, src + head, most);
        dst += head + most;
        src += head + most;
        bytes -= head + most;
    }
#endif
    copy_bytes(dst, src, bytes);
}

static uint8_t *view_of(const struct sc_place *place, uint64_t bytes)
{
    if (!place->device || place->import || bytes < VIEW_BYTES)
        return NULL;
    return sc_view_at(place->device, place->offset, bytes);
}

static uint8_t *pointer(uint64_t address)
{
    return (uint8_t *)(uintptr_t)address;
}

bool sc_move_up(const struct sc_place *to, uint64_t src, uint64_t bytes)
{
    uint8_t *view = view_of(to, bytes);
    if (!view || !sc_view_can_read(src, bytes))
        return write_at(to, src, bytes);
    copy(view, pointer(src), bytes);
    return true;
}

bool sc_move_down(uint64_t dst, const struct sc_place *from, uint64_t bytes)
{
    const uint8_t *view = view_of(from, bytes);
    if (!view || !sc_view_can_write(dst, bytes))
        return read_at(from, dst, bytes);
    copy(pointer(dst), view, bytes);
    return true;
}

bool sc_move_peer(const struct sc_place *to, const struct sc_place *from,
                  uint64_t bytes)
{
    uint8_t *dst = view_of(to, bytes);
    const uint8_t *src = dst ? view_of(from, bytes) : NULL;
    if (src) {
        copy(dst, src, bytes);
        return true;
    }
    /* Not from the heap: hardware has its own, whatever the program has left. */
    static uint8_t bounce[BOUNCE_BYTES];
    bool ok = true;
    pthread_mutex_lock(&scratch_lock);
    for (uint64_t done = 0; ok && done < bytes;) {
        uint64_t n = bytes - done < BOUNCE_BYTES ? bytes - done : BOUNCE_BYTES;
        struct sc_place a = *from, b = *to;
        a.offset += done;
        b.offset += done;
        ok = read_at(&a, (uint64_t)(uintptr_t)bounce, n) &&
             write_at(&b, (uint64_t)(uintptr_t)bounce, n);
        done += n;
    }
    pthread_mutex_unlock(&scratch_lock);
    return ok;
}

bool sc_move_host(uint64_t dst, uint64_t src, uint64_t bytes)
{
    bool ok = true;
    int fd = sc_memory_host_file();
    pthread_mutex_lock(&scratch_lock);
    while (ok && bytes > 0) {
        uint64_t n = bytes < SC_SCRATCH_BYTES ? bytes : SC_SCRATCH_BYTES;
        ok = transfer(SYS_pwrite64, fd, src, n, SC_HOST_FILE_BYTES) &&
             transfer(SYS_pread64, fd, dst, n, SC_HOST_FILE_BYTES);
        src += n;
        dst += n;
        bytes -= n;
    }
    pthread_mutex_unlock(&scratch_lock);
    return ok;
}
