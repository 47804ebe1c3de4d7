/*
 * Owns: the entry points libcudart has no answer for: each says its name once
 * and returns cudaErrorNotSupported.  Weak, since some are refused in one
 * version of the library and answered in another.
 *
 * They are declared without parameters, which the calling convention allows:
 * the caller cleans up.  So this file must not see the runtime's header.
 */
#include <stdatomic.h>
#include <stdbool.h>

#define NOT_SUPPORTED 801

void sc_rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int sc_rt_done(int error);

static int refuse(_Atomic bool *said, const char *name)
{
    if (!atomic_exchange(said, true))
        sc_rt_say("%s is not supported", name);
    return sc_rt_done(NOT_SUPPORTED);
}

#define SC_RT_ENTRY(name, first, last)
#define SC_RT_REFUSED(name, first, last)                                       \
    int name(void);                                                            \
    __attribute__((visibility("default"), weak)) int name(void)                \
    {                                                                          \
        static _Atomic bool said;                                              \
        return refuse(&said, #name);                                           \
    }

#include "cudart/entries.def"
