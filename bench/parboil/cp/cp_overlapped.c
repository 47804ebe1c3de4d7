/*
 * cp on the CUDA driver API, overlapped by hand: while the device computes a
 * plane, the one before goes to page-locked memory and is written out.
 */
#include "common/overlap.h"
#include "cp/cp.h"

static struct cp cp;

static void plane_launch(CUfunction kernel, float *plane, float *atoms,
                         float height)
{
    void *arguments[] = {&plane, &atoms,      &cp.atoms, &cp.nx,
                         &cp.ny, &cp.spacing, &height};
    overlap_launch(kernel, cp.grid, cp.block, arguments);
}

int main(int argc, char **argv)
{
    cp_open(&cp, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "cp_plane");

    overlap_open(0);
    float *atoms = device_alloc(cp.atoms_bytes);
    float *host_atoms = pinned_alloc(cp.atoms_bytes);
    float *plane[2], *host_plane[2];
    for (int i = 0; i < 2; i++) {
        plane[i] = device_alloc(cp.plane_bytes);
        host_plane[i] = pinned_alloc(cp.plane_bytes);
    }

    cp_read(&cp, host_atoms);
    overlap_upload(OVERLAP_WORK, atoms, host_atoms, cp.atoms_bytes);
    for (int i = 0; i <= cp.planes; i++) {
        int now = i % 2, before = 1 - now;
        if (i < cp.planes) {
            plane_launch(kernel, plane[now], atoms, cp_height(&cp, i));
            overlap_follow(OVERLAP_ASIDE, OVERLAP_WORK);
            overlap_download(OVERLAP_ASIDE, host_plane[now], plane[now],
                             cp.plane_bytes);
            overlap_mark(now, OVERLAP_ASIDE);
        }
        if (i > 0) {
            overlap_reached(before);
            bench_output(host_plane[before], cp.plane_bytes);
        }
    }
    cp_finish(&cp);

    for (int i = 0; i < 2; i++) {
        pinned_free(host_plane[i]);
        device_free(plane[i]);
    }
    pinned_free(host_atoms);
    device_free(atoms);
    overlap_close();
    return 0;
}
