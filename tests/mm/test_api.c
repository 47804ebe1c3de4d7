/*
 * The public functions: what they do, and every kind of bad input with its
 * status and its message.
 */
#include "fixture.h"
#include "base/stats.h"
#include "mm/heap/heap.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

START_TEST(allocated_object_used_on_both_sides_has_one_value)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(100000);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq((uintptr_t)p % 256, 0);
    memset(p, 9, 100000);
    device_fill(f.fill, p + 10, 50000, 4);
    ck_assert_int_eq(p[9], 9);
    for (uint32_t i = 0; i < 50000; i++)
        ck_assert_int_eq(p[10 + i], filled(i, 4));
    ck_assert_int_eq(p[50010], 9);
    must(adsmSync());
    must(adsmFree(p));
}
END_TEST

START_TEST(embedded_pointer_means_the_same_on_both_sides)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(300000);
    if (adsmSafe(p) != (void *)p)
        return; /* translate: no such promise */
    uint8_t **list = adsmAlloc(300000);
    list[0] = p;
    must(adsmSync());
    device_fill(f.fill, list[0], 1000, 1);
    ck_assert_int_eq(list[0][999], filled(999, 1));
    must(adsmFree(p));
    must(adsmFree(list));
}
END_TEST

START_TEST(safe_allocation_is_translated_in_both_directions)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmSafeAlloc(200000);
    ck_assert_ptr_nonnull(p);
    uint8_t *device = adsmSafe(p);
    ck_assert_ptr_nonnull(device);
    ck_assert_ptr_ne(device, p);
    ck_assert_ptr_eq(adsmSafe(p + 777), device + 777);
    memset(p, 3, 200000);
    device_fill(f.fill, p, 100, 5);
    ck_assert_int_eq(p[99], filled(99, 5));
    ck_assert_int_eq(p[100], 3);
    /* Embedded pointers are the program's business: by value. */
    uint32_t n = 50, seed = 8;
    must(adsmLaunch(f.fill, adsmDim1(1), adsmDim1(64), 0, adsmVal(device),
                    adsmVal(n), adsmVal(seed)));
    ck_assert_int_eq(p[49], filled(49, 8));
    ck_assert_ptr_null(adsmSafe(&n));
    must(adsmFree(p));
}
END_TEST

/* Bytes that came down while the CPU stored into p[0], by an instruction of
 * which the bytes cannot be sent alone. */
static uint64_t fetched_by_store(uint8_t *p)
{
    uint64_t before = adsm_stats_get(ADSM_STAT_bytes_down);
    (void)atomic_exchange((_Atomic uint8_t *)p, 1);
    return adsm_stats_get(ADSM_STAT_bytes_down) - before;
}

START_TEST(store_to_fresh_cuda_memory_fetches_nothing)
{
    fixture_up();
    uint8_t *small = adsmAlloc(5000);
    struct adsm_accel *accel = adsm_index_find(small)->home;
    for (size_t bytes = 6000; bytes < 8000000; bytes *= 100) {
        void *p;
        must(adsm_heap_alloc(accel, bytes, &adsm_kind_driver, &p));
        /* batch leaves it on the device until somebody asks */
        if (adsm_coherence_protocol()->first == ADSM_DIRTY)
            ck_assert_uint_gt(fetched_by_store(p), 0);
        else
            ck_assert_uint_eq(fetched_by_store(p), 0);
        must(adsm_heap_free(p));
    }
    must(adsmFree(small));
}
END_TEST

START_TEST(small_objects_of_a_slab_move_one_by_one)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(6000), *q = adsmAlloc(48000);
    memset(p, 1, 6000);
    memset(q, 2, 48000);
    uint64_t before = adsm_stats_get(ADSM_STAT_bytes_up);
    device_fill(f.fill, p, 6000, 3);
    uint64_t sent = adsm_stats_get(ADSM_STAT_bytes_up) - before;
    ck_assert_uint_le(sent, 8192 + 65536);
    if (strcmp(adsm_coherence_protocol()->name, "batch") != 0) {
        ck_assert_uint_le(fetched_by_store(p), 8192);
        ck_assert_uint_le(fetched_by_store(q), 65536);
    }
    ck_assert_int_eq(p[5999], filled(5999, 3));
    ck_assert_int_eq(q[47999], 2);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

