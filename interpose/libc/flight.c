/* Memory of operations that outlast a call; see flight.h. */
#include "interpose/libc/flight.h"
#include "base/status.h"
#include "base/system.h"
#include "mm/heap/life.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* Plain memory as far into its page as `address`: devices may ask for that. */
static int take_plain(struct flight *flight, const void *address, size_t bytes)
{
    size_t into = (uintptr_t)address % PAGE;
    void *map = MAP_FAILED;
    if (!__builtin_add_overflow(into, bytes, &flight->map_bytes))
        map = adsm_system_mmap(NULL, flight->map_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                               0);
    if (map == MAP_FAILED)
        return ADSM_E_NOMEM;
    flight->map = map;
    flight->at = (char *)map + into;
    return ADSM_OK;
}

/* The shadow of a range in one allocation, which is made readable. */
static int lend(struct flight *flight, size_t bytes, bool *whole)
{
    struct adsm_loan loan;
    int status = adsm_loan_begin(flight->at, bytes, ADSM_READ, &loan);
    /* What has no other address is closed by the next call. */
    *whole = !status && loan.bytes == bytes && loan.address != flight->at;
    if (*whole)
        flight->at = loan.address;
    /* An adopted object ends where others come or go on its pages. */
    if (*whole && loan.counted)
        flight->lent = loan.object;
    return status || flight->lent ? status : adsm_loan_end(&loan, 0);
}

static int begin_shared(struct flight *flight, void *address, size_t bytes,
                        enum adsm_access access)
{
    bool whole = false;
    int status = access == ADSM_READ ? lend(flight, bytes, &whole) : ADSM_OK;
    if (status || whole)
        return status;
    status = take_plain(flight, address, bytes);
    size_t got = bytes;
    if (status == ADSM_OK && access == ADSM_READ)
        status = call_get(flight->at, address, bytes, &got);
    if (status == ADSM_OK && got < bytes)
        status = ADSM_E_NOT_SHARED;
    if (access == ADSM_WRITE)
        flight->shared = address;
    return status;
}

int flight_begin(struct flight *flight, const void *address, size_t bytes,
                 enum adsm_access access)
{
    *flight = (struct flight){.at = (void *)address, .bytes = bytes};
    if (hook_is_plain(address, bytes) || bytes == 0)
        return ADSM_OK;
    hook_enter();
    int status = begin_shared(flight, (void *)address, bytes, access);
    hook_leave();
    if (status)
        flight_end(flight, 0);
    return status;
}

int flight_end(struct flight *flight, size_t done)
{
    int saved = errno, status = ADSM_OK;
    if (flight->shared && done > 0)
        status = call_put(flight->shared, flight->at,
                          done < flight->bytes ? done : flight->bytes);
    if (flight->map)
        adsm_system_munmap(flight->map, flight->map_bytes);
    if (flight->lent)
        adsm_object_take_back(flight->lent);
    flight->lent = NULL;
    flight->map = flight->shared = NULL;
    errno = saved;
    return status;
}

/* ---- several ---------------------------------------------------------------- */

struct flights *flights_make(int count)
{
    size_t each = sizeof(struct flight) + sizeof(struct iovec);
    struct flights *flights = calloc(1, sizeof *flights + (size_t)count * each);
    if (flights) {
        flights->count = count;
        flights->iov = (void *)&flights->each[count];
    }
    return flights;
}

int flights_begin(struct flights *flights, const struct iovec *ranges,
                  enum adsm_access access)
{
    size_t bytes = (size_t)flights->count * sizeof *ranges, got;
    int status = call_get(flights->iov, ranges, bytes, &got);
    if (status == ADSM_OK && got < bytes)
        status = ADSM_E_NOT_SHARED;
    for (int i = 0; i < flights->count && !status; i++) {
        struct flight *flight = &flights->each[i];
        struct iovec *range = &flights->iov[i];
        status = flight_begin(flight, range->iov_base, range->iov_len, access);
        range->iov_base = flight->at;
    }
    if (status)
        (void)flights_end(flights, 0);
    return status;
}

/* Bytes of range [begin, begin + bytes) among the first `done` of all. */
static size_t reached(size_t begin, size_t bytes, size_t done)
{
    return done <= begin ? 0 : done - begin < bytes ? done - begin : bytes;
}

int flights_end(struct flights *flights, size_t done)
{
    int first = ADSM_OK;
    size_t begin = 0;
    for (int i = 0; i < flights->count; i++) {
        struct flight *flight = &flights->each[i];
        int status = flight_end(flight, reached(begin, flight->bytes, done));
        first = first ? first : status;
        begin += flight->bytes;
    }
    return first;
}
