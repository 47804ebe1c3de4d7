/*
 * Many objects, large objects, small limits: what the host pays for shared
 * memory, and what happens when the system says no.
 */
#include "accel/accel.h"
#include "fixture.h"
#include "mm/doors/boundary.h"
#include "mm/doors/loan.h"
#include "mm/heap/heap.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"
#include "os/arena.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SMALL_OBJECTS = 20000 };

/* Host memory of the process in KiB, shared pages counted once. */
static size_t pss_kib(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    size_t kib = 0;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %zu", &kib) == 1)
            break;
    fclose(file);
    return kib;
}

static void limit(int resource, rlim_t value)
{
    struct rlimit r = {value, value};
    ck_assert_int_eq(setrlimit(resource, &r), 0);
}

START_TEST(twenty_thousand_small_objects_fit_in_64_files_and_16_mib)
{
    limit(RLIMIT_NOFILE, 64);
    struct fixture f = fixture_up();
    static uint8_t *p[SMALL_OBJECTS];
    size_t before = pss_kib();
    for (int i = 0; i < SMALL_OBJECTS; i++) {
        p[i] = adsmAlloc(64);
        ck_assert_ptr_nonnull(p[i]);
        p[i][63] = (uint8_t)i;
    }
    size_t slabs = adsm_arena_bytes_committed() / 1024;
    size_t after = pss_kib();
    printf("limits: 20,000 objects: %zu KiB more, %zu KiB of them slabs\n",
           after - before, slabs);
    ck_assert_uint_le(after - before, slabs + 16 * 1024);
    device_fill(f.fill, p[12345], 64, 2);
    ck_assert_int_eq(p[12345][63], filled(63, 2));
    for (int i = 0; i < SMALL_OBJECTS; i++) {
        if (i != 12345)
            ck_assert_int_eq(p[i][63], (uint8_t)i);
        must(adsmFree(p[i]));
    }
}
END_TEST

START_TEST(two_thousand_large_objects_under_64_files_are_all_usable)
{
    limit(RLIMIT_NOFILE, 64);
    (void)fixture_up();
    static uint8_t *p[2000];
    for (int i = 0; i < 2000; i++) {
        p[i] = adsmAlloc(100 << 10);
        ck_assert_ptr_nonnull(p[i]);
        p[i][i] = (uint8_t)i;
    }
    for (int i = 0; i < 2000; i++) {
        ck_assert_int_eq(p[i][i], (uint8_t)i);
        must(adsmFree(p[i]));
    }
}
END_TEST

/* 1 GiB with 4 KiB blocks asked for: alternate blocks written would be a quarter
 * of a million mappings. */
START_TEST(every_other_page_of_a_gib_can_be_written)
{
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    (void)fixture_up();
    size_t bytes = (size_t)1 << 30;
    volatile uint8_t *p = adsmAlloc(bytes);
    ck_assert_ptr_nonnull((void *)p);
    size_t step = 2 * adsm_index_find((void *)p)->block_bytes;
    for (size_t i = 0; i < bytes; i += step)
        p[i] = (uint8_t)(i >> 13);
    for (size_t i = 0; i < bytes; i += step)
        ck_assert_int_eq(p[i], (uint8_t)(i >> 13));
    must(adsmFree((void *)p));
}
END_TEST

enum { FILLER_BYTES = 66000 * 4096 };

