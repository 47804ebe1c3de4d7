/*
 * Host functions of streams and graphs, between kernels that make what they
 * read and kernels that use what they write. Everything is submitted ahead.
 *
 *   explicit   host functions work on a buffer, with copies around them
 *   touch      they use the device pointer itself; so does the program, after
 *              it has waited as bare programs do, and right after submission
 *              where no host function is at it
 */
#include "victim.h"

#include <pthread.h>
#include <unistd.h>

enum { STREAMS = 3, WORDS = 90007, SIDE = 70001, ROUNDS = 12, GRAPHS = 5 };

static bool touch;
static CUfunction step;

/* One stream's data, and what its host functions have seen. */
struct line {
    CUstream stream;
    CUdeviceptr words;
    CUdeviceptr side; /* what only kernels use */
    uint32_t *buffer; /* explicit only */
    uint32_t plain[WORDS];
    unsigned calls;
    uint64_t seen;
};

static struct line lines[STREAMS];

static uint32_t *words_of(struct line *line)
{
    return touch ? (uint32_t *)line->words : line->buffer;
}

static void see(struct line *line, const void *at, size_t bytes)
{
    line->seen = line->seen * 31 + victim_hash(at, bytes);
    line->calls++;
}

/* Reads all, writes nothing. */
static void read_all(void *data)
{
    struct line *line = data;
    see(line, words_of(line), WORDS * 4);
}

/* Writes every word that follows from the one before. */
static void write_all(void *data)
{
    struct line *line = data;
    volatile uint32_t *words = words_of(line);
    for (size_t i = 1; i < WORDS; i++)
        words[i] = words[i] * 5 + words[i - 1] % 7;
    line->calls++;
}

/* A few words of different blocks, one of them twice. */
static void write_some(void *data)
{
    struct line *line = data;
    volatile uint32_t *words = words_of(line);
    for (size_t i = line->calls % 11; i < WORDS; i += 9001)
        words[i] += 3;
    words[line->calls % 11] ^= 0x55;
    line->calls++;
}

/* By functions of libc: copies, and a system call in each direction. */
static void write_by_libc(void *data)
{
    struct line *line = data;
    uint32_t *words = words_of(line);
    int ends[2];
    memcpy(line->plain, words, WORDS * 4);
    see(line, line->plain, WORDS * 4);
    memset(words + 100, 7, 20000);
    memmove(words + 30000, words + 29000, 40000);
    if (pipe(ends) != 0 || write(ends[1], words + 50, 40000) != 40000 ||
        read(ends[0], words + 60000, 40000) != 40000)
        line->seen = 0;
    close(ends[0]);
    close(ends[1]);
}

/* The driver refuses its functions here, and nothing else happens. */
static void ask_driver(void *data)
{
    struct line *line = data;
    CUdeviceptr other;
    line->seen = line->seen * 31 + (cuMemAlloc(&other, 4096) != CUDA_SUCCESS);
    line->seen = line->seen * 31 + (cuMemcpyDtoD(line->words, line->words + 400,
                                                 400) != CUDA_SUCCESS);
    line->seen = line->seen * 31 + (cuMemFree(line->words) != CUDA_SUCCESS);
}

static void called_back(CUstream stream, CUresult result, void *data)
{
    struct line *line = data;
    line->seen = line->seen * 31 + (stream == line->stream) * 2 + (result == 0);
    write_some(data);
}

static void launch(CUdeviceptr words, unsigned n, CUstream stream, unsigned k)
{
    void *params[] = {&words, &n, &k};
    CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                         params, NULL));
}

static void fetch(struct line *line, CUstream stream)
{
    if (!touch)
        CHECK(cuMemcpyDtoHAsync(line->buffer, line->words, WORDS * 4, stream));
}

static void give(struct line *line, CUstream stream)
{
    if (!touch)
        CHECK(cuMemcpyHtoDAsync(line->words, line->buffer, WORDS * 4, stream));
}

static void submit(struct line *line, int round)
{
    static CUhostFn const functions[] = {read_all, write_all, write_some,
                                         write_by_libc, ask_driver};
    launch(line->words, WORDS, line->stream, (unsigned)round);
    fetch(line, line->stream);
    if (round % 4 == 3)
        CHECK(cuStreamAddCallback(line->stream, called_back, line, 0));
    else
        CHECK(cuLaunchHostFunc(line->stream, functions[round % 5], line));
    give(line, line->stream);
    launch(line->side, SIDE, line->stream, (unsigned)round);
    if (round % 3)
        launch(line->words, WORDS, line->stream, 1);
}

