/*
 * The drops of sph and the law they follow, for the kernels and for the CPU.
 * Plain C: device code includes this.
 */
#ifndef BENCH_RANGES_SPH_KERNEL_H
#define BENCH_RANGES_SPH_KERNEL_H

struct sph_drop {
    float x, y, vx, vy;
};

/* What a drop's surroundings make of it. */
struct sph_state {
    float density, pressure;
};

struct sph_push {
    float ax, ay;
};

/*
 * Numbers that do not change. `weigh`, `squeeze` and `drag` are the mass of a
 * drop times the constants of the kernels in two dimensions: (h^2 - r^2)^3 for
 * the density, the gradient of (h - r)^3 for the pressure, the Laplacian of the
 * viscosity's.
 */
struct sph_law {
    float reach; /* h */
    float weigh, squeeze, drag;
    float rest, stiffness; /* pressure = stiffness * (density - rest) */
    float gravity, dt;
    float width, height; /* of the basin */
    float bounce;        /* of the speed that is left after a wall */
};

#endif
