/*
 * Launches of kernels whose PTX says what they write: what they only read
 * stays with the CPU, what they write is seen, however it is reached.
 *
 * Meson runs it preloaded, under every protocol and with the option off.
 */
#include "tests/interpose/stays.h"

#include <stdbool.h>
#include <stdlib.h>

enum { BYTES = 3 << 20, WORDS = BYTES / 4, SMALL = 4096, NEAR = 100 << 10 };

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define ENTRY(name, params)                                                    \
    ".visible .entry " name "(" params ")\n{\n"                                \
    ".reg .b64 %a, %b, %c, %t; .reg .b32 %v, %w; .reg .pred %p;\n"             \
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b];\n"
#define TWO ".param .u64 a, .param .u64 b"

static const char text[] = HEAD
    /* b[0] = a[0] + 1 */
    ENTRY("next", TWO) "ld.global.u32 %v, [%a]; add.u32 %v, %v, 1;"
                       "st.global.u32 [%b], %v; ret; }\n"
    /* b[1] = a[0], with b one word too low */
    ENTRY("one_based", TWO) "ld.global.u32 %v, [%a];"
                            "st.global.u32 [%b+4], %v; ret; }\n"
    /* the same with b 1 MiB too low */
    ENTRY("far_based", TWO) "ld.global.u32 %v, [%a];"
                            "st.global.u32 [%b+1048576], %v; ret; }\n"
    /* *(uint32_t *)a[0] = 77; b is not used */
    ENTRY("through", TWO) "ld.global.u64 %c, [%a]; mov.u32 %v, 77;"
                          "st.global.u32 [%c], %v; ret; }\n"
    /* late: b[0] = a[last], when a while has passed */
    ENTRY("late", TWO) "mov.u64 %c, %globaltimer;\n"
                       "L: mov.u64 %t, %globaltimer; sub.u64 %t, %t, %c;"
                       "setp.lt.u64 %p, %t, 100000000; @%p bra L;"
                       "ld.volatile.global.u32 %v, [%a+3145724];"
                       "st.global.u32 [%b], %v; ret; }\n"
    /* b[0] = a[0] in each MiB of b that has a block */
    ENTRY("each", TWO) "ld.global.u32 %v, [%a]; mov.u32 %w, %ctaid.x;"
                       "mul.wide.u32 %t, %w, 1048576; add.s64 %c, %b, %t;"
                       "st.global.u32 [%c], %v; ret; }\n"
    /* what a structure points to second */
    ENTRY(
        "second",
        ".param .align 8 .b8 a[8], .param .align 8 .b8 b[16]") "ld.param.u64 "
                                                               "%c, [b+8]; "
                                                               "mov.u32 %v, 5; "
                                                               "st.global.u32 "
                                                               "[%c], %v; ret; "
                                                               "}\n";

/* The same name, the other parameter. */
static const char other_text[] =
    HEAD ENTRY("next", TWO) "mov.u32 %v, 8; st.global.u32 [%a], %v; ret; }\n";

static CUmodule module;

static CUfunction kernel(const char *name)
{
    CUfunction function;
    if (!module)
        must(cuModuleLoadData(&module, text));
    must(cuModuleGetFunction(&function, module, name));
    return function;
}

static void launch_kernel(CUfunction function, const void *a, const void *b,
                          unsigned blocks)
{
    void *arguments[] = {&a, &b};
    must(cuLaunchKernel(function, blocks, 1, 1, 1, 1, 1, 0, NULL, arguments,
                        NULL));
}

static void launch(const char *name, const void *a, const void *b)
{
    launch_kernel(kernel(name), a, b, 1);
}

START_TEST(what_is_only_read_stays)
{
    device_start();
    volatile uint32_t *in = words(BYTES, 0), *out = words(BYTES, 0);
    for (uint32_t round = 1; round < 5; round++) {
        in[0] = round * 10;
        out[1] = round;
        launch("next", (void *)in, (void *)out);
        ck_assert_int_eq(is_open(in), keeps());
        ck_assert(!is_open(out));
        ck_assert_uint_eq(in[0], round * 10);
        ck_assert_uint_eq(out[0], round * 10 + 1);
        ck_assert_uint_eq(out[1], round);
    }
}
END_TEST

