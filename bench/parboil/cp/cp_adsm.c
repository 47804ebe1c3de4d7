/*
 * cp on adsm.h, which also says what the kernel reads and writes.
 */
#include "common/shared.h"
#include "cp/cp.h"

static struct cp cp;

static void plane_launch(adsmKernel *kernel, float *plane, const float *atoms,
                         float height)
{
    shared_launch(kernel, cp.grid, cp.block, adsmOut(plane), adsmIn(atoms),
                  adsmVal(cp.atoms), adsmVal(cp.nx), adsmVal(cp.ny),
                  adsmVal(cp.spacing), adsmVal(height));
    shared_wait();
}

int main(int argc, char **argv)
{
    cp_open(&cp, argc, argv);
    adsmKernel *kernel = shared_kernel(shared_load(), "cp_plane");

    float *atoms = shared_alloc(cp.atoms_bytes);
    float *plane = shared_alloc(cp.plane_bytes);

    cp_read(&cp, atoms);
    for (int i = 0; i < cp.planes; i++) {
        plane_launch(kernel, plane, atoms, cp_height(&cp, i));
        bench_output(plane, cp.plane_bytes);
    }
    cp_finish(&cp);

    shared_free(plane);
    shared_free(atoms);
    return 0;
}
