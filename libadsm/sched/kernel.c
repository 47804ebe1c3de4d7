/* Modules and kernels, found by handle and by name. */
#include "sched/kernel.h"

#include "base/lock.h"
#include "mm/assign.h"
#include "sched/detail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct adsmKernel {
    adsmKernel *self; /* key of the table of kernels */
    adsmModule *module;
    void *handle;
    adsmReach reach;
    int parameters;
    uint16_t parameter_bytes[ADSM_KERNEL_PARAMETERS];
    adsmKernel *next; /* of the same module */
    UT_hash_handle hh;
    char name[];
};

struct adsmModule {
    adsmModule *self; /* key of the table of modules */
    struct adsm_accel *accel;
    void *handle;
    adsmKernel *kernels;
    UT_hash_handle hh;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE);
static adsmModule *modules;
static adsmKernel *kernels;

/* Whole file in memory, ended by a zero that PTX text needs. */
static int read_image(const char *path, char **image, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return adsm_detail(ADSM_E_NOT_FOUND, "cannot open module '%s': %s",
                           path, strerror(errno));
    size_t capacity = 1 << 16, n = 0;
    char *text = malloc(capacity + 1);
    while (text) {
        size_t got = fread(text + n, 1, capacity - n, file);
        n += got;
        if (n < capacity)
            break;
        capacity *= 2;
        char *more = realloc(text, capacity + 1);
        if (!more)
            free(text);
        text = more;
    }
    bool failed = ferror(file);
    fclose(file);
    if (!text)
        return adsm_detail(ADSM_E_NOMEM, "no memory for module '%s'", path);
    if (failed || n == 0) {
        free(text);
        return adsm_detail(ADSM_E_INVALID, "module '%s' %s", path,
                           failed ? "cannot be read" : "is empty");
    }
    text[n] = '\0';
    *image = text;
    *bytes = n;
    return ADSM_OK;
}

/* A copy that ends in a zero, which the driver wants behind PTX text. */
static int copy_image(const void *image, size_t bytes, char **copy)
{
    *copy = malloc(bytes + 1);
    if (!*copy)
        return adsm_detail(ADSM_E_NOMEM, "no memory for %zu bytes of code",
                           bytes);
    memcpy(*copy, image, bytes);
    (*copy)[bytes] = '\0';
    return ADSM_OK;
}

int adsm_module_load(struct adsm_accel *accel, const void *image, size_t bytes,
                     adsmModule **out)
{
    char *text;
    int rc = bytes == 0 ? read_image(image, &text, &bytes)
                        : copy_image(image, bytes, &text);
    if (rc != ADSM_OK)
        return rc;
    void *handle;
    rc = adsm_accel_module_load(accel, text, bytes, &handle);
    free(text);
    if (rc != ADSM_OK)
        return adsm_detail(rc, "the module was refused: %s",
                           adsm_accel_error_text());
    adsmModule *module = calloc(1, sizeof *module);
    if (!module) {
        (void)adsm_accel_module_unload(accel, handle);
        return adsm_detail(ADSM_E_NOMEM, "no memory for a module");
    }
    module->self = module;
    module->accel = accel;
    module->handle = handle;
    adsm_lock_acquire(&lock);
    HASH_ADD_PTR(modules, self, module);
    adsm_lock_release(&lock);
    *out = module;
    return ADSM_OK;
}

int adsm_module_unload(adsmModule *handle)
{
    adsmModule *module;
    adsm_lock_acquire(&lock);
    HASH_FIND_PTR(modules, &handle, module);
    if (module) {
        HASH_DEL(modules, module);
        for (adsmKernel *k = module->kernels; k;) {
            adsmKernel *next = k->next;
            HASH_DEL(kernels, k);
            adsm_assign_forget(k);
            free(k);
            k = next;
        }
    }
    adsm_lock_release(&lock);
    if (!module)
        return adsm_detail(ADSM_E_INVALID,
                           "not a loaded module (unloaded twice?)");
    int rc = adsm_accel_module_unload(module->accel, module->handle);
    free(module);
    return rc;
}

/* Sizes of the parameters, when the driver can tell. */
static void read_parameters(adsmKernel *kernel, struct adsm_accel *accel)
{
    size_t offset, bytes;
    int n = 0;
    for (; n < ADSM_KERNEL_PARAMETERS; n++) {
        int rc = adsm_accel_kernel_parameter(accel, kernel->handle, (unsigned)n,
                                             &offset, &bytes);
        if (rc == ADSM_E_UNSUPPORTED) {
            kernel->parameters = -1;
            return;
        }
        if (rc != ADSM_OK)
            break;
        kernel->parameter_bytes[n] = (uint16_t)bytes;
    }
    kernel->parameters = n;
}

static adsmKernel *find_kernel(const adsmModule *module, const char *name,
                               adsmReach reach)
{
    for (adsmKernel *k = module->kernels; k; k = k->next)
        if (k->reach == reach && strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

static int make_kernel(adsmModule *module, const char *name, adsmReach reach,
                       adsmKernel **out)
{
    void *handle;
    int rc =
        adsm_accel_kernel_get(module->accel, module->handle, name, &handle);
    if (rc != ADSM_OK)
        return adsm_detail(rc, "kernel '%s': %s", name,
                           adsm_accel_error_text());
    adsmKernel *kernel = calloc(1, sizeof *kernel + strlen(name) + 1);
    if (!kernel)
        return adsm_detail(ADSM_E_NOMEM, "no memory for kernel '%s'", name);
    kernel->self = kernel;
    kernel->module = module;
    kernel->handle = handle;
    kernel->reach = reach;
    strcpy(kernel->name, name);
    read_parameters(kernel, module->accel);
    kernel->next = module->kernels;
    module->kernels = kernel;
    HASH_ADD_PTR(kernels, self, kernel);
    *out = kernel;
    return ADSM_OK;
}

int adsm_kernel_get(adsmModule *handle, const char *name, adsmReach reach,
                    adsmKernel **out)
{
    adsmModule *module;
    int rc;
    adsm_lock_acquire(&lock);
    HASH_FIND_PTR(modules, &handle, module);
    if (!module) {
        rc = adsm_detail(ADSM_E_INVALID, "not a loaded module");
    } else {
        *out = find_kernel(module, name, reach);
        rc = *out ? ADSM_OK : make_kernel(module, name, reach, out);
    }
    adsm_lock_release(&lock);
    return rc;
}

int adsm_kernel_view(const adsmKernel *handle, struct adsm_kernel_view *view)
{
    adsmKernel *kernel;
    adsm_lock_acquire(&lock);
    HASH_FIND_PTR(kernels, &handle, kernel);
    if (kernel)
        *view = (struct adsm_kernel_view){
            kernel->module->accel, kernel->handle,     kernel->name,
            kernel->reach,         kernel->parameters, kernel->parameter_bytes};
    adsm_lock_release(&lock);
    if (!kernel)
        return adsm_detail(ADSM_E_INVALID, "not a kernel of a loaded module");
    return ADSM_OK;
}
