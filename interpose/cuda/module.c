/*
 * What is known of the program's kernels; see module.h.
 *
 * Handles are the driver's: a handle that is met again belongs to something
 * new, and what was known under it goes.
 */
#include "interpose/cuda/module.h"

#include "base/lock.h"
#include "interpose/cuda/driver.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A module or a library. */
struct known_image {
    const void *handle;
    const void *of; /* the library, or the module itself                     */
    struct adsm_image *image;
    UT_hash_handle hh;
};

/* A function, or a library's kernel, which can be launched as well. */
struct known_kernel {
    const void *handle;
    const void *of;         /* the image that it is from                     */
    struct adsm_code *code; /* that holds                                    */
    UT_hash_handle hh;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE);
static struct known_image *images;
static struct known_kernel *kernels;

static void drop_image(struct known_image *image)
{
    HASH_DEL(images, image);
    adsm_image_release(image->image);
    free(image);
}

static void drop_kernel(struct known_kernel *kernel)
{
    HASH_DEL(kernels, kernel);
    free(kernel);
}

/* What is of this image; NULL: all. */
static void drop(const void *of)
{
    struct known_kernel *kernel, *next_kernel;
    HASH_ITER(hh, kernels, kernel, next_kernel)
    {
        if (!of || kernel->of == of)
            drop_kernel(kernel);
    }
    struct known_image *image, *next_image;
    HASH_ITER(hh, images, image, next_image)
    {
        if (!of || image->of == of || image->handle == of)
            drop_image(image);
    }
}

static struct known_image *image_of(const void *handle)
{
    struct known_image *image;
    HASH_FIND_PTR(images, &handle, image);
    return image;
}

static struct known_kernel *kernel_of(const void *handle)
{
    struct known_kernel *kernel;
    HASH_FIND_PTR(kernels, &handle, kernel);
    return kernel;
}

/* `image` is held for it. */
static void add_image(const void *handle, const void *of,
                      struct adsm_image *image)
{
    struct known_image *known = calloc(1, sizeof *known);
    if (known) {
        *known =
            (struct known_image){.handle = handle, .of = of, .image = image};
        HASH_ADD_PTR(images, handle, known);
    }
    if (!known || !known->hh.tbl) {
        adsm_image_release(image);
        free(known);
    }
}

/* NULL: nothing can be known of it. */
static struct adsm_image *image_with_ptx(const void *bytes)
{
    struct adsm_image *image =
        bytes && hook_is_apart(bytes, 1)
            ? adsm_image_new(bytes, 0, cuda_driver_capability())
            : NULL;
    if (!image || adsm_image_has_ptx(image))
        return image;
    adsm_image_release(image);
    return NULL;
}

void cuda_module_loaded(const void *handle, const void *bytes)
{
    struct adsm_image *image = image_with_ptx(bytes);
    adsm_lock_acquire(&lock);
    drop(handle);
    if (image)
        add_image(handle, handle, image);
    adsm_lock_release(&lock);
}

void cuda_module_of_library(const void *module, const void *library)
{
    adsm_lock_acquire(&lock);
    struct known_image *there = image_of(module);
    struct known_image *known = image_of(library);
    if (known && (!there || there->of != library)) {
        drop(module);
        adsm_image_hold(known->image);
        add_image(module, library, known->image);
    }
    adsm_lock_release(&lock);
}

void cuda_module_unloaded(const void *handle)
{
    adsm_lock_acquire(&lock);
    drop(handle);
    adsm_lock_release(&lock);
}

static void add_kernel(const void *handle, const void *of,
                       struct adsm_code *code)
{
    struct known_kernel *kernel = kernel_of(handle);
    if (kernel && kernel->of == of && kernel->code == code)
        return;
    if (kernel)
        drop_kernel(kernel);
    kernel = code ? calloc(1, sizeof *kernel) : NULL;
    if (!kernel)
        return;
    *kernel = (struct known_kernel){.handle = handle, .of = of, .code = code};
    HASH_ADD_PTR(kernels, handle, kernel);
    if (!kernel->hh.tbl)
        free(kernel);
}

void cuda_module_kernel(const void *handle, const void *image, const char *name)
{
    adsm_lock_acquire(&lock);
    struct known_image *known = image_of(image);
    struct known_kernel *old = kernel_of(handle);
    if (known)
        add_kernel(handle, known->of, adsm_image_code(known->image, name));
    else if (old)
        drop_kernel(old);
    adsm_lock_release(&lock);
}

void cuda_module_function_of(const void *function, const void *kernel)
{
    adsm_lock_acquire(&lock);
    struct known_kernel *known = kernel_of(kernel);
    struct known_kernel *old = kernel_of(function);
    if (known && known != old)
        add_kernel(function, known->of, known->code);
    else if (!known && old)
        drop_kernel(old);
    adsm_lock_release(&lock);
}

struct adsm_code *cuda_module_hold(CUfunction function)
{
    adsm_lock_acquire(&lock);
    struct known_kernel *kernel = kernel_of(function);
    struct adsm_code *code = kernel ? kernel->code : NULL;
    if (code)
        adsm_image_hold(adsm_code_image(code));
    adsm_lock_release(&lock);
    return code;
}

void cuda_module_release(struct adsm_code *code)
{
    if (code)
        adsm_image_release(adsm_code_image(code));
}

void cuda_module_forget(void)
{
    cuda_module_unloaded(NULL);
}
