/*
 * Children of every kind, descriptors that a program closes, and its end: what
 * shared memory is to a child is the same defined thing however it was made,
 * and nothing waits for a lock of a thread that a child does not have.
 */
#include "preloaded.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 20, PATIENCE_S = 20, DONE = 7, FORKS = 60, THREADS = 3 };

static uint8_t *one, *other;
static CUcontext context;

static void start(void)
{
    device_start();
    must(cuCtxGetCurrent(&context));
    one = device_bytes(BYTES, 3);
    other = device_bytes(BYTES, 4);
    ck_assert(runtime_is_up());
}

static int touch(const uint8_t *at)
{
    return *(const volatile uint8_t *)(at + 5);
}

/* ---- what a child does, and how it ends ----------------------------------- */

static int reads(void)
{
    return touch(one);
}

static int writes(void)
{
    ((volatile uint8_t *)other)[9] = 1;
    return 0;
}

static int copies(void)
{
    static uint8_t plain[2 * 4096];
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    copy(plain, one, sizeof plain);
    return 0;
}

static int calls_the_system(void)
{
    int zeros = open("/dev/zero", O_RDONLY), file = memfd_create("file", 0);
    return read(zeros, one, 4096) == -1 && errno == EFAULT &&
                   write(file, one, 4096) == -1 && errno == EFAULT &&
                   write(file, "x", 1) == 1
               ? DONE
               : 1;
}

static int calls_the_driver(void)
{
    static uint8_t plain[4096];
    CUdeviceptr fresh;
    return cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                   cuMemAlloc(&fresh, 4096) == CUDA_ERROR_NOT_INITIALIZED &&
                   cuMemcpyDtoH(plain, (CUdeviceptr)one, 4096) &&
                   cuMemFree((CUdeviceptr)one) && cuCtxSynchronize()
               ? DONE
               : 1;
}

static int goes_on(void)
{
    char *memory = malloc(BYTES);
    FILE *out = fopen("/dev/null", "w");
    if (!memory || !out || fprintf(out, "%p\n", memory) < 4)
        return 1;
    fclose(out);
    free(memory);
    return DONE;
}

static int becomes_another(void)
{
    execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    return 1;
}

struct act {
    int (*run)(void);
    bool faults;
    bool driver;
};

static const struct act acts[] = {
    {.run = reads, .faults = true},
    {.run = writes, .faults = true},
    {.run = copies, .faults = true},
    {.run = calls_the_system},
    {.run = calls_the_driver, .driver = true},
    {.run = goes_on},
    {.run = becomes_another},
};
enum { ACTS = sizeof acts / sizeof *acts };

static pid_t by_fork(void)
{
    return fork();
}

/* Past every handler of pthread_atfork, as some runtimes do. */
static pid_t by_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void expect_act(pid_t (*make)(void), int i)
{
    int status;
    pid_t child = make();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        alarm(PATIENCE_S);
        _exit(acts[i].run());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(acts[i].faults
                      ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV
                      : WIFEXITED(status) && WEXITSTATUS(status) == DONE,
                  "act %d: %x", i, (unsigned)status);
}

START_TEST(child_of_fork_has_no_shared_memory)
{
    start();
    for (int i = 0; i < ACTS; i++)
        expect_act(by_fork, i);
    ck_assert_int_eq(touch(one) * 10 + touch(other), 34);
}
END_TEST

START_TEST(child_of_raw_clone_has_no_shared_memory)
{
    start();
    ck_assert_int_eq(touch(one), 3);
    for (int i = 0; i < ACTS; i++)
        if (!acts[i].driver)
            expect_act(by_clone, i);
    ck_assert_int_eq(touch(one) * 10 + touch(other), 34);
}
END_TEST

/* ---- children of a process whose other threads are busy ------------------- */

static void *be_busy(void *object)
{
    uint8_t *plain = malloc(BYTES);
    cuCtxSetCurrent(context);
    for (;;) {
        CUdeviceptr fresh, at = (CUdeviceptr)object;
        cuMemsetD8(at, 3, BYTES);
        ((volatile uint8_t *)object)[touch(object) + 70000] = 1;
        cuMemcpyDtoH(plain, at, BYTES);
        if (cuMemAlloc(&fresh, 70000) == CUDA_SUCCESS) {
            (void)touch((uint8_t *)fresh);
            cuMemFree(fresh);
        }
        free(malloc(1000));
    }
    return NULL;
}

static void start_busy(void)
{
    start();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, be_busy, device_bytes(BYTES, 0));
    }
}

START_TEST(children_of_a_busy_process_wait_for_nobody)
{
    start_busy();
    for (int i = 0; i < FORKS; i++)
        expect_act(by_fork, i % ACTS);
    for (int i = 0; i < FORKS; i++) /* of these libc itself has locks held */
        expect_act(by_clone, i % 2);
}
END_TEST

START_TEST(exit_beside_busy_threads_ends)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE_S);
        start_busy();
        usleep(100000);
        exit(DONE);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == DONE, "%x",
                  (unsigned)status);
}
END_TEST

/* ---- children on the parent's memory --------------------------------------- */

static int on_parents_memory(void *unused)
{
    (void)unused;
    _exit(touch(one) == 3 && touch(other) == 4 ? DONE : 1);
}

static void expect_done(pid_t child)
{
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, DONE << 8);
}

