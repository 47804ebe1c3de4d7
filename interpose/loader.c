/*
 * Answers of dlsym and dlvsym for hooked names.
 *
 * The real look-up comes first; its result is exchanged for a wrapper only
 * when it is exactly the function behind that wrapper. So a library that
 * exports a hooked name of its own keeps it, another preloaded library that
 * looks up what is behind itself gets that, and nothing can call in circles.
 */
#include "interpose/loader.h"
#include "interpose/cuda/resolve.h"
#include "interpose/hook.h"
#include "os/real.h"

#include <dlfcn.h>

void *(*hook_next_dlsym)(void *, const char *);
void *(*hook_next_dlvsym)(void *, const char *, const char *);

static void *(*exchange_mpi)(const char *, void *);

void adsm_hooks_mpi(void *(*exchange)(const char *name, void *found))
{
    exchange_mpi = exchange;
}

bool loader_is_mpi(const char *name)
{
    return exchange_mpi && name[0] == 'M' && name[1] == 'P' && name[2] == 'I' &&
           name[3] == '_';
}

void *loader_exchange_mpi(const char *name, void *found)
{
    return exchange_mpi(name, found);
}

/* Exchange the function `found` that was looked up as `link` for its wrapper. */
static struct hook_answer answer(const struct hook_link *link, void *found)
{
    if (found && link->cuda)
        cuda_resolve_adopt(link, found);
    if (found && found == *link->real)
        found = link->wrapper;
    return (struct hook_answer){found, 1};
}

struct hook_answer hook_dlsym_answer(void *handle, const char *name)
{
    static const struct hook_answer none = {NULL, 0};
    if (hook_unlikely(!hook_next_dlsym)) {
        hook_next_dlsym = adsm_real()->dlsym;
        hook_next_dlvsym = adsm_real()->dlvsym;
    }
    if (name && handle != RTLD_NEXT && loader_is_mpi(name))
        return (struct hook_answer){
            exchange_mpi(name, hook_next_dlsym(handle, name)), 1};
    const struct hook_link *link = name ? hook_find(name) : NULL;
    if (!link || handle == RTLD_NEXT)
        return none;
    if (!*link->real)
        link->cuda ? cuda_resolve() : hook_resolve(link->real);
    void *found = hook_next_dlsym(handle, name);
    /* Our own export says nothing about whether there is a driver, or a library
     * that not every program has. */
    if (found == link->wrapper && !*link->real)
        found = hook_next_dlsym(RTLD_NEXT, name);
    return found == link->wrapper ? (struct hook_answer){found, 1}
                                  : answer(link, found);
}

struct hook_answer hook_dlvsym_answer(void *handle, const char *name,
                                      const char *version)
{
    static const struct hook_answer none = {NULL, 0};
    if (hook_unlikely(!hook_next_dlvsym)) {
        hook_next_dlsym = adsm_real()->dlsym;
        hook_next_dlvsym = adsm_real()->dlvsym;
    }
    const struct hook_link *link = name ? hook_find(name) : NULL;
    if (!link || handle == RTLD_NEXT)
        return none;
    if (!*link->real)
        link->cuda ? cuda_resolve() : hook_resolve(link->real);
    return answer(link, hook_next_dlvsym(handle, name, version));
}
