/*
 * Pixels of an image as calls over it count them, for kernels and for the CPU.
 * Plain C: device code includes this.
 *
 * A sum over an image is made of the sums of its chunks, whose bounds do not
 * depend on who computes them, so it is the same for any number of parts.
 */
#ifndef BENCH_RANGES_CHUNK_H
#define BENCH_RANGES_CHUNK_H

#define CHUNK_PIXELS 256

struct chunk {
    float pixel[CHUNK_PIXELS];
};

#endif