START_TEST(argument_buffer_says_the_same)
{
    device_start();
    volatile uint32_t *in = words(BYTES, 0), *out = words(BYTES, 0);
    const volatile void *list[] = {in, out};
    size_t bytes = sizeof list;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, list,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    in[0] = 3;
    out[0] = 1;
    must(
        cuLaunchKernel(kernel("next"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    ck_assert_int_eq(is_open(in), keeps());
    ck_assert_uint_eq(out[0], 4);
}
END_TEST

START_TEST(one_object_may_be_both)
{
    device_start();
    volatile uint32_t *both = words(BYTES, 0);
    both[0] = 41;
    launch("next", (void *)both, (void *)(both + WORDS - 1));
    ck_assert_uint_eq(both[WORDS - 1], 42);
}
END_TEST

START_TEST(small_objects_share_a_slab)
{
    device_start();
    volatile uint32_t *in = words(SMALL, 0), *out = words(SMALL, 0);
    in[0] = 6;
    out[0] = 1;
    launch("next", (void *)in, (void *)out);
    ck_assert_uint_eq(out[0], 7);
    ck_assert_uint_eq(in[0], 6);
}
END_TEST

/* Objects of less than 2 MiB lie in one chunk and are moved apart. */
START_TEST(neighbours_in_one_chunk_are_told_apart)
{
    enum { IN, OUT, OTHER, COUNT };
    volatile uint32_t *made[COUNT];
    device_start();
    for (int i = 0; i < COUNT; i++) {
        made[i] = words(NEAR, 0);
        ck_assert_uint_eq((uintptr_t)made[i] >> 21, (uintptr_t)made[0] >> 21);
    }
    for (uint32_t round = 1; round < 5; round++) {
        made[IN][0] = made[OUT][1] = made[OTHER][2] = round;
        launch("next", (void *)made[IN], (void *)made[OUT]);
        ck_assert_int_eq(is_open(made[IN]), keeps());
        ck_assert_int_eq(is_open(made[OTHER]), keeps());
        ck_assert(!is_open(made[OUT]));
        ck_assert_uint_eq(made[OUT][0], round + 1);
        ck_assert_uint_eq(made[OUT][1], round);
        ck_assert_uint_eq(made[OTHER][2], round);
    }
}
END_TEST

/* A pointer may begin up to 64 KiB before what it is for: the last slot of a
 * slab is that near to the object behind it, but few programs use that many. */
START_TEST(some_small_arrays_are_not_near_a_larger_one)
{
    enum { ARRAYS = 4 };
    volatile uint32_t *small[ARRAYS], *in;
    device_start();
    for (int i = 0; i < ARRAYS; i++)
        small[i] = words(64 << 10, 0);
    in = words(NEAR, 0);
    for (uint32_t i = 0; i < ARRAYS; i++) {
        in[0] = i;
        launch("next", (void *)in, (void *)small[i]);
        ck_assert_int_eq(is_open(in), keeps());
        ck_assert_uint_eq(small[i][0], i + 1);
    }
}
END_TEST

START_TEST(array_may_begin_at_one)
{
    device_start();
    volatile uint32_t *made[5];
    for (int i = 0; i < 5; i++)
        made[i] = words(BYTES, 0);
    for (uint32_t i = 0; i < 5; i++) {
        made[i][0] = 9;
        made[0][1] = 100 + i;
        launch("one_based", (void *)(made[0] + 1), (void *)(made[i] - 1));
        ck_assert_uint_eq(made[i][0], 100 + i);
    }
}
END_TEST

/* Behind the end of another object, which is no object. */
START_TEST(pointer_beside_objects_reaches_everything)
{
    device_start();
    for (uint32_t i = 1; i < 5; i++) {
        volatile uint32_t *in = words(BYTES, 0), *out = words(BYTES, 0);
        in[0] = i;
        out[0] = 9;
        launch("far_based", (void *)in, (void *)(out - (1 << 18)));
        ck_assert_uint_eq(out[0], i);
    }
}
END_TEST

START_TEST(pointer_from_memory_reaches_everything)
{
    device_start();
    volatile uint32_t *list = words(BYTES, 0), *far = words(BYTES, 0);
    *(volatile uint64_t *)list = (uintptr_t)far;
    far[0] = 1;
    launch("through", (void *)list, NULL);
    ck_assert_uint_eq(far[0], 77);
}
END_TEST

START_TEST(structure_is_looked_into)
{
    device_start();
    volatile uint32_t *first = words(BYTES, 0), *second = words(BYTES, 0);
    const volatile void *pair[] = {first, second}, *none = NULL;
    void *arguments[] = {&none, pair};
    first[0] = second[0] = 1;
    must(cuLaunchKernel(kernel("second"), 1, 1, 1, 1, 1, 1, 0, NULL, arguments,
                        NULL));
    ck_assert_int_eq(is_open(first), keeps());
    ck_assert_uint_eq(second[0], 5);
    ck_assert_uint_eq(first[0], 1);
}
END_TEST

/* Memory that nobody has set: the CPU might have, so launches that touch it take
 * it away. */
static volatile uint32_t *fresh(size_t bytes)
{
    CUdeviceptr at;
    must(cuMemAlloc(&at, bytes));
    return (volatile uint32_t *)at;
}

/* Until the CPU's first access launches are told apart by objects. */
START_TEST(first_access_sees_what_launches_wrote)
{
    device_start();
    enum { NEXT = 4 };
    volatile uint32_t *in = words(BYTES, 7), *out = fresh(BYTES),
                      *small = fresh(SMALL), *next[NEXT];
    launch("next", (void *)in, (void *)out);
    launch("next", (void *)in, (void *)(out + WORDS - 1));
    launch("next", (void *)in, (void *)(small + 1));
    /* Some of them lie side by side, with nothing between. */
    for (int i = 0; i < NEXT; i++)
        next[i] = fresh(4 << 20);
    for (int i = 0; i < NEXT; i++)
        launch("one_based", (void *)in, (void *)(next[i] - 1));
    for (int i = 0; i < NEXT; i++)
        ck_assert_uint_eq(next[i][0], 0x07070707);
    ck_assert_uint_eq(out[0], 0x07070708);
    ck_assert_uint_eq(out[WORDS - 1], 0x07070708);
    ck_assert_uint_eq(small[1], 0x07070708);
    ck_assert_uint_eq(in[0], 0x07070707);
}
END_TEST

START_TEST(launches_before_the_first_store_take_nothing_else)
{
    device_start();
    volatile uint32_t *in = words(BYTES, 7), *out = fresh(BYTES),
                      *late = fresh(BYTES);
    launch("next", (void *)in, (void *)out);
    for (uint32_t i = 0; i < WORDS; i++)
        late[i] = i;
    launch("next", (void *)(late + 5), (void *)out);
    ck_assert_uint_eq(out[0], 6);
    for (uint32_t i = 0; i < WORDS; i++)
        ck_assert_uint_eq(late[i], i);
}
END_TEST

/* The CPU goes on writing, until uploads are due, what a kernel still reads. */
START_TEST(kernel_reads_what_was_there)
{
    device_start();
    volatile uint32_t *in = words(BYTES, 1), *out = words(BYTES, 0);
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = 1;
    launch("late", (void *)in, (void *)out);
    for (uint32_t i = WORDS; i-- > 0;)
        in[i] = 2;
    ck_assert_uint_eq(out[0], 1);
    launch("late", (void *)in, (void *)out);
    ck_assert_uint_eq(out[0], 2);
}
END_TEST

/* ---- launches that were made before ---------------------------------------- */

START_TEST(launch_made_before_sees_each_store)
{
    device_start();
    volatile uint32_t *in = words(BYTES, 0), *out = words(BYTES, 0);
    volatile uint32_t *beside = words(BYTES, 0);
    for (uint32_t round = 1; round < 20; round++) {
        beside[0] = round;
        if (round % 3 == 0)
            in[0] = round;
        if (round % 4 == 0)
            out[2] = round;
        launch("next", (void *)in, (void *)out);
        launch("next", (void *)in, (void *)out);
        ck_assert_int_eq(is_open(beside), keeps());
        if (round % 2 == 0)
            ck_assert_uint_eq(out[0], round / 3 * 3 + 1);
        ck_assert_uint_eq(beside[0], round);
    }
    ck_assert_uint_eq(out[2], 16);
}
END_TEST

/* It leads to memory that was another's then. */
START_TEST(launch_made_before_finds_what_came)
{
    device_start();
    volatile uint32_t *in = words(BYTES, 0), *near = words(BYTES, 0);
    volatile uint32_t *before = NULL;
    int same = 0;
    for (uint32_t round = 1; round < 9; round++) {
        volatile uint32_t *out = words(BYTES, 0);
        same += out == before;
        in[0] = near[0] = round;
        out[0] = out[1] = 100 + round;
        launch("next", (void *)in, (void *)out);
        ck_assert_uint_eq(out[0], round + 1);
        ck_assert_uint_eq(out[1], 100 + round);
        before = out;
        must(cuMemFree((CUdeviceptr)out));
    }
    ck_assert_int_gt(same, 0);
}
END_TEST

START_TEST(launch_with_more_blocks_is_another)
{
    device_start();
    volatile uint32_t *in = words(BYTES, 0), *out = words(BYTES, 0);
    for (uint32_t blocks = 1; blocks <= 3; blocks++) {
        in[0] = 10 * blocks;
        for (uint32_t i = 0; i < 3; i++)
            out[i << 18] = i;
        launch_kernel(kernel("each"), (void *)in, (void *)out, blocks);
        launch_kernel(kernel("each"), (void *)in, (void *)out, blocks);
        for (uint32_t i = 0; i < 3; i++)
            ck_assert_uint_eq(out[i << 18], i < blocks ? 10 * blocks : i);
    }
}
END_TEST

START_TEST(launch_with_other_arguments_is_another)
{
    enum { STEP = 1 << 10 };
    device_start();
    volatile uint32_t *in = words(BYTES, 0), *out = words(BYTES, 0);
    for (uint32_t round = 1; round < 3; round++)
        for (uint32_t i = 0; i < WORDS; i += STEP) {
            in[i] = round + i;
            ck_assert_uint_ne(out[i], round + i + 1);
            launch("next", (void *)(in + i), (void *)(out + i));
            ck_assert_uint_eq(out[i], round + i + 1);
        }
}
END_TEST

enum { HANDLES = 12 };

static void first_writes_second(CUfunction next, volatile uint32_t *first,
                                volatile uint32_t *second)
{
    first[0] = second[0] = 1;
    launch_kernel(next, (void *)first, (void *)second, 1);
    ck_assert_uint_eq(first[0], 1);
    ck_assert_uint_eq(second[0], 2);
}

static void other_writes_first(CUfunction next, volatile uint32_t *first,
                               volatile uint32_t *second)
{
    first[0] = second[0] = 1;
    launch_kernel(next, (void *)first, (void *)second, 1);
    ck_assert_uint_eq(first[0], 8);
    ck_assert_uint_eq(second[0], 1);
}

/* Return: how many of the others have the handle of one that went */
static int replace_kernels(volatile uint32_t *first, volatile uint32_t *second)
{
    CUmodule modules[HANDLES];
    CUfunction before[HANDLES];
    int same = 0;
    for (int i = 0; i < HANDLES; i++) {
        must(cuModuleLoadData(&modules[i], text));
        must(cuModuleGetFunction(&before[i], modules[i], "next"));
        first_writes_second(before[i], first, second);
    }
    for (int i = HANDLES; i-- > 0;)
        must(cuModuleUnload(modules[i]));
    for (int i = 0; i < HANDLES; i++) {
        CUfunction next;
        must(cuModuleLoadDataEx(&modules[i], other_text, 0, NULL, NULL));
        must(cuModuleGetFunction(&next, modules[i], "next"));
        other_writes_first(next, first, second);
        for (int k = 0; k < HANDLES; k++)
            same += next == before[k];
    }
    for (int i = HANDLES; i-- > 0;)
        must(cuModuleUnload(modules[i]));
    return same;
}

START_TEST(handle_that_returns_is_another_kernel)
{
    enum { ROUNDS = 60 };
    int same = 0;
    device_start();
    volatile uint32_t *first = words(BYTES, 0), *second = words(BYTES, 0);
    for (int i = 0; i < ROUNDS && !same; i++)
        same = replace_kernels(first, second);
    ck_assert_int_gt(same, 0);
}
END_TEST

SUITE_MAIN("what launches write", 60, what_is_only_read_stays,
           argument_buffer_says_the_same, one_object_may_be_both,
           small_objects_share_a_slab, neighbours_in_one_chunk_are_told_apart,
           some_small_arrays_are_not_near_a_larger_one, array_may_begin_at_one,
           pointer_beside_objects_reaches_everything,
           pointer_from_memory_reaches_everything, structure_is_looked_into,
           first_access_sees_what_launches_wrote,
           launches_before_the_first_store_take_nothing_else,
           kernel_reads_what_was_there, launch_made_before_sees_each_store,
           launch_made_before_finds_what_came,
           launch_with_more_blocks_is_another,
           launch_with_other_arguments_is_another,
           handle_that_returns_is_another_kernel)
