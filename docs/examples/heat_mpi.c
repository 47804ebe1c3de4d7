/*
 * Heat in a plate over the ranks of MPI, and over the devices of each: every
 * rank has some rows of the plate and one row of each neighbour's, which go
 * from one rank's shared memory to the other's.
 *
 *   mpirun -n 4 adsm-run heat_mpi [heat.ptx [plate.raw]]
 *
 * The plate at the end is the same bytes however many ranks there are.
 */
#include <adsm.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { NY = 384, NX = 512, STEPS = 50 };

/* Rows [first, first + rows) of the plate, in rows 1 to `rows` of the memory;
 * rows 0 and rows + 1 are the neighbours'. */
static long first, rows;
static int above, below; /* ranks, or MPI_PROC_NULL at the plate's edge */

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "heat_mpi: %s: %s\n", adsmErrorName(status),
            adsmErrorDetail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static float *plate(void)
{
    float *cells =
        adsmAllocArray(sizeof *cells, adsmR2(rows + 2, NX), ADSM_NO_HOME);
    if (!cells)
        check(adsmLastStatus());
    memset(cells, 0, (size_t)(rows + 2) * NX * sizeof *cells);
    return cells;
}

static void share_out(void)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    first = (long)NY * rank / ranks;
    rows = (long)NY * (rank + 1) / ranks - first;
    above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
}

/* At the plate's edge the row beyond is the edge itself. */
static void exchange(float *cells)
{
    MPI_Request request[4];
    float *top = cells + NX, *bottom = cells + rows * NX;
    MPI_Irecv(cells, NX, MPI_FLOAT, above, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(bottom + NX, NX, MPI_FLOAT, below, 2, MPI_COMM_WORLD,
              &request[1]);
    MPI_Isend(top, NX, MPI_FLOAT, above, 2, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(bottom, NX, MPI_FLOAT, below, 1, MPI_COMM_WORLD, &request[3]);
    if (above == MPI_PROC_NULL)
        memcpy(cells, top, NX * sizeof *cells);
    if (below == MPI_PROC_NULL)
        memcpy(bottom + NX, bottom, NX * sizeof *cells);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

static void write_plate(const char *name, const float *cells)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY,
                  MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, first * NX * (MPI_Offset)sizeof *cells,
                          cells + NX, (int)(rows * NX), MPI_FLOAT,
                          MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static double sum_of(const float *cells)
{
    double mine = 0, sum;
    for (long i = NX; i < (rows + 1) * NX; i++)
        mine += cells[i]; /* fetches what the devices have */
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *heat;
    MPI_Init(&argc, &argv);
    share_out();
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "heat.ptx", 0));
    check(adsmKernelGet(&heat, module, "heat", ADSM_ONLY_ARGUMENTS));

    float *now = plate(), *next = plate(), rate = 0.2f;
    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES);
    for (int step = 0; step < STEPS; step++) {
        if (first <= NY / 4 && NY / 4 < first + rows)
            now[(NY / 4 - first + 1) * NX + NX / 2] += 1;
        exchange(now);
        check(adsmCallWith(all, heat, adsmR2(rows + 2, NX),
                           adsmCross(now, 1, 1, ADSM_EDGE_CLAMP), adsmOut(next),
                           adsmVal(rate)));
        float *was = now;
        now = next;
        next = was;
    }

    double sum = sum_of(now);
    if (first == 0)
        printf("heat %.3f of %d\n", sum, STEPS);
    if (argc > 2)
        write_plate(argv[2], now);
    check(adsmFree(now));
    check(adsmFree(next));
    MPI_Finalize();
    return fabs(sum - STEPS) < 1e-3 ? 0 : 1;
}
