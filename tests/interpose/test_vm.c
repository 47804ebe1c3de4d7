/*
 * Calls on mappings, with shared memory in the range: what they return, and
 * that nothing is lost by them. Every case is run with memory that the device
 * wrote last, and with memory that the CPU did.
 */
#include "mm/kernels.h"
#include "regress/interpose/preloaded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096, BYTES = 4 << 20, BESIDE = 1 << 20, GUARD_INSTALL = 102 };

static uint8_t *memory;
static unsigned generation;
static CUfunction kernel;
static int errors; /* what the library says goes there */

static uint8_t expected(size_t i)
{
    return (uint8_t)(i * 7 + generation);
}

/* A kernel writes memory[i] = i * 7 + generation. */
static void device_writes(void)
{
    uint32_t n = BYTES, s = ++generation;
    void *args[] = {&memory, &n, &s};
    must(cuLaunchKernel(kernel, BYTES / 256, 1, 1, 256, 1, 1, 0, NULL, args,
                        NULL));
}

static void cpu_writes(void)
{
    generation++;
    for (size_t i = 0; i < BYTES; i++)
        ((volatile uint8_t *)memory)[i] = expected(i);
}

static void check_memory(void)
{
    for (size_t i = 0; i < BYTES; i++)
        if (((volatile uint8_t *)memory)[i] != expected(i))
            ck_abort_msg("byte %zu is %d", i, memory[i]);
}

/* The same seen by the device: mix(p, q, n, s) is p * 5 + q + s. */
static void check_at_device(void)
{
    static uint8_t copy[BYTES];
    must(cuMemcpyDtoH(copy, (CUdeviceptr)memory, BYTES));
    for (size_t i = 0; i < BYTES; i++)
        if (copy[i] != expected(i))
            ck_abort_msg("byte %zu at the device is %d", i, copy[i]);
}

static void begin(void)
{
    CUmodule module;
    FILE *file = tmpfile();
    errors = fileno(file);
    dup2(errors, STDERR_FILENO);
    device_start();
    must(cuModuleLoadData(&module, kernels_ptx));
    must(cuModuleGetFunction(&kernel, module, "fill"));
    memory = device_bytes(BYTES, 0);
    ck_assert(runtime_is_up());
}

static int lines_said(void)
{
    char text[65536];
    int lines = 0;
    ssize_t got = pread(errors, text, sizeof text, 0);
    for (ssize_t i = 0; i < got; i++)
        lines += text[i] == '\n';
    return lines;
}

/* `call` returns `result`, with `error` where that is a failure, and leaves the
 * bytes as they are, whoever has them. */
#define LEAVES(call, result, error)                                            \
    do {                                                                       \
        for (int cpu_ = 0; cpu_ < 2; cpu_++) {                                 \
            cpu_ ? cpu_writes() : device_writes();                             \
            for (int again_ = 0; again_ < 2; again_++) {                       \
                errno = 0;                                                     \
                ck_assert_int_eq((long)(call), result);                        \
                ck_assert_int_eq(errno, error);                                \
            }                                                                  \
            check_memory();                                                    \
            errno = 0;                                                         \
            ck_assert_int_eq((long)(call), result);                            \
            check_at_device();                                                 \
        }                                                                      \
    } while (0)

START_TEST(mappings_are_not_taken_away)
{
    begin();
    LEAVES(munmap(memory, BYTES), -1, EPERM);
    LEAVES(munmap(memory + PAGE, PAGE), -1, EPERM);
    LEAVES(mremap(memory, BYTES, 2 * BYTES, MREMAP_MAYMOVE), -1, EPERM);
    LEAVES(mremap(memory, 0, BYTES, MREMAP_MAYMOVE), -1, EPERM);
    LEAVES(remap_file_pages(memory, PAGE, 0, 5, 0), -1, EPERM);
    ck_assert_int_eq(lines_said(), 3);
}
END_TEST

START_TEST(nothing_is_mapped_over_it)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    begin();
    uint8_t *plain = mmap(NULL, BESIDE, PROT_READ, flags & ~MAP_FIXED, -1, 0);
    int segment = shmget(IPC_PRIVATE, 2 * PAGE, IPC_CREAT | 0600);
    ck_assert_int_ge(segment, 0);
    LEAVES(mmap(memory, PAGE, PROT_READ, flags, -1, 0), -1, EPERM);
    LEAVES(mmap(memory - PAGE, 2 * PAGE, PROT_READ, flags, -1, 0), -1, EPERM);
    /* Over all of it and more, so that both ends are plain. */
    LEAVES(mmap(memory - PAGE, BYTES + 2 * PAGE, 0, flags, -1, 0), -1, EPERM);
    LEAVES(mmap(memory, PAGE, 0, flags & ~MAP_FIXED, -1, 0) == memory, 0, 0);
    LEAVES(mmap(memory, PAGE, 0, flags | MAP_FIXED_NOREPLACE, -1, 0), -1,
           EPERM);
    LEAVES(mremap(plain, PAGE, PAGE, MREMAP_FIXED | MREMAP_MAYMOVE, memory), -1,
           EPERM);
    LEAVES(shmat(segment, memory, SHM_REMAP), -1, EPERM);
    LEAVES(shmat(segment, memory - PAGE, SHM_REMAP), -1, EPERM);
    LEAVES(shmat(segment, memory, 0), -1, EINVAL);
    shmctl(segment, IPC_RMID, NULL);
    ck_assert_int_eq(lines_said(), 3);
}
END_TEST

