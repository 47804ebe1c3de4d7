/*
 * Bring-up in the order of the layers; teardown prints and writes what the
 * options ask for. Memory and device are left to the end of the process: other
 * threads may still use them while exit handlers run.
 */
#include "init.h"

#include "accel/accel.h"
#include "base/cancel.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/option.h"
#include "base/output.h"
#include "base/stats.h"
#include "base/system.h"
#include "base/trace.h"
#include "call/queue.h"
#include "code/learned.h"
#include "code/model_file.h"
#include "mm/doors/fetcher.h"
#include "mm/doors/touch.h"
#include "mm/object/holders.h"
#include "mm/object/index.h"
#include "mm/object/placeholder.h"
#include "mm/state/coherence.h"
#include "os/real.h"
#include "range/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    pthread_once_t once;
    adsm_status_t outcome;
    _Atomic bool up;
    _Atomic bool forked;
    /* True on a page that children get empty, also those of a raw clone. It is
     * set before the page is seen here: other threads ask while one starts. */
    _Atomic(_Atomic bool *) alive;
} runtime = {.once = PTHREAD_ONCE_INIT};

static bool is_forked(void)
{
    const _Atomic bool *alive = atomic_load(&runtime.alive);
    return atomic_load(&runtime.forked) || (alive && !atomic_load(alive));
}

static void write_report(const struct adsm_options *options)
{
    if (options->stats)
        adsm_stats_print(stderr);
    if (options->stats_file &&
        adsm_stats_write_json(options->stats_file) != ADSM_OK)
        adsm_log(ADSM_LOG_WARN, "cannot write counters to %s: %m",
                 options->stats_file);
    if (options->trace && adsm_trace_finish() != ADSM_OK)
        adsm_log(ADSM_LOG_WARN, "cannot write the trace to %s: %m",
                 options->trace);
}

static void report(void)
{
    if (is_forked())
        return;
    adsm_fetcher_end();
    adsm_queue_end();
    struct adsm_output before = adsm_output_begin();
    write_report(adsm_options_get());
    adsm_learned_save();
    adsm_output_end(before);
}

/* The child has none of the parent's shared pages (MADV_DONTFORK) and must not
 * touch the driver, nor wait for locks of threads that it does not have: to it
 * shared addresses are bad ones like any other. */
static void in_child(void)
{
    atomic_store(&runtime.forked, true);
    atomic_store(&runtime.up, false);
    adsm_index_forget();
    adsm_placeholder_forget();
    adsm_quiet_leave();
}

/* While libc forks it holds all locks of malloc. A handler of the program that
 * came then, and touched shared memory, could wait for a thread that in the
 * driver waits for one of these: it comes behind the fork. */
static void expect_fork(void)
{
    enum { PAGE = 4096 };
    void *page = adsm_system_mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_atfork(adsm_quiet_enter, adsm_quiet_leave, in_child);
    if (page == MAP_FAILED ||
        adsm_system_madvise(page, PAGE, MADV_WIPEONFORK) != 0)
        return;
    atomic_store((_Atomic bool *)page, true);
    atomic_store(&runtime.alive, page);
    adsm_index_expect_fork();
    adsm_placeholder_expect_fork();
}

static bool owns(uintptr_t address)
{
    return adsm_index_find((void *)address) != NULL;
}

/* A table that the engine could not run is refused here, once, and another one
 * used: what a program computes does not depend on which. */
static adsm_status_t start_protocol(const struct adsm_options *options)
{
    const struct adsm_protocol *wanted = adsm_protocol_of(options->protocol);
    char why[ADSM_PROTOCOL_WHY];
    const struct adsm_protocol *sound = adsm_protocol_sound(wanted, why);
    if (sound != wanted)
        adsm_log(ADSM_LOG_ERROR,
                 "the table of protocol %s is broken: %s; %s is "
                 "used",
                 wanted->name, why, sound ? sound->name : "none");
    if (!sound)
        return ADSM_E_INVALID;
    adsm_coherence_init(sound, &adsm_protocol_direct, options);
    return ADSM_OK;
}

static void start_trace(const struct adsm_options *options, uint64_t began)
{
    if (!options->trace)
        return;
    if (adsm_trace_start(options->trace, (size_t)options->trace_events,
                         began) != ADSM_OK)
        adsm_log(ADSM_LOG_WARN, "cannot trace to %s: no memory for %d events",
                 options->trace, (int)options->trace_events);
    adsm_trace_end(ADSM_TRACE_setup, "start", began, -1, NULL);
}

static adsm_status_t start(void)
{
    uint64_t began = adsm_now_ns();
    adsm_options_load();
    const struct adsm_options *options = adsm_options_get();
    (void)adsm_real();
    adsm_model_files_init();
    int rc = adsm_accel_init();
    if (rc != ADSM_OK)
        return rc;
    rc = start_protocol(options);
    if (rc != ADSM_OK)
        return rc;
    adsm_holders_set(&adsm_ranged_ops);
    adsm_queue_init();
    adsm_fault_set_owner(owns);
    rc = adsm_fault_init(adsm_touch);
    if (rc != ADSM_OK)
        return rc;
    start_trace(options, began);
    expect_fork();
    atexit(report);
    return ADSM_OK;
}

static void start_once(void)
{
    runtime.outcome = start();
    atomic_store(&runtime.up, runtime.outcome == ADSM_OK);
}

adsm_status_t adsm_init(void)
{
    if (is_forked())
        return ADSM_E_FORKED;
    ADSM_NOT_CANCELLED; /* a thread that ended in there would have it redone */
    pthread_once(&runtime.once, start_once);
    return runtime.outcome;
}

bool adsm_is_up(void)
{
    return atomic_load_explicit(&runtime.up, memory_order_acquire) &&
           !is_forked();
}
