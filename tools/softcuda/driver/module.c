/*
 * Owns: modules of contexts and the libraries that load them on demand.
 * Does not own: PTX (the device process reads it), launches (launch.c).
 * Lock: `lock`, rank 1: held while loading on behalf of a library, never
 * together with the start lock taken after it.
 */
#include "driver/module.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/handle.h"
#include "driver/memory.h"
#include "driver/stats.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUmod_st *modules; /* under lock */

static int image_file(const char *text, size_t bytes)
{
    int fd = memfd_create("softcuda-image", MFD_CLOEXEC);
    size_t done = 0;
    while (fd >= 0 && done < bytes) {
        ssize_t n = pwrite(fd, text + done, bytes - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)n;
    }
    return fd;
}

static uint8_t *read_answer(int fd)
{
    struct sc_load_answer head;
    if (pread(fd, &head, sizeof head, 0) != sizeof head ||
        head.total_bytes < sizeof head || head.total_bytes > 1u << 30)
        return NULL;
    uint8_t *answer = malloc(head.total_bytes);
    if (answer &&
        pread(fd, answer, head.total_bytes, 0) != (ssize_t)head.total_bytes) {
        free(answer);
        return NULL;
    }
    return answer;
}

/* Send the text to the device and fetch its answer. */
static CUresult exchange(struct sc_device *device, const char *text,
                         size_t bytes, uint8_t **answer)
{
    int fd = image_file(text, bytes);
    if (fd < 0) {
        sc_say("device %d: no file to load a module by: %s", device->ordinal,
               sc_file_why());
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, device, NULL);
    struct sc_command_load *command =
        op ? sc_op_command(op, SC_COMMAND_LOAD, sizeof *command) : NULL;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (command) {
        command->image_bytes = bytes;
        op->compute.file = fd;
        result = sc_op_submit_wait(op, NULL);
        if (result != CUDA_ERROR_DEVICE_UNAVAILABLE) {
            *answer = read_answer(fd);
            if (!*answer) {
                sc_say("device %d: no module could be loaded: no descriptors "
                       "or memory left there (ulimit -a)?",
                       device->ordinal);
                result = CUDA_ERROR_OUT_OF_MEMORY;
            }
        }
    }
    close(fd);
    return result;
}

static void post_unload(struct sc_device *device, uint64_t number)
{
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, device, NULL);
    struct sc_command_unload *command =
        op ? sc_op_command(op, SC_COMMAND_UNLOAD, sizeof *command) : NULL;
    if (!command)
        return;
    command->module = number;
    sc_op_submit(op, NULL);
}

/* Point the module's tables into the device's answer. */
static bool adopt_answer(CUmodule module, uint8_t *answer)
{
    const struct sc_load_answer *head = (const void *)answer;
    const struct sc_load_kernel *kernels = (const void *)(head + 1);
    const struct sc_load_param *params =
        (const void *)(kernels + head->kernels);
    module->variables = (const void *)(params + head->params);
    module->variable_count = head->variables;
    module->names =
        (const char *)(module->variables + head->variables) + head->log_bytes;
    module->number = head->module;
    module->target = head->target;
    module->answer = answer;
    module->functions = calloc(head->kernels + 1, sizeof *module->functions);
    if (!module->functions)
        return false;
    for (uint32_t i = 0; i < head->kernels; i++) {
        struct CUfunc_st *f = &module->functions[i];
        *f = (struct CUfunc_st){.module = module,
                                .name = module->names + kernels[i].name,
                                .info = &kernels[i],
                                .params = params + kernels[i].first_param,
                                .index = i,
                                .dynamic_shared_limit = 48 << 10,
                                .carveout = -1};
        f->stats = sc_stats_kernel(f->name);
        if (!sc_handle_add(f, SC_HANDLE_FUNCTION))
            return false;
        module->function_count = i + 1;
    }
    return true;
}

/* Pages of a managed variable: the device keeps it in pages of its own. */
static uint64_t page_bytes(const struct sc_load_variable *v)
{
    return (v->bytes + 4095) & ~4095ull;
}

