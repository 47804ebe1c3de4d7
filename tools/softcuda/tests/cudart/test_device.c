/*
 * Devices: counting and choosing them, what they say of themselves, reset,
 * peers, limits.
 */
#include <pthread.h>
#include <time.h>

#include "tests/cudart/cudart_test.h"

static void devices(const char *count)
{
    setenv("SOFTCUDA_DEVICES", count, 1);
}

START_TEST(every_device_is_counted_and_chosen)
{
    int count = 0, device = -1;
    devices("3");
    OK(cudaGetDeviceCount(&count));
    ck_assert_int_eq(count, 3);
    OK(cudaGetDevice(&device));
    ck_assert_int_eq(device, 0);
    for (int d = 0; d < count; d++) {
        void *p;
        struct cudaPointerAttributes a;
        OK(cudaSetDevice(d));
        OK(cudaGetDevice(&device));
        ck_assert_int_eq(device, d);
        OK(cudaMalloc(&p, 100));
        OK(cudaPointerGetAttributes(&a, p));
        ck_assert_int_eq(a.device, d);
    }
    WANT(cudaErrorInvalidDevice, cudaSetDevice(3));
    WANT(cudaErrorInvalidDevice, cudaSetDevice(-1));
    OK(cudaGetDevice(&device));
    ck_assert_int_eq(device, 2);
    WANT(cudaErrorInvalidValue, cudaGetDeviceCount(NULL));
    WANT(cudaErrorInvalidValue, cudaGetDevice(NULL));
}
END_TEST

static void *device_of_thread(void *unused)
{
    int device = -1;
    OK(cudaGetDevice(&device));
    ck_assert_int_eq(device, 0);
    OK(cudaSetDevice(1));
    return unused;
}

START_TEST(the_device_is_the_threads_own)
{
    pthread_t thread;
    int device;
    devices("2");
    OK(cudaSetDevice(1));
    ck_assert_int_eq(pthread_create(&thread, NULL, device_of_thread, NULL), 0);
    pthread_join(thread, NULL);
    OK(cudaSetDevice(0));
    OK(cudaGetDevice(&device));
    ck_assert_int_eq(device, 0);
}
END_TEST

static int attribute(enum cudaDeviceAttr which)
{
    int value = -1;
    OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

START_TEST(properties_and_attributes_agree)
{
    struct cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0));
    ck_assert_uint_gt(strlen(p.name), 3);
    ck_assert_int_eq(p.warpSize, 32);
    ck_assert_uint_gt(p.totalGlobalMem, MIB);
    ck_assert_int_eq(p.major, attribute(cudaDevAttrComputeCapabilityMajor));
    ck_assert_int_eq(p.minor, attribute(cudaDevAttrComputeCapabilityMinor));
    ck_assert_int_eq(p.multiProcessorCount,
                     attribute(cudaDevAttrMultiProcessorCount));
    ck_assert_int_eq(p.maxThreadsPerBlock,
                     attribute(cudaDevAttrMaxThreadsPerBlock));
    ck_assert_int_eq(p.maxThreadsDim[2], attribute(cudaDevAttrMaxBlockDimZ));
    ck_assert_int_eq(p.maxGridSize[1], attribute(cudaDevAttrMaxGridDimY));
    ck_assert_int_eq((int)p.sharedMemPerBlock,
                     attribute(cudaDevAttrMaxSharedMemoryPerBlock));
    ck_assert_int_eq((int)p.sharedMemPerBlockOptin,
                     attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    ck_assert_int_eq((int)p.totalConstMem,
                     attribute(cudaDevAttrTotalConstantMemory));
    ck_assert_int_eq(p.canMapHostMemory,
                     attribute(cudaDevAttrCanMapHostMemory));
    ck_assert_int_eq(p.unifiedAddressing, 1);
    ck_assert_int_eq(p.cooperativeLaunch,
                     attribute(cudaDevAttrCooperativeLaunch));
}
END_TEST

START_TEST(a_device_that_is_none_changes_nothing)
{
    struct cudaDeviceProp p, before;
    int value = 5;
    memset(&p, 0xa5, sizeof p);
    before = p;
    WANT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, 7));
    WANT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, -1));
    ck_assert_mem_eq(&p, &before, sizeof p);
    WANT(cudaErrorInvalidDevice,
         cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7));
    WANT(cudaErrorInvalidValue,
         cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0));
    WANT(cudaErrorInvalidValue,
         cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    WANT(cudaErrorInvalidValue, cudaGetDeviceProperties(NULL, 0));
    ck_assert_int_eq(value, 5);
}
END_TEST

START_TEST(a_bus_address_names_its_device)
{
    char bus[32];
    int device = -1;
    devices("2");
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
    OK(cudaDeviceGetByPCIBusId(&device, bus));
    ck_assert_int_eq(device, 1);
    WANT(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(bus, 3, 1));
    WANT(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, "nonsense"));
}
END_TEST