/* Not the whole slab is read or written, but the allocation that is passed. */
START_TEST(small_neighbours_are_used_as_each_is_annotated)
{
    enum { BYTES = 20000 };
    struct fixture f = fixture_up();
    uint8_t *in = adsmAlloc(BYTES), *out = adsmAlloc(BYTES);
    uint8_t *other = adsmAlloc(BYTES);
    ck_assert_ptr_eq(adsm_index_find(in), adsm_index_find(out));
    uint32_t n = BYTES, seed = 3;
    memset(in, 4, BYTES);
    memset(out, 1, BYTES);
    memset(other, 7, BYTES);
    must(adsmLaunch(f.mix_only, adsmDim1((BYTES + 63) / 64), adsmDim1(64), 0,
                    adsmInOut(out), adsmIn(in), adsmVal(n), adsmVal(seed)));
    uint64_t down = adsm_stats_get(ADSM_STAT_bytes_down);
    ck_assert_int_eq(in[BYTES - 1], 4);
    ck_assert_int_eq(other[BYTES - 1], 7);
    if (adsm_coherence_protocol()->first != ADSM_DIRTY)
        ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_down), down);
    ck_assert_int_eq(out[BYTES - 1], 1 * 5 + 4 + 3);
    must(adsmFree(in));
    must(adsmFree(out));
    must(adsmFree(other));
}
END_TEST

/* A kernel that may use any object writes a neighbour of what it is passed. */
START_TEST(small_neighbour_of_an_input_may_be_written)
{
    static const char ptx[] =
        ".version 6.4\n.target sm_70\n.address_size 64\n"
        ".visible .entry poke(.param .u64 list)\n"
        "{ .reg .b32 %r1; .reg .b64 %d<3>;\n"
        "  ld.param.u64 %d1, [list]; ld.global.u64 %d2, [%d1];\n"
        "  ld.global.u8 %r1, [%d2]; add.s32 %r1, %r1, 1;\n"
        "  st.global.u8 [%d2], %r1; ret; }\n";
    static const size_t sizes[] = {100, 5000, 20000, 60000};
    fixture_up();
    adsmModule *module;
    adsmKernel *poke;
    must(adsmModuleLoad(&module, ptx, strlen(ptx)));
    must(adsmKernelGet(&poke, module, "poke", ADSM_ANY_OBJECT));
    for (size_t k = 0; k < 2 * (sizeof sizes / sizeof *sizes); k++) {
        size_t i = k / 2;
        /* The second time behind so many that blocks are shared. */
        for (size_t used = 0; k % 2 && used <= 512 << 10; used += sizes[i])
            ck_assert_ptr_nonnull(adsmAlloc(sizes[i]));
        uint8_t **list = adsmAlloc(sizes[i]), *p = adsmAlloc(sizes[i]);
        if (adsmSafe(p) != (void *)p)
            return; /* translate: pointers in memory are not the device's */
        ck_assert_ptr_eq(adsm_index_find(list), adsm_index_find(p));
        list[0] = p;
        for (uint8_t value = 0; value < 100; value += 10) {
            p[0] = value;
            must(adsmLaunch(poke, adsmDim1(1), adsmDim1(1), 0, adsmIn(list)));
            ck_assert_int_eq(p[0], value + 1);
        }
        must(adsmFree(list));
        must(adsmFree(p));
    }
}
END_TEST

START_TEST(small_object_gets_few_pages_of_the_host)
{
    fixture_up();
    size_t before = adsm_arena_bytes_committed();
    uint8_t *p = adsmAlloc(5000);
    p[4999] = 1;
    ck_assert_uint_gt(adsm_arena_bytes_committed(), before);
    ck_assert_uint_le(adsm_arena_bytes_committed(), before + (64 << 10));
    must(adsmFree(p));
}
END_TEST

typedef uint64_t unaligned_u64 __attribute__((aligned(1), may_alias));

