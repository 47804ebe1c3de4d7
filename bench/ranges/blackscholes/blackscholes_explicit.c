/*
 * blackscholes by hand on the CUDA driver API, on every device: each has a share
 * of the options, in pieces that go through streams in turns, so that copies in
 * both directions and kernels are under way at the same time.
 */
#include "blackscholes/blackscholes.h"
#include "common/team.h"

#define PIECES 8
#define BLOCK  256

enum { SHARE, STRIKE, YEARS, CALL, PUT, ARRAYS };

static struct blackscholes b;
static struct team team;
static float *host[ARRAYS];
/* Where element 0 would be on each device. */
static CUdeviceptr array[TEAM_DEVICES][ARRAYS];

static void piece(int d, CUstream stream, long begin, long end)
{
    size_t at = (size_t)begin * sizeof(float);
    size_t bytes = (size_t)(end - begin) * sizeof(float);
    CUdeviceptr *on = array[d];
    if (begin == end)
        return;
    for (int i = SHARE; i <= YEARS; i++)
        CHECK(cuMemcpyHtoDAsync(on[i] + at, host[i] + begin, bytes, stream));
    void *args[] = {&begin,     &end,      &on[SHARE], &on[STRIKE],
                    &on[YEARS], &on[CALL], &on[PUT],   &b.market};
    CHECK(cuLaunchKernel(team.device[d].kernel, team_blocks(end - begin, BLOCK),
                         1, 1, BLOCK, 1, 1, 0, stream, args, NULL));
    for (int i = CALL; i <= PUT; i++)
        CHECK(cuMemcpyDtoHAsync(host[i] + begin, on[i] + at, bytes, stream));
    bench_launched();
    bench_copied(3 * bytes, 2 * bytes);
}

static void share(int d)
{
    long first = team_first(&team, b.options, d);
    long count = team_first(&team, b.options, d + 1) - first;
    team_use(&team, d);
    for (int i = 0; i < ARRAYS; i++)
        array[d][i] = team_alloc(first, count, sizeof(float));
    for (long p = 0; p < PIECES; p++)
        piece(d, team.device[d].stream[p % TEAM_STREAMS],
              first + count * p / PIECES, first + count * (p + 1) / PIECES);
}

int main(int argc, char **argv)
{
    blackscholes_open(&b, argc, argv);
    team_open(&team, "blackscholes", b.options);
    for (int i = 0; i < ARRAYS; i++)
        host[i] = team_host_alloc(b.bytes);
    blackscholes_make(&b, host[SHARE], host[STRIKE], host[YEARS]);

    enum bench_phase before = bench_enter(BENCH_KERNEL);
    for (int d = 0; d < team.count; d++)
        share(d);
    team_wait(&team);
    bench_enter(before);
    blackscholes_finish(&b, host[CALL], host[PUT]);

    for (int d = 0; d < team.count; d++) {
        team_use(&team, d);
        for (int i = 0; i < ARRAYS; i++)
            team_free(array[d][i], team_first(&team, b.options, d),
                      sizeof(float));
    }
    for (int i = 0; i < ARRAYS; i++)
        CHECK(cuMemFreeHost(host[i]));
    team_close(&team);
    return 0;
}
