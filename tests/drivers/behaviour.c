/*
 * What the planted driver does otherwise; see planted.h. No state but what is
 * asked of the driver behind it.
 */
#include "planted.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    OK = 0,
    INVALID_VALUE = 1,
    NOT_FOUND = 500,
    NOT_SUPPORTED = 801,
    UNKNOWN = 999
};
enum { VMM_SUPPORTED = 102, MEMORY_TYPE = 2, PAGE = 4096 };

typedef unsigned long long address;

/* The function behind, called by its type. */
#define REAL(name, parameters)                                                 \
    ({                                                                         \
        static int(*known) parameters;                                         \
        if (!known)                                                            \
            known = (int(*) parameters)planted_real(name);                     \
        known;                                                                 \
    })

/* ---- register -------------------------------------------------------------- */

static _Atomic int registrations;

static int no_register(void *at, size_t bytes, unsigned flags)
{
    unsigned long long result = 0;
    registrations++;
    planted_has("register", &result);
    return result ? (int)result : INVALID_VALUE;
}

__attribute__((destructor)) static void count(void)
{
    if (planted_has("count", NULL))
        fprintf(stderr, "planted: %d registrations\n", registrations);
}

/* ---- range, memory --------------------------------------------------------- */

/* Something of the host's is at these addresses, and stays. */
static int take(address at, size_t bytes, int result)
{
    address page = (at + bytes / 2) / PAGE * PAGE;
    if (result == OK)
        syscall(SYS_mmap, page, PAGE, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return result;
}

static size_t granule(void)
{
    unsigned long long bytes = 0;
    return planted_has("granule", &bytes) ? (size_t)bytes : 1;
}

static int reserve(address *at, size_t bytes, size_t align, address hint,
                   unsigned long long flags)
{
    if (align < granule())
        align = granule();
    int result = REAL("cuMemAddressReserve",
                      (address *, size_t, size_t, address, unsigned long long))(
        at, bytes, align == 1 ? 0 : align, hint, flags);
    return planted_has("range", NULL) ? take(*at, bytes, result) : result;
}

static int allocate(address *at, size_t bytes)
{
    int result = REAL("cuMemAlloc_v2", (address *, size_t))(at, bytes);
    return take(*at, bytes, result);
}

/* ---- granule --------------------------------------------------------------- */

static int granularity(size_t *bytes, const void *prop, int option)
{
    int result = REAL("cuMemGetAllocationGranularity",
                      (size_t *, const void *, int))(bytes, prop, option);
    if (result == OK)
        *bytes = granule();
    return result;
}

static int create(unsigned long long *handle, size_t bytes, const void *prop,
                  unsigned long long flags)
{
    if (bytes % granule())
        return INVALID_VALUE;
    return REAL("cuMemCreate", (unsigned long long *, size_t, const void *,
                                unsigned long long))(handle, bytes, prop,
                                                     flags);
}

static int map(address at, size_t bytes, size_t offset,
               unsigned long long handle, unsigned long long flags)
{
    if (at % granule() || bytes % granule())
        return INVALID_VALUE;
    return REAL("cuMemMap", (address, size_t, size_t, unsigned long long,
                             unsigned long long))(at, bytes, offset, handle,
                                                  flags);
}

/* ---- vmm ------------------------------------------------------------------- */

static int attribute(int *value, int which, int device)
{
    int result =
        REAL("cuDeviceGetAttribute", (int *, int, int))(value, which, device);
    if (result == OK && which == VMM_SUPPORTED)
        *value = 0;
    return result;
}

static int unsupported(void)
{
    return NOT_SUPPORTED;
}

/* ---- copies ---------------------------------------------------------------- */

/* Does the line of /proc/self/maps hold a shared mapping of the address? */
static bool line_shares(const char *line, uintptr_t at)
{
    uintptr_t begin, end;
    char access[5];
    return sscanf(line, "%lx-%lx %4s", &begin, &end, access) == 3 &&
           begin <= at && at < end && access[3] == 's';
}

static bool is_shared_mapping(const void *at)
{
    char text[8192];
    size_t used = 0;
    ssize_t n;
    bool shared = false;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps",
                          O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = syscall(SYS_read, fd, text + used,
                                   sizeof text - 1 - used)) > 0) {
        used += (size_t)n;
        text[used] = '\0';
        char *line = text, *end;
        for (; (end = strchr(line, '\n')); line = end + 1)
            shared |= line_shares(line, (uintptr_t)at);
        used -= (size_t)(line - text);
        memmove(text, line, used);
    }
    syscall(SYS_close, fd);
    return shared;
}

/* The driver knows registered memory by its address, both of its ends. */
static bool refuses(const void *at, size_t bytes)
{
    int type;
    int (*ask)(void *, int, address) =
        REAL("cuPointerGetAttribute", (void *, int, address));
    address first = (uintptr_t)at;
    bool known = ask(&type, MEMORY_TYPE, first) == OK &&
                 ask(&type, MEMORY_TYPE, first + bytes - 1) == OK;
    return bytes > 0 && !known && is_shared_mapping(at);
}

#define COPY_UP(name)                                                          \
    static int name##_instead(address to, const void *from, size_t bytes)      \
    {                                                                          \
        return refuses(from, bytes) ? INVALID_VALUE                            \
                                    : REAL(#name, (address, const void *,      \
                                                   size_t))(to, from, bytes);  \
    }
