/*
 * Memory, contexts, streams and threads that do not live equally long or in
 * step: contexts pushed and popped in threads, memory of one thread used in
 * another, streams of threads, events between streams, graphs launched again
 * and again, contexts and the primary context ended under their memory.
 *
 *   explicit   memory is filled and looked at by copies
 *   touch      by the CPU, through the device pointer
 */
#include "victim.h"

#include <pthread.h>

enum { WORDS = 60013, SMALL = 113, ROUNDS = 8, THREADS = 4, CONTEXTS = 2 };

static bool touch;

/* What belongs to a context. */
struct place {
    CUcontext context;
    CUfunction step;
    CUdeviceptr words, few;
    uint64_t seen;
    uint32_t host[WORDS];
};

static struct place places[CONTEXTS];

static CUresult (*launch_own)(CUfunction, unsigned, unsigned, unsigned,
                              unsigned, unsigned, unsigned, unsigned, CUstream,
                              void **, void **);
static CUresult (*wait_own)(CUstream);
static CUresult (*copy_own)(void *, CUdeviceptr, size_t);
static CUresult (*fill_own)(CUdeviceptr, const void *, size_t);

static void find_own(const char *name, void *function)
{
    CUdriverProcAddressQueryResult found;
    CHECK(cuGetProcAddress(name, function, 12000,
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                           &found));
}

static void fill(CUdeviceptr words, uint32_t *host, unsigned n, unsigned seed)
{
    volatile uint32_t *to = touch ? (uint32_t *)words : host;
    for (unsigned i = 0; i < n; i++)
        to[i] = i * 5 + seed;
    if (!touch)
        CHECK(fill_own(words, host, n * 4));
}

static uint64_t sum(CUdeviceptr words, uint32_t *host, unsigned n)
{
    if (touch)
        return victim_hash((const uint8_t *)words, n * 4);
    CHECK(copy_own(host, words, n * 4));
    return victim_hash((const uint8_t *)host, n * 4);
}

static void launch(struct place *place, CUdeviceptr words, unsigned n,
                   unsigned k, CUstream stream)
{
    void *params[] = {&words, &n, &k};
    CHECK(cuLaunchKernel(place->step, (n + 127) / 128, 1, 1, 128, 1, 1, 0,
                         stream, params, NULL));
}

static void load(struct place *place)
{
    CUmodule module;
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&place->step, module, "step"));
    CHECK(cuMemAlloc(&place->words, WORDS * 4));
    CHECK(cuMemAlloc(&place->few, SMALL * 4));
    CHECK(cuMemsetD32(place->words, 3, WORDS));
    CHECK(cuMemsetD32(place->few, 4, SMALL));
    CHECK(cuCtxSynchronize());
}

/* ---- threads, contexts ---------------------------------------------------- */

struct worker {
    pthread_t thread;
    struct place *place;
    CUdeviceptr own; /* handed on to the next thread of its context */
    unsigned number;
    uint64_t seen;
    uint32_t host[SMALL];
};

static struct worker workers[THREADS];

/* Streams of the thread alone; its context is there only meanwhile. */
static void *work(void *data)
{
    struct worker *w = data;
    CUcontext popped;
    unsigned n = SMALL, k = w->number;
    CHECK(cuCtxPushCurrent(w->place->context));
    CHECK(cuMemAlloc(&w->own, SMALL * 4));
    for (unsigned round = 0; round < ROUNDS; round++) {
        void *params[] = {&w->own, &n, &k};
        fill(w->own, w->host, SMALL, round + w->number);
        CHECK(launch_own(w->place->step, 1, 1, 1, 128, 1, 1, 0, NULL, params,
                         NULL));
        CHECK(launch_own(w->place->step, 1, 1, 1, 128, 1, 1, 0, NULL, params,
                         NULL));
        if (round % 2)
            CHECK(wait_own(NULL));
        w->seen = w->seen * 31 + sum(w->own, w->host, SMALL);
    }
    CHECK(cuCtxPopCurrent(&popped));
    if (popped != w->place->context)
        w->seen = 0;
    return NULL;
}

/* What one thread made another uses and frees, from the same context. */
static void *take_over(void *data)
{
    struct worker *w = data;
    struct worker *from = &workers[(w->number + CONTEXTS) % THREADS];
    CUcontext popped;
    CHECK(cuCtxPushCurrent(w->place->context));
    launch(w->place, from->own, SMALL, 77, NULL);
    CHECK(cuStreamSynchronize(NULL));
    w->seen = w->seen * 31 + sum(from->own, w->host, SMALL);
    CHECK(cuMemFree(from->own));
    CHECK(cuCtxPopCurrent(&popped));
    return NULL;
}

static void run(void *(*body)(void *))
{
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].place = &places[i % CONTEXTS];
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i]) != 0)
            exit(4);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("thread %u %llx\n", i, (unsigned long long)workers[i].seen);
    }
}

/* ---- streams, events, graphs ---------------------------------------------- */

/* A chain over three streams; the CPU reads what the first has done while the
 * others go on with something else. */
