/*
 * fread and fwrite on memory that may be shared.
 *
 * Their inner reads and writes are calls inside libc that nobody can
 * interpose, and for large requests they hand the program's own address to the
 * kernel. So the stream is told the shadow address, piece by piece under the
 * stream's lock; items are counted over the whole request as libc does.
 */
#include "base/trace.h"
#include "interpose/hook.h"
#include "interpose/libc/pieces.h"

#include <errno.h>
#include <sys/stat.h>

enum {
    PIN_MOST_BYTES = 4 << 20, /* held at once                            */
    BOUNCE_BYTES = 16 << 10,  /* for streams that can wait (pieces.h)    */
};

/* A stream whose reads can wait, or that runs code of the program. */
static bool may_wait(FILE *stream)
{
    struct stat about;
    int saved = errno;
    int fd = fileno_unlocked(stream);
    bool waits = fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode);
    errno = saved;
    return waits;
}

/* Read once, at most `bytes`. Return: bytes read; *status ours. */
static size_t read_piece(char *to, size_t bytes, FILE *stream, bool bounce,
                         size_t *asked, int *status)
{
    struct adsm_loan loan;
    char buffer[BOUNCE_BYTES];
    size_t got;
    if (bounce) {
        *asked = bytes < sizeof buffer ? bytes : sizeof buffer;
        got = HOOK_REAL(fread_unlocked)(buffer, 1, *asked, stream);
        *status = got ? call_put(to, buffer, got) : 0;
        return got;
    }
    *asked = bytes < PIN_MOST_BYTES ? bytes : PIN_MOST_BYTES;
    *status = adsm_loan_begin(to, *asked, ADSM_WRITE, &loan);
    if (*status)
        return 0;
    *asked = loan.bytes;
    got = HOOK_REAL(fread_unlocked)(loan.address, 1, *asked, stream);
    if (loan.object)
        *status = adsm_loan_end(&loan, got);
    return got;
}

static size_t write_piece(const char *from, size_t bytes, FILE *stream,
                          size_t *asked, int *status)
{
    struct adsm_loan loan;
    *asked = bytes < PIN_MOST_BYTES ? bytes : PIN_MOST_BYTES;
    *status = adsm_loan_begin(from, *asked, ADSM_READ, &loan);
    if (*status)
        return 0;
    *asked = loan.bytes;
    size_t put = HOOK_REAL(fwrite_unlocked)(loan.address, 1, *asked, stream);
    if (loan.object)
        *status = adsm_loan_end(&loan, put);
    return put;
}

/* The stream has no way to take an error of ours but errno. */
static void failed(const char *what, int status)
{
    hook_failed(what, status);
    errno = pieces_errno(status);
}

static __attribute__((noinline)) size_t read_shared(char *to, size_t size,
                                                    size_t items, FILE *stream)
{
    size_t total = size * items, done = 0;
    uint64_t start = adsm_trace_begin();
    bool bounce = may_wait(stream);
    hook_enter();
    while (done < total) {
        size_t asked;
        int status;
        size_t got = read_piece(to + done, total - done, stream, bounce, &asked,
                                &status);
        if (status) {
            failed("fread", status);
            break;
        }
        done += got;
        if (got < asked)
            break;
    }
    hook_leave();
    adsm_trace_end(ADSM_TRACE_io, "fread", start, -1, NULL);
    return done == total ? items : done / size;
}

static __attribute__((noinline)) size_t
write_shared(const char *from, size_t size, size_t items, FILE *stream)
{
    size_t total = size * items, done = 0;
    uint64_t start = adsm_trace_begin();
    hook_enter();
    while (done < total) {
        size_t asked;
        int status;
        size_t put =
            write_piece(from + done, total - done, stream, &asked, &status);
        if (status) {
            failed("fwrite", status);
            break;
        }
        done += put;
        if (put < asked)
            break;
    }
    hook_leave();
    adsm_trace_end(ADSM_TRACE_io, "fwrite", start, -1, NULL);
    return done == total ? items : done / size;
}

size_t fread_unlocked(void *to, size_t size, size_t items, FILE *stream)
{
    size_t bytes = size * items;
    if (hook_likely(hook_is_plain(to, bytes)) || bytes == 0)
        return HOOK_REAL(fread_unlocked)(to, size, items, stream);
    return read_shared(to, size, items, stream);
}

size_t fwrite_unlocked(const void *from, size_t size, size_t items,
                       FILE *stream)
{
    size_t bytes = size * items;
    if (hook_likely(hook_is_plain(from, bytes)) || bytes == 0)
        return HOOK_REAL(fwrite_unlocked)(from, size, items, stream);
    return write_shared(from, size, items, stream);
}

size_t fread(void *to, size_t size, size_t items, FILE *stream)
{
    size_t bytes = size * items;
    if (hook_likely(hook_is_plain(to, bytes)) || bytes == 0)
        return HOOK_REAL(fread)(to, size, items, stream);
    flockfile(stream);
    size_t done = read_shared(to, size, items, stream);
    funlockfile(stream);
    return done;
}

size_t fwrite(const void *from, size_t size, size_t items, FILE *stream)
{
    size_t bytes = size * items;
    if (hook_likely(hook_is_plain(from, bytes)) || bytes == 0)
        return HOOK_REAL(fwrite)(from, size, items, stream);
    flockfile(stream);
    size_t done = write_shared(from, size, items, stream);
    funlockfile(stream);
    return done;
}

/* The checked forms: what does not fit, or overflows, is the real function's
 * to report. */

static bool fits(size_t room, size_t size, size_t items)
{
    size_t bytes;
    return !__builtin_mul_overflow(size, items, &bytes) && bytes <= room;
}

size_t __fread_chk(void *to, size_t room, size_t size, size_t items,
                   FILE *stream)
{
    if (hook_unlikely(!fits(room, size, items)))
        return HOOK_REAL(__fread_chk)(to, room, size, items, stream);
    return fread(to, size, items, stream);
}

size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t items,
                            FILE *stream)
{
    if (hook_unlikely(!fits(room, size, items)))
        return HOOK_REAL(__fread_unlocked_chk)(to, room, size, items, stream);
    return fread_unlocked(to, size, items, stream);
}
