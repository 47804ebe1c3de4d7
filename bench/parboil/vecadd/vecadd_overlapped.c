/*
 * vecadd on the CUDA driver API, overlapped by hand: the CPU makes the vectors
 * piece by piece in page-locked memory; what is made is sent, added and fetched
 * while it makes more.
 */
#include "common/overlap.h"
#include "vecadd/vecadd.h"

#define PIECE (OVERLAP_PIECE_BYTES / sizeof(float))

static struct vecadd add;

static void add_launch(CUfunction kernel, float *sum, float *a, float *b,
                       int count)
{
    struct bench_dim grid = {((unsigned)count + add.block.x - 1) / add.block.x,
                             1, 1};
    void *arguments[] = {&sum, &a, &b, &count};
    overlap_launch(kernel, grid, add.block, arguments);
}

int main(int argc, char **argv)
{
    vecadd_open(&add, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "vecadd");

    overlap_open(OVERLAP_PIECE_BYTES);
    float *vector[2], *made[2][2]; /* of each vector two pieces */
    for (int i = 0; i < 2; i++) {
        vector[i] = device_alloc(add.bytes);
        made[0][i] = pinned_alloc(OVERLAP_PIECE_BYTES);
        made[1][i] = pinned_alloc(OVERLAP_PIECE_BYTES);
    }
    float *sum = device_alloc(add.bytes);

    struct overlap_result result = overlap_output(sum);
    uint32_t state[2] = {add.input.value[1], add.input.value[2]};
    size_t elements = (size_t)add.elements;
    for (size_t at = 0; at < elements; at += PIECE) {
        int now = (int)(at / PIECE % 2);
        size_t count = elements - at < PIECE ? elements - at : PIECE;
        if (at >= 2 * PIECE)
            overlap_reached(now);
        for (int i = 0; i < 2; i++) {
            vecadd_make_some(&state[i], made[i][now], count);
            overlap_upload(OVERLAP_WORK, vector[i] + at, made[i][now],
                           count * sizeof *sum);
        }
        overlap_mark(now, OVERLAP_WORK);
        add_launch(kernel, sum + at, vector[0] + at, vector[1] + at,
                   (int)count);
        overlap_ready(&result, (at + count) * sizeof *sum);
    }
    overlap_finish(&result, add.bytes);
    vecadd_finish(&add);

    device_free(sum);
    for (int i = 0; i < 2; i++) {
        pinned_free(made[1][i]);
        pinned_free(made[0][i]);
        device_free(vector[i]);
    }
    overlap_close();
    return 0;
}
