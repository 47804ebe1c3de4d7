/*
 * What compiled host code does by itself: registering images, functions and
 * variables, launching through host addresses.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/cudart/cudart_test.h"

START_TEST(a_registered_kernel_runs)
{
    enum { N = 5000 };
    static uint32_t host[N];
    uint32_t *p;
    register_kernels();
    OK(cudaMalloc((void **)&p, sizeof host));
    OK(cudaMemset(p, 0, sizeof host));
    OK(launch_add((dim3){20, 1, 1}, (dim3){256, 1, 1}, p, N, 9, NULL));
    OK(launch_add((dim3){20, 1, 1}, (dim3){256, 1, 1}, p, N - 1, 1, NULL));
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    ck_assert(host[0] == 10 && host[N - 2] == 10 && host[N - 1] == 9);
}
END_TEST

START_TEST(a_kernel_handle_launches_like_its_address)
{
    cudaKernel_t lazy, loaded;
    uint32_t *p, n = 1, v = 4, got;
    void *args[] = {&p, &n, &v};
    register_kernels();
    OK(cudaMalloc((void **)&p, 4));
    OK(cudaMemset(p, 0, 4));
    OK(__cudaGetKernel(&lazy, &add_host));
    OK(__cudaLaunchKernel(lazy, count_of(1), count_of(1), args, 0, NULL));
    OK(__cudaLaunchKernel_ptsz(lazy, count_of(1), count_of(1), args, 0, NULL));
    OK(cudaGetKernel(&loaded, &add_host));
    OK(cudaDeviceSynchronize());
    OK(cudaLaunchKernel(loaded, count_of(1), count_of(1), args, 0, NULL));
    OK(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(got, 12);
    WANT(cudaErrorInvalidDeviceFunction, cudaGetKernel(&loaded, &got));
}
END_TEST

START_TEST(configurations_nest_and_run_out)
{
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    for (unsigned i = 1; i <= 3; i++)
        ck_assert_uint_eq(
            __cudaPushCallConfiguration(count_of(i), (dim3){i, 2, 3}, i, NULL),
            0);
    for (unsigned i = 3; i >= 1; i--) {
        OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
        ck_assert(grid.x == i && block.x == i && block.z == 3 && shared == i);
    }
    WANT(cudaErrorMissingConfiguration,
         __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    WANT(cudaErrorMissingConfiguration, cudaGetLastError());
}
END_TEST

START_TEST(wrong_launches_are_refused)
{
    char stranger;
    void *p;
    register_kernels();
    OK(cudaMalloc(&p, 4));
    WANT(cudaErrorInvalidDeviceFunction,
         cudaLaunchKernel(&stranger, count_of(1), count_of(1), NULL, 0, NULL));
    WANT(cudaErrorInvalidDeviceFunction,
         cudaLaunchKernel(NULL, count_of(1), count_of(1), NULL, 0, NULL));
    WANT(cudaErrorInvalidDeviceFunction,
         cudaLaunchKernel(&none_host, count_of(1), count_of(1), NULL, 0, NULL));
    WANT(cudaErrorInvalidConfiguration,
         launch_add(count_of(0), count_of(1), p, 1, 1, NULL));
    cudaError_t too_many =
        SC_CUDART >= 13 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
    WANT(too_many, launch_add(count_of(1), count_of(1025), p, 1, 1, NULL));
    WANT(too_many, launch_add(count_of(1), (dim3){64, 32, 1}, p, 1, 1, NULL));
    WANT(cudaErrorInvalidConfiguration,
         launch_add(count_of(1), (dim3){1, 1, 65}, p, 1, 1, NULL));
    WANT(cudaErrorInvalidConfiguration,
         launch_add((dim3){1, 65536, 1}, count_of(1), p, 1, 1, NULL));
    WANT(cudaErrorInvalidConfiguration, cudaGetLastError());
    OK(cudaDeviceSynchronize()); /* nothing is wrong with the device */
    OK(launch_add(count_of(1), count_of(1), p, 1, 1, NULL));
}
END_TEST

