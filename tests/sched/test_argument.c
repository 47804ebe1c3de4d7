/*
 * What calls are given and cannot be made with: each has its sentence, and
 * nothing is read that is not there.
 */
#include "adsm_skeleton.h"
#include "sched/fixture.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 100 };

static const adsmOpts all = {.devices = ADSM_ALL_DEVICES};

/* Three arguments of `map`, behind which no memory is. */
static adsmArg *at_the_end_of_memory(const int *x, int *y, const int *a)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const adsmArg args[] = {adsmIn(x), adsmInOut(y), adsmVal(*a)};
    uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(pages != MAP_FAILED);
    ck_assert_int_eq(mprotect(pages + page, page, PROT_NONE), 0);
    return memcpy(pages + page - sizeof args, args, sizeof args);
}

START_TEST(wrong_counts_are_refused_before_arguments_are_read)
{
    static const int counts[] = {0, 2, 4, 99, 254, 255, INT_MAX, -1, INT_MIN};
    int a = 1, *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 1);
    adsmArg *args = at_the_end_of_memory(x, y, &a);
    adsmKernel *map = kernel("map");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int n = counts[i];
        const adsmTask task = {map, adsmR1(N), n, args};
        expect(adsmCallV(map, N, n, args), ADSM_E_INVALID, "arguments");
        expect(adsmCallRangeV(map, adsmR1(N), &all, n, args), ADSM_E_INVALID,
               "arguments");
        expect(adsmLaunchV(map, adsmDim1(1), adsmDim1(1), 0, n, args),
               ADSM_E_INVALID, "arguments");
        expect(adsmFarmV(&task, 1, &all), ADSM_E_INVALID, "arguments");
    }
    must(adsmCallRangeV(map, adsmR1(N), &all, 3, args));
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

START_TEST(wrong_counts_of_maps_are_refused_before_arguments_are_read)
{
    float *x = adsmAlloc(N * sizeof *x);
    int a = 1, *y = array(adsmR1(N), 0);
    adsmArg *args = at_the_end_of_memory(y, y, &a) + 1;
    adsmModule *module;
    adsmKernel *dot;
    must(adsmModuleLoad(&module, OPERATORS_PTX, 0));
    must(adsmKernelGet(&dot, module, "dot", ADSM_ONLY_ARGUMENTS));
    for (int n = 3; n < 255; n += 63)
        expect(adsmMapReduceV(dot, x, adsmR1(N), &all, n, args), ADSM_E_INVALID,
               "takes 3 arguments after i0 and i1");
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

START_TEST(what_drivers_count_in_32_bits_is_not_cut_off)
{
    const long far = 1l << 32;
    int a = N, *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0);
    adsmKernel *add = kernel("add"), *map = kernel("map");
    number(x, N, 5);
    number(y, N, 6);
#define bad(words, grid, block, shared)                                        \
    expect(adsmLaunch(add, grid, block, shared, adsmInOut(x), adsmIn(y),       \
                      adsmVal(a)),                                             \
           ADSM_E_INVALID, words)
    bad("a grid of 4294967297 x 1 x 1", adsmDim1(far + 1), adsmDim1(32), 0);
    bad("a grid of 1 x 65536 x 1", adsmDim2(1, 65536), adsmDim1(32), 0);
    bad("a grid of 1 x 1 x -1", adsmDim3(1, 1, -1), adsmDim1(32), 0);
    bad("a block of 4294967328 x 1 x 1", adsmDim1(4), adsmDim1(far + 32), 0);
    bad("a block of 0 x 1 x 1", adsmDim1(4), adsmDim1(0), 0);
    bad("with 4294967312 bytes of shared", adsmDim1(4), adsmDim1(32), far + 16);
    expect(adsmCallWith(adsmWith(.shared_bytes = (size_t)far + 16), map,
                        adsmR1(N), adsmIn(y), adsmInOut(x), adsmVal(a)),
           ADSM_E_INVALID, "with 4294967312 bytes of shared");
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(x[i], i * 61 + 5);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

/* Look up a kernel of so many parameters of 4 bytes. */
static adsmStatus kernel_of(int parameters, adsmKernel **found)
{
    static char text[16384];
    adsmModule *module;
    int n = sprintf(text, ".version 6.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry many(");
    for (int i = 0; i < parameters; i++)
        n += sprintf(text + n, "%s.param .u32 p%d", i ? ", " : "", i);
    n += sprintf(text + n, ")\n{\nret;\n}\n");
    must(adsmModuleLoad(&module, text, (size_t)n));
    return adsmKernelGet(found, module, "many", ADSM_ONLY_ARGUMENTS);
}

START_TEST(bounds_are_long)
{
    adsmKernel *many;
    int a = 1;
    must(kernel_of(3, &many));
    expect(adsmCall(many, N, adsmVal(a)), ADSM_E_INVALID,
           "parameter 0 of kernel 'many' has 4 bytes");
    expect(adsmCallWith(&all, many, adsmR1(N), adsmVal(a)), ADSM_E_INVALID,
           "the first 2 are the bounds of its part, `long` each");
}
END_TEST

START_TEST(kernel_of_too_many_parameters_is_refused)
{
    adsmKernel *many;
    must(kernel_of(256, &many));
    expect(kernel_of(257, &many), ADSM_E_LIMIT,
           "'many' has more than 256 parameters");
}
END_TEST

SUITE_MAIN("argument", 60, wrong_counts_are_refused_before_arguments_are_read,
           wrong_counts_of_maps_are_refused_before_arguments_are_read,
           what_drivers_count_in_32_bits_is_not_cut_off, bounds_are_long,
           kernel_of_too_many_parameters_is_refused)
