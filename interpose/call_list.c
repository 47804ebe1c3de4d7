/* Lists of ranges, and headers of messages. */
#include "interpose/call_list.h"
#include "base/status.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum {
    NAME_BYTES = 128,        /* struct sockaddr_storage: most of a name      */
    CONTROL_BYTES = 1 << 20, /* more than the kernel takes or gives          */
    LOWEST_ADDRESS = 1 << 16 /* below it no program has memory               */
};

void call_list_start(struct call_list *list)
{
    list->part = NULL;
    list->few.used = 0;
}

/* ---- lists of ranges ----------------------------------------------------- */

/* Exchange *list of `count` ranges. */
static int ranges_begin(struct call_ranges *ranges, struct call_few *few,
                        struct iovec **list, size_t *count,
                        enum adsm_access access)
{
    size_t bytes = *count * sizeof **list, there;
    ranges->begun = false;
    if (*count == 0 || *count > IOV_MAX)
        return ADSM_OK; /* the kernel refuses the number */
    int status = call_hold(&ranges->copy, few, *list, bytes, CALL_READS);
    if (status)
        return status;
    const struct iovec *now = *list;
    struct iovec plain[PIECES_FEW];
    struct call_buffer many = {0};
    if (ranges->copy.work) {
        now = *list = (struct iovec *)ranges->copy.work;
        there = ranges->copy.bytes;
    } else {
        struct iovec *to = plain;
        if (*count > PIECES_FEW) {
            if (!call_buffer_take(&many, bytes, false))
                return ADSM_E_NOMEM;
            to = (struct iovec *)many.at;
        }
        status = call_get(to, *list, bytes, &there);
        now = to;
    }
    if (!status && there == bytes && !pieces_refused(now, (int)*count)) {
        status = pieces_begin(&ranges->pieces, now, (int)*count, access,
                              access == ADSM_WRITE);
        ranges->begun = !status;
    }
    call_buffer_give(&many);
    if (ranges->begun) {
        *list = ranges->pieces.iov;
        *count = (size_t)ranges->pieces.count;
    }
    return status;
}

static int ranges_end(struct call_ranges *ranges, size_t done)
{
    int status = ranges->begun ? pieces_end(&ranges->pieces, done) : ADSM_OK;
    ranges->begun = false;
    call_release(&ranges->copy, 0);
    return status;
}

/* ---- headers ------------------------------------------------------------- */

/* The calls take an int, and give a size_t, for the length of a name. */
static size_t at_most(size_t bytes, size_t most)
{
    return bytes < most ? bytes : most;
}

static int header_begin(struct call_header *header, struct call_few *few,
                        struct msghdr *work, enum adsm_access access)
{
    enum call_way way = access == ADSM_READ ? CALL_READS : CALL_CHANGES;
    header->given = *work;
    int status = call_hold(&header->name, few, work->msg_name,
                           at_most(work->msg_namelen, NAME_BYTES), way);
    if (status)
        return status;
    if (header->name.work)
        work->msg_name = header->name.work;
    status = call_hold(&header->control, few, work->msg_control,
                       at_most(work->msg_controllen, CONTROL_BYTES), way);
    if (status)
        return status;
    if (header->control.work)
        work->msg_control = header->control.work;
    return ranges_begin(&header->ranges, few, &work->msg_iov, &work->msg_iovlen,
                        access);
}

static int put_field(void *program, const void *field, const void *given,
                     size_t bytes)
{
    size_t done;
    return memcmp(field, given, bytes) == 0
               ? ADSM_OK
               : call_put(program, field, bytes, &done);
}

/* What the kernel writes there when a message has arrived. */
static int header_put(const struct call_header *header, struct msghdr *program,
                      const struct msghdr *work)
{
    const struct msghdr *given = &header->given;
    int name = put_field(&program->msg_namelen, &work->msg_namelen,
                         &given->msg_namelen, sizeof work->msg_namelen);
    int control =
        put_field(&program->msg_controllen, &work->msg_controllen,
                  &given->msg_controllen, sizeof work->msg_controllen);
    int flags = put_field(&program->msg_flags, &work->msg_flags,
                          &given->msg_flags, sizeof work->msg_flags);
    return name ? name : control ? control : flags;
}

/* `program` NULL: nothing arrived there. */
static int header_end(struct call_header *header, struct msghdr *program,
                      const struct msghdr *work, size_t done)
{
    int status = ranges_end(&header->ranges, done);
    int put = call_release(&header->control, 0);
    status = status ? status : put;
    put = call_release(&header->name, 0);
    status = status ? status : put;
    put = program ? header_put(header, program, work) : ADSM_OK;
    return status ? status : put;
}

static int one_begin(struct call_list *list, enum adsm_access access,
                     uintptr_t *word)
{
    struct msghdr *work = &list->header.work;
    size_t done;
    memset(&list->header.one, 0, offsetof(struct call_header, ranges.pieces));
    list->header.one.ranges.begun = false;
    int status = call_get(work, list->program, sizeof *work, &done);
    if (status || done < sizeof *work)
        return status; /* the kernel finds what is not there */
    *word = (uintptr_t)work;
    return header_begin(&list->header.one, &list->few, work, access);
}

static int one_end(struct call_list *list, enum adsm_access access, long result)
{
    bool arrived = result >= 0 && access == ADSM_WRITE;
    return header_end(&list->header.one, arrived ? list->program : NULL,
                      &list->header.work, result > 0 ? (size_t)result : 0);
}

/* ---- lists of headers ---------------------------------------------------- */