START_TEST(protection_stays)
{
    begin();
    LEAVES(mprotect(memory, BYTES, PROT_READ | PROT_WRITE), 0, 0);
    LEAVES(mprotect(memory + PAGE, 3, PROT_READ | PROT_WRITE), 0, 0);
    LEAVES(mprotect(memory + 1, 3, PROT_READ | PROT_WRITE), -1, EINVAL);
    LEAVES(mprotect(memory, BYTES, PROT_READ), -1, EPERM);
    LEAVES(mprotect(memory, BYTES, PROT_NONE), -1, EPERM);
    LEAVES(mprotect(memory, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), -1,
           EPERM);
    LEAVES(pkey_mprotect(memory, PAGE, PROT_READ | PROT_WRITE, -1), 0, 0);
    LEAVES(pkey_mprotect(memory, PAGE, PROT_READ, -1), -1, EPERM);
    LEAVES(pkey_mprotect(memory, PAGE, PROT_READ | PROT_WRITE, 1), -1, EPERM);
    ck_assert_int_eq(lines_said(), 2);
}
END_TEST

START_TEST(advice_takes_nothing)
{
    static const int heard[] = {
        MADV_NORMAL,        MADV_RANDOM,   MADV_SEQUENTIAL,
        MADV_WILLNEED,      MADV_DONTNEED, MADV_DONTFORK,
        MADV_MERGEABLE,     MADV_HUGEPAGE, MADV_NOHUGEPAGE,
        MADV_DONTDUMP,      MADV_DODUMP,   MADV_KEEPONFORK,
        MADV_COLD,          MADV_PAGEOUT,  MADV_POPULATE_READ,
        MADV_POPULATE_WRITE};
    static const int impossible[] = {MADV_FREE, MADV_WIPEONFORK, MADV_DOFORK,
                                     9999};
    begin();
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        LEAVES(madvise(memory, BYTES, heard[i]), 0, 0);
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++)
        LEAVES(madvise(memory, BYTES, impossible[i]), -1, EINVAL);
    ck_assert_int_eq(lines_said(), 0);
    LEAVES(madvise(memory, BYTES, MADV_REMOVE), -1, EPERM);
    LEAVES(madvise(memory + PAGE, PAGE, MADV_REMOVE), -1, EPERM);
    LEAVES(madvise(memory + 1, PAGE, MADV_NORMAL), -1, EINVAL);
    for (int advice = POSIX_MADV_NORMAL; advice <= POSIX_MADV_DONTNEED;
         advice++)
        LEAVES(posix_madvise(memory, BYTES, advice), 0, 0);
    LEAVES(posix_madvise(memory, BYTES, 9999), EINVAL, 0);
    ck_assert_int_eq(lines_said(), 1);
}
END_TEST

START_TEST(populated_memory_is_open)
{
    int pipe_ends[2];
    begin();
    ck_assert_int_eq(pipe(pipe_ends), 0);
    device_writes();
    must(cuCtxSynchronize());
    ck_assert_int_eq(madvise(memory, PAGE, MADV_POPULATE_READ), 0);
    /* The kernel gets what is open. */
    struct iovec range = {memory, PAGE};
    ck_assert_int_eq(vmsplice(pipe_ends[1], &range, 1, 0), PAGE);
    device_writes();
    ck_assert_int_eq(madvise(memory, PAGE, MADV_POPULATE_WRITE), 0);
    ck_assert_int_eq(vmsplice(pipe_ends[1], &range, 1, 0), PAGE);
    check_memory();
}
END_TEST

START_TEST(locks_are_the_kernels_beside_it_only)
{
    begin();
    LEAVES(mlock(memory, BYTES), 0, 0);
    LEAVES(mlock2(memory, BYTES, MLOCK_ONFAULT), 0, 0);
    LEAVES(munlock(memory, BYTES), 0, 0);
    LEAVES(mlock2(memory, BYTES, 8), -1, EINVAL);
    ck_assert_int_eq(lines_said(), 0);
}
END_TEST

