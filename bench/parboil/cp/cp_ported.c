/*
 * cp on the CUDA driver API.
 */
#include "common/cuda.h"
#include "cp/cp.h"

static struct cp cp;

static void plane_launch(CUfunction kernel, float *plane, float *atoms,
                         float height)
{
    void *arguments[] = {&plane, &atoms,      &cp.atoms, &cp.nx,
                         &cp.ny, &cp.spacing, &height};
    launch(kernel, cp.grid, cp.block, arguments);
    device_wait();
}

int main(int argc, char **argv)
{
    cp_open(&cp, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "cp_plane");

    float *atoms = device_alloc(cp.atoms_bytes);
    float *plane = device_alloc(cp.plane_bytes);

    cp_read(&cp, atoms);
    for (int i = 0; i < cp.planes; i++) {
        plane_launch(kernel, plane, atoms, cp_height(&cp, i));
        bench_output(plane, cp.plane_bytes);
    }
    cp_finish(&cp);

    device_free(plane);
    device_free(atoms);
    return 0;
}
