/*
 * Copies between arrays and memory of the host, which no CPU has touched before:
 * in one row, in rows and in layers, at once and in a stream; while nothing else
 * is shared, and while something is.
 *
 *   plain    it is the host's
 *   device   it is the device's, at its device pointer
 */
#include "victim.h"

enum { WIDTH = 64, HEIGHT = 24, LAYERS = 5 };
enum { ROW = WIDTH * HEIGHT, ALL = ROW * LAYERS, LARGE = 3 << 20 };

static bool device;
static uint8_t pattern[ALL];
static CUstream stream;
static CUarray line, flat, deep;

/* Memory that holds a pattern, and that only the driver has seen. */
static uint8_t *fresh(size_t bytes, unsigned seed)
{
    CUdeviceptr at;
    for (size_t i = 0; i < ALL; i++)
        pattern[i] = victim_byte(i, seed);
    if (!device) {
        uint8_t *memory = malloc(bytes);
        return memcpy(memory, pattern, ALL);
    }
    CHECK(cuMemAlloc(&at, bytes));
    CHECK(cuMemcpyHtoD(at, pattern, ALL));
    return (uint8_t *)at;
}

static void drop(uint8_t *memory)
{
    if (device)
        CHECK(cuMemFree((CUdeviceptr)memory));
    else
        free(memory);
}

/* What is there now, by the driver's word and by the CPU's. */
static void show(const char *what, uint8_t *memory)
{
    uint8_t copy[ALL];
    CHECK(cuStreamSynchronize(stream));
    if (device)
        CHECK(cuMemcpyDtoH(copy, (CUdeviceptr)memory, ALL));
    else
        memcpy(copy, memory, ALL);
    printf("%s %016llx %016llx\n", what,
           (unsigned long long)victim_hash(copy, ALL),
           (unsigned long long)victim_hash(memory, ALL));
    drop(memory);
}

static CUarray make(unsigned width, unsigned height, unsigned depth)
{
    CUDA_ARRAY3D_DESCRIPTOR form = {.Width = width,
                                    .Height = height,
                                    .Depth = depth,
                                    .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                    .NumChannels = 1};
    CUarray array;
    CHECK(cuArray3DCreate(&array, &form));
    return array;
}

static void in_one_row(size_t bytes, bool later, unsigned seed)
{
    uint8_t *from = fresh(bytes, seed), *to = fresh(bytes, seed + 1);
    if (later) {
        CHECK(cuMemcpyHtoAAsync(line, 3, from + 5, ROW - 9, stream));
        CHECK(cuMemcpyAtoHAsync(to + 11, line, 3, ROW - 40, stream));
    } else {
        CHECK(cuMemcpyHtoA(line, 3, from + 5, ROW - 9));
        CHECK(cuMemcpyAtoH(to + 11, line, 3, ROW - 40));
    }
    show("row from", from);
    show("row to", to);
}

static void in_rows(size_t bytes, int how, unsigned seed)
{
    uint8_t *from = fresh(bytes, seed), *to = fresh(bytes, seed + 1);
    CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = from,
                        .srcPitch = 71,
                        .srcY = 2,
                        .srcXInBytes = 3,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = flat,
                        .dstY = 1,
                        .WidthInBytes = WIDTH - 7,
                        .Height = HEIGHT - 4};
    CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = flat,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = 80,
                          .dstY = 1,
                          .WidthInBytes = WIDTH,
                          .Height = HEIGHT};
    if (how == 0) {
        CHECK(cuMemcpy2D(&up));
        CHECK(cuMemcpy2D(&down));
    } else if (how == 1) {
        CHECK(cuMemcpy2DUnaligned(&up));
        CHECK(cuMemcpy2DUnaligned(&down));
    } else {
        CHECK(cuMemcpy2DAsync(&up, stream));
        CHECK(cuMemcpy2DAsync(&down, stream));
    }
    show("rows from", from);
    show("rows to", to);
}

static void in_layers(size_t bytes, bool later, unsigned seed)
{
    uint8_t *from = fresh(bytes, seed), *to = fresh(bytes, seed + 1);
    CUDA_MEMCPY3D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = from,
                        .srcPitch = WIDTH,
                        .srcHeight = HEIGHT,
                        .srcZ = 1,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = deep,
                        .WidthInBytes = WIDTH,
                        .Height = HEIGHT - 3,
                        .Depth = LAYERS - 1};
    CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = deep,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = WIDTH,
                          .dstHeight = HEIGHT,
                          .WidthInBytes = WIDTH - 1,
                          .Height = HEIGHT,
                          .Depth = LAYERS};
    if (later) {
        CHECK(cuMemcpy3DAsync(&up, stream));
        CHECK(cuMemcpy3DAsync(&down, stream));
    } else {
        CHECK(cuMemcpy3D(&up));
        CHECK(cuMemcpy3D(&down));
    }
    show("layers from", from);
    show("layers to", to);
}

static void run_all(unsigned seed)
{
    for (int i = 0; i < 2; i++) {
        size_t bytes = i ? LARGE : ALL;
        for (int how = 0; how < 3; how++) {
            if (how < 2)
                in_one_row(bytes, how, seed++);
            in_rows(bytes, how, seed++);
            if (how < 2)
                in_layers(bytes, how, seed++);
        }
    }
}

int main(int argc, char **argv)
{
    device = argc > 1 && strcmp(argv[1], "device") == 0;
    victim_start();
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    line = make(ROW, 0, 0);
    flat = make(WIDTH, HEIGHT, 0);
    deep = make(WIDTH, HEIGHT, LAYERS);
    run_all(1);
    uint8_t *shared = fresh(ALL, 100);
    shared[7] = 1; /* it stays shared */
    run_all(50);
    show("beside", shared);
    return 0;
}
