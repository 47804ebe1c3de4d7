/*
 * Owns: the table of registered images and symbols, and the entry points that
 * compiled host code calls to fill it.
 * Does not own: what symbols are on a device (symbol.c).
 * Lock: register_lock for writers; readers take none, since records stay.
 */
#include <stdlib.h>

#include "cudart/host_runtime.h"
#include "cudart/register.h"

enum { BUCKETS = 4096 };

static _Atomic(struct sc_rt_symbol *) table[BUCKETS];
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned bucket_of(const void *host)
{
    uint64_t h = (uint64_t)(uintptr_t)host * 0x9e3779b97f4a7c15u;
    return (unsigned)(h >> 52);
}

struct sc_rt_symbol *sc_rt_find(const void *host, unsigned kinds)
{
    struct sc_rt_symbol *s =
        atomic_load_explicit(&table[bucket_of(host)], memory_order_acquire);
    for (; s; s = atomic_load_explicit(&s->next, memory_order_acquire))
        if (s->host == host && (kinds & 1u << s->kind) &&
            !atomic_load_explicit(&s->image->dead, memory_order_relaxed))
            return s;
    return NULL;
}

static void link_symbol(struct sc_rt_symbol *symbol)
{
    unsigned b = bucket_of(symbol->host);
    pthread_mutex_lock(&register_lock);
    atomic_store(&symbol->next, atomic_load(&table[b]));
    atomic_store_explicit(&table[b], symbol, memory_order_release);
    if (symbol->kind == SC_RT_MANAGED && symbol->pointer) {
        symbol->next_managed = symbol->image->managed;
        symbol->image->managed = symbol;
    }
    pthread_mutex_unlock(&register_lock);
}

static void add(void **handle, enum sc_rt_kind kind, const void *host,
                const char *name, size_t bytes, void **pointer)
{
    struct sc_rt_symbol *symbol = calloc(1, sizeof *symbol);
    if (!handle || !symbol) {
        sc_rt_say("%s is not registered: %s", name,
                  handle ? "out of memory" : "its image was refused");
        free(symbol);
        return;
    }
    symbol->kind = kind;
    symbol->host = host;
    symbol->name = name;
    symbol->image = (struct sc_rt_image *)handle;
    symbol->bytes = bytes;
    symbol->pointer = pointer;
    link_symbol(symbol);
}

bool sc_rt_alias(const void *host, struct sc_rt_symbol *symbol)
{
    struct sc_rt_symbol *alias = calloc(1, sizeof *alias);
    if (!alias)
        return false;
    alias->kind = symbol->kind;
    alias->host = host;
    alias->name = symbol->name;
    alias->image = symbol->image;
    alias->bytes = symbol->bytes;
    link_symbol(alias);
    return true;
}

SC_RT_HOST(void **) __cudaRegisterFatBinary(void *fatCubin)
{
    struct sc_rt_image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->wrapper = fatCubin;
    pthread_mutex_init(&image->lock, NULL);
    return (void **)image;
}

SC_RT_HOST(void) __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    (void)fatCubinHandle; /* images are loaded when a symbol is used */
}

SC_RT_HOST(void) __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    struct sc_rt_image *image = (struct sc_rt_image *)fatCubinHandle;
    if (!image || atomic_exchange(&image->dead, true))
        return;
    CUlibrary library = atomic_exchange(&image->library, NULL);
    if (library)
        cuLibraryUnload(library);
}

SC_RT_HOST(void)
__cudaRegisterFunction(void **fatCubinHandle, const char *hostFun,
                       char *deviceFun, const char *deviceName,
                       int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim,
                       dim3 *gDim, int *wSize)
{
    add(fatCubinHandle, SC_RT_FUNCTION, hostFun, deviceName, 0, NULL);
}

SC_RT_HOST(void)
__cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                  const char *deviceName, int ext, size_t size, int constant,
                  int global)
{
    add(fatCubinHandle, SC_RT_VARIABLE, hostVar, deviceName, size, NULL);
}

SC_RT_HOST(void)
__cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress,
                         char *deviceAddress, const char *deviceName, int ext,
                         size_t size, int constant, int global)
{
    add(fatCubinHandle, SC_RT_MANAGED, hostVarPtrAddress, deviceName, size,
        hostVarPtrAddress);
}

SC_RT_HOST(void)
__cudaRegisterHostVar(void **fatCubinHandle, const char *deviceName,
                      char *hostVarAddr, size_t size)
{
    sc_rt_say("%s: host variables are not reachable from the device",
              deviceName);
}

SC_RT_HOST(void)
__cudaRegisterUnifiedTable(void **fatCubinHandle, const void *unifiedTable)
{
    sc_rt_say("unified function tables are not supported");
}

SC_RT_HOST(void)
__cudaRegisterTexture(void **fatCubinHandle,
                      const struct textureReference *hostVar,
                      const void **deviceAddress, const char *deviceName,
                      int dim, int norm, int ext)
{
    add(fatCubinHandle, SC_RT_TEXTURE, hostVar, deviceName, (size_t)norm, NULL);
}

SC_RT_HOST(void)
__cudaRegisterSurface(void **fatCubinHandle,
                      const struct surfaceReference *hostVar,
                      const void **deviceAddress, const char *deviceName,
                      int dim, int ext)
{
    add(fatCubinHandle, SC_RT_SURFACE, hostVar, deviceName, 0, NULL);
}

/* Earlier compilers registered the sizes of __shared__ arrays; the image
 * holds them, so nothing is left to do. */
SC_RT_HOST(void)
__cudaRegisterShared(void **fatCubinHandle, void **devicePtr)
{
    (void)fatCubinHandle;
    (void)devicePtr;
}

SC_RT_HOST(void)
__cudaRegisterSharedVar(void **fatCubinHandle, void **devicePtr, size_t size,
                        size_t alignment, int storage)
{
    (void)fatCubinHandle;
    (void)devicePtr;
}

/* Called before the host touches a managed variable: its pointer must hold. */
SC_RT_HOST(char) __cudaInitModule(void **fatCubinHandle)
{
    struct sc_rt_image *image = (struct sc_rt_image *)fatCubinHandle;
    CUlibrary library;
    if (!image || sc_rt_done(sc_rt_enter()) != cudaSuccess ||
        sc_rt_done(sc_rt_load(image, &library)) != cudaSuccess)
        return 0;
    return 1;
}
