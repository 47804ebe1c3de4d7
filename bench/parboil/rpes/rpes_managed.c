/*
 * rpes on managed memory.
 * What both sides use exists once and the driver moves its pages; nothing is
 * copied.
 */
#include "common/managed.h"
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

    float *integrals = managed_alloc(rpes.integrals_bytes);
    struct rpes_pair *pairs = managed_alloc(rpes.pairs_bytes);
    struct rpes_product *products = managed_alloc(rpes.products_bytes);
    struct rpes_ket *kets = managed_alloc(rpes.kets_bytes);
    float *table = managed_alloc(rpes.table_bytes);

    rpes_table(table);
    read_mostly(table, rpes.table_bytes);
    prefer_device(integrals, rpes.integrals_bytes);
    prefetch_to_device(table, rpes.table_bytes);
    prefetch_to_device(integrals, rpes.integrals_bytes);
    struct rpes_step step = rpes_begin(&rpes);
    while (rpes_next(&rpes, &step, pairs, products, kets)) {
        prefetch_to_device(pairs + step.pair, sizeof *pairs);
        prefetch_to_device(products + step.first_product,
                           (size_t)step.products * sizeof *products);
        prefetch_to_device(kets + step.first_ket,
                           (size_t)step.kets * sizeof *kets);
        row_launch(kernel, integrals, pairs, products, kets, table, &step);
    }
    prefetch_to_host(integrals, rpes.integrals_bytes);
    bench_output(integrals, rpes.integrals_bytes);
    rpes_finish(&rpes);

    device_free(table);
    device_free(kets);
    device_free(products);
    device_free(pairs);
    device_free(integrals);
    return 0;
}