START_TEST(children_on_the_parents_memory_use_it)
{
    static uint8_t stack[256 << 10];
    start();
    pid_t child = clone(on_parents_memory, stack + sizeof stack,
                        CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    expect_done(child);
    must(cuMemsetD8((CUdeviceptr)one, 3, BYTES));
    child = clone(on_parents_memory, stack + sizeof stack, CLONE_VM | SIGCHLD,
                  NULL);
    expect_done(child);
    must(cuMemsetD8((CUdeviceptr)one, 3, BYTES));
    child = vfork();
    if (child == 0) {
        if (touch(one) == 3)
            execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        _exit(1);
    }
    expect_done(child);
    ck_assert_int_eq(touch(one) * 10 + touch(other), 34);
}
END_TEST

/* ---- descriptors ------------------------------------------------------------- */

/* The driver's are its own: real ones have some as well. */
static bool is_the_drivers(int fd)
{
    char path[64], target[256] = "";
    struct stat about;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof target - 1) < 0)
        return true;
    return strstr(target, "softcuda") || fstat(fd, &about) != 0 ||
           S_ISSOCK(about.st_mode) || S_ISFIFO(about.st_mode);
}

START_TEST(closing_all_descriptors_leaves_memory_and_files_alone)
{
    enum { FILES = 8 };
    static uint8_t content[BYTES];
    int files[FILES];
    start();
    ck_assert_int_eq(touch(one), 3);
    for (int fd = 3; fd < 1024; fd++)
        if (!is_the_drivers(fd))
            close(fd);
    memset(content, 0x5a, sizeof content);
    for (int i = 0; i < FILES; i++) {
        files[i] = memfd_create("the program's", MFD_CLOEXEC);
        ck_assert_int_eq(write(files[i], content, BYTES), BYTES);
    }
    ck_assert_int_eq(touch(other), 4); /* mapped by now only */
    must(cuMemFree((CUdeviceptr)one));
    must(cuMemFree((CUdeviceptr)other));
    uint8_t *fresh = device_bytes(BYTES, 9);
    ck_assert_int_eq(touch(fresh), 9);
    fresh[100] = 1;
    for (int i = 0; i < FILES; i++) {
        ck_assert_int_eq(pread(files[i], content, BYTES, 0), BYTES);
        for (int k = 0; k < BYTES; k++)
            ck_assert_int_eq(content[k], 0x5a);
    }
}
END_TEST

/* The driver's as well, and Check's: what is wrong is the child's status. */
static int lose_descriptors(bool mapped)
{
    enum { FILES = 32 };
    static uint8_t content[BYTES], now[BYTES];
    int files[FILES];
    alarm(PATIENCE_S);
    start();
    if (mapped && touch(one) != 3)
        return 1;
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    memset(content, 0x5a, sizeof content);
    for (int i = 0; i < FILES; i++) {
        files[i] = memfd_create("the program's", MFD_CLOEXEC);
        if (pwrite(files[i], content, BYTES, 0) != BYTES)
            return 2;
    }
    int got = touch(other);
    ((volatile uint8_t *)other)[70000] = 1;
    CUresult copied = cuMemcpyDtoH(now, (CUdeviceptr)other, BYTES);
    if (copied == CUDA_SUCCESS ? got != 4 || now[70000] != 1 : mapped)
        return 3;
    (void)cuMemFree((CUdeviceptr)one);
    (void)cuMemFree((CUdeviceptr)other);
    for (int i = 0; i < FILES; i++)
        if (pread(files[i], now, BYTES, 0) != BYTES ||
            memcmp(now, content, BYTES) != 0)
            return 4;
    return DONE;
}

START_TEST(closing_the_drivers_descriptors_costs_the_device_and_no_file)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        pid_t child = fork();
        if (child == 0)
            _exit(lose_descriptors(mapped));
        expect_done(child);
    }
}
END_TEST

/* ---- the end ------------------------------------------------------------------ */

static int said;

static void at_the_end(void)
{
    char text[2] = {(char)('0' + touch(one)), (char)('0' + touch(other))};
    ((volatile uint8_t *)one)[70000] = 1;
    _exit(write(said, text, 2) == 2 ? DONE : 1);
}

START_TEST(handlers_at_exit_use_memory_whenever_registered)
{
    for (int early = 0; early < 2; early++) {
        char text[2] = "";
        int ends[2];
        ck_assert_int_eq(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            alarm(PATIENCE_S);
            said = ends[1];
            if (early)
                atexit(at_the_end);
            start();
            if (!early)
                atexit(at_the_end);
            exit(1);
        }
        expect_done(child);
        ck_assert_int_eq(read(ends[0], text, 2), 2);
        ck_assert_mem_eq(text, "34", 2);
    }
}
END_TEST

START_TEST(driver_that_the_program_unloads_stays)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    start();
    ck_assert_int_eq(dlclose(driver), 0);
    ck_assert_int_eq(touch(one) * 10 + touch(other), 34);
}
END_TEST

SUITE_MAIN("regress-interpose-process", 100, child_of_fork_has_no_shared_memory,
           child_of_raw_clone_has_no_shared_memory,
           children_of_a_busy_process_wait_for_nobody,
           exit_beside_busy_threads_ends, children_on_the_parents_memory_use_it,
           closing_all_descriptors_leaves_memory_and_files_alone,
           closing_the_drivers_descriptors_costs_the_device_and_no_file,
           handlers_at_exit_use_memory_whenever_registered,
           driver_that_the_program_unloads_stays)
