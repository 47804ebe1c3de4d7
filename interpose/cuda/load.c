/*
 * Calls that load and unload code: what they loaded is noted (module.h), and
 * nothing else happens. Never a reason for a call to fail.
 */
#include "interpose/cuda/driver.h"
#include "interpose/cuda/module.h"
#include "interpose/device/adopt.h"
#include "interpose/cuda/params.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The driver loaded `image`, with `result`. */
static CUresult loaded(CUresult result, void *const *handle, const void *image)
{
    if (result != CUDA_SUCCESS || hook_depth)
        return result;
    hook_enter();
    cuda_module_loaded(*handle, image);
    hook_leave();
    return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return loaded(CUDA_CALL(cuModuleLoadData, (module, image)), module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            int *options, void **values)
{
    return loaded(
        CUDA_CALL(cuModuleLoadDataEx, (module, image, count, options, values)),
        module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return loaded(CUDA_CALL(cuModuleLoadFatBinary, (module, image)), module,
                  image);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, int *options,
                           void **values, unsigned count, int *library_options,
                           void **library_values, unsigned library_count)
{
    return loaded(CUDA_CALL(cuLibraryLoadData,
                            (library, code, options, values, count,
                             library_options, library_values, library_count)),
                  library, code);
}

/* ---- files --------------------------------------------------------------- */

enum { FILE_BYTES_MOST = 256 << 20 };

/* A file that the driver is about to read. */
struct file {
    int fd; /* -1: none that we can read */
    struct stat before;
};

static struct file file_open(const char *path)
{
    struct file file = {.fd = -1};
    if (hook_depth || !path || !hook_is_apart(path, 1))
        return file;
    hook_enter();
    file.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file.fd >= 0 && fstat(file.fd, &file.before) != 0) {
        close(file.fd);
        file.fd = -1;
    }
    hook_leave();
    return file;
}

/* Is what has that name still the same, and as it was? */
static bool is_unchanged(const struct file *file, const char *path)
{
    struct stat now;
    const struct stat *then = &file->before;
    return stat(path, &now) == 0 && now.st_dev == then->st_dev &&
           now.st_ino == then->st_ino && now.st_size == then->st_size &&
           now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == then->st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == then->st_ctim.tv_nsec;
}

/* All of it with a NUL behind, to be freed; NULL: it is not to be had. */
static char *file_read(const struct file *file)
{
    size_t bytes = (size_t)file->before.st_size, done = 0;
    char *text = S_ISREG(file->before.st_mode) && bytes < FILE_BYTES_MOST
                     ? malloc(bytes + 1)
                     : NULL;
    while (text && done < bytes) {
        ssize_t n = pread(file->fd, text + done, bytes - done, (off_t)done);
        if (n <= 0) {
            free(text);
            return NULL;
        }
        done += (size_t)n;
    }
    if (text)
        text[bytes] = 0;
    return text;
}

/* The driver loaded the file, with `result`. */
static CUresult loaded_file(CUresult result, void *const *handle,
                            const struct file *file, const char *path)
{
    if (file->fd < 0)
        return loaded(result, handle, NULL);
    hook_enter();
    char *image = result == CUDA_SUCCESS ? file_read(file) : NULL;
    if (result == CUDA_SUCCESS)
        cuda_module_loaded(*handle, is_unchanged(file, path) ? image : NULL);
    free(image);
    close(file->fd);
    hook_leave();
    return result;
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    struct file file = file_open(path);
    return loaded_file(CUDA_CALL(cuModuleLoad, (module, path)), module, &file,
                       path);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path,
                               int *options, void **values, unsigned count,
                               int *library_options, void **library_values,
                               unsigned library_count)
{
    struct file file = file_open(path);
    CUresult result =
        CUDA_CALL(cuLibraryLoadFromFile,
                  (library, path, options, values, count, library_options,
                   library_values, library_count));
    return loaded_file(result, library, &file, path);
}

/* ---- what is in them ----------------------------------------------------- */

static CUresult found(CUresult result, void *const *handle, const void *image,
                      const char *name)
{
    if (result != CUDA_SUCCESS || hook_depth)
        return result;
    hook_enter();
    cuda_module_kernel(*handle, image, name);
    hook_leave();
    return result;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name)
{
    return found(CUDA_CALL(cuModuleGetFunction, (function, module, name)),
                 function, module, name);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
                            const char *name)
{
    return found(CUDA_CALL(cuLibraryGetKernel, (kernel, library, name)), kernel,
                 library, name);
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    CUresult result = CUDA_CALL(cuLibraryGetModule, (module, library));
    if (result == CUDA_SUCCESS && !hook_depth) {
        hook_enter();
        cuda_module_of_library(*module, library);
        hook_leave();
    }
    return result;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    CUresult result = CUDA_CALL(cuKernelGetFunction, (function, kernel));
    if (result == CUDA_SUCCESS && !hook_depth) {
        hook_enter();
        cuda_module_function_of(*function, kernel);
        hook_leave();
    }
    return result;
}

/* Both answers of the driver may be left out, and the address is then nobody's. */
#define VARIABLE(name_, handle)                                                \
    CUresult name_(CUdeviceptr *at, size_t *bytes, handle of,                  \
                   const char *name)                                           \
    {                                                                          \
        size_t own = 0;                                                        \
        size_t *has = bytes || !at ? bytes : &own;                             \
        CUresult result = CUDA_CALL_HELD(name_, (at, has, of, name));          \
        if (result == CUDA_SUCCESS && at)                                      \
            device_came_variable(*at, *has);                                   \
        return result;                                                         \
    }

VARIABLE(cuModuleGetGlobal_v2, CUmodule)
VARIABLE(cuLibraryGetGlobal, CUlibrary)

CUresult cuModuleUnload(CUmodule module)
{
    cuda_params_forget();
    CUresult result =
        CUDA_GIVES(device_variables_go(), cuModuleUnload, (module));
    if (result == CUDA_SUCCESS)
        cuda_module_unloaded(module);
    return result;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    cuda_params_forget();
    CUresult result =
        CUDA_GIVES(device_variables_go(), cuLibraryUnload, (library));
    if (result == CUDA_SUCCESS)
        cuda_module_unloaded(library);
    return result;
}
