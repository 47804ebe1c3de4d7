/*
 * Owns: the entry points softcuda has no answer for: each says its name once
 * and returns CUDA_ERROR_NOT_SUPPORTED.
 *
 * They are declared without parameters, which both supported calling
 * conventions allow: the caller cleans up.  So this file must not see cuda.h.
 */
#include <stdatomic.h>
#include <stdbool.h>

#define NOT_SUPPORTED 801

void sc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int refuse(_Atomic bool *said, const char *name)
{
    if (!atomic_exchange(said, true))
        sc_say("%s is not supported", name);
    return NOT_SUPPORTED;
}

#define SC_ENTRY(symbol, version, stream, name)
#define SC_REFUSED(symbol, version, stream, name)                              \
    int name(void);                                                            \
    __attribute__((visibility("default"))) int name(void)                      \
    {                                                                          \
        static _Atomic bool said;                                              \
        return refuse(&said, #name);                                           \
    }

#include "driver/entries.def"
