/*
 * The points of mandel, for the kernel and for the CPU. Plain C: device code
 * includes this.
 */
#ifndef BENCH_RANGES_MANDEL_KERNEL_H
#define BENCH_RANGES_MANDEL_KERNEL_H

/* Where z is of one pixel, and how many steps it took to get there. */
struct mandel_point {
    float x, y;
    unsigned steps;
};

/* The part of the plane that is looked at. */
struct mandel_view {
    float left, top, pixel;
};

#endif
