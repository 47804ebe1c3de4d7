/*
 * The worker pool and launches; see exec/exec.h.
 *
 * The calling thread is worker 0, so that a small grid pays for no wake-up.
 * Locks: `launches` (one launch at a time), then `pool.lock`.
 */
#include "exec/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORKERS 256

struct job {
    const struct sc_module *module;
    const struct sc_kernel *kernel;
    const struct sc_launch *launch;
    uint64_t ctas;
    _Atomic uint64_t next;
    atomic_bool stopped;
    enum sc_exec_status status; /* of the first to fail; pool.lock */
    struct sc_exec_fault fault;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct sc_worker *workers; /* [0] is the caller of a launch */
    pthread_t *threads;
    uint32_t count;   /* workers, 0 = not initialised */
    uint32_t started; /* threads, numbers 1 … started */
    uint64_t serial;  /* of the job, so that each thread takes it once */
    uint32_t wanted, busy;
    struct job *job;
    bool quit;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t launches = PTHREAD_MUTEX_INITIALIZER;

static void fail_job(struct job *job, enum sc_exec_status status,
                     const struct sc_exec_fault *fault)
{
    pthread_mutex_lock(&pool.lock);
    if (job->status == SC_EXEC_OK) {
        job->status = status;
        job->fault = *fault;
    }
    pthread_mutex_unlock(&pool.lock);
    atomic_store(&job->stopped, true);
}

static bool is_cancelled(const struct sc_launch *launch)
{
    return launch->cancel && *launch->cancel;
}

static void run_ctas(struct sc_worker *worker, struct job *job)
{
    const uint32_t *grid = job->launch->grid;
    struct sc_exec_fault fault = {.kernel = job->kernel->info.name};
    if (!sc_worker_prepare(worker, job->module, job->kernel, job->launch)) {
        snprintf(fault.text, sizeof fault.text,
                 "no host memory to run kernel '%.60s'", fault.kernel);
        fail_job(job, SC_EXEC_NO_MEMORY, &fault);
        return;
    }
    while (!atomic_load_explicit(&job->stopped, memory_order_relaxed)) {
        uint64_t at =
            atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (at >= job->ctas)
            return;
        if (is_cancelled(job->launch)) {
            snprintf(fault.text, sizeof fault.text,
                     "kernel '%.60s' was cancelled", fault.kernel);
            fail_job(job, SC_EXEC_TIMEOUT, &fault);
            return;
        }
        uint32_t id[3] = {(uint32_t)(at % grid[0]),
                          (uint32_t)(at / grid[0] % grid[1]),
                          (uint32_t)(at / grid[0] / grid[1])};
        sc_worker_run(worker, id);
        if (worker->cta.status != SC_EXEC_OK)
            fail_job(job, worker->cta.status, &worker->cta.fault);
    }
}

static void *worker_main(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!pool.quit && (pool.serial == seen || number > pool.wanted))
            pthread_cond_wait(&pool.work, &pool.lock);
        if (pool.quit)
            break;
        seen = pool.serial;
        struct job *job = pool.job;
        pthread_mutex_unlock(&pool.lock);
        run_ctas(&pool.workers[number], job);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0)
            pthread_cond_signal(&pool.done);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static void run_job(struct job *job)
{
    uint64_t helpers = job->ctas - 1;
    pthread_mutex_lock(&pool.lock);
    pool.wanted = helpers < pool.started ? (uint32_t)helpers : pool.started;
    pool.busy = pool.wanted;
    pool.job = job;
    pool.serial += pool.wanted > 0;
    if (pool.wanted)
        pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    run_ctas(&pool.workers[0], job);
    pthread_mutex_lock(&pool.lock);
    while (pool.busy)
        pthread_cond_wait(&pool.done, &pool.lock);
    pool.wanted = 0;
    pool.job = NULL;
    pthread_mutex_unlock(&pool.lock);
}

