/*
 * Answering a fault on a stack of our own.
 *
 * Where the kernel puts the handler there may be no room: a coroutine's stack
 * has a few KiB and the next one below it, an alternate one is often 8 KiB.
 * So only the kernel's frame and a few small ones lie there, and the callback
 * runs on a stack from here. Stacks belong to faults, not to threads: nothing
 * is to be done when a thread ends, however it was made and however it ends.
 *
 * No lock: a place of the pool changes hands by one atomic exchange.
 */
#include "os/fault_engine.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"
#include "os/vm.h"

/* What a driver may need; only what was used takes memory. */
#define STACK_BYTES ((size_t)256 << 10)
#define STACKS_KEPT 64

static _Atomic uintptr_t stacks_kept[STACKS_KEPT]; /* lowest byte; 0: none */

/* Inherited by fork, unlike shared memory: the child's faults come here too. */
static uintptr_t stack_create(void)
{
    size_t guard = adsm_vm_page_bytes();
    void *at = adsm_system_mmap(
        NULL, guard + STACK_BYTES, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED)
        return 0;
    adsm_system_mprotect(at, guard, PROT_NONE);
    return (uintptr_t)at + guard;
}

static uintptr_t stack_take(void)
{
    for (size_t i = 0; i < STACKS_KEPT; i++) {
        if (atomic_load_explicit(&stacks_kept[i], memory_order_relaxed) == 0)
            continue;
        /* Acquire, with the release below: its last user is done with it. */
        uintptr_t stack =
            atomic_exchange_explicit(&stacks_kept[i], 0, memory_order_acquire);
        if (stack != 0)
            return stack;
    }
    return stack_create();
}

static void stack_give(uintptr_t stack)
{
    for (size_t i = 0; i < STACKS_KEPT; i++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong_explicit(&stacks_kept[i], &none,
                                                    stack, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    size_t guard = adsm_vm_page_bytes();
    adsm_system_munmap((void *)(stack - guard), guard + STACK_BYTES);
}

adsm_status_t adsm_fault_stack_init(void)
{
    uintptr_t stack = stack_take();
    if (stack == 0)
        return ADSM_E_SYSTEM;
    stack_give(stack);
    return ADSM_OK;
}

/* What the callback's side of the change needs to know. */
struct stack_visit {
    const struct adsm_fault_site *site;
    bool leaves_alternate;
};

/*
 * Runs on the stack of ours. For the kernel the alternate stack is unused from
 * here on, and a signal with a handler there (SIGSYS, say) would be put over
 * the frames that are still needed: without an alternate stack it comes here.
 */
static bool stack_serve(const struct stack_visit *visit)
{
    static const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t alternate;
    if (!visit->leaves_alternate)
        return adsm_fault_resolve(visit->site);
    syscall(SYS_sigaltstack, &none, &alternate);
    bool resolved = adsm_fault_resolve(visit->site);
    syscall(SYS_sigaltstack, &alternate, NULL);
    return resolved;
}

/* Below, the address of its frame makes the caller keep a frame pointer, from
 * which debuggers find back across the change. */
#if defined(__x86_64__)
static bool stack_call(uintptr_t top, const struct stack_visit *visit)
{
    bool (*fn)(const struct stack_visit *) = stack_serve;
    bool result;
    __builtin_frame_address(0);
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[fn]\n\t"
                     "movq %%rbx, %%rsp"
                     : "=a"(result), "+D"(visit)
                     : [top] "r"(top), [fn] "r"(fn)
                     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                       "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                       "xmm13", "xmm14", "xmm15", "cc", "memory");
    return result;
}
#elif defined(__aarch64__)
static bool stack_call(uintptr_t top, const struct stack_visit *visit)
{
    register uintptr_t x0 __asm__("x0") = (uintptr_t)visit;
    bool (*fn)(const struct stack_visit *) = stack_serve;
    __builtin_frame_address(0);
    __asm__ volatile("mov x19, sp\n\t"
                     "mov sp, %[top]\n\t"
                     "blr %[fn]\n\t"
                     "mov sp, x19"
                     : "+r"(x0)
                     : [top] "r"(top), [fn] "r"(fn)
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
                       "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
                       "x18", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5",
                       "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
                       "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
                       "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
                       "v30", "v31", "cc", "memory");
    return (bool)(x0 & 1);
}
#else
#error "no way to change the stack for this processor yet"
#endif

static bool stack_is_within(const stack_t *stack, uintptr_t at)
{
    return !(stack->ss_flags & SS_DISABLE) &&
           at - (uintptr_t)stack->ss_sp < stack->ss_size;
}

bool adsm_fault_resolve_apart(const struct adsm_fault_site *site,
                              const ucontext_t *context)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct stack_visit visit = {
        .site = site,
        .leaves_alternate = stack_is_within(&context->uc_stack, here),
    };
    uintptr_t stack = stack_take();
    if (stack == 0)
        return adsm_fault_resolve(site);
    bool resolved = stack_call(stack + STACK_BYTES, &visit);
    stack_give(stack);
    return resolved;
}
