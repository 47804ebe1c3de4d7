/*
 * memcpy and its relatives on memory that may be shared.
 *
 * Unrelated memory costs a look at the top of the index. Small ranges of
 * shared memory are left to the CPU and the fault engine, which is right and
 * cheaper; larger ones go to the bulk door. Built with -fno-builtin: the
 * compiler would turn the loops below into calls of the functions they are.
 */
#include "interpose/hook.h"
#include "mm/doors/bulk.h"

#include <string.h>

/* Below this, taking locks costs more than the copy and its one fault. */
enum { BULK_LEAST_BYTES = 4096 };

enum { PAGE_LEAST_BYTES = 4096 };

/* Before the constructor ran, and even before this library was relocated. */
static void *early_move(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    if (t <= f)
        for (size_t i = 0; i < bytes; i++)
            t[i] = f[i];
    else
        for (size_t i = bytes; i > 0; i--)
            t[i - 1] = f[i - 1];
    return to;
}

static void *early_set(void *to, int value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((char *)to)[i] = (char)value;
    return to;
}

static int early_compare(const void *a, const void *b, size_t bytes)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < bytes; i++)
        if (x[i] != y[i])
            return x[i] - y[i];
    return 0;
}

/* Touch a byte of each page of [address, +bytes) that is not shared, before any
 * lock is taken: where the memory is not there, the program's handler for
 * SIGSEGV runs, and may jump away. */
static void touch_plain(const void *address, size_t bytes, bool writes)
{
    uintptr_t at = (uintptr_t)address, end = at + bytes;
    while (at < end) {
        if (adsm_index_find((const void *)at)) {
            at = adsm_index_border(at);
            continue;
        }
        if (writes)
            __atomic_fetch_or((char *)at, 0, __ATOMIC_RELAXED);
        else
            (void)*(const volatile char *)at;
        at = (at | (PAGE_LEAST_BYTES - 1)) + 1;
    }
}

/* Everything but the usual case. */
static __attribute__((noinline)) void *shared_move(void *to, const void *from,
                                                   size_t bytes)
{
    if (bytes < BULK_LEAST_BYTES || hook_passes() ||
        (hook_is_plain(to, bytes) && hook_is_plain(from, bytes)))
        return hook_real.memmove(to, from, bytes);
    touch_plain(from, bytes, false);
    touch_plain(to, bytes, true);
    hook_enter();
    int status = adsm_bulk_move(to, from, bytes);
    hook_leave();
    if (status)
        hook_failed("memmove", status);
    return to;
}

static __attribute__((noinline)) void *shared_set(void *to, int value,
                                                  size_t bytes)
{
    if (bytes < BULK_LEAST_BYTES || hook_passes() || hook_is_plain(to, bytes))
        return hook_real.memset(to, value, bytes);
    touch_plain(to, bytes, true);
    hook_enter();
    int status = adsm_bulk_set(to, value, bytes);
    hook_leave();
    if (status)
        hook_failed("memset", status);
    return to;
}

static __attribute__((noinline)) int shared_compare(const void *a,
                                                    const void *b, size_t bytes)
{
    int order = 0;
    if (bytes < BULK_LEAST_BYTES || hook_passes() ||
        (hook_is_plain(a, bytes) && hook_is_plain(b, bytes)))
        return hook_real.memcmp(a, b, bytes);
    touch_plain(a, bytes, false);
    touch_plain(b, bytes, false);
    hook_enter();
    int status = adsm_bulk_compare(a, b, bytes, &order);
    hook_leave();
    if (status)
        hook_failed("memcmp", status);
    return order;
}

/* A word per end of a range, 0 when it lies in 16 GiB without any object. A
 * range this short ends in the same 16 GiB as it begins, or in the next. */
static inline uintptr_t ends(uintptr_t first, uintptr_t last)
{
    return (uintptr_t)atomic_load_explicit(
               &adsm_index_top[first >> ADSM_INDEX_SHIFT],
               memory_order_relaxed) |
           (uintptr_t)atomic_load_explicit(
               &adsm_index_top[last >> ADSM_INDEX_SHIFT], memory_order_relaxed);
}

