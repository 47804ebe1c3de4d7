/*
 * Public entry points: check the arguments, bring the runtime up, pass on.
 * Nothing below checks again what is checked here. What is done in steps is
 * no place where a thread can be cancelled.
 */
#include "adsm.h"

#include "accel/cpu_code.h"
#include "api_parts.h"
#include "base/cancel.h"
#include "init.h"
#include "mm/doors/boundary.h"
#include "mm/doors/loan.h"
#include "mm/heap/heap.h"
#include "mm/object/assign.h"
#include "os/fault.h"
#include "call/call.h"
#include "call/detail.h"
#include "call/kernel.h"

#include <string.h>

static __thread struct {
    int device;
    adsmStatus status; /* of its last call */
} thread;

adsmStatus adsm_api_done(int status)
{
    adsm_detail_end(status);
    thread.status = (adsmStatus)status;
    return thread.status;
}

int adsm_api_may_enter(void)
{
    if (!adsm_fault_in_driver())
        return ADSM_OK;
    return adsm_detail(ADSM_E_INVALID,
                       "a function that enqueues work in a kernel's place "
                       "(adsmStream, adsmKernelOf) must not call this");
}

int adsm_api_bring_up(void)
{
    int rc = adsm_api_may_enter();
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_init();
    if (rc == ADSM_E_NO_DEVICE)
        return adsm_detail(rc, "%s", adsm_accel_why());
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "the runtime is not up");
    adsm_fault_open_thread();
    return ADSM_OK;
}

int adsm_api_may_call(int count, const adsmArg *args)
{
    int rc = adsm_api_bring_up();
    return rc == ADSM_OK && count > 0 && !args
               ? adsm_detail(ADSM_E_INVALID, "args must not be NULL")
               : rc;
}

/* The accel of the thread's device. */
int adsm_api_current(struct adsm_accel **accel)
{
    int rc = adsm_api_bring_up();
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_accel_open(thread.device, accel);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "device %d", thread.device);
    return ADSM_OK;
}

int adsm_api_device(void)
{
    return thread.device;
}

const char *adsmErrorName(int status)
{
    return adsm_status_name(status);
}

const char *adsmErrorText(int status)
{
    return adsm_status_text(status);
}

const char *adsmErrorDetail(void)
{
    return adsm_detail_text();
}

adsmStatus adsmLastStatus(void)
{
    return thread.status;
}

int adsmDeviceCount(void)
{
    return adsm_api_done(adsm_api_bring_up()) == ADSM_OK ? adsm_accel_devices()
                                                         : 0;
}

adsmStatus adsmDeviceUse(int device)
{
    int rc = adsm_api_bring_up();
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    if (device < 0 || device >= adsm_accel_devices())
        return adsm_api_done(adsm_detail(ADSM_E_INVALID,
                                         "device %d: there are 0 to %d", device,
                                         adsm_accel_devices() - 1));
    thread.device = device;
    return adsm_api_done(ADSM_OK);
}

adsmStatus adsmDeviceMemory(int device, size_t *total, size_t *avail)
{
    int rc = adsm_api_bring_up();
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    char name[8];
    size_t total_bytes, free_bytes;
    rc = adsm_accel_describe(device, name, sizeof name, &total_bytes,
                             &free_bytes);
    if (rc != ADSM_OK)
        return adsm_api_done(adsm_detail_cause(rc, "device %d", device));
    if (total)
        *total = total_bytes;
    if (avail)
        *avail = free_bytes;
    return adsm_api_done(ADSM_OK);
}

adsmStatus adsmCpuAdd(adsmCpuCode *code)
{
    int rc = adsm_cpu_code_add(code);
    return adsm_api_done(
        rc == ADSM_OK ? rc : adsm_detail(rc, "%s", adsm_accel_error_text()));
}

adsmStatus adsmCpuRemove(adsmCpuCode *code)
{
    adsm_cpu_code_remove(code);
    return adsm_api_done(ADSM_OK);
}

