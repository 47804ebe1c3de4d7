/* Lists of ranges of one call. */
#include "interpose/calls/ranges.h"
#include "base/status.h"
#include "os/look.h"

#include <limits.h>

/* From here on a loan costs less than the copy that it saves. */
enum { LARGE_BYTES = 16 << 10 };

static size_t sum_of(const struct iovec *list, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += list[i].iov_len;
    return sum;
}

/* Does a range go on where no memory is? */
static bool ends_early(const struct iovec *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (call_reach(list[i].iov_base, list[i].iov_len) < list[i].iov_len)
            return true;
    return false;
}

/* Have the buffers hold what is there. */
static int fill_buffers(struct pieces *pieces)
{
    int status = ADSM_OK;
    for (int i = 0; i < pieces->count && !status; i++) {
        const struct piece *piece = &pieces->pieces[i];
        size_t done;
        if (piece->bounced)
            status = call_get(piece->loan.address, piece->bounced,
                              piece->loan.bytes, &done);
    }
    return status;
}

/* Hold what `list`, private memory, names. */
static int begin(struct call_ranges *ranges, const struct iovec *list,
                 size_t count, enum adsm_access access, enum call_policy policy)
{
    if (pieces_refused(list, (int)count))
        return ADSM_OK;
    bool writes = access == ADSM_WRITE,
         ends = writes && ends_early(list, count);
    bool bounce =
        ends || policy == CALL_BOUNCES ||
        (policy == CALL_LENDS_LARGE && sum_of(list, count) < LARGE_BYTES);
    int status = pieces_begin(&ranges->pieces, list, (int)count, access,
                              writes && bounce);
    ranges->begun = !status;
    ranges->ends = ends && !status;
    ranges->lent = writes && !status && !ranges->pieces.bounce;
    return ranges->ends ? fill_buffers(&ranges->pieces) : status;
}

int call_ranges_begin(struct call_ranges *ranges, struct call_few *few,
                      struct iovec **list, size_t *count,
                      enum adsm_access access, enum call_policy policy)
{
    size_t bytes = *count * sizeof **list, there;
    struct iovec plain[PIECES_FEW], *now = plain;
    struct call_buffer many = {0};
    if (*count == 0 || *count > IOV_MAX)
        return ADSM_OK; /* the kernel refuses the number */
    int status = call_hold(&ranges->copy, few, *list, bytes, CALL_READS);
    if (status)
        return status;
    if (ranges->copy.work) {
        now = *list = (struct iovec *)ranges->copy.work;
        there = ranges->copy.bytes;
    } else {
        if (*count > PIECES_FEW && !call_buffer_take(&many, bytes, false))
            return ADSM_E_NOMEM;
        if (many.at)
            now = (struct iovec *)many.at;
        there = bytes;
        if (!adsm_look(now, *list, bytes)) /* without a call, mostly */
            status = call_get(now, *list, bytes, &there);
    }
    if (!status && there == bytes)
        status = begin(ranges, now, *count, access, policy);
    call_buffer_give(&many);
    if (ranges->begun) {
        *list = ranges->pieces.iov;
        *count = (size_t)ranges->pieces.count;
    }
    return status;
}

int call_ranges_begin_one(struct call_ranges *ranges, struct call_few *few,
                          void **range, size_t *bytes, enum adsm_access access,
                          enum call_policy policy)
{
    struct iovec one = {*range, *bytes};
    if (hook_is_plain(*range, *bytes))
        return ADSM_OK;
    if (one.iov_len > call_most_bytes)
        one.iov_len = call_most_bytes;
    int status = begin(ranges, &one, 1, access, policy);
    if (status || !ranges->begun)
        return status;
    if (ranges->pieces.count == 1) {
        *range = ranges->pieces.iov->iov_base;
        *bytes = ranges->pieces.iov->iov_len;
        return ADSM_OK;
    }
    /* Over several objects, or beyond one: one copy. */
    status = pieces_end(&ranges->pieces, 0);
    ranges->begun = ranges->lent = false;
    if (!status)
        status = call_hold(&ranges->copy, few, *range, one.iov_len,
                           access == ADSM_READ ? CALL_READS : CALL_WRITES);
    if (ranges->copy.work)
        *range = ranges->copy.work;
    return status;
}

int call_ranges_end(struct call_ranges *ranges, long result)
{
    size_t done = result > 0 ? (size_t)result : 0;
    /* Where memory ends, bytes may have arrived behind those that count: the
     * buffers have those, or what was there. */
    if (ranges->begun && ranges->ends)
        done = ranges->pieces.total;
    int status = ranges->begun ? pieces_end(&ranges->pieces, done) : ADSM_OK;
    ranges->begun = ranges->lent = false;
    int put = call_release(&ranges->copy, done);
    return status ? status : put;
}
