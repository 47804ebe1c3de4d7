/*
 * rpes on the CUDA driver API.
 */
#include "common/cuda.h"
#include "rpes/rpes.h"

static struct rpes rpes;

static void row_launch(CUfunction kernel, float *integrals,
                       struct rpes_pair *pairs, struct rpes_product *products,
                       struct rpes_ket *kets, float *table,
                       struct rpes_step *step)
{
    float *row = integrals + step->row;
    int count = step->first_ket + step->kets;
    void *arguments[] = {&row,   &pairs,      &products, &kets,
                         &table, &step->pair, &count};
    launch(kernel, step->grid, step->block, arguments);
    device_wait();
}

int main(int argc, char **argv)
{
    rpes_open(&rpes, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "rpes_row");

    float *integrals = device_alloc(rpes.integrals_bytes);
    struct rpes_pair *pairs = device_alloc(rpes.pairs_bytes);
    struct rpes_product *products = device_alloc(rpes.products_bytes);
    struct rpes_ket *kets = device_alloc(rpes.kets_bytes);
    float *table = device_alloc(rpes.table_bytes);

    rpes_table(table);
    struct rpes_step step = rpes_begin(&rpes);
    while (rpes_next(&rpes, &step, pairs, products, kets)) {
        row_launch(kernel, integrals, pairs, products, kets, table, &step);
    }
    bench_output(integrals, rpes.integrals_bytes);
    rpes_finish(&rpes);

    device_free(table);
    device_free(kets);
    device_free(products);
    device_free(pairs);
    device_free(integrals);
    return 0;
}
