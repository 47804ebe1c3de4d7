/*
 * The linker: PTX texts joined to one that loads; stream attributes.
 */
#include <stdio.h>

#include "tests/driver/driver_test.h"

static char caller[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 out) twice (.param .b32 x);\n"
    ".visible .entry run(.param .u64 p)\n{\n"
    " .reg .b32 %r<3>; .reg .b64 %d<2>;\n ld.param.u64 %d0, [p];\n"
    " ld.global.u32 %r0, [%d0];\n {\n .param .b32 a; .param .b32 back;\n"
    " st.param.b32 [a], %r0;\n call.uni (back), twice, (a);\n"
    " ld.param.b32 %r1, [back];\n }\n st.global.u32 [%d0], %r1;\n ret;\n}\n";

static char callee[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .func (.param .b32 out) twice (.param .b32 x)\n{\n"
    " .reg .b32 %r<3>;\n ld.param.b32 %r0, [x];\n add.u32 %r1, %r0, %r0;\n"
    " st.param.b32 [out], %r1;\n ret;\n}\n";

START_TEST(two_texts_become_one_module)
{
    CUlinkState link;
    void *cubin;
    size_t bytes;
    CUmodule module;
    CUfunction run;
    CUdeviceptr p;
    unsigned value = 21;
    begin();
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, caller, sizeof caller, "a", 0,
                     NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, callee, sizeof callee, "b", 0,
                     NULL, NULL));
    OK(cuLinkComplete(link, &cubin, &bytes));
    ck_assert_uint_eq(bytes, strlen(cubin) + 1);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuLinkAddData(link, CU_JIT_INPUT_PTX, callee, sizeof callee, "c", 0,
                       NULL, NULL));
    OK(cuModuleLoadData(&module, cubin));
    OK(cuLinkDestroy(link));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(link));
    OK(cuModuleGetFunction(&run, module, "run"));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemcpyHtoD(p, &value, 4));
    OK(cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert_uint_eq(value, 42);
}
END_TEST

/* Texts that look like others: words in comments, strings and lines, two
 * directives in a line, a variable of the same name in each. */
static char odd_caller[] =
    ".version 7.0 .target sm_75, debug .address_size 64\n"
    "@@DWARF .global .u32 own;\n"
    "/* .visible .func twice { */ // .global .u32 own = 1;\n"
    ".pragma \"nounroll; { own\";\n"
    ".file 1 \"a \\\" { b.cu\"\n"
    ".global .u32 own = 7;\n"
    ".extern /* } */ .func (.param .b32 out) twice (.param .b32 x);\n"
    ".visible .entry run(.param .u64 p)\n{\n"
    " .reg .b32 %r<3>; .reg .b64 %d<2>;\n ld.param.u64 %d0, [p];\n"
    " ld.global.u32 %r0, [own];\n {\n .param .b32 a; .param .b32 back;\n"
    " .loc 1 2 3 // }\n"
    " st.param.b32 [a], %r0;\n call.uni (back), twice, (a);\n"
    " ld.param.b32 %r1, [back];\n }\n st.global.u32 [%d0], %r1;\n ret;\n}\n"
    ".section .debug_str { own: .b8 100 }\n";

static char odd_callee[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".global .u32 own = 1000;\n"
    ".weak .func (.param .b32 out) twice (.param .b32 x)\n{\n"
    " .reg .b32 %r<3>;\n ld.param.b32 %r0, [x];\n add.u32 %r1, %r0, %r0;\n"
    " ld.global.u32 %r0, [own]; add.u32 %r1, %r1, %r0;\n"
    " st.param.b32 [out], %r1;\n ret;\n}\n";

static CUresult join(char *one, char *other, CUmodule *module)
{
    CUlinkState link;
    void *cubin;
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, one, strlen(one) + 1, "a", 0, NULL,
                     NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, other, strlen(other) + 1, "b", 0,
                     NULL, NULL));
    OK(cuLinkComplete(link, &cubin, NULL));
    CUresult result = cuModuleLoadData(module, cubin);
    OK(cuLinkDestroy(link));
    return result;
}

START_TEST(only_tokens_are_words)
{
    CUmodule module;
    CUfunction run;
    CUdeviceptr p;
    unsigned value = 0;
    begin();
    OK(join(odd_caller, odd_callee, &module));
    OK(cuModuleGetFunction(&run, module, "run"));
    OK(cuMemAlloc(&p, 4));
    OK(cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert_uint_eq(value, 1014);
}
END_TEST

START_TEST(text_without_tokens_is_refused_when_it_is_loaded)
{
    static const char *const bad[] = {"/* no end", ".global \"no end",
                                      ".visible .func f() { \\ }", "0x;"};
    CUmodule module;
    begin();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s", callee, bad[i]);
        WANT(CUDA_ERROR_INVALID_PTX, join(text, caller, &module));
    }
}
END_TEST