static int many_begin(struct call_list *list, size_t count,
                      enum adsm_access access, uintptr_t *word)
{
    size_t bytes, done;
    list->headers.memory = (struct call_buffer){0};
    list->headers.count = 0;
    if (count > IOV_MAX) /* as many as the kernel takes */
        count = IOV_MAX;
    bytes = count * sizeof *list->headers.work;
    if (!call_buffer_take(&list->headers.memory,
                          bytes + count * sizeof *list->headers.each, false))
        return ADSM_E_NOMEM;
    list->headers.each = (struct call_header *)list->headers.memory.at;
    list->headers.work = (struct mmsghdr *)(list->headers.each + count);
    int status = call_get(list->headers.work, list->program, bytes, &done);
    /* Those that are there; the kernel stops where they end. */
    count = status ? 0 : done / sizeof *list->headers.work;
    if (count == 0)
        return status;
    for (size_t i = 0; i < count && !status; i++) {
        struct call_header *each = &list->headers.each[i];
        memset(each, 0, offsetof(struct call_header, ranges.pieces));
        each->ranges.begun = false;
        list->headers.count++;
        status = header_begin(each, &list->few, &list->headers.work[i].msg_hdr,
                              access);
    }
    *word = (uintptr_t)list->headers.work;
    return status;
}

static int many_end(struct call_list *list, enum adsm_access access,
                    long result)
{
    struct mmsghdr *program = list->program;
    int first = ADSM_OK;
    for (int i = 0; i < list->headers.count; i++) {
        struct mmsghdr *work = &list->headers.work[i];
        bool arrived = i < result;
        struct msghdr *back =
            arrived && access == ADSM_WRITE ? &program[i].msg_hdr : NULL;
        int status = header_end(&list->headers.each[i], back, &work->msg_hdr,
                                arrived ? work->msg_len : 0);
        size_t done;
        int put = arrived ? call_put(&program[i].msg_len, &work->msg_len,
                                     sizeof work->msg_len, &done)
                          : ADSM_OK;
        first = first ? first : status ? status : put;
    }
    call_buffer_give(&list->headers.memory);
    return first;
}

/* ---- any of them --------------------------------------------------------- */

int call_list_begin(struct call_list *list, const struct call_part *part,
                    const uintptr_t *given, uintptr_t *words)
{
    uintptr_t *word = &words[part->argument];
    size_t count;
    list->part = part;
    list->program = (void *)given[part->argument];
    switch ((enum call_role)part->role) {
    case CALL_LIST_IN:
    case CALL_LIST_OUT:
        count = given[part->count];
        list->ranges.copy.work = NULL;
        list->ranges.copy.buffer.map = NULL;
        int status = ranges_begin(
            &list->ranges, &list->few, (struct iovec **)word, &count,
            part->role == CALL_LIST_IN ? ADSM_READ : ADSM_WRITE);
        if (list->ranges.begun)
            words[part->count] = count;
        return status;
    case CALL_HEADER_IN:
        return one_begin(list, ADSM_READ, word);
    case CALL_HEADER_OUT:
        return one_begin(list, ADSM_WRITE, word);
    case CALL_HEADERS_IN:
        return many_begin(list, (unsigned)given[part->count], ADSM_READ, word);
    case CALL_HEADERS_OUT:
        return many_begin(list, (unsigned)given[part->count], ADSM_WRITE, word);
    default:
        list->part = NULL;
        return ADSM_OK;
    }
}

int call_list_end(struct call_list *list, long result)
{
    if (!list->part)
        return ADSM_OK;
    switch ((enum call_role)list->part->role) {
    case CALL_LIST_IN:
    case CALL_LIST_OUT:
        return ranges_end(&list->ranges, result > 0 ? (size_t)result : 0);
    case CALL_HEADER_IN:
        return one_end(list, ADSM_READ, result);
    case CALL_HEADER_OUT:
        return one_end(list, ADSM_WRITE, result);
    case CALL_HEADERS_IN:
        return many_end(list, ADSM_READ, result);
    default:
        return many_end(list, ADSM_WRITE, result);
    }
}

/* ---- the way around ------------------------------------------------------ */

/* What the kernel refuses, by number or by address, is not looked at. */
static bool may_look(const void *list, uintptr_t count)
{
    return count > 0 && count <= IOV_MAX && (uintptr_t)list >= LOWEST_ADDRESS &&
           !((uintptr_t)list >> ADSM_ADDRESS_BITS);
}

bool call_list_is_plain(const struct iovec *list, uintptr_t count)
{
    if (!may_look(list, count))
        return true;
    if (!hook_is_plain(list, count * sizeof *list))
        return false;
    for (uintptr_t i = 0; i < count; i++)
        if (!hook_is_plain(list[i].iov_base, list[i].iov_len))
            return false;
    return true;
}

bool call_header_is_plain(const struct msghdr *header)
{
    if (!may_look(header, 1))
        return true;
    return hook_is_plain(header, sizeof *header) &&
           hook_is_plain(header->msg_name, header->msg_namelen) &&
           hook_is_plain(header->msg_control, header->msg_controllen) &&
           call_list_is_plain(header->msg_iov, header->msg_iovlen);
}

bool call_headers_is_plain(const struct mmsghdr *headers, uintptr_t count)
{
    if ((unsigned)count > IOV_MAX)
        count = IOV_MAX;
    if (!may_look(headers, count))
        return true;
    if (!hook_is_plain(headers, count * sizeof *headers))
        return false;
    for (uintptr_t i = 0; i < count; i++)
        if (!call_header_is_plain(&headers[i].msg_hdr))
            return false;
    return true;
}