START_TEST(object_the_host_never_touched_gets_no_pages_of_it)
{
    struct fixture f = fixture_up();
    uint8_t *read = adsmAlloc(300000), *written = adsmAlloc(300000);
    uint32_t n = 1000, seed = 1;
    must(adsmLaunch(f.mix_only, adsmDim1(16), adsmDim1(64), 0,
                    adsmInOut(written), adsmIn(read), adsmVal(n),
                    adsmVal(seed)));
    must(adsmSync());
    if (adsm_coherence_protocol()->first != ADSM_DIRTY) {
        must_have_no_pages(read);
        must_have_no_pages(written);
    }
    must(adsmFree(read));
    must(adsmFree(written));
}
END_TEST

START_TEST(store_across_two_blocks_completes)
{
    enum { BYTES = 1 << 20, STEP = 4096 };
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(BYTES);
    memset(p, 0, BYTES);
    device_fill(f.fill, p, 1, 3);
    for (int at = STEP; at < BYTES; at += STEP)
        *(volatile unaligned_u64 *)(p + at - 3) = UINT64_C(0x0807060504030201);
    device_fill(f.fill, p, 1, 4);
    for (int at = STEP; at < BYTES; at += STEP)
        for (int k = 0; k < 8; k++)
            ck_assert_int_eq(p[at - 3 + k], k + 1);
    must(adsmFree(p));
}
END_TEST

/* Where others answer an access, it goes on before its times are counted. */
static uint64_t counted_beyond(enum adsm_stat stat, uint64_t before)
{
    for (int i = 0; i < 1000 && adsm_stats_get(stat) <= before; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return adsm_stats_get(stat);
}

START_TEST(time_of_a_fault_is_told_apart)
{
    enum { BYTES = 4 << 20 };
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(BYTES);
    uint64_t fault = adsm_stats_get(ADSM_STAT_ns_fault);
    uint64_t copy = adsm_stats_get(ADSM_STAT_ns_fault_copy);
    uint64_t memory = adsm_stats_get(ADSM_STAT_ns_fault_memory);
    bool watched = adsm_coherence_protocol()->first != ADSM_DIRTY;
    /* The first store needs pages of the host and no transfer. */
    *(volatile uint8_t *)p = 1;
    if (watched) {
        ck_assert_uint_gt(counted_beyond(ADSM_STAT_ns_fault_memory, memory),
                          memory);
        ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_ns_fault_copy), copy);
    }
    device_fill(f.fill, p, 1000, 3);
    copy = adsm_stats_get(ADSM_STAT_ns_fault_copy);
    uint64_t down = adsm_stats_get(ADSM_STAT_ns_down);
    /* The next one fetches into pages that are there. */
    ck_assert_int_eq(*(volatile uint8_t *)p, filled(0, 3));
    ck_assert_uint_gt(counted_beyond(ADSM_STAT_ns_fault_copy, copy), copy);
    ck_assert_uint_le(adsm_stats_get(ADSM_STAT_ns_fault_copy) - copy,
                      adsm_stats_get(ADSM_STAT_ns_down) - down);
    ck_assert_uint_ge(adsm_stats_get(ADSM_STAT_ns_fault) - fault,
                      adsm_stats_get(ADSM_STAT_ns_fault_copy) - copy +
                          adsm_stats_get(ADSM_STAT_ns_fault_memory) - memory);
    must(adsmFree(p));
}
END_TEST

START_TEST(range_kernel_handles_every_element_once)
{
    struct fixture f = fixture_up();
    adsmKernel *inc = f.inc;
    uint8_t *p = adsmAlloc(100001);
    memset(p, 0, 100001);
    must(adsmCall(inc, 100000, adsmInOut(p)));
    must(adsmCall(inc, 0, adsmInOut(p)));
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(p[i], 1);
    ck_assert_int_eq(p[100000], 0);
    expect(adsmCall(inc, -1, adsmInOut(p)), ADSM_E_INVALID, "elements");
    long extra = 1;
    expect(adsmCall(inc, 5, adsmInOut(p), adsmVal(extra)), ADSM_E_INVALID,
           "takes 1 arguments after i0 and i1, 2 were given");
    must(adsmFree(p));
    must(adsmModuleUnload(f.module));
    expect(adsmCall(inc, 5, adsmInOut(p)), ADSM_E_INVALID, "not a kernel");
}
END_TEST

