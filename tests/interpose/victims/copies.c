/*
 * A random mix of everything that moves data: copies of odd sizes and offsets
 * of all kinds, sets, rectangles, streams, events, launches.
 *
 *   explicit   plain host buffers and CUDA copies (runs bare)
 *   touch      where host and device meet, the CPU uses the device pointer
 *   libc       ... memcpy, memset and memcmp use it
 *   shared     the host buffers are device allocations, too
 *
 * All print the same sums.
 */
#include "victim.h"

enum { BUFFERS = 6, HOSTS = 3, OPERATIONS = 400, STREAMS = 2 };

enum way { EXPLICIT, TOUCH, LIBC, SHARED };

static enum way way;
static const size_t sizes[BUFFERS] = {1, 300, 4096, 70001, 262144, 1500007};
static const size_t host_bytes = 1500007;
static CUdeviceptr device[BUFFERS];
static uint8_t *host[HOSTS];
static CUstream streams[STREAMS];
static CUevent event;
static CUfunction step;

static uint8_t *host_alloc(size_t bytes)
{
    CUdeviceptr at;
    if (way != SHARED)
        return calloc(1, bytes);
    CHECK(cuMemAlloc(&at, bytes));
    CHECK(cuMemsetD8(at, 0, bytes));
    return (uint8_t *)at;
}

static void begin(void)
{
    CUmodule module;
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    for (int i = 0; i < STREAMS; i++)
        CHECK(cuStreamCreate(&streams[i], i ? CU_STREAM_NON_BLOCKING : 0));
    CHECK(cuEventCreate(&event, 0));
    for (int i = 0; i < BUFFERS; i++) {
        CHECK(cuMemAlloc(&device[i], sizes[i]));
        CHECK(cuMemsetD8(device[i], (unsigned char)i, sizes[i]));
    }
    for (int i = 0; i < HOSTS; i++)
        host[i] = host_alloc(host_bytes);
}

/* ---- where host and device meet ----------------------------------------- */

static void upload(CUdeviceptr to, const uint8_t *from, size_t bytes)
{
    if (way == EXPLICIT || way == SHARED)
        CHECK(cuMemcpyHtoD(to, from, bytes));
    else if (way == LIBC)
        memcpy((void *)to, from, bytes);
    else
        for (size_t i = 0; i < bytes; i++)
            ((volatile uint8_t *)to)[i] = from[i];
}

static void download(uint8_t *to, CUdeviceptr from, size_t bytes)
{
    if (way == EXPLICIT || way == SHARED)
        CHECK(cuMemcpyDtoH(to, from, bytes));
    else if (way == LIBC)
        memmove(to, (void *)from, bytes);
    else
        for (size_t i = 0; i < bytes; i++)
            to[i] = ((volatile uint8_t *)from)[i];
}

static void set(CUdeviceptr to, unsigned char value, size_t bytes)
{
    if (way == EXPLICIT || way == SHARED)
        CHECK(cuMemsetD8(to, value, bytes));
    else if (way == LIBC)
        memset((void *)to, value, bytes);
    else
        for (size_t i = 0; i < bytes; i++)
            ((volatile uint8_t *)to)[i] = value;
}

/* ---- one operation ------------------------------------------------------- */

/* A range of one buffer: begin and length, which is at least 1. */
struct range {
    int buffer;
    size_t at, bytes;
};

static struct range any_range(void)
{
    struct range r;
    r.buffer = (int)victim_random(BUFFERS);
    r.at = victim_random(sizes[r.buffer]);
    r.bytes = 1 + victim_random(sizes[r.buffer] - r.at);
    if (victim_random(8) == 0) {
        r.at = 0;
        r.bytes = sizes[r.buffer];
    }
    return r;
}

static void change_host(int h)
{
    size_t at = victim_random(host_bytes);
    size_t bytes = victim_random(host_bytes - at) % 5000;
    for (size_t i = 0; i < bytes; i++)
        ((volatile uint8_t *)host[h])[at + i] ^= (uint8_t)(i + at);
}

static void copy_inside(void)
{
    struct range a = any_range(), b = any_range();
    size_t bytes = a.bytes < b.bytes ? a.bytes : b.bytes;
    bool same = a.buffer == b.buffer;
    if (same && a.at < b.at + bytes && b.at < a.at + bytes)
        return;
    CUdeviceptr to = device[a.buffer] + a.at, from = device[b.buffer] + b.at;
    switch (victim_random(4)) {
    case 0:
        CHECK(cuMemcpy(to, from, bytes));
        break;
    case 1:
        CHECK(cuMemcpyDtoD(to, from, bytes));
        break;
    case 2:
        CHECK(cuMemcpyDtoDAsync(to, from, bytes, streams[0]));
        break;
    default:
        if (way == LIBC)
            memcpy((void *)to, (void *)from, bytes);
        else
            CHECK(cuMemcpyAsync(to, from, bytes, streams[0]));
    }
}

static void copy_async(int h)
{
    struct range r = any_range();
    size_t at = victim_random(host_bytes - r.bytes + 1);
    CUdeviceptr there = device[r.buffer] + r.at;
    if (victim_random(2)) {
        CHECK(cuMemcpyHtoDAsync(there, host[h] + at, r.bytes, streams[1]));
        CHECK(cuEventRecord(event, streams[1]));
        CHECK(cuStreamWaitEvent(streams[0], event, 0));
    } else {
        CHECK(cuMemcpyDtoHAsync(host[h] + at, there, r.bytes, streams[1]));
    }
    CHECK(cuStreamSynchronize(streams[1]));
}

