/*
 * Memory that the device shares with the host: kernels use the host's pages as
 * they are, nothing is copied, and accesses of the CPU wait for kernels as they
 * do elsewhere.
 */
#include "fixture.h"
#include "accel/accel.h"
#include "accel/device.h"
#include "base/stats.h"
#include "mm/doors/kept.h"
#include "mm/doors/loan.h"
#include "mm/heap/heap.h"
#include "mm/state/direct.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t moved(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_up) +
           adsm_stats_get(ADSM_STAT_bytes_down) +
           adsm_stats_get(ADSM_STAT_bytes_device);
}

static size_t memory_free(void)
{
    struct adsm_accel *accel;
    size_t free_bytes, total;
    must(adsm_accel_open(0, &accel));
    must(adsm_accel_memory(accel, &free_bytes, &total));
    return free_bytes;
}

START_TEST(both_sides_use_the_same_bytes_and_none_moves)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(1 << 20), *q = adsmAlloc(1 << 20);
    ck_assert_ptr_eq(adsmSafe(p + 5), p + 5);
    memset(p, 3, 1 << 20);
    memset(q, 4, 1 << 20);
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t n = 1 << 20, s = round;
        p[7] = 9;
        must(adsmLaunch(f.mix_only, adsmDim1(n / 256), adsmDim1(256), 0,
                        adsmInOut(p), adsmIn(q), adsmVal(n), adsmVal(s)));
        ck_assert_int_eq(p[7], (uint8_t)(9 * 5 + 4 + round));
    }
    ck_assert_uint_eq(moved(), 0);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_syncs), 0);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

enum { LONG = 64 << 20 }; /* a kernel that is not through at once */

/* In flight there is a kernel that writes `p`, LONG bytes. */
static uint8_t *being_written(struct fixture *f)
{
    uint8_t *p = adsmAlloc(LONG);
    memset(p, 1, LONG);
    device_fill(f->fill_only, p, LONG, 6);
    return p;
}

static bool is_open(const void *p)
{
    int ends[2];
    must(pipe(ends));
    bool open = write(ends[1], p, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return open;
}

START_TEST(read_waits_for_who_writes_it)
{
    struct fixture f = fixture_up();
    uint8_t *p = being_written(&f);
    ck_assert_int_eq(p[LONG - 1], filled(LONG - 1, 6));
    /* By one fault, in what it has waited for. */
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_read), 1);
    p[LONG - 2] = 3;
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_write), 0);
    must(adsmFree(p));
}
END_TEST

START_TEST(store_waits_for_who_reads_it)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(LONG), *q = adsmAlloc(LONG);
    uint32_t n = LONG, s = 0;
    memset(p, 0, LONG);
    memset(q, 4, LONG);
    must(adsmLaunch(f.mix_only, adsmDim1(n / 256), adsmDim1(256), 0,
                    adsmInOut(p), adsmIn(q), adsmVal(n), adsmVal(s)));
    ck_assert_int_eq(q[LONG - 1], 4);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_read), 0);
    q[LONG - 1] = 5;
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_write), 1);
    ck_assert_int_eq(p[LONG - 1], 4);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

START_TEST(what_a_call_does_not_name_stays_open)
{
    struct fixture f = fixture_up();
    uint8_t *other = adsmAlloc(300000);
    uint8_t *p = being_written(&f);
    other[5] = 1;
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_write), 0);
    must(adsmFree(p));
    must(adsmFree(other));
}
END_TEST

START_TEST(what_the_cpu_leaves_alone_costs_nothing_more)
{
    struct fixture f = fixture_up();
    uint8_t *p = being_written(&f);
    for (int i = 0; i < 10; i++)
        device_fill(f.fill_only, p, LONG, 6);
    must(adsmSync());
    ck_assert(!is_open(p));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_read), 0);
    must(adsmFree(p));
}
END_TEST

/* Kernels called meanwhile do not take it from the system call. */
START_TEST(what_is_lent_stays_open_until_the_last_loan_ends)
{
    struct fixture f = fixture_up();
    uint8_t *p = being_written(&f);
    struct adsm_loan read, write;
    must(adsm_loan_begin(p + 5000, 100, ADSM_READ, &read));
    ck_assert_ptr_eq(read.address, p + 5000);
    ck_assert_int_eq(p[5099], filled(5099, 6));
    must(adsm_loan_begin(p + 4 * LONG / 5, 100, ADSM_WRITE, &write));
    device_fill(f.fill_only, p, LONG, 7);
    ck_assert(is_open(p + 5000));
    must(adsm_loan_end(&read, 0));
    ck_assert(is_open(p + 5000));
    must(adsm_loan_end(&write, 100));
    ck_assert(!is_open(p + 5000));
    ck_assert_int_eq(p[5000], filled(5000, 7));
    must(adsmFree(p));
}
END_TEST