static uint64_t sum(struct line *line, CUdeviceptr words, size_t n)
{
    if (touch)
        return victim_hash((const uint8_t *)words, n * 4);
    CHECK(cuStreamSynchronize(line->stream));
    CHECK(cuMemcpyDtoH(line->plain, words, n * 4));
    return victim_hash((const uint8_t *)line->plain, n * 4);
}

/* A word of the program, between one stretch of submissions and the next. */
static void change(struct line *line, uint32_t value)
{
    volatile uint32_t *shared = (uint32_t *)line->words + WORDS / 2;
    uint32_t word;
    printf("side %016llx\n", (unsigned long long)sum(line, line->side, SIDE));
    if (touch) /* whatever it reads, it must come back */
        (void)*shared;
    CHECK(cuStreamSynchronize(line->stream));
    if (touch) {
        *shared += value;
    } else {
        CHECK(cuMemcpyDtoH(&word, line->words + WORDS / 2 * 4, 4));
        word += value;
        CHECK(cuMemcpyHtoD(line->words + WORDS / 2 * 4, &word, 4));
    }
}

/* The same work recorded once, and a node added by hand behind it. */
static CUgraphExec record(struct line *line)
{
    CUgraph graph;
    CUgraphNode nodes[64], last, kernel;
    CUgraphExec ready;
    size_t count = 64;
    CUDA_HOST_NODE_PARAMS how = {write_some, line}, told;
    CHECK(cuStreamBeginCapture(line->stream,
                               CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(line->words, WORDS, line->stream, 2);
    fetch(line, line->stream);
    CHECK(cuLaunchHostFunc(line->stream, write_all, line));
    if (touch) {
        launch(line->words, WORDS, line->stream, 3);
        CHECK(cuStreamEndCapture(line->stream, &graph));
        CHECK(cuGraphGetNodes(graph, nodes, &count));
        kernel = nodes[count - 1];
        for (size_t i = 0; i < count; i++) {
            size_t after = 0;
            CHECK(cuGraphNodeGetDependentNodes(nodes[i], NULL, NULL, &after));
            if (after == 0)
                kernel = nodes[i];
        }
        CHECK(cuGraphAddHostNode(&last, graph, &kernel, 1, &how));
        CHECK(cuGraphHostNodeGetParams(last, &told));
        if (told.fn != write_some || told.userData != line)
            printf("another function than was given\n");
    } else {
        give(line, line->stream);
        launch(line->words, WORDS, line->stream, 3);
        fetch(line, line->stream);
        CHECK(cuLaunchHostFunc(line->stream, write_some, line));
        give(line, line->stream);
        CHECK(cuStreamEndCapture(line->stream, &graph));
    }
    CHECK(cuGraphInstantiate(&ready, graph, 0));
    return ready;
}

static void start(struct line *line, int i)
{
    CHECK(cuStreamCreate(&line->stream,
                         i == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&line->words, WORDS * 4));
    CHECK(cuMemAlloc(&line->side, SIDE * 4));
    CHECK(cuMemsetD32(line->words, (unsigned)i + 17, WORDS));
    CHECK(cuMemsetD32(line->side, (unsigned)i, SIDE));
    if (!touch)
        CHECK(cuMemAllocHost((void **)&line->buffer, WORDS * 4));
}

static void show(const char *when)
{
    for (int i = 0; i < STREAMS; i++) {
        CHECK(cuStreamSynchronize(lines[i].stream));
        uint64_t left = sum(&lines[i], lines[i].words, WORDS);
        printf("%s %d: %u calls saw %016llx, left %016llx\n", when, i,
               lines[i].calls, (unsigned long long)lines[i].seen,
               (unsigned long long)left);
    }
}

int main(int argc, char **argv)
{
    CUmodule module;
    CUgraphExec graphs[STREAMS];
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    for (int i = 0; i < STREAMS; i++)
        start(&lines[i], i);
    CHECK(cuCtxSynchronize());
    for (int part = 0; part < 3; part++) {
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < STREAMS; i++)
                submit(&lines[i], round + i + part);
        for (int i = 0; i < STREAMS; i++)
            change(&lines[i], (uint32_t)(part * 1000 + i));
    }
    show("functions");
    for (int i = 0; i < STREAMS; i++)
        graphs[i] = record(&lines[i]);
    for (int n = 0; n < GRAPHS; n++)
        for (int i = 0; i < STREAMS; i++)
            CHECK(cuGraphLaunch(graphs[i], lines[i].stream));
    show("graphs");
    return 0;
}
