/*
 * rpes on the CPU: molecule, products of Gaussians, order of work. See rpes.h.
 */
#include "rpes/rpes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct input_field rpes_fields[RPES_FIELDS] = {
    {"shells", 1, 512},
    {"primitives", 1, 8192},
};

static int functions_of(const struct rpes *rpes, int i, int j)
{
    return (int)(rpes->shell[i].axes * rpes->shell[j].axes);
}

/* Counts what all pairs come to. */
static void sizes_set(struct rpes *rpes)
{
    size_t products = 0, kets = 0;
    for (int i = 0; i < rpes->shells; i++)
        for (int j = 0; j <= i; j++) {
            size_t functions = (size_t)functions_of(rpes, i, j);
            kets += functions;
            rpes->integrals += functions * kets;
            products += rpes->shell[i].count * rpes->shell[j].count;
        }
    rpes->pairs = rpes->shells * (rpes->shells + 1) / 2;
    rpes->integrals_bytes = rpes->integrals * sizeof(float);
    rpes->pairs_bytes = (size_t)rpes->pairs * sizeof(struct rpes_pair);
    rpes->products_bytes = products * sizeof(struct rpes_product);
    rpes->kets_bytes = kets * sizeof(struct rpes_ket);
    rpes->table_bytes = RPES_TABLE * sizeof(float);
    if (rpes->integrals_bytes > INPUT_BYTES_MAX ||
        rpes->products_bytes > INPUT_BYTES_MAX)
        input_refuse(&rpes->input, "has %zu integrals, too many",
                     rpes->integrals);
}

static void molecule_check(const struct rpes *rpes)
{
    const struct input *input = &rpes->input;
    for (int i = 0; i < rpes->shells; i++) {
        const struct rpes_shell *shell = &rpes->shell[i];
        input_check(input, "coordinate", shell->centre, 3, -1000.0f, 1000.0f);
        if ((shell->axes != 1 && shell->axes != 3) || shell->count < 1 ||
            shell->first > (uint32_t)rpes->primitives ||
            shell->count > (uint32_t)rpes->primitives - shell->first)
            input_refuse(input,
                         "has a wrong shell %d: %u functions, %u primitives "
                         "from %u",
                         i, shell->axes, shell->count, shell->first);
    }
    for (int i = 0; i < rpes->primitives; i++) {
        input_check(input, "exponent", &rpes->primitive[i].exponent, 1, 1e-3f,
                    1e5f);
        input_check(input, "coefficient", &rpes->primitive[i].coefficient, 1,
                    -1e3f, 1e3f);
    }
}

void rpes_open(struct rpes *rpes, int argc, char **argv)
{
    const char *path = bench_open(argc, argv, BENCH_DATA "/rpes.par");
    input_open(&rpes->input, path, "rpes", rpes_fields, RPES_FIELDS);
    rpes->shells = (int)rpes->input.value[0];
    rpes->primitives = (int)rpes->input.value[1];
    size_t shells = (size_t)rpes->shells * sizeof *rpes->shell;
    size_t primitives = (size_t)rpes->primitives * sizeof *rpes->primitive;
    input_expect(&rpes->input, shells + primitives);
    rpes->shell = bench_alloc(shells);
    rpes->primitive = bench_alloc(primitives);
    input_read(&rpes->input, rpes->shell, shells);
    input_read(&rpes->input, rpes->primitive, primitives);
    input_close(&rpes->input);
    molecule_check(rpes);
    sizes_set(rpes);
}

struct rpes_step rpes_begin(const struct rpes *rpes)
{
    bench_enter(BENCH_CPU);
    return (struct rpes_step){.pair = -1, .block = {RPES_THREADS, 1, 1}};
}

/* A primitive's own norm, so that its square integrates to one. */
static double norm(uint32_t axes, double exponent)
{
    double s = pow(2 * exponent / M_PI, 0.75);
    return axes == 1 ? s : s * 2 * sqrt(exponent);
}

/* All products of the primitives of two shells. Of the constant
 * 2 pi^(5/2) of an integral each pair takes its root. */
static int products_make(const struct rpes *rpes, const struct rpes_shell *a,
                         const struct rpes_shell *b,
                         struct rpes_product *product)
{
    double constant = sqrt(2 * pow(M_PI, 2.5)), square = 0;
    for (int i = 0; i < 3; i++) {
        double d = (double)a->centre[i] - (double)b->centre[i];
        square += d * d;
    }
    for (uint32_t i = a->first; i < a->first + a->count; i++)
        for (uint32_t k = b->first; k < b->first + b->count; k++) {
            double one = (double)rpes->primitive[i].exponent;
            double two = (double)rpes->primitive[k].exponent;
            double sum = one + two;
            double factor = (double)rpes->primitive[i].coefficient *
                            (double)rpes->primitive[k].coefficient *
                            norm(a->axes, one) * norm(b->axes, two);
            product->exponent = (float)sum;
            product->factor =
                (float)(constant * factor * exp(-one * two / sum * square));
            for (int axis = 0; axis < 3; axis++)
                product->centre[axis] =
                    (float)((one * (double)a->centre[axis] +
                             two * (double)b->centre[axis]) /
                            sum);
            product++;
        }
    return (int)(a->count * b->count);
}

static int kets_make(const struct rpes_pair *pair, int number,
                     struct rpes_ket *ket)
{
    for (int a = 0; a < pair->axes_a; a++)
        for (int b = 0; b < pair->axes_b; b++) {
            int axis_a = pair->axes_a == 1 ? RPES_NO_AXIS : a;
            int axis_b = pair->axes_b == 1 ? RPES_NO_AXIS : b;
            *ket++ = (struct rpes_ket){number, axis_a + 4 * axis_b};
        }
    return pair->axes_a * pair->axes_b;
}

bool rpes_next(const struct rpes *rpes, struct rpes_step *step,
               struct rpes_pair *pairs, struct rpes_product *products,
               struct rpes_ket *kets)
{
    if (step->pair + 1 == rpes->pairs)
        return false;
    if (step->pair >= 0)
        step->row +=
            (size_t)step->grid.y * (size_t)(step->first_ket + step->kets);
    step->pair++;
    step->first_product += step->products;
    step->first_ket += step->kets;
    int i = (int)((sqrt(8.0 * step->pair + 1) - 1) / 2);
    const struct rpes_shell *a = &rpes->shell[i];
    const struct rpes_shell *b = &rpes->shell[step->pair - i * (i + 1) / 2];
    step->products = products_make(rpes, a, b, products + step->first_product);
    struct rpes_pair pair = {(int)a->axes,   (int)b->axes, step->first_product,
                             step->products, {0},          {0}};
    for (int axis = 0; axis < 3; axis++) {
        pair.a[axis] = a->centre[axis];
        pair.ab[axis] = a->centre[axis] - b->centre[axis];
    }
    pairs[step->pair] = pair;
    step->kets = kets_make(&pair, step->pair, kets + step->first_ket);
    unsigned count = (unsigned)(step->first_ket + step->kets);
    step->grid = (struct bench_dim){(count + RPES_THREADS - 1) / RPES_THREADS,
                                    (unsigned)step->kets, 1};
    return true;
}

void rpes_finish(struct rpes *rpes)
{
    if (bench_end())
        rpes_verify(rpes, bench_result(rpes->integrals_bytes));
    bench_report();
    free(rpes->shell);
    free(rpes->primitive);
}
