/*
 * Patterns of sweeps over a grid, from one array to another and back: one number
 * read, cells set or rows exchanged between two sweeps. See parts.h.
 */
#include "parts.h"

#include "shape.h"

#include <string.h>

enum { SOURCES = 64, HALO_ROWS = 16 };

static struct {
    struct array cells[2]; /* the second is what the next sweep writes */
    struct array largest;  /* two numbers, of this sweep and the next */
    int n;
    int turn;
} grid;

static float *cells(int which)
{
    return grid.cells[which].host;
}

static void grid_setup(size_t n)
{
    grid.n = (int)n;
    grid.turn = 0;
    for (int k = 0; k < 2; k++) {
        grid.cells[k] = array_new(n * n * sizeof(float), USE_OF_DEVICE);
        for (size_t i = 0; i < n * n; i++)
            cells(k)[i] = (float)((i * 7919) % 1000);
        array_written(&grid.cells[k], 0, grid.cells[k].bytes);
    }
}

static size_t grid_cells(void)
{
    return (size_t)grid.n * (size_t)grid.n;
}

static void turn_round(void)
{
    struct array before = grid.cells[0];
    grid.cells[0] = grid.cells[1];
    grid.cells[1] = before;
    grid.turn = 1 - grid.turn;
}

static void smooth(void)
{
    void *arguments[] = {&grid.cells[0].device, &grid.cells[1].device, &grid.n};
    form_launch(KERNEL_smooth, (size_t)grid.n, (size_t)grid.n, arguments);
    turn_round();
}

void grid_end(void)
{
    array_end(&grid.cells[0]);
    array_end(&grid.cells[1]);
    if (grid.largest.bytes)
        array_end(&grid.largest);
}

/* ---- residual ------------------------------------------------------------- */

void residual_setup(size_t n)
{
    grid_setup(n);
    grid.largest = array_new(2 * sizeof(uint32_t), USE_OF_DEVICE);
    memset(grid.largest.host, 0, grid.largest.bytes);
    array_written(&grid.largest, 0, grid.largest.bytes);
}

void residual_repeat(int steps)
{
    const uint32_t *largest = grid.largest.host;
    for (int k = 0; k < steps; k++) {
        int turn = grid.turn;
        void *arguments[] = {&grid.cells[0].device, &grid.cells[1].device,
                             &grid.n, &grid.largest.device, &grid.turn};
        form_launch(KERNEL_sweep, (size_t)grid.n, (size_t)grid.n / SWEEP_ROWS,
                    arguments);
        turn_round();
        array_wanted(&grid.largest, (size_t)turn * sizeof *largest,
                     sizeof *largest);
        form_wait();
        sum_words(&largest[turn], sizeof *largest);
    }
}

/* ---- sources -------------------------------------------------------------- */

void sources_setup(size_t n)
{
    grid_setup(n);
}

static void set_sources(void)
{
    for (int i = 0; i < SOURCES; i++) {
        size_t at = draw((uint32_t)grid_cells());
        cells(0)[at] = (float)(draw(1000) + 1);
        array_written(&grid.cells[0], at * sizeof(float), sizeof(float));
    }
}

void sources_repeat(int steps)
{
    for (int k = 0; k < steps; k++) {
        form_before_writing();
        set_sources();
        smooth();
    }
    form_wait();
}

/* ---- halo ----------------------------------------------------------------- */

void halo_setup(size_t n)
{
    grid_setup(n);
}

static void swap_rows(float *a, float *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float before = a[i];
        a[i] = b[i];
        b[i] = before;
    }
}

void halo_repeat(int steps)
{
    size_t count = (size_t)HALO_ROWS * (size_t)grid.n;
    size_t bytes = count * sizeof(float), last = grid_cells() - count;
    for (int k = 0; k < steps; k++) {
        smooth();
        array_wanted(&grid.cells[0], 0, bytes);
        array_wanted(&grid.cells[0], last * sizeof(float), bytes);
        form_wait();
        swap_rows(cells(0), cells(0) + last, count);
        array_written(&grid.cells[0], 0, bytes);
        array_written(&grid.cells[0], last * sizeof(float), bytes);
    }
    form_wait();
}
