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

enum { STREAMS = 5, WORDS = 90007, SIDE = 70001, ROUNDS = 12, GRAPHS = 5 };

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

/* The form of CUDA 12.2, without data of the edges. */
CUresult add_node(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
                  CUgraphNodeParams *) __asm__("cuGraphAddNode");

static CUgraphNode last_node(CUgraph graph)
{
    CUgraphNode nodes[64];
    size_t count = 64;
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        size_t after = 0;
        CHECK(cuGraphNodeGetDependentNodes(nodes[i], NULL, NULL, &after));
        if (after == 0)
            return nodes[i];
    }
    return NULL;
}

/* A node behind the last one, each line's by another call. In the end each
 * calls write_some. */
static CUgraphNode add_last(struct line *line, CUgraph graph, int how)
{
    CUgraphNode node = NULL, kernel = last_node(graph);
    CUDA_HOST_NODE_PARAMS some = {write_some, line}, all = {read_all, line};
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_HOST,
                             .host = {write_some, line}};
    CUDA_HOST_NODE_PARAMS told;
    if (how == 1)
        CHECK(add_node(&node, graph, &kernel, 1, &any));
    else if (how == 2)
        CHECK(cuGraphAddNode(&node, graph, &kernel, NULL, 1, &any));
    else
        CHECK(cuGraphAddHostNode(&node, graph, &kernel, 1,
                                 how == 0 ? &some : &all));
    if (how == 3)
        CHECK(cuGraphNodeSetParams(node, &any));
    CHECK(cuGraphHostNodeGetParams(node, &told));
    if (told.fn != (how == 4 ? read_all : write_some) ||
        told.userData != line || any.host.fn != write_some)
        printf("another function than was given\n");
    return node;
}

static CUgraphExec make_ready(struct line *line, CUgraph graph)
{
    CUgraphExec ready;
    int how = (int)(line - lines);
    CUgraphNode node = touch ? add_last(line, graph, how) : NULL;
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_HOST,
                             .host = {write_some, line}};
    CHECK(cuGraphInstantiate(&ready, graph, 0));
    if (touch && how == 4)
        CHECK(cuGraphExecNodeSetParams(ready, node, &any));
    return ready;
}

/* The same work recorded once, and a node added by hand behind it. */
static CUgraphExec record(struct line *line)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture(line->stream,
                               CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(line->words, WORDS, line->stream, 2);
    fetch(line, line->stream);
    CHECK(cuLaunchHostFunc(line->stream, write_all, line));
    give(line, line->stream);
    launch(line->words, WORDS, line->stream, 3);
    if (!touch) {
        fetch(line, line->stream);
        CHECK(cuLaunchHostFunc(line->stream, write_some, line));
        give(line, line->stream);
    }
    CHECK(cuStreamEndCapture(line->stream, &graph));
    return make_ready(line, graph);
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
