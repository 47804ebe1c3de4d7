/*
 * Streams that write values into memory and wait for them, before, behind and
 * beside other work on the same memory.
 *
 *   explicit   memory is looked at by copies
 *   touch      by the CPU, through the device pointer
 *   waits      streams wait for what comes later; `touch` may follow
 */
#include "victim.h"

enum { WORDS = 70001, ROUNDS = 6, STREAMS = 2 };

static bool touch;
static CUfunction step;
static uint32_t host[WORDS];

static void put(CUdeviceptr words, size_t i, uint32_t value)
{
    if (touch)
        ((volatile uint32_t *)words)[i] = value;
    else
        CHECK(cuMemcpyHtoD(words + 4 * i, &value, 4));
}

static uint64_t sum(CUdeviceptr words)
{
    if (touch)
        return victim_hash((const uint8_t *)words, sizeof host);
    CHECK(cuMemcpyDtoH(host, words, sizeof host));
    return victim_hash((const uint8_t *)host, sizeof host);
}

static void launch(CUdeviceptr words, unsigned k, CUstream stream)
{
    unsigned n = WORDS;
    void *params[] = {&words, &n, &k};
    CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                         params, NULL));
}

/* Written beside what the CPU has just written. */
static void write_values(CUdeviceptr words, CUstream stream)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        put(words, round * 2, round + 1);
        put(words, WORDS - 1 - round, round + 7);
        CHECK(cuStreamWriteValue32(stream, words + 4 * (round * 2 + 1),
                                   100 + round, 0));
        CHECK(cuStreamWriteValue64(stream, words + 8 * (5000 + round),
                                   (cuuint64_t)round << 40 | 9, 0));
        launch(words, round, stream);
        CHECK(cuStreamSynchronize(stream));
        printf("write %u %llx\n", round, (unsigned long long)sum(words));
    }
}

/* The value was stored before: the wait ends at once. */
static void wait_for_stored(CUdeviceptr words, CUstream stream)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        put(words, 600 + round, 4000 + round);
        CHECK(cuStreamWaitValue32(stream, words + 4 * (600 + round),
                                  4000 + round, CU_STREAM_WAIT_VALUE_EQ));
        launch(words, round, stream);
        CHECK(cuStreamSynchronize(stream));
        printf("stored %u %llx\n", round, (unsigned long long)sum(words));
    }
}

/* The value comes by a copy, and by another stream, while work is behind the
 * wait: neither may be held up. (The CPU writes nothing meanwhile: what it
 * wrote would be sent behind the wait, and all copies behind that.) */
static void wait_for_other(CUdeviceptr words, CUdeviceptr flag,
                           CUstream *streams)
{
    static uint32_t one[2] = {1, 0};
    CUstreamBatchMemOpParams ops[2] = {{0}};
    CHECK(cuMemsetD32(flag, 0, 16));
    CHECK(cuCtxSynchronize()); /* the streams do not wait for it */
    for (unsigned round = 1; round <= ROUNDS; round++) {
        uint32_t value = round;
        CHECK(cuStreamWaitValue32(streams[0], flag, value,
                                  CU_STREAM_WAIT_VALUE_GEQ));
        launch(words, round, streams[0]);
        CHECK(cuStreamWriteValue64(streams[0], flag + 8, round, 0));
        if (round % 2) {
            CHECK(cuMemcpyHtoDAsync(flag, &value, 4, streams[1]));
        } else {
            ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
            ops[0].writeValue.address = flag;
            ops[0].writeValue.value = value;
            ops[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
            ops[1].writeValue.address = flag + 16;
            ops[1].writeValue.value64 = (cuuint64_t)round << 33;
            CHECK(cuStreamBatchMemOp(streams[1], 2, ops, 0));
        }
        CHECK(cuStreamSynchronize(streams[0]));
        CHECK(cuMemcpyDtoH(one, flag + 8, 8));
        printf("other %u %u %llx\n", round, one[0],
               (unsigned long long)sum(words));
    }
    /* The last round's stream still writes behind what it was awaited for. */
    CHECK(cuStreamSynchronize(streams[1]));
    CHECK(cuMemcpyDtoH(host, flag, 64));
    printf("flags %llx\n",
           (unsigned long long)victim_hash((const uint8_t *)host, 64));
}

int main(int argc, char **argv)
{
    CUmodule module;
    CUdeviceptr words, flag;
    CUstream streams[STREAMS];
    bool waits = argc > 1 && strcmp(argv[1], "waits") == 0;
    touch = argc > 1 && strcmp(argv[argc - 1], "touch") == 0;
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    for (int i = 0; i < STREAMS; i++)
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&words, sizeof host));
    CHECK(cuMemAlloc(&flag, 64));
    CHECK(cuMemsetD32(words, 5, WORDS));
    CHECK(cuCtxSynchronize());
    if (waits) {
        wait_for_other(words, flag, streams);
    } else {
        write_values(words, streams[0]);
        wait_for_stored(words, streams[0]);
    }
    return 0;
}
