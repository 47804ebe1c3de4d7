/* Modules and kernels, found by handle and by name. */
#include "call/kernel.h"

#include "base/lock.h"
#include "mm/object/assign.h"
#include "mm/object/holders.h"
#include "call/code.h"
#include "call/detail.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A module on one device. */
struct place {
    struct adsm_accel *accel; /* NULL: not loaded there */
    void *handle;
};

struct adsmKernel {
    adsmKernel *self; /* key of the table of kernels */
    adsmModule *module;
    struct adsm_code *code; /* lives as long as the module's */
    struct adsm_layout layout;
    adsmReach reach;
    struct adsm_speed speed;
    adsmKernel *next; /* of the same module */
    UT_hash_handle hh;
    _Atomic(void *) handles[]; /* by device; NULL: not looked up yet */
};

struct adsmModule {
    adsmModule *self; /* key of the table of modules */
    char *image;      /* ends in a zero that `bytes` does not count */
    size_t bytes;
    struct adsm_image *code; /* what is known of it */
    /* Who uses it: its entry in the table, and each who holds a kernel. From 0
     * on it belongs to who took the last. */
    _Atomic uint32_t holders;
    struct adsm_accel *accel; /* the first it was loaded on */
    uint64_t serial;
    adsmKernel *kernels;
    UT_hash_handle hh;
    int devices;
    struct place places[]; /* by device; lock */
};

static struct {
    struct adsm_lock lock;
    adsmModule *modules; /* lock, as all of this and what is in it */
    adsmKernel *kernels;
} known = {.lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE)};

/* The driver's handle of an image on a device. No lock is held. */
static int load(struct adsm_accel *accel, const void *image, size_t bytes,
                void **handle)
{
    int rc;
    do
        rc = adsm_accel_module_load(accel, image, bytes, handle);
    while (rc == ADSM_E_DEVICE_NOMEM && adsm_holders_make_room(accel, 1));
    return rc;
}

static int refused(int rc, const struct adsm_accel *accel)
{
    return adsm_detail_cause(rc, "the module was refused on device %d",
                             adsm_accel_device(accel));
}

static adsmModule *make_module(struct adsm_accel *accel, char *image,
                               size_t bytes, void *handle)
{
    static _Atomic uint64_t last;
    int devices = adsm_accel_devices();
    adsmModule *module =
        calloc(1, sizeof *module + (size_t)devices * sizeof(struct place));
    if (!module)
        return NULL;
    module->code = adsm_image_new(image, bytes, 0);
    if (!module->code) {
        free(module);
        return NULL;
    }
    module->self = module;
    module->image = image;
    module->bytes = bytes;
    module->accel = accel;
    module->serial = atomic_fetch_add(&last, 1) + 1;
    module->devices = devices;
    module->places[adsm_accel_device(accel)] = (struct place){accel, handle};
    atomic_init(&module->holders, 1);
    return module;
}

int adsm_module_load(struct adsm_accel *accel, const void *image, size_t bytes,
                     adsmModule **out)
{
    char *text;
    int rc = bytes == 0 ? adsm_code_read(image, &text, &bytes)
                        : adsm_code_copy(image, bytes, &text);
    if (rc != ADSM_OK)
        return rc;
    void *handle;
    rc = load(accel, text, bytes, &handle);
    if (rc != ADSM_OK) {
        free(text);
        return refused(rc, accel);
    }
    adsmModule *module = make_module(accel, text, bytes, handle);
    if (!module) {
        (void)adsm_accel_module_unload(accel, handle);
        free(text);
        return adsm_detail(ADSM_E_NOMEM, "no memory for a module");
    }
    adsm_lock_acquire(&known.lock);
    HASH_ADD_PTR(known.modules, self, module);
    adsm_lock_release(&known.lock);
    *out = module;
    return ADSM_OK;
}

/* Give up one hold; the last one unloads. Return: the first refusal, and the
 * device that gave it: nobody hears of it when a launch was last. */
static int drop(adsmModule *module, int *device)
{
    /* Acquire and release: what other holders did is done before it is freed. */
    if (atomic_fetch_sub_explicit(&module->holders, 1, memory_order_acq_rel) >
        1)
        return ADSM_OK;
    for (adsmKernel *k = module->kernels; k;) {
        adsmKernel *next = k->next;
        adsm_assign_forget(k);
        adsm_speed_fini(&k->speed);
        free(k);
        k = next;
    }
    int first = ADSM_OK;
    for (int i = 0; i < module->devices; i++) {
        const struct place *place = &module->places[i];
        /* With a lost device its code is gone as well. */
        int rc = place->accel && adsm_accel_health(place->accel) == ADSM_OK
                     ? adsm_accel_module_unload(place->accel, place->handle)
                     : ADSM_OK;
        if (rc != ADSM_OK && first == ADSM_OK) {
            first = rc;
            *device = i;
        }
    }
    adsm_image_release(module->code);
    free(module->image);
    free(module);
    return first;
}

