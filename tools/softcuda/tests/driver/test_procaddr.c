/*
 * cuGetProcAddress against the runtime's list of look-ups, and calls that are
 * only refused.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "tests/driver/driver_test.h"

typedef CUresult (*look_up)(const char *, void **, int, cuuint64_t,
                            CUdriverProcAddressQueryResult *);

static void *library(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW);
    ck_assert_msg(handle != NULL, "%s", dlerror());
    return handle;
}

START_TEST(every_look_up_of_the_runtime_gets_the_right_function)
{
    char symbol[128], name[128], line[400];
    int version, flags, n = 0;
    void *lib = library();
    FILE *list = fopen(LOOKUPS, "re");
    ck_assert_ptr_nonnull(list);
    while (fgets(line, sizeof line, list)) {
        void *got;
        CUdriverProcAddressQueryResult status;
        if (*line == '#')
            continue;
        ck_assert_int_eq(
            sscanf(line, "%127s %d %d %127s", symbol, &version, &flags, name),
            4);
        CUresult result =
            cuGetProcAddress(symbol, &got, version, (cuuint64_t)flags, &status);
        ck_assert_msg(result == CUDA_SUCCESS && got == dlsym(lib, name),
                      "%s %d %d is not %s", symbol, version, flags, name);
        ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SUCCESS);
        n++;
    }
    fclose(list);
    ck_assert_int_gt(n, 400);
}
END_TEST

START_TEST(unknown_symbols_are_not_found)
{
    void *got = &got;
    CUdriverProcAddressQueryResult status;
    WANT(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("", &got, 0, 0, &status));
    ck_assert_ptr_null(got);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    WANT(CUDA_ERROR_NOT_FOUND,
         cuGetProcAddress("cuNonsense", &got, 13000, 0, NULL));
    WANT(CUDA_ERROR_NOT_FOUND,
         cuGetProcAddress("cuMemAlloc", &got, 1000, 0, &status));
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    WANT(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress(NULL, &got, 0, 0, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGetProcAddress("cuInit", NULL, 13000, 0, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGetProcAddress("cuInit", &got, 13000, 64, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGetProcAddress("cuInit", &got, CUDA_VERSION + 10, 0, NULL));
    ck_assert_ptr_null(got);
}
END_TEST

START_TEST(unsupported_calls_say_so)
{
    void *lib = library();
    CUresult (*shut)(void *) = NULL;
    *(void **)&shut = dlsym(lib, "cuDestroyExternalMemory");
    ck_assert_ptr_nonnull((void *)shut);
    OK(cuInit(0));
    WANT(CUDA_ERROR_NOT_SUPPORTED, shut(0));
    WANT(CUDA_ERROR_NOT_SUPPORTED, shut(0));
}
END_TEST

/* What a function of a library says on standard error. */
static const char *said_by(CUresult (*ask)(void), int times)
{
    static char text[2048];
    int saved = dup(STDERR_FILENO), ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    for (int i = 0; i < times; i++)
        WANT(CUDA_ERROR_NOT_FOUND, ask());
    if (write(ends[1], ".", 1) != 1)
        abort();
    dup2(saved, STDERR_FILENO);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    return text;
}

static CUresult ask_ourselves(void)
{
    const void *table = &table;
    CUresult result = cuGetExportTable(&table, NULL);
    ck_assert_ptr_null(table);
    return result;
}

START_TEST(who_brings_another_runtime_is_named_once)
{
    void *library = dlopen(BRINGS_RUNTIME, RTLD_NOW | RTLD_LOCAL);
    CUresult (*ask)(void) = NULL;
    ck_assert_msg(library != NULL, "%s", dlerror());
    *(void **)&ask = dlsym(library, "ask");
    const char *text = said_by(ask, 3);
    ck_assert_msg(strncmp(text, "softcuda: libbrings_runtime.so brings", 37) ==
                      0,
                  "%s", text);
    ck_assert_str_eq(strchr(text, '\n'), "\n.");
    text = said_by(ask_ourselves, 3);
    ck_assert_msg(strncmp(text, "softcuda: this program brings", 29) == 0, "%s",
                  text);
    ck_assert_str_eq(strchr(text, '\n'), "\n.");
    ck_assert_str_eq(said_by(ask, 1), ".");
}
END_TEST

START_TEST(found_functions_work)
{
    CUresult (*alloc)(CUdeviceptr *, size_t) = NULL;
    CUresult (*set)(CUdeviceptr, unsigned char, size_t) = NULL;
    CUdeviceptr p;
    unsigned char got = 0;
    begin();
    OK(cuGetProcAddress("cuMemAlloc", (void **)&alloc, 13000, 0, NULL));
    OK(cuGetProcAddress("cuMemsetD8", (void **)&set, 13000,
                        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
    OK(alloc(&p, 10));
    OK(set(p, 5, 10));
    OK(cuMemcpyDtoH(&got, p, 1));
    ck_assert_uint_eq(got, 5);
}
END_TEST

SUITE_MAIN("softcuda driver: look-ups", 20,
           every_look_up_of_the_runtime_gets_the_right_function,
           unknown_symbols_are_not_found, unsupported_calls_say_so,
           who_brings_another_runtime_is_named_once, found_functions_work)
