/*
 * vecadd on the CPU: making the vectors and adding them again. See vecadd.h.
 *
 * Tolerance: none. A sum of two f32 has one right result, which f64 holds
 * exactly before it is rounded; 1e-30 stands for the division by it.
 */
#include "vecadd/vecadd.h"

#include <stdlib.h>

const struct input_field vecadd_fields[VECADD_FIELDS] = {
    {"elements", 1, 1 << 28},
    {"seed_a", 1, UINT32_MAX},
    {"seed_b", 1, UINT32_MAX},
};

void vecadd_open(struct vecadd *add, int argc, char **argv)
{
    const char *path = bench_open(argc, argv, BENCH_DATA "/vecadd.par");
    input_open(&add->input, path, "vecadd", vecadd_fields, VECADD_FIELDS);
    input_expect(&add->input, 0);
    input_close(&add->input);
    add->elements = (int)add->input.value[0];
    add->bytes = (size_t)add->elements * sizeof(float);
    add->block = (struct bench_dim){256, 1, 1};
    add->grid = (struct bench_dim){((unsigned)add->elements + 255) / 256, 1, 1};
}

void vecadd_make_some(uint32_t *at, float *values, size_t count)
{
    bench_work();
    bench_enter(BENCH_CPU);
    uint32_t state = *at;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        values[i] = (float)(state >> 8) * 0x1p-24f - 0.5f;
    }
    *at = state;
}

void vecadd_make(const struct vecadd *add, int which, float *values)
{
    uint32_t state = add->input.value[1 + which];
    vecadd_make_some(&state, values, (size_t)add->elements);
}

void vecadd_finish(struct vecadd *add)
{
    if (bench_end()) {
        const float *sum = bench_result(add->bytes);
        float *a = bench_alloc(add->bytes), *b = bench_alloc(add->bytes);
        vecadd_make(add, 0, a);
        vecadd_make(add, 1, b);
        for (int i = 0; i < add->elements; i++)
            bench_check("sum", (size_t)i, (double)sum[i],
                        (double)(float)((double)a[i] + (double)b[i]), 1e-30);
        free(a);
        free(b);
    }
    bench_report();
}
