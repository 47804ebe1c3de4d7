/*
 * rpes on the CUDA driver API.
 * Every array exists twice, on the host and on the device, and what one side
 * needs of the other's work is copied: before a row what the CPU has appended.
 */
#include "common/cuda.h"
#include "rpes/rpes.h"

#include <stdlib.h>

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
    float *host_integrals = host_alloc(rpes.integrals_bytes);
    struct rpes_pair *host_pairs = host_alloc(rpes.pairs_bytes);
    struct rpes_product *host_products = host_alloc(rpes.products_bytes);
    struct rpes_ket *host_kets = host_alloc(rpes.kets_bytes);
    float *host_table = host_alloc(rpes.table_bytes);

    rpes_table(host_table);
    upload(table, host_table, rpes.table_bytes);
    struct rpes_step step = rpes_begin(&rpes);
    while (rpes_next(&rpes, &step, host_pairs, host_products, host_kets)) {
        upload(pairs + step.pair, host_pairs + step.pair, sizeof *pairs);
        upload(products + step.first_product,
               host_products + step.first_product,
               (size_t)step.products * sizeof *products);
        upload(kets + step.first_ket, host_kets + step.first_ket,
               (size_t)step.kets * sizeof *kets);
        row_launch(kernel, integrals, pairs, products, kets, table, &step);
    }
    download(host_integrals, integrals, rpes.integrals_bytes);
    bench_output(host_integrals, rpes.integrals_bytes);
    rpes_finish(&rpes);

    free(host_table);
    free(host_kets);
    free(host_products);
    free(host_pairs);
    free(host_integrals);
    device_free(table);
    device_free(kets);
    device_free(products);
    device_free(pairs);
    device_free(integrals);
    return 0;
}
