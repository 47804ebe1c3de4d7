/*
 * Handlers that note what they were told, and use shared memory that the device
 * had last.
 */
#ifndef NOTED_H
#define NOTED_H

#include "preloaded.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

enum { BYTES = 1 << 20, PAGE = 4096 };

static volatile uint8_t *shared;
static volatile sig_atomic_t handled, code, value, seen;
static void *volatile address;
static sigjmp_buf away;

/* The device has had it last: every access faults. */
static inline void close_all(void)
{
    must(cuMemsetD8((CUdeviceptr)shared, 3, BYTES));
}

static inline void begin(void)
{
    device_start();
    shared = device_bytes(BYTES, 3);
}

static inline void note(int number, siginfo_t *info, void *context)
{
    (void)context;
    handled = number;
    code = info->si_code;
    value = info->si_value.sival_int;
    address = info->si_addr;
    seen = shared[BYTES / 2];
    shared[BYTES / 2] = 3;
}

static inline void note_and_jump(int number, siginfo_t *info, void *context)
{
    note(number, info, context);
    siglongjmp(away, 1);
}

static inline void install(int number,
                           void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = SA_SIGINFO | flags};
    ck_assert_int_eq(sigaction(number, &action, NULL), 0);
}

static inline void expect_handled(int number, int with_code)
{
    ck_assert_int_eq(handled, number);
    ck_assert_int_eq(code, with_code);
    ck_assert_int_eq(seen, 3);
    handled = seen = 0;
}

static inline void touch_bad(void)
{
    static char *volatile bad = (char *)8;
    *(volatile char *)bad = 1;
}

#endif
