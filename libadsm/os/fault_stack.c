/*
 * Answering a fault with room on the stack.
 *
 * An application that handles SIGSEGV on an alternate stack has the engine run
 * there too, and such stacks are often 8 KiB: enough to print a message, not
 * to call a driver. The callback then runs on the interrupted stack, where the
 * kernel would have put the handler without SA_ONSTACK. No lock.
 */
#include "os/fault_engine.h"

#include <sys/syscall.h>
#include <unistd.h>

/* What the callback may need, and what the ABI keeps below the pointer. */
#define STACK_NEED_BYTES ((uintptr_t)64 << 10)
#define RED_ZONE_BYTES   128

#if defined(__x86_64__)
static uintptr_t stack_interrupted(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

static bool stack_call(uintptr_t top, const struct adsm_fault_site *site)
{
    bool (*fn)(const struct adsm_fault_site *) = adsm_fault_resolve;
    bool result;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[fn]\n\t"
                     "movq %%rbx, %%rsp"
                     : "=a"(result), "+D"(site)
                     : [top] "r"(top), [fn] "r"(fn)
                     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                       "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                       "xmm13", "xmm14", "xmm15", "cc", "memory");
    return result;
}
#elif defined(__aarch64__)
static uintptr_t stack_interrupted(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.sp;
}

static bool stack_call(uintptr_t top, const struct adsm_fault_site *site)
{
    register uintptr_t x0 __asm__("x0") = (uintptr_t)site;
    bool (*fn)(const struct adsm_fault_site *) = adsm_fault_resolve;
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

/* Does the kernel find memory there? It writes the signal mask to the place
 * as any access would, and lets a stack grow, but only reports a bad one. */
static bool stack_is_writable(uintptr_t at)
{
    return syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, at, sizeof(uint64_t)) ==
           0;
}

static bool stack_is_within(const stack_t *stack, uintptr_t at)
{
    return at - (uintptr_t)stack->ss_sp < stack->ss_size;
}

bool adsm_fault_resolve_with_room(const struct adsm_fault_site *site,
                                  const ucontext_t *context)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t top =
        (stack_interrupted(context) - RED_ZONE_BYTES) & ~(uintptr_t)15;
    const stack_t *alternate = &context->uc_stack;
    if ((alternate->ss_flags & SS_DISABLE) ||
        !stack_is_within(alternate, here) || stack_is_within(alternate, top) ||
        !stack_is_writable(top - STACK_NEED_BYTES) ||
        !stack_is_writable(top - sizeof(uint64_t)))
        return adsm_fault_resolve(site);
    return stack_call(top, site);
}
