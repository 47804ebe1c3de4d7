/*
 * Scatter lists over plain and shared memory.
 *
 * Loans end in the opposite order of their beginning.
 */
#include "interpose/libc/pieces.h"
#include "base/status.h"

#include <errno.h>
#include <limits.h>

/* What one call of read(2) or write(2) moves at most (MAX_RW_COUNT). */
static const size_t transfer_most = 0x7ffff000;

/* First address that no program has; the kernel refuses ranges beyond. */
#if defined(__aarch64__)
static const uintptr_t user_end = (uintptr_t)1 << 48;
#else
static const uintptr_t user_end = ((uintptr_t)1 << 47) - 4096;
#endif

static bool is_beyond(const struct iovec *range)
{
    uintptr_t begin = (uintptr_t)range->iov_base;
    return begin > user_end || range->iov_len > user_end - begin;
}

bool pieces_refused(const struct iovec *iov, int count)
{
    size_t total = 0;
    if (count < 0 || count > IOV_MAX)
        return true;
    for (int i = 0; i < count; i++) {
        if (iov[i].iov_len > SSIZE_MAX - total || is_beyond(&iov[i]))
            return true;
        total += iov[i].iov_len;
    }
    return total == 0;
}

/* Entries that `count` ranges can become, each within one allocation or across
 * some of a tract or more; what needs further ones is transferred in part. */
static size_t most_pieces(const struct iovec *iov, int count)
{
    size_t most = 0;
    for (int i = 0; i < count; i++)
        most += iov[i].iov_len / HOOK_TRACT_BYTES + 2;
    return most;
}

/* Bytes of the first range and of those that go on where it ends. */
static size_t side_by_side(const struct iovec *iov, int count)
{
    size_t bytes = iov->iov_len;
    for (int i = 1;
         i < count && iov[i].iov_base == (char *)iov->iov_base + bytes; i++)
        bytes += iov[i].iov_len;
    return bytes;
}

/* Would the list take more than one loan? A thread that holds one range must
 * not wait for another: the two may share a block, or a second thread may take
 * them the other way round. */
static bool needs_loans(const struct iovec *iov, int count)
{
    int loans = 0;
    for (int i = 0; i < count && loans < 2; i++) {
        const char *begin = iov[i].iov_base;
        size_t bytes = side_by_side(iov + i, count - i);
        if (hook_is_plain(begin, bytes))
            continue;
        const char *last = begin + bytes - 1;
        loans += adsm_index_find(begin) == adsm_index_find(last) ? 1 : 2;
        while (iov[i].iov_len < bytes)
            bytes -= iov[i++].iov_len;
    }
    return loans > 1;
}

static size_t shared_bytes(const struct iovec *iov, int count)
{
    size_t sum = 0;
    for (int i = 0; i < count; i++)
        if (!hook_is_plain(iov[i].iov_base, iov[i].iov_len))
            sum += iov[i].iov_len;
    return sum;
}

/* Memory for a list longer than a few entries and for bounced bytes. */
static int prepare(struct pieces *list, size_t bounced, bool many)
{
    size_t lists =
        many ? IOV_MAX * (sizeof *list->iov + sizeof *list->pieces) : 0;
    list->iov = list->few_iov;
    list->pieces = list->few;
    list->room = PIECES_FEW;
    if (!lists && !bounced)
        return ADSM_OK;
    if (!call_buffer_take(&list->memory, lists + bounced, false))
        return ADSM_E_NOMEM;
    if (many) {
        list->pieces = (struct piece *)list->memory.at;
        list->iov = (void *)(list->pieces + IOV_MAX);
        list->room = IOV_MAX;
    }
    if (bounced)
        list->bounce = list->memory.at + lists;
    return ADSM_OK;
}

/* A loan of as much of [address, +extent), in one object, as there is; the
 * piece is the first `bytes` of it. */
static int lend(struct pieces *list, struct piece *piece, char *address,
                size_t bytes, size_t extent)
{
    int status = adsm_loan_begin(address, extent, list->access, &piece->loan);
    if (!status && piece->loan.bytes > bytes) {
        list->next = (struct iovec){address + bytes, piece->loan.bytes - bytes};
        list->next_shadow = (char *)piece->loan.address + bytes;
    }
    return status;
}

/* The piece goes on where the last loan does. */
static bool is_covered(struct pieces *list, struct piece *piece)
{
    size_t bytes = piece->loan.bytes;
    if (list->next.iov_len == 0 || piece->loan.address != list->next.iov_base)
        return false;
    if (bytes > list->next.iov_len)
        bytes = list->next.iov_len;
    piece->loan.address = list->next_shadow;
    piece->loan.bytes = bytes;
    list->next.iov_base = (char *)list->next.iov_base + bytes;
    list->next.iov_len -= bytes;
    list->next_shadow += bytes;
    return true;
}