/* Why a launch cannot start; NULL = it can. */
static const char *find_mistake(const struct sc_kernel *kernel,
                                const struct sc_launch *launch)
{
    const struct sc_kernel_info *info = &kernel->info;
    const uint32_t *grid = launch->grid, *block = launch->block;
    for (int i = 0; i < 3; i++) {
        if (!grid[i] || !block[i])
            return "a dimension of grid or block is 0";
        if (info->required_block[0] && block[i] != info->required_block[i])
            return "block differs from the kernel's .reqntid";
    }
    if (grid[0] > INT32_MAX || grid[1] > 65535 || grid[2] > 65535)
        return "grid is larger than 2147483647 x 65535 x 65535";
    if (block[0] > 1024 || block[1] > 1024 || block[2] > 64 ||
        (uint64_t)block[0] * block[1] * block[2] > info->max_threads)
        return "block has more threads than the kernel may";
    if (launch->dynamic_shared_bytes >
        SC_MAX_SHARED_BYTES - info->static_shared_bytes)
        return "more shared memory than a block may have";
    if (info->param_bytes &&
        (!launch->params || launch->param_bytes < info->param_bytes))
        return "fewer parameter bytes than the kernel takes";
    return NULL;
}

enum sc_exec_status sc_kernel_launch(const struct sc_module *module,
                                     size_t kernel,
                                     const struct sc_launch *launch,
                                     struct sc_exec_fault *fault)
{
    struct sc_exec_fault unused;
    fault = fault ? fault : &unused;
    memset(fault, 0, sizeof *fault);
    const char *mistake = "no kernel of that number";
    if (kernel < module->kernel_count) {
        fault->kernel = module->kernels[kernel].info.name;
        mistake = find_mistake(&module->kernels[kernel], launch);
    }
    pthread_mutex_lock(&launches);
    if (!mistake && !pool.count)
        mistake = "the machine is not initialised";
    if (mistake) {
        pthread_mutex_unlock(&launches);
        snprintf(fault->text, sizeof fault->text, "kernel '%.60s': %s",
                 fault->kernel ? fault->kernel : "?", mistake);
        return SC_EXEC_BAD_LAUNCH;
    }
    struct job job = {.module = module,
                      .kernel = &module->kernels[kernel],
                      .launch = launch,
                      .ctas = (uint64_t)launch->grid[0] * launch->grid[1] *
                              launch->grid[2]};
    run_job(&job);
    pthread_mutex_unlock(&launches);
    if (job.status != SC_EXEC_OK)
        *fault = job.fault;
    return job.status;
}

static void free_pool(void)
{
    for (uint32_t i = 0; i < pool.count; i++)
        sc_worker_fini(&pool.workers[i]);
    free(pool.workers);
    free(pool.threads);
    pool.workers = NULL;
    pool.threads = NULL;
    pool.count = pool.started = 0;
    pool.quit = false;
}

bool sc_exec_init(int workers)
{
    if (pool.count)
        return true;
    long online = workers > 0 ? workers : sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = online < 1             ? 1
                 : online > MAX_WORKERS ? MAX_WORKERS
                                        : (uint32_t)online;
    pool.workers = calloc(n, sizeof *pool.workers);
    pool.threads = calloc(n, sizeof *pool.threads);
    bool good = pool.workers && pool.threads;
    for (uint32_t i = 0; good && i < n; i++) {
        good = sc_worker_init(&pool.workers[i], i, n);
        pool.count += good;
    }
    if (!good || !pool.count) {
        free_pool();
        return false;
    }
    sc_fault_init();
    for (uint32_t i = 1; i < n; i++) {
        if (pthread_create(&pool.threads[i], NULL, worker_main,
                           (void *)(uintptr_t)i) != 0)
            break;
        pool.started = i;
    }
    return true;
}

void sc_exec_fini(void)
{
    if (!pool.count)
        return;
    pthread_mutex_lock(&launches);
    pthread_mutex_lock(&pool.lock);
    pool.quit = true;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (uint32_t i = 1; i <= pool.started; i++)
        pthread_join(pool.threads[i], NULL);
    sc_fault_fini();
    free_pool();
    pthread_mutex_unlock(&launches);
}