START_TEST(files_are_read)
{
    char path[] = "/tmp/softcuda-link-XXXXXX";
    CUlinkState link;
    void *cubin;
    begin();
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, callee, sizeof callee - 1), sizeof callee - 1);
    close(fd);
    OK(cuLinkCreate(0, NULL, NULL, &link));
    CUresult result =
        cuLinkAddFile(link, CU_JIT_INPUT_PTX, path, 0, NULL, NULL);
    unlink(path);
    OK(result);
    WANT(CUDA_ERROR_FILE_NOT_FOUND,
         cuLinkAddFile(link, CU_JIT_INPUT_PTX, path, 0, NULL, NULL));
    OK(cuLinkComplete(link, &cubin, NULL));
    OK(cuLinkDestroy(link));
}
END_TEST

START_TEST(what_cannot_be_linked_says_why)
{
    CUlinkState link;
    void *cubin;
    char log[200] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    begin();
    OK(cuLinkCreate(2, options, values, &link));
    WANT(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(link, &cubin, NULL));
    WANT(CUDA_ERROR_NO_BINARY_FOR_GPU,
         cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, caller, 100, "a", 0, NULL,
                       NULL));
    ck_assert_ptr_nonnull(strstr(log, "only PTX"));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuLinkAddData(link, CU_JIT_INPUT_PTX, NULL, 5, "a", 0, NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, caller, sizeof caller, "a", 0,
                     NULL, NULL));
    WANT(CUDA_ERROR_INVALID_IMAGE, cuLinkComplete(link, &cubin, NULL));
    ck_assert_ptr_nonnull(strstr(log, "'twice'"));
    WANT(CUDA_ERROR_INVALID_IMAGE, cuLinkComplete(link, &cubin, NULL));
    OK(cuLinkDestroy(link));
    WANT(CUDA_ERROR_INVALID_VALUE, cuLinkCreate(0, NULL, NULL, NULL));
}
END_TEST

START_TEST(logs_of_a_link_are_filled_as_far_as_they_are_said)
{
    CUlinkState link;
    void *cubin;
    char error[100] = "not touched", info[100] = "not touched";
    CUjit_option options[] = {
        CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)sizeof error, info, (void *)sizeof info};
    begin();
    OK(cuLinkCreate(4, options, values, &link));
    ck_assert_str_eq(error, "");
    ck_assert_str_eq(info, "");
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, caller, sizeof caller, "a", 0,
                     NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, callee, sizeof callee, "b", 0,
                     NULL, NULL));
    OK(cuLinkComplete(link, &cubin, NULL));
    OK(cuLinkComplete(link, &cubin, NULL));
    ck_assert_str_eq(error, "");
    ck_assert_ptr_null(values[1]);
    ck_assert_ptr_nonnull(strstr(info, "2 texts"));
    ck_assert_uint_eq((size_t)values[3], strlen(info));
    OK(cuLinkDestroy(link));
    /* what is said later comes behind, as far as there is room */
    values[1] = (void *)sizeof error;
    OK(cuLinkCreate(2, options, values, &link));
    for (int i = 0; i < 3; i++)
        WANT(CUDA_ERROR_NO_BINARY_FOR_GPU,
             cuLinkAddData(link, CU_JIT_INPUT_OBJECT, caller, 100, "a", 0, NULL,
                           NULL));
    ck_assert_uint_eq(strlen(error), sizeof error - 1);
    ck_assert_uint_eq((size_t)values[1], sizeof error - 1);
    OK(cuLinkDestroy(link));
}
END_TEST

START_TEST(stream_attributes_are_kept)
{
    CUstream s, t;
    CUstreamAttrValue value = {0}, got;
    begin();
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamCreate(&t, 0));
    value.accessPolicyWindow.num_bytes = 4096;
    OK(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                            &value));
    OK(cuStreamCopyAttributes(t, s));
    OK(cuStreamGetAttribute(t, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &got));
    ck_assert_uint_eq(got.accessPolicyWindow.num_bytes, 4096);
    value.priority = -5;
    OK(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    OK(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &got));
    ck_assert_int_eq(got.priority, 0);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &got));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, NULL));
}
END_TEST

SUITE_MAIN("softcuda driver: linker", 30, two_texts_become_one_module,
           only_tokens_are_words,
           text_without_tokens_is_refused_when_it_is_loaded, files_are_read,
           what_cannot_be_linked_says_why,
           logs_of_a_link_are_filled_as_far_as_they_are_said,
           stream_attributes_are_kept)