int adsm_module_unload(adsmModule *handle)
{
    adsmModule *module;
    adsm_lock_acquire(&known.lock);
    HASH_FIND_PTR(known.modules, &handle, module);
    if (module) {
        HASH_DEL(known.modules, module);
        for (adsmKernel *k = module->kernels; k; k = k->next)
            HASH_DEL(known.kernels, k);
    }
    adsm_lock_release(&known.lock);
    if (!module)
        return adsm_detail(ADSM_E_INVALID,
                           "not a loaded module (unloaded twice?)");
    int device;
    int rc = drop(module, &device);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "unloading on device %d", device);
    return ADSM_OK;
}

/* A kernel on a device. */
struct loaded {
    struct adsm_accel *accel;
    void *handle;
};

static int ask(void *context, unsigned index, size_t *offset, size_t *bytes)
{
    const struct loaded *on = context;
    return adsm_accel_kernel_parameter(on->accel, on->handle, index, offset,
                                       bytes);
}

static adsmKernel *find_kernel(const adsmModule *module, const char *name,
                               adsmReach reach)
{
    for (adsmKernel *k = module->kernels; k; k = k->next)
        if (k->reach == reach && strcmp(adsm_code_name(k->code), name) == 0)
            return k;
    return NULL;
}

static int look_up(struct adsm_accel *accel, void *module, const char *name,
                   void **handle)
{
    int rc = adsm_accel_kernel_get(accel, module, name, handle);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "kernel '%s' on device %d", name,
                                 adsm_accel_device(accel));
    return ADSM_OK;
}

/* The kernel's record, and where its parameters lie. */
static int describe(adsmModule *module, const char *name, struct loaded *on,
                    adsmKernel *kernel)
{
    kernel->code = adsm_image_code(module->code, name);
    if (!kernel->code)
        return adsm_detail(ADSM_E_NOMEM, "no memory for kernel '%s'", name);
    kernel->layout = adsm_code_layout(kernel->code, ask, on);
    if (kernel->layout.count > ADSM_KERNEL_PARAMETERS)
        return adsm_detail(ADSM_E_LIMIT,
                           "kernel '%s' has more than %d parameters", name,
                           ADSM_KERNEL_PARAMETERS);
    return ADSM_OK;
}

static int make_kernel(adsmModule *module, const char *name, adsmReach reach,
                       adsmKernel **out)
{
    int device = adsm_accel_device(module->accel);
    struct loaded on = {.accel = module->accel};
    int rc = look_up(on.accel, module->places[device].handle, name, &on.handle);
    if (rc != ADSM_OK)
        return rc;
    size_t handles = (size_t)module->devices * sizeof(void *);
    adsmKernel *kernel = calloc(1, sizeof *kernel + handles);
    if (!kernel)
        return adsm_detail(ADSM_E_NOMEM, "no memory for kernel '%s'", name);
    rc = describe(module, name, &on, kernel);
    if (rc != ADSM_OK) {
        free(kernel);
        return rc;
    }
    kernel->self = kernel;
    kernel->module = module;
    kernel->reach = reach;
    atomic_init(&kernel->handles[device], on.handle);
    adsm_speed_init(&kernel->speed);
    kernel->next = module->kernels;
    module->kernels = kernel;
    HASH_ADD_PTR(known.kernels, self, kernel);
    *out = kernel;
    return ADSM_OK;
}

/* The module on a device. It is loaded without the lock, for that takes long:
 * of two threads that do so, one finds that it need not have. */
static int place_on(adsmModule *module, struct adsm_accel *accel, void **out)
{
    struct place *place = &module->places[adsm_accel_device(accel)];
    adsm_lock_acquire(&known.lock);
    bool there = place->accel != NULL;
    *out = place->handle;
    adsm_lock_release(&known.lock);
    if (there)
        return ADSM_OK;
    void *loaded;
    int rc = load(accel, module->image, module->bytes, &loaded);
    if (rc != ADSM_OK)
        return refused(rc, accel);
    adsm_lock_acquire(&known.lock);
    there = place->accel != NULL;
    if (!there)
        *place = (struct place){accel, loaded};
    *out = place->handle;
    adsm_lock_release(&known.lock);
    return there ? adsm_accel_module_unload(accel, loaded) : ADSM_OK;
}

/* The device that a module was loaded on is lost: from now on another one is in
 * its place, that of the lowest number which works and takes it. Where none does,
 * it stays. Held, or of a kernel that is. */
