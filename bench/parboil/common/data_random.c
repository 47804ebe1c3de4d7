/*
 * Random numbers of the input files, and of programs that make their input
 * themselves. See data.h.
 */
#include "common/data.h"

#include <math.h>

uint64_t data_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double unit(uint64_t *seed)
{
    return (double)(data_random(seed) >> 11) * 0x1p-53;
}

float data_uniform(uint64_t *seed, float low, float high)
{
    return low + (float)(unit(seed) * (double)(high - low));
}

float data_normal(uint64_t *seed)
{
    double u = 1.0 - unit(seed), v = unit(seed);
    return (float)(sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v));
}
