/*
 * Choosing by (name, version, flags), as the driver does. Pure: a table in, a
 * row out.
 */
#include "interpose/choose.h"
#include "base/text.h"

enum { PER_THREAD = 2 };

const struct adsm_hook *hook_choose(const struct adsm_hook *hooks, size_t count,
                                    const char *api, int version,
                                    uint64_t flags)
{
    const struct adsm_hook *plain = NULL, *per_thread = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct adsm_hook *hook = &hooks[i];
        const struct adsm_hook **best =
            hook->flags & PER_THREAD ? &per_thread : &plain;
        if (hook->api && adsm_text_is(hook->api, api) &&
            hook->since <= version && (!*best || (*best)->since < hook->since))
            *best = hook;
    }
    return flags & PER_THREAD && per_thread ? per_thread : plain;
}