START_TEST(what_threads_wait_with_stays_open)
{
    struct fixture f = fixture_up();
    uint8_t *p = being_written(&f);
    void *word;
    must(adsm_keep(p + 8192, 4, &word));
    ck_assert_ptr_eq(word, p + 8192);
    device_fill(f.fill_only, p, LONG, 7);
    ck_assert(is_open(p + 8192));
    ck_assert(!is_open(p + 4095));
    ck_assert(!is_open(p + 12288));
    must(adsmFree(p));
}
END_TEST

START_TEST(lost_device_leaves_what_there_is)
{
    struct fixture f = fixture_up();
    uint8_t *p = being_written(&f);
    ck_assert_int_eq(kill_children(), 1);
    ck_assert(p[LONG - 1] == 1 || p[LONG - 1] == filled(LONG - 1, 6));
    uint32_t n = 1, seed = 0;
    adsmStatus next = adsmLaunch(f.fill_only, adsmDim1(1), adsmDim1(1), 0,
                                 adsmInOut(p), adsmVal(n), adsmVal(seed));
    ck_assert_int_eq(next == ADSM_OK ? adsmSync() : next, ADSM_E_DEVICE_LOST);
}
END_TEST

START_TEST(small_allocations_are_apart_and_come_back)
{
    enum { COUNT = 9000, SLABS_KEPT = 8 << 20 };
    static uint8_t *at[COUNT];
    struct fixture f = fixture_up();
    size_t before = memory_free(), bytes;
    void *base;
    for (int i = 0; i < COUNT; i++) {
        at[i] = adsmAlloc((size_t)(1 + i % 1500));
        ck_assert_uint_eq((uintptr_t)at[i] % 512, 0);
        memset(at[i], i, (size_t)(1 + i % 1500));
    }
    for (int i = 0; i < COUNT; i++) {
        size_t size = (size_t)(1 + i % 1500);
        must(adsm_heap_range(at[i] + size - 1, &base, &bytes));
        ck_assert_ptr_eq(base, at[i]);
        ck_assert_uint_eq(bytes, size);
        ck_assert_int_eq(at[i][0] + at[i][size - 1], 2 * (uint8_t)i);
    }
    device_fill(f.fill, at[77], 78, 1);
    ck_assert_int_eq(at[78][0], 78);
    ck_assert_int_eq(at[77][77], filled(77, 1));
    for (int i = 0; i < COUNT; i += 2)
        must(adsmFree(at[i]));
    for (int i = 1; i < COUNT; i += 2)
        must(adsmFree(at[i]));
    ck_assert_uint_ge(memory_free() + SLABS_KEPT, before);
}
END_TEST

START_TEST(what_is_no_allocation_is_refused)
{
    (void)fixture_up();
    uint8_t *large = adsmAlloc(300000), *small = adsmAlloc(3000);
    uint8_t plain;
    expect(adsmFree(large + 1), ADSM_E_NOT_SHARED, "not the start");
    expect(adsmFree(small + 512), ADSM_E_NOT_SHARED, "not the start");
    expect(adsmFree(&plain), ADSM_E_NOT_SHARED, "not the start");
    ck_assert_ptr_null(adsmSafe(large + 300000));
    must(adsmFree(small));
    expect(adsmFree(small), ADSM_E_NOT_SHARED, "not the start");
    must(adsmFree(large));
    ck_assert_ptr_null(adsmSafe(large));
    ck_assert_ptr_null(adsmAlloc((size_t)600 << 20));
    ck_assert_int_eq(adsmLastStatus(), ADSM_E_DEVICE_NOMEM);
}
END_TEST

/* A slot is the next one's at once, and no driver waits for kernels then. */
START_TEST(freed_memory_is_not_written_any_more)
{
    enum { BYTES = 64 << 20, SMALL = 3000 };
    struct fixture f = fixture_up();
    uint8_t *before = adsmAlloc(BYTES), *other = adsmAlloc(SMALL);
    uint8_t *p = adsmAlloc(SMALL);
    device_fill(f.fill_only, before, BYTES, 6);
    device_fill(f.fill_only, p, SMALL, 6);
    must(adsmFree(p));
    uint8_t *q = adsmAlloc(SMALL);
    ck_assert_ptr_eq(q, p);
    memset(q, 1, SMALL);
    for (int i = 0; i < SMALL; i++)
        ck_assert_int_eq(q[i], 1);
    must(adsmFree(q));
    must(adsmFree(other));
    must(adsmFree(before));
}
END_TEST

START_TEST(child_of_a_fork_has_none_of_it)
{
    (void)fixture_up();
    volatile uint8_t *p = adsmAlloc(300000);
    int status;
    p[0] = 1;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        p[0] = 2;
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    ck_assert_int_eq(p[0], 1);
}
END_TEST

