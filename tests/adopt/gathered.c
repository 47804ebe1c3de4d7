/*
 * Single stores of the CPU are gathered, and then something of the device's uses
 * their bytes: a kernel, a copy, a graph, a host function of a stream, the next
 * owner of the memory. What it finds is what was stored. Links with the driver
 * alone; run preloaded.
 *
 *   gathered        as a child, whose counters are looked at: were they?
 *   gathered child
 *
 * Return: 0; 1 with a line for each value that differs
 */
#include "../interpose/victims/victim.h"

#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS = 4,
    BYTES = 8 << 20,
    WORDS = BYTES / 4,
    APART = WORDS / 32, /* stores of a round, so far from one another */
    STORES = WORDS / APART,
    WARM = 1200, /* stores before they are gathered, at most */
};

/* to[i] = from[i * apart] for i < n */
static const char text[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry pick(.param .u64 to, .param .u64 from, .param .u32 n,\n"
    ".param .u32 apart)\n{\n"
    ".reg .b32 %r<6>; .reg .b64 %d<6>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from];\n"
    "ld.param.u32 %r1, [n]; ld.param.u32 %r2, [apart];\n"
    "mov.u32 %r3, %tid.x; setp.ge.u32 %p, %r3, %r1; @%p ret;\n"
    "mul.wide.u32 %d3, %r3, 4; add.s64 %d1, %d1, %d3;\n"
    "mul.lo.u32 %r4, %r3, %r2; mul.wide.u32 %d4, %r4, 4;\n"
    "add.s64 %d2, %d2, %d4; ld.global.u32 %r5, [%d2];\n"
    "st.global.u32 [%d1], %r5; ret; }\n" VICTIM_STEP;

static CUfunction pick, step;
static CUstream stream;
static CUdeviceptr array, other, picked;
static uint32_t got[STORES]; /* what somebody found */
static int wrong;

static void launch_pick(CUstream on)
{
    unsigned n = STORES, apart = APART;
    void *params[] = {&picked, &array, &n, &apart};
    CHECK(cuLaunchKernel(pick, 1, 1, 1, STORES, 1, 1, 0, on, params, NULL));
}

/* The device has all of it, which is 0. */
static void clear(CUdeviceptr memory)
{
    CHECK(cuMemsetD32(memory, 0, WORDS));
}

static void store(uint32_t value)
{
    for (size_t i = 0; i < STORES; i++)
        ((volatile uint32_t *)array)[i * APART] = (uint32_t)i * 1000 + value;
}

static void take_picked(void)
{
    CHECK(cuMemcpyDtoH(got, picked, sizeof got));
}

/* ---- who finds it -------------------------------------------------------- */

static void by_kernel(void)
{
    launch_pick(stream);
    CHECK(cuStreamSynchronize(stream));
    take_picked();
}

static void by_kernel_of_default_stream(void)
{
    launch_pick(NULL);
    take_picked();
}

static void take_each(const uint32_t *from)
{
    for (size_t i = 0; i < STORES; i++)
        got[i] = from[i * APART];
}

static void by_copy(void)
{
    static uint32_t host[WORDS];
    CHECK(cuMemcpyDtoH(host, array, BYTES));
    take_each(host);
}

static void by_copy_of_stream(void)
{
    static uint32_t host[WORDS];
    CHECK(cuMemcpyDtoHAsync(host, array, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    take_each(host);
}

static void by_copy_on_the_device(void)
{
    static uint32_t host[WORDS];
    CHECK(cuMemcpyDtoDAsync(other, array, BYTES, stream));
    CHECK(cuMemcpyDtoHAsync(host, other, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    take_each(host);
}

static void enqueue(unsigned value)
{
    (void)value;
    launch_pick(stream);
}

static void by_graph(void)
{
    victim_by_graph(stream, enqueue, 0);
    CHECK(cuStreamSynchronize(stream));
    take_picked();
}

/* Work of another array. */
static void launch_step(void)
{
    unsigned n = WORDS, k = 1;
    void *params[] = {&other, &n, &k};
    CHECK(cuLaunchKernel(step, WORDS / 256, 1, 1, 256, 1, 1, 0, stream, params,
                         NULL));
}

static void take_by_function(void *from)
{
    take_each(from);
}

static void by_host_function(void)
{
    launch_step();
    store(7);
    CHECK(cuLaunchHostFunc(stream, take_by_function, (void *)array));
    CHECK(cuStreamSynchronize(stream));
}

static void by_cpu(void)
{
    take_each((const uint32_t *)array);
}

static void by_write(void)
{
    int ends[2];
    for (size_t i = 0; i < STORES; i++)
        if (pipe(ends) != 0 ||
            write(ends[1], (uint32_t *)array + i * APART, 4) != 4 ||
            read(ends[0], &got[i], 4) != 4 || close(ends[0]) || close(ends[1]))
            got[i] = UINT32_MAX;
}

/* A child of fork has no device, and stores of its own wait for none. */
static void by_kernel_beside_a_child(void)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        wrong++;
    by_kernel();
}

static const struct {
    const char *name;
    void (*look)(void);
} ways[] = {
    {"a kernel", by_kernel},
    {"a kernel of the default stream", by_kernel_of_default_stream},
    {"a copy", by_copy},
    {"a copy of a stream", by_copy_of_stream},
    {"a copy on the device", by_copy_on_the_device},
    {"a graph", by_graph},
    {"a host function", by_host_function},
    {"the CPU", by_cpu},
    {"a system call", by_write},
    {"a kernel beside a child", by_kernel_beside_a_child},
};

enum { WAYS = sizeof ways / sizeof *ways };

static void compare(const char *what, uint32_t value)
{
    for (size_t i = 0; i < STORES; i++)
        if (got[i] != i * 1000 + value) {
            printf("%s finds %u at store %zu, not %zu\n", what, got[i], i,
                   i * 1000 + value);
            wrong++;
        }
}

/* What overwrites it comes behind. */
static void overwrite(void)
{
    static uint32_t host[WORDS];
    uint32_t value = 5;
    store(1);
    CHECK(cuMemcpyHtoD(array + 4 * APART, &value, 4));
    CHECK(cuMemsetD32Async(array + 8 * APART, 6, 1, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(host, array, BYTES));
    if (host[APART] != 5 || host[2 * APART] != 6 || host[3 * APART] != 3001) {
        printf("overwritten: %u %u %u\n", host[APART], host[2 * APART],
               host[3 * APART]);
        wrong++;
    }
}

/* Nothing of it reaches who has the memory next, or where none is. */
static void give_away(void)
{
    static uint32_t host[WORDS];
    store(1);
    CHECK(cuMemFree(array));
    launch_step();
    CHECK(cuCtxSynchronize());
    CHECK(cuMemAlloc(&array, BYTES));
    clear(array);
    launch_pick(stream);
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(host, array, BYTES));
    for (size_t i = 0; i < WORDS; i++)
        if (host[i] != 0) {
            printf("the next owner finds %u at %zu\n", host[i], i);
            wrong++;
            break;
        }
}

static int child(void)
{
    CUmodule module;
    victim_start();
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&pick, module, "pick"));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuMemAlloc(&array, BYTES));
    CHECK(cuMemAlloc(&other, BYTES));
    CHECK(cuMemAlloc(&picked, 4096));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    clear(array);
    clear(other);
    for (uint32_t i = 0; i < WARM / STORES; i++) {
        store(i);
        by_kernel();
        compare("before", i);
    }
    for (uint32_t i = 0; i < ROUNDS * WAYS; i++) {
        clear(array);
        store(i);
        store(7);
        ways[i % WAYS].look();
        compare(ways[i % WAYS].name, 7);
        if (i % WAYS == 0) {
            clear(array);
            overwrite();
            clear(array);
            give_away();
        }
    }
    return wrong > 0;
}

/* ---- the parent ---------------------------------------------------------- */

static double counted(const char *file, const char *name)
{
    char line[16384] = "", key[64];
    FILE *from = fopen(file, "r");
    if (!from || !fgets(line, sizeof line, from))
        return -1;
    fclose(from);
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

int main(int argc, char **argv)
{
    char file[] = "/tmp/gathered-XXXXXX";
    int status = 1;
    if (argc > 1)
        return child();
    int made = mkstemp(file);
    pid_t pid = made < 0 ? -1 : fork();
    if (pid == 0) {
        setenv("ADSM_STATS_FILE", file, 1);
        execl(argv[0], argv[0], "child", (char *)NULL);
        _exit(9);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        printf("the child ended with %d\n", status);
        return 1;
    }
    double stores = counted(file, "stores"),
           sends = counted(file, "store_sends");
    unlink(file);
    printf("%.0f stores, sent by %.0f calls\n", stores, sends);
    return !(stores > 3 * STORES * ROUNDS * WAYS / 2 && sends < stores / 3);
}
