/*
 * Kernels that the program compiles itself, by NVIDIA's compiler behind the
 * front.
 */
#include <stdio.h>

#include "nvrtc/nvrtc.h"
#include "tests/driver/driver_test.h"

#define SC_NVRTC(name, arguments, ...) nvrtcResult name(__VA_ARGS__);
#include "nvrtc/entries.def"
nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions,
                                const char *const *options);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *size);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin);
const char *nvrtcGetErrorString(nvrtcResult result);

#define DONE(call)                                                             \
    do {                                                                       \
        nvrtcResult got_ = (call);                                             \
        ck_assert_msg(got_ == NVRTC_SUCCESS, "%s: %s", #call,                  \
                      nvrtcGetErrorString(got_));                              \
    } while (0)

static const char source[] =
    "extern \"C\" __global__ void scale(float *p, float by)\n"
    "{ p[threadIdx.x] *= by; }\n";

static nvrtcProgram compiled(int count, const char *const *options)
{
    nvrtcProgram program;
    DONE(nvrtcCreateProgram(&program, source, "scale.cu", 0, NULL, NULL));
    nvrtcResult result = nvrtcCompileProgram(program, count, options);
    if (result != NVRTC_SUCCESS) {
        char log[4096] = "";
        size_t bytes = 0;
        nvrtcGetProgramLogSize(program, &bytes);
        if (bytes <= sizeof log)
            nvrtcGetProgramLog(program, log);
        ck_abort_msg("%s: %s", nvrtcGetErrorString(result), log);
    }
    return program;
}

static void run(const void *image)
{
    float value = 21, by = 2;
    CUmodule module;
    CUfunction f;
    CUdeviceptr p;
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&f, module, "scale"));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemcpyHtoD(p, &value, 4));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p, &by}, NULL));
    OK(cuMemcpyDtoH(&value, p, 4));
    ck_assert(value == 42);
    OK(cuMemFree(p));
    OK(cuModuleUnload(module));
}

/* Each way to name the device's architecture, between other options. */
START_TEST(machine_code_for_the_device_runs)
{
    static const char *const ways[][4] = {
        {"--std=c++17", "--gpu-architecture=sm_90", "-lineinfo"},
        {"-arch=sm_80", "-default-device"},
        {"--gpu-architecture", "sm_90", "-DX=sm_90"},
        {"-DY=1", "-arch", "sm_75"}};
    static const int counts[] = {3, 2, 3, 3};
    begin();
    for (int i = 0; i < 4; i++) {
        size_t bytes = 0;
        nvrtcProgram program = compiled(counts[i], ways[i]);
        DONE(nvrtcGetCUBINSize(program, &bytes));
        ck_assert_uint_gt(bytes, 1);
        char *image = malloc(bytes);
        DONE(nvrtcGetCUBIN(program, image));
        run(image);
        free(image);
        DONE(nvrtcDestroyProgram(&program));
    }
}
END_TEST

START_TEST(ptx_stays_ptx_and_is_no_machine_code)
{
    static const char *const options[] = {"-arch=compute_80"};
    size_t bytes = 0;
    begin();
    nvrtcProgram program = compiled(1, options);
    DONE(nvrtcGetPTXSize(program, &bytes));
    char *image = malloc(bytes);
    DONE(nvrtcGetPTX(program, image));
    ck_assert_ptr_nonnull(strstr(image, ".target sm_80"));
    run(image);
    free(image);
    nvrtcGetCUBINSize(program, &bytes);
    ck_assert_uint_eq(bytes, 0);
    DONE(nvrtcDestroyProgram(&program));
    program = compiled(0, NULL);
    DONE(nvrtcDestroyProgram(&program));
}
END_TEST

START_TEST(mistakes_are_told_as_ever)
{
    static const char *const options[] = {"-arch=sm_90", "--no-such-option"};
    static const char *const unknown[] = {"-arch=sm_1"};
    nvrtcProgram program;
    char log[4096];
    size_t bytes = 0;
    DONE(nvrtcCreateProgram(&program, "nonsense", "n.cu", 0, NULL, NULL));
    ck_assert_int_ne(nvrtcCompileProgram(program, 1, options), NVRTC_SUCCESS);
    DONE(nvrtcGetProgramLogSize(program, &bytes));
    ck_assert_uint_le(bytes, sizeof log);
    DONE(nvrtcGetProgramLog(program, log));
    ck_assert_ptr_nonnull(strstr(log, "nonsense"));
    ck_assert_int_ne(nvrtcCompileProgram(program, 2, options), NVRTC_SUCCESS);
    ck_assert_int_ne(nvrtcCompileProgram(program, 1, unknown), NVRTC_SUCCESS);
    DONE(nvrtcDestroyProgram(&program));
}
END_TEST

/* NVIDIA's compiler looks for NVIDIA's driver, which is nothing to be told. */
START_TEST(nothing_is_said_of_a_runtime)
{
    static const char *const options[] = {"-arch=sm_90"};
    char said[1000] = "";
    fflush(stderr);
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    begin();
    nvrtcProgram program = compiled(1, options);
    dup2(saved, STDERR_FILENO);
    rewind(file);
    ck_assert_uint_lt(fread(said, 1, sizeof said - 1, file), sizeof said);
    ck_assert_str_eq(said, "");
    DONE(nvrtcDestroyProgram(&program));
    fclose(file);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        machine_code_for_the_device_runs, ptx_stays_ptx_and_is_no_machine_code,
        mistakes_are_told_as_ever, nothing_is_said_of_a_runtime};
    int major, minor;
    if (nvrtcVersion(&major, &minor) != NVRTC_SUCCESS)
        suite_skip("NVIDIA's NVRTC of this version is not installed");
    return suite_run("softcuda nvrtc", cases, sizeof cases / sizeof *cases, 60);
}
