/*
 * The interpreter first, then a launch that waits for its native code.
 */
#include "both.h"

#include "build_test.h"

#include "../opcodes/machine.h"
#include "exec/exec.h"

static void *data;
static size_t data_bytes;
static uint8_t *before, *after;

void both_skip(void)
{
    const char *name = getenv("SOFTCUDA_ISA");
    bool has = true;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (name && strcmp(name, "avx2") == 0)
        has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (name && strcmp(name, "avx512") == 0)
        has = __builtin_cpu_supports("avx512f") &&
              __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq");
#else
    has = !name || strcmp(name, "generic") == 0;
#endif
    if (!has)
        suite_skip("this processor lacks the instruction set");
}

/* Into a room of its own, but with these settings of the caller. */
static void enter_room_with(const char *const *names, size_t count)
{
    char *kept[2];
    for (size_t i = 0; i < count; i++)
        kept[i] = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
    enter_room();
    for (size_t i = 0; i < count; i++) {
        if (kept[i])
            setenv(names[i], kept[i], 1);
        free(kept[i]);
    }
}

void *both_open(size_t bytes)
{
    static const char *const settings[] = {"SOFTCUDA_ISA", "SOFTCUDA_CC"};
    enter_room_with(settings, sizeof settings / sizeof *settings);
    use_shared_cache();
    machine_open();
    data = machine_alloc(bytes);
    data_bytes = bytes;
    before = malloc(bytes);
    after = malloc(bytes);
    ck_assert(before && after);
    return data;
}

void both_close(void)
{
    machine_close();
    free(before);
    free(after);
}

/* A device that has read `mode`; the window stays. */
static void restart(const char *mode)
{
    sc_exec_fini();
    setenv("SOFTCUDA_NATIVE", mode, 1);
    ck_assert(sc_exec_init(2));
}

/* The text goes to the log: a message has no room for it. */
#define AGREE(condition, ptx, ...)                                             \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("%s", ptx);                                                 \
            fflush(stdout);                                                    \
            ck_abort_msg(__VA_ARGS__);                                         \
        }                                                                      \
    } while (0)

static enum sc_exec_status run(const struct both *t, const char *mode,
                               struct sc_exec_fault *fault)
{
    char log[512] = "";
    struct sc_module *module = NULL;
    struct sc_launch_report report = {0};
    restart(mode);
    enum sc_exec_status status = machine_load(&module, t->ptx, log, sizeof log);
    AGREE(status == SC_EXEC_OK, t->ptx, "load: %d, %s", status, log);
    struct sc_launch launch = {.grid = {t->ctas, 1, 1},
                               .block = {t->threads, 1, 1},
                               .params = t->arguments,
                               .param_bytes = sizeof t->arguments,
                               .report = &report};
    status = sc_kernel_launch(module, 0, &launch, fault);
    AGREE(strcmp(mode, "off") == 0 || !report.interpreted, t->ptx,
          "not native: %s", report.why ? report.why : "");
    sc_module_unload(module);
    return status;
}

void both_run(const struct both *t)
{
    struct sc_exec_fault fault = {0};
    memcpy(before, data, data_bytes);
    enum sc_exec_status status = run(t, "off", &fault);
    AGREE(status == SC_EXEC_OK, t->ptx, "line %u: %s", fault.line, fault.text);
    memcpy(after, data, data_bytes);
    memcpy(data, before, data_bytes);
    status = run(t, "wait", &fault);
    AGREE(status == SC_EXEC_OK, t->ptx, "native, line %u: %s", fault.line,
          fault.text);
    const uint32_t *want = (const uint32_t *)(const void *)after;
    const uint32_t *got = data;
    for (size_t i = 0; i < data_bytes / 4; i++)
        AGREE(got[i] == want[i], t->ptx,
              "%u threads, word %zu: %#x, interpreter %#x", t->threads, i,
              got[i], want[i]);
}

int both_fault(const struct both *t)
{
    struct sc_exec_fault a = {0}, b = {0};
    enum sc_exec_status one = run(t, "off", &a), two = run(t, "wait", &b);
    AGREE(one != SC_EXEC_OK && one == two, t->ptx, "%d, interpreter %d", two,
          one);
    ck_assert_uint_eq(a.line, b.line);
    ck_assert_uint_eq(a.address, b.address);
    return (int)one;
}
