/*
 * Masks that come back with a jump or a change of context.
 *
 * The kernel's mask, which libc saves and restores in there, never has
 * SIGSEGV; whether the program had it blocked is noted beside it, in a part of
 * the saved set that the kernel does not know. libc restores masks by calls
 * that nobody can stand before, so a mask in which the program itself put
 * SIGSEGV is taken from a copy without it.
 *
 * Where a context was made with makecontext and its function returns, libc
 * goes to the next one by itself: the belief stays until the next call here.
 */
#include "interpose/loader.h"
#include "interpose/signals/mask.h"
#include "mm/object/passing.h"

#include <setjmp.h>

enum { NOTE = 15 }; /* the last word of a set of 1024 signals */
static const uint64_t note_open = UINT64_C(0x5e67f00d0badcafe);

int (*hook_next_getcontext)(ucontext_t *);
int (*hook_next___sigsetjmp)(struct __jmp_buf_tag *, int);

static void note(sigset_t *set)
{
    if (mask_is_seen())
        mask_word(set)[NOTE] = note_open + mask_thread.blocked;
}

static bool noted_blocked(const sigset_t *set)
{
    return *mask_word(set) & MASK_SEGV || mask_word(set)[NOTE] == note_open + 1;
}

struct hook_answer hook_getcontext_answer(ucontext_t *context)
{
    if (hook_unlikely(!hook_next_getcontext))
        hook_resolve((void **)&hook_next_getcontext);
    note(&context->uc_sigmask);
    return (struct hook_answer){NULL, 0};
}

/* Buffers that save no mask can be shorter (pthread_cleanup_push). */
struct hook_answer hook___sigsetjmp_answer(struct __jmp_buf_tag *buffer,
                                           long saves_mask)
{
    if (hook_unlikely(!hook_next___sigsetjmp))
        hook_resolve((void **)&hook_next___sigsetjmp);
    if ((int)saves_mask)
        note(&buffer->__saved_mask);
    return (struct hook_answer){NULL, 0};
}

static void jump(struct __jmp_buf_tag *buffer)
{
    /* A handler that leaves a call of the driver ends it. */
    adsm_passing_leave();
    hook_driver = hook_bare = 0;

    if (!buffer->__mask_was_saved || !mask_is_seen())
        return;
    bool blocked = noted_blocked(&buffer->__saved_mask);
    *mask_word(&buffer->__saved_mask) &= ~mask_opened();
    if (blocked)
        mask_word(&buffer->__saved_mask)[NOTE] = note_open + 1;
    mask_know(*mask_word(&buffer->__saved_mask));
    mask_believe(blocked);
}

void longjmp(struct __jmp_buf_tag buffer[1], int value)
{
    jump(buffer);
    HOOK_REAL(longjmp)(buffer, value);
    __builtin_unreachable();
}

void _longjmp(struct __jmp_buf_tag buffer[1], int value)
{
    jump(buffer);
    HOOK_REAL(_longjmp)(buffer, value);
    __builtin_unreachable();
}

void siglongjmp(struct __jmp_buf_tag buffer[1], int value)
{
    jump(buffer);
    HOOK_REAL(siglongjmp)(buffer, value);
    __builtin_unreachable();
}

void __longjmp_chk(struct __jmp_buf_tag buffer[1], int value)
{
    jump(buffer);
    HOOK_REAL(__longjmp_chk)(buffer, value);
    __builtin_unreachable();
}

/* Not on the stack: libc reads it after it has left this one. */
static _Thread_local ucontext_t entered
    __attribute__((tls_model("initial-exec")));

/* The context to give to libc for the program's `context`. */
static __attribute__((noinline)) const ucontext_t *
enter(const ucontext_t *context)
{
    if (!mask_is_seen())
        return context;
    entered = *context;
    mask_know(*mask_word(&context->uc_sigmask));
    mask_believe(noted_blocked(&context->uc_sigmask));
    *mask_word(&entered.uc_sigmask) &= ~mask_opened();
    return &entered;
}

/* Back in a context that was left as one with this belief, maybe on another
 * thread. */
static __attribute__((noinline)) void come_back(bool blocked)
{
    if (!mask_is_seen())
        return;
    mask_believe(blocked);
    mask_adopt();
}

int setcontext(const ucontext_t *context)
{
    return HOOK_REAL(setcontext)(enter(context));
}

int swapcontext(ucontext_t *left, const ucontext_t *context)
{
    bool blocked = mask_thread.blocked;
    note(&left->uc_sigmask);
    int result = HOOK_REAL(swapcontext)(left, enter(context));
    come_back(blocked);
    return result;
}
