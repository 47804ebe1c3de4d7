/* Modules and kernels, found by handle and by name. */
#include "call/kernel.h"

#include "accel/launch.h"
#include "base/lock.h"
#include "code/learned.h"
#include "mm/object/assign.h"
#include "mm/object/holders.h"
#include "call/code.h"
#include "call/detail.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct adsmKernel {
    adsmKernel *self; /* key of the table of kernels */
    adsmModule *module;
    struct adsm_code *code; /* lives as long as the module's; NULL: an act */
    struct adsm_layout layout;
    struct adsm_speed *speed; /* the code's */
    adsmReach reach;
    adsmKernel *next; /* of the same module */
    UT_hash_handle hh;
};

struct adsmModule {
    adsmModule *self;         /* key of the table of modules */
    struct adsm_image *image; /* NULL: of an act, as the next three */
    const struct adsm_act *act;
    void (*done)(const struct adsm_act *act);
    struct adsm_learned *learned;
    /* Who uses it: its entry in the table, and each who holds a kernel. From 0
     * on it belongs to who took the last. */
    _Atomic uint32_t holders;
    struct adsm_accel *accel; /* the first it was loaded on; NULL: an act */
    uint64_t serial;
    adsmKernel *kernels;
    UT_hash_handle hh;
};

static struct {
    struct adsm_lock lock;
    adsmModule *modules; /* lock, as all of this and what is in it */
    adsmKernel *kernels;
} known = {.lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE)};

/* May what a device refused be tried again? No lock is held. */
static bool has_made_room(int rc, struct adsm_accel *accel)
{
    return rc == ADSM_E_DEVICE_NOMEM && adsm_holders_make_room(accel, 1);
}

static int refused(int rc, const struct adsm_accel *accel)
{
    return adsm_detail_cause(rc, "the module was refused on device %d",
                             adsm_accel_device(accel));
}

static adsmModule *make_module(struct adsm_accel *accel, char *bytes,
                               size_t count, void *handle)
{
    static _Atomic uint64_t last;
    adsmModule *module = calloc(1, sizeof *module);
    if (!module)
        return NULL;
    module->image = adsm_image_loaded(bytes, count, accel, handle);
    if (!module->image) {
        free(module);
        return NULL;
    }
    module->self = module;
    module->accel = accel;
    module->serial = atomic_fetch_add(&last, 1) + 1;
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
    do
        rc = adsm_accel_module_load(accel, text, bytes, &handle);
    while (has_made_room(rc, accel));
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
        free(k);
        k = next;
    }
    int rc = ADSM_OK;
    if (module->image) {
        rc = adsm_image_unload(module->image, device);
        adsm_image_release(module->image);
    } else {
        adsm_learned_release(module->learned);
        if (module->done)
            module->done(module->act);
    }
    free(module);
    return rc;
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

/* The module's image on a device, loaded there if it is not yet. */
static int load_on(struct adsm_image *image, struct adsm_accel *accel)
{
    int rc;
    do
        rc = adsm_image_on(image, accel);
    while (has_made_room(rc, accel));
    return rc == ADSM_OK ? ADSM_OK : refused(rc, accel);
}

/* The driver's handle on a device that has the image. */
static int look_up(struct adsm_code *code, struct adsm_accel *accel,
                   void **handle)
{
    *handle = adsm_code_handle(code, accel);
    int rc = *handle ? ADSM_OK : adsm_code_on(code, accel, handle);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "kernel '%s' on device %d",
                                 adsm_code_name(code),
                                 adsm_accel_device(accel));
    return ADSM_OK;
}

static int no_memory(const char *name)
{
    return adsm_detail(ADSM_E_NOMEM, "no memory for kernel '%s'", name);
}

/* What is known of the kernel: its record, and what that says. */
static int describe(adsmModule *module, const char *name, adsmKernel *kernel)
{
    struct loaded on = {.accel = module->accel};
    kernel->code = adsm_image_code(module->image, name);
    if (!kernel->code)
        return no_memory(name);
    int rc = look_up(kernel->code, on.accel, &on.handle);
    if (rc != ADSM_OK)
        return rc;
    kernel->layout = adsm_code_layout(kernel->code, ask, &on);
    if (kernel->layout.count > ADSM_KERNEL_PARAMETERS)
        return adsm_detail(ADSM_E_LIMIT,
                           "kernel '%s' has more than %d parameters", name,
                           ADSM_KERNEL_PARAMETERS);
    kernel->speed = adsm_code_speed(kernel->code);
    return kernel->speed ? ADSM_OK : no_memory(name);
}

