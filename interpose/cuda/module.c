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
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A module or a library; a module of a library has no program of its own. */
struct known_image {
    const void *handle;
    const void *of; /* the library, or the module itself                     */
    struct sc_program *program;
    UT_hash_handle hh;
};

/* A function, or a library's kernel, which can be launched as well. */
struct known_kernel {
    const void *handle;
    const void *of;                 /* the image that it is from             */
    struct sc_program_kernel *code; /* NULL: not looked at yet               */
    UT_hash_handle hh;
    char name[];
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE);
static struct known_image *images;
static struct known_kernel *kernels;

static void drop_image(struct known_image *image)
{
    HASH_DEL(images, image);
    sc_program_free(image->program);
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

static void add_image(const void *handle, const void *of,
                      struct sc_program *program)
{
    struct known_image *image = calloc(1, sizeof *image);
    if (image) {
        *image = (struct known_image){
            .handle = handle, .of = of, .program = program};
        HASH_ADD_PTR(images, handle, image);
    }
    if (!image || !image->hh.tbl) {
        sc_program_free(program);
        free(image);
    }
}

void cuda_module_loaded(const void *handle, const void *image)
{
    struct sc_program *program =
        image && hook_is_plain(image, 1)
            ? sc_program_new(image, cuda_driver_capability())
            : NULL;
    adsm_lock_acquire(&lock);
    drop(handle);
    if (program)
        add_image(handle, handle, program);
    adsm_lock_release(&lock);
}

void cuda_module_of_library(const void *module, const void *library)
{
    adsm_lock_acquire(&lock);
    struct known_image *there = image_of(module);
    if (image_of(library) && (!there || there->of != library)) {
        drop(module);
        add_image(module, library, NULL);
    }
    adsm_lock_release(&lock);
}

void cuda_module_unloaded(const void *handle)
{
    adsm_lock_acquire(&lock);
    drop(handle);
    adsm_lock_release(&lock);
}

static void add_kernel(const void *handle, const void *of, const char *name)
{
    struct known_kernel *kernel = kernel_of(handle);
    if (kernel && kernel->of == of && strcmp(kernel->name, name) == 0)
        return;
    if (kernel)
        drop_kernel(kernel);
    kernel = calloc(1, sizeof *kernel + strlen(name) + 1);
    if (!kernel)
        return;
    kernel->handle = handle;
    kernel->of = of;
    strcpy(kernel->name, name);
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
        add_kernel(handle, known->of, name);
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
        add_kernel(function, known->of, known->name);
    else if (!known && old)
        drop_kernel(old);
    adsm_lock_release(&lock);
}

/* NULL: nothing is known. */
static struct sc_program_kernel *code_of(const void *handle)
{
    struct known_kernel *kernel = kernel_of(handle);
    if (!kernel || kernel->code)
        return kernel ? kernel->code : NULL;
    struct known_image *image = image_of(kernel->of);
    if (image && image->program)
        kernel->code = sc_program_kernel(image->program, kernel->name);
    struct sc_program_kernel *code = kernel->code;
    if (!code)
        drop_kernel(kernel); /* nor will there be another time */
    return code;
}

bool cuda_module_reach(CUfunction handle, struct sc_reach *reach)
{
    hook_enter();
    adsm_lock_acquire(&lock);
    const struct sc_program_kernel *code = code_of(handle);
    if (code)
        *reach = *sc_program_reach(code);
    adsm_lock_release(&lock);
    hook_leave();
    return code != NULL;
}

/* The values of all parameters, in one piece. Return: how many bytes; 0: they
 * are not to be had */
static size_t gather(const struct sc_program_kernel *code,
                     const struct cuda_arguments *a, uint8_t *to, size_t room)
{
    size_t offset, bytes, end = 0;
    for (unsigned i = 0; (bytes = sc_program_parameter(code, i, &offset));
         i++) {
        const struct sc_place place = {(uint16_t)i, 0, (uint16_t)offset};
        const char *from = cuda_arguments_at(a, &place);
        if (!from || offset + bytes > room ||
            (!a->params && offset + bytes > a->extra_bytes))
            return 0;
        memcpy(to + offset, from, bytes);
        end = offset + bytes;
    }
    return end;
}

bool cuda_module_touched(CUfunction handle, const struct sc_geometry *geometry,
                         const struct cuda_arguments *a,
                         struct sc_touched *touched)
{
    uint8_t params[CUDA_ARGUMENT_BYTES_MOST] = {0};
    bool known = false;
    hook_enter();
    adsm_lock_acquire(&lock);
    struct sc_program_kernel *code = code_of(handle);
    size_t bytes = code ? gather(code, a, params, sizeof params) : 0;
    if (bytes)
        known = sc_program_touched(code, geometry, params, bytes, touched);
    adsm_lock_release(&lock);
    hook_leave();
    return known;
}

void cuda_module_forget(void)
{
    cuda_module_unloaded(NULL);
}