static void *allocate(size_t bytes, const struct adsm_kind *kind)
{
    ADSM_NOT_CANCELLED;
    struct adsm_accel *accel;
    void *host = NULL;
    if (bytes == 0) {
        adsm_api_done(adsm_detail(ADSM_E_INVALID,
                                  "0 bytes asked for; 1 or more "
                                  "are possible"));
        return NULL;
    }
    int rc = adsm_api_current(&accel);
    if (rc == ADSM_OK) {
        rc = adsm_heap_alloc(accel, bytes, kind, &host);
        if (rc != ADSM_OK)
            (void)adsm_detail_cause(rc, "%zu bytes of shared memory", bytes);
    }
    return adsm_api_done(rc) == ADSM_OK ? host : NULL;
}

void *adsmAlloc(size_t bytes)
{
    return allocate(bytes, &adsm_kind_plain);
}

void *adsmSafeAlloc(size_t bytes)
{
    return allocate(bytes, &adsm_kind_safe);
}

void *adsmSafe(const void *address)
{
    struct adsm_daddr device;
    void *base;
    size_t bytes;
    int rc = adsm_heap_range(address, &base, &bytes);
    if (rc == ADSM_OK)
        rc = adsm_heap_device(address, &device);
    if (rc != ADSM_OK) {
        adsm_api_done(adsm_detail(
            rc,
            rc == ADSM_E_NOT_SHARED ? "%p is not in a shared object"
                                    : "%p is in an array without a home, which "
                                      "has no address on devices",
            address));
        return NULL;
    }
    adsm_api_done(ADSM_OK);
    return (void *)(uintptr_t)device.at;
}

/* What the program has given it gets back with all that is in it. Return: the
 * first that cannot be had of it: the host keeps what it has */
static int fetch_given(const void *address)
{
    size_t bytes = adsm_heap_given(address);
    int first = ADSM_OK;
    for (size_t n, at = 0; at < bytes; at += n) {
        struct adsm_loan loan;
        int rc = adsm_loan_begin_for((const char *)address + at, bytes - at,
                                     ADSM_READ, &loan, ADSM_CAUSE(own));
        n = rc == ADSM_OK ? loan.bytes : bytes - at;
        if (rc == ADSM_OK)
            rc = adsm_loan_end(&loan, n);
        if (first == ADSM_OK)
            first = rc;
    }
    return first;
}

adsmStatus adsmFree(void *address)
{
    ADSM_NOT_CANCELLED;
    if (!address)
        return adsm_api_done(ADSM_OK);
    int rc = adsm_api_may_enter();
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    int fetched = fetch_given(address);
    rc = adsm_heap_free(address);
    if (rc == ADSM_E_NOT_SHARED)
        (void)adsm_detail(rc,
                          "%p is not the start of a shared allocation (freed "
                          "already, inside one, or never allocated)",
                          address);
    else if (rc != ADSM_OK)
        (void)adsm_detail_cause(rc, "freeing %p", address);
    else if (fetched != ADSM_OK)
        rc = adsm_detail_cause(fetched,
                               "%p is the program's again, but not all that "
                               "devices had of it is there",
                               address);
    return adsm_api_done(rc);
}

adsmStatus adsmModuleLoad(adsmModule **module, const void *image, size_t bytes)
{
    ADSM_NOT_CANCELLED;
    struct adsm_accel *accel;
    if (!module || !image)
        return adsm_api_done(
            adsm_detail(ADSM_E_INVALID, "module and image must not be NULL"));
    *module = NULL;
    int rc = adsm_api_current(&accel);
    if (rc == ADSM_OK)
        rc = adsm_module_load(accel, image, bytes, module);
    return adsm_api_done(rc);
}

adsmStatus adsmModuleUnload(adsmModule *module)
{
    ADSM_NOT_CANCELLED;
    int rc = adsm_api_may_enter();
    return adsm_api_done(rc == ADSM_OK ? adsm_module_unload(module) : rc);
}

adsmStatus adsmKernelGet(adsmKernel **kernel, adsmModule *module,
                         const char *name, adsmReach reach)
{
    ADSM_NOT_CANCELLED;
    if (!kernel || !name)
        return adsm_api_done(
            adsm_detail(ADSM_E_INVALID, "kernel and name must not be NULL"));
    *kernel = NULL;
    if (reach != ADSM_ANY_OBJECT && reach != ADSM_ONLY_ARGUMENTS)
        return adsm_api_done(adsm_detail(ADSM_E_INVALID,
                                         "reach %d: ADSM_ANY_OBJECT or "
                                         "ADSM_ONLY_ARGUMENTS",
                                         (int)reach));
    return adsm_api_done(adsm_kernel_get(module, name, reach, kernel));
}