static int make_kernel(adsmModule *module, const char *name, adsmReach reach,
                       adsmKernel **out)
{
    adsmKernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return no_memory(name);
    int rc = describe(module, name, kernel);
    if (rc != ADSM_OK) {
        free(kernel);
        return rc;
    }
    kernel->self = kernel;
    kernel->module = module;
    kernel->reach = reach;
    kernel->next = module->kernels;
    module->kernels = kernel;
    HASH_ADD_PTR(known.kernels, self, kernel);
    *out = kernel;
    return ADSM_OK;
}

/* ---- acts ---------------------------------------------------------------------- */

int adsm_kernel_of_act(const struct adsm_act *act,
                       void (*done)(const struct adsm_act *act),
                       adsmKernel **out)
{
    adsmModule *module = calloc(1, sizeof *module);
    adsmKernel *kernel = calloc(1, sizeof *kernel);
    struct adsm_learned *learned = adsm_learned_hold(0, act->name);
    if (!module || !kernel || !learned) {
        free(module);
        free(kernel);
        adsm_learned_release(learned);
        return no_memory(act->name);
    }
    module->self = module;
    module->act = act;
    module->done = done;
    module->learned = learned;
    atomic_init(&module->holders, 1);
    *kernel = (adsmKernel){.self = kernel,
                           .module = module,
                           .layout = {.count = -1},
                           .speed = adsm_learned_speed(learned),
                           .reach = ADSM_ONLY_ARGUMENTS};
    module->kernels = kernel;
    adsm_lock_acquire(&known.lock);
    HASH_ADD_PTR(known.kernels, self, kernel);
    adsm_lock_release(&known.lock);
    *out = kernel;
    return ADSM_OK;
}

int adsm_kernel_end_act(const adsmKernel *handle)
{
    adsmKernel *kernel;
    int device;
    adsm_lock_acquire(&known.lock);
    HASH_FIND_PTR(known.kernels, &handle, kernel);
    if (kernel && !kernel->code)
        HASH_DEL(known.kernels, kernel);
    else
        kernel = NULL;
    adsm_lock_release(&known.lock);
    if (!kernel)
        return adsm_detail(ADSM_E_INVALID, "not a kernel that was made of a "
                                           "function (or not any more)");
    return drop(kernel->module, &device);
}

/* The first device that is there, for calls that name none. */
static int place_act(struct adsm_kernel_view *view)
{
    int rc = adsm_accel_open(0, &view->accel);
    for (int d = 1; d < adsm_accel_devices() &&
                    (rc != ADSM_OK || adsm_accel_health(view->accel));
         d++)
        rc = adsm_accel_open(d, &view->accel);
    if (rc != ADSM_OK)
        adsm_kernel_release(view);
    return rc;
}

/* ---- held ---------------------------------------------------------------------- */

/* The device that a module was loaded on is lost: from now on another one is in
 * its place, that of the lowest number which works and takes it. Where none does,
 * it stays. Held, or of a kernel that is. */
static void settle(adsmModule *module)
{
    struct adsm_accel *accel;
    bool found = false;
    for (int d = 0; d < adsm_accel_devices() && !found; d++)
        found = adsm_accel_open(d, &accel) == ADSM_OK &&
                adsm_accel_health(accel) == ADSM_OK &&
                load_on(module->image, accel) == ADSM_OK;
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

static void describe_view(adsmKernel *kernel, struct adsm_kernel_view *view)
{
    adsmModule *module = kernel->module;
    *view = (struct adsm_kernel_view){.kernel = kernel,
                                      .accel = module->accel,
                                      .reach = kernel->reach,
                                      .layout = kernel->layout,
                                      .module = module,
                                      .serial = module->serial,
                                      .speed = kernel->speed,
                                      .act = module->act};
    if (module->act) {
        view->name = module->act->name;
    } else {
        view->name = adsm_code_name(kernel->code);
        view->handle = adsm_code_handle(kernel->code, view->accel);
    }
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
        describe_view(kernel, view);
    }
    adsm_lock_release(&known.lock);
    if (!kernel)
        return adsm_detail(ADSM_E_INVALID, "not a kernel of a loaded module");
    if (view->act)
        return place_act(view);
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
    struct adsm_code *code = view->kernel->code;
    *handle = NULL;
    if (view->act)
        return ADSM_OK;
    *handle = adsm_code_handle(code, accel);
    if (*handle)
        return ADSM_OK;
    int rc = load_on(adsm_code_image(code), accel);
    return rc == ADSM_OK ? look_up(code, accel, handle) : rc;
}