static size_t resident_kib(void)
{
    char line[256];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "RssShmem:", 9) == 0)
            kib = strtoul(line + 9, NULL, 10);
    fclose(file);
    return kib;
}

START_TEST(locking_everything_leaves_room_for_objects_empty)
{
    begin();
    device_writes();
    ck_assert_int_eq(memory[0], expected(0));
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        printf("vm: not allowed to lock: %s\n", strerror(errno));
        return;
    }
    ck_assert_uint_lt(resident_kib(), 64 << 10);
    check_memory();
    /* Of what comes, all is there at once. */
    unsigned char there[2] = {0};
    uint8_t *plain = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_int_eq(mincore(plain, 2 * PAGE, there), 0);
    ck_assert_int_eq(there[1], 1);
    munlockall();
}
END_TEST

START_TEST(questions_are_answered)
{
    static unsigned char there[BYTES / PAGE];
    uint8_t *answer;
    begin();
    answer = device_bytes(BYTES, 0);
    LEAVES(msync(memory, BYTES, MS_SYNC), 0, 0);
    LEAVES(msync(memory, BYTES, MS_SYNC | MS_ASYNC), -1, EINVAL);
    LEAVES(mincore(memory, BYTES, there), 0, 0);
    cpu_writes();
    ck_assert_int_eq(mincore(memory, BYTES, there), 0);
    ck_assert_int_eq(there[0], 1);
    ck_assert_int_eq(there[BYTES / PAGE - 1], 1);
    LEAVES(mincore(memory, BYTES, answer + 3), 0, 0);
    ck_assert_int_eq(answer[3], 1);
    ck_assert_int_eq(answer[BYTES / PAGE + 2], 1);
    ck_assert_int_eq(answer[BYTES / PAGE + 3], 0);
    ck_assert_int_eq(lines_said(), 0);
}
END_TEST

/* A page of the program's behind the object, and what the driver has between
 * the two: each part gets its own. */
START_TEST(the_rest_of_a_range_is_the_kernels)
{
    begin();
    uint8_t *last = memory + BYTES;
    uint8_t *free_page = NULL;
    for (uint8_t *at = last; at < last + (64 << 20) && !free_page; at += PAGE)
        if (mmap(at, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0) == at)
            free_page = at;
    ck_assert_ptr_nonnull(free_page);
    size_t all = (size_t)(free_page - memory) + PAGE;
    LEAVES(munmap(memory, all), -1, EPERM);
    LEAVES(mprotect(memory, all, PROT_NONE), -1, EPERM);
    ck_assert_int_eq(free_page[0], 0);
    ck_assert_int_eq(mprotect(memory, all, PROT_READ | PROT_WRITE), 0);
    free_page[0] = 5;
    ck_assert_int_eq(madvise(memory, all, MADV_DONTNEED), 0);
    ck_assert_int_eq(free_page[0], 0);
    device_writes();
    check_memory();
}
END_TEST

START_TEST(plain_memory_is_the_kernels)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    begin();
    uint8_t *plain = mmap(NULL, BESIDE, PROT_READ | PROT_WRITE, flags, -1, 0);
    plain[5] = 1;
    ck_assert_int_eq(madvise(plain, BESIDE, MADV_DONTNEED), 0);
    ck_assert_int_eq(plain[5], 0);
    ck_assert_int_eq(mprotect(plain, PAGE, PROT_NONE), 0);
    errno = 0;
    ck_assert_int_eq(write(errors, plain, 1), -1);
    ck_assert_int_eq(errno, EFAULT);
    ck_assert_ptr_eq(mmap(plain, PAGE, PROT_READ, flags | MAP_FIXED, -1, 0),
                     plain);
    uint8_t *moved =
        mremap(plain + PAGE, BESIDE - PAGE, 2 * BESIDE, MREMAP_MAYMOVE);
    ck_assert_ptr_ne(moved, MAP_FAILED);
    ck_assert_int_eq(munmap(moved, 2 * BESIDE), 0);
    errno = 0;
    ck_assert_int_eq(msync(moved, PAGE, MS_SYNC), -1);
    ck_assert_int_eq(errno, ENOMEM);
    /* Memory that was shared is plain again. */
    must(cuMemFree((CUdeviceptr)memory));
    ck_assert_int_eq(lines_said(), 0);
}
END_TEST

SUITE_MAIN("vm", 60, mappings_are_not_taken_away, nothing_is_mapped_over_it,
           protection_stays, advice_takes_nothing, populated_memory_is_open,
           locks_are_the_kernels_beside_it_only,
           locking_everything_leaves_room_for_objects_empty,
           questions_are_answered, the_rest_of_a_range_is_the_kernels,
           plain_memory_is_the_kernels)
