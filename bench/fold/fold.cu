/*
 * A sum and a scan of floats by hand: what adsmReduce and adsmScan do, written
 * for this type, this operator and a power of two of elements.
 *
 * Built into fold.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

enum { ROW = 256, SUM_ROWS = 32, SCAN_ROWS = 4 };

static __device__ inline float other(float v, int lanes)
{
    return adsm_swap(v, lanes);
}

static __device__ inline float load(const float *x, long at, long n, float *v)
{
    if (at + 8 <= n)
        for (int j = 0; j < 8; j++)
            v[j] = x[at + j];
    else
        for (int j = 0; j < 8; j++)
            v[j] = at + j < n ? x[at + j] : 0;
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* All lanes get the sum: additions commute. */
static __device__ inline float sum_lanes(float v)
{
    for (int lanes = 1; lanes < 32; lanes *= 2)
        v += other(v, lanes);
    return v;
}

/* out[w] = the 8192 elements of warp w. */
extern "C" __global__ void sum_chunks(const float *x, float *out, long n)
{
    int lane = threadIdx.x & 31;
    long warp = adsm_thread_x() / 32, begin = warp * ROW * SUM_ROWS;
    float mine = 0, v[8];
    if (begin >= n)
        return;
    for (int k = 0; k < SUM_ROWS && begin + k * ROW < n; k++) {
        float row = sum_lanes(load(x, begin + k * ROW + lane * 8, n, v));
        if (lane == k)
            mine = row;
    }
    mine = sum_lanes(mine);
    if (lane == 0)
        out[warp] = mine;
}

/* The same of the 1024 elements that a warp scans. */
extern "C" __global__ void sum_short(const float *x, float *out, long n)
{
    int lane = threadIdx.x & 31;
    long warp = adsm_thread_x() / 32, begin = warp * ROW * SCAN_ROWS;
    float sum = 0, row[SCAN_ROWS], v[8];
    if (begin >= n)
        return;
    for (int k = 0; k < SCAN_ROWS; k++)
        row[k] = sum_lanes(load(x, begin + k * ROW + lane * 8, n, v));
    sum = (row[0] + row[1]) + (row[2] + row[3]);
    if (lane == 0)
        out[warp] = sum;
}

static __device__ inline float before_lane(float v, float before)
{
    float left[5];
    unsigned lane = threadIdx.x & 31;
    for (int b = 0; b < 5; b++) {
        left[b] = other(v, 1 << b);
        v += left[b];
    }
    for (int b = 4; b >= 0; b--)
        if (lane >> b & 1)
            before += left[b];
    return before;
}

/* 1024 elements a warp; before may be NULL. */
extern "C" __global__ void scan_chunks(const float *in, const float *before,
                                       float *out, long n, int exclusive)
{
    long lane = threadIdx.x & 31;
    long warp = adsm_thread_x() / 32, begin = warp * ROW * SCAN_ROWS;
    float row[SCAN_ROWS], v[8], e[8];
    if (begin >= n)
        return;
    for (int k = 0; k < SCAN_ROWS; k++)
        row[k] = sum_lanes(load(in, begin + k * ROW + lane * 8, n, v));
    float first = before ? before[warp] : 0;
    float start[SCAN_ROWS] = {first, first + row[0], first + (row[0] + row[1]),
                              first + (row[0] + row[1]) + row[2]};
    for (int k = 0; k < SCAN_ROWS; k++) {
        long at = begin + k * ROW + lane * 8;
        e[0] = before_lane(load(in, at, n, v), start[k]);
        e[1] = e[0] + v[0];
        e[2] = e[0] + (v[0] + v[1]);
        e[3] = e[2] + v[2];
        e[4] = e[0] + ((v[0] + v[1]) + (v[2] + v[3]));
        e[5] = e[4] + v[4];
        e[6] = e[4] + (v[4] + v[5]);
        e[7] = e[6] + v[6];
        for (int j = 0; j < 8; j++)
            v[j] = exclusive ? e[j] : e[j] + v[j];
        if (at + 8 <= n)
            for (int j = 0; j < 8; j++)
                out[at + j] = v[j];
        else
            for (int j = 0; j < 8 && at + j < n; j++)
                out[at + j] = v[j];
    }
}