/* Blocks of the object that are not INVALID. */
static uint32_t near_blocks(const void *p)
{
    struct adsm_object *object = adsm_index_find(p);
    ck_assert_ptr_nonnull(object);
    return atomic_load(&object->near);
}

START_TEST(annotated_input_stays_valid_on_the_cpu)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(300000), *q = adsmAlloc(300000);
    uint32_t n = 1000, s = 1;
    memset(p, 1, 300000);
    memset(q, 2, 300000);
    uint32_t before = near_blocks(q);
    must(adsmLaunch(f.mix_only, adsmDim1(16), adsmDim1(64), 0, adsmInOut(p),
                    adsmIn(q), adsmVal(n), adsmVal(s)));
    if (getenv("ADSM_PROTOCOL") &&
        strcmp(getenv("ADSM_PROTOCOL"), "batch") == 0)
        before = 0; /* batch ignores annotations */
    ck_assert_uint_eq(near_blocks(q), before);
    ck_assert_uint_eq(near_blocks(p), 0);
    ck_assert_int_eq(p[999], 1 * 5 + 2 + 1);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

START_TEST(object_assigned_to_one_kernel_is_left_alone_by_others)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(300000), *q = adsmAlloc(300000);
    memset(p, 1, 300000);
    memset(q, 2, 300000);
    must(adsmAttach(q, f.mix));
    uint32_t before = near_blocks(q);
    device_fill(f.fill, p, 1000, 1);
    ck_assert_uint_eq(near_blocks(q), before);
    must(adsmDetach(q, f.mix));
    device_fill(f.fill, p, 1000, 1);
    ck_assert_uint_eq(near_blocks(q), 0);
    expect(adsmDetach(q, f.mix), ADSM_E_NOT_FOUND, "not assigned");
    expect(adsmAttach(&f, f.mix), ADSM_E_NOT_SHARED, "shared");
    expect(adsmAttach(q, (adsmKernel *)&f), ADSM_E_INVALID, "not a kernel");
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