START_TEST(symbols_are_copied_to_and_from)
{
    uint32_t values[4] = {10, 20, 30, 40}, back[4], *address, got;
    size_t bytes;
    register_kernels();
    OK(cudaMemcpyFromSymbol(back, counter, sizeof back, 0,
                            cudaMemcpyDeviceToHost));
    ck_assert(back[0] == 1 && back[3] == 4);
    OK(cudaMemcpyToSymbol(counter, values, 8, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromSymbolAsync(back, counter, 12, 4, cudaMemcpyDeviceToHost,
                                 NULL));
    OK(cudaDeviceSynchronize());
    ck_assert(back[0] == 10 && back[1] == 20 && back[2] == 4);
    OK(cudaGetSymbolAddress((void **)&address, counter));
    OK(cudaGetSymbolSize(&bytes, counter));
    ck_assert_uint_eq(bytes, sizeof counter);
    OK(cudaMemcpy(&got, address + 1, 4, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(got, 10);
    /* what a kernel finds in it, constants too */
    uint32_t two[2] = {0, 500}, *out;
    void *args[] = {&out};
    OK(cudaMemcpyToSymbol(table, two, sizeof two, 0, cudaMemcpyHostToDevice));
    OK(cudaMalloc((void **)&out, 4));
    OK(cudaLaunchKernel(&count_host, count_of(1), count_of(1), args, 0, NULL));
    OK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(got, 1 + 500 + 1);
}
END_TEST

START_TEST(wrong_symbols_are_refused)
{
    uint32_t value = 1, stranger;
    void *address;
    size_t bytes;
    register_kernels();
    WANT(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, &stranger));
    WANT(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, &add_host));
    WANT(cudaErrorInvalidSymbol,
         cudaMemcpyToSymbol(&stranger, &value, 4, 0, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue,
         cudaMemcpyToSymbol(counter, &value, 4, 13, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemcpyToSymbol(counter, &value, SIZE_MAX, 8,
                                                   cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpyToSymbol(counter, &value, 4, 0, cudaMemcpyDeviceToHost));
    WANT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpyFromSymbol(&value, counter, 4, 0, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaGetSymbolAddress(NULL, counter));
    WANT(cudaErrorInvalidValue, cudaGetSymbolSize(NULL, counter));
}
END_TEST

START_TEST(machine_code_is_refused_when_a_kernel_is_needed)
{
    static struct image image;
    struct captured said;
    image_fill(&image, "machine code", 2, 80);
    void **handle = __cudaRegisterFatBinary(&image.wrapper);
    register_names(handle);
    capture_begin(&said);
    cudaError_t got =
        cudaLaunchKernel(&add_host, count_of(1), count_of(1), NULL, 0, NULL);
    capture_end(&said);
    WANT(cudaErrorNoKernelImageForDevice, got);
    ck_assert_msg(strstr(said.text, "-gencode") != NULL, "it said: %s",
                  said.text);
}
END_TEST

START_TEST(damaged_images_are_refused)
{
    static struct image image;
    image_fill(&image, "this is no PTX", 1, 50);
    register_names(__cudaRegisterFatBinary(&image.wrapper));
    WANT(cudaErrorInvalidPtx,
         cudaLaunchKernel(&add_host, count_of(1), count_of(1), NULL, 0, NULL));
    image.container.magic = 1;
    WANT(
        cudaErrorInvalidKernelImage,
        cudaLaunchKernel(&count_host, count_of(1), count_of(1), NULL, 0, NULL));
}
END_TEST

START_TEST(an_unregistered_image_is_gone_and_may_return)
{
    void *p;
    void **handle = register_kernels();
    OK(cudaMalloc(&p, 4));
    OK(launch_add(count_of(1), count_of(1), p, 1, 1, NULL));
    OK(cudaDeviceSynchronize());
    __cudaUnregisterFatBinary(handle);
    WANT(cudaErrorInvalidDeviceFunction,
         launch_add(count_of(1), count_of(1), p, 1, 1, NULL));
    register_kernels();
    OK(launch_add(count_of(1), count_of(1), p, 1, 1, NULL));
    OK(cudaDeviceSynchronize());
    __cudaUnregisterFatBinary(NULL);
}
END_TEST

START_TEST(functions_tell_their_attributes_and_occupancy)
{
    struct cudaFuncAttributes a;
    const char *name;
    int blocks = 0;
    size_t offset, bytes;
    register_kernels();
    OK(cudaFuncGetAttributes(&a, &add_host));
    ck_assert_int_eq(a.maxThreadsPerBlock, 1024);
    ck_assert_uint_eq(a.sharedSizeBytes, 0);
    OK(cudaFuncGetAttributes(&a, &shaped_host));
    ck_assert_int_eq(a.maxThreadsPerBlock, 64);
    OK(cudaFuncGetName(&name, &add_host));
    ck_assert_str_eq(name, "add");
    OK(cudaFuncGetParamInfo(&add_host, 1, &offset, &bytes));
    ck_assert(offset == 8 && bytes == 4);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &add_host, 256,
                                                     0));
    ck_assert_int_ge(blocks, 1);
    OK(cudaFuncSetAttribute(&add_host,
                            cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    OK(cudaFuncSetCacheConfig(&add_host, cudaFuncCachePreferL1));
    WANT(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, &blocks));
    WANT(cudaErrorInvalidValue, cudaFuncGetAttributes(NULL, &add_host));
}
END_TEST

static void *launch_many(void *data)
{
    uint32_t *p = data;
    for (int i = 0; i < 50; i++)
        OK(launch_add(count_of(1), count_of(32), p, 32, 1, NULL));
    return NULL;
}

START_TEST(threads_may_use_an_image_first_at_once)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    uint32_t *p, got[32 * THREADS];
    register_kernels();
    OK(cudaMalloc((void **)&p, sizeof got));
    OK(cudaMemset(p, 0, sizeof got));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, launch_many, p + 32 * i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32 * THREADS; i++)
        ck_assert_uint_eq(got[i], 50);
}
END_TEST

START_TEST(a_library_loads_from_memory)
{
    cudaLibrary_t library;
    cudaKernel_t add;
    unsigned count;
    uint32_t *p, n = 1, v = 3, got;
    void *args[] = {&p, &n, &v}, *where;
    size_t bytes;
    OK(cudaLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL,
                           0));
    OK(cudaLibraryGetKernel(&add, library, "add"));
    OK(cudaLibraryGetKernelCount(&count, library));
    ck_assert_uint_eq(count, 6);
    OK(cudaLibraryGetGlobal(&where, &bytes, library, "counter"));
    ck_assert_uint_eq(bytes, 16);
    WANT(cudaErrorSymbolNotFound,
         cudaLibraryGetKernel(&add, library, "nothing"));
    OK(cudaLibraryGetKernel(&add, library, "add"));
    OK(cudaMalloc((void **)&p, 4));
    OK(cudaMemset(p, 0, 4));
    OK(cudaLaunchKernel(add, count_of(1), count_of(1), args, 0, NULL));
    OK(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(got, 3);
    OK(cudaLibraryUnload(library));
}
END_TEST

static void **registered;

static void unregister(void)
{
    __cudaUnregisterFatBinary(registered);
}

/* Compiled code registers this handler before main. */
START_TEST(a_program_ends_beside_an_endless_kernel)
{
    pid_t child = fork();
    if (child == 0) {
        void *p;
        registered = register_kernels();
        atexit(unregister);
        OK(cudaMalloc(&p, 4));
        OK(launch_spin(p, UINT32_MAX, NULL));
        exit(0);
    }
    int status = -1;
    for (int i = 0; i < 1500 && waitpid(child, &status, WNOHANG) == 0; i++)
        usleep(10000);
    kill(child, SIGKILL);
    ck_assert_int_eq(status, 0);
}
END_TEST

SUITE_MAIN("cudart_register", 60, a_registered_kernel_runs,
           a_kernel_handle_launches_like_its_address,
           configurations_nest_and_run_out, wrong_launches_are_refused,
           symbols_are_copied_to_and_from, wrong_symbols_are_refused,
           machine_code_is_refused_when_a_kernel_is_needed,
           damaged_images_are_refused,
           an_unregistered_image_is_gone_and_may_return,
           functions_tell_their_attributes_and_occupancy,
           threads_may_use_an_image_first_at_once, a_library_loads_from_memory,
           a_program_ends_beside_an_endless_kernel)
