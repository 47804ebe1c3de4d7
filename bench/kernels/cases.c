/*
 * The cases: sizes, inputs, and the launches of each algorithm.
 *
 * Owns nothing; the arrays belong to the job.
 */
#include "host.h"
#include "job.h"

static uint64_t state = 1;

uint32_t job_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

float job_uniform(float low, float high)
{
    return low + (high - low) * (float)job_random() / 2147483648.0f;
}

static float *floats(struct job *job, int n, float low, float high)
{
    float *p = job_add(job, (size_t)n * sizeof *p, JOB_INPUT);
    for (int i = 0; i < n; i++)
        p[i] = job_uniform(low, high);
    return p;
}

static struct side_arg memory(const struct job *job, int array)
{
    return (struct side_arg){.kind = SIDE_MEMORY,
                             .memory = job->array[array].device};
}

static struct side_arg number(int i)
{
    return (struct side_arg){.kind = SIDE_INT, .i = i};
}

static struct side_arg real(float f)
{
    return (struct side_arg){.kind = SIDE_FLOAT, .f = f};
}

#define LAUNCH(kernel, grid_x, grid_y, grid_z, x, y, z, ...)                   \
    do {                                                                       \
        const struct side_arg args_[] = {__VA_ARGS__};                         \
        side->launch(kernel,                                                   \
                     (unsigned[3]){(unsigned)(grid_x), (unsigned)(grid_y),     \
                                   (unsigned)(grid_z)},                        \
                     (unsigned[3]){x, y, z}, args_,                            \
                     (int)(sizeof args_ / sizeof *args_));                     \
    } while (0)

#define HOST(i) (job->array[i].host)

static void vecadd_fill(struct job *job)
{
    floats(job, job->n, -1, 1);
    floats(job, job->n, -1, 1);
    job_add(job, (size_t)job->n * 4, JOB_EXACT);
}

static void vecadd_host(struct job *job)
{
    host_vecadd(HOST(0), HOST(1), HOST(2), job->n);
}