/* Use up the mappings that the system grants; munmap FILLER_BYTES. */
static uint8_t *take_mappings(void)
{
    uint8_t *filler = mmap(NULL, FILLER_BYTES, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(filler, MAP_FAILED);
    size_t i = 0;
    while (i < FILLER_BYTES && mprotect(filler + i, 4096, PROT_READ) == 0)
        i += 8192;
    ck_assert_uint_lt(i, FILLER_BYTES); /* the limit was reached */
    return filler;
}

/* The rest of the address space is full of mappings: opening single blocks is
 * refused by the system, and the runtime opens more at once. */
START_TEST(block_at_the_mapping_limit_is_widened_and_nothing_is_lost)
{
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    struct fixture f = fixture_up();
    size_t bytes = 8 << 20;
    uint8_t *p = adsmAlloc(bytes);
    memset(p, 1, bytes);
    device_fill(f.fill, p, 4096, 0);
    must(adsmSync());
    uint8_t *filler = take_mappings();
    for (size_t at = 4096; at < bytes; at += 8192)
        p[at] = 2;
    for (size_t at = 8192; at < bytes; at += 8192)
        ck_assert_int_eq(p[at + 1], 1);
    munmap(filler, FILLER_BYTES);
    for (uint32_t k = 0; k < 4096; k++)
        ck_assert_int_eq(p[k], filled(k, 0));
    for (size_t at = 4096; at < bytes; at += 8192) {
        ck_assert_int_eq(p[at], 2);
        ck_assert_int_eq(p[at + 1], 1);
    }
    must(adsmFree(p));
}
END_TEST

/* What is opened along with a block is the oldest there is, and not a burden
 * that pushes out each block that is written after it. */
START_TEST(blocks_opened_at_the_mapping_limit_leave_before_younger_ones)
{
    enum { BYTES = 2 << 20, ROLLING = 8, LATER = 4 };
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    setenv("ADSM_ROLLING_SIZE", "8", 1);
    setenv("ADSM_ROLLING_LEARN", "0", 1);
    (void)fixture_up();
    uint8_t *p = adsmAlloc(BYTES), *q = adsmAlloc(BYTES);
    p[0] = 1;
    q[0] = 1;
    must(adsmSync());
    uint8_t *filler = take_mappings();
    p[BYTES / 2] = 2;
    munmap(filler, FILLER_BYTES);
    struct adsm_object *object = adsm_index_find(q);
    for (uint32_t i = 1; i <= LATER; i++)
        q[i * 2 * 4096] = 2;
    for (uint32_t i = 1; i <= LATER; i++)
        ck_assert_int_eq(adsm_block_state(object, i * 2), ADSM_DIRTY);
    ck_assert_uint_le(atomic_load(&adsm_index_find(p)->dirty), ROLLING);
    ck_assert_int_eq(p[BYTES / 2], 2);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

/* An object of which every block is dirty, with no mapping left. */
static uint8_t *dirty_at_the_limit(size_t bytes, uint8_t **filler)
{
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    setenv("ADSM_ROLLING_SIZE", "60000", 1);
    (void)fixture_up();
    uint8_t *p = adsmAlloc(bytes);
    memset(p, 1, bytes);
    *filler = take_mappings();
    return p;
}

START_TEST(device_write_at_the_mapping_limit_reaches_the_cpu)
{
    enum { BYTES = 2 << 20, AT = 500000, N = 700000 };
    uint8_t *filler, *p = dirty_at_the_limit(BYTES, &filler);
    struct adsm_object *object = adsm_index_find(p);
    struct adsm_device_write write;
    struct adsm_fence done;
    must(adsm_boundary_device_write(p + AT, N,
                                    adsm_accel_launch_stream(object->home),
                                    &write, ADSM_CAUSE(own)));
    must(adsm_dma_set(object->home, adsm_daddr_add(object->device, AT), 9, N,
                      object->work, &done, ADSM_CAUSE(trial)));
    adsm_boundary_device_written(&write);
    for (size_t i = 0; i < BYTES; i++)
        ck_assert_int_eq(p[i], i >= AT && i < AT + N ? 9 : 1);
    munmap(filler, FILLER_BYTES);
    must(adsmFree(p));
}
END_TEST

/* Rows of a copy with a pitch: two of them, of which the call knows one. */
START_TEST(device_write_of_parts_keeps_what_lies_between_them)
{
    enum { BYTES = 100000, AT = 5000, N = 6000, NEXT = 41000, EXTENT = 42000 };
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    (void)fixture_up();
    uint8_t *p = adsmAlloc(BYTES);
    memset(p, 1, BYTES);
    struct adsm_object *object = adsm_index_find(p);
    struct adsm_device_write write;
    struct adsm_fence done;
    adsm_stream stream = adsm_accel_launch_stream(object->home);
    must(
        adsm_boundary_device_write(p + AT, N, stream, &write, ADSM_CAUSE(own)));
    ck_assert_int_eq(adsm_boundary_device_write_parts(p + AT, BYTES - AT + 1,
                                                      stream, &write),
                     ADSM_E_INVALID);
    must(adsm_boundary_device_write_parts(p + AT, EXTENT, stream, &write));
    struct adsm_daddr device = adsm_daddr_add(object->device, AT);
    must(adsm_dma_set(object->home, device, 9, N, object->work, &done,
                      ADSM_CAUSE(trial)));
    must(adsm_dma_set(object->home, adsm_daddr_add(device, NEXT), 9,
                      EXTENT - NEXT, object->work, &done, ADSM_CAUSE(trial)));
    adsm_boundary_device_written(&write);
    for (size_t i = 0; i < BYTES; i++) {
        size_t row = i - AT;
        bool written = row < N || (row >= NEXT && row < EXTENT);
        ck_assert_int_eq(p[i], written ? 9 : 1);
    }
    must(adsmFree(p));
}
END_TEST

START_TEST(device_read_at_the_mapping_limit_sees_what_the_cpu_wrote)
{
    enum { BYTES = 2 << 20, AT = 500000, N = 700000 };
    static uint8_t seen[N];
    uint8_t *filler, *p = dirty_at_the_limit(BYTES, &filler);
    struct adsm_object *object = adsm_index_find(p);
    must(adsm_boundary_device_read(p + AT, N,
                                   adsm_accel_launch_stream(object->home)));
    must(adsm_dma_download(object->home, seen,
                           adsm_daddr_add(object->device, AT), N, object->work,
                           ADSM_CAUSE(trial)));
    for (size_t i = 0; i < N; i++)
        ck_assert_int_eq(seen[i], 1);
    for (size_t i = 0; i < BYTES; i++)
        ck_assert_int_eq(p[i], 1);
    munmap(filler, FILLER_BYTES);
    must(adsmFree(p));
}
END_TEST

/* A loan of many blocks of which the call reaches two, the second in part. */
START_TEST(short_pin_at_the_mapping_limit_keeps_what_it_did_not_reach)
{
    enum { BYTES = 400000, AT = 4096 * 3 + 100, N = 20 * 4096, DONE = 5000 };
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    struct fixture f = fixture_up();
    struct adsm_loan loan;
    uint8_t *p = adsmAlloc(BYTES);
    memset(p, 1, BYTES);
    device_fill(f.fill, p, BYTES, 3);
    uint8_t *filler = take_mappings();
    must(adsm_loan_begin(p + AT, N, ADSM_WRITE, &loan));
    ck_assert_uint_eq(loan.bytes, N);
    memset(loan.address, 9, DONE);
    must(adsm_loan_end(&loan, DONE));
    for (uint32_t i = 0; i < BYTES; i++)
        ck_assert_int_eq(p[i], i >= AT && i < AT + DONE ? 9 : filled(i, 3));
    munmap(filler, FILLER_BYTES);
    must(adsmFree(p));
}
END_TEST

START_TEST(device_memory_never_touched_costs_a_mib_of_host_per_gib)
{
    (void)fixture_up();
    struct adsm_accel *accel;
    must(adsm_accel_open(0, &accel));
    enum { GIB = 60 };
    void *p[GIB];
    size_t before = pss_kib();
    for (int i = 0; i < GIB; i++)
        must(adsm_heap_alloc(accel, (size_t)1 << 30, &adsm_kind_driver, &p[i]));
    size_t after = pss_kib();
    printf("limits: %d GiB on the device: %zu KiB on the host\n", GIB,
           after - before);
    ck_assert_uint_le(after - before, GIB * 1024);
    for (int i = 0; i < GIB; i++)
        must(adsm_heap_free(p[i]));
}
END_TEST

START_TEST(locked_memory_limit_of_64_kib_only_costs_speed)
{
    limit(RLIMIT_MEMLOCK, 64 << 10);
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(5 << 20);
    memset(p, 7, 5 << 20);
    device_fill(f.fill, p + 1, 1000, 3);
    ck_assert_int_eq(p[0], 7);
    ck_assert_int_eq(p[1000], filled(999, 3));
    ck_assert_int_eq(p[1001], 7);
    must(adsmFree(p));
}
END_TEST

START_TEST(exhausted_device_memory_is_a_status_and_frees_recover)
{
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    (void)fixture_up();
    void *p[64];
    int n = 0;
    while (n < 64 && (p[n] = adsmAlloc(8 << 20)))
        n++;
    ck_assert_int_eq(adsmLastStatus(), ADSM_E_DEVICE_NOMEM);
    ck_assert_int_ge(n, 6);
    must(adsmFree(p[0]));
    p[0] = adsmAlloc(8 << 20);
    ck_assert_ptr_nonnull(p[0]);
    for (int i = 0; i < n; i++)
        must(adsmFree(p[i]));
}
END_TEST

/* AddressSanitizer needs mappings of its own and ends the program where there
 * are none: the cases at the mapping limit, which stand last, run in the plain
 * build only. */
#ifdef __SANITIZE_ADDRESS__
enum { LEFT_OUT = 5 };
#else
enum { LEFT_OUT = 0 };
#endif

int main(void)
{
    const TTest *const cases[] = {
        twenty_thousand_small_objects_fit_in_64_files_and_16_mib,
        two_thousand_large_objects_under_64_files_are_all_usable,
        every_other_page_of_a_gib_can_be_written,
        device_memory_never_touched_costs_a_mib_of_host_per_gib,
        locked_memory_limit_of_64_kib_only_costs_speed,
        exhausted_device_memory_is_a_status_and_frees_recover,
        device_write_of_parts_keeps_what_lies_between_them,
        block_at_the_mapping_limit_is_widened_and_nothing_is_lost,
        blocks_opened_at_the_mapping_limit_leave_before_younger_ones,
        device_write_at_the_mapping_limit_reaches_the_cpu,
        device_read_at_the_mapping_limit_sees_what_the_cpu_wrote,
        short_pin_at_the_mapping_limit_keeps_what_it_did_not_reach,
    };
    return suite_run("limits", cases, sizeof cases / sizeof *cases - LEFT_OUT,
                     120);
}
