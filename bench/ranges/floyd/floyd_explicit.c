/*
 * floyd by hand on the CUDA driver API, on every device: each has a share of the
 * rows, and in each step gets a copy of one row from the device that has it.
 */
#include "common/team.h"
#include "floyd/floyd.h"

static struct floyd floyd;
static struct team team;

static struct share {
    long begin, end;     /* rows */
    CUdeviceptr path;    /* where row 0 of the matrix would be */
    CUdeviceptr row;     /* a row of another device */
    CUevent done, taken; /* the kernel; the copy of the row */
} shares[TEAM_DEVICES];

static CUstream stream_of(int d)
{
    team_use(&team, d);
    return team.device[d].stream[0];
}

static size_t row_bytes(long rows)
{
    return (size_t)(rows * floyd.n) * sizeof(int32_t);
}

static void share_open(int d, const int32_t *path)
{
    struct share *s = &shares[d];
    CUstream stream = stream_of(d);
    s->begin = team_first(&team, floyd.n, d);
    s->end = team_first(&team, floyd.n, d + 1);
    s->path = team_alloc(s->begin, s->end - s->begin, row_bytes(1));
    s->row = team_alloc(0, 1, row_bytes(1));
    s->done = team_event();
    s->taken = team_event();
    CHECK(cuMemcpyHtoDAsync(s->path + row_bytes(s->begin),
                            path + s->begin * floyd.n,
                            row_bytes(s->end - s->begin), stream));
    CHECK(cuEventRecord(s->done, stream));
    bench_copied(row_bytes(s->end - s->begin), 0);
}

static int owner_of(long row)
{
    int d = 0;
    while (row >= shares[d].end)
        d++;
    return d;
}

/* The owner's last kernel has made the row; none of this step's changes it. */
static void row_take(int d, int owner, long k)
{
    struct share *s = &shares[d], *from = &shares[owner];
    CUstream stream = stream_of(d);
    CHECK(cuStreamWaitEvent(stream, from->done, 0));
    CHECK(cuMemcpyPeerAsync(s->row, team.device[d].context,
                            from->path + row_bytes(k),
                            team.device[owner].context, row_bytes(1), stream));
    CHECK(cuEventRecord(s->taken, stream));
}

static void share_step(int d, CUdeviceptr row, long k)
{
    struct share *s = &shares[d];
    long none = 0;
    void *args[] = {&s->begin, &s->end, &none,    &floyd.n,
                    &s->path,  &row,    &floyd.n, &k};
    CHECK(cuLaunchKernel(team.device[d].kernel, team_blocks(floyd.n, 32),
                         team_blocks(s->end - s->begin, 8), 1, 32, 8, 1, 0,
                         stream_of(d), args, NULL));
    bench_launched();
}

static void step(long k)
{
    int owner = owner_of(k);
    for (int d = 0; d < team.count; d++)
        if (d != owner)
            row_take(d, owner, k);
    for (int d = 0; d < team.count; d++)
        share_step(
            d, d == owner ? shares[d].path : shares[d].row - row_bytes(k), k);
    for (int d = 0; d < team.count; d++) {
        CHECK(cuEventRecord(shares[d].done, stream_of(d)));
        if (d != owner)
            CHECK(cuStreamWaitEvent(stream_of(owner), shares[d].taken, 0));
    }
}

static void share_close(int d, int32_t *path)
{
    struct share *s = &shares[d];
    CHECK(cuMemcpyDtoHAsync(path + s->begin * floyd.n,
                            s->path + row_bytes(s->begin),
                            row_bytes(s->end - s->begin), stream_of(d)));
    bench_copied(0, row_bytes(s->end - s->begin));
}

int main(int argc, char **argv)
{
    floyd_open(&floyd, argc, argv);
    team_open(&team, "floyd_step", floyd.n);
    int32_t *path = team_host_alloc(floyd.bytes);
    floyd_make(&floyd, path);

    enum bench_phase before = bench_enter(BENCH_KERNEL);
    for (int d = 0; d < team.count; d++)
        share_open(d, path);
    for (long k = 0; k < floyd.steps; k++)
        step(k);
    for (int d = 0; d < team.count; d++)
        share_close(d, path);
    team_wait(&team);
    bench_enter(before);
    floyd_finish(&floyd, path);

    for (int d = 0; d < team.count; d++) {
        team_use(&team, d);
        team_free(shares[d].path, shares[d].begin, row_bytes(1));
        team_free(shares[d].row, 0, 1);
    }
    CHECK(cuMemFreeHost(path));
    team_close(&team);
    return 0;
}
