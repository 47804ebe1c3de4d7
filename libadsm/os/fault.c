/*
 * Faults, whatever the engine: see os/fault.h.
 *
 * Owns the callback and the guard against a fault that repeats for ever. Not
 * the handler itself (fault_<engine>.c), its stack (fault_stack.c), what is
 * known of the faulting thread (fault_thread.c) nor the application's action
 * (fault_chain.c).
 */
#include "os/fault_engine.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"
#include "os/vm.h"

static struct {
    _Atomic(adsm_fault_fn) fn;
    _Atomic(adsm_fault_owns_fn) owns;
    _Atomic(const struct adsm_fault_engine *) engine;
    /* Set before an engine is installed, and not changed afterwards. */
    const struct adsm_fault_program *program;
} fault;

/* Volatile: a handler on the same thread reads and writes them. */
static ADSM_FAULT_TLS volatile struct {
    bool installing;
    /* The last one that was answered, for the guard. */
    struct {
        uintptr_t addr, ip;
        enum adsm_access access;
        uint64_t closings;
    } last;
} fault_me;

static const struct adsm_fault_engine *const fault_engines[] = {
    [ADSM_OPT_FAULT_ENGINE_AUTO] = NULL, /* see fault_choose */
    [ADSM_OPT_FAULT_ENGINE_SIGSEGV] = &adsm_fault_sigsegv,
    [ADSM_OPT_FAULT_ENGINE_ASYNC] = &adsm_fault_async,
    [ADSM_OPT_FAULT_ENGINE_UFFD] = &adsm_fault_uffd,
};

static const char *fault_refused(const struct adsm_fault_engine *engine)
{
    return engine->refused != NULL ? engine->refused() : NULL;
}

/* The engine that the option names, or the quickest where the choice is ours. */
static const struct adsm_fault_engine *fault_choose(const char **why)
{
    const struct adsm_fault_engine *wanted =
        fault_engines[adsm_options_get()->fault_engine];
    if (wanted == NULL)
        wanted = &adsm_fault_async;
    *why = fault_refused(wanted);
    return *why == NULL ? wanted : &adsm_fault_sigsegv;
}

bool adsm_fault_engine_info(size_t i, struct adsm_fault_engine_info *info)
{
    static const struct adsm_fault_engine *const all[] = {
        &adsm_fault_sigsegv, &adsm_fault_async, &adsm_fault_uffd};
    const char *why;
    if (i >= sizeof all / sizeof *all)
        return false;
    *info = (struct adsm_fault_engine_info){.name = all[i]->name,
                                            .refused = fault_refused(all[i]),
                                            .is_chosen =
                                                all[i] == fault_choose(&why)};
    return true;
}

static adsm_status_t fault_install(const struct adsm_fault_engine *engine)
{
    adsm_status_t status = ADSM_OK;
    if (!engine->remote)
        status = adsm_fault_stack_init();
    if (status == ADSM_OK && !engine->remote)
        status = adsm_fault_chain_init();
    return status == ADSM_OK ? engine->init() : status;
}

/* Install the engine chosen, or the one that every machine can run. */
static adsm_status_t fault_install_any(const struct adsm_fault_engine **engine)
{
    const char *why;
    *engine = fault_choose(&why);
    adsm_status_t status = fault_install(*engine);
    if (status != ADSM_OK && *engine != &adsm_fault_sigsegv) {
        why = (*engine)->remote
                  ? "no thread can be started, or no file descriptor is left"
                  : "no file descriptor is left";
        *engine = &adsm_fault_sigsegv;
        status = fault_install(*engine);
    }
    const struct adsm_fault_engine *wanted =
        fault_engines[adsm_options_get()->fault_engine];
    if (why != NULL && wanted != NULL)
        adsm_log(ADSM_LOG_WARN, "fault engine %s: %s; %s is used", wanted->name,
                 why, (*engine)->name);
    return status;
}

adsm_status_t adsm_fault_init(adsm_fault_fn fn)
{
    if (adsm_fault_is_installed() || fn == NULL)
        return ADSM_E_INVALID;
    const struct adsm_fault_engine *engine;
    fault_me.installing = true;
    atomic_store_explicit(&fault.fn, fn, memory_order_relaxed);
    adsm_status_t status = fault_install_any(&engine);
    /* Release: a thread that sees the engine sees the action it keeps. */
    if (status == ADSM_OK)
        atomic_store_explicit(&fault.engine, engine, memory_order_release);
    fault_me.installing = false;
    if (status == ADSM_OK && fault.program != NULL && !engine->remote)
        fault.program->begins();
    return status;
}