static void settle(adsmModule *module)
{
    struct adsm_accel *accel;
    void *handle;
    bool found = false;
    for (int d = 0; d < module->devices && !found; d++)
        found = adsm_accel_open(d, &accel) == ADSM_OK &&
                adsm_accel_health(accel) == ADSM_OK &&
                place_on(module, accel, &handle) == ADSM_OK;
    adsm_lock_acquire(&known.lock);
    if (found && adsm_accel_health(module->accel) != ADSM_OK)
        module->accel = accel;
    adsm_lock_release(&known.lock);
}

static bool is_lost(const adsmModule *module)
{
    return adsm_accel_health(module->accel) != ADSM_OK;
}

/* Look for a module's device, without the lock, where it is lost. */
static void revive(adsmModule *handle)
{
    adsmModule *module;
    int device;
    adsm_lock_acquire(&known.lock);
    HASH_FIND_PTR(known.modules, &handle, module);
    bool lost = module && is_lost(module);
    if (lost)
        atomic_fetch_add_explicit(&module->holders, 1, memory_order_relaxed);
    adsm_lock_release(&known.lock);
    if (!lost)
        return;
    settle(module);
    (void)drop(module, &device);
}

int adsm_kernel_get(adsmModule *handle, const char *name, adsmReach reach,
                    adsmKernel **out)
{
    adsmModule *module;
    int rc;
    revive(handle);
    adsm_lock_acquire(&known.lock);
    HASH_FIND_PTR(known.modules, &handle, module);
    if (!module) {
        rc = adsm_detail(ADSM_E_INVALID, "not a loaded module");
    } else {
        *out = find_kernel(module, name, reach);
        rc = *out ? ADSM_OK : make_kernel(module, name, reach, out);
    }
    adsm_lock_release(&known.lock);
    return rc;
}

static void *handle_on(adsmKernel *kernel, const struct adsm_accel *accel)
{
    /* Acquire: pairs with adsm_kernel_on; what the driver built is there. */
    return atomic_load_explicit(&kernel->handles[adsm_accel_device(accel)],
                                memory_order_acquire);
}

/* Its device is lost, or another one took its place. What has none is launched in
 * vain, and the launch says why. */
static int move(struct adsm_kernel_view *view)
{
    if (adsm_accel_health(view->accel) != ADSM_OK)
        settle(view->module);
    adsm_lock_acquire(&known.lock);
    struct adsm_accel *accel = view->module->accel;
    adsm_lock_release(&known.lock);
    if (adsm_accel_health(accel) != ADSM_OK)
        return ADSM_OK;
    int rc = adsm_kernel_on(view, accel, &view->handle);
    if (rc == ADSM_OK)
        view->accel = accel;
    else
        adsm_kernel_release(view);
    return rc;
}

int adsm_kernel_hold(const adsmKernel *handle, struct adsm_kernel_view *view)
{
    adsmKernel *kernel;
    view->kernel = NULL;
    adsm_lock_acquire(&known.lock);
    HASH_FIND_PTR(known.kernels, &handle, kernel);
    if (kernel) {
        /* Relaxed: the table's own hold keeps it under the lock. */
        atomic_fetch_add_explicit(&kernel->module->holders, 1,
                                  memory_order_relaxed);
        struct adsm_accel *accel = kernel->module->accel;
        *view = (struct adsm_kernel_view){kernel,
                                          accel,
                                          handle_on(kernel, accel),
                                          adsm_code_name(kernel->code),
                                          kernel->reach,
                                          kernel->layout,
                                          kernel->module,
                                          kernel->module->serial,
                                          &kernel->speed};
    }
    adsm_lock_release(&known.lock);
    if (!kernel)
        return adsm_detail(ADSM_E_INVALID, "not a kernel of a loaded module");
    return view->handle && adsm_accel_health(view->accel) == ADSM_OK
               ? ADSM_OK
               : move(view);
}

void adsm_kernel_release(const struct adsm_kernel_view *view)
{
    int device;
    if (view->kernel)
        (void)drop(view->kernel->module, &device);
}

int adsm_kernel_on(const struct adsm_kernel_view *view,
                   struct adsm_accel *accel, void **handle)
{
    adsmKernel *kernel = view->kernel;
    *handle = handle_on(kernel, accel);
    if (*handle)
        return ADSM_OK;
    void *module;
    int rc = place_on(kernel->module, accel, &module);
    if (rc == ADSM_OK)
        rc = look_up(accel, module, adsm_code_name(kernel->code), handle);
    if (rc == ADSM_OK)
        /* Release: pairs with handle_on. Two threads store the same. */
        atomic_store_explicit(&kernel->handles[adsm_accel_device(accel)],
                              *handle, memory_order_release);
    return rc;
}
