/*
 * What calls are given and cannot be made with: each has its sentence, and
 * nothing is read that is not there.
 */
#include "adsm_skeleton.h"
#include "call/fixture.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

START_TEST(arguments_are_made_by_their_macros)
{
    int *x = array(adsmR1(N), 0), a = 1;
    adsmArg args[] = {adsmIn(x), adsmInOut(x), adsmVal(a)};
    adsmKernel *map = kernel("map");
    for (int mode = -1; mode <= 4; mode += 5) {
        args[0].mode = mode;
        expect(adsmCallV(map, N, 3, args), ADSM_E_INVALID, "was not made by");
        expect(adsmCallRangeV(map, adsmR1(N), &all, 3, args), ADSM_E_INVALID,
               "argument 0 of kernel 'map' was not made by adsmVal");
    }
    args[0].mode = ADSM_IN;
    args[2] = (adsmArg){0};
    expect(adsmCallV(map, N, 3, args), ADSM_E_INVALID, "was not made by");
    args[2] = (adsmArg){.how = ADSM_KEPT, .bytes = 41};
    expect(adsmCallRangeV(map, adsmR1(N), &all, 3, args), ADSM_E_INVALID,
           "argument 2 of kernel 'map' was not made by adsmVal");
    must(adsmFree(x));
}
END_TEST

/* As a launch, in a call that is one, and in parts. */
static void expect_of_map(const int *x, int *y, adsmStatus status,
                          const char *words)
{
    int a = 1;
    adsmKernel *map = kernel("map");
    const long lo = 0, hi = N;
    expect(adsmLaunch(map, adsmDim1(1), adsmDim1(N), 0, adsmVal(lo),
                      adsmVal(hi), adsmIn(x), adsmInOut(y), adsmVal(a)),
           status, words);
    expect(adsmCall(map, N, adsmIn(x), adsmInOut(y), adsmVal(a)), status,
           words);
    expect(
        adsmCallWith(&all, map, adsmR1(N), adsmIn(x), adsmInOut(y), adsmVal(a)),
        status, words);
}

START_TEST(small_objects_that_were_freed_are_not_shared)
{
    int *x = adsmAlloc(N * sizeof *x), *y = adsmAlloc(N * sizeof *y);
    number(y, N, 6);
    must(adsmFree(x)); /* its page is shared with y, and stays */
    expect_of_map(x, y, ADSM_E_NOT_SHARED, "is no shared pointer, or none any");
    expect_of_map(y + N, y, ADSM_E_NOT_SHARED, "(0x"); /* behind it */
    ck_assert_ptr_null(adsmSafe(x));
    ck_assert_int_eq(adsmLastStatus(), ADSM_E_NOT_SHARED);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], i * 61 + 6);
    must(adsmFree(y));
}
END_TEST

