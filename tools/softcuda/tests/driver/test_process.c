/*
 * Lives and deaths: the device process, the program, forks, threads, limits.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "tests/driver/driver_test.h"
#include "tests/driver/find_device.h"

static int is_gone_within(pid_t pid, int ms)
{
    for (int i = 0; i < ms; i += 10) {
        char path[64], state = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *file = fopen(path, "re");
        if (!file)
            return 1;
        int n = fscanf(file, "%*d %*s %c", &state);
        fclose(file);
        if (n == 1 && (state == 'Z' || state == 'X'))
            return 1; /* dead; nobody collected it yet */
        usleep(10000);
    }
    return 0;
}

START_TEST(device_killed_is_an_error_and_no_hang)
{
    CUdeviceptr p;
    CUstream s;
    CUevent e;
    char byte = 0;
    CUcontext ctx = begin(), other;
    OK(cuMemAlloc(&p, 64 * MIB));
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&e, 0));
    pid_t device = device_of(getpid(), 0);
    ck_assert_int_gt(device, 0);
    for (int i = 0; i < 200; i++)
        OK(cuMemsetD32Async(p, 1, 16 * MIB, s));
    OK(cuEventRecord(e, s));
    kill(device, SIGKILL);
    WANT(CUDA_ERROR_DEVICE_UNAVAILABLE, cuStreamSynchronize(s));
    WANT(CUDA_ERROR_DEVICE_UNAVAILABLE, cuEventSynchronize(e));
    WANT(CUDA_ERROR_DEVICE_UNAVAILABLE, cuMemcpyHtoD(p, &byte, 1));
    WANT(CUDA_ERROR_DEVICE_UNAVAILABLE, cuMemAlloc(&p, 1));
    WANT(CUDA_ERROR_DEVICE_UNAVAILABLE, cuCtxSynchronize());
    WANT(CUDA_ERROR_DEVICE_UNAVAILABLE, cuCtxCreate(&other, NULL, 0, 0));
    OK(cuStreamDestroy(s));
    OK(cuCtxDestroy(ctx));
}
END_TEST

START_TEST(other_devices_survive_a_dead_one)
{
    CUcontext a, b;
    CUdeviceptr p;
    setenv("SOFTCUDA_DEVICES", "2", 1);
    OK(cuInit(0));
    OK(cuCtxCreate(&a, NULL, 0, 0));
    pid_t first = device_of(getpid(), 0);
    OK(cuCtxCreate(&b, NULL, 0, 1));
    kill(first, SIGKILL);
    ck_assert(is_gone_within(first, 1000));
    OK(cuMemAlloc(&p, 100));
    OK(cuMemsetD8(p, 1, 100));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(a));
    /* An idle device is missed when its end has been noticed, not before. */
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < 1000 && result == CUDA_SUCCESS; i++) {
        usleep(1000);
        result = cuCtxSynchronize();
    }
    ck_assert_int_eq(result, CUDA_ERROR_DEVICE_UNAVAILABLE);
}
END_TEST

START_TEST(device_dies_with_a_killed_program)
{
    int fds[2];
    pid_t device = 0;
    ck_assert_int_eq(pipe(fds), 0);
    pid_t program = fork();
    if (program == 0) {
        begin();
        device = device_of(getpid(), 0);
        if (write(fds[1], &device, sizeof device) != sizeof device)
            _exit(1);
        pause();
        _exit(0);
    }
    ck_assert_int_eq(read(fds[0], &device, sizeof device), sizeof device);
    ck_assert_int_gt(device, 0);
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    ck_assert(is_gone_within(device, 1000));
}
END_TEST

static const char busy_ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                               ".visible .entry quick()\n{\n ret;\n}\n"
                               ".visible .entry endless()\n{\nL:\n bra L;\n}\n";

static void launch_by_name(CUmodule module, const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, module, name));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

/* A program that counts, then ends by a signal, or returns for 0. */
static void count_and_end(int number)
{
    CUmodule module;
    CUdeviceptr p;
    char bytes[1000] = "";
    setenv("SOFTCUDA_STATS", "1", 1);
    setenv("SOFTCUDA_NATIVE", "off", 1);
    begin();
    OK(cuModuleLoadData(&module, busy_ptx));
    OK(cuMemAlloc(&p, sizeof bytes));
    OK(cuMemcpyHtoD(p, bytes, sizeof bytes));
    for (int i = 0; i < 3; i++)
        launch_by_name(module, "quick");
    OK(cuCtxSynchronize());
    if (number) {
        launch_by_name(module, "endless");
        usleep(100000);
        signal(number, SIG_DFL);
        kill(getpid(), number);
        pause();
    }
    exit(0);
}

