/* The report's lock, and what is noted under it; see report.h. */
#include "interpose/report/report.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/option.h"
#include "base/output.h"
#include "interpose/hook.h"
#include "interpose/report/hash.h"
#include "interpose/report/write.h"

#include <pthread.h>
#include <unistd.h>

enum wanted { UNKNOWN, NO, YES };

/* A lock of base/lock.h keeps handlers of the program away, by two calls of the
 * system here. That needs nobody: what they call meanwhile is not noted. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    _Atomic int wanted;
    _Atomic bool over; /* the process ends, or is a child of fork */
    uint64_t start_ns;
} report;

static _Thread_local int depth __attribute__((tls_model("initial-exec")));

/* ---- on and off ------------------------------------------------------------ */

__attribute__((constructor)) static void at_start(void)
{
    report.start_ns = adsm_now_ns();
}

/* Nobody else holds the lock, or changes what is under it, while it forks. Not in
 * a handler that may have interrupted who holds it. */
static void before_fork(void)
{
    if (!depth)
        pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    if (!depth)
        pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    report.over = true;
    after_fork();
}

static bool start(void)
{
    adsm_options_load();
    const struct adsm_options *options = adsm_options_get();
    if (!options->report && !options->report_file)
        return false;
    if (!report_sites_start()) {
        adsm_log(ADSM_LOG_WARN,
                 "there is no report: no memory, or no libgcc_s.so.1");
        return false;
    }
    pthread_atfork(before_fork, after_fork, in_child);
    return true;
}

/* Is an option of the report in the environment? By no call of libc. */
static bool is_asked(void)
{
    static const char prefix[] = "ADSM_REPORT";
    for (char **at = environ; at && *at; at++) {
        size_t i = 0;
        while (prefix[i] && (*at)[i] == prefix[i])
            i++;
        if (!prefix[i])
            return true;
    }
    return false;
}

static void start_once(void)
{
    hook_enter();
    bool wanted = start();
    hook_leave();
    atomic_store(&report.wanted, wanted ? YES : NO);
}

bool report_is_wanted(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int wanted = atomic_load_explicit(&report.wanted, memory_order_acquire);
    if (hook_likely(wanted != UNKNOWN))
        return wanted == YES;
    if (is_asked())
        pthread_once(&once, start_once);
    else
        atomic_store(&report.wanted, NO);
    return atomic_load_explicit(&report.wanted, memory_order_acquire) == YES;
}

/* When the program's own exit handlers and destructors have run. Who still is
 * in a call then, in another thread, is let finish what it notes. */
__attribute__((destructor)) static void at_end(void)
{
    if (atomic_load(&report.wanted) != YES || atomic_load(&report.over) ||
        depth)
        return;
    hook_enter();
    depth++;
    pthread_mutex_lock(&lock);
    report.over = true;
    report_memory_end();
    report_downloads_end();
    pthread_mutex_unlock(&lock);
    struct adsm_output before = adsm_output_begin();
    report_write(adsm_now_ns() - report.start_ns);
    adsm_output_end(before);
    depth--;
    hook_leave();
}

/* ---- calls ----------------------------------------------------------------- */

