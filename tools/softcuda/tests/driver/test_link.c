/*
 * The throttled link: rate, full duplex, byte counters.
 */
#include <softcuda.h>

#include "tests/driver/driver_test.h"

#define BYTES (24 * MIB)

struct transfer {
    CUdeviceptr device;
    uint8_t *host;
    CUstream stream;
};

static struct transfer prepare(void)
{
    struct transfer t;
    OK(cuMemAlloc(&t.device, BYTES));
    OK(cuMemHostAlloc((void **)&t.host, BYTES, 0));
    OK(cuStreamCreate(&t.stream, CU_STREAM_NON_BLOCKING));
    memset(t.host, 1, BYTES);
    OK(cuMemcpyHtoD(t.device, t.host, BYTES));
    OK(cuCtxSynchronize());
    return t;
}

START_TEST(rate_is_kept_in_each_direction)
{
    setenv("SOFTCUDA_LINK", "200MB/s", 1);
    begin();
    struct transfer t = prepare();
    double want = (double)BYTES / 200e6 * 1e3;
    double start = now_ms();
    OK(cuMemcpyHtoD(t.device, t.host, BYTES));
    double up = now_ms() - start;
    start = now_ms();
    OK(cuMemcpyDtoHAsync(t.host, t.device, BYTES, t.stream));
    OK(cuStreamSynchronize(t.stream));
    double down = now_ms() - start;
    ck_assert_msg(up > want * 0.95 && up < want * 1.3, "up %g of %g", up, want);
    ck_assert_msg(down > want * 0.95 && down < want * 1.3, "down %g of %g",
                  down, want);
}
END_TEST

START_TEST(each_device_has_a_rate_of_its_own)
{
    static const double rate[] = {200e6, 100e6, 100e6};
    setenv("SOFTCUDA_DEVICES", "3", 1);
    setenv("SOFTCUDA_LINK", "200MB/s,100MB/s", 1);
    begin();
    for (int d = 0; d < 3; d++) {
        CUcontext context;
        OK(cuCtxCreate(&context, NULL, 0, d));
        struct transfer t = prepare();
        double want = (double)BYTES / rate[d] * 1e3;
        double start = now_ms();
        OK(cuMemcpyHtoD(t.device, t.host, BYTES));
        double up = now_ms() - start;
        ck_assert_msg(up > want * 0.95 && up < want * 1.3, "%d: up %g of %g", d,
                      up, want);
        OK(cuCtxDestroy(context));
    }
}
END_TEST

START_TEST(directions_overlap)
{
    setenv("SOFTCUDA_LINK", "200MB/s", 1);
    begin();
    struct transfer a = prepare(), b = prepare();
    double want = (double)BYTES / 200e6 * 1e3;
    double start = now_ms();
    OK(cuMemcpyHtoDAsync(a.device, a.host, BYTES, a.stream));
    OK(cuMemcpyDtoHAsync(b.host, b.device, BYTES, b.stream));
    OK(cuStreamSynchronize(a.stream));
    OK(cuStreamSynchronize(b.stream));
    double both = now_ms() - start;
    ck_assert_msg(both < want * 1.5, "%g ms for both, %g for one", both, want);
    start = now_ms();
    OK(cuMemcpyHtoDAsync(a.device, a.host, BYTES, a.stream));
    OK(cuMemcpyHtoDAsync(b.device, b.host, BYTES, b.stream));
    OK(cuStreamSynchronize(a.stream));
    OK(cuStreamSynchronize(b.stream));
    both = now_ms() - start;
    ck_assert_msg(both > want * 1.9, "one direction carried twice its rate");
}
END_TEST

START_TEST(counters_see_what_crossed_the_link)
{
    struct softcuda_stats before, after;
    begin();
    struct transfer t = prepare();
    ck_assert_int_eq(softcudaStats(0, &before), 0);
    OK(cuMemcpyHtoD(t.device, t.host, 1000));
    OK(cuMemcpyDtoH(t.host, t.device, 70));
    OK(cuMemcpyDtoD(t.device, t.device + MIB, 5000));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(softcudaStats(0, &after), 0);
    ck_assert_uint_eq(after.upload_bytes - before.upload_bytes, 1000);
    ck_assert_uint_eq(after.download_bytes - before.download_bytes, 70);
    ck_assert_int_eq(softcudaStats(5, &after), -1);
}
END_TEST

SUITE_MAIN("softcuda driver: link", 30, rate_is_kept_in_each_direction,
           each_device_has_a_rate_of_its_own, directions_overlap,
           counters_see_what_crossed_the_link)
