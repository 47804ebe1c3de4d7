/*
 * Beside a library that has written over the functions which change mappings
 * (patcher.h): nothing goes in circles, what is refused is refused, and what the
 * runtime does with mappings of its own it does without them.
 */
#include "said.h"

#include "patcher.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/shm.h>

enum { BYTES = 8 << 20 };

static uint8_t *memory;
static sigjmp_buf out;
static volatile int *volatile nowhere;

static void start(void)
{
    begin();
    memory = device_bytes(BYTES, 7);
    patch_all();
}

START_TEST(what_is_refused_is_refused)
{
    start();
    errno = 0;
    ck_assert_int_eq(munmap(memory, 4096), -1);
    ck_assert_int_eq(errno, EPERM);
    errno = 0;
    ck_assert_ptr_eq(mmap(memory, 4096, PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     MAP_FAILED);
    ck_assert_int_eq(errno, EPERM);
    errno = 0;
    ck_assert_ptr_eq(mremap(memory, 4096, 8192, MREMAP_MAYMOVE, NULL),
                     MAP_FAILED);
    ck_assert_int_eq(errno, EPERM);
    errno = 0;
    ck_assert_int_eq(mprotect(memory, 4096, PROT_NONE), -1);
    ck_assert_int_eq(errno, EPERM);
    errno = 0;
    ck_assert_int_eq(madvise(memory, 4096, MADV_REMOVE), -1);
    ck_assert_int_eq(errno, EPERM);
    errno = 0;
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    ck_assert_ptr_eq(shmat(segment, memory, SHM_REMAP), MAP_FAILED);
    ck_assert_int_eq(errno, EPERM);
    shmctl(segment, IPC_RMID, NULL);
    ck_assert_int_eq(memory[4095], 7);
    ck_assert_int_ge(patch_calls("munmap"), 1);
    ck_assert_int_ge(patch_calls("shmat"), 1);
}
END_TEST

START_TEST(what_is_allowed_works)
{
    start();
    ck_assert_int_eq(madvise(memory, BYTES, MADV_WILLNEED), 0);
    ck_assert_int_eq(mprotect(memory, 4096, PROT_READ | PROT_WRITE), 0);
    char *plain = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    plain[5] = 1;
    plain = mremap(plain, 4096, 8192, MREMAP_MAYMOVE, NULL);
    ck_assert_int_eq(plain[5], 1);
    ck_assert_int_eq(mprotect(plain, 4096, PROT_READ), 0);
    ck_assert_int_eq(munmap(plain, 8192), 0);
    ck_assert_int_ge(patch_calls("mremap"), 1);
    ck_assert_int_ge(patch_calls("mprotect"), 2);
}
END_TEST

static void leave(int number)
{
    siglongjmp(out, number);
}

START_TEST(actions_are_kept)
{
    struct sigaction before;
    start();
    ck_assert_ptr_eq(signal(SIGSEGV, leave), SIG_DFL);
    ck_assert_int_eq(
        sigaction(SIGSEGV, &(struct sigaction){.sa_handler = leave}, &before),
        0);
    ck_assert_ptr_eq(before.sa_handler, leave);
    if (sigsetjmp(out, 1) == 0)
        *nowhere = 1;
    ck_assert_int_eq(memory[BYTES - 1], 7);
    ck_assert_int_ge(patch_calls("sigaction"), 1);
}
END_TEST

/* Objects come and go, accesses fault, calls wait: on the runtime's threads, too. */
START_TEST(the_runtime_asks_the_kernel)
{
    CUstream stream;
    start();
    must(cuStreamCreate(&stream, 0));
    for (int i = 0; i < 20; i++) {
        uint8_t *other = device_bytes(BYTES, (uint8_t)i);
        for (size_t k = 0; k < BYTES; k += 65536)
            ck_assert_int_eq(((volatile uint8_t *)other)[k]++, i);
        must(cuMemsetD8Async((CUdeviceptr)other, 9, BYTES / 2, stream));
        must(cuStreamSynchronize(stream));
        ck_assert_int_eq(((volatile uint8_t *)other)[5], 9);
        must(cuMemFree((CUdeviceptr)other));
    }
    const char *called = patch_from_runtime();
    ck_assert_msg(!called, "the runtime called %s", called ? called : "");
}
END_TEST

SUITE_MAIN("patched", 60, what_is_refused_is_refused, what_is_allowed_works,
           actions_are_kept, the_runtime_asks_the_kernel)
