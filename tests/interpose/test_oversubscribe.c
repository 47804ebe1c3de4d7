/*
 * Programs with four times as much device memory as there is, under
 * ADSM_OVERSUBSCRIBE: what they compute, and what moves for it.
 *
 * Meson runs it preloaded, under every protocol, and without looking at what
 * kernels write.
 */
#include "interpose/oversubscribe.h"

#include <pthread.h>

static void make_all(struct array *all, int count)
{
    for (int i = 0; i < count; i++)
        all[i] = array_make((uint32_t)i);
}

static void check_all(const struct array *all, int count)
{
    for (int i = 0; i < count; i++)
        array_check(&all[i]);
}

START_TEST(four_times_the_memory_two_at_a_time)
{
    struct array all[ARRAYS];
    oversubscribe();
    make_all(all, ARRAYS);
    for (int i = 0; i < 2 * ARRAYS; i++)
        add(&all[i % ARRAYS], &all[(i + 1) % ARRAYS], NULL);
    check_all(all, ARRAYS);
}
END_TEST

START_TEST(cpu_works_on_what_is_away_and_on_what_is_not)
{
    struct array all[ARRAYS];
    oversubscribe();
    make_all(all, ARRAYS);
    for (int i = 0; i < ARRAYS; i++) {
        struct array *x = &all[i], *y = &all[(i + 3) % ARRAYS];
        volatile uint32_t *here = (volatile uint32_t *)x->at;
        for (int k = i; k < WORDS; k += 5000)
            here[k] = x->model[k] = (uint32_t)(k + i);
        add(x, y, NULL);
        here = (volatile uint32_t *)y->at;
        for (int k = i; k < WORDS; k += 7000)
            ck_assert_uint_eq(here[k], y->model[k]);
    }
    check_all(all, ARRAYS);
}
END_TEST

START_TEST(streams_that_nobody_waits_for)
{
    struct array all[ARRAYS];
    CUstream stream[2];
    oversubscribe();
    make_all(all, ARRAYS);
    for (int i = 0; i < 2; i++)
        must(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
    /* Each stream has half of the arrays. */
    for (int i = 0; i < 3 * ARRAYS; i++) {
        struct array *half = all + i % 2 * (ARRAYS / 2);
        int k = i / 2;
        add(&half[k % 4], &half[(k + 1) % 4], stream[i % 2]);
    }
    for (int i = 0; i < 2; i++)
        must(cuStreamSynchronize(stream[i]));
    check_all(all, ARRAYS);
}
END_TEST

static void *run_thread(void *context)
{
    CUcontext current = context;
    struct array mine[ARRAYS / 2];
    CUstream stream;
    must(cuCtxSetCurrent(current));
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    make_all(mine, ARRAYS / 2);
    for (int i = 0; i < ARRAYS; i++) {
        add(&mine[i % 4], &mine[(i + 1) % 4], stream);
        if (i % 3 == 2) {
            must(cuStreamSynchronize(stream));
            array_check(&mine[(i + 1) % 4]);
        }
    }
    must(cuStreamSynchronize(stream));
    check_all(mine, ARRAYS / 2);
    for (int i = 0; i < ARRAYS / 2; i++)
        array_free(&mine[i]);
    return NULL;
}

START_TEST(two_threads_with_as_much_each)
{
    pthread_t thread[2];
    CUcontext context;
    oversubscribe();
    must(cuCtxGetCurrent(&context));
    (void)kernel("add");
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_thread, context),
                         0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}
END_TEST

static size_t memory_free(void)
{
    size_t free_bytes, total;
    must(cuMemGetInfo(&free_bytes, &total));
    return free_bytes;
}

/* Most of them are away: the answers are those for the one that is there. */
START_TEST(attributes_do_not_say_who_is_away)
{
    struct array all[ARRAYS];
    oversubscribe();
    make_all(all, ARRAYS);
    add(&all[0], &all[1], NULL);
    for (int which = 0; which < 25; which++) {
        for (int i = 0; i < ARRAYS; i++) {
            uint64_t want[2] = {7, 7}, have[2] = {7, 7};
            CUpointer_attribute name = (CUpointer_attribute)which;
            void *answer = have;
            CUresult wanted =
                cuPointerGetAttribute(want, name, all[0].at + 100);
            ck_assert_int_eq(cuPointerGetAttribute(have, name, all[i].at + 100),
                             wanted);
            if (which == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                which == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                which == CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR)
                want[0] += all[i].at - all[0].at;
            bool unique = which == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
                          which == CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID;
            ck_assert_msg((want[0] == have[0]) != (unique && i > 0),
                          "attribute %d of array %d", which, i);
            if (wanted != CUDA_SUCCESS)
                continue;
            uint64_t alone = have[0];
            have[0] = 7;
            must(cuPointerGetAttributes(1, &name, &answer, all[i].at + 100));
            ck_assert_uint_eq(have[0], alone);
        }
    }
    check_all(all, ARRAYS);
}
END_TEST

START_TEST(freed_and_used_again)
{
    struct array all[ARRAYS];
    oversubscribe();
    size_t before = memory_free();
    make_all(all, ARRAYS);
    ck_assert_uint_lt(memory_free(), 1 << 20); /* what the driver says */
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < ARRAYS; i++) {
            struct array *x = &all[i], *y = &all[(i + 1 + round) % ARRAYS];
            add(x, y, NULL);
            array_free(x);
            *x = array_make((uint32_t)(100 * round + i));
            array_check(y);
        }
    check_all(all, ARRAYS);
    for (int i = 0; i < ARRAYS; i++)
        array_free(&all[i]);
    ck_assert_uint_eq(memory_free(), before);
}
END_TEST