void adsm_fault_fini(void)
{
    const struct adsm_fault_engine *engine = adsm_fault_engine();
    if (engine == NULL)
        return;
    fault_me.installing = true;
    engine->fini();
    if (!engine->remote)
        adsm_fault_chain_fini();
    atomic_store_explicit(&fault.engine, NULL, memory_order_release);
    fault_me.installing = false;
}

const struct adsm_fault_engine *adsm_fault_engine(void)
{
    return atomic_load_explicit(&fault.engine, memory_order_acquire);
}

bool adsm_fault_is_installed(void)
{
    return adsm_fault_engine() != NULL;
}

bool adsm_fault_keeps_action(void)
{
    const struct adsm_fault_engine *engine = adsm_fault_engine();
    return engine != NULL && !engine->remote && !fault_me.installing;
}

void adsm_fault_set_program(const struct adsm_fault_program *program)
{
    fault.program = program;
}

void adsm_fault_open_thread(void)
{
    static const uint64_t segv = UINT64_C(1) << (SIGSEGV - 1);
    uint64_t before = 0;
    if (fault.program != NULL || !adsm_fault_keeps_action())
        return;
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &segv, &before, sizeof before);
    if (before & segv)
        adsm_log_once(
            ADSM_LOG_WARN,
            "a thread had SIGSEGV blocked: it is open there from now "
            "on. One that blocks it, and touches shared memory without "
            "a call of libadsm between, ends the program: leave "
            "SIGSEGV out of masks");
}

bool adsm_fault_is_kept(const siginfo_t *sent, uint64_t mask)
{
    return fault.program != NULL && fault.program->keeps(sent, mask);
}

bool adsm_fault_is_blocked(uint64_t mask)
{
    return fault.program != NULL && fault.program->blocks(mask);
}

void adsm_fault_set_owner(adsm_fault_owns_fn owns)
{
    atomic_store_explicit(&fault.owns, owns, memory_order_relaxed);
}

/* To answer would need the driver, whose locks the faulting thread may hold. */
static enum adsm_fault_driver fault_from_driver(uintptr_t addr)
{
    adsm_fault_owns_fn owns =
        atomic_load_explicit(&fault.owns, memory_order_relaxed);
    enum adsm_fault_driver from = adsm_fault_from_driver();
    if (from == ADSM_FAULT_NO_DRIVER || owns == NULL || !owns(addr))
        return ADSM_FAULT_NO_DRIVER;
    if (from == ADSM_FAULT_DRIVER)
        adsm_log_signal_address(
            ADSM_LOG_ERROR,
            "the CUDA driver touched a shared object on the CPU, or a function "
            "that stands for a kernel did; pass it the address from a call "
            "that libadsm sees. Address",
            addr);
    return from;
}

/*
 * The same instruction faults on the same address again although no range was
 * closed since it was opened: the access kind must have been wrong. Writing is
 * the kind that opens everything. (A kind that comes back after an
 * invalidation is right: taking it for a write would cost a needless upload.)
 */
static enum adsm_access fault_guard(const struct adsm_fault_site *site)
{
    if (site->addr == fault_me.last.addr && site->ip == fault_me.last.ip &&
        site->access == fault_me.last.access &&
        adsm_vm_closings() == fault_me.last.closings)
        return ADSM_WRITE;
    return site->access;
}

bool adsm_fault_answer(const struct adsm_fault_site *site)
{
    enum adsm_fault_driver from = fault_from_driver(site->addr);
    if (from != ADSM_FAULT_NO_DRIVER)
        return from == ADSM_FAULT_MAYBE_DRIVER;
    adsm_fault_fn fn = atomic_load_explicit(&fault.fn, memory_order_relaxed);
    return fn(site->addr, site->access, site->ip);
}

bool adsm_fault_resolve(const struct adsm_fault_site *site)
{
    struct adsm_fault_site asked = *site;
    asked.access = fault_guard(site);
    if (!adsm_fault_answer(&asked)) {
        fault_me.last.addr = 0;
        return false;
    }
    fault_me.last.addr = site->addr;
    fault_me.last.ip = site->ip;
    fault_me.last.access = site->access;
    fault_me.last.closings = adsm_vm_closings();
    return true;
}