/* Let the host reach a managed variable where the device has it.  Directly: a
 * library preloaded into the program may hook the wrapper. */
static bool map_managed(struct sc_device *device,
                        const struct sc_load_variable *v)
{
    uint64_t offset = device->heap_offset + (v->address - device->heap_base);
    long got =
        syscall(SYS_mmap, v->address, page_bytes(v), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, sc_device_file(device), offset);
    return got == (long)v->address;
}

static void unmap_managed(const struct sc_load_variable *v)
{
    syscall(SYS_mmap, v->address, page_bytes(v), PROT_NONE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0L);
}

/* Each device has its own: that is what differs from hardware. */
static void note_managed(const struct sc_device *device)
{
    static _Atomic int first = -1;
    static _Atomic bool said;
    int none = -1;
    if (!atomic_compare_exchange_strong(&first, &none, device->ordinal) &&
        none != device->ordinal && !atomic_exchange(&said, true))
        sc_say("managed variables are not shared between devices: device %d "
               "has its own",
               device->ordinal);
}

/* Enter the variables into the address table and count their memory. */
static bool place_variables(CUmodule module)
{
    struct sc_device *device = module->ctx->device;
    const struct sc_load_answer *head = (const void *)module->answer;
    pthread_mutex_lock(&sc_memory_lock);
    uint64_t more = head->heap_bytes > device->heap_used
                        ? head->heap_bytes - device->heap_used
                        : 0;
    bool fits = sc_memory_charge(device, more);
    bool ok = fits;
    if (ok) {
        module->heap_bytes = more;
        device->heap_used += more;
    }
    for (uint32_t i = 0; ok && i < module->variable_count; i++) {
        const struct sc_load_variable *v = &module->variables[i];
        uint64_t into = v->address - device->heap_base;
        struct sc_block block = {.address = v->address,
                                 .bytes = v->bytes,
                                 .offset = device->heap_offset + into,
                                 .kind = SC_BLOCK_VARIABLE,
                                 .device = device,
                                 .ctx = module->ctx,
                                 .managed = v->managed != 0};
        block.advice.preferred.type = CU_MEM_LOCATION_TYPE_INVALID;
        ok = v->bytes == 0 || sc_memory_add(&block);
        if (ok && v->managed) {
            note_managed(device);
            ok = map_managed(device, v);
        }
    }
    pthread_mutex_unlock(&sc_memory_lock);
    if (!fits)
        sc_memory_refuse(device, more);
    return ok;
}

/* Everything but the list entry. */
static void dismantle(CUmodule module)
{
    struct sc_device *device = module->ctx->device;
    sc_handle_remove(module);
    for (uint32_t i = 0; i < module->function_count; i++)
        sc_handle_remove(&module->functions[i]);
    pthread_mutex_lock(&sc_memory_lock);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        struct sc_block *b = sc_memory_find(module->variables[i].address);
        if (b && b->kind == SC_BLOCK_VARIABLE)
            sc_memory_remove(b);
        if (module->variables[i].managed)
            unmap_managed(&module->variables[i]);
    }
    device->heap_used -= module->heap_bytes;
    device->used_bytes -= module->heap_bytes;
    pthread_mutex_unlock(&sc_memory_lock);
    post_unload(device, module->number);
    for (uint32_t i = 0; i < module->function_count; i++)
        free(module->functions[i].prepared);
    free(module->functions);
    free(module->answer);
    free(module);
}

