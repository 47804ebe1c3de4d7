/*
 * The device window: one reservation, a usable start, a hole behind it.
 *
 * Device addresses are addresses of this process, as in the device process.
 */
#include "machine.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint8_t *window;
static size_t used;

static uint64_t space_alloc(void *ctx, size_t bytes, size_t align)
{
    size_t start = (used + align - 1) / align * align;
    if (bytes > MACHINE_MAPPED || start > MACHINE_MAPPED - bytes)
        return 0;
    used = start + bytes;
    return machine_address(window + start);
}

/* Everything is given back at once by machine_forget. */
static void space_free(void *ctx, uint64_t address)
{
}

static struct sc_space space = {
    .window_bytes = MACHINE_WINDOW,
    .shared_base = (uint64_t)1 << 56,
    .local_base = (uint64_t)3 << 56,
    .alloc = space_alloc,
    .free = space_free,
    .sm = 90,
};

void machine_open(void)
{
    window = mmap(NULL, MACHINE_WINDOW, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(window != MAP_FAILED);
    ck_assert_int_eq(mprotect(window, MACHINE_MAPPED, PROT_READ | PROT_WRITE),
                     0);
    space.window_base = machine_address(window);
    used = 0;
    /* wild reads show, unless the test says otherwise */
    setenv("SOFTCUDA_STRICT", "1", 0);
    ck_assert(sc_exec_init(2));
}

void machine_close(void)
{
    sc_exec_fini();
    munmap(window, MACHINE_WINDOW);
}

void *machine_alloc(size_t bytes)
{
    uint64_t address = space_alloc(NULL, bytes, 256);
    ck_assert_msg(address != 0, "test window is full");
    void *p = (void *)(uintptr_t)address;
    memset(p, 0, bytes);
    return p;
}

void machine_forget(void)
{
    used = 0;
}

const struct sc_space *machine_space(void)
{
    return &space;
}

/* Kept for checking the texts with another assembler; off by default. */
static void dump(const char *ptx)
{
    static unsigned number;
    const char *folder = getenv("OPCODES_DUMP");
    char path[512];
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/%d-%05u.ptx", folder, (int)getpid(),
             number++);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fputs(ptx, f);
    fclose(f);
}

enum sc_exec_status machine_load(struct sc_module **module, const char *ptx,
                                 char *log, size_t log_bytes)
{
    dump(ptx);
    return sc_module_load(module, ptx, strlen(ptx), &space, log, log_bytes);
}

enum sc_exec_status machine_launch(const struct sc_module *module,
                                   uint32_t ctas, uint32_t threads,
                                   const uint64_t *arguments, size_t count,
                                   struct sc_exec_fault *fault)
{
    struct sc_launch launch = {
        .grid = {ctas, 1, 1},
        .block = {threads, 1, 1},
        .params = arguments,
        .param_bytes = count * sizeof *arguments,
    };
    return sc_kernel_launch(module, 0, &launch, fault);
}

bool machine_keeps_guards(void)
{
    return true;
}

void machine_describe(char *text, size_t bytes)
{
    snprintf(text, bytes, "the interpreter of softcuda");
}

void machine_unload(struct sc_module *module)
{
    sc_module_unload(module);
}
