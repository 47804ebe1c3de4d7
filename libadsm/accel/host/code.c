/*
 * The CPU back end: kernels and launches.
 *
 * A module is nothing but a reason to look for names: whatever code it has, its
 * kernels run by the functions that the program brings.
 */
#include "accel/cpu_code.h"
#include "accel/error.h"
#include "accel/host/ops.h"
#include "accel/host/queue.h"
#include "accel/launched.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16 }; /* of a parameter's value */

int adsm_host_module_load(struct adsm_accel *accel, const void *image,
                          size_t bytes, void **module)
{
    (void)image;
    (void)bytes;
    *module = accel;
    return adsm_accel_usable(accel);
}

int adsm_host_module_unload(struct adsm_accel *accel, void *module)
{
    (void)module;
    return adsm_accel_usable(accel);
}

int adsm_host_kernel_get(struct adsm_accel *accel, void *module,
                         const char *name, void **kernel)
{
    (void)module;
    int rc = adsm_accel_usable(accel);
    if (rc != ADSM_OK)
        return rc;
    *kernel = adsm_cpu_code_find(name);
    if (*kernel)
        return ADSM_OK;
    return adsm_accel_fail(ADSM_E_NOT_FOUND,
                           "the program has no function for the CPU: include "
                           "the kernel's .cu behind adsm_cpu.h in a C++ file, "
                           "with ADSM_CPU_KERNEL(",
                           name, ")", NULL);
}

int adsm_host_kernel_parameter(struct adsm_accel *accel, void *kernel,
                               unsigned index, size_t *offset, size_t *bytes)
{
    const adsmCpuCode *code = kernel;
    (void)accel;
    if (index >= (unsigned)code->count)
        return ADSM_E_NOT_FOUND;
    *offset = 0;
    for (unsigned i = 0; i < index; i++)
        *offset += code->bytes[i];
    *bytes = code->bytes[index];
    return ADSM_OK;
}

static size_t room_of(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* The values, in one piece behind the pointers to them. NULL: no memory */
static void **copy_values(const adsmCpuCode *code, void *const *values)
{
    size_t count = (size_t)code->count;
    size_t at = room_of(count * sizeof *values), bytes = at;
    for (size_t i = 0; i < count; i++)
        bytes += room_of(code->bytes[i]);
    uint8_t *all = aligned_alloc(ALIGN, bytes > 0 ? bytes : ALIGN);
    void **copies = (void **)(void *)all;
    for (size_t i = 0; all && i < count; i++) {
        copies[i] = memcpy(all + at, values[i], code->bytes[i]);
        at += room_of(code->bytes[i]);
    }
    return copies;
}

int adsm_host_launch(struct adsm_accel *accel, const struct adsm_launch *launch)
{
    const adsmCpuCode *code = launch->kernel;
    const unsigned *grid = launch->grid, *block = launch->block;
    int rc = adsm_accel_usable(accel);
    if (rc != ADSM_OK)
        return rc;
    struct adsm_host_job job = {
        .what = ADSM_HOST_KERNEL,
        .kernel = {.run = code->run,
                   .blocks = {.grid = {grid[0], grid[1], grid[2]},
                              .block = {block[0], block[1], block[2]},
                              .count = (uint64_t)grid[0] * grid[1] * grid[2]},
                   .values = copy_values(code, launch->values)}};
    if (!job.kernel.values)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a launch", NULL);
    adsm_host_submit(adsm_host_stream_of(launch->stream), &job);
    return ADSM_OK;
}