START_TEST(object_of_an_unloaded_kernel_belongs_to_all_again)
{
    struct fixture f = fixture_up();
    adsmModule *other;
    adsmKernel *fill;
    uint8_t *p = adsmAlloc(300000);
    must(adsmModuleLoad(&other, kernels_ptx, sizeof kernels_ptx - 1));
    must(adsmKernelGet(&fill, other, "fill", ADSM_ANY_OBJECT));
    memset(p, 1, 300000);
    must(adsmAttach(p, fill));
    must(adsmModuleUnload(other));
    uint8_t *q = adsmAlloc(300000);
    device_fill(f.fill, q, 10, 1);
    ck_assert_uint_eq(near_blocks(p), 0);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

START_TEST(bad_frees_are_refused_and_change_nothing)
{
    (void)fixture_up();
    int local;
    uint8_t *p = adsmAlloc(300000), *small = adsmAlloc(100);
    p[7] = 1;
    must(adsmFree(NULL));
    expect(adsmFree(&local), ADSM_E_NOT_SHARED, "not the start");
    expect(adsmFree(p + 256), ADSM_E_NOT_SHARED, "not the start");
    expect(adsmFree(small + 1), ADSM_E_NOT_SHARED, "not the start");
    expect(adsmFree(small + 256), ADSM_E_NOT_SHARED, "not the start");
    ck_assert_int_eq(p[7], 1);
    must(adsmFree(p));
    expect(adsmFree(p), ADSM_E_NOT_SHARED, "freed already");
    must(adsmFree(small));
    expect(adsmFree(small), ADSM_E_NOT_SHARED, "freed already");
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    (void)fixture_up();
    ck_assert_ptr_null(adsmAlloc(0));
    ck_assert_int_eq(adsmLastStatus(), ADSM_E_INVALID);
    ck_assert_ptr_null(adsmAlloc(SIZE_MAX));
    ck_assert_int_ne(adsmLastStatus(), ADSM_OK);
    ck_assert_ptr_null(adsmAlloc((size_t)1 << 46));
    ck_assert_int_ne(adsmLastStatus(), ADSM_OK);
    void *p = adsmAlloc(64);
    ck_assert_ptr_nonnull(p);
    must(adsmFree(p));
}
END_TEST

START_TEST(bad_modules_and_kernels_are_named)
{
    struct fixture f = fixture_up();
    adsmModule *module;
    adsmKernel *kernel;
    expect(adsmModuleLoad(&module, "/dev/null/x.ptx", 0), ADSM_E_NOT_FOUND,
           "/dev/null/x.ptx");
    expect(adsmModuleLoad(&module, "garbage", 7), ADSM_E_INVALID, "refused");
    expect(adsmKernelGet(&kernel, f.module, "nonesuch", ADSM_ANY_OBJECT),
           ADSM_E_NOT_FOUND, "nonesuch");
    expect(adsmKernelGet(&kernel, f.module, NULL, ADSM_ANY_OBJECT),
           ADSM_E_INVALID, "NULL");
    expect(adsmKernelGet(&kernel, (adsmModule *)&f, "mix", ADSM_ANY_OBJECT),
           ADSM_E_INVALID, "module");
    must(adsmModuleUnload(f.module));
    expect(adsmModuleUnload(f.module), ADSM_E_INVALID, "twice");
}
END_TEST

START_TEST(bad_launches_are_refused_and_lose_nothing)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(300000);
    uint32_t n = 10, s = 1;
    uint64_t wide = 1;
    memset(p, 5, 300000);
    expect(adsmLaunch(f.fill, adsmDim1(1), adsmDim1(32), 0, adsmInOut(p),
                      adsmVal(n)),
           ADSM_E_INVALID, "takes 3 arguments, 2 were given");
    expect(adsmLaunch(f.fill, adsmDim1(1), adsmDim1(32), 0, adsmInOut(p),
                      adsmVal(n), adsmVal(wide)),
           ADSM_E_INVALID, "argument 2");
    expect(adsmLaunch(f.fill, adsmDim1(1), adsmDim1(32), 0, adsmInOut(&n),
                      adsmVal(n), adsmVal(s)),
           ADSM_E_NOT_SHARED, "argument 0");
    expect(adsmLaunch(f.fill, adsmDim1(0), adsmDim1(32), 0, adsmInOut(p),
                      adsmVal(n), adsmVal(s)),
           ADSM_E_INVALID, "dimensions");
    ck_assert_int_ne(adsmLaunch(f.fill, adsmDim1(1), adsmDim1(100000), 0,
                                adsmOut(p), adsmVal(n), adsmVal(s)),
                     ADSM_OK);
    for (int i = 0; i < 300000; i += 1000)
        ck_assert_int_eq(p[i], 5);
    device_fill(f.fill, p, 10, 1);
    ck_assert_int_eq(p[9], filled(9, 1));
    must(adsmFree(p));
}
END_TEST

START_TEST(bad_device_number_names_the_range)
{
    (void)fixture_up();
    ck_assert_int_eq(adsmDeviceCount(), 1);
    expect(adsmDeviceUse(7), ADSM_E_INVALID, "0 to 0");
    size_t total, avail;
    must(adsmDeviceMemory(0, &total, &avail));
    ck_assert_uint_ge(total, avail);
    ck_assert_uint_gt(avail, 0);
}
END_TEST

/* The first where all run in one process: others leave pages to be used. */
SUITE_MAIN("api", 60, small_object_gets_few_pages_of_the_host,
           allocated_object_used_on_both_sides_has_one_value,
           embedded_pointer_means_the_same_on_both_sides,
           safe_allocation_is_translated_in_both_directions,
           range_kernel_handles_every_element_once,
           store_to_fresh_cuda_memory_fetches_nothing,
           small_objects_of_a_slab_move_one_by_one,
           small_neighbours_are_used_as_each_is_annotated,
           small_neighbour_of_an_input_may_be_written,
           object_the_host_never_touched_gets_no_pages_of_it,
           store_across_two_blocks_completes, time_of_a_fault_is_told_apart,
           annotated_input_stays_valid_on_the_cpu,
           object_assigned_to_one_kernel_is_left_alone_by_others,
           object_of_an_unloaded_kernel_belongs_to_all_again,
           bad_frees_are_refused_and_change_nothing, absurd_sizes_are_refused,
           bad_modules_and_kernels_are_named,
           bad_launches_are_refused_and_lose_nothing,
           bad_device_number_names_the_range)
