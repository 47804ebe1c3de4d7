/*
 * adsmReduce and adsmScan on one device, beside kernels of the same algorithm
 * written by hand and launched through the driver API, and beside C with OpenMP
 * on the host. Data are where they are used; every sample waits for its end, and
 * a run whose three results differ by more than rounding fails.
 *
 * OpenMP's threads are to sleep when they have nothing to do: for some
 * milliseconds they would take a processor from what is measured next. They are
 * told by the environment, which is read before main.
 */
#include "adsm_skeleton.h"

#include "bench/micro/bench.h"
#include "bench/softcuda/device.h"
#include "host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char ptx[] =
#include "fold_ptx.inc"
    ;

enum { SUM = 8192, SCAN = 1024, DEEP = 4 };

static struct {
    long n;
    float *x, *y, *sum;                      /* shared */
    float *host_x, *host_y;                  /* the host's */
    CUdeviceptr dev_x, dev_y, partial[DEEP]; /* the driver's */
    CUfunction sum_chunks, sum_short, scan_chunks;
} b;

static void must(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "bench_fold: %s: %s\n", adsmErrorName(status),
            adsmErrorDetail());
    exit(3);
}

static void launch(CUfunction f, long warps, void **args)
{
    unsigned blocks = (unsigned)((warps + 7) / 8);
    CHECK(cuLaunchKernel(f, blocks, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
}

/* ---- by hand ------------------------------------------------------------------ */

static CUdeviceptr hand_sum(void)
{
    CUdeviceptr in = b.dev_x;
    for (long n = b.n, k = 0; n > 1; k++) {
        long out = (n + SUM - 1) / SUM;
        launch(b.sum_chunks, out, (void *[]){&in, &b.partial[k], &n});
        in = b.partial[k];
        n = out;
    }
    return in;
}

static void hand_scan(CUdeviceptr in, CUdeviceptr out, long n, int exclusive,
                      int depth)
{
    long chunks = (n + SCAN - 1) / SCAN;
    CUdeviceptr before = 0;
    if (chunks > 1) {
        before = b.partial[depth];
        launch(b.sum_short, chunks, (void *[]){&in, &before, &n});
        hand_scan(before, before, chunks, 1, depth + 1);
    }
    launch(b.scan_chunks, chunks,
           (void *[]){&in, &before, &out, &n, &exclusive});
}

/* ---- samples -------------------------------------------------------------------- */

static const adsmOpts waits = {.devices = 1, .sync = 1};

static void adsm_sum_once(void)
{
    must(adsmReduce(adsmOperatorOf(ADSM_SUM, ADSM_F32), b.sum, b.x, adsmR1(b.n),
                    -1, &waits));
}

static void adsm_scan_once(void)
{
    must(
        adsmScan(adsmOperatorOf(ADSM_SUM, ADSM_F32), b.y, b.x, b.n, 0, &waits));
}

static void hand_sum_once(void)
{
    (void)hand_sum();
    CHECK(cuCtxSynchronize());
}

static void hand_scan_once(void)
{
    hand_scan(b.dev_x, b.dev_y, b.n, 0, 0);
    CHECK(cuCtxSynchronize());
}

static volatile float kept;

static void host_sum_once(void)
{
    kept = host_sum(b.host_x, b.n);
}

static void host_scan_once(void)
{
    host_scan(b.host_x, b.host_y, b.n);
}

static double ms(void (*once)(void))
{
    uint64_t start = bench_now();
    once();
    return (double)(bench_now() - start) / 1e6;
}

static void measure(const char *what, void (*ours)(void), void (*hand)(void),
                    void (*host)(void))
{
    struct bench_samples times[3] = {{.count = 0}};
    void (*const once[])(void) = {ours, hand, host};
    char name[64];
    for (int s = 0; s < 3; s++)
        once[s]();
    for (int i = 0; i < bench_reps(); i++)
        for (int s = 0; s < 3; s++)
            bench_add(&times[s], ms(once[s]));
    snprintf(name, sizeof name, "%s/%ldMi", what, b.n >> 20);
    bench_report(name, "ms", &times[0], "kernels by hand", &times[1]);
    bench_report(name, "ms", &times[0], "gcc -O3, OpenMP", &times[2]);
}

/* ---- data, and whether all agree ---------------------------------------------------- */

static void set_up(void)
{
    size_t bytes = (size_t)b.n * sizeof(float);
    b.x = adsmAlloc(bytes);
    b.y = adsmAlloc(bytes);
    b.sum = adsmAlloc(64);
    b.host_x = malloc(bytes);
    b.host_y = malloc(bytes);
    if (!b.x || !b.y || !b.sum || !b.host_x || !b.host_y) {
        fprintf(stderr, "bench_fold: no memory: %s\n", adsmErrorDetail());
        exit(3);
    }
    for (long i = 0; i < b.n; i++)
        b.x[i] = b.host_x[i] = (float)(i * 61 % 1000) / 1000 - 0.4995f;
    device_start();
    b.sum_chunks = device_kernel(ptx, "sum_chunks");
    b.sum_short = device_kernel(ptx, "sum_short");
    b.scan_chunks = device_kernel(ptx, "scan_chunks");
    CHECK(cuMemAlloc(&b.dev_x, bytes));
    CHECK(cuMemAlloc(&b.dev_y, bytes));
    for (int i = 0; i < DEEP; i++)
        CHECK(cuMemAlloc(&b.partial[i], bytes / SCAN + 64));
    CHECK(cuMemcpyHtoD(b.dev_x, b.host_x, bytes));
}

static void agree(const char *what, float ours, float hand, float host)
{
    bool same = ours == hand;
    if (same && fabsf(ours - host) <= 1 + fabsf(ours) * 1e-3f)
        return;
    fprintf(stderr, "bench_fold: %s: %.9g, by hand %.9g, on the host %.9g\n",
            what, ours, hand, host);
    exit(4);
}

static void check(void)
{
    float hand;
    CHECK(cuMemcpyDtoH(&hand, hand_sum(), sizeof hand));
    agree("sum", b.sum[0], hand, kept);
    const long at[] = {0, b.n / 3, b.n - 1};
    hand_scan_once();
    for (int i = 0; i < 3; i++) {
        CHECK(cuMemcpyDtoH(&hand, b.dev_y + (size_t)at[i] * sizeof hand,
                           sizeof hand));
        agree("scan", b.y[at[i]], hand, b.host_y[at[i]]);
    }
}

int main(int argc, char **argv)
{
    if (!getenv("OMP_WAIT_POLICY")) {
        setenv("OMP_WAIT_POLICY", "passive", 1);
        execv("/proc/self/exe", argv);
    }
    bench_start(argc, argv, "fold");
    setenv("SOFTCUDA_MEMORY", "1G", 0);
    setenv("SOFTCUDA_NATIVE", "wait", 0);
    b.n = bench_quick() ? 1 << 20 : 1 << 24;
    set_up();
    measure("sum", adsm_sum_once, hand_sum_once, host_sum_once);
    measure("scan", adsm_scan_once, hand_scan_once, host_scan_once);
    check();
    return 0;
}