/* Nothing shared anywhere near: short ranges at addresses of the index whose
 * leaves are not there. Anything else is looked at more closely. Relaxed: an
 * object that the caller knows of is in the index for the caller, too. */
static inline bool is_usual(const void *address, size_t bytes)
{
    uintptr_t first = (uintptr_t)address;
    uintptr_t last = first + bytes;
    return !(bytes > HOOK_TRACT_BYTES || (first | last) >> ADSM_ADDRESS_BITS) &&
           !ends(first, last);
}

static inline bool both_usual(const void *a, const void *b, size_t bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    uintptr_t last = first + bytes, second_last = second + bytes;
    return !(bytes > HOOK_TRACT_BYTES ||
             (first | last | second | second_last) >> ADSM_ADDRESS_BITS) &&
           !(ends(first, last) | ends(second, second_last));
}

void *memcpy(void *to, const void *from, size_t bytes)
{
    if (hook_unlikely(!hook_real.memcpy))
        return early_move(to, from, bytes);
    if (hook_likely(both_usual(to, from, bytes)))
        return hook_real.memcpy(to, from, bytes);
    return shared_move(to, from, bytes);
}

void *memmove(void *to, const void *from, size_t bytes)
{
    if (hook_unlikely(!hook_real.memmove))
        return early_move(to, from, bytes);
    if (hook_likely(both_usual(to, from, bytes)))
        return hook_real.memmove(to, from, bytes);
    return shared_move(to, from, bytes);
}

void *mempcpy(void *to, const void *from, size_t bytes)
{
    return (char *)memcpy(to, from, bytes) + bytes;
}

void *__mempcpy(void *to, const void *from, size_t bytes)
{
    return (char *)memcpy(to, from, bytes) + bytes;
}

void *memset(void *to, int value, size_t bytes)
{
    if (hook_unlikely(!hook_real.memset))
        return early_set(to, value, bytes);
    if (hook_likely(is_usual(to, bytes)))
        return hook_real.memset(to, value, bytes);
    return shared_set(to, value, bytes);
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    if (hook_unlikely(!hook_real.memcmp))
        return early_compare(a, b, bytes);
    if (hook_likely(both_usual(a, b, bytes)))
        return hook_real.memcmp(a, b, bytes);
    return shared_compare(a, b, bytes);
}

int bcmp(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes);
}

void bcopy(const void *from, void *to, size_t bytes)
{
    memmove(to, from, bytes);
}

void bzero(void *to, size_t bytes)
{
    memset(to, 0, bytes);
}

void explicit_bzero(void *to, size_t bytes)
{
    memset(to, 0, bytes);
}

/* The checked forms: a range that does not fit is the real function's to
 * report, which it does before it touches anything. */

void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room)
{
    if (hook_unlikely(bytes > room))
        return HOOK_REAL(__memcpy_chk)(to, from, bytes, room);
    return memcpy(to, from, bytes);
}

void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room)
{
    if (hook_unlikely(bytes > room))
        return HOOK_REAL(__memmove_chk)(to, from, bytes, room);
    return memmove(to, from, bytes);
}

void *__mempcpy_chk(void *to, const void *from, size_t bytes, size_t room)
{
    if (hook_unlikely(bytes > room))
        return HOOK_REAL(__mempcpy_chk)(to, from, bytes, room);
    return mempcpy(to, from, bytes);
}

void *__memset_chk(void *to, int value, size_t bytes, size_t room)
{
    if (hook_unlikely(bytes > room))
        return HOOK_REAL(__memset_chk)(to, value, bytes, room);
    return memset(to, value, bytes);
}

void __explicit_bzero_chk(void *to, size_t bytes, size_t room)
{
    if (hook_unlikely(bytes > room))
        HOOK_REAL(__explicit_bzero_chk)(to, bytes, room);
    else
        memset(to, 0, bytes);
}
