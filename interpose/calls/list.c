/* Lists of ranges, and headers of messages. */
#include "interpose/calls/list.h"
#include "base/status.h"
#include "os/look.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum {
    NAME_BYTES = 128,        /* struct sockaddr_storage: most of a name      */
    CONTROL_BYTES = 1 << 20, /* more than the kernel takes or gives          */
};

/* ---- headers ------------------------------------------------------------- */

/* The calls take an int, and give a size_t, for the length of a name. */
static size_t at_most(size_t bytes, size_t most)
{
    return bytes < most ? bytes : most;
}

static void ranges_start(struct call_ranges *ranges)
{
    memset(&ranges->copy, 0, sizeof ranges->copy);
    ranges->begun = ranges->lent = ranges->ends = false;
}

static void header_start(struct call_header *header)
{
    memset(header, 0, offsetof(struct call_header, ranges));
    ranges_start(&header->ranges);
}

static int header_begin(struct call_header *header, struct call_few *few,
                        struct msghdr *work, enum adsm_access access,
                        enum call_policy policy)
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
    return call_ranges_begin(&header->ranges, few, &work->msg_iov,
                             &work->msg_iovlen, access, policy);
}

static int put_field(void *program, const void *field, const void *given,
                     size_t bytes)
{
    return memcmp(field, given, bytes) == 0 ? ADSM_OK
                                            : call_put(program, field, bytes);
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
                      const struct msghdr *work, long result)
{
    int status = call_ranges_end(&header->ranges, result);
    int put = call_release(&header->control, 0);
    status = status ? status : put;
    put = call_release(&header->name, 0);
    status = status ? status : put;
    put = program ? header_put(header, program, work) : ADSM_OK;
    return status ? status : put;
}

static int one_begin(struct call_list *list, enum adsm_access access,
                     enum call_policy policy, uintptr_t *word)
{
    struct msghdr *work = &list->header.work;
    size_t done;
    header_start(&list->header.one);
    int status = call_get(work, list->program, sizeof *work, &done);
    if (status || done < sizeof *work)
        return status; /* the kernel finds what is not there */
    *word = (uintptr_t)work;
    return header_begin(&list->header.one, &list->few, work, access, policy);
}

static int one_end(struct call_list *list, enum adsm_access access, long result)
{
    bool arrived = result >= 0 && access == ADSM_WRITE;
    return header_end(&list->header.one, arrived ? list->program : NULL,
                      &list->header.work, result);
}

/* ---- lists of headers ---------------------------------------------------- */

static int many_begin(struct call_list *list, uintptr_t *number,
                      enum adsm_access access, uintptr_t *word)
{
    size_t count = (unsigned)*number;
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
    *number = count;
    for (size_t i = 0; i < count && !status; i++) {
        struct call_header *each = &list->headers.each[i];
        header_start(each);
        list->headers.count++;
        status = header_begin(each, &list->few, &list->headers.work[i].msg_hdr,
                              access, CALL_BOUNCES);
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
                                arrived ? (long)work->msg_len : -1);
        int put = arrived ? call_put(&program[i].msg_len, &work->msg_len,
                                     sizeof work->msg_len)
                          : ADSM_OK;
        first = first ? first : status ? status : put;
    }
    call_buffer_give(&list->headers.memory);
    return first;
}

/* ---- any of them --------------------------------------------------------- */

static int begin(struct call_list *list, const struct call_part *part,
                 enum call_policy policy, uintptr_t *words)
{
    uintptr_t *word = &words[part->argument], *count = &words[part->count];
    struct call_ranges *ranges = &list->ranges;
    switch ((enum call_role)part->role) {
    case CALL_BULK_IN:
    case CALL_BULK_OUT:
        ranges_start(ranges);
        return call_ranges_begin_one(ranges, &list->few, (void **)word, count,
                                     list->access, policy);
    case CALL_LIST_IN:
    case CALL_LIST_OUT:
        ranges_start(ranges);
        return call_ranges_begin(ranges, &list->few, (struct iovec **)word,
                                 count, list->access, policy);
    case CALL_HEADER_IN:
    case CALL_HEADER_OUT:
        return one_begin(list, list->access, policy, word);
    default:
        return many_begin(list, count, list->access, word);
    }
}

bool call_list_is(enum call_role role)
{
    return role >= CALL_BULK_IN && role <= CALL_HEADERS_OUT;
}

int call_list_begin(struct call_list *list, const struct call_part *part,
                    enum call_policy policy, uintptr_t *words)
{
    list->part = part;
    list->few.used = 0;
    list->program = (void *)words[part->argument];
    list->access = (part->role - CALL_BULK_IN) % 2 ? ADSM_WRITE : ADSM_READ;
    return begin(list, part, policy, words);
}

bool call_list_is_lent(const struct call_list *list)
{
    switch ((enum call_role)list->part->role) {
    case CALL_BULK_OUT:
    case CALL_LIST_OUT:
        return list->ranges.lent;
    case CALL_HEADER_OUT:
        return list->header.one.ranges.lent;
    default:
        return false;
    }
}

int call_list_end(struct call_list *list, long result)
{
    const struct call_part *part = list->part;
    list->part = NULL;
    if (!part)
        return ADSM_OK;
    switch ((enum call_role)part->role) {
    case CALL_BULK_IN:
    case CALL_BULK_OUT:
    case CALL_LIST_IN:
    case CALL_LIST_OUT:
        return call_ranges_end(&list->ranges, result);
    case CALL_HEADER_IN:
    case CALL_HEADER_OUT:
        return one_end(list, list->access, result);
    default:
        return many_end(list, list->access, result);
    }
}

/* ---- the way around ------------------------------------------------------ */

/* What the kernel refuses by its number is not looked at, nor anything while
 * there is no shared memory. */
static bool need_not_look(uintptr_t count)
{
    return count == 0 || count > IOV_MAX || !adsm_fault_is_installed();
}

bool call_list_is_plain(const struct iovec *list, uintptr_t count)
{
    return need_not_look(count) || call_any_list_is_plain(list, count);
}

bool call_any_list_is_plain(const struct iovec *list, uintptr_t count)
{
    if (!hook_is_plain(list, call_bytes(count, sizeof *list)))
        return false;
    for (uintptr_t i = 0; i < count; i++) {
        struct iovec each;
        if (!adsm_look(&each, &list[i], sizeof each))
            return true; /* the kernel says so */
        if (!hook_is_plain(each.iov_base, each.iov_len))
            return false;
    }
    return true;
}

bool call_header_is_plain(const struct msghdr *header)
{
    struct msghdr now;
    if (need_not_look(1))
        return true;
    if (!hook_is_plain(header, sizeof *header))
        return false;
    return !adsm_look(&now, header, sizeof now) ||
           (hook_is_plain(now.msg_name, now.msg_namelen) &&
            hook_is_plain(now.msg_control, now.msg_controllen) &&
            call_list_is_plain(now.msg_iov, now.msg_iovlen));
}

bool call_headers_is_plain(const struct mmsghdr *headers, uintptr_t count)
{
    if ((unsigned)count > IOV_MAX)
        count = IOV_MAX;
    if (need_not_look((unsigned)count))
        return true;
    if (!hook_is_plain(headers, (unsigned)count * sizeof *headers))
        return false;
    for (unsigned i = 0; i < (unsigned)count; i++)
        if (!call_header_is_plain(&headers[i].msg_hdr))
            return false;
    return true;
}
