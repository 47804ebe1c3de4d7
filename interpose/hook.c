/*
 * The tables of hooks.def: names, wrappers, real functions.
 *
 * Real functions of libc are found behind this library (RTLD_NEXT), so that
 * another preloaded library between us and libc keeps its place. The driver's
 * are found by cuda/resolve.c.
 */
#include "interpose/hook.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "interpose/choose.h"
#include "interpose/loader.h"
#include "os/real.h"

#include <dlfcn.h>

struct hook_real hook_real;
_Thread_local int hook_depth;
_Thread_local int hook_driver;
_Thread_local int hook_bare;
_Thread_local struct adsm_cancel hook_cancel;

static const struct adsm_hook infos[] = {
#define ADSM_HOOK_STUB(name, family)          {#name, family, NULL, 0, 0},
#define ADSM_HOOK_LIBC(returns, name, params) {#name, "libc", NULL, 0, 0},
#define ADSM_HOOK_ALIAS(alias, name)          {#alias, "libc", NULL, 0, 0},
#define ADSM_HOOK_CUDA(name, api, since, flags, params)                        \
    {#name, "cuda", api, since, flags},
#include "interpose/hooks.def"
};

enum { HOOKS = sizeof infos / sizeof *infos };

/* What is exported, by its name, since C has another one of that name for some
 * (inner.def). */
#define ADSM_HOOK_STUB(name, family)                                           \
    extern char exported_##name[] __asm__(#name);
#define ADSM_HOOK_LIBC(returns, name, params) ADSM_HOOK_STUB(name, "libc")
#define ADSM_HOOK_CUDA(name, api, since, flags, params)                        \
    ADSM_HOOK_STUB(name, "cuda")
#include "interpose/hooks.def"

#define LINK_REAL(name, cuda, shaped)                                          \
    {                                                                          \
        exported_##name, (void **)&hook_real.name, cuda, shaped, false, false  \
    }

static const struct hook_link links[HOOKS] = {
#define ADSM_HOOK_STUB(name, family)                                           \
    {exported_##name, (void **)&hook_next_##name, false, false, true, false},
#define ADSM_HOOK_LIBC(returns, name, params) LINK_REAL(name, false, false),
#define ADSM_HOOK_CALL(returns, name, params, parts)                           \
    LINK_REAL(name, false, true),
#define ADSM_HOOK_OWN(returns, name, params, parts)                            \
    LINK_REAL(name, false, true),
#define ADSM_HOOK_ODD(returns, name, params, parts)                            \
    LINK_REAL(name, false, true),
#define ADSM_HOOK_ALIAS(alias, name)                                           \
    {exported_##name, (void **)&hook_real.name, false, false, false, true},
#define ADSM_HOOK_CUDA(name, api, since, flags, params)                        \
    LINK_REAL(name, true, false),
#include "interpose/hooks.def"
};

const struct adsm_hook *adsm_hooks_list(size_t *count)
{
    *count = HOOKS;
    return infos;
}

/* Libraries between this one and libc. They stay as long as it does. */
static struct adsm_real_images before;
static _Atomic bool before_is_known;

/* What is behind this library: by the real functions, called from here. What
 * libc alone has is found without dlsym, by whoever calls the hook first, be it
 * a signal handler. */
static void *find_next(const char *name)
{
    /* Forms of condition variables of one name on x86-64. */
    static const char begin[] = "pthread_cond_", old[] = "GLIBC_2.2.5";
    void *last = atomic_load_explicit(&before_is_known, memory_order_acquire)
                     ? adsm_real_lookup_libc(name)
                     : NULL;
    if (last && !adsm_real_is_before(&before, name))
        return last;
    last = adsm_real_lookup(name, NULL);
    /* A look-up that fails leaves a message (dlerror). */
    void *next = last ? adsm_real()->dlsym(RTLD_NEXT, name) : NULL;
    size_t i = 0;
    while (begin[i] && name[i] == begin[i])
        i++;
    /* Old versions of glibc give the older one, whose type is another. */
    if (!next || (!begin[i] && next == adsm_real_lookup(name, old)))
        next = last;
    return next;
}

static void resolve(size_t i)
{
    if (links[i].cuda || links[i].alias || *links[i].real)
        return;
    *links[i].real = find_next(infos[i].name);
    if (!*links[i].real && links[i].shaped)
        *links[i].real = (void *)hook_absent;
}

void hook_resolve(void **real)
{
    size_t i = 0;
    while (i < HOOKS && links[i].real != real)
        i++;
    if (i < HOOKS)
        resolve(i);
}

/* Most functions are found when they are first called, which a program does
 * with few of some hundred: looking for all takes longer than the rest of this
 * library's start. Not so those that are used without asking, and those for
 * which dlsym has to be called, since no signal handler may. */
__attribute__((constructor(101))) static void hook_start(void)
{
    bool known = adsm_real_before(_DYNAMIC, &before);
    /* Release pairs with the acquire in find_next. */
    atomic_store_explicit(&before_is_known, known, memory_order_release);
    (void)HOOK_REAL(memmove);
    (void)HOOK_REAL(memset);
    (void)HOOK_REAL(memcmp);
    (void)HOOK_REAL(memcpy);
    for (size_t i = 0; i < HOOKS; i++)
        if (!known || links[i].stub ||
            (before.count && !links[i].cuda &&
             adsm_real_is_before(&before, infos[i].name)))
            resolve(i);
}

const struct hook_link *hook_find(const char *name)
{
    for (size_t i = 0; i < HOOKS; i++)
        if (adsm_text_is(infos[i].name, name))
            return &links[i];
    return NULL;
}

const struct hook_link *hook_find_real(const void *real)
{
    for (size_t i = 0; real && i < HOOKS; i++)
        if (*links[i].real == real)
            return &links[i];
    return NULL;
}

const struct hook_link *hook_meant(const char *api, int version, uint64_t flags)
{
    const struct adsm_hook *hook =
        hook_choose(infos, HOOKS, api, version, flags);
    return hook ? &links[hook - infos] : NULL;
}

const struct hook_link *hook_at(size_t i)
{
    return &links[i];
}

const char *hook_name(const struct hook_link *link)
{
    return infos[link - links].name;
}

void hook_failed(const char *what, int status)
{
    adsm_log_once(ADSM_LOG_ERROR, "%s on shared memory failed: %s", what,
                  adsm_status_text(status));
}
