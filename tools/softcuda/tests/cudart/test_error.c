/*
 * Errors: their names and texts, and which one a thread was left with.
 */
#include <pthread.h>

#include "tests/cudart/cudart_test.h"

/* One of those libcudart has no answer for. */
cudaError_t cudaIpcCloseMemHandle(void *devPtr);

struct known {
    int number;
    const char *name, *text;
};

/* Those that programs print and compare, as CUDA words them. */
static const struct known known[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {4, "cudaErrorCudartUnloading", "driver shutting down"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {18, "cudaErrorInvalidTexture", "invalid texture reference"},
    {20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {21, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {35, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {46, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {52, "cudaErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {201, "cudaErrorDeviceUninitialized", "invalid device context"},
    {209, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {217, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {222, "cudaErrorUnsupportedPtxVersion",
     "the provided PTX was compiled with an unsupported toolchain."},
    {301, "cudaErrorFileNotFound", "file not found"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {704, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {712, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {715, "cudaErrorIllegalInstruction",
     "an illegal instruction was encountered"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {800, "cudaErrorNotPermitted", "operation not permitted"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {999, "cudaErrorUnknown", "unknown error"},
};

START_TEST(names_and_texts_are_those_of_cuda)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cudaError_t e = (cudaError_t)known[i].number;
        ck_assert_str_eq(cudaGetErrorName(e), known[i].name);
        ck_assert_str_eq(cudaGetErrorString(e), known[i].text);
    }
}
END_TEST

START_TEST(every_number_has_both_or_is_unrecognized)
{
    int count = 0;
    for (int i = 0; i < 20000; i++) {
        const char *name = cudaGetErrorName((cudaError_t)i);
        const char *text = cudaGetErrorString((cudaError_t)i);
        bool none = strcmp(name, "unrecognized error code") == 0;
        ck_assert_int_eq(none, strcmp(text, "unrecognized error code") == 0);
        ck_assert(none || (strncmp(name, "cuda", 4) == 0 && strlen(text) > 3));
        count += !none;
    }
    ck_assert_int_ge(count, 125);
    ck_assert_str_eq(cudaGetErrorName((cudaError_t)-1),
                     "unrecognized error code");
}
END_TEST

START_TEST(an_error_stays_the_last_one_until_it_is_got)
{
    void *p;
    OK(cudaMalloc(&p, 16));
    OK(cudaPeekAtLastError());
    WANT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpy(p, p, 1, (enum cudaMemcpyKind)7));
    OK(cudaMemset(p, 0, 16)); /* success does not clear it */
    WANT(cudaErrorInvalidMemcpyDirection, cudaPeekAtLastError());
    WANT(cudaErrorInvalidMemcpyDirection, cudaPeekAtLastError());
    WANT(cudaErrorInvalidMemcpyDirection, cudaGetLastError());
    OK(cudaGetLastError());
    WANT(cudaErrorInvalidDevice, cudaSetDevice(99));
    WANT(cudaErrorInvalidValue, cudaMemcpy(p, NULL, 4, cudaMemcpyDefault));
    WANT(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaFree(p));
}
END_TEST

static void *look(void *unused)
{
    WANT(cudaSuccess, cudaPeekAtLastError());
    WANT(cudaErrorInvalidDevice, cudaSetDevice(-1));
    return unused;
}

START_TEST(the_last_error_is_the_threads_own)
{
    pthread_t thread;
    WANT(cudaErrorInvalidDevice, cudaSetDevice(99));
    OK(cudaGetLastError() == cudaErrorInvalidDevice ? cudaSuccess
                                                    : cudaErrorUnknown);
    ck_assert_int_eq(pthread_create(&thread, NULL, look, NULL), 0);
    pthread_join(thread, NULL);
    OK(cudaPeekAtLastError());
}
END_TEST

START_TEST(a_query_that_is_not_ready_is_no_error)
{
    cudaStream_t stream;
    cudaEvent_t start, stop;
    float ms;
    void *p;
    register_kernels();
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaMalloc(&p, 4));
    OK(cudaEventRecord(start, stream));
    OK(launch_spin(p, 30 * 1000 * 1000, stream));
    OK(cudaEventRecord(stop, stream));
    WANT(cudaErrorNotReady, cudaStreamQuery(stream));
    OK(cudaPeekAtLastError());
    WANT(cudaErrorNotReady, cudaEventQuery(stop));
    WANT(cudaErrorNotReady, cudaEventElapsedTime(&ms, start, stop));
    OK(cudaGetLastError());
    /* nor does it hide one that was there */
    WANT(cudaErrorInvalidDevice, cudaSetDevice(99));
    WANT(cudaErrorNotReady, cudaEventQuery(stop));
    WANT(cudaErrorInvalidDevice, cudaGetLastError());
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamQuery(stream));
    OK(cudaGetLastError());
}
END_TEST

static void stop_kernel(void)
{
    OK(cudaLaunchKernel(&stop_host, count_of(1), count_of(1), NULL, 0, NULL));
    WANT(cudaErrorLaunchFailure, cudaDeviceSynchronize());
}

START_TEST(a_fault_is_sticky_until_the_device_is_reset)
{
    void *p, *more;
    uint32_t host = 0;
    register_kernels();
    OK(cudaMalloc(&p, 64));
    stop_kernel();
    WANT(cudaErrorLaunchFailure, cudaGetLastError());
    WANT(cudaErrorLaunchFailure, cudaGetLastError());
    WANT(cudaErrorLaunchFailure, cudaPeekAtLastError());
    WANT(cudaErrorLaunchFailure, cudaMalloc(&more, 64));
    WANT(cudaErrorLaunchFailure,
         cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    WANT(cudaErrorLaunchFailure,
         launch_add(count_of(1), count_of(1), p, 1, 1, NULL));
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    OK(cudaMalloc(&p, 64));
    OK(cudaMemset(p, 0, 64));
    OK(launch_add(count_of(1), count_of(16), p, 16, 5, NULL));
    OK(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(host, 5);
}
END_TEST

START_TEST(a_wild_address_is_reported_as_one)
{
    register_kernels();
    OK(launch_add(count_of(1), count_of(32), (void *)16, 32, 1, NULL));
    WANT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    WANT(cudaErrorIllegalAddress, cudaGetLastError());
}
END_TEST

START_TEST(a_missing_call_says_its_name_once)
{
    struct captured said;
    capture_begin(&said);
    for (int i = 0; i < 3; i++)
        WANT(cudaErrorNotSupported, cudaIpcCloseMemHandle(NULL));
    capture_end(&said);
    char *first = strstr(said.text, "cudaIpcCloseMemHandle is not supported");
    ck_assert_msg(first != NULL, "it said: %s", said.text);
    ck_assert_ptr_null(strstr(first + 1, "cudaIpcCloseMemHandle"));
    WANT(cudaErrorNotSupported, cudaGetLastError());
    OK(cudaGetLastError());
}
END_TEST

SUITE_MAIN("cudart_error", 60, names_and_texts_are_those_of_cuda,
           every_number_has_both_or_is_unrecognized,
           an_error_stays_the_last_one_until_it_is_got,
           the_last_error_is_the_threads_own,
           a_query_that_is_not_ready_is_no_error,
           a_fault_is_sticky_until_the_device_is_reset,
           a_wild_address_is_reported_as_one, a_missing_call_says_its_name_once)
