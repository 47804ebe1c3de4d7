/*
 * Owns: bring-up of the driver, error names, device queries.
 * Does not own: contexts (api_context.c).  Lock: start lock for bring-up.
 */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/procaddr.h"
#include "base/occupancy.h"

struct sc_options sc_options;

enum { NOT_YET, READY, FORKED };
static _Atomic int phase = NOT_YET;

static void in_child(void)
{
    /* The devices, their threads and rings belong to the parent. */
    atomic_store(&phase, FORKED);
}

CUresult sc_enter(void)
{
    return atomic_load_explicit(&phase, memory_order_acquire) == READY
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_INITIALIZED;
}

void sc_say(const char *format, ...)
{
    char line[1024] = "softcuda: ";
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + used, sizeof line - used - 1, format, args);
    va_end(args);
    used += n < 0 ? 0 : (size_t)n;
    if (used > sizeof line - 2)
        used = sizeof line - 2;
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, used) < 0)
        return; /* nobody is listening */
}

static int add_tls(struct dl_phdr_info *module, size_t bytes, void *sum)
{
    (void)bytes;
    for (int i = 0; i < module->dlpi_phnum; i++)
        if (module->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)sum +=
                module->dlpi_phdr[i].p_memsz + module->dlpi_phdr[i].p_align;
    return 0;
}

bool sc_thread_start(void *(*run)(void *), void *arg, size_t stack_bytes)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t blocked, old;
    sigfillset(&blocked);
    /* A host function may touch memory whose faults are handled, and a
     * blocked fault kills the process. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &old);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (stack_bytes) {
        /* the program's thread-local variables come out of it */
        dl_iterate_phdr(add_tls, &stack_bytes);
        pthread_attr_setstacksize(&attr, stack_bytes);
    }
    int failed = pthread_create(&thread, &attr, run, arg);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return !failed;
}

SC_API cuInit(unsigned int Flags)
{
    if (atomic_load(&phase) == FORKED)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_start_lock);
    CUresult result = CUDA_SUCCESS;
    if (atomic_load(&phase) == NOT_YET) {
        sc_options_read(&sc_options);
        result = sc_memory_init();
        if (result == CUDA_SUCCESS)
            result = sc_device_init();
        if (result == CUDA_SUCCESS) {
            pthread_atfork(NULL, NULL, in_child);
            sc_context_expect_exit();
            sc_memory_expect_exit();
            atomic_store(&phase, READY);
        }
    }
    pthread_mutex_unlock(&sc_start_lock);
    return result;
}

SC_API cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = CUDA_VERSION;
    return CUDA_SUCCESS;
}

static const struct {
    CUresult value;
    const char *name, *text;
} results[] = {
#define SC_RESULT(name, value, text) {CUDA_##name, "CUDA_" #name, text},
#include "softcuda/result.def"
#undef SC_RESULT
};

SC_API cuGetErrorName(CUresult error, const char **pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = NULL;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].value == error)
            *pStr = results[i].name;
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGetErrorString(CUresult error, const char **pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = NULL;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].value == error)
            *pStr = results[i].text;
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Of a driver this one is older than, nothing can be asked. */
static CUresult find(const char *symbol, void **pfn, int version,
                     cuuint64_t flags, int *status)
{
    if (version <= CUDA_VERSION)
        return (CUresult)sc_procaddr_get(symbol, pfn, version, flags, status);
    if (pfn)
        *pfn = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress_v1(const char *symbol, void **pfn, int cudaVersion,
                             cuuint64_t flags) __asm__("cuGetProcAddress");

SC_API cuGetProcAddress_v1(const char *symbol, void **pfn, int cudaVersion,
                           cuuint64_t flags)
{
    return find(symbol, pfn, cudaVersion, flags, NULL);
}

SC_API cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
                        cuuint64_t flags,
                        CUdriverProcAddressQueryResult *symbolStatus)
{
    return find(symbol, pfn, cudaVersion, flags, (int *)symbolStatus);
}

SC_API cuDeviceGetCount(int *count)
{
    SC_TRY(sc_enter());
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = sc_device_count();
    return CUDA_SUCCESS;
}

SC_API cuDeviceGet(CUdevice *device, int ordinal)
{
    SC_TRY(sc_enter());
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sc_device_get(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

static CUresult check_device(const void *out, CUdevice dev)
{
    SC_TRY(sc_enter());
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    return sc_device_get(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

SC_API cuDeviceGetName(char *name, int len, CUdevice dev)
{
    SC_TRY(check_device(name, dev));
    if (len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)len, "softcuda device %d", dev);
    return CUDA_SUCCESS;
}

SC_API cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    SC_TRY(check_device(uuid, dev));
    memcpy(uuid->bytes, "softcuda-device", 15);
    uuid->bytes[15] = (char)('0' + dev);
    return CUDA_SUCCESS;
}

SC_API cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    SC_TRY(check_device(bytes, dev));
    *bytes = sc_options.memory_bytes;
    return CUDA_SUCCESS;
}

SC_API cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    SC_TRY(check_device(major, dev));
    if (!minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = SC_SM / 10;
    *minor = SC_SM % 10;
    return CUDA_SUCCESS;
}

static int per_device_attribute(int attribute, CUdevice dev)
{
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return (int)SC_SMS;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
        return sc_options.integrated;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return dev + 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return SC_SM / 10;
    default:
        return SC_SM % 10;
    }
}

SC_API cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    enum { SC_PER_DEVICE = INT32_MIN };
    static const struct {
        int number, value;
    } table[] = {
#define SC_ATTRIBUTE(name, number, value) {number, value},
#define SC_ATTRIBUTE_ALIAS(name, number)
#include "softcuda/attribute.def"
#undef SC_ATTRIBUTE
#undef SC_ATTRIBUTE_ALIAS
    };
    SC_TRY(check_device(pi, dev));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].number != (int)attrib)
            continue;
        *pi = table[i].value == SC_PER_DEVICE
                  ? per_device_attribute((int)attrib, dev)
                  : table[i].value;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

SC_API cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    SC_TRY(check_device(pciBusId, dev));
    if (len < 13)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(pciBusId, (size_t)len, "0000:%02x:00.0", dev + 1);
    return CUDA_SUCCESS;
}

SC_API cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    SC_TRY(sc_enter());
    if (!dev || !pciBusId)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned domain = 0, bus, slot, function = 0;
    if (sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(pciBusId, "%x:%x.%x", &bus, &slot, &function) < 2)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (domain || slot || function || bus < 1 ||
        bus > (unsigned)sc_device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    *dev = (CUdevice)bus - 1;
    return CUDA_SUCCESS;
}

SC_API cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    SC_TRY(check_device(canAccessPeer, dev));
    if (!sc_device_get(peerDev))
        return CUDA_ERROR_INVALID_DEVICE;
    *canAccessPeer = sc_options.peer && dev != peerDev;
    return CUDA_SUCCESS;
}

SC_API cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
                               CUdevice srcDevice, CUdevice dstDevice)
{
    SC_TRY(check_device(value, srcDevice));
    if (!sc_device_get(dstDevice) || srcDevice == dstDevice)
        return CUDA_ERROR_INVALID_DEVICE;
    switch ((int)attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = sc_options.peer;
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
