/*
 * rpes on the CUDA driver API, overlapped by hand: the CPU appends pairs and
 * calls kernels without waiting for any, and rows of integrals are written out
 * while later ones are computed.
 */
#include "common/overlap.h"
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
    overlap_launch(kernel, step->grid, step->block, arguments);
}

/* Where the rows up to this one end. */
static size_t row_end(const struct rpes_step *step)
{
    size_t kets = (size_t)(step->first_ket + step->kets);
    return (step->row + (size_t)step->kets * kets) * sizeof(float);
}

int main(int argc, char **argv)
{
    rpes_open(&rpes, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "rpes_row");

    overlap_open(OVERLAP_PIECE_BYTES);
    float *integrals = device_alloc(rpes.integrals_bytes);
    struct rpes_pair *pairs = device_alloc(rpes.pairs_bytes);
    struct rpes_product *products = device_alloc(rpes.products_bytes);
    struct rpes_ket *kets = device_alloc(rpes.kets_bytes);
    float *table = device_alloc(rpes.table_bytes);
    struct rpes_pair *host_pairs = pinned_alloc(rpes.pairs_bytes);
    struct rpes_product *host_products = pinned_alloc(rpes.products_bytes);
    struct rpes_ket *host_kets = pinned_alloc(rpes.kets_bytes);
    float *host_table = pinned_alloc(rpes.table_bytes);

    rpes_table(host_table);
    overlap_upload(OVERLAP_WORK, table, host_table, rpes.table_bytes);
    struct overlap_result result = overlap_output(integrals);
    struct rpes_step step = rpes_begin(&rpes);
    while (rpes_next(&rpes, &step, host_pairs, host_products, host_kets)) {
        overlap_upload(OVERLAP_WORK, pairs + step.pair, host_pairs + step.pair,
                       sizeof *pairs);
        overlap_upload(OVERLAP_WORK, products + step.first_product,
                       host_products + step.first_product,
                       (size_t)step.products * sizeof *products);
        overlap_upload(OVERLAP_WORK, kets + step.first_ket,
                       host_kets + step.first_ket,
                       (size_t)step.kets * sizeof *kets);
        row_launch(kernel, integrals, pairs, products, kets, table, &step);
        overlap_ready(&result, row_end(&step));
    }
    overlap_finish(&result, rpes.integrals_bytes);
    rpes_finish(&rpes);

    pinned_free(host_table);
    pinned_free(host_kets);
    pinned_free(host_products);
    pinned_free(host_pairs);
    device_free(table);
    device_free(kets);
    device_free(products);
    device_free(pairs);
    device_free(integrals);
    overlap_close();
    return 0;
}
