/*
 * Kernels on the software device against the same algorithms in C with OpenMP
 * and in OpenCL C on PoCL, alternately in one run, all warm, all cores.
 *
 * Every result is compared with C's before anything is timed. The ratio is
 * time over the peer's: below 1 the software device is faster. The last lines
 * are geometric means.
 */
#include "../micro/bench.h"
#include "job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *job_add(struct job *job, size_t bytes, enum job_compare compare)
{
    struct job_array *array = &job->array[job->arrays++];
    *array = (struct job_array){.bytes = bytes, .compare = compare};
    array->host = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (!array->host) {
        fprintf(stderr, "bench_kernels: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    memset(array->host, 0, bytes);
    return array->host;
}

static bool is_close(enum job_compare compare, const void *a, const void *b)
{
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    float most = compare == JOB_LOOSE ? 2e-2f : 1e-3f;
    return fabsf(x - y) <= most * (1 + fabsf(y));
}

/* Whether the device's array holds what C's does. */
static bool is_same(const struct job_array *array, const char *device)
{
    const char *host = array->host;
    size_t wrong = 0;
    for (size_t at = 0; at < array->bytes; at += 4) {
        bool floats =
            array->compare == JOB_FLOATS || array->compare == JOB_LOOSE;
        wrong += floats ? !is_close(array->compare, device + at, host + at)
                        : memcmp(device + at, host + at, 4) != 0;
    }
    return array->compare == JOB_ROUGHLY ? wrong * 50 <= array->bytes / 4
                                         : wrong == 0;
}

static void upload(struct job *job, const struct side *side)
{
    for (int i = 0; i < job->arrays; i++) {
        struct job_array *array = &job->array[i];
        array->device = side->alloc(array->bytes);
        side->upload(array->device, array->original, array->bytes);
    }
}

/* The side's first run, from the original input. */
static void verify(const struct job_case *one, struct job *job,
                   const struct side *side)
{
    upload(job, side);
    one->device(job, side);
    side->finish();
    for (int i = 0; i < job->arrays; i++) {
        const struct job_array *array = &job->array[i];
        if (array->compare == JOB_INPUT)
            continue;
        char *result = malloc(array->bytes);
        if (!result)
            exit(1);
        side->download(result, array->device, array->bytes);
        if (!is_same(array, result)) {
            fprintf(stderr, "bench_kernels: %s: %s and C differ\n", one->name,
                    side->name);
            exit(1);
        }
        free(result);
    }
}

/* Worker threads of the side that ran last may still spin for work. */
static void settle(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static double host_ms(const struct job_case *one, struct job *job)
{
    settle();
    uint64_t start = bench_now();
    for (int i = 0; i < job->repeat; i++)
        one->host(job);
    return (double)(bench_now() - start) / 1e6 / job->repeat;
}

static double side_ms(const struct job_case *one, struct job *job,
                      const struct side *side)
{
    settle();
    uint64_t start = bench_now();
    for (int i = 0; i < job->repeat; i++)
        one->device(job, side);
    side->finish();
    return (double)(bench_now() - start) / 1e6 / job->repeat;
}

static void release(struct job *job, const struct side *side)
{
    for (int i = 0; i < job->arrays; i++)
        side->free(job->array[i].device);
}

/* Ours and the peer alternately, so that other work on the machine meets
 * both alike. */
static void measure(const struct job_case *one, struct job *job,
                    const struct side *side, double *log_sum)
{
    struct bench_samples ours = {0}, peer = {0};
    verify(one, job, side);
    for (int i = 0; i < 2; i++)
        side_ms(one, job, side);
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peer, host_ms(one, job));
        bench_add(&ours, side_ms(one, job, side));
    }
    release(job, side);
    char name[64];
    snprintf(name, sizeof name, "%s/%s", one->name, side->name);
    bench_report(name, "ms", &ours, "C with OpenMP", &peer);
    *log_sum += log(bench_median(&ours) / bench_median(&peer));
}

static void run(const struct job_case *one, const struct side *const sides[2],
                double log_sum[2])
{
    struct job job = {.n = bench_quick() ? one->quick_n : one->n,
                      .repeat = one->repeat};
    one->fill(&job);
    for (int i = 0; i < job.arrays; i++) {
        struct job_array *array = &job.array[i];
        array->original = malloc(array->bytes);
        if (!array->original)
            exit(1);
        memcpy(array->original, array->host, array->bytes);
    }
    one->host(&job);
    for (int s = 0; s < 2; s++)
        if (sides[s])
            measure(one, &job, sides[s], &log_sum[s]);
    for (int i = 0; i < job.arrays; i++) {
        free(job.array[i].host);
        free(job.array[i].original);
    }
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "kernels");
    setenv("SOFTCUDA_NATIVE", "wait", 0);
    setenv("SOFTCUDA_MEMORY", "1G", 0);
    const struct side *sides[2] = {side_cuda(), side_opencl()};
    double log_sum[2] = {0, 0};
    for (int i = 0; i < job_case_count; i++)
        run(&job_cases[i], sides, log_sum);
    for (int s = 0; s < 2; s++)
        if (sides[s]) {
            struct bench_samples mean = {0}, one = {{1}, 1};
            char name[64];
            bench_add(&mean, exp(log_sum[s] / job_case_count));
            snprintf(name, sizeof name, "geometric mean/%s", sides[s]->name);
            bench_report(name, "x", &mean, "C with OpenMP", &one);
        }
    return 0;
}
