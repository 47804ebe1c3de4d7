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

#include "base/log.h"
#include "base/option.h"
#include "os/vm.h"

static _Atomic(adsm_fault_fn) fault_fn;
static _Atomic(adsm_fault_owns_fn) fault_owns;
static _Atomic(const struct adsm_fault_engine *) fault_engine_in_use;

/* Volatile: a handler on the same thread reads and writes them. */
static ADSM_FAULT_TLS volatile bool fault_installing;

/* The last fault of the thread that was answered, for the guard. */
static ADSM_FAULT_TLS volatile struct {
    uintptr_t addr, ip;
    enum adsm_access access;
    uint64_t closings;
} fault_last;

/* Set before an engine is installed, and not changed afterwards. */
static const struct adsm_fault_program *fault_program;

static const struct adsm_fault_engine *const fault_engines[] = {
    [ADSM_OPT_FAULT_ENGINE_SIGSEGV] = &adsm_fault_sigsegv,
};

adsm_status_t adsm_fault_init(adsm_fault_fn fn)
{
    if (adsm_fault_is_installed() || fn == NULL)
        return ADSM_E_INVALID;
    const struct adsm_fault_engine *engine =
        fault_engines[adsm_options_get()->fault_engine];
    fault_installing = true;
    atomic_store_explicit(&fault_fn, fn, memory_order_relaxed);
    adsm_status_t status = adsm_fault_stack_init();
    if (status == ADSM_OK)
        status = adsm_fault_chain_init();
    if (status == ADSM_OK)
        status = engine->init();
    /* Release: a thread that sees the engine sees the action it keeps. */
    if (status == ADSM_OK)
        atomic_store_explicit(&fault_engine_in_use, engine,
                              memory_order_release);
    fault_installing = false;
    if (status == ADSM_OK && fault_program != NULL)
        fault_program->begins();
    return status;
}

void adsm_fault_fini(void)
{
    const struct adsm_fault_engine *engine = adsm_fault_engine();
    if (engine == NULL)
        return;
    fault_installing = true;
    engine->fini();
    adsm_fault_chain_fini();
    atomic_store_explicit(&fault_engine_in_use, NULL, memory_order_release);
    fault_installing = false;
}

const struct adsm_fault_engine *adsm_fault_engine(void)
{
    return atomic_load_explicit(&fault_engine_in_use, memory_order_acquire);
}

bool adsm_fault_is_installed(void)
{
    return adsm_fault_engine() != NULL;
}

bool adsm_fault_keeps_action(void)
{
    return adsm_fault_is_installed() && !fault_installing;
}

void adsm_fault_set_program(const struct adsm_fault_program *program)
{
    fault_program = program;
}

bool adsm_fault_is_kept(const siginfo_t *sent)
{
    return fault_program != NULL && fault_program->keeps(sent);
}

void adsm_fault_set_owner(adsm_fault_owns_fn owns)
{
    atomic_store_explicit(&fault_owns, owns, memory_order_relaxed);
}

/* To answer would need the driver, whose locks the faulting thread may hold. */
static bool fault_is_in_driver(uintptr_t addr)
{
    adsm_fault_owns_fn owns =
        atomic_load_explicit(&fault_owns, memory_order_relaxed);
    if (!adsm_fault_is_from_driver() || owns == NULL || !owns(addr))
        return false;
    adsm_log_signal_address(
        ADSM_LOG_ERROR,
        "the CUDA driver touched a shared object on the CPU; pass it the "
        "address from a call that libadsm sees. Address",
        addr);
    return true;
}

/*
 * The same instruction faults on the same address again although no range was
 * closed since it was opened: the access kind must have been wrong. Writing is
 * the kind that opens everything. (A kind that comes back after an
 * invalidation is right: taking it for a write would cost a needless upload.)
 */
static enum adsm_access fault_guard(const struct adsm_fault_site *site)
{
    if (site->addr == fault_last.addr && site->ip == fault_last.ip &&
        site->access == fault_last.access &&
        adsm_vm_closings() == fault_last.closings)
        return ADSM_WRITE;
    return site->access;
}

bool adsm_fault_answer(uintptr_t addr, enum adsm_access access)
{
    if (fault_is_in_driver(addr))
        return false;
    adsm_fault_fn fn = atomic_load_explicit(&fault_fn, memory_order_relaxed);
    return fn(addr, access);
}

bool adsm_fault_resolve(const struct adsm_fault_site *site)
{
    if (!adsm_fault_answer(site->addr, fault_guard(site))) {
        fault_last.addr = 0;
        return false;
    }
    fault_last.addr = site->addr;
    fault_last.ip = site->ip;
    fault_last.access = site->access;
    fault_last.closings = adsm_vm_closings();
    return true;
}