/* What the second device is given the first has written, or is about to. */
START_TEST(devices_use_it_one_behind_the_other)
{
    enum { BYTES = 32 << 20, SMALL = 3000 };
    setenv("SOFTCUDA_DEVICES", "2", 1);
    struct fixture first = fixture_up();
    must(adsmDeviceUse(1));
    struct fixture second = fixture_up();
    must(adsmDeviceUse(0));
    uint8_t *before = adsmAlloc(BYTES), *p = adsmAlloc(SMALL);
    uint8_t *q = adsmAlloc(SMALL);
    uint32_t n = SMALL, s = 3;
    memset(q, 0, SMALL);
    device_fill(first.fill_only, before, BYTES, 6);
    device_fill(first.fill_only, p, SMALL, 6);
    must(adsmLaunch(second.mix_only, adsmDim1((n + 255) / 256), adsmDim1(256),
                    0, adsmInOut(p), adsmIn(q), adsmVal(n), adsmVal(s)));
    for (uint32_t i = 0; i < SMALL; i++)
        ck_assert_int_eq(p[i], (uint8_t)(filled(i, 6) * 5 + 3));
}
END_TEST

static const adsmOpts two = {.devices = ADSM_ALL_DEVICES, .parts = 3};

START_TEST(calls_with_options_use_it_in_place)
{
    setenv("SOFTCUDA_DEVICES", "2", 1);
    adsmKernel *inc = fixture_up().inc;
    uint8_t *p = adsmAlloc(100000);
    memset(p, 1, 100000);
    must(adsmShape(p, 1, adsmR1(100000)));
    must(adsmPrefetch(p, NULL, 1));
    must(adsmCallWith(&two, inc, adsmR1(100000), adsmInOut(p)));
    must(adsmWaitFor(p, NULL, ADSM_INOUT));
    ck_assert_int_eq(p[0] + p[99999], 4);
    /* Each device behind the other. */
    for (int i = 0; i < 50; i++) {
        const adsmOpts one = {.devices = 1u << (i & 1)};
        must(adsmCallWith(&one, inc, adsmR1(100000), adsmInOut(p)));
    }
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(p[i], 52);
    ck_assert_uint_eq(moved(), 0);
    ck_assert_int_eq(adsmCopies(p, NULL, 0), 0);
    must(adsmFree(p));
}
END_TEST

START_TEST(arrays_of_several_devices_keep_their_copies)
{
    setenv("SOFTCUDA_DEVICES", "2", 1);
    adsmKernel *inc = fixture_up().inc;
    uint8_t *p = adsmAllocArray(1, adsmR1(100000), 0);
    uint8_t *q = adsmAllocArray(1, adsmR1(100000), ADSM_NO_HOME);
    ck_assert(p && q);
    memset(p, 1, 100000);
    memset(q, 2, 100000);
    must(adsmCallWith(&two, inc, adsmR1(100000), adsmInOut(p)));
    must(adsmCallWith(&two, inc, adsmR1(100000), adsmInOut(q)));
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(p[i] + q[i], 5);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

START_TEST(an_edge_of_it_is_refused)
{
    adsmKernel *inc = fixture_up().inc;
    const adsmOpts opts = {.parts = 1};
    uint8_t *p = adsmAlloc(100000);
    expect(adsmCallWith(&opts, inc, adsmR1(100000),
                        adsmHalo(p, 1, ADSM_EDGE_CLAMP)),
           ADSM_E_UNSUPPORTED, "adsmAllocArray");
}
END_TEST

START_TEST(device_with_memory_of_its_own_is_told_so)
{
    setenv("SOFTCUDA_INTEGRATED", "0", 1);
    setenv("ADSM_ADDRESS", "direct", 1);
    (void)fixture_up();
    ck_assert_ptr_null(adsmAlloc(100));
    expect(adsmLastStatus(), ADSM_E_UNSUPPORTED, "memory of its own");
}
END_TEST

START_TEST(device_that_shares_may_be_used_as_if_it_did_not)
{
    setenv("ADSM_ADDRESS", "window", 1);
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(100000);
    device_fill(f.fill, p, 100000, 6);
    ck_assert_int_eq(p[99999], filled(99999, 6));
    ck_assert_ptr_nonnull(adsm_index_find(p));
    ck_assert_uint_gt(moved(), 0);
}
END_TEST

SUITE_MAIN("direct", 60, both_sides_use_the_same_bytes_and_none_moves,
           read_waits_for_who_writes_it, store_waits_for_who_reads_it,
           what_a_call_does_not_name_stays_open,
           what_the_cpu_leaves_alone_costs_nothing_more,
           what_is_lent_stays_open_until_the_last_loan_ends,
           what_threads_wait_with_stays_open, lost_device_leaves_what_there_is,
           small_allocations_are_apart_and_come_back,
           what_is_no_allocation_is_refused,
           freed_memory_is_not_written_any_more, child_of_a_fork_has_none_of_it,
           devices_use_it_one_behind_the_other,
           calls_with_options_use_it_in_place,
           arrays_of_several_devices_keep_their_copies,
           an_edge_of_it_is_refused, device_with_memory_of_its_own_is_told_so,
           device_that_shares_may_be_used_as_if_it_did_not)
