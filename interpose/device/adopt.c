/* Where memory comes and goes that is the driver's own; see adopt.h. */
#include "interpose/device/adopt.h"

#include "accel/address/address.h"
#include "base/log.h"
#include "base/option.h"
#include "interpose/device/outside.h"
#include "interpose/device/serve.h"
#include "interpose/hook.h"
#include "interpose/report/report.h"
#include "libadsm/init.h"
#include "mm/object/passing.h"

static bool is_wanted(void)
{
    const char *why;
    if (report_is_wanted())
        return false;
    adsm_options_load();
    bool adopts = adsm_address_adopts(&why);
    if (adsm_options_get()->address == ADSM_OPT_ADDRESS_ADOPT && !adopts)
        adsm_log_once(ADSM_LOG_WARN,
                      "ADSM_ADDRESS=adopt cannot be had: %s; memory is shared "
                      "when it is allocated",
                      why);
    return adopts;
}

static bool is_in_driver(void)
{
    return hook_driver > 0;
}

bool device_adopts(void)
{
    enum { UNKNOWN, NO, YES };
    static _Atomic int known;
    /* Relaxed: both sides of a race find the same. */
    int adopts = atomic_load_explicit(&known, memory_order_relaxed);
    if (hook_likely(adopts != UNKNOWN))
        return adopts == YES;
    hook_enter();
    adopts = is_wanted() && device_is_up() ? YES : NO;
    adsm_adopt_unless(is_in_driver);
    hook_leave();
    atomic_store_explicit(&known, adopts, memory_order_relaxed);
    return adopts == YES;
}

/* A child of fork has no device memory, and no thread that could let go of a
 * lock. */
static bool is_at_work(void)
{
    return !hook_passes() && device_adopts() && adsm_is_up();
}

static void note(uint64_t begin, size_t bytes, bool mapped)
{
    if (!is_at_work())
        return;
    adsm_placeholder_mark(begin, bytes);
    /* Whoever has asked the driver before it had this memory has barred others
     * by then, and is waited for. */
    if (!adsm_passing_is_barred())
        return;
    hook_enter();
    adsm_adopt_note(begin, bytes, mapped);
    hook_leave();
}

void device_came(uint64_t begin, size_t bytes)
{
    note(begin, bytes, false);
}

void device_came_mapped(uint64_t begin, size_t bytes)
{
    note(begin, bytes, true);
}

void device_came_variable(uint64_t begin, size_t bytes)
{
    if (is_at_work()) {
        adsm_placeholder_mark(begin, bytes);
        adsm_placeholder_mark_variable(begin, bytes);
    }
    note(begin, bytes, false);
}

bool device_stay(void)
{
    bool stays = is_at_work();
    if (stays)
        adsm_adopt_stay();
    return stays;
}

void device_leave(const bool *stays)
{
    if (*stays)
        adsm_adopt_leave();
}

/* Nobody adopts until device_gone; `stops` where something may be adopted. */
static struct device_going begin(void)
{
    struct device_going going = {false, false};
    if (hook_passes())
        return going;
    going.passes = adsm_passing_begin();
    if (going.passes || !is_at_work())
        return going;
    hook_enter();
    adsm_adopt_stop();
    hook_leave();
    going.stops = true;
    return going;
}

struct device_going device_goes(uint64_t address)
{
    struct device_going going = begin();
    if (going.stops) {
        hook_enter();
        if (device_outside_is_theirs(address))
            adsm_adopt_end_range(address, 1);
        else
            adsm_adopt_end(address);
        hook_leave();
    }
    return going;
}

struct device_going device_range_goes(uint64_t address, size_t bytes)
{
    struct device_going going = begin();
    if (going.stops) {
        hook_enter();
        adsm_adopt_end_range(address, bytes);
        hook_leave();
    }
    return going;
}

struct device_going device_variables_go(void)
{
    struct device_going going = begin();
    if (going.stops) {
        hook_enter();
        adsm_adopt_end_all();
        hook_leave();
    }
    return going;
}

struct device_going device_context_goes(void)
{
    struct device_going going = {false, false};
    if (is_at_work()) {
        hook_enter();
        going.stops = adsm_adopt_part();
        hook_leave();
    }
    return going;
}

void device_gone(struct device_going going)
{
    if (going.passes)
        adsm_passing_end();
    if (going.stops)
        adsm_adopt_go_on();
}
