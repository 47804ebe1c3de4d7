/*
 * Calls by number: those of which nothing is known, and what arrives.
 */
#include "said.h"

#include "interpose/calls/numbers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 1 << 20, NO_SUCH_CALL = 500, NOR_THIS = 499 };

/* Under this engine the kernel's accesses are served, and nothing is to be
 * said. */
static bool kernel_is_served(void)
{
    const char *engine = getenv("ADSM_FAULT_ENGINE");
    return engine && strcmp(engine, "uffd") == 0;
}

START_TEST(an_unknown_number_with_shared_memory_is_said_once)
{
    if (kernel_is_served())
        return;
    begin();
    uint8_t *memory = device_bytes(BYTES, 1);
    ck_assert(runtime_is_up());
    for (int i = 0; i < 3; i++) {
        errno = 0;
        ck_assert_int_eq(syscall(NO_SUCH_CALL, 1L, memory + 5), -1);
        ck_assert_int_eq(errno, ENOSYS);
    }
    ck_assert_int_eq(times_said("system call 500 is given shared memory as "
                                "argument 2"),
                     1);
    ck_assert_int_eq(syscall(NOR_THIS, 1L, 2L, 3L, 4L, 5L, memory), -1);
    ck_assert_int_eq(times_said("system call 499"), 1);
    ck_assert_int_eq(times_said("argument 6"), 1);
    ck_assert_int_eq(times_said("\n"), 2);
}
END_TEST

START_TEST(what_the_kernel_would_keep_is_said_with_the_reason)
{
    if (kernel_is_served())
        return;
    begin();
    uint8_t *memory = device_bytes(BYTES, 1);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(syscall(SYS_set_robust_list, memory, 1L), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_int_eq(times_said("the call set_robust_list is given shared "
                                "memory as argument 1"),
                     1);
    ck_assert_int_eq(times_said("goes on using the memory"), 1);
    ck_assert_int_eq(times_said("\n"), 1);
}
END_TEST

START_TEST(plain_memory_and_numbers_are_not_spoken_of)
{
    char plain[100];
    begin();
    uint8_t *memory = device_bytes(BYTES, 1);
    ck_assert_int_eq(syscall(NO_SUCH_CALL, plain, 5L, 0L, 0L, 0L, 0L), -1);
    ck_assert_int_eq(syscall(SYS_gettid, memory, memory), syscall(SYS_gettid));
    ck_assert_int_eq(syscall(-1L, memory), -1);
    ck_assert_int_eq(syscall(1L << 40, memory), -1);
    ck_assert_int_eq(times_said("\n"), 0);
}
END_TEST

START_TEST(six_arguments_arrive)
{
    begin();
    (void)device_bytes(BYTES, 1);
    int file = fileno(tmpfile());
    ck_assert_int_eq(ftruncate(file, 3 * 4096), 0);
    ck_assert_int_eq(pwrite(file, "x", 1, 2 * 4096), 1);
    long at =
        syscall(SYS_mmap, NULL, 4096L, PROT_READ, MAP_SHARED, file, 2L * 4096);
    ck_assert_int_ne(at, -1);
    ck_assert_int_eq(*(char *)at, 'x');
    ck_assert_int_eq(syscall(SYS_munmap, at, 4096L), 0);
}
END_TEST

START_TEST(mappings_are_kept_from_numbers_too)
{
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    errno = 0;
    ck_assert_int_eq(syscall(SYS_munmap, memory, (long)BYTES), -1);
    ck_assert_int_eq(errno, EPERM);
    ck_assert_int_eq(syscall(SYS_mprotect, memory, 4096L, PROT_READ), -1);
    ck_assert_int_eq(syscall(SYS_madvise, memory, 4096L, MADV_REMOVE), -1);
    ck_assert_int_eq(syscall(SYS_mmap, memory, 4096L, 0,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L),
                     -1);
    ck_assert_int_eq(syscall(SYS_mremap, memory, 4096L, 8192L, MREMAP_MAYMOVE),
                     -1);
    ck_assert_int_eq(errno, EPERM);
    ck_assert_int_eq(memory[0], 7);
    ck_assert_int_eq(memory[BYTES - 1], 7);
}
END_TEST

/* Ranges in a list: of this process, and with plain memory among them. */
START_TEST(advice_by_list_takes_nothing_away)
{
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    uint8_t *plain = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec list[] = {{memory + 4096, 4096}, {plain, 4096}};
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    ssize_t done =
        syscall(SYS_process_madvise, self, list, 2L, MADV_DONTNEED, 0);
    plain[0] = 5;
    /* Linux 6.13 allows it: the plain range is emptied, the other is not. */
    ck_assert(done == 2 * 4096 || (done == -1 && errno == EINVAL));
    ck_assert_int_eq(process_madvise(self, list, 2, MADV_DONTNEED, 0), done);
    ck_assert_int_eq(plain[0], done < 0 ? 5 : 0);
    ck_assert_int_eq(memory[4096], 7);
    ck_assert_int_eq(process_madvise(self, list, 2, MADV_WILLNEED, 0),
                     2 * 4096);
    ck_assert_int_eq(process_madvise(self, list, 2, MADV_WILLNEED, 1), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_int_eq(process_madvise(self, list, 2, MADV_REMOVE, 0), -1);
    ck_assert_int_eq(memory[4096], 7);
    close(self);
}
END_TEST

/* Sealed memory could never be closed to the CPU again. */
START_TEST(sealing_is_heard_and_not_done)
{
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    long done = syscall(SYS_mseal, memory, (long)BYTES, 0L);
    ck_assert(done == 0 || errno == ENOSYS);
    ck_assert_int_eq(syscall(SYS_mseal, memory, (long)BYTES, 1L), -1);
    must(cuMemsetD8((CUdeviceptr)memory, 9, BYTES));
    ck_assert_int_eq(memory[5], 9);
    must(cuMemsetD8((CUdeviceptr)memory, 11, BYTES));
    ck_assert_int_eq(memory[BYTES - 1], 11);
}
END_TEST

SUITE_MAIN("syscall", 60, an_unknown_number_with_shared_memory_is_said_once,
           what_the_kernel_would_keep_is_said_with_the_reason,
           advice_by_list_takes_nothing_away, sealing_is_heard_and_not_done,
           plain_memory_and_numbers_are_not_spoken_of, six_arguments_arrive,
           mappings_are_kept_from_numbers_too)
