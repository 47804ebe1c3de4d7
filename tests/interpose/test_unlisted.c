/*
 * System calls of programs written for adsm.h, which no hook sees, on shared
 * memory: exactly what the documentation advises (troubleshooting.md), under each
 * protocol, with blocks of a page of which one may be dirty.
 */
#include "common/suite.h"
#include "mm/kernels.h"

#include <adsm.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGE = 4096, BYTES = 16 * PAGE };

static uint8_t *memory;
static uint8_t plain[BYTES];
static int ends[2];
static unsigned generation;

static adsmKernel *kernel;

static void start(void)
{
    adsmModule *module;
    ck_assert_int_eq(adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx),
                     ADSM_OK);
    ck_assert_int_eq(
        adsmKernelGet(&kernel, module, "fill", ADSM_ONLY_ARGUMENTS), ADSM_OK);
    memory = adsmAlloc(BYTES);
    ck_assert_ptr_nonnull(memory);
}

/* A kernel writes memory[i] = i * 7 + generation. */
static void device_writes(void)
{
    uint32_t n = BYTES, s = ++generation;
    ck_assert_int_eq(adsmLaunch(kernel, adsmDim1(BYTES / 256), adsmDim1(256), 0,
                                adsmInOut(memory), adsmVal(n), adsmVal(s)),
                     ADSM_OK);
}

static void begin(void)
{
    static const int room = BYTES * 2;
    start();
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

static uint8_t expected(size_t i)
{
    return (uint8_t)(i * 7 + generation);
}

static void cpu_writes(void)
{
    generation++;
    for (size_t i = 0; i < BYTES; i++)
        ((volatile uint8_t *)memory)[i] = expected(i);
}

/* "Read a byte of every page." */
static void read_pages(void)
{
    for (size_t i = 0; i < BYTES; i += PAGE)
        (void)((volatile uint8_t *)memory)[i];
}

static void check(const uint8_t *at)
{
    for (size_t i = 0; i < BYTES; i++)
        ck_assert_msg(at[i] == expected(i), "byte %zu", i);
}

static void check_send(void)
{
    ck_assert_int_eq(send(ends[0], memory, BYTES, 0), BYTES);
    memset(plain, 0, BYTES);
    ck_assert_int_eq(recv(ends[1], plain, BYTES, 0), BYTES);
    check(plain);
}

/* The other side sends the next generation. */
static void peer_sends(void)
{
    generation++;
    for (size_t i = 0; i < BYTES; i++)
        plain[i] = expected(i);
    ck_assert_int_eq(send(ends[1], plain, BYTES, 0), BYTES);
}

static bool is_rolling(void)
{
    return strcmp(getenv("ADSM_PROTOCOL"), "rolling") == 0;
}

START_TEST(memory_a_kernel_wrote_is_closed_to_unlisted_calls)
{
    begin();
    device_writes();
    errno = 0;
    ck_assert_int_eq(send(ends[0], memory, BYTES, 0), -1);
    ck_assert_int_eq(errno, EFAULT);
}
END_TEST

START_TEST(memory_that_was_read_since_can_be_sent)
{
    begin();
    for (int i = 0; i < 3; i++) {
        device_writes();
        read_pages();
        check_send();
        check_send();
    }
}
END_TEST

START_TEST(memory_that_was_written_since_can_be_sent)
{
    begin();
    for (int i = 0; i < 3; i++) {
        device_writes();
        cpu_writes();
        check_send();
        check_send();
    }
}
END_TEST

START_TEST(the_cpu_copies_from_a_plain_buffer)
{
    static uint8_t buffer[BYTES];
    begin();
    device_writes();
    peer_sends();
    ck_assert_int_eq(recv(ends[0], buffer, BYTES, 0), BYTES);
    memcpy(memory, buffer, BYTES);
    check(memory);
}
END_TEST

START_TEST(written_memory_stays_open_for_writing_except_under_rolling)
{
    begin();
    device_writes();
    cpu_writes();
    peer_sends();
    errno = 0;
    ssize_t got = recv(ends[0], memory, BYTES, 0);
    if (is_rolling()) {
        ck_assert_int_eq(got, -1);
        ck_assert_int_eq(errno, EFAULT);
    } else {
        ck_assert_int_eq(got, BYTES);
        check(memory);
    }
}
END_TEST

SUITE_MAIN("unlisted", 60, memory_a_kernel_wrote_is_closed_to_unlisted_calls,
           memory_that_was_read_since_can_be_sent,
           memory_that_was_written_since_can_be_sent,
           the_cpu_copies_from_a_plain_buffer,
           written_memory_stays_open_for_writing_except_under_rolling)