/* Take the lock, unless the report was written meanwhile. */
static bool begin(void)
{
    pthread_mutex_lock(&lock);
    if (!report.over)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

static void finish(void)
{
    pthread_mutex_unlock(&lock);
}

/* Who calls. Modules are looked for without the lock: who loads one has the
 * loader's, and may call us. */
static uint32_t find_site(void)
{
    struct report_chain chain;
    struct report_where where;
    uint32_t site = 0;
    report_chain_take(&chain);
    if (!begin())
        return 0;
    bool known = report_site_find(&chain, &site);
    finish();
    if (known)
        return site;
    report_chain_look(&chain, &where);
    if (begin()) {
        site = report_site_make(&chain, &where);
        finish();
    }
    report_where_end(&where);
    return site;
}

bool report_enter(struct report_call *call)
{
    if (depth || atomic_load_explicit(&report.over, memory_order_relaxed))
        return false;
    depth++;
    call->site = find_site();
    return true;
}

void report_begin(struct report_call *call)
{
    call->begin_ns = adsm_now_ns();
}

void report_end(struct report_call *call)
{
    call->ns = adsm_now_ns() - call->begin_ns;
}

void report_leave(void)
{
    depth--;
}

/* Counted at its site. Return: what it cost */
static struct report_cost count(const struct report_call *call,
                                enum report_way way, uint64_t bytes, bool timed)
{
    struct report_cost cost = {call->site, way, bytes, call->ns, timed};
    report_sum_add(&report_site_at(cost.site)->way[way], bytes, call->ns,
                   timed);
    return cost;
}

void report_came(const struct report_call *call, uint64_t at, uint64_t bytes)
{
    if (!begin())
        return;
    struct report_cost cost = count(call, REPORT_ALLOC, bytes, true);
    report_memory_came(at, bytes, &cost);
    finish();
}

void report_goes(struct report_call *call, uint64_t at)
{
    call->freed = 0;
    if (!begin())
        return;
    report_downloads_seen(NULL, false, NULL);
    call->freed = report_memory_goes(at, call->site);
    finish();
}

void report_freed(const struct report_call *call)
{
    if (!begin())
        return;
    (void)count(call, REPORT_FREE, 0, true);
    struct report_site *made = report_site_at(call->freed);
    made->repeated_ns += made->repeats ? call->ns : 0;
    finish();
}

/* ---- copies ---------------------------------------------------------------- */

uint64_t report_expect(const struct report_copy *c)
{
    uint64_t hash = 0;
    if (!c->host || !c->waits || !c->dense || !begin())
        return 0;
    bool there = report_memory_is_there(c->from, c->host, c->bytes, &hash);
    finish();
    return there && report_hash(c->host, c->bytes) == hash ? hash | 1 : 0;
}

static void learn(const struct report_download *d)
{
    if (report_memory_version(d->from) == d->version)
        report_memory_learnt(d->from, d->host,
                             report_hash(d->host, d->cost.bytes), &d->cost);
}

static void copied_up(const struct report_copy *c, uint64_t hash,
                      const struct report_cost *cost)
{
    report_memory_moved(c->to, 0, c->bytes, cost->ns, cost->timed);
    if (c->dense)
        report_memory_uploaded(c->to, c->host, hash, cost);
    else
        report_memory_blurred(c->to, c->span);
}

static void copied_down(const struct report_copy *c, uint64_t hash,
                        const struct report_cost *cost)
{
    uint64_t known;
    report_memory_moved(c->from, 1, c->bytes, cost->ns, cost->timed);
    report_memory_read(c->from, c->span);
    report_download_again(c->host, c->bytes, cost->site);
    if (!c->dense)
        return;
    if (!c->waits) {
        report_download_add(
            &(struct report_download){c->stream, c->host, c->from,
                                      report_memory_version(c->from), *cost});
        return;
    }
    if (c->there && report_memory_is_known(c->from, c->bytes, &known) &&
        (known | 1) == c->there)
        report_find(REPORT_DUPLICATE, cost, 0);
    report_memory_learnt(c->from, c->host, hash, cost);
}

static void copied_inside(const struct report_copy *c,
                          const struct report_cost *cost)
{
    if (c->from)
        report_memory_read(c->from, c->span);
    if (c->to && c->dense)
        report_memory_overwritten(c->to, cost);
    else if (c->to)
        report_memory_blurred(c->to, c->span);
}

void report_copied(const struct report_call *call, const struct report_copy *c)
{
    bool up = c->host && c->to, down = c->host && c->from;
    uint64_t hash = (up || (down && c->waits)) && c->dense
                        ? report_hash(c->host, c->bytes)
                        : 0;
    if (!begin())
        return;
    struct report_cost cost = count(call,
                                    up     ? REPORT_UP
                                    : down ? REPORT_DOWN
                                           : REPORT_DEVICE,
                                    c->bytes, c->waits || c->pageable);
    if (c->pageable)
        report_find(REPORT_PAGEABLE, &cost, 0);
    if (up)
        copied_up(c, hash, &cost);
    else if (down)
        copied_down(c, hash, &cost);
    else
        copied_inside(c, &cost);
    if (c->waits && down) {
        report_pending_done(c->stream);
        report_downloads_seen(&c->stream, false, learn);
    } else if (c->waits && up) {
        report_downloads_seen(NULL, false, NULL);
    } else {
        report_pending_add(c->stream);
    }
    finish();
}

void report_set(const struct report_call *call, uint64_t to, uint64_t bytes,
                bool dense, struct report_stream stream)
{
    if (!begin())
        return;
    struct report_cost cost = count(call, REPORT_SET, bytes, false);
    if (dense)
        report_memory_overwritten(to, &cost);
    else
        report_memory_blurred(to, bytes);
    report_pending_add(stream);
    finish();
}

/* ---- kernels and waits ------------------------------------------------------ */

void report_launched(const struct report_call *call,
                     const struct report_use *uses, int uses_count,
                     struct report_stream stream)
{
    if (!begin())
        return;
    struct report_cost cost = count(call, REPORT_LAUNCH, 0, true);
    if (uses_count < 0)
        report_memory_unknown();
    else
        report_memory_launched(uses, (unsigned)uses_count, &cost);
    report_pending_add(stream);
    finish();
}

bool report_has_work(struct report_stream stream)
{
    if (!begin())
        return false;
    bool any = report_pending_any(stream);
    finish();
    return any;
}

bool report_is_needless(struct report_stream stream, bool all_of_context)
{
    if (!begin())
        return false;
    bool any = all_of_context ? report_pending_any_of(stream.context)
                              : report_pending_any(stream);
    finish();
    return !any;
}

void report_waited(const struct report_call *call, struct report_stream stream,
                   bool all_of_context, bool needless)
{
    if (!begin())
        return;
    struct report_cost cost = count(call, REPORT_SYNC, 0, true);
    if (needless)
        report_find(REPORT_NEEDLESS_SYNC, &cost, 0);
    if (all_of_context)
        report_pending_done_of(stream.context);
    else
        report_pending_done(stream);
    report_downloads_seen(&stream, all_of_context, learn);
    finish();
}

void report_looked(void)
{
    if (!begin())
        return;
    report_downloads_seen(NULL, false, NULL);
    finish();
}

void report_unknown(struct report_stream stream)
{
    if (!begin())
        return;
    report_downloads_seen(NULL, false, NULL);
    report_memory_unknown();
    report_pending_add(stream);
    finish();
}
