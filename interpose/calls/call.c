/* One call: other pointers for shared memory, and what came back. */
#include "interpose/calls/call.h"
#include "base/status.h"
#include "base/trace.h"
#include "interpose/calls/command.h"
#include "interpose/calls/in_place.h"
#include "interpose/calls/hold.h"
#include "interpose/calls/list.h"
#include "interpose/calls/request.h"
#include "interpose/calls/wait.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct call {
    const struct call_shape *shape;
    uintptr_t words[CALL_WORDS];
    uintptr_t given[CALL_WORDS]; /* as the program passed them */
    struct call_hold holds[CALL_PARTS];
    const struct call_part *held[CALL_PARTS];
    int count;
    const struct call_part *bulk; /* the part for `list`; NULL: none */
    struct call_list list;
    struct call_few few;
};

/* Units of a part: an argument says how many, where that is not one. */
static uintptr_t units_of(const struct call_part *part, const uintptr_t *words)
{
    return part->count < CALL_WORDS ? words[part->count] : 1;
}

/* Put a copy in the place of `bytes` at argument `part->argument`. */
static int hold(struct call *call, const struct call_part *part, size_t bytes,
                enum call_way way)
{
    struct call_hold *hold = &call->holds[call->count];
    void *program = (void *)call->given[part->argument];
    int status = part->role == CALL_PATH || part->role == CALL_TEXT
                     ? call_hold_name(hold, &call->few, program, bytes)
                     : call_hold(hold, &call->few, program, bytes, way);
    if (status || !hold->work)
        return status;
    call->held[call->count++] = part;
    call->words[part->argument] = (uintptr_t)hold->work;
    return ADSM_OK;
}

/* Bytes of an address, as the program says in a socklen_t of its own. */
static size_t sized_bytes(const struct call *call, const struct call_part *part)
{
    const void *where = (const void *)call->given[part->count];
    socklen_t length = 0;
    size_t done;
    if (call_get(&length, where, sizeof length, &done) || done < sizeof length)
        return 0;
    return length < part->unit ? length : part->unit;
}

static int begin_part(struct call *call, const struct call_part *part)
{
    uintptr_t count = units_of(part, call->given);
    size_t bytes = call_bytes(count, part->unit);
    switch ((enum call_role)part->role) {
    case CALL_IN:
    case CALL_OUT:
        if (bytes > call_most_bytes)
            return ADSM_OK; /* the kernel refuses the number */
        return hold(call, part, bytes,
                    part->role == CALL_IN ? CALL_READS : CALL_CHANGES);
    case CALL_SIZED:
        return hold(call, part, sized_bytes(call, part), CALL_CHANGES);
    case CALL_FDSET:
        return hold(call, part, call_set_bytes(count), CALL_CHANGES);
    case CALL_PATH:
        return hold(call, part, CALL_PATH_MOST, CALL_READS);
    case CALL_TEXT:
        return hold(call, part, CALL_TEXT_MOST, CALL_READS);
    case CALL_FILL: /* compared, since records have holes */
        return hold(call, part, bytes, CALL_CHANGES);
    case CALL_REQUEST:
        return hold(call, part, call_ioctl_bytes(count), CALL_CHANGES);
    case CALL_COMMAND:
        bytes = call_command_bytes(part->unit, part->argument, call->given);
        return hold(call, part, bytes, CALL_CHANGES);
    default:
        if (call_list_is(part->role))
            call->bulk = part;
        return ADSM_OK;
    }
}

/* ---- what came back ------------------------------------------------------ */

static int end(struct call *call, long result, bool failed)
{
    int status = call_list_end(&call->list, failed ? -1 : result);
    for (int i = 0; i < call->count; i++) {
        size_t filled =
            failed ? 0 : call_bytes((uintptr_t)result, call->held[i]->unit);
        int put = call_release(&call->holds[i], filled);
        status = status ? status : put;
    }
    call->count = 0;
    return status;
}

/* The thread was cancelled where it waited in the kernel. */
static void give_up(void *call)
{
    end(call, -1, true);
}

/* ---- calls --------------------------------------------------------------- */

static bool gives_number(const struct call_shape *shape)
{
    const struct call_part *part = shape->parts;
    for (; part->role != CALL_END; part++)
        if (part->role == CALL_NUMBER)
            return true;
    return false;
}

static bool has_failed(const struct call_shape *shape, long result)
{
    return shape->pointer        ? result == 0
           : gives_number(shape) ? result != 0
                                 : result < 0;
}

static long fail(const struct call_shape *shape, int status)
{
    if (status != ADSM_E_NOT_SHARED) /* memory that is not there, or no more */
        hook_failed(shape->name, status);
    errno = pieces_errno(status);
    return shape->pointer ? 0 : gives_number(shape) ? errno : -1;
}

/* A pointer that the call gives may be the one that it got. */
static long exchange_result(const struct call *call, long result)
{
    for (int i = 0; call->shape->pointer && i < call->count; i++)
        if (result == (long)call->holds[i].work)
            return (long)call->holds[i].program;
    return result;
}

/* The bulk arguments as the program gave them. */
static int begin_bulk(struct call *call, const struct call_source *source,
                      enum call_policy policy)
{
    const struct call_part *bulk = call->bulk;
    int saved = errno;
    call->words[bulk->argument] = call->given[bulk->argument];
    if (bulk->count != CALL_ONE)
        call->words[bulk->count] = call->given[bulk->count];
    if (source->waits && source->waits->count < CALL_WORDS)
        call->words[source->waits->count] = call->given[source->waits->count];
    int status = call_list_begin(&call->list, bulk, policy, call->words);
    errno = saved;
    return status;
}

