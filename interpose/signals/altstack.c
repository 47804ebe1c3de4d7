/*
 * Alternate signal stacks in shared memory.
 *
 * The kernel writes a signal's frame to the stack, and ends the process where
 * it cannot, as on a block whose data is on the device. So the kernel gets
 * plain memory of the same size, and the program is told of its own.
 */
#include "interpose/calls/copy.h"
#include "interpose/signals/mask.h"
#include "base/status.h"
#include "base/system.h"
#include "os/look.h"

#include <errno.h>
#include <sys/mman.h>

struct substitute {
    void *programs; /* where the program wants its stack */
    void *map;      /* where it is; NULL for none        */
    size_t bytes;
};

static _Thread_local struct substitute stack
    __attribute__((tls_model("initial-exec")));

static pthread_key_t at_exit;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

static bool is_on(const struct substitute *used)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here - (uintptr_t)used->map < used->bytes;
}

/* A stack with SS_AUTODISARM may be exchanged while it is in use: then it has
 * to stay. */
static void discard(const struct substitute *used)
{
    if (used->map && !is_on(used))
        adsm_system_munmap(used->map, used->bytes);
}

static void end_of_thread(void *nothing)
{
    static const stack_t none = {.ss_flags = SS_DISABLE};
    (void)nothing;
    if (stack.map && HOOK_REAL(sigaltstack)(&none, NULL) == 0)
        discard(&stack);
    stack.map = NULL;
}

static void make_key(void)
{
    pthread_key_create(&at_exit, end_of_thread);
}

static bool substitute_for(const stack_t *wanted, struct substitute *made)
{
    void *map =
        adsm_system_mmap(NULL, wanted->ss_size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (map == MAP_FAILED)
        return false;
    *made = (struct substitute){wanted->ss_sp, map, wanted->ss_size};
    pthread_once(&at_exit_once, make_key);
    pthread_setspecific(at_exit, &stack);
    return true;
}

/* `wanted` is a copy of the program's. */
static int exchange(stack_t *wanted, stack_t *before)
{
    struct substitute next = {NULL, NULL, 0};
    stack_t old;
    if (wanted && !(wanted->ss_flags & SS_DISABLE) && wanted->ss_size &&
        !hook_is_plain(wanted->ss_sp, wanted->ss_size)) {
        if (!substitute_for(wanted, &next))
            return -1; /* with the errno of mmap, ENOMEM */
        wanted->ss_sp = next.map;
    }
    int result = HOOK_REAL(sigaltstack)(wanted, &old);
    if (result != 0) {
        discard(&next);
        return result;
    }
    if (stack.map && old.ss_sp == stack.map)
        old.ss_sp = stack.programs;
    if (wanted) {
        discard(&stack);
        stack = next;
    }
    if (!before || call_put(before, &old, sizeof old) == ADSM_OK)
        return 0;
    errno = EFAULT; /* the stack is the new one, as the kernel has it */
    return -1;
}

static __attribute__((noinline)) int change(const stack_t *wanted,
                                            stack_t *before)
{
    stack_t given;
    if (wanted && !adsm_look(&given, wanted, sizeof given))
        return HOOK_REAL(sigaltstack)(wanted, before);
    bool plain = (!wanted || (hook_is_plain(wanted, sizeof *wanted) &&
                              hook_is_plain(given.ss_sp, given.ss_size))) &&
                 (!before || hook_is_plain(before, sizeof *before));
    if (hook_likely(plain && !stack.map))
        return HOOK_REAL(sigaltstack)(wanted, before);
    return exchange(wanted ? &given : NULL, before);
}

int sigaltstack(const stack_t *wanted, stack_t *before)
{
    return mask_is_active() ? change(wanted, before)
                            : HOOK_REAL(sigaltstack)(wanted, before);
}
