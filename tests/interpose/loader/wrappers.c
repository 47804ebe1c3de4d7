/*
 * A preloaded library as programs bring them: it stands before functions of
 * the C library and looks up the real one at the first call. Whoever calls one
 * of them from within dlsym calls in circles.
 */
#include <dlfcn.h>
#include <stddef.h>

#define WRAP(returns, name, params, args)                                      \
    __attribute__((visibility("default"))) returns name params;                \
    returns name params                                                        \
    {                                                                          \
        static returns(*next) params;                                          \
        if (!next)                                                             \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                         \
        return next args;                                                      \
    }

WRAP(int, strcmp, (const char *a, const char *b), (a, b))
WRAP(int, strncmp, (const char *a, const char *b, size_t n), (a, b, n))
WRAP(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n))
WRAP(size_t, strlen, (const char *a), (a))
WRAP(char *, strchr, (const char *a, int c), (a, c))
WRAP(char *, strrchr, (const char *a, int c), (a, c))
WRAP(void *, memchr, (const void *a, int c, size_t n), (a, c, n))
WRAP(char *, strcpy, (char *to, const char *from), (to, from))
WRAP(void *, memcpy, (void *to, const void *from, size_t n), (to, from, n))
WRAP(void *, memmove, (void *to, const void *from, size_t n), (to, from, n))
WRAP(void *, memset, (void *to, int value, size_t n), (to, value, n))
WRAP(char *, getenv, (const char *name), (name))
WRAP(void *, malloc, (size_t n), (n))
WRAP(void, free, (void *at), (at))
WRAP(int, pthread_setcancelstate, (int state, int *old), (state, old))
WRAP(int, open, (const char *path, int flags, int mode), (path, flags, mode))

/* These look up a name of the driver as well, as profilers do. */
static void look_around(void)
{
    dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
}

#define WRAP_LOOKING(returns, name, params, args)                              \
    __attribute__((visibility("default"))) returns name params;                \
    returns name params                                                        \
    {                                                                          \
        static returns(*next) params;                                          \
        look_around();                                                         \
        if (!next)                                                             \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                         \
        return next args;                                                      \
    }

WRAP_LOOKING(void *, dlopen, (const char *file, int mode), (file, mode))
WRAP_LOOKING(char *, dlerror, (void), ())
WRAP_LOOKING(int, dladdr, (const void *at, Dl_info *info), (at, info))
