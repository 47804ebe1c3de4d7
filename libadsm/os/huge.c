/* Huge pages by MADV_COLLAPSE: see os/huge.h. */
#include "os/huge.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/option.h"
#include "base/stats.h"
#include "base/system.h"
#include "os/fault.h"
#include "os/vm.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* What a page table of small pages holds is 2 MiB only where those are this
 * large: 64 KiB ones make it 512 MiB. */
enum { SMALL_PAGE = 4096 };

/*
 * The kernel looks long for free memory before it says no. And it waits until
 * each processor has been through its list of new pages, which takes 0.02 ms, or
 * 20 where others keep all of them busy; small pages take 1 then, or 6. After n
 * failures in a row, of one kind or the other, one chance in 2^n is taken,
 * 2^LEAST_OFTEN at last, unless the user wants them all.
 */
enum { LEAST_OFTEN = 8, SLOW_NS = 20000000 };

static struct {
    _Atomic bool impossible;   /* the kernel has said so            */
    _Atomic uint32_t failures; /* in a row                          */
    _Atomic uint32_t to_skip;  /* chances to let pass until the next */
} huge;

static bool is_wished(void)
{
    return adsm_options_get()->huge_pages != ADSM_OPT_HUGE_PAGES_OFF &&
           adsm_vm_page_bytes() == SMALL_PAGE;
}

bool adsm_huge_is_wanted(void)
{
    /* Relaxed: a late answer costs one more try. */
    return is_wished() && !adsm_fault_is_remote() &&
           !atomic_load_explicit(&huge.impossible, memory_order_relaxed);
}

/* Return: 0, or why not (errno's values). */
static int collapse(uintptr_t addr, size_t bytes)
{
    enum { TRIES = 3 }; /* it says EAGAIN when others look at the pages */
    int rc = -1;
    for (int k = 0; k < TRIES && rc != 0; k++) {
        rc = adsm_system_madvise((void *)addr, bytes, MADV_COLLAPSE);
        if (rc != 0 && errno != EAGAIN)
            break;
    }
    return rc == 0 ? 0 : errno;
}

/* A hole cannot be collapsed: each 2 MiB have their first page. It comes by a
 * call, which can fail, where a store would be a SIGBUS. */
static int make(uintptr_t addr, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += ADSM_HUGE_BYTES)
        if (adsm_vm_populate(addr + at, SMALL_PAGE, true) != ADSM_OK)
            return ENOMEM;
    return collapse(addr, bytes);
}

/* Relaxed throughout: torn, they let one chance more or less pass. */
static bool is_too_soon(void)
{
    uint32_t left = atomic_load_explicit(&huge.to_skip, memory_order_relaxed);
    if (left > 0)
        atomic_store_explicit(&huge.to_skip, left - 1, memory_order_relaxed);
    return left > 0 && adsm_options_get()->huge_pages != ADSM_OPT_HUGE_PAGES_ON;
}

static void learn(bool worth_it)
{
    uint32_t n = atomic_load_explicit(&huge.failures, memory_order_relaxed);
    n = worth_it ? 0 : n < LEAST_OFTEN ? n + 1 : n;
    atomic_store_explicit(&huge.failures, n, memory_order_relaxed);
    atomic_store_explicit(&huge.to_skip, (UINT32_C(1) << n) - 1,
                          memory_order_relaxed);
}

/* One chance: `work` on it, or none. Return: 0, or why not */
static int take_chance(int (*work)(uintptr_t, size_t), uintptr_t addr,
                       size_t bytes)
{
    if (bytes == 0 || !adsm_huge_is_wanted() || is_too_soon())
        return EAGAIN;
    int saved_errno = errno;
    uint64_t began = adsm_now_ns();
    int reason = work(addr, bytes);
    uint64_t each = (adsm_now_ns() - began) / (bytes / ADSM_HUGE_BYTES);
    learn(reason == 0 && each < SLOW_NS);
    errno = saved_errno;
    return reason;
}

bool adsm_huge_make(uintptr_t addr, size_t bytes)
{
    int reason = take_chance(make, addr, bytes);
    if (reason == 0)
        ADSM_COUNT(huge_pages, bytes / ADSM_HUGE_BYTES);
    if (reason == EINVAL) {
        /* Relaxed: see adsm_huge_is_wanted. */
        atomic_store_explicit(&huge.impossible, true, memory_order_relaxed);
        adsm_log_signal(ADSM_LOG_INFO, "the kernel makes no huge pages for "
                                       "shared memory: adsm-info --memory");
    }
    return reason == 0;
}

bool adsm_huge_rejoin(uintptr_t addr, size_t bytes)
{
    return take_chance(collapse, addr, bytes) == 0;
}

/* Two pages of a file of its own. Return: as collapse */
static int try(void)
{
    size_t bytes = 2 * ADSM_HUGE_BYTES;
    int fd = memfd_create("adsm-huge", MFD_CLOEXEC), reason = ENOMEM;
    uintptr_t at = 0;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        at = adsm_vm_reserve(bytes, ADSM_HUGE_BYTES, 0);
    if (at != 0 &&
        adsm_vm_map_file(at, bytes, fd, 0, ADSM_PROT_READ_WRITE) == ADSM_OK)
        reason = make(at, bytes);
    if (at != 0)
        adsm_vm_release(at, bytes);
    if (fd >= 0)
        close(fd);
    return reason;
}

static const char *why_refused(int reason)
{
    if (reason != EINVAL)
        return "no 2 MiB of memory are free in one piece just now, or the "
               "limit of the control group is reached: a larger limit or "
               "writing 1 to /proc/sys/vm/compact_memory may help";
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != 0)
        return "switched off for this process (PR_SET_THP_DISABLE), by "
               "who started it";
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0)
        return "the kernel is built without them "
               "(CONFIG_TRANSPARENT_HUGEPAGE)";
    return "the kernel makes none on request: Linux 6.1 and newer do";
}

bool adsm_huge_try(const char **why)
{
    if (!is_wished()) {
        *why = adsm_vm_page_bytes() == SMALL_PAGE
                   ? "ADSM_HUGE_PAGES is off"
                   : "pages of this machine are not 4 KiB, so huge ones are "
                     "larger than 2 MiB";
        return false;
    }
    int reason = try();
    *why = reason == 0 ? "tried, it works: each 2 MiB of an object from 2 MiB "
                         "on get one at their first access. Nothing has to be "
                         "set up"
                       : why_refused(reason);
    return reason == 0;
}