static void events(struct place *place)
{
    CUstream streams[3];
    CUevent done[3];
    CUdeviceptr other;
    CHECK(cuMemAlloc(&other, WORDS * 4));
    CHECK(cuMemsetD32(other, 9, WORDS));
    CHECK(cuCtxSynchronize());
    for (int i = 0; i < 3; i++) {
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuEventCreate(&done[i], CU_EVENT_DISABLE_TIMING));
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        launch(place, place->words, WORDS, round, streams[0]);
        CHECK(cuEventRecord(done[0], streams[0]));
        CHECK(cuStreamWaitEvent(streams[1], done[0], 0));
        launch(place, place->words, WORDS, 1, streams[1]);
        CHECK(cuEventRecord(done[1], streams[1]));
        launch(place, other, WORDS, 2, streams[2]);
        CHECK(cuEventRecord(done[2], streams[2]));
        CHECK(cuEventSynchronize(done[1]));
        printf("event %u %llx\n", round,
               (unsigned long long)sum(place->words, place->host, WORDS));
        CHECK(cuStreamWaitEvent(streams[0], done[2], 0));
        CHECK(cuMemcpyDtoDAsync(other, place->words, WORDS * 2, streams[0]));
        while (cuStreamQuery(streams[0]) == CUDA_ERROR_NOT_READY)
            continue;
        printf("other %llx\n",
               (unsigned long long)sum(other, place->host, WORDS));
    }
    for (int i = 0; i < 3; i++) {
        CHECK(cuStreamDestroy(streams[i]));
        CHECK(cuEventDestroy(done[i]));
    }
    CHECK(cuMemFree(other));
}

/* Captured once; what the CPU wrote before each launch is what it works on. */
static void graph(struct place *place)
{
    CUstream stream;
    CUgraph captured;
    CUgraphExec exec;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(place, place->words, WORDS, 5, stream);
    CHECK(cuMemcpyDtoDAsync(place->few, place->words + 400, SMALL * 4, stream));
    launch(place, place->few, SMALL, 6, stream);
    CHECK(cuStreamEndCapture(stream, &captured));
    CHECK(cuGraphInstantiate(&exec, captured, 0));
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(place->words, place->host, round % 2 ? WORDS : 150, round);
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        printf("graph %llx",
               (unsigned long long)sum(place->few, place->host, SMALL));
        printf(" %llx\n",
               (unsigned long long)sum(place->words, place->host, WORDS));
    }
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(captured));
    CHECK(cuStreamDestroy(stream));
}

/* ---- ends ------------------------------------------------------------------- */

/* The other contexts' memory is as it was, and the same addresses serve again
 * in a new context. */
static void end_contexts(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct place *doomed = &places[round % CONTEXTS];
        struct place *kept = &places[(round + 1) % CONTEXTS];
        CUdeviceptr gone = doomed->words;
        CHECK(cuCtxSetCurrent(doomed->context));
        fill(doomed->words, doomed->host, 1000, round);
        launch(doomed, doomed->words, WORDS, round, NULL);
        CHECK(cuCtxDestroy(doomed->context));
        CHECK(cuCtxSetCurrent(kept->context));
        printf("gone %d", cuMemFree(gone));
        launch(kept, kept->words, WORDS, round, NULL);
        CHECK(cuCtxSynchronize());
        printf(" kept %llx\n",
               (unsigned long long)sum(kept->words, kept->host, WORDS));
        CHECK(cuCtxCreate(&doomed->context, NULL, 0, 0));
        load(doomed);
    }
}

/* Reset under live memory, held or let go; then everything once more. */
static void end_primary(void)
{
    static struct place primary;
    for (unsigned round = 0; round < ROUNDS; round++) {
        CHECK(cuDevicePrimaryCtxRetain(&primary.context, 0));
        CHECK(cuCtxSetCurrent(primary.context));
        load(&primary);
        fill(primary.words, primary.host, WORDS, round);
        launch(&primary, primary.words, WORDS, round, NULL);
        if (round % 2) {
            CHECK(cuCtxSynchronize());
            printf("primary %llx\n",
                   (unsigned long long)sum(primary.words, primary.host, WORDS));
        }
        if (round % 3 != 2)
            CHECK(cuDevicePrimaryCtxReset(0));
        CHECK(cuDevicePrimaryCtxRelease(0));
    }
}

int main(int argc, char **argv)
{
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    CHECK(cuInit(0));
    find_own("cuLaunchKernel", (void *)&launch_own);
    find_own("cuStreamSynchronize", (void *)&wait_own);
    find_own("cuMemcpyDtoH", (void *)&copy_own);
    find_own("cuMemcpyHtoD", (void *)&fill_own);
    for (int i = 0; i < CONTEXTS; i++) {
        CHECK(cuCtxCreate(&places[i].context, NULL, 0, 0));
        load(&places[i]);
    }
    run(work);
    run(take_over);
    CHECK(cuCtxSetCurrent(places[0].context));
    events(&places[0]);
    graph(&places[0]);
    end_contexts();
    end_primary();
    return 0;
}
