/*
 * Streams of different priorities that wait for each other's events: a chain
 * that is only right when every wait is kept.
 */
#include "program.h"

__global__ void affine(long long *value, long long factor, long long add)
{
    *value = *value * factor + add;
}

__global__ void slow(long long *value, int rounds)
{
    long long sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += (i ^ (int)sum) & 7;
    *value += sum >= 0 ? 1 : 0;
}

int main()
{
    int least, greatest, priority;
    unsigned flags;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least, "%d %d", least, greatest);
    cudaStream_t low, high, plain;
    CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamDefault, greatest));
    CHECK(cudaStreamCreate(&plain));
    CHECK(cudaStreamGetPriority(high, &priority));
    EXPECT(priority == greatest, "priority %d", priority);
    CHECK(cudaStreamGetFlags(low, &flags));
    EXPECT(flags == cudaStreamNonBlocking, "flags %u", flags);
    cudaEvent_t events[3];
    for (cudaEvent_t &event : events)
        CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    long long *value = to_device(std::vector<long long>{1});
    const int rounds = 10;
    cudaStream_t chain[3] = {low, high, plain};
    long long want = 1;
    /* The streams to come do not wait for the first copy by themselves. */
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < rounds * 3; i++) {
        cudaStream_t stream = chain[i % 3];
        if (i > 0)
            CHECK(cudaStreamWaitEvent(stream, events[(i + 2) % 3], 0));
        slow<<<1, 1, 0, stream>>>(value, i % 3 == 0 ? 300 : 10);
        affine<<<1, 1, 0, stream>>>(value, 1 + i % 3, i);
        CHECK(cudaEventRecord(events[i % 3], stream));
        want = (want + 1) * (1 + i % 3) + i;
    }
    CHECK(cudaEventSynchronize(events[2]));
    CHECK(cudaEventQuery(events[2]));
    long long got;
    CHECK(cudaMemcpy(&got, value, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == want, "%lld, not %lld", got, want);
    float ms;
    CHECK_FAILS(cudaErrorInvalidResourceHandle,
                cudaEventElapsedTime(&ms, events[0], events[1]));
    cudaGetLastError();
    for (cudaEvent_t event : events)
        CHECK(cudaEventDestroy(event));
    for (cudaStream_t stream : chain)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(value));
    return pass("events_priority", "value %lld", got);
}