START_TEST(a_reset_device_starts_afresh)
{
    uint32_t *p, got = 0;
    size_t before, after, total;
    register_kernels();
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc((void **)&p, 32 * MIB));
    OK(cudaMemset(p, 0, 4));
    OK(launch_add(count_of(1), count_of(1), p, 1, 1, NULL));
    OK(cudaMemcpyToSymbol(counter, &(uint32_t){77}, 4, 0,
                          cudaMemcpyHostToDevice));
    OK(cudaDeviceReset());
    OK(cudaMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
    OK(cudaMemcpyFromSymbol(&got, counter, 4, 0, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(got, 1);
    OK(cudaMalloc((void **)&p, 4));
    OK(cudaMemset(p, 0, 4));
    OK(launch_add(count_of(1), count_of(1), p, 1, 6, NULL));
    OK(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(got, 6);
}
END_TEST

static void sleep_a_while(void *unused)
{
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

START_TEST(copy_between_peers_waits_for_the_work_of_both)
{
    struct cudaMemcpy3DPeerParms shape = {.srcDevice = 1, .dstDevice = 0};
    uint32_t *a, *b, *c, host = 0;
    devices("2");
    OK(cudaMalloc((void **)&a, 4));
    OK(cudaMalloc((void **)&c, 4));
    OK(cudaLaunchHostFunc(NULL, sleep_a_while, NULL));
    OK(cudaMemsetAsync(a, 5, 4, NULL));
    OK(cudaSetDevice(1));
    OK(cudaMalloc((void **)&b, 4));
    OK(cudaMemcpyPeer(b, 1, a, 0, 4));
    OK(cudaMemcpy(&host, b, 4, cudaMemcpyDefault));
    ck_assert_uint_eq(host, 0x05050505);
    OK(cudaLaunchHostFunc(NULL, sleep_a_while, NULL));
    OK(cudaMemsetAsync(b, 6, 4, NULL));
    OK(cudaSetDevice(0));
    shape.srcPtr = (struct cudaPitchedPtr){b, 4, 4, 1};
    shape.dstPtr = (struct cudaPitchedPtr){c, 4, 4, 1};
    shape.extent = (struct cudaExtent){4, 1, 1};
    OK(cudaMemcpy3DPeer(&shape));
    OK(cudaMemcpy(&host, c, 4, cudaMemcpyDefault));
    ck_assert_uint_eq(host, 0x06060606);
}
END_TEST

START_TEST(peers_copy_and_read_each_other)
{
    enum { N = 1000 };
    uint32_t *a, *b, host[N];
    int can = 0;
    devices("2");
    register_kernels();
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    ck_assert_int_eq(can, 1);
    OK(cudaMalloc((void **)&a, sizeof host));
    OK(cudaMemset(a, 1, sizeof host));
    OK(cudaSetDevice(1));
    OK(cudaMalloc((void **)&b, sizeof host));
    OK(cudaMemcpyPeer(b, 1, a, 0, sizeof host));
    OK(launch_add(count_of(4), count_of(256), b, N, 1, NULL));
    WANT(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
    OK(cudaDeviceEnablePeerAccess(0, 0));
    WANT(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(0, 0));
    WANT(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
    WANT(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(9, 0));
    /* a kernel of device 1 on memory of device 0 */
    OK(launch_add(count_of(4), count_of(256), a, N, 2, NULL));
    OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDefault));
    ck_assert(host[0] == 0x01010103 && host[N - 1] == 0x01010103);
    OK(cudaMemcpyPeerAsync(a, 0, b, 1, sizeof host, NULL));
    OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDefault));
    ck_assert(host[0] == 0x01010102 && host[N - 1] == 0x01010102);
    OK(cudaDeviceDisablePeerAccess(0));
}
END_TEST

START_TEST(limits_and_flags_are_kept)
{
    size_t value = 0;
    unsigned flags = 0;
    OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    OK(cudaGetDeviceFlags(&flags));
    ck_assert_uint_eq(flags & cudaDeviceScheduleMask, cudaDeviceScheduleYield);
    WANT(cudaErrorInvalidValue, cudaSetDeviceFlags(0x10000));
    WANT(cudaErrorInvalidValue,
         cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceScheduleSpin));
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    ck_assert_uint_ge(value, 4096);
    WANT(cudaErrorInvalidValue, cudaDeviceSetLimit((enum cudaLimit)77, 1));
    WANT(cudaErrorInvalidValue, cudaDeviceGetLimit(NULL, cudaLimitStackSize));
}
END_TEST

START_TEST(versions_are_those_of_the_interface)
{
    int driver = 0, runtime = 0;
    OK(cudaDriverGetVersion(&driver));
    OK(cudaRuntimeGetVersion(&runtime));
    ck_assert_int_ge(driver, runtime);
    ck_assert_int_eq(runtime / 1000, 13);
    WANT(cudaErrorInvalidValue, cudaRuntimeGetVersion(NULL));
    WANT(cudaErrorInvalidValue, cudaDriverGetVersion(NULL));
}
END_TEST

START_TEST(entry_points_of_the_driver_are_found)
{
    enum cudaDriverEntryPointQueryResult status;
    void *call = NULL;
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &call, 12000,
                                        cudaEnableDefault, &status));
    ck_assert_ptr_nonnull(call);
    ck_assert_int_eq(status, cudaDriverEntryPointSuccess);
    OK(cudaGetDriverEntryPointByVersion("cuNothing", &call, 12000,
                                        cudaEnableDefault, &status));
    ck_assert_int_eq(status, cudaDriverEntryPointSymbolNotFound);
    WANT(cudaErrorInvalidValue,
         cudaGetDriverEntryPointByVersion("", &call, 12000, cudaEnableDefault,
                                          &status));
}
END_TEST

SUITE_MAIN("cudart_device", 60, every_device_is_counted_and_chosen,
           the_device_is_the_threads_own, properties_and_attributes_agree,
           a_device_that_is_none_changes_nothing,
           a_bus_address_names_its_device, a_reset_device_starts_afresh,
           copy_between_peers_waits_for_the_work_of_both,
           peers_copy_and_read_each_other, limits_and_flags_are_kept,
           versions_are_those_of_the_interface,
           entry_points_of_the_driver_are_found)