enum attempt { THROUGH, EMPTY, BOUNCED };

/* Issue a call that may wait with its memory lent, told not to. No handler
 * interrupts it, since blocks are held; it takes as long as a copy. BOUNCED:
 * the memory is small, and not lent; the call is still to be issued. */
static enum attempt try_bulk(struct call *call,
                             const struct call_source *source,
                             call_issue_fn *issue, void *context, long *result,
                             int *status)
{
    enum attempt attempt = BOUNCED;
    adsm_quiet_enter();
    *status = begin_bulk(call, source, CALL_LENDS_LARGE);
    if (*status) {
        attempt = THROUGH;
    } else if (call_list_is_lent(&call->list)) {
        *result =
            call_source_try(source, call->bulk, call->words, issue, context);
        int saved = errno;
        attempt = *result < 0 && errno == EAGAIN ? EMPTY : THROUGH;
        *status = call_list_end(&call->list, *result);
        errno = saved;
    }
    adsm_quiet_leave();
    return attempt;
}

/* Issue a call with bulk data. What it gives is in *result. */
static int issue_bulk(struct call *call, call_issue_fn *issue, void *context,
                      long *result)
{
    const struct call_part *bulk = call->bulk;
    struct call_source source;
    size_t bytes = bulk->count == CALL_ONE ? 0 : call->given[bulk->count];
    int status = ADSM_OK, saved = errno;
    enum attempt attempt = EMPTY;
    enum call_policy policy =
        call_source_look(&source, call->shape, call->given, bytes);
    if (policy == CALL_LENDS_LARGE)
        pthread_testcancel(); /* a try is no place for that */
    while (policy == CALL_LENDS_LARGE && attempt == EMPTY) {
        attempt = try_bulk(call, &source, issue, context, result, &status);
        if (attempt == THROUGH)
            return status;
        if (attempt == EMPTY) {
            errno = saved;
            if (status || !call_source_wait(&source, &policy))
                return status;
        }
    }
    if (attempt == EMPTY)
        status = begin_bulk(call, &source, policy);
    if (!status)
        *result = issue(context, call->words);
    return status;
}

/* All up to the call's end. Return: why it could not be issued, or ADSM_OK. */
static int run(struct call *call, call_issue_fn *issue, void *context,
               long *result)
{
    const struct call_part *part = call->shape->parts;
    int status = ADSM_OK, saved = errno;
    for (; part->role != CALL_END && !status; part++)
        status = begin_part(call, part);
    errno = saved;
    if (status)
        return status;
    if (call->bulk)
        return issue_bulk(call, issue, context, result);
    *result = issue(context, call->words);
    return ADSM_OK;
}

/* The same where the thread may be cancelled. */
static int run_through(struct call *call, call_issue_fn *issue, void *context,
                       long *result)
{
    int status;
    pthread_cleanup_push(give_up, call);
    status = run(call, issue, context, result);
    pthread_cleanup_pop(0);
    return status;
}

static long share(const struct call_shape *shape, const uintptr_t *words,
                  call_issue_fn *issue, void *context)
{
    struct call call;
    long result = -1;
    if (call_in_place(shape, words, issue, context, &result))
        return result;
    call.shape = shape;
    call.bulk = NULL;
    call.count = 0;
    call.few.used = 0;
    call.list.part = NULL;
    memcpy(call.given, words, sizeof call.given);
    memcpy(call.words, words, sizeof call.words);
    int status = run_through(&call, issue, context, &result);
    int saved = errno;
    bool failed = status || has_failed(shape, result);
    long given = exchange_result(&call, result);
    int put = end(&call, result, failed);
    errno = saved;
    if (status || (put && !failed))
        return fail(shape, status ? status : put);
    return given;
}

long call_shared(const struct call_shape *shape, const uintptr_t *words,
                 call_issue_fn *issue, void *context)
{
    uint64_t start = adsm_trace_begin();
    long result = share(shape, words, issue, context);
    adsm_trace_end(ADSM_TRACE_io, shape->name, start, -1, NULL);
    return result;
}

/* ---- the way around ------------------------------------------------------ */

static bool part_is_plain(const struct call_part *part, const uintptr_t *words)
{
    const void *at = (const void *)words[part->argument];
    uintptr_t count = units_of(part, words);
    switch ((enum call_role)part->role) {
    case CALL_PATH:
        return hook_is_plain(at, CALL_PATH_MOST);
    case CALL_TEXT:
        return hook_is_plain(at, 1);
    case CALL_SIZED:
        return hook_is_plain(at, part->unit);
    case CALL_FDSET:
        return hook_is_plain(at, call_set_bytes(count));
    case CALL_LIST_IN:
    case CALL_LIST_OUT:
        return call_list_is_plain(at, count);
    case CALL_HEADER_IN:
    case CALL_HEADER_OUT:
        return call_header_is_plain(at);
    case CALL_HEADERS_IN:
    case CALL_HEADERS_OUT:
        return call_headers_is_plain(at, count);
    case CALL_REQUEST:
        return hook_is_plain(at, CALL_REQUEST_MOST);
    case CALL_COMMAND:
        return hook_is_plain(at, CALL_COMMAND_MOST);
    case CALL_NUMBER:
    case CALL_WAITS:
    case CALL_END:
        return true;
    default:
        return hook_is_plain(at, call_bytes(count, part->unit));
    }
}

bool call_is_plain(const struct call_shape *shape, const uintptr_t *words)
{
    const struct call_part *part = shape->parts;
    for (; part->role != CALL_END; part++)
        if (!part_is_plain(part, words))
            return false;
    return true;
}