/* Take the longest uniform prefix of [address, +bytes) as one more entry.
 * @rest  the list from there on, of `count` ranges */
static int take(struct pieces *list, char *address, size_t bytes,
                const struct iovec *rest, int count, size_t *taken)
{
    struct piece *piece = &list->pieces[list->count];
    piece->bounced = NULL;
    piece->loan.object = NULL;
    piece->loan.address = address;
    piece->loan.bytes = bytes;
    if (hook_is_plain(address, bytes) || is_covered(list, piece)) {
        /* all of it, as it is */
    } else if (list->bounce) {
        struct call_stretch next = call_stretch(address, bytes);
        piece->loan.bytes = next.bytes;
        if (next.shared) {
            piece->bounced = address;
            piece->loan.address = list->bounce + list->bounce_used;
            list->bounce_used += next.bytes;
        }
    } else {
        char *end = (char *)rest->iov_base + side_by_side(rest, count);
        size_t extent = (size_t)(end - address);
        if (extent > transfer_most - list->total)
            extent = transfer_most - list->total;
        int status = lend(list, piece, address, bytes, extent);
        if (status)
            return status;
    }
    *taken = piece->loan.bytes < bytes ? piece->loan.bytes : bytes;
    list->iov[list->count++] = (struct iovec){piece->loan.address, *taken};
    return ADSM_OK;
}

static int fill(struct pieces *list, const struct iovec *iov, int count)
{
    for (int i = 0; i < count; i++) {
        char *at = iov[i].iov_base;
        size_t left = iov[i].iov_len;
        if (left > transfer_most - list->total)
            left = transfer_most - list->total;
        while (left > 0) {
            size_t taken;
            if (list->count == list->room)
                return ADSM_OK;
            int status = take(list, at, left, iov + i, count - i, &taken);
            if (status)
                return status;
            at += taken;
            left -= taken;
            list->total += taken;
        }
    }
    return ADSM_OK;
}

int pieces_begin(struct pieces *list, const struct iovec *iov, int count,
                 enum adsm_access access, bool bounce)
{
    list->access = access;
    list->count = 0;
    list->total = 0;
    list->bounce = NULL;
    list->bounce_used = 0;
    list->next.iov_len = 0;
    list->memory = (struct call_buffer){0};
    bounce = bounce || (access == ADSM_WRITE && needs_loans(iov, count));
    size_t bounced = bounce ? shared_bytes(iov, count) : 0;
    if (bounced > transfer_most)
        bounced = transfer_most;
    int status = prepare(list, bounced, most_pieces(iov, count) > PIECES_FEW);
    if (status)
        return status;
    hook_enter();
    status = fill(list, iov, count);
    if (status)
        pieces_end(list, 0);
    hook_leave();
    return status;
}

/* Bytes of entry [begin, end) of the list among its first `done`. */
static size_t reached(size_t begin, size_t end, size_t done)
{
    return done <= begin ? 0 : (done < end ? done : end) - begin;
}

/* In the order of the list: of a byte named twice the last one stays. */
static int put_bounced(struct pieces *list, size_t done)
{
    int status = ADSM_OK;
    size_t begin = 0;
    for (int i = 0; i < list->count && begin < done; i++) {
        const struct piece *piece = &list->pieces[i];
        size_t end = begin + piece->loan.bytes;
        if (piece->bounced) {
            int failed = call_put(piece->bounced, piece->loan.address,
                                  reached(begin, end, done));
            status = failed ? failed : status;
        }
        begin = end;
    }
    return status;
}

int pieces_end(struct pieces *list, size_t done)
{
    int status = ADSM_OK;
    int saved = errno;
    size_t end = list->total;
    hook_enter();
    if (list->bounce && list->access == ADSM_WRITE)
        status = put_bounced(list, done);
    for (int i = list->count - 1; i >= 0; i--) {
        struct piece *piece = &list->pieces[i];
        size_t begin = end - list->iov[i].iov_len;
        if (piece->loan.object) {
            size_t lent = begin + piece->loan.bytes;
            int failed =
                adsm_loan_end(&piece->loan, reached(begin, lent, done));
            status = failed ? failed : status;
        }
        end = begin;
    }
    hook_leave();
    call_buffer_give(&list->memory);
    errno = saved;
    return status;
}

int pieces_errno(int status)
{
    switch (status) {
    case ADSM_E_NOMEM:
    case ADSM_E_LIMIT:
        return ENOMEM;
    case ADSM_E_NOT_SHARED:
    case ADSM_E_FORKED:
        return EFAULT;
    default:
        return EIO;
    }
}
