/*
 * heat by hand on the CUDA driver API, on every device: each has a share of the
 * rows and the ones beside them. A step computes the outer rows of a share
 * first, on a stream of their own that then sends them to the neighbours, while
 * the rows between are computed.
 */
#include "common/team.h"
#include "heat/heat.h"

static struct heat heat;
static struct team team;

static struct share {
    long begin, end;      /* rows that it computes */
    long low, high;       /* rows that it has */
    CUdeviceptr plate[2]; /* where row 0 of the whole would be */
    CUstream inner, outer;
    CUevent inner_done, outer_done, sent;
} shares[TEAM_DEVICES];

static size_t row_bytes(long rows)
{
    return (size_t)(rows * heat.nx) * sizeof(float);
}

static void share_open(int d, const float *cells)
{
    struct share *s = &shares[d];
    team_use(&team, d);
    s->begin = team_first(&team, heat.ny, d);
    s->end = team_first(&team, heat.ny, d + 1);
    s->low = s->begin - (d > 0);
    s->high = s->end + (d + 1 < team.count);
    s->outer = team.device[d].stream[0];
    s->inner = team.device[d].stream[1];
    for (int i = 0; i < 2; i++)
        s->plate[i] = team_alloc(s->low, s->high - s->low, row_bytes(1));
    s->inner_done = team_event();
    s->outer_done = team_event();
    s->sent = team_event();
    CHECK(cuMemcpyHtoDAsync(s->plate[0] + row_bytes(s->low),
                            cells + s->low * heat.nx,
                            row_bytes(s->high - s->low), s->outer));
    CHECK(cuEventRecord(s->outer_done, s->outer));
    bench_copied(row_bytes(s->high - s->low), 0);
}

static void compute(int d, CUstream stream, long begin, long end, int now)
{
    struct share *s = &shares[d];
    unsigned high = end - begin < 8 ? 1 : 8, wide = 256 / high;
    long none = 0;
    void *args[] = {&begin,   &end,           &none,
                    &heat.nx, &s->plate[now], &s->plate[!now],
                    &heat.ny, &heat.nx,       &heat.factor};
    if (begin >= end)
        return;
    CHECK(cuLaunchKernel(team.device[d].kernel, team_blocks(heat.nx, wide),
                         team_blocks(end - begin, high), 1, wide, high, 1, 0,
                         stream, args, NULL));
    bench_launched();
}

/* What the CPU does between two steps: the rows of the spot that a share has. */
static void touch(int d, const struct heat_spot *spot, const float *hot,
                  int now)
{
    struct share *s = &shares[d];
    long top = spot->top > s->low ? spot->top : s->low;
    long bottom = spot->bottom < s->high ? spot->bottom : s->high;
    if (top >= bottom)
        return;
    size_t width = (size_t)(spot->right - spot->left) * sizeof(float);
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = hot,
        .srcPitch = width,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = s->plate[now] + row_bytes(s->low),
        .dstPitch = row_bytes(1),
        .dstY = (size_t)(top - s->low),
        .dstXInBytes = (size_t)spot->left * sizeof(float),
        .WidthInBytes = width,
        .Height = (size_t)(bottom - top),
    };
    CHECK(cuMemcpy2DAsync(&copy, s->outer));
    CHECK(cuEventRecord(s->outer_done, s->outer));
    bench_copied(width * copy.Height, 0);
}

static void send_row(int from, int to, long row, int next)
{
    CHECK(cuMemcpyPeerAsync(
        shares[to].plate[next] + row_bytes(row), team.device[to].context,
        shares[from].plate[next] + row_bytes(row), team.device[from].context,
        row_bytes(1), shares[from].outer));
}

/* Order with the step before; all of it is there before this one records. */
static void share_wait(int d, const struct heat_spot *spot, const float *hot,
                       int now)
{
    struct share *s = &shares[d];
    team_use(&team, d);
    CHECK(cuStreamWaitEvent(s->outer, s->inner_done, 0));
    for (int other = d - 1; other <= d + 1; other += 2)
        if (other >= 0 && other < team.count)
            CHECK(cuStreamWaitEvent(s->outer, shares[other].sent, 0));
    if (spot)
        touch(d, spot, hot, now);
    CHECK(cuStreamWaitEvent(s->inner, s->outer_done, 0));
}

static void share_step(int d, int now, bool last)
{
    struct share *s = &shares[d];
    bool above = d > 0, below = d + 1 < team.count;
    long begin = s->begin + above, end = s->end - below;
    team_use(&team, d);
    if (above)
        compute(d, s->outer, s->begin, begin, now);
    if (below && end >= begin)
        compute(d, s->outer, end, s->end, now);
    CHECK(cuEventRecord(s->outer_done, s->outer));
    if (above && !last)
        send_row(d, d - 1, s->begin, !now);
    if (below && !last)
        send_row(d, d + 1, s->end - 1, !now);
    CHECK(cuEventRecord(s->sent, s->outer));
    compute(d, s->inner, begin, end, now);
    CHECK(cuEventRecord(s->inner_done, s->inner));
}

static void step(int number, const float *hot)
{
    struct heat_spot spot;
    /* The first one is in what was sent at the beginning. */
    bool touched = number > 0 && heat_spot(&heat, number, &spot);
    int now = number % 2;
    for (int d = 0; d < team.count; d++)
        share_wait(d, touched ? &spot : NULL, hot, now);
    for (int d = 0; d < team.count; d++)
        share_step(d, now, number + 1 == heat.steps);
}

static void share_close(int d, float *cells)
{
    struct share *s = &shares[d];
    size_t bytes = row_bytes(s->end - s->begin);
    team_use(&team, d);
    CHECK(cuStreamWaitEvent(s->inner, s->outer_done, 0));
    CHECK(cuMemcpyDtoHAsync(cells + s->begin * heat.nx,
                            s->plate[heat.steps % 2] + row_bytes(s->begin),
                            bytes, s->inner));
    bench_copied(0, bytes);
}

int main(int argc, char **argv)
{
    heat_open(&heat, argc, argv);
    team_open(&team, "heat_step", heat.ny);
    float *cells = team_host_alloc(heat.bytes);
    float *hot = team_host_alloc(heat_hot(&heat, NULL));
    heat_make(&heat, cells);
    heat_touch(&heat, 0, cells);
    heat_hot(&heat, hot);

    enum bench_phase before = bench_enter(BENCH_KERNEL);
    for (int d = 0; d < team.count; d++)
        share_open(d, cells);
    for (int i = 0; i < heat.steps; i++)
        step(i, hot);
    for (int d = 0; d < team.count; d++)
        share_close(d, cells);
    team_wait(&team);
    bench_enter(before);
    heat_finish(&heat, cells);

    for (int d = 0; d < team.count; d++) {
        team_use(&team, d);
        for (int i = 0; i < 2; i++)
            team_free(shares[d].plate[i], shares[d].low, row_bytes(1));
    }
    CHECK(cuMemFreeHost(hot));
    CHECK(cuMemFreeHost(cells));
    team_close(&team);
    return 0;
}
