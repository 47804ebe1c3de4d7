/*
 * A sum and a scan of floats by hand: what adsmReduce and adsmScan do, written
 * for this type, this operator and a power of two of elements.
 *
 * Built into fold.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

enum { ROW = 256, BLOCK = 1024, SUM_BLOCKS = 8 };

static __device__ inline float other(float v, int lanes)
{
    return adsm_swap(v, lanes);
}

/* Lanes read `count` lines of 32 side by side. */
template <int COUNT>
static __device__ inline void load(const float *x, long at, long n, float *v)
{
    const float *p = x + at + adsm_lane();
    if (at + COUNT * 32 <= n)
#pragma unroll
        for (int j = 0; j < COUNT; j++)
            v[j] = p[j * 32];
    else
#pragma unroll
        for (int j = 0; j < COUNT; j++)
            v[j] = at + adsm_lane() + j * 32 < n ? p[j * 32] : 0;
}

/* Line l in lane l: neighbours of two lines are added at once. */
static __device__ inline float sum_lines(float *v)
{
#pragma unroll
    for (int lanes = 1, count = 16; lanes < 32; lanes *= 2, count /= 2) {
        bool second = adsm_lane() & lanes;
#pragma unroll
        for (int j = 0; j < count; j++) {
            float a = v[2 * j], b = v[2 * j + 1];
            v[j] = (second ? b : a) + other(second ? a : b, lanes);
        }
    }
    return v[0];
}

/* All of as many lanes get the sum: additions commute. */
template <int LANES> static __device__ inline float sum_lanes(float v)
{
#pragma unroll
    for (int lanes = 1; lanes < LANES; lanes *= 2)
        v += other(v, lanes);
    return v;
}

/* out[w] = the 8192 elements of warp w. */
extern "C" __global__ void sum_chunks(const float *x, float *out, long n)
{
    long warp = adsm_warp(), begin = warp * BLOCK * SUM_BLOCKS;
    float mine = 0, v[32];
    if (begin >= n)
        return;
#pragma unroll 1
    for (int k = 0; k < SUM_BLOCKS && begin + k * BLOCK < n; k++) {
        load<32>(x, begin + k * BLOCK, n, v);
        float block = sum_lanes<32>(sum_lines(v));
        mine = adsm_lane() == k ? block : mine;
    }
    mine = sum_lanes<SUM_BLOCKS>(mine);
    if (adsm_lane() == 0)
        out[warp] = mine;
}

/* The same of the 1024 elements that a warp scans. */
extern "C" __global__ void sum_short(const float *x, float *out, long n)
{
    long warp = adsm_warp(), begin = warp * BLOCK;
    float v[32];
    if (begin >= n)
        return;
    load<32>(x, begin, n, v);
    float sum = sum_lanes<32>(sum_lines(v));
    if (adsm_lane() == 0)
        out[warp] = sum;
}

/* Eight lines so that a lane has eight neighbours, and back. */
static __device__ inline void turn(float *v)
{
#pragma unroll
    for (int lanes = 1; lanes < 8; lanes *= 2) {
        bool second = adsm_lane() & lanes;
#pragma unroll
        for (int j = 0; j < 8; j++)
            if (!(j & lanes)) {
                float a = v[j], b = v[j + lanes];
                float c = other(second ? a : b, lanes);
                v[j] = second ? c : a;
                v[j + lanes] = second ? b : c;
            }
    }
}

/* Lanes as `turn` leaves them: their eights lie in this order. */
static __device__ inline float before_lane(float v, float before)
{
    const int far[5] = {8, 16, 1, 2, 4};
    float left[5];
#pragma unroll
    for (int b = 0; b < 5; b++) {
        left[b] = other(v, far[b]);
        v += left[b];
    }
#pragma unroll
    for (int b = 4; b >= 0; b--)
        before = adsm_lane() & far[b] ? before + left[b] : before;
    return before;
}

static __device__ inline void scan_row(const float *in, float *out, long at,
                                       long n, float start, int exclusive)
{
    float v[8], e[8], two[4];
    load<8>(in, at, n, v);
    turn(v);
#pragma unroll
    for (int j = 0; j < 4; j++)
        two[j] = v[2 * j] + v[2 * j + 1];
    float four = two[0] + two[1];
    e[0] = before_lane(four + (two[2] + two[3]), start);
    e[1] = e[0] + v[0];
    e[2] = e[0] + two[0];
    e[3] = e[2] + v[2];
    e[4] = e[0] + four;
    e[5] = e[4] + v[4];
    e[6] = e[4] + two[2];
    e[7] = e[6] + v[6];
#pragma unroll
    for (int j = 0; j < 8; j++)
        e[j] = exclusive ? e[j] : e[j] + v[j];
    turn(e);
    float *p = out + at + adsm_lane();
    if (at + ROW <= n)
#pragma unroll
        for (int j = 0; j < 8; j++)
            p[j * 32] = e[j];
    else
#pragma unroll
        for (int j = 0; j < 8; j++)
            if (at + adsm_lane() + j * 32 < n)
                p[j * 32] = e[j];
}

/* 1024 elements a warp; before may be NULL. */
extern "C" __global__ void scan_chunks(const float *in, const float *before,
                                       float *out, long n, int exclusive)
{
    long warp = adsm_warp(), begin = warp * BLOCK;
    float v[32];
    if (begin >= n)
        return;
    load<32>(in, begin, n, v);
    float rows = sum_lanes<8>(sum_lines(v));
    float first = before ? before[warp] : 0;
    float row0 = adsm_take(rows, 0), row2 = adsm_take(rows, 16);
    float half = first + (row0 + adsm_take(rows, 8));
    float start[4] = {first, first + row0, half, half + row2};
#pragma unroll
    for (int k = 0; k < 4; k++)
        scan_row(in, out, begin + k * ROW, n, start[k], exclusive);
}
