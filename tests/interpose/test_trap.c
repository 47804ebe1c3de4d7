/*
 * Calls by the program's own instructions that are not seen: by threads that it
 * makes by itself. It is told of them, and they work.
 */
#include "said.h"

#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { BYTES = 1 << 20 };

static char stack[65536] __attribute__((aligned(16)));
static volatile int word;
static const char unseen[] = "a thread is made by clone itself";

/* The child counts and ends, in instructions of its own. */
#define CLONE(number, first, second)                                           \
    ({                                                                         \
        long result_;                                                          \
        __asm__ volatile("syscall\n"                                           \
                         "testq %%rax, %%rax\n"                                \
                         "jnz 1f\n"                                            \
                         "addl $5, %1\n"                                       \
                         "movl $60, %%eax\n"                                   \
                         "xorl %%edi, %%edi\n"                                 \
                         "syscall\n"                                           \
                         "1:\n"                                                \
                         : "=a"(result_), "+m"(word)                           \
                         : "a"((long)(number)), "D"((long)(first)),            \
                           "S"((long)(second)), "d"(0L)                        \
                         : "rcx", "r11", "memory");                            \
        result_;                                                               \
    })

static const long thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                           CLONE_THREAD | CLONE_SYSVSEM;

static void await(int count)
{
    while (word != count)
        sched_yield();
}

START_TEST(threads_of_clone_are_said_once)
{
    begin();
    uint8_t *memory = device_bytes(BYTES, 7);
    for (int i = 1; i < 3; i++) {
        ck_assert_int_gt(CLONE(SYS_clone, thread, stack + sizeof stack), 0);
        await(5 * i);
    }
    ck_assert_int_eq(times_said(unseen), 1);
    ck_assert_int_eq(times_said("\n"), 1);
    ck_assert_int_eq(memory[5], 7);
}
END_TEST

START_TEST(and_those_of_clone3)
{
    struct clone_args about = {.flags = (uint64_t)thread,
                               .stack = (uintptr_t)stack,
                               .stack_size = sizeof stack};
    begin();
    (void)device_bytes(BYTES, 7);
    ck_assert_int_eq(CLONE(SYS_clone3, 8L, sizeof about), -14 /* EFAULT */);
    ck_assert_int_eq(times_said("\n"), 0);
    ck_assert_int_gt(CLONE(SYS_clone3, &about, sizeof about), 0);
    await(5);
    ck_assert_int_eq(times_said(unseen), 1);
}
END_TEST

START_TEST(processes_are_not_spoken_of)
{
    int status = 1;
    begin();
    (void)device_bytes(BYTES, 7);
    long child = CLONE(SYS_clone, SIGCHLD, 0);
    ck_assert_int_eq(waitpid((pid_t)child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    child = CLONE(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD,
                  stack + sizeof stack);
    ck_assert_int_eq(waitpid((pid_t)child, &status, 0), child);
    ck_assert_int_eq(word, 5);
    ck_assert_int_eq(times_said("\n"), 0);
}
END_TEST

SUITE_MAIN("trap", 60, threads_of_clone_are_said_once, and_those_of_clone3,
           processes_are_not_spoken_of)