static adsmStatus assigned(int rc, const void *address)
{
    switch (rc) {
    case ADSM_E_NOT_SHARED:
        (void)adsm_detail(rc, "%p is not in a shared object", address);
        break;
    case ADSM_E_UNSUPPORTED:
        (void)adsm_detail(rc, "small objects share a slab and belong to every "
                              "kernel: allocate more than ADSM_SLAB_MAX bytes");
        break;
    case ADSM_E_LIMIT:
        (void)adsm_detail(rc, "an object can be assigned to %d kernels at most",
                          ADSM_OBJECT_KERNELS);
        break;
    case ADSM_E_NOT_FOUND:
        (void)adsm_detail(rc, "the object is not assigned to that kernel");
        break;
    }
    return adsm_api_done(rc);
}

adsmStatus adsmAttach(void *address, adsmKernel *kernel)
{
    struct adsm_kernel_view view;
    int rc = adsm_kernel_hold(kernel, &view);
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    rc = adsm_assign_attach(address, kernel);
    adsm_kernel_release(&view);
    return assigned(rc, address);
}

adsmStatus adsmDetach(void *address, adsmKernel *kernel)
{
    struct adsm_kernel_view view;
    int rc = adsm_kernel_hold(kernel, &view);
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    rc = adsm_assign_detach(address, kernel);
    adsm_kernel_release(&view);
    return assigned(rc, address);
}

/* Dimensions as drivers count them. */
static int take_dimensions(const char *what, adsmDim dim, const long most[3],
                           unsigned out[3])
{
    const long given[3] = {dim.x, dim.y, dim.z};
    for (int i = 0; i < 3; i++) {
        if (given[i] < 1 || given[i] > most[i])
            return adsm_detail(ADSM_E_INVALID,
                               "a %s of %ld x %ld x %ld: dimensions of 1 x 1 x "
                               "1 to %ld x %ld x %ld are possible",
                               what, dim.x, dim.y, dim.z, most[0], most[1],
                               most[2]);
        out[i] = (unsigned)given[i];
    }
    return ADSM_OK;
}

adsmStatus adsmLaunchV(adsmKernel *kernel, adsmDim grid, adsmDim block,
                       size_t shared_bytes, int count, const adsmArg *args)
{
    ADSM_NOT_CANCELLED;
    static const long most_blocks[] = {INT32_MAX, 65535, 65535};
    static const long most_threads[] = {1024, 1024, 1024};
    unsigned g[3], b[3];
    int rc = take_dimensions("grid", grid, most_blocks, g);
    if (rc == ADSM_OK)
        rc = take_dimensions("block", block, most_threads, b);
    if (rc == ADSM_OK)
        rc = adsm_api_may_call(count, args);
    if (rc == ADSM_OK)
        rc = adsm_call_launch(kernel, g, b, shared_bytes, count, args);
    return adsm_api_done(rc);
}

adsmStatus adsmCallV(adsmKernel *kernel, long n, int count, const adsmArg *args)
{
    ADSM_NOT_CANCELLED;
    adsmBox range = adsmR1(n);
    const adsmOpts *opts;
    int rc = adsm_api_may_call(count, args);
    if (rc == ADSM_OK)
        rc = adsm_api_options(NULL, NULL, &opts);
    if (rc == ADSM_OK)
        rc = adsm_call_range(kernel, &range, opts, opts ? thread.device : -1,
                             count, args);
    return adsm_api_done(rc);
}

adsmStatus adsmSync(void)
{
    ADSM_NOT_CANCELLED;
    struct adsm_accel *accel;
    int rc = adsm_api_current(&accel);
    if (rc != ADSM_OK)
        return adsm_api_done(rc);
    int others = adsm_call_sync(accel);
    rc = adsm_accel_synchronize(accel);
    if (rc == ADSM_OK)
        rc = adsm_boundary_return(accel);
    if (rc != ADSM_OK) {
        (void)adsm_detail_cause(rc, "device %d", thread.device);
        adsm_call_told(accel);
    }
    return adsm_api_done(rc != ADSM_OK ? rc : others);
}
