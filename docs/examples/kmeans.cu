/*
 * k-means: a map that gives a point to its nearest centre, and an operator that
 * adds up what all centres were given, so the sums of a step are one element.
 * An element as large makes much PTX, which the build makes.
 */
#include "adsm_device.h"

enum { CENTRES = 10 };

struct point {
    int x, y;
};

struct sums { /* 124 bytes */
    int x[CENTRES], y[CENTRES], count[CENTRES], points;
};

static __device__ inline sums plus(const sums &a, const sums &b)
{
    sums all;
    for (int c = 0; c < CENTRES; c++) {
        all.x[c] = a.x[c] + b.x[c];
        all.y[c] = a.y[c] + b.y[c];
        all.count[c] = a.count[c] + b.count[c];
    }
    all.points = a.points + b.points;
    return all;
}

static __device__ inline sums given(const point &p, const point *centre)
{
    sums one = {};
    int nearest = 0;
    long least = -1;
    for (int c = 0; c < CENTRES; c++) {
        long dx = p.x - centre[c].x, dy = p.y - centre[c].y;
        long far = dx * dx + dy * dy;
        if (least < 0 || far < least) {
            least = far;
            nearest = c;
        }
    }
    for (int c = 0; c < CENTRES; c++) {
        one.x[c] = c == nearest ? p.x : 0;
        one.y[c] = c == nearest ? p.y : 0;
        one.count[c] = c == nearest;
    }
    one.points = 1;
    return one;
}

ADSM_OPERATOR(together, sums, (sums{}), plus(a, b))

ADSM_MAP_REDUCE(assign, sums, together,
                (const point *points, const point *centre),
                given(points[i], centre))
