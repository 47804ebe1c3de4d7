/*
 * cp on the CUDA driver API.
 * Atoms and plane exist twice, on the host and on the device, and what one
 * side needs of the other's work is copied.
 */
#include "common/cuda.h"
#include "cp/cp.h"

#include <stdlib.h>

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
    float *host_atoms = host_alloc(cp.atoms_bytes);
    float *host_plane = host_alloc(cp.plane_bytes);

    cp_read(&cp, host_atoms);
    upload(atoms, host_atoms, cp.atoms_bytes);
    for (int i = 0; i < cp.planes; i++) {
        plane_launch(kernel, plane, atoms, cp_height(&cp, i));
        download(host_plane, plane, cp.plane_bytes);
        bench_output(host_plane, cp.plane_bytes);
    }
    cp_finish(&cp);

    free(host_plane);
    free(host_atoms);
    device_free(plane);
    device_free(atoms);
    return 0;
}
