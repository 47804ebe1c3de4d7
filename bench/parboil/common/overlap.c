/*
 * Two streams and results in pieces. See overlap.h.
 */
#include "common/overlap.h"

static struct {
    CUstream lane[OVERLAP_LANES];
    CUevent follow, mark[OVERLAP_MARKS], here[2];
    void *piece[2];
    size_t piece_bytes;
} overlap;

/* Order is all they are for: they take no time. */
static void event_make(CUevent *event)
{
    CHECK(cuEventCreate(event, CU_EVENT_DISABLE_TIMING));
}

void overlap_open(size_t piece_bytes)
{
    for (int i = 0; i < OVERLAP_LANES; i++)
        CHECK(cuStreamCreate(&overlap.lane[i], CU_STREAM_NON_BLOCKING));
    event_make(&overlap.follow);
    for (int i = 0; i < OVERLAP_MARKS; i++)
        event_make(&overlap.mark[i]);
    for (int i = 0; i < 2; i++) {
        event_make(&overlap.here[i]);
        overlap.piece[i] = piece_bytes ? pinned_alloc(piece_bytes) : NULL;
    }
    overlap.piece_bytes = piece_bytes;
}

void overlap_close(void)
{
    for (int i = 0; i < OVERLAP_LANES; i++)
        CHECK(cuStreamDestroy(overlap.lane[i]));
    CHECK(cuEventDestroy(overlap.follow));
    for (int i = 0; i < OVERLAP_MARKS; i++)
        CHECK(cuEventDestroy(overlap.mark[i]));
    for (int i = 0; i < 2; i++) {
        CHECK(cuEventDestroy(overlap.here[i]));
        if (overlap.piece[i])
            pinned_free(overlap.piece[i]);
    }
}

void *pinned_alloc(size_t bytes)
{
    void *memory;
    CHECK(cuMemHostAlloc(&memory, bytes, 0));
    return memory;
}

void pinned_free(void *memory)
{
    CHECK(cuMemFreeHost(memory));
}

void overlap_upload(enum overlap_lane lane, void *device, const void *host,
                    size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(cuMemcpyHtoDAsync((CUdeviceptr)device, host, bytes,
                            overlap.lane[lane]));
    bench_copied(bytes, 0);
    bench_enter(before);
}

void overlap_download(enum overlap_lane lane, void *host, const void *device,
                      size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(cuMemcpyDtoHAsync(host, (CUdeviceptr)device, bytes,
                            overlap.lane[lane]));
    bench_copied(0, bytes);
    bench_enter(before);
}

void overlap_clear(enum overlap_lane lane, void *device, size_t bytes)
{
    CHECK(cuMemsetD8Async((CUdeviceptr)device, 0, bytes, overlap.lane[lane]));
}

void overlap_launch(CUfunction kernel, struct bench_dim grid,
                    struct bench_dim block, void **arguments)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y,
                         block.z, 0, overlap.lane[OVERLAP_WORK], arguments,
                         NULL));
    bench_launched();
    bench_enter(before);
}

void overlap_follow(enum overlap_lane later, enum overlap_lane earlier)
{
    CHECK(cuEventRecord(overlap.follow, overlap.lane[earlier]));
    CHECK(cuStreamWaitEvent(overlap.lane[later], overlap.follow, 0));
}

void overlap_wait(enum overlap_lane lane)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(cuStreamSynchronize(overlap.lane[lane]));
    bench_enter(before);
}

void overlap_mark(int mark, enum overlap_lane lane)
{
    CHECK(cuEventRecord(overlap.mark[mark], overlap.lane[lane]));
}

void overlap_reached(int mark)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(cuEventSynchronize(overlap.mark[mark]));
    bench_enter(before);
}

static void output(const void *context, const void *piece, size_t bytes)
{
    (void)context;
    bench_output(piece, bytes);
}

struct overlap_result overlap_output(const void *device)
{
    return (struct overlap_result){.device = device, .use = output};
}

/* Which of the two has the bytes from here on. */
static int piece_of(size_t at)
{
    return (int)(at / overlap.piece_bytes % 2);
}

static void piece_ask(struct overlap_result *result, size_t bytes)
{
    int which = piece_of(result->asked);
    overlap_download(OVERLAP_ASIDE, overlap.piece[which],
                     result->device + result->asked, bytes);
    CHECK(cuEventRecord(overlap.here[which], overlap.lane[OVERLAP_ASIDE]));
    result->asked += bytes;
}

/* The oldest of those under way. */
static void piece_use(struct overlap_result *result)
{
    int which = piece_of(result->used);
    size_t bytes = result->asked - result->used;
    if (bytes > overlap.piece_bytes)
        bytes = overlap.piece_bytes;
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(cuEventSynchronize(overlap.here[which]));
    bench_enter(before);
    result->use(result->context, overlap.piece[which], bytes);
    result->used += bytes;
}

/* Bring as many bytes, in pieces of which two are under way at a time. */
static void bring(struct overlap_result *result, size_t bytes)
{
    while (result->asked < bytes) {
        size_t piece = bytes - result->asked;
        if (piece > overlap.piece_bytes)
            piece = overlap.piece_bytes;
        if (result->asked - result->used > overlap.piece_bytes)
            piece_use(result);
        piece_ask(result, piece);
    }
}

void overlap_ready(struct overlap_result *result, size_t bytes)
{
    bytes -= bytes % overlap.piece_bytes;
    if (bytes <= result->asked)
        return;
    overlap_follow(OVERLAP_ASIDE, OVERLAP_WORK);
    bring(result, bytes);
}

void overlap_finish(struct overlap_result *result, size_t bytes)
{
    overlap_follow(OVERLAP_ASIDE, OVERLAP_WORK);
    bring(result, bytes);
    while (result->used < bytes)
        piece_use(result);
}
