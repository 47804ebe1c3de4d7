/*
 * Runs of bytes that go over several rows of an array.
 */
#include "tests/cudart/cudart_test.h"

enum { WIDTH = 12, HEIGHT = 9, ROW = WIDTH * 4, ALL = ROW * HEIGHT };

static cudaArray_t make(size_t width, size_t height)
{
    cudaArray_t array;
    struct cudaChannelFormatDesc desc =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
    OK(cudaMallocArray(&array, &desc, width, height, 0));
    return array;
}

static void fill(uint8_t *bytes, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256 + seed);
}

static void set(cudaArray_t array, const uint8_t *bytes)
{
    OK(cudaMemcpy2DToArray(array, 0, 0, bytes, ROW, ROW, HEIGHT,
                           cudaMemcpyHostToDevice));
}

static void get(uint8_t *bytes, cudaArray_const_t array)
{
    OK(cudaMemcpy2DFromArray(bytes, ROW, array, 0, 0, ROW, HEIGHT,
                             cudaMemcpyDeviceToHost));
}

/* In one row, from the middle over rows to the middle, to the very end. */
static const struct {
    size_t x, y, count;
} runs[] = {{0, 0, ALL},     {8, 2, 16},       {8, 2, ROW - 8},
            {8, 2, ROW},     {8, 2, 3 * ROW},  {8, 2, 4 * ROW - 12},
            {0, 1, 2 * ROW}, {0, 1, ROW + 20}, {ROW - 4, 0, 8},
            {44, 8, 4},      {4, 0, ALL - 4},  {0, 0, 0}};
enum { RUNS = sizeof runs / sizeof *runs };

START_TEST(a_run_goes_on_in_the_next_row)
{
    uint8_t model[ALL], sent[ALL], got[ALL];
    cudaArray_t array = make(WIDTH, HEIGHT);
    for (unsigned i = 0; i < RUNS; i++) {
        size_t at = runs[i].y * ROW + runs[i].x, n = runs[i].count;
        fill(model, ALL, i);
        fill(sent, ALL, i + 100);
        set(array, model);
        OK(cudaMemcpyToArray(array, runs[i].x, runs[i].y, sent, n,
                             cudaMemcpyHostToDevice));
        memcpy(model + at, sent, n);
        get(got, array);
        ck_assert_mem_eq(got, model, ALL);
        memset(got, 0, ALL);
        OK(cudaMemcpyFromArray(got, array, runs[i].x, runs[i].y, n,
                               cudaMemcpyDeviceToHost));
        ck_assert_mem_eq(got, sent, n);
        ck_assert(n == ALL || got[n] == 0);
    }
    OK(cudaFreeArray(array));
}
END_TEST

START_TEST(a_run_goes_on_in_stream_order)
{
    uint8_t sent[ALL], got[ALL];
    cudaStream_t stream;
    void *device;
    cudaArray_t array = make(WIDTH, HEIGHT);
    fill(sent, ALL, 3);
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&device, ALL));
    OK(cudaMemcpyAsync(device, sent, ALL, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyToArrayAsync(array, 20, 1, device, 5 * ROW,
                              cudaMemcpyDeviceToDevice, stream));
    OK(cudaMemcpyFromArrayAsync(got, array, 24, 1, 5 * ROW - 4,
                                cudaMemcpyDefault, stream));
    OK(cudaStreamSynchronize(stream));
    ck_assert_mem_eq(got, sent + 4, 5 * ROW - 4);
}
END_TEST

/* Rows of the same length at the same place, at another, and longer ones. */
START_TEST(a_run_goes_from_array_to_array)
{
    static const struct {
        size_t width, x, y;
    } others[] = {{WIDTH, 8, 2}, {WIDTH, 28, 1}, {WIDTH + 5, 8, 2}};
    uint8_t sent[ALL], got[ALL];
    cudaArray_t array = make(WIDTH, HEIGHT);
    fill(sent, ALL, 9);
    set(array, sent);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        cudaArray_t other = make(others[i].width, HEIGHT);
        size_t n = 5 * ROW + 12;
        OK(cudaMemcpyArrayToArray(other, others[i].x, others[i].y, array, 8, 2,
                                  n, cudaMemcpyDeviceToDevice));
        OK(cudaMemcpyFromArray(got, other, others[i].x, others[i].y, n,
                               cudaMemcpyDeviceToHost));
        ck_assert_mem_eq(got, sent + 2 * ROW + 8, n);
        OK(cudaFreeArray(other));
    }
}
END_TEST

START_TEST(a_run_beyond_the_array_changes_nothing)
{
    uint8_t model[ALL], sent[2 * ALL], got[ALL];
    cudaArray_t array = make(WIDTH, HEIGHT), line = make(WIDTH, 0);
    fill(model, ALL, 1);
    memset(sent, 0, sizeof sent);
    set(array, model);
    WANT(cudaErrorInvalidValue,
         cudaMemcpyToArray(array, 4, 0, sent, ALL, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue,
         cudaMemcpyToArray(array, ROW, 0, sent, 4, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemcpyFromArray(sent, array, 0, HEIGHT, 4,
                                                    cudaMemcpyDeviceToHost));
    WANT(cudaErrorInvalidValue,
         cudaMemcpyArrayToArray(array, 0, 0, line, 0, 0, ROW + 4,
                                cudaMemcpyDeviceToDevice));
    get(got, array);
    ck_assert_mem_eq(got, model, ALL);
}
END_TEST

SUITE_MAIN("cudart_array", 30, a_run_goes_on_in_the_next_row,
           a_run_goes_on_in_stream_order, a_run_goes_from_array_to_array,
           a_run_beyond_the_array_changes_nothing)
