/*
 * The bodies of nbody, for the kernel and for the CPU. Plain C: device code
 * includes this.
 */
#ifndef BENCH_RANGES_NBODY_KERNEL_H
#define BENCH_RANGES_NBODY_KERNEL_H

struct nbody_body {
    float x, y, z, mass;
    float vx, vy, vz;
};

/* Added to the square of each distance: bodies may meet. */
#define NBODY_SOFTENING 0.0025f

#endif