START_TEST(pointers_are_aligned_to_their_elements)
{
    /* Bytes may begin anywhere. */
    struct bytes {
        uint8_t byte[4];
    } * b;
    int *x = array(adsmR1(N + 1), 0), *y = array(adsmR1(N), 0), a = 1;
    number(y, N, 6);
    expect_of_map((int *)((uintptr_t)x + 2), y, ADSM_E_INVALID,
                  "is not aligned to 4 bytes");
    b = (struct bytes *)((uintptr_t)x + 3);
    ck_assert_int_eq(adsmIn(b).align, 1);
    must(adsmCall(kernel("skew"), N, adsmIn(b), adsmOut(y)));
    ck_assert_int_eq(y[0], 3);
    expect(adsmReduce(adsmOperatorOf(ADSM_SUM, ADSM_I32), y, (uint8_t *)x + 2,
                      adsmR1(9), -1, NULL),
           ADSM_E_INVALID, "`in` (");
    expect(adsmReduce(adsmOperatorOf(ADSM_SUM, ADSM_I32), (uint8_t *)y + 1, x,
                      adsmR1(9), -1, NULL),
           ADSM_E_INVALID, "is not aligned to 4 bytes");
    must(adsmSync());
    must(adsmCall(kernel("map"), N, adsmIn(x), adsmInOut(y), adsmVal(a)));
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

/* Of the same size, which is all that drivers know. */
START_TEST(integers_are_no_floats)
{
    struct {
        float f;
    } wrapped = {3};
    float *x = adsmAlloc(N * sizeof *x), *got = adsmAlloc(2 * sizeof *got);
    float f = 3;
    int *y = array(adsmR1(N), 0), n = 3;
    unsigned u = 3;
    adsmModule *module;
    adsmKernel *farthest;
    must(adsmModuleLoad(&module, OPERATORS_PTX, 0));
    must(adsmKernelGet(&farthest, module, "farthest", ADSM_ONLY_ARGUMENTS));
    for (int i = 0; i < N; i++)
        x[i] = y[i] = i;
    expect(adsmMapReduce(NULL, farthest, got, adsmR1(N), adsmIn(x), adsmVal(n)),
           ADSM_E_INVALID,
           "argument 1 of kernel 'farthest' is an integer, its parameter a "
           "float or double");
    must(adsmMapReduce(NULL, farthest, got, adsmR1(N), adsmIn(x), adsmVal(f)));
    ck_assert(got[1] == N - 1 - f);
    must(adsmMapReduce(NULL, farthest, got, adsmR1(N), adsmIn(x),
                       adsmVal(wrapped)));
    ck_assert(got[1] == N - 1 - f);
    expect(adsmCallWith(&all, kernel("map"), adsmR1(N), adsmIn(y), adsmInOut(y),
                        adsmVal(f)),
           ADSM_E_INVALID, "is a float or double, its parameter an integer");
    must(adsmCallWith(&all, kernel("map"), adsmR1(N), adsmIn(y), adsmInOut(y),
                      adsmVal(u)));
    must(adsmFree(x));
    must(adsmFree(y));
    must(adsmFree(got));
}
END_TEST

START_TEST(shared_pointers_are_no_values)
{
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0), n = N, a = 1;
    const int *end = x + N;
    long lo = 0, hi = N;
    adsmKernel *add = kernel("add");
    adsmKernel *any = kernel_that_may(ADSM_ANY_OBJECT, "add");
#define LAUNCH(k, ...)                                                         \
    adsmLaunch(k, adsmDim1(1), adsmDim1(N), 0, __VA_ARGS__, adsmVal(n))
    number(x, N, 5);
    number(y, N, 6);
    expect(LAUNCH(add, adsmInOut(x), adsmVal(y)), ADSM_E_INVALID,
           "argument 1 of kernel 'add' is the value of a shared pointer");
    expect(adsmCallWith(&all, kernel("map"), adsmR1(N), adsmVal(x),
                        adsmInOut(y), adsmVal(a)),
           ADSM_E_INVALID, "adsmIn, adsmOut and adsmInOut do");
    /* It has all objects, and so has who is told of the memory otherwise. */
    must(LAUNCH(any, adsmInOut(x), adsmVal(y)));
    must(LAUNCH(add, adsmInOut(x), adsmVal(x)));
    for (long i = 0; i < N; i++)
        ck_assert_int_eq(x[i], 2 * (2 * i * 61 + 11));
    must(adsmLaunch(kernel("strided"), adsmDim1(1), adsmDim1(1), 0, adsmVal(lo),
                    adsmVal(lo), adsmIn(x), adsmInOut(y), adsmVal(end),
                    adsmVal(hi), adsmVal(lo), adsmVal(lo)));
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

static void expect_of_file(const char *path, adsmStatus status,
                           const char *words)
{
    adsmModule *module = (adsmModule *)path;
    expect(adsmModuleLoad(&module, path, 0), status, words);
    ck_assert_ptr_null(module);
}

START_TEST(modules_are_files_that_end)
{
    char path[] = "/tmp/adsm-module-XXXXXX", pipe[64];
    adsmModule *module;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    expect_of_file(path, ADSM_E_INVALID, "is empty");
    ck_assert_int_eq(ftruncate(fd, (1l << 30) + 1), 0); /* a hole */
    expect_of_file(path, ADSM_E_INVALID, "has 1073741825 bytes; up to 2^30");
    snprintf(pipe, sizeof pipe, "%s-pipe", path);
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    expect_of_file(pipe, ADSM_E_INVALID, "is no file of code, but a pipe");
    expect_of_file("/dev/zero", ADSM_E_INVALID, "but a device");
    expect_of_file("/tmp", ADSM_E_INVALID, "but a directory");
    expect_of_file("/tmp/none/at/all", ADSM_E_NOT_FOUND, "cannot open module");
    must(adsmModuleLoad(&module, KERNELS_PTX, 0));
    close(fd);
    unlink(path);
    unlink(pipe);
}
END_TEST

SUITE_MAIN("argument", 60, wrong_counts_are_refused_before_arguments_are_read,
           wrong_counts_of_maps_are_refused_before_arguments_are_read,
           what_drivers_count_in_32_bits_is_not_cut_off, bounds_are_long,
           arguments_are_made_by_their_macros,
           small_objects_that_were_freed_are_not_shared,
           pointers_are_aligned_to_their_elements,
           shared_pointers_are_no_values, integers_are_no_floats,
           kernel_of_too_many_parameters_is_refused, modules_are_files_that_end)