static void set_wide(void)
{
    struct range r = any_range();
    CUdeviceptr to = device[r.buffer] + r.at / 4 * 4;
    size_t words = r.bytes / 4;
    unsigned value = (unsigned)victim_random(1u << 31);
    if (victim_random(2))
        CHECK(cuMemsetD32(to, value, words));
    else
        CHECK(
            cuMemsetD16Async(to, (unsigned short)value, words * 2, streams[0]));
}

static void rectangle(int h)
{
    CUDA_MEMCPY2D c = {0};
    size_t pitch = 64 + victim_random(2000), rows = 1 + victim_random(40);
    c.WidthInBytes = 1 + victim_random(pitch / 2);
    c.Height = rows;
    size_t extent = pitch * rows + pitch;
    struct range r = {.buffer = 3 + (int)victim_random(3)};
    if (extent > sizes[r.buffer])
        return;
    r.at = victim_random(sizes[r.buffer] - extent + 1);
    size_t at = victim_random(host_bytes - extent);
    bool up = victim_random(2);
    c.srcXInBytes = up ? 0 : victim_random(pitch / 2);
    c.srcY = victim_random(2);
    c.dstXInBytes = up ? victim_random(pitch / 2) : 0;
    c.srcPitch = c.dstPitch = pitch;
    c.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    c.dstMemoryType = up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = host[h] + at;
    c.srcDevice = c.dstDevice = device[r.buffer] + r.at;
    if (victim_random(2)) {
        CHECK(cuMemcpy2DUnaligned(&c));
    } else {
        CHECK(cuMemcpy2DAsync(&c, streams[0]));
        CHECK(cuStreamSynchronize(streams[0]));
    }
}

static void box(int h)
{
    CUDA_MEMCPY3D c = {0};
    size_t pitch = 100 + victim_random(300), height = 1 + victim_random(20);
    size_t depth = 1 + victim_random(8);
    bool up = victim_random(2);
    c.WidthInBytes = 1 + victim_random(100);
    c.Height = height;
    c.Depth = depth;
    c.srcPitch = c.dstPitch = pitch;
    c.srcHeight = c.dstHeight = height + 3;
    size_t extent = pitch * (height + 3) * (depth + 1);
    if (extent > sizes[5])
        return;
    c.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    c.dstMemoryType = up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = host[h] + victim_random(host_bytes - extent);
    c.srcDevice = c.dstDevice = device[5] + victim_random(sizes[5] - extent);
    c.dstZ = up;
    c.srcY = up ? 0 : 2;
    CHECK(cuMemcpy3D(&c));
}

static void launch(void)
{
    int b = 3 + (int)victim_random(BUFFERS - 3);
    unsigned n = (unsigned)(sizes[b] / 4), k = (unsigned)victim_random(1000);
    void *params[] = {&device[b], &n, &k};
    CHECK(cuLaunchKernel(step, (n + 255) / 256, 1, 1, 256, 1, 1, 0,
                         victim_random(2) ? streams[0] : NULL, params, NULL));
}

static void wait_some(void)
{
    switch (victim_random(3)) {
    case 0:
        CHECK(cuCtxSynchronize());
        break;
    case 1:
        CHECK(cuStreamSynchronize(streams[0]));
        break;
    default:
        CHECK(cuEventRecord(event, streams[0]));
        CHECK(cuEventSynchronize(event));
    }
}

static void operate(void)
{
    int h = (int)victim_random(HOSTS);
    struct range r = any_range();
    size_t at = victim_random(host_bytes - r.bytes + 1);
    switch (victim_random(12)) {
    case 0:
        change_host(h);
        break;
    case 1:
    case 2:
        upload(device[r.buffer] + r.at, host[h] + at, r.bytes);
        break;
    case 3:
    case 4:
        download(host[h] + at, device[r.buffer] + r.at, r.bytes);
        break;
    case 5:
        set(device[r.buffer] + r.at, (unsigned char)h, r.bytes);
        break;
    case 6:
        copy_inside();
        break;
    case 7:
        copy_async(h);
        break;
    case 8:
        set_wide();
        break;
    case 9:
        rectangle(h);
        break;
    case 10:
        box(h);
        break;
    default:
        launch();
    }
}

static void print_sums(int after)
{
    static uint8_t seen[1500007];
    printf("%d:", after);
    for (int i = 0; i < BUFFERS; i++) {
        download(seen, device[i], sizes[i]);
        printf(" %016llx", (unsigned long long)victim_hash(seen, sizes[i]));
    }
    for (int i = 0; i < HOSTS; i++)
        printf(" %016llx",
               (unsigned long long)victim_hash(host[i], host_bytes));
    printf("\n");
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"explicit", "touch", "libc", "shared"};
    for (int i = 0; argc > 1 && i < 4; i++)
        if (strcmp(argv[1], ways[i]) == 0)
            way = (enum way)i;
    begin();
    for (int i = 1; i <= OPERATIONS; i++) {
        operate();
        /* Streams are not ordered with the CPU's use of plain buffers. */
        wait_some();
        CHECK(cuCtxSynchronize());
        if (i % 40 == 0)
            print_sums(i);
    }
    for (int i = 0; i < BUFFERS; i++)
        CHECK(cuMemFree(device[i]));
    return 0;
}