CUresult sc_module_new(CUmodule *out, CUcontext ctx, const char *text,
                       size_t bytes, CUlibrary library, struct sc_jit_log *log)
{
    uint8_t *answer = NULL;
    CUresult result = exchange(ctx->device, text, bytes, &answer);
    if (result != CUDA_SUCCESS) {
        const struct sc_load_answer *head = (const void *)answer;
        if (head && head->log_bytes <= head->total_bytes)
            sc_jit_log_error(log, "module refused",
                             (const char *)answer + sizeof *head);
        free(answer);
        return result;
    }
    CUmodule module = calloc(1, sizeof *module);
    if (!module) {
        free(answer);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->ctx = ctx;
    module->library = library;
    if (!adopt_answer(module, answer) || !place_variables(module) ||
        !sc_handle_add(module, SC_HANDLE_MODULE)) {
        dismantle(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    module->next = modules;
    modules = module;
    pthread_mutex_unlock(&lock);
    *out = module;
    return CUDA_SUCCESS;
}

static CUmodule unlink_where(CUmodule only, CUcontext ctx, CUlibrary library)
{
    pthread_mutex_lock(&lock);
    CUmodule *p = &modules;
    while (*p && !(*p == only || (ctx && (*p)->ctx == ctx) ||
                   (library && (*p)->library == library)))
        p = &(*p)->next;
    CUmodule found = *p;
    if (found)
        *p = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

void sc_module_destroy(CUmodule module)
{
    sc_device_drain(module->ctx->device);
    if (unlink_where(module, NULL, NULL))
        dismantle(module);
}

void sc_module_free_context(CUcontext ctx)
{
    CUmodule module;
    while ((module = unlink_where(NULL, ctx, NULL)))
        dismantle(module);
}

CUfunction sc_module_function(CUmodule module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i].name, name) == 0)
            return &module->functions[i];
    return NULL;
}

const struct sc_load_variable *sc_module_variable_of(CUmodule module,
                                                     const char *name)
{
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->names + module->variables[i].name, name) == 0)
            return &module->variables[i];
    return NULL;
}

static CUmodule loaded(CUlibrary library, CUcontext ctx)
{
    pthread_mutex_lock(&lock);
    CUmodule m = modules;
    while (m && (m->library != library || m->ctx != ctx))
        m = m->next;
    pthread_mutex_unlock(&lock);
    return m;
}

CUresult sc_library_module(CUlibrary library, CUcontext ctx, CUmodule *module)
{
    *module = loaded(library, ctx);
    if (*module)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&library_lock);
    CUresult result = CUDA_SUCCESS;
    *module = loaded(library, ctx);
    if (!*module) {
        result = sc_module_new(module, ctx, library->image,
                               library->image_bytes, library, NULL);
        /* a plugin's image is unregistered before what cuInit left is called */
        sc_context_expect_exit();
    }
    pthread_mutex_unlock(&library_lock);
    return result;
}

CUkernel sc_library_kernel(CUlibrary library, const char *name)
{
    pthread_mutex_lock(&lock);
    CUkernel kernel = library->kernels;
    while (kernel && strcmp(kernel->name, name) != 0)
        kernel = kernel->next;
    if (!kernel && (kernel = calloc(1, sizeof *kernel))) {
        kernel->library = library;
        kernel->name = strdup(name);
        if (!kernel->name || !sc_handle_add(kernel, SC_HANDLE_KERNEL)) {
            free(kernel->name);
            free(kernel);
            kernel = NULL;
        } else {
            kernel->next = library->kernels;
            library->kernels = kernel;
        }
    }
    pthread_mutex_unlock(&lock);
    return kernel;
}

void sc_library_destroy(CUlibrary library)
{
    CUmodule module;
    sc_handle_remove(library);
    while ((module = unlink_where(NULL, NULL, library))) {
        sc_device_drain(module->ctx->device);
        dismantle(module);
    }
    while (library->kernels) {
        CUkernel kernel = library->kernels;
        library->kernels = kernel->next;
        sc_handle_remove(kernel);
        free(kernel->name);
        free(kernel);
    }
    free(library->image);
    free(library);
}

CUresult sc_function_resolve(CUfunction handle, CUcontext ctx,
                             CUfunction *function)
{
    switch (sc_handle_kind(handle)) {
    case SC_HANDLE_FUNCTION:
        *function = handle;
        return CUDA_SUCCESS;
    case SC_HANDLE_KERNEL: {
        CUkernel kernel = (CUkernel)(void *)handle;
        CUmodule module;
        SC_TRY(sc_library_module(kernel->library, ctx, &module));
        *function = sc_module_function(module, kernel->name);
        return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    }
    default:
        return CUDA_ERROR_INVALID_HANDLE;
    }
}
