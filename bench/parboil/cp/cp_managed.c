/*
 * cp on managed memory.
 * What both sides use exists once and the driver moves its pages; nothing is
 * copied.
 */
#include "common/managed.h"
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

    float *atoms = managed_alloc(cp.atoms_bytes);
    float *plane = managed_alloc(cp.plane_bytes);

    cp_read(&cp, atoms);
    read_mostly(atoms, cp.atoms_bytes);
    prefetch_to_device(atoms, cp.atoms_bytes);
    for (int i = 0; i < cp.planes; i++) {
        prefetch_to_device(plane, cp.plane_bytes);
        plane_launch(kernel, plane, atoms, cp_height(&cp, i));
        prefetch_to_host(plane, cp.plane_bytes);
        bench_output(plane, cp.plane_bytes);
    }
    cp_finish(&cp);

    device_free(plane);
    device_free(atoms);
    return 0;
}
