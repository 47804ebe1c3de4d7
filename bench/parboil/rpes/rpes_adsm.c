/*
 * rpes on adsm.h, which also says what the kernel reads and writes.
 */
#include "common/shared.h"
#include "rpes/rpes.h"

static struct rpes rpes;

static void row_launch(adsmKernel *kernel, float *integrals,
                       const struct rpes_pair *pairs,
                       const struct rpes_product *products,
                       const struct rpes_ket *kets, const float *table,
                       const struct rpes_step *step)
{
    float *row = integrals + step->row;
    int count = step->first_ket + step->kets;
    shared_launch(kernel, step->grid, step->block, adsmInOut(row),
                  adsmIn(pairs), adsmIn(products), adsmIn(kets), adsmIn(table),
                  adsmVal(step->pair), adsmVal(count));
    shared_wait();
}

int main(int argc, char **argv)
{
    rpes_open(&rpes, argc, argv);
    adsmKernel *kernel = shared_kernel(shared_load(), "rpes_row");

    float *integrals = shared_alloc(rpes.integrals_bytes);
    struct rpes_pair *pairs = shared_alloc(rpes.pairs_bytes);
    struct rpes_product *products = shared_alloc(rpes.products_bytes);
    struct rpes_ket *kets = shared_alloc(rpes.kets_bytes);
    float *table = shared_alloc(rpes.table_bytes);

    rpes_table(table);
    struct rpes_step step = rpes_begin(&rpes);
    while (rpes_next(&rpes, &step, pairs, products, kets)) {
        row_launch(kernel, integrals, pairs, products, kets, table, &step);
    }
    bench_output(integrals, rpes.integrals_bytes);
    rpes_finish(&rpes);

    shared_free(table);
    shared_free(kets);
    shared_free(products);
    shared_free(pairs);
    shared_free(integrals);
    return 0;
}