/* All that goes to stderr of a program and of what it leaves behind. */
static void read_said(void (*program)(int), int how, char *text, size_t room)
{
    int fds[2];
    size_t n = 0;
    ssize_t got;
    ck_assert_int_eq(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        dup2(fds[1], STDERR_FILENO);
        close(fds[1]);
        program(how);
    }
    close(fds[1]);
    while (n < room - 1 && (got = read(fds[0], text + n, room - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(fds[0]);
    waitpid(child, NULL, 0);
}

static int times(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

START_TEST(report_is_printed_once_however_the_program_ends)
{
    static const int ends[] = {0, SIGTERM, SIGINT, SIGKILL, SIGSEGV};
    char text[4096];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        read_said(count_and_end, ends[i], text, sizeof text);
        ck_assert_msg(times(text, "(1000 up, 0 down)") == 1 &&
                          times(text, "quick: 3 launches") == 1 &&
                          times(text, "interpreter") == 1,
                      "signal %d: %s", ends[i], text);
        ck_assert_int_eq(times(text, "endless: ran when"), ends[i] != 0);
    }
}
END_TEST

enum { FINE, FAILED, COPED, ABORTED, UNTIDY, IN_A_CHILD };

static void run_short(int how)
{
    CUdeviceptr p;
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    begin();
    OK(cuMemAlloc(&p, 10 * MIB));
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, 60 * MIB));
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, 55 * MIB));
    if (how == COPED)
        OK(cuMemAlloc(&p, 54 * MIB));
    if (how == ABORTED)
        abort();
    if (how == UNTIDY)
        _exit(1);
    if (how == IN_A_CHILD) {
        pid_t child = fork();
        if (child == 0)
            exit(1);
        waitpid(child, NULL, 0);
        exit(0);
    }
    exit(how != FINE);
}

START_TEST(shortage_is_told_where_the_program_ends_of_it)
{
    static const int told[] = {
        [FAILED] = 1, [ABORTED] = 1, [UNTIDY] = 1, [IN_A_CHILD] = 0};
    char text[4096];
    for (int how = FINE; how <= IN_A_CHILD; how++) {
        read_said(run_short, how, text, sizeof text);
        ck_assert_msg(times(text,
                            "no room for 55.000 MiB: of 64 MiB "
                            "(SOFTCUDA_MEMORY) 10.000 are") == told[how] &&
                          times(text, "softcuda") == told[how],
                      "case %d: %s", how, text);
    }
}
END_TEST

START_TEST(device_is_no_child_of_the_program)
{
    begin();
    errno = 0;
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

static void *begin_here(void *unused)
{
    (void)unused;
    return begin();
}

START_TEST(context_outlives_the_thread_that_made_it)
{
    CUcontext ctx;
    CUdeviceptr p;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, begin_here, NULL), 0);
    pthread_join(thread, (void **)&ctx);
    usleep(50000);
    OK(cuCtxSetCurrent(ctx));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD8(p, 1, 4));
    OK(cuCtxSynchronize());
}
END_TEST

static bool is_child;

#ifdef __SANITIZE_ADDRESS__
/* The leak check takes the allocator's locks, which a thread that the child
 * does not have may have held when it was forked. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
    return is_child;
}
#endif

START_TEST(forked_child_is_refused_and_harmless)
{
    CUdeviceptr p;
    int status, got = 0, value = 7;
    begin();
    OK(cuMemAlloc(&p, 4));
    pid_t child = fork();
    if (child == 0) {
        is_child = true;
        int ok = cuMemcpyHtoD(p, &value, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                 cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                 cuMemFree(p) == CUDA_ERROR_NOT_INITIALIZED;
        exit(ok ? 0 : 1); /* exit handlers included */
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    OK(cuMemcpyHtoD(p, &value, 4));
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_int_eq(got, 7);
}
END_TEST

static void lower(int resource, rlim_t value)
{
    struct rlimit limit = {value, value};
    ck_assert_int_eq(setrlimit(resource, &limit), 0);
}

static void use_all_devices(int n)
{
    CUcontext ctx;
    CUdeviceptr p;
    void *host;
    char byte = 3;
    OK(cuInit(0));
    for (int i = 0; i < n; i++) {
        OK(cuCtxCreate(&ctx, NULL, 0, i));
        OK(cuMemAlloc(&p, MIB));
        OK(cuMemcpyHtoD(p, &byte, 1));
        OK(cuMemHostAlloc(&host, 65536, 0));
        OK(cuMemcpyDtoHAsync(host, p, 65536, NULL));
        OK(cuCtxSynchronize());
        ck_assert_int_eq(*(char *)host, 3);
    }
}

