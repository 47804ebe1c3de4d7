/*
 * Operators of a program's own, for the suites of reductions and scans.
 *
 * Built into operators.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

struct pair {
    float x, y;
};

/* Three bytes, of which none is where a word ends. */
struct pixel {
    unsigned char r, g, b;
};

/* x -> a * x + b, one behind the other: the order matters. */
struct line {
    int a, b, unused;
};

/* The same, and more than a lane has in registers. */
struct broad {
    int a, b, more[7];
};

static __device__ inline broad behind(const broad &a, const broad &b)
{
    broad both = {(int)((unsigned)a.a * (unsigned)b.a),
                  (int)((unsigned)a.b * (unsigned)b.a + (unsigned)b.b),
                  {}};
    for (int i = 0; i < 7; i++)
        both.more[i] = a.more[i] ^ b.more[i];
    return both;
}

ADSM_OPERATOR(longest, pair, (pair{0, 0}), a.y >= b.y ? a : b)
ADSM_OPERATOR(brightest, pixel, (pixel{0, 0, 0}),
              pixel{a.r > b.r ? a.r : b.r, a.g > b.g ? a.g : b.g,
                    (unsigned char)(a.b ^ b.b)})
ADSM_OPERATOR(chain, line, (line{1, 0, 0}),
              line{(int)((unsigned)a.a * (unsigned)b.a),
                   (int)((unsigned)a.b * (unsigned)b.a + (unsigned)b.b), 0})
ADSM_OPERATOR(wide, broad, (broad{1, 0, {}}), behind(a, b))

ADSM_MAP_REDUCE(dot, float, sum_f32, (const float *x, const float *y),
                x[i] * y[i])
ADSM_MAP_REDUCE(farthest, pair, longest, (const float *x, float from),
                pair{x[i], x[i] > from ? x[i] - from : from - x[i]})

/* Words of a program that the macros, too, could have use for. */
enum { COMMUTES = 5 };
static __device__ inline unsigned none()
{
    return 4000000000u;
}
static __device__ inline unsigned of(unsigned v)
{
    return v + COMMUTES;
}
static __device__ inline unsigned value(unsigned v)
{
    return v + 5;
}
static __device__ inline unsigned x_of_i(unsigned v)
{
    return v + 1;
}
static __device__ inline unsigned i0(unsigned v)
{
    return 2 * v;
}

ADSM_OPERATOR(least, unsigned, none(), value(b) < of(a) ? b : a)
ADSM_MAP_REDUCE(least_of, unsigned, least, (const unsigned *i1),
                i0(x_of_i(i1[i])))
