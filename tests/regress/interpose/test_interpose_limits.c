/*
 * At the limit on mappings (vm.max_map_count) and on descriptors, and where
 * options ask for what is not there: an allocation says so or what it gives can
 * be used. It was given, and the first touch ended the program.
 */
#include "preloaded.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OBJECTS = 40000, PAGE = 4096 };

static const char bump_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry bump(.param .u64 p)\n{\n"
    ".reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "ld.global.u32 %r1, [%rd2];\nadd.u32 %r2, %r1, 1;\n"
    "st.global.u32 [%rd2], %r2;\nret;\n}\n";

static CUfunction bump_kernel(void)
{
    CUmodule module;
    CUfunction kernel;
    must(cuModuleLoadData(&module, bump_ptx));
    must(cuModuleGetFunction(&kernel, module, "bump"));
    return kernel;
}

static void bump(CUfunction kernel, void *at)
{
    void *params[] = {&at};
    must(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
}

/* All mappings that the system grants, but `left`. */
static void take_mappings(int left)
{
    size_t bytes = (size_t)70000 * PAGE, i = 0;
    uint8_t *filler = mmap(NULL, bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(filler, MAP_FAILED);
    while (i < bytes && mprotect(filler + i, PAGE, PROT_READ) == 0)
        i += 2 * PAGE;
    ck_assert_uint_lt(i, bytes); /* the limit was reached */
    for (; left > 0; left -= 2) {
        i -= 2 * PAGE;
        ck_assert_int_eq(mprotect(filler + i, PAGE, PROT_NONE), 0);
    }
}

/* Every object is used by CPU and device in turn. */
static void use(CUfunction kernel, volatile uint32_t **objects, int count)
{
    for (int i = 0; i < count; i++)
        *objects[i] = (uint32_t)i;
    for (int i = 0; i < count; i += count / 50 + 1)
        bump(kernel, (void *)objects[i]);
    for (int i = 0; i < count; i++)
        ck_assert_uint_eq(*objects[i],
                          (uint32_t)i + (i % (count / 50 + 1) == 0));
}

START_TEST(forty_thousand_objects_are_refused_or_usable)
{
    static volatile uint32_t *objects[OBJECTS];
    int count = 0;
    CUresult result = CUDA_SUCCESS;
    device_start();
    CUfunction kernel = bump_kernel();
    while (count < OBJECTS && result == CUDA_SUCCESS) {
        CUdeviceptr at;
        /* More than what shares a slab. */
        result = cuMemAlloc(&at, 70000);
        if (result == CUDA_SUCCESS)
            objects[count++] = (volatile uint32_t *)at;
    }
    if (result != CUDA_SUCCESS)
        ck_assert_int_eq(result, CUDA_ERROR_OUT_OF_MEMORY);
    printf("limits: %d objects of %d\n", count, OBJECTS);
    ck_assert_int_gt(count, 10000);
    use(kernel, objects, count);
}
END_TEST

static void allocate_with(int left)
{
    device_start();
    CUfunction kernel = bump_kernel();
    CUdeviceptr at;
    take_mappings(left);
    CUresult result = cuMemAlloc(&at, 1 << 20);
    printf("limits: %d mappings left before: %d\n", left, result);
    if (result != CUDA_SUCCESS)
        ck_assert_int_eq(result, CUDA_ERROR_OUT_OF_MEMORY);
    else if (runtime_is_up()) {
        must(cuMemsetD8(at, 0, 1 << 20));
        volatile uint32_t *object = (volatile uint32_t *)at;
        use(kernel, &object, 1);
    }
}

START_TEST(allocation_with_few_mappings_left_is_refused_or_usable)
{
    for (int left = 0; left < 120; left += left < 40 ? 2 : 20) {
        pid_t child = fork();
        if (child == 0) {
            allocate_with(left);
            _exit(0);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(status == 0, "%d mappings left: status %x", left, status);
    }
}
END_TEST

START_TEST(mappings_taken_after_allocations_leave_them_usable)
{
    enum { COUNT = 64 };
    volatile uint32_t *objects[COUNT];
    device_start();
    CUfunction kernel = bump_kernel();
    for (int i = 0; i < COUNT; i++)
        objects[i] = (volatile uint32_t *)device_bytes(300000, 0);
    take_mappings(0);
    use(kernel, objects, COUNT);
}
END_TEST

static void take_descriptors(void)
{
    struct rlimit few = {64, 64};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (open("/dev/null", O_RDONLY) >= 0)
        continue;
    ck_assert_int_eq(errno, EMFILE);
}

START_TEST(allocation_without_descriptors_is_refused_until_there_are_some)
{
    CUdeviceptr at;
    device_start();
    CUfunction kernel = bump_kernel();
    take_descriptors();
    ck_assert_int_eq(cuMemAlloc(&at, 1 << 20), CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(close(63), 0);
    must(cuMemAlloc(&at, 1 << 20));
    must(cuMemsetD8(at, 0, 1 << 20));
    take_descriptors();
    volatile uint32_t *object = (volatile uint32_t *)at;
    use(kernel, &object, 1);
}
END_TEST

/* All addresses that the system grants, but a MiB. */
static void take_addresses(void)
{
    unsigned long pages;
    FILE *in = fopen("/proc/self/statm", "r");
    ck_assert_int_eq(fscanf(in, "%lu", &pages), 1);
    fclose(in);
    rlim_t bytes = (rlim_t)pages * PAGE + (1 << 20);
    struct rlimit few = {bytes, bytes};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &few), 0);
}

START_TEST(addresses_taken_after_an_allocation_leave_it_usable)
{
    enum { BYTES = 40 << 20 };
    device_start();
    uint8_t *object = device_bytes(BYTES, 5);
    take_addresses();
    for (size_t i = 0; i < BYTES; i += PAGE)
        ck_assert_uint_eq(((volatile uint8_t *)object)[i], 5);
    for (size_t i = 0; i < BYTES; i += PAGE)
        ((volatile uint8_t *)object)[i] = 6;
    must(cuMemcpyDtoD((CUdeviceptr)object, (CUdeviceptr)object + BYTES / 2,
                      BYTES / 2));
    for (size_t i = 0; i < BYTES; i += PAGE)
        ck_assert_uint_eq(((volatile uint8_t *)object)[i], 6);
}
END_TEST

/* Where counters, a trace and messages cannot be written. */
static void report_nowhere(int how)
{
    struct rlimit none = {0, 0};
    int ends[2];
    alarm(60);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    setenv(how == 0   ? "ADSM_STATS_FILE"
           : how == 1 ? "ADSM_TRACE"
                      : "ADSM_STATS",
           how < 2 ? "test_interpose_limits.out" : "1", 1);
    if (how == 3)
        setenv("ADSM_BLOCK_SIZE", "a bad value", 1);
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
        _exit(1);
    close(ends[0]);
    device_start();
    if (device_bytes(1 << 20, 5)[1] == 5 && setrlimit(RLIMIT_FSIZE, &none) == 0)
        exit(7);
    _exit(1);
}

START_TEST(report_that_cannot_be_written_costs_no_signal)
{
    for (int how = 0; how < 4; how++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            report_nowhere(how);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(status == 7 << 8, "%d: status %x", how, (unsigned)status);
    }
    unlink("test_interpose_limits.out");
}
END_TEST

/* Check writes files of its own: none of its checks while they may not grow. */
static int allocate_without_files(void)
{
    struct rlimit few = {65536, RLIM_INFINITY}, before;
    CUdeviceptr first, second;
    device_start();
    if (getrlimit(RLIMIT_FSIZE, &before) != 0 ||
        setrlimit(RLIMIT_FSIZE, &few) != 0)
        return 1;
    if (cuMemAlloc(&first, 1 << 20) != CUDA_ERROR_OUT_OF_MEMORY ||
        setrlimit(RLIMIT_FSIZE, &before) != 0 || cuMemAlloc(&first, 1 << 20) ||
        cuMemsetD8(first, 5, 1 << 20) || setrlimit(RLIMIT_FSIZE, &few) != 0)
        return 2;
    volatile uint8_t *bytes = (volatile uint8_t *)first;
    bytes[70000] = 6; /* there is room in the file that was made */
    if (cuMemAlloc(&second, 1 << 20) || cuMemsetD8(first, 7, 100) ||
        bytes[99] != 7 || bytes[100] != 5 || bytes[70000] != 6)
        return 3;
    bytes[5] = 8;
    uint8_t plain[9];
    return cuMemcpyDtoH(plain, first, 9) || plain[5] != 8 ? 4 : 0;
}

START_TEST(files_that_may_not_grow_are_a_refusal_until_they_may)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        signal(SIGXFSZ, SIG_DFL);
        _exit(allocate_without_files());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "status %x", (unsigned)status);
}
END_TEST

START_TEST(device_that_is_not_there_leaves_those_that_are)
{
    setenv("ADSM_DEVICES", "5,77", 1);
    device_start();
    volatile uint32_t *object = (volatile uint32_t *)device_bytes(1 << 20, 0);
    ck_assert(runtime_is_up());
    use(bump_kernel(), &object, 1);
}
END_TEST

SUITE_MAIN("regress-interpose-limits", 240,
           forty_thousand_objects_are_refused_or_usable,
           allocation_with_few_mappings_left_is_refused_or_usable,
           mappings_taken_after_allocations_leave_them_usable,
           allocation_without_descriptors_is_refused_until_there_are_some,
           addresses_taken_after_an_allocation_leave_it_usable,
           report_that_cannot_be_written_costs_no_signal,
           files_that_may_not_grow_are_a_refusal_until_they_may,
           device_that_is_not_there_leaves_those_that_are)