#define COPY_DOWN(name)                                                        \
    static int name##_instead(void *to, address from, size_t bytes)            \
    {                                                                          \
        return refuses(to, bytes)                                              \
                   ? INVALID_VALUE                                             \
                   : REAL(#name, (void *, address, size_t))(to, from, bytes);  \
    }
#define COPY_UP_IN(name)                                                       \
    static int name##_instead(address to, const void *from, size_t bytes,      \
                              void *stream)                                    \
    {                                                                          \
        return refuses(from, bytes)                                            \
                   ? INVALID_VALUE                                             \
                   : REAL(#name, (address, const void *, size_t, void *))(     \
                         to, from, bytes, stream);                             \
    }
#define COPY_DOWN_IN(name)                                                     \
    static int name##_instead(void *to, address from, size_t bytes,            \
                              void *stream)                                    \
    {                                                                          \
        return refuses(to, bytes)                                              \
                   ? INVALID_VALUE                                             \
                   : REAL(#name, (void *, address, size_t, void *))(           \
                         to, from, bytes, stream);                             \
    }

COPY_UP(cuMemcpyHtoD_v2)
COPY_UP(cuMemcpyHtoD_v2_ptds)
COPY_UP_IN(cuMemcpyHtoDAsync_v2)
COPY_UP_IN(cuMemcpyHtoDAsync_v2_ptsz)
COPY_DOWN(cuMemcpyDtoH_v2)
COPY_DOWN(cuMemcpyDtoH_v2_ptds)
COPY_DOWN_IN(cuMemcpyDtoHAsync_v2)
COPY_DOWN_IN(cuMemcpyDtoHAsync_v2_ptsz)

/* ---- dead ------------------------------------------------------------------ */

static int dead(void)
{
    unsigned long long result = 0;
    planted_has("dead", &result);
    return (int)result;
}

/* ---- params ----------------------------------------------------------------- */

static int parameter(void *kernel, size_t index, size_t *offset, size_t *bytes)
{
    static _Atomic unsigned long long asked;
    unsigned long long most = 0;
    planted_has("params", &most);
    if (asked++ >= most)
        return UNKNOWN;
    return REAL("cuFuncGetParamInfo", (void *, size_t, size_t *, size_t *))(
        kernel, index, offset, bytes);
}

/* ---- lookup, old ----------------------------------------------------------- */

static int version(int *number)
{
    unsigned long long old = 0;
    planted_has("old", &old);
    *number = (int)old;
    return OK;
}

/* Who asks the driver gets its own functions, which know nothing of this. */
static int look_up_v1(const char *name, void **found, int since,
                      unsigned long long flags)
{
    int result = REAL("cuGetProcAddress",
                      (const char *, void **, int, unsigned long long))(
        name, found, since, flags);
    if (result == OK)
        *found = planted_own(*found);
    return result == OK && !*found ? NOT_FOUND : result;
}

static int look_up_v2(const char *name, void **found, int since,
                      unsigned long long flags, int *status)
{
    int result = REAL("cuGetProcAddress_v2",
                      (const char *, void **, int, unsigned long long, int *))(
        name, found, since, flags, status);
    if (result == OK)
        *found = planted_own(*found);
    return result == OK && !*found ? NOT_FOUND : result;
}

/* ---- all ------------------------------------------------------------------- */

#define PLANT(name, word, function)                                            \
    {                                                                          \
        name, word, (planted_function *)(function)                             \
    }
#define COPY(name) PLANT(#name, "copies", name##_instead)

static const struct {
    const char *name;
    const char *word; /* "": always */
    planted_function *function;
} plants[] = {
    PLANT("cuMemHostRegister", "register", no_register),
    PLANT("cuMemHostRegister_v2", "register", no_register),
    PLANT("cuMemAlloc_v2", "memory", allocate),
    PLANT("cuDeviceGetAttribute", "vmm", attribute),
    PLANT("cuMemAddressReserve", "vmm", unsupported),
    PLANT("cuMemCreate", "vmm", unsupported),
    PLANT("cuMemMap", "vmm", unsupported),
    PLANT("cuMemGetAllocationGranularity", "vmm", unsupported),
    PLANT("cuMemAddressReserve", "range", reserve),
    PLANT("cuMemAddressReserve", "granule", reserve),
    PLANT("cuMemGetAllocationGranularity", "granule", granularity),
    PLANT("cuMemCreate", "granule", create),
    PLANT("cuMemMap", "granule", map),
    PLANT("cuLaunchKernel", "dead", dead),
    PLANT("cuCtxSynchronize", "dead", dead),
    PLANT("cuFuncGetParamInfo", "params", parameter),
    PLANT("cuDriverGetVersion", "old", version),
    PLANT("cuGetProcAddress", "", look_up_v1),
    PLANT("cuGetProcAddress_v2", "", look_up_v2),
    COPY(cuMemcpyHtoD_v2),
    COPY(cuMemcpyHtoD_v2_ptds),
    COPY(cuMemcpyHtoDAsync_v2),
    COPY(cuMemcpyHtoDAsync_v2_ptsz),
    COPY(cuMemcpyDtoH_v2),
    COPY(cuMemcpyDtoH_v2_ptds),
    COPY(cuMemcpyDtoHAsync_v2),
    COPY(cuMemcpyDtoHAsync_v2_ptsz),
};

planted_function *planted_instead(const char *name)
{
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        if (strcmp(plants[i].name, name) == 0 &&
            (!*plants[i].word || planted_has(plants[i].word, NULL)))
            return plants[i].function;
    return NULL;
}

bool planted_is_missing(const char *name, int since)
{
    unsigned long long old;
    if (planted_has("lookup", NULL) &&
        strncmp(name, "cuGetProcAddress", strlen("cuGetProcAddress")) == 0)
        return true;
    return planted_has("old", &old) && since > (int)old;
}
