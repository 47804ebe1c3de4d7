/*
 * A device window for tests; see device.h.
 *
 * Lock: none.
 */
#include "device.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *window;
static size_t used, held, floor_bytes; /* floor: end of device_alloc's */
static struct sc_space space;

static uint64_t place(void *ctx, size_t bytes, size_t align)
{
    size_t at = (used + align - 1) / align * align;
    if (at + bytes > DEVICE_BYTES - 4096)
        return 0;
    used = at + bytes;
    held++;
    return (uint64_t)(uintptr_t)window + at;
}

static void release(void *ctx, uint64_t address)
{
    if (--held == 0)
        used = floor_bytes;
}

void device_open(void)
{
    window = mmap(NULL, DEVICE_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(window, MAP_FAILED);
    ck_assert_int_eq(mprotect(window + DEVICE_BYTES - 4096, 4096, PROT_NONE),
                     0);
    used = floor_bytes = 256;
    held = 0;
    space = (struct sc_space){.window_base = (uint64_t)(uintptr_t)window,
                              .window_bytes = DEVICE_BYTES,
                              .shared_base = UINT64_C(1) << 56,
                              .local_base = UINT64_C(1) << 57,
                              .alloc = place,
                              .free = release,
                              .sm = 90};
    /* wild reads show, unless the test says otherwise */
    setenv("SOFTCUDA_STRICT", "1", 0);
    ck_assert(sc_exec_init(2));
}

void device_close(void)
{
    sc_exec_fini();
    munmap(window, DEVICE_BYTES);
}

const struct sc_space *device_space(void)
{
    return &space;
}

void *device_alloc(size_t bytes)
{
    uint64_t at = place(NULL, bytes, 256);
    ck_assert(at != 0);
    held--;
    floor_bytes = used;
    return (void *)(uintptr_t)at;
}

size_t device_held(void)
{
    return held;
}

uint64_t device_hole(void)
{
    return (uint64_t)(uintptr_t)window + DEVICE_BYTES - 4096;
}

struct sc_module *device_load(const char *ptx)
{
    char log[256];
    struct sc_module *module;
    enum sc_exec_status status =
        sc_module_load(&module, ptx, strlen(ptx), &space, log, sizeof log);
    ck_assert_msg(status == SC_EXEC_OK, "load: %s", log);
    return module;
}

enum sc_exec_status device_launch(const struct sc_module *module,
                                  uint32_t blocks, uint32_t threads,
                                  const void *params, size_t bytes,
                                  struct sc_exec_fault *fault)
{
    struct sc_launch launch = {.grid = {blocks, 1, 1},
                               .block = {threads, 1, 1},
                               .params = params,
                               .param_bytes = bytes};
    return sc_kernel_launch(module, 0, &launch, fault);
}
