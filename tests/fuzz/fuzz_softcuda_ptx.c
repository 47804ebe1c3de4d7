/*
 * The software device's way from text to what it runs: lexer, parser,
 * functions put in place, control flow, decoding, and the C of the first
 * kernels. Nothing is executed.
 *
 * Each variable has memory of its own, so that a sanitizer sees who
 * initialises more than it has.
 */
#include "fuzz.h"

#include "exec/exec.h"
#include "exec/module.h"
#include "native/native.h"

enum { VARIABLES_MOST_BYTES = 1 << 20, GENERATED_MOST = 2 };

static size_t held, held_bytes;

static uint64_t place(void *ctx, size_t bytes, size_t align)
{
    void *memory = NULL;
    if (bytes > VARIABLES_MOST_BYTES - held_bytes || align > 1 << 20 ||
        posix_memalign(&memory, align, bytes) != 0)
        return 0;
    held++;
    held_bytes += bytes;
    return (uint64_t)(uintptr_t)memory;
}

static void release(void *ctx, uint64_t address)
{
    free((void *)(uintptr_t)address);
    held_bytes = --held ? held_bytes : 0;
}

static void generate(const struct sc_module *module, size_t index)
{
    static const uint32_t block[3] = {32, 2, 1};
    struct sc_native_code code = {0};
    const struct sc_kernel *kernel = &module->kernels[index];
    bool done = sc_native_generate(module->ir, kernel->native.func, block,
                                   SC_NATIVE_GENERIC, &code);
    FUZZ_CHECK(done ? code.text != NULL : code.why[0] != '\0');
    free(code.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct sc_space space = {.window_base = 4096,
                                          .window_bytes = UINT64_C(1) << 47,
                                          .shared_base = UINT64_C(1) << 56,
                                          .local_base = UINT64_C(1) << 57,
                                          .alloc = place,
                                          .free = release,
                                          .alloc_managed = place,
                                          .sm = 90};
    char *text = fuzz_text(data, bytes), log[256];
    struct sc_module *module;
    enum sc_exec_status status =
        sc_module_load(&module, text, bytes, &space, log, sizeof log);
    free(text);
    FUZZ_CHECK((status == SC_EXEC_OK) == (module != NULL));
    FUZZ_CHECK(module || log[0]);
    for (size_t i = 0; module && i < sc_module_kernels(module); i++) {
        FUZZ_CHECK(sc_module_kernel(module, i)->name);
        if (i < GENERATED_MOST)
            generate(module, i);
    }
    sc_module_unload(module);
    FUZZ_CHECK(held == 0);
    return 0;
}