START_TEST(four_devices_fit_in_64_descriptors)
{
    setenv("SOFTCUDA_DEVICES", "4", 1);
    lower(RLIMIT_NOFILE, 64);
    use_all_devices(4);
    /* most are left to the program */
    int last = dup(0);
    ck_assert_int_lt(last, 32);
}
END_TEST

/* A sanitizer's shadow takes more address space than any limit of use. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_ADDRESS_SPACE 0
#else
#define LIMITS_ADDRESS_SPACE 1
#endif

START_TEST(small_address_space_is_enough)
{
    if (!LIMITS_ADDRESS_SPACE)
        return;
    setenv("SOFTCUDA_MEMORY", "128M", 1);
    lower(RLIMIT_AS, (rlim_t)2 << 30);
    use_all_devices(1);
}
END_TEST

START_TEST(impossible_address_space_is_a_status)
{
    if (!LIMITS_ADDRESS_SPACE)
        return;
    setenv("SOFTCUDA_MEMORY", "8G", 1);
    lower(RLIMIT_AS, (rlim_t)1 << 30);
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuInit(0));
}
END_TEST

START_TEST(no_locked_memory_is_needed)
{
    lower(RLIMIT_MEMLOCK, 65536);
    use_all_devices(1);
}
END_TEST

/* Check writes to files itself: none of its checks in here. */
static int copy_where_files_are_empty(void)
{
    static char bytes[MIB];
    struct rlimit none = {0, 0};
    CUcontext ctx;
    CUdeviceptr p;
    bool ok = cuInit(0) == CUDA_SUCCESS &&
              cuCtxCreate(&ctx, NULL, 0, 0) == CUDA_SUCCESS &&
              cuMemAlloc(&p, MIB) == CUDA_SUCCESS &&
              setrlimit(RLIMIT_FSIZE, &none) == 0;
    for (size_t n = 1; ok && n <= MIB; n *= 32) {
        memset(bytes, (int)n / 7 + 1, n);
        ok = cuMemcpyHtoD(p, bytes, n) == CUDA_SUCCESS;
        memset(bytes, 0, n);
        ok = ok && cuMemcpyDtoH(bytes, p, n) == CUDA_SUCCESS &&
             bytes[n - 1] == (char)((int)n / 7 + 1);
    }
    return ok ? 0 : 1;
}

START_TEST(limit_on_files_is_none_on_copies)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(copy_where_files_are_empty());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "%x", (unsigned)status);
}
END_TEST

static size_t resident_kib(void)
{
    char line[128];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    ck_assert_ptr_ne(file, NULL);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "RssShmem:", 9) == 0)
            kib = strtoul(line + 9, NULL, 10);
    fclose(file);
    return kib;
}

/* The device's memory is mapped by the first copy of some size: what is used of
 * it is there, not all the addresses that it may have, some gigabytes. */
START_TEST(locking_all_that_comes_takes_what_is_used)
{
    CUdeviceptr p;
    static char bytes[2 * MIB];
    struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    (void)setrlimit(RLIMIT_MEMLOCK, &none);
    if (mlockall(MCL_FUTURE) != 0) {
        printf("process: not allowed to lock: %s\n", strerror(errno));
        return;
    }
    begin();
    OK(cuMemAlloc(&p, 2 * MIB));
    OK(cuMemsetD8(p, 5, 2 * MIB));
    OK(cuMemcpyDtoH(bytes, p, 2 * MIB));
    ck_assert_int_eq(bytes[MIB], 5);
    ck_assert_uint_lt(resident_kib(), 256 << 10);
}
END_TEST

START_TEST(addresses_that_may_not_be_locked_are_a_status)
{
    if (!LIMITS_ADDRESS_SPACE)
        return; /* a sanitizer makes nothing of mlockall */
    pid_t child = fork();
    int status;
    if (child == 0) { /* without root's right to lock what it likes */
        lower(RLIMIT_MEMLOCK, 64 << 10);
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(1);
        if (mlockall(MCL_FUTURE) != 0)
            _exit(0); /* too little for the stack */
        _exit(cuInit(0) != CUDA_ERROR_OUT_OF_MEMORY);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

SUITE_MAIN("softcuda driver: processes", 30,
           device_killed_is_an_error_and_no_hang,
           other_devices_survive_a_dead_one, device_dies_with_a_killed_program,
           report_is_printed_once_however_the_program_ends,
           shortage_is_told_where_the_program_ends_of_it,
           device_is_no_child_of_the_program,
           context_outlives_the_thread_that_made_it,
           forked_child_is_refused_and_harmless,
           four_devices_fit_in_64_descriptors, small_address_space_is_enough,
           impossible_address_space_is_a_status, no_locked_memory_is_needed,
           limit_on_files_is_none_on_copies,
           locking_all_that_comes_takes_what_is_used,
           addresses_that_may_not_be_locked_are_a_status)
