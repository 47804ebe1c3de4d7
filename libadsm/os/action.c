/* Actions of signals: see os/action.h. */
#include "os/action.h"

#include <stddef.h>
#include <string.h>

#include "base/system.h"
#include "os/real.h"

#define RESTORER 0x04000000 /* SA_RESTORER, which is in no header of libc's */

#if defined(__x86_64__)
enum { NEEDS_RESTORER = 1 };
#else
enum { NEEDS_RESTORER = 0 };
#endif

static void (*_Atomic action_way_back)(void);

void adsm_action_learn(int number)
{
    struct adsm_system_action now;
    if (adsm_system_sigaction(number, NULL, &now) == 0 && now.flags & RESTORER)
        action_way_back = now.restorer;
}

int adsm_action(int number, const struct sigaction *action,
                struct sigaction *before)
{
    struct adsm_system_action next, now;
    if (action != NULL) {
        next.handler = action->sa_sigaction;
        next.flags = (unsigned)action->sa_flags;
        next.restorer =
            action->sa_flags & RESTORER ? action->sa_restorer : action_way_back;
        if (next.restorer != NULL)
            next.flags |= RESTORER;
        else if (NEEDS_RESTORER && adsm_system_has_handler(&next))
            return adsm_real()->sigaction(number, action, before);
        memcpy(&next.mask, &action->sa_mask, sizeof next.mask);
    }
    if (adsm_system_sigaction(number, action != NULL ? &next : NULL, &now) != 0)
        return -1;
    if (before != NULL) {
        memset(before, 0, sizeof *before);
        before->sa_sigaction = now.handler;
        before->sa_flags = (int)now.flags;
        before->sa_restorer = now.restorer;
        memcpy(&before->sa_mask, &now.mask, sizeof now.mask);
    }
    return 0;
}
