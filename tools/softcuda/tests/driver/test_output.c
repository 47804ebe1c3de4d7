/*
 * What kernels print: when it reaches stdout, in which order, what is lost.
 */
#include <stdio.h>

#include "tests/driver/driver_test.h"

/* say(first, n): prints n lines "line %d", from `first` on; traps after
 * FATAL. */
#define FATAL 666
static const char say_ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 text[9] = {108, 105, 110, 101, 32, 37, 100, 10, 0};\n"
    ".visible .entry say(.param .u32 first, .param .u32 n)\n{\n"
    " .local .align 8 .b8 args[8];\n"
    " .reg .pred %q; .reg .b32 %r<6>; .reg .b64 %d<6>;\n"
    " ld.param.u32 %r0, [first]; ld.param.u32 %r1, [n];\n"
    " add.u32 %r1, %r0, %r1;\n"
    " mov.u64 %d0, args; cvta.local.u64 %d1, %d0;\n"
    " mov.u64 %d2, text; cvta.global.u64 %d3, %d2;\n"
    "loop:\n"
    " setp.ge.u32 %q, %r0, %r1;\n @%q bra done;\n"
    " st.local.u32 [%d0], %r0;\n"
    " { .param .b64 a; st.param.b64 [a], %d3;\n"
    "   .param .b64 b; st.param.b64 [b], %d1;\n"
    "   .param .b32 c; call.uni (c), vprintf, (a, b);\n"
    "   ld.param.b32 %r2, [c]; }\n"
    " add.u32 %r0, %r0, 1;\n bra loop;\n"
    "done:\n ld.param.u32 %r3, [first];\n setp.eq.u32 %q, %r3, 666;\n"
    " @%q trap;\n ret;\n}\n";

static char *printed;
static FILE *real_stdout;

/* From here on stdout is a file; `printed` holds what `take` found in it. */
static CUfunction begin_saying(void)
{
    CUmodule module;
    CUfunction say;
    begin();
    OK(cuModuleLoadData(&module, say_ptx));
    OK(cuModuleGetFunction(&say, module, "say"));
    real_stdout = stdout;
    stdout = tmpfile();
    ck_assert_ptr_nonnull(stdout);
    return say;
}

static size_t take(void)
{
    size_t bytes = (size_t)ftell(stdout);
    fflush(stdout);
    free(printed);
    printed = calloc(1, bytes + 1);
    rewind(stdout);
    ck_assert_uint_eq(fread(printed, 1, bytes, stdout), bytes);
    return bytes;
}

static void say(CUfunction f, unsigned first, unsigned n, CUstream stream)
{
    void *params[] = {&first, &n};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

START_TEST(output_shows_at_each_kind_of_wait)
{
    CUfunction f = begin_saying();
    CUstream stream;
    CUevent event;
    CUdeviceptr p;
    char bytes[4];
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAlloc(&p, 4));
    say(f, 1, 1, NULL);
    OK(cuCtxSynchronize());
    fprintf(stdout, "one\n");
    say(f, 2, 1, stream);
    OK(cuStreamSynchronize(stream));
    fprintf(stdout, "two\n");
    say(f, 3, 1, stream);
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    fprintf(stdout, "three\n");
    say(f, 4, 1, NULL);
    OK(cuMemcpyDtoH(bytes, p, 4));
    fprintf(stdout, "four\n");
    take();
    ck_assert_str_eq(printed, "line 1\none\nline 2\ntwo\nline 3\nthree\n"
                              "line 4\nfour\n");
}
END_TEST

START_TEST(output_of_many_launches_keeps_its_order)
{
    CUfunction f = begin_saying();
    for (unsigned i = 0; i < 100; i++)
        say(f, i * 10, 10, NULL);
    OK(cuCtxSynchronize());
    take();
    char *at = printed;
    for (unsigned i = 0; i < 1000; i++) {
        char line[32];
        int n = snprintf(line, sizeof line, "line %u\n", i);
        ck_assert_int_eq(strncmp(at, line, (size_t)n), 0);
        at += n;
    }
    ck_assert_int_eq(*at, 0);
}
END_TEST

START_TEST(beyond_the_limit_the_oldest_lines_are_lost_whole)
{
    CUfunction f = begin_saying();
    size_t limit;
    OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 8192));
    OK(cuCtxGetLimit(&limit, CU_LIMIT_PRINTF_FIFO_SIZE));
    ck_assert_uint_eq(limit, 8192);
    say(f, 10000, 5000, NULL);
    OK(cuCtxSynchronize());
    size_t bytes = take();
    ck_assert_uint_le(bytes, 8192);
    ck_assert_uint_gt(bytes, 8192 - 20);
    unsigned first = 0;
    ck_assert_int_eq(sscanf(printed, "line %u\n", &first), 1);
    ck_assert_uint_eq(first, 15000 - bytes / 11);
    ck_assert_str_eq(printed + bytes - 11, "line 14999\n");
}
END_TEST

START_TEST(output_shows_when_the_context_ends)
{
    CUfunction f = begin_saying();
    CUcontext ctx;
    OK(cuCtxGetCurrent(&ctx));
    say(f, 7, 1, NULL);
    OK(cuCtxDestroy(ctx));
    take();
    ck_assert_str_eq(printed, "line 7\n");
}
END_TEST

START_TEST(last_words_show_in_the_call_that_reports_the_fault)
{
    CUfunction f = begin_saying();
    char bytes[4];
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 4));
    say(f, FATAL, 1, NULL);
    double start = now_ms();
    while (cuStreamQuery(NULL) != CUDA_ERROR_LAUNCH_FAILED)
        ck_assert(now_ms() - start < 10e3);
    fprintf(stdout, "reported\n");
    WANT(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyDtoH(bytes, p, 4));
    take();
    ck_assert_str_eq(printed, "line 666\nreported\n");
}
END_TEST

START_TEST(limits_are_kept_and_wrong_ones_refused)
{
    size_t value;
    begin();
    OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
    ck_assert_uint_eq(value, MIB);
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(value, 1024);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(value, 4096);
    WANT(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, MIB));
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 * MIB));
    OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    ck_assert_uint_eq(value, 32 * MIB);
    WANT(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_MAX, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    WANT(CUDA_ERROR_UNSUPPORTED_LIMIT,
         cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
}
END_TEST

SUITE_MAIN("softcuda driver: device output", 30,
           output_shows_at_each_kind_of_wait,
           output_of_many_launches_keeps_its_order,
           beyond_the_limit_the_oldest_lines_are_lost_whole,
           output_shows_when_the_context_ends,
           last_words_show_in_the_call_that_reports_the_fault,
           limits_are_kept_and_wrong_ones_refused)