/* A device with room for three arrays: of those that a launch does not touch,
 * the one used longest ago goes. */
struct lru {
    int used[ARRAYS], now; /* 0: it is away                               */
    bool written[ARRAYS];
    uint64_t up, down; /* arrays                                          */
};

static int lru_there(const struct lru *lru)
{
    int n = 0;
    for (int i = 0; i < ARRAYS; i++)
        n += lru->used[i] > 0;
    return n;
}

static void lru_leave(struct lru *lru, int x, int y)
{
    int oldest = -1;
    for (int i = 0; i < ARRAYS; i++)
        if (i != x && i != y && lru->used[i] > 0 &&
            (oldest < 0 || lru->used[i] < lru->used[oldest]))
            oldest = i;
    lru->down += lru->written[oldest];
    lru->written[oldest] = false;
    lru->used[oldest] = 0;
}

/* A launch reads x and writes y, or may write both. */
static void lru_launch(struct lru *lru, int x, int y, bool both)
{
    int coming = (lru->used[x] == 0) + (lru->used[y] == 0);
    while (lru_there(lru) + coming > 3)
        lru_leave(lru, x, y);
    lru->up += coming;
    lru->used[x] = lru->used[y] = ++lru->now;
    lru->written[y] = true;
    lru->written[x] |= both;
}

/* Only what kernels may write comes back, and nothing goes up that is there. */
START_TEST(moves_what_the_oldest_use_says)
{
    static const int uses[][2] = {{2, 3}, {3, 4}, {2, 3}, {0, 3}, {2, 0},
                                  {1, 0}, {7, 6}, {6, 1}, {6, 7}, {5, 7},
                                  {4, 3}, {3, 7}, {5, 3}, {3, 4}};
    const char *protocol = getenv("ADSM_PROTOCOL");
    const char *writes = getenv("ADSM_KERNEL_WRITES");
    bool both = (protocol && strcmp(protocol, "batch") == 0) ||
                (writes && strcmp(writes, "all") == 0);
    struct array all[ARRAYS];
    oversubscribe_with(MEMORY_MIB / 2 * 3);
    make_all(all, ARRAYS);
    /* The first three were resident and filled by the device, one by one. */
    struct lru lru = {
        .used = {1, 2, 3}, .now = 3, .written = {true, true, true}};
    uint64_t up = COUNTER(bytes_up), down = COUNTER(bytes_down);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        add(&all[uses[i][0]], &all[uses[i][1]], NULL);
        lru_launch(&lru, uses[i][0], uses[i][1], both);
        ck_assert_uint_eq(COUNTER(bytes_up) - up, lru.up * BYTES);
        ck_assert_uint_eq(COUNTER(bytes_down) - down, lru.down * BYTES);
    }
    check_all(all, ARRAYS);
}
END_TEST

/* What nobody wrote is not moved. */
START_TEST(fresh_arrays_move_nothing)
{
    CUdeviceptr at[ARRAYS];
    oversubscribe();
    for (int i = 0; i < ARRAYS; i++)
        must(cuMemAlloc(&at[i], BYTES));
    must(launch("add", at[6], at[7], NULL));
    must(cuCtxSynchronize());
    ck_assert_uint_eq(COUNTER(bytes_up), 0);
    ck_assert_uint_eq(COUNTER(moved_out), 2);
}
END_TEST

/* In the current context, whose module is not the first one's. */
static CUresult launch_on_second(const char *name, CUdeviceptr x, CUdeviceptr y)
{
    static CUmodule module;
    CUfunction function;
    void *arguments[] = {&x, &y};
    if (!module)
        must(cuModuleLoadData(&module, text));
    must(cuModuleGetFunction(&function, module, name));
    return cuLaunchKernel(function, WORDS / THREADS, 1, 1, THREADS, 1, 1, 0,
                          NULL, arguments, NULL);
}

/* Device 1 reads an array of device 0, which has none of its memory left. */
START_TEST(arrays_come_for_kernels_of_other_devices)
{
    struct array all[3], other;
    CUdevice second;
    CUcontext first, guest;
    setenv("SOFTCUDA_DEVICES", "2", 1);
    setenv("SOFTCUDA_PEER", "1", 1);
    oversubscribe();
    must(cuCtxGetCurrent(&first));
    make_all(all, 3);
    must(cuDeviceGet(&second, 1));
    must(cuDevicePrimaryCtxRetain(&guest, second));
    must(cuCtxSetCurrent(guest));
    other = array_make(9);
    must(cuCtxEnablePeerAccess(first, 0));
    for (int i = 0; i < 6; i++) {
        must(launch_on_second("add", all[i % 3].at, other.at));
        must(cuCtxSynchronize());
        model_add(&all[i % 3], &other);
        array_check(&other);
        must(cuMemcpyPeer(all[(i + 1) % 3].at, first, other.at, guest, BYTES));
        memcpy(all[(i + 1) % 3].model, other.model, BYTES);
    }
    must(cuCtxSetCurrent(first));
    check_all(all, 3);
}
END_TEST

SUITE_MAIN("interpose-oversubscribe", 60, four_times_the_memory_two_at_a_time,
           cpu_works_on_what_is_away_and_on_what_is_not,
           streams_that_nobody_waits_for, two_threads_with_as_much_each,
           freed_and_used_again, attributes_do_not_say_who_is_away,
           moves_what_the_oldest_use_says, fresh_arrays_move_nothing,
           arrays_come_for_kernels_of_other_devices)