static void vecadd_device(struct job *job, const struct side *side)
{
    LAUNCH("vecadd", (job->n + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1,
           memory(job, 0), memory(job, 1), memory(job, 2), number(job->n));
}

static void sgemm_fill(struct job *job)
{
    floats(job, job->n * job->n, -1, 1);
    floats(job, job->n * job->n, -1, 1);
    job_add(job, (size_t)job->n * (size_t)job->n * 4, JOB_FLOATS);
}

static void sgemm_host(struct job *job)
{
    host_sgemm(HOST(0), HOST(1), HOST(2), job->n);
}

static void sgemm_device(struct job *job, const struct side *side)
{
    LAUNCH("sgemm", job->n / TILE, job->n / TILE, 1, TILE, TILE, 1,
           memory(job, 0), memory(job, 1), memory(job, 2), number(job->n));
}

static void mriq_fill(struct job *job)
{
    job->size = 256;
    floats(job, 4 * job->size, -1, 1);
    for (int i = 0; i < 3; i++)
        floats(job, job->n, -1, 1);
    job_add(job, (size_t)job->n * 4, JOB_LOOSE);
    job_add(job, (size_t)job->n * 4, JOB_LOOSE);
}

static void mriq_host(struct job *job)
{
    host_mriq(HOST(0), job->size, HOST(1), HOST(2), HOST(3), HOST(4), HOST(5),
              job->n);
}

static void mriq_device(struct job *job, const struct side *side)
{
    LAUNCH("mriq", job->n / BLOCK, 1, 1, BLOCK, 1, 1, memory(job, 0),
           number(job->size), memory(job, 1), memory(job, 2), memory(job, 3),
           memory(job, 4), memory(job, 5));
}

#define MANDELBROT_LEFT -2.0f
#define MANDELBROT_TOP  -1.25f
#define MANDELBROT_MOST 256

static void mandelbrot_fill(struct job *job)
{
    job_add(job, (size_t)job->n * (size_t)job->n * 4, JOB_ROUGHLY);
}

static void mandelbrot_host(struct job *job)
{
    host_mandelbrot(HOST(0), job->n, job->n, MANDELBROT_LEFT, MANDELBROT_TOP,
                    2.5f / (float)job->n, MANDELBROT_MOST);
}

static void mandelbrot_device(struct job *job, const struct side *side)
{
    LAUNCH("mandelbrot", job->n / 16, job->n / 16, 1, 16, 16, 1, memory(job, 0),
           number(job->n), real(MANDELBROT_LEFT), real(MANDELBROT_TOP),
           real(2.5f / (float)job->n), number(MANDELBROT_MOST));
}

static void ints_fill(struct job *job)
{
    int *p = job_add(job, (size_t)job->n * 4, JOB_INPUT);
    for (int i = 0; i < job->n; i++)
        p[i] = (int)job_random();
}

static void reduction_fill(struct job *job)
{
    ints_fill(job);
    job_add(job, 4, JOB_EXACT);
}

static void reduction_host(struct job *job)
{
    host_reduction(HOST(0), job->n, HOST(1));
}

static void reduction_device(struct job *job, const struct side *side)
{
    side->zero(job->array[1].device, 4);
    LAUNCH("reduction", 128, 1, 1, BLOCK, 1, 1, memory(job, 0), number(job->n),
           memory(job, 1));
}

/* Sums of blocks, of blocks of blocks, and of those: 2^24 elements at most. */
static void scan_fill(struct job *job)
{
    ints_fill(job);
    job_add(job, (size_t)job->n * 4, JOB_EXACT);
    size_t bytes = (size_t)job->n * 4 / BLOCK;
    for (int level = 0; level < 2; level++, bytes /= BLOCK) {
        size_t padded = bytes < BLOCK * 4 ? BLOCK * 4 : bytes;
        job_add(job, padded, JOB_INPUT);
        job_add(job, padded, JOB_INPUT);
    }
    job_add(job, BLOCK * 4, JOB_INPUT);
}

static void scan_host(struct job *job)
{
    host_scan(HOST(0), HOST(1), job->n);
}

static void scan_device(struct job *job, const struct side *side)
{
    int blocks = job->n / BLOCK;
    int more = (blocks + BLOCK - 1) / BLOCK;
    LAUNCH("scan_blocks", blocks, 1, 1, BLOCK, 1, 1, memory(job, 0),
           memory(job, 1), memory(job, 2));
    LAUNCH("scan_blocks", more, 1, 1, BLOCK, 1, 1, memory(job, 2),
           memory(job, 3), memory(job, 4));
    LAUNCH("scan_blocks", 1, 1, 1, BLOCK, 1, 1, memory(job, 4), memory(job, 5),
           memory(job, 6));
    LAUNCH("scan_add", more, 1, 1, BLOCK, 1, 1, memory(job, 3), memory(job, 5));
    LAUNCH("scan_add", blocks, 1, 1, BLOCK, 1, 1, memory(job, 1),
           memory(job, 3));
}

static void histogram_fill(struct job *job)
{
    ints_fill(job);
    job_add(job, BINS * 4, JOB_EXACT);
}

static void histogram_host(struct job *job)
{
    host_histogram(HOST(0), job->n, HOST(1));
}

static void histogram_device(struct job *job, const struct side *side)
{
    side->zero(job->array[1].device, BINS * 4);
    LAUNCH("histogram", 64, 1, 1, BINS, 1, 1, memory(job, 0), number(job->n),
           memory(job, 1));
}

static void stencil_fill(struct job *job)
{
    int cells = job->n * job->n * job->n;
    floats(job, cells, -1, 1);
    job_add(job, (size_t)cells * 4, JOB_FLOATS);
}

static void stencil_host(struct job *job)
{
    host_stencil(HOST(0), HOST(1), job->n);
}

static void stencil_device(struct job *job, const struct side *side)
{
    LAUNCH("stencil", job->n / 32, job->n / 8, job->n, 32, 8, 1, memory(job, 0),
           memory(job, 1), number(job->n));
}

static void spmv_fill(struct job *job)
{
    job->size = 16;
    int *rows = job_add(job, (size_t)(job->n + 1) * 4, JOB_INPUT);
    rows[0] = 0;
    for (int i = 0; i < job->n; i++)
        rows[i + 1] =
            rows[i] + job->size / 2 + (int)(job_random() % (unsigned)job->size);
    int *columns = job_add(job, (size_t)rows[job->n] * 4, JOB_INPUT);
    for (int i = 0; i < rows[job->n]; i++)
        columns[i] = (int)(job_random() % (unsigned)job->n);
    floats(job, rows[job->n], -1, 1);
    floats(job, job->n, -1, 1);
    job_add(job, (size_t)job->n * 4, JOB_FLOATS);
}

static void spmv_host(struct job *job)
{
    host_spmv(HOST(0), HOST(1), HOST(2), HOST(3), HOST(4), job->n);
}

static void spmv_device(struct job *job, const struct side *side)
{
    LAUNCH("spmv", job->n / BLOCK, 1, 1, BLOCK, 1, 1, memory(job, 0),
           memory(job, 1), memory(job, 2), memory(job, 3), memory(job, 4),
           number(job->n));
}

/* The network does the same work whatever order the data is in. */
static void bitonic_fill(struct job *job)
{
    ints_fill(job);
    job->array[0].compare = JOB_EXACT;
}

static void bitonic_host(struct job *job)
{
    host_bitonic(HOST(0), job->n);
}

static void bitonic_device(struct job *job, const struct side *side)
{
    int pairs = job->n / 2 / BLOCK;
    LAUNCH("bitonic_block", pairs, 1, 1, BLOCK, 1, 1, memory(job, 0), number(2),
           number(2 * BLOCK));
    for (int size = 4 * BLOCK; size <= job->n; size *= 2) {
        for (int step = size / 2; step > BLOCK; step /= 2)
            LAUNCH("bitonic_step", pairs, 1, 1, BLOCK, 1, 1, memory(job, 0),
                   number(size), number(step));
        LAUNCH("bitonic_block", pairs, 1, 1, BLOCK, 1, 1, memory(job, 0),
               number(size), number(size));
    }
}

static void nbody_fill(struct job *job)
{
    floats(job, 4 * job->n, 0, 1);
    job_add(job, (size_t)job->n * sizeof(float4_), JOB_FLOATS);
}

static void nbody_host(struct job *job)
{
    host_nbody(HOST(0), HOST(1), job->n);
}

static void nbody_device(struct job *job, const struct side *side)
{
    LAUNCH("nbody", job->n / BLOCK, 1, 1, BLOCK, 1, 1, memory(job, 0),
           memory(job, 1), number(job->n));
}

static void blackscholes_fill(struct job *job)
{
    floats(job, job->n, 5, 30);
    floats(job, job->n, 1, 100);
    floats(job, job->n, 0.25f, 10);
    job_add(job, (size_t)job->n * 4, JOB_FLOATS);
    job_add(job, (size_t)job->n * 4, JOB_FLOATS);
}

static void blackscholes_host(struct job *job)
{
    host_blackscholes(HOST(0), HOST(1), HOST(2), HOST(3), HOST(4), job->n);
}

static void blackscholes_device(struct job *job, const struct side *side)
{
    LAUNCH("blackscholes", (job->n + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1,
           memory(job, 0), memory(job, 1), memory(job, 2), memory(job, 3),
           memory(job, 4), number(job->n));
}

static void heat_fill(struct job *job)
{
    size_t cells = (size_t)job->n * (size_t)job->n;
    floats(job, (int)cells, 20, 80);
    floats(job, (int)cells, 0, 1);
    job_add(job, cells * 4, JOB_INPUT);
    job_add(job, cells * 4, JOB_FLOATS);
}

static void heat_host(struct job *job)
{
    host_heat(HOST(0), HOST(1), HOST(2), HOST(3), job->n);
}

static void heat_device(struct job *job, const struct side *side)
{
    int tiles = (job->n + HEAT_INNER - 1) / HEAT_INNER;
    LAUNCH("heat", tiles, tiles, 1, TILE, TILE, 1, memory(job, 0),
           memory(job, 1), memory(job, 3), number(job->n));
}

enum { ROWS, EDGES, FRONTIER, REACHED, SEEN, COST, MORE };

/* 2 to 9 edges of a node, to anywhere: a few levels, most of them short. */
static void bfs_fill(struct job *job)
{
    int *rows = job_add(job, (size_t)(job->n + 1) * 4, JOB_INPUT);
    rows[0] = 0;
    for (int i = 0; i < job->n; i++)
        rows[i + 1] = rows[i] + 2 + (int)(job_random() % 8);
    int *edges = job_add(job, (size_t)rows[job->n] * 4, JOB_INPUT);
    for (int i = 0; i < rows[job->n]; i++)
        edges[i] = (int)(job_random() % (unsigned)job->n);
    for (int flags = FRONTIER; flags <= SEEN; flags++)
        job_add(job, (size_t)job->n, JOB_INPUT);
    job_add(job, (size_t)job->n * 4, JOB_EXACT);
    job_add(job, 4, JOB_INPUT);
}

static void bfs_host(struct job *job)
{
    host_bfs(HOST(ROWS), HOST(EDGES), HOST(FRONTIER), HOST(REACHED), HOST(SEEN),
             HOST(COST), job->n);
}

/* Each level asks the device whether there is more to do. */
static void bfs_device(struct job *job, const struct side *side)
{
    int blocks = (job->n + BLOCK - 1) / BLOCK, more = 1;
    LAUNCH("bfs_start", blocks, 1, 1, BLOCK, 1, 1, memory(job, FRONTIER),
           memory(job, REACHED), memory(job, SEEN), memory(job, COST),
           number(job->n));
    while (more) {
        side->zero(job->array[MORE].device, 4);
        LAUNCH("bfs_reach", blocks, 1, 1, BLOCK, 1, 1, memory(job, ROWS),
               memory(job, EDGES), memory(job, FRONTIER), memory(job, REACHED),
               memory(job, SEEN), memory(job, COST), number(job->n));
        LAUNCH("bfs_next", blocks, 1, 1, BLOCK, 1, 1, memory(job, FRONTIER),
               memory(job, REACHED), memory(job, SEEN), memory(job, MORE),
               number(job->n));
        side->download(&more, job->array[MORE].device, sizeof more);
    }
}

#define CASE(name, n, quick, repeat, run)                                      \
    {                                                                          \
        name, n, quick, repeat, run##_fill, run##_host, run##_device           \
    }
const struct job_case job_cases[] = {
    CASE("vecadd/memory", 16 << 20, 1 << 20, 1, vecadd),
    CASE("vecadd/cache", 160 << 10, 16 << 10, 50, vecadd),
    CASE("sgemm", 512, 64, 1, sgemm),
    CASE("mri-q", 32 << 10, 1 << 10, 1, mriq),
    CASE("mandelbrot", 768, 64, 1, mandelbrot),
    CASE("reduction", 16 << 20, 1 << 18, 1, reduction),
    CASE("scan", 4 << 20, 1 << 16, 1, scan),
    CASE("histogram", 2 << 20, 1 << 16, 1, histogram),
    CASE("stencil", 256, 32, 1, stencil),
    CASE("spmv", 256 << 10, 4 << 10, 1, spmv),
    CASE("bitonic", 256 << 10, 8 << 10, 1, bitonic),
    CASE("n-body", 8 << 10, 1 << 10, 1, nbody),
    CASE("heat/tiles", 1536, 96, 1, heat),
    CASE("bfs", 512 << 10, 4 << 10, 1, bfs),
    CASE("black-scholes", 1 << 20, 16 << 10, 1, blackscholes),
};
const int job_case_count = sizeof job_cases / sizeof *job_cases;
