/*
 * Launches: what may start, how CTAs are dealt out, interpreter or native.
 *
 * CTAs start in the order of their numbers, from one counter, however many
 * workers there are: a CTA may wait for one of a lower number, as on hardware,
 * and that one has always begun; where it may wait for a higher one, that is
 * made to begin (stuck.c). Where a program can see it a take is one CTA, else a
 * piece of them. In each take a worker looks whether native code has
 * become ready.
 * Lock: `launches`, one launch at a time.
 */
#include "exec/launch.h"

#include "base/futex.h"
#include "exec/crowd.h"
#include "exec/job.h"
#include "exec/near.h"
#include "exec/touched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A take should not last longer, so that cancelling, native code that became
 * ready and uneven CTAs are noticed, and the order is nearly that of single
 * CTAs. */
#define TAKE_NS 50000u
/* A grid that is expected to take less runs on the calling thread alone. */
#define ALONE_NS 10000u
/* CTAs taken at once while nobody knows how long one takes. */
#define TAKE_UNKNOWN 8u
/* Takes of each worker, so that the last ones end together. */
#define PIECES 32u

static pthread_mutex_t launches = PTHREAD_MUTEX_INITIALIZER;

static bool has(const struct sc_inst *inst, enum sc_modifier modifier)
{
    return inst->mods[modifier / 64] >> modifier % 64 & 1;
}

bool sc_launch_may_wait(const struct sc_func *kernel)
{
    for (size_t i = 0; i < kernel->inst_count; i++) {
        const struct sc_inst *inst = &kernel->insts[i];
        bool load = inst->opcode == SC_OP_ld &&
                    (has(inst, SC_MOD_volatile) || has(inst, SC_MOD_acquire) ||
                     has(inst, SC_MOD_relaxed) || has(inst, SC_MOD_mmio) ||
                     has(inst, SC_MOD_cv));
        if (inst->opcode == SC_OP_call ||
            ((load || inst->opcode == SC_OP_atom) && !has(inst, SC_MOD_shared)))
            return true;
    }
    return false;
}

void sc_job_fail(struct sc_job *job, enum sc_exec_status status,
                 const struct sc_exec_fault *fault)
{
    pthread_mutex_lock(&job->lock);
    if (job->status == SC_EXEC_OK) {
        job->status = status;
        job->fault = *fault;
    }
    pthread_mutex_unlock(&job->lock);
    atomic_store(&job->stopped, true);
}

void sc_job_fail_for_memory(struct sc_job *job)
{
    struct sc_exec_fault fault = {.kernel = job->kernel->info.name};
    snprintf(fault.text, sizeof fault.text,
             "no host memory to run kernel '%.60s'", fault.kernel);
    sc_job_fail(job, SC_EXEC_NO_MEMORY, &fault);
}

bool sc_job_is_stopped(struct sc_job *job)
{
    if (atomic_load_explicit(&job->stopped, memory_order_relaxed))
        return true;
    const volatile int *cancel = job->launch->cancel;
    if (!cancel || !*cancel)
        return false;
    struct sc_exec_fault fault = {.kernel = job->kernel->info.name};
    snprintf(fault.text, sizeof fault.text, "kernel '%.60s' was cancelled",
             fault.kernel);
    sc_job_fail(job, SC_EXEC_TIMEOUT, &fault);
    return true;
}

void sc_job_place(const struct sc_job *job, uint64_t cta, uint32_t id[3])
{
    const uint32_t *grid = job->launch->grid;
    id[0] = (uint32_t)(cta % grid[0]);
    id[1] = (uint32_t)(cta / grid[0] % grid[1]);
    id[2] = (uint32_t)(cta / grid[0] / grid[1]);
}

/* Take the next CTAs. Return: how many from `first`, 0 = none left. */
uint64_t sc_job_take(struct sc_job *job, uint64_t *first)
{
    if (atomic_load_explicit(&job->next, memory_order_relaxed) >= job->ctas)
        return 0;
    *first =
        atomic_fetch_add_explicit(&job->next, job->most, memory_order_relaxed);
    if (*first >= job->ctas)
        return 0;
    return job->ctas - *first < job->most ? job->ctas - *first : job->most;
}

static sc_native_run *native_of(const struct sc_job *job)
{
    return job->variant
               ? atomic_load_explicit(&job->variant->run, memory_order_acquire)
               : NULL;
}

/* Return: CTAs that were run of those from `first`; fewer when the job stops
 * or native code became ready. */
static uint64_t interpret(struct sc_worker *worker, struct sc_job *job,
                          uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t id[3];
        if (i && (sc_job_is_stopped(job) || native_of(job)))
            return i;
        sc_job_place(job, first + i, id);
        sc_worker_run(worker, id);
        if (worker->cta.status != SC_EXEC_OK) {
            sc_job_fail(job, worker->cta.status, &worker->cta.fault);
            return i;
        }
    }
    return count;
}

static uint64_t run_native(struct sc_worker *worker, struct sc_job *job,
                           sc_native_run *run, uint64_t first, uint64_t count)
{
    sc_job_place(job, first, worker->cta.id);
    sc_worker_run_native(worker, job->variant, run, first, count);
    if (worker->cta.status == SC_EXEC_OK)
        return count;
    sc_job_fail(job, worker->cta.status, &worker->cta.fault);
    return 0;
}

/* What one worker did in one job. */
struct sums {
    uint64_t interpreted, native, spent_ns;
};

static void run_take(struct sc_worker *worker, struct sc_job *job,
                     uint64_t first, uint64_t count, struct sums *sums)
{
    while (count && !sc_job_is_stopped(job)) {
        sc_native_run *run = native_of(job);
        uint64_t done, begin = run ? 0 : sc_now_ns();
        if (run) {
            done = run_native(worker, job, run, first, count);
            sums->native += done;
        } else {
            done = interpret(worker, job, first, count);
            sums->interpreted += done;
            if (job->variant)
                sc_build_spend(job->variant, sc_now_ns() - begin);
        }
        first += done;
        count -= done;
        atomic_fetch_add_explicit(&job->ended, done, memory_order_relaxed);
    }
}

static void pause_in(struct sc_worker *worker, void *job)
{
    sc_job_look(job, &worker->watch, worker);
}

static void run_ctas(struct sc_worker *worker, void *argument)
{
    struct sc_job *job = argument;
    struct sums sums = {0};
    uint64_t first, count, begin = sc_now_ns();
    if (!sc_worker_prepare(worker, job->module, job->kernel, job->launch)) {
        sc_job_fail_for_memory(job);
        return;
    }
    worker->watch = (struct sc_watch){0};
    worker->pause = pause_in;
    worker->pause_of = job;
    while (!sc_job_is_stopped(job) && (count = sc_job_take(job, &first)))
        run_take(worker, job, first, count, &sums);
    atomic_fetch_add_explicit(&job->interpreted, sums.interpreted,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&job->native, sums.native, memory_order_relaxed);
    atomic_fetch_add_explicit(&job->work_ns, sc_now_ns() - begin,
                              memory_order_relaxed);
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

/* While its native code is made the compiler, which many launches may wait for,
 * gets a processor. */
static uint32_t spare_workers(const struct sc_job *job)
{
    uint32_t others = sc_pool_workers() - 1;
    bool compiling = job->variant && !job->kernel->may_wait &&
                     atomic_load(&job->variant->state) == SC_BUILD_WORKING;
    return others && compiling ? others - 1 : others;
}

/* Workers beside the caller that the job is worth waking. */
static uint32_t helpers_for(const struct sc_job *job)
{
    uint64_t others = job->ctas - 1, most = spare_workers(job);
    uint64_t guess = job->kernel->cta_ns;
    if (!job->kernel->may_wait && guess && job->ctas < ALONE_NS &&
        job->ctas * guess < ALONE_NS)
        return 0;
    return (uint32_t)(others < most ? others : most);
}

/* CTAs that are taken at once: single ones where one may wait for the next. */
static uint64_t piece_size(const struct sc_job *job)
{
    uint64_t ns = job->kernel->cta_ns;
    uint64_t most = !ns ? TAKE_UNKNOWN : ns < TAKE_NS ? TAKE_NS / ns : 1;
    uint64_t even = job->ctas / ((uint64_t)PIECES * sc_pool_workers());
    uint64_t size = even < most ? even : most;
    bool single = job->kernel->may_wait || job->ctas <= job->resident;
    return size && !single ? size : 1;
}

/* Threads beyond those of the pool that may be of use. */
static uint32_t crowd_for(const struct sc_job *job, uint32_t pool)
{
    uint64_t all = job->ctas < job->resident ? job->ctas : job->resident;
    return all > pool ? (uint32_t)all - pool : 0;
}

static void learn(struct sc_job *job)
{
    uint64_t done = job->interpreted + job->native;
    if (!done || job->status != SC_EXEC_OK)
        return;
    uint64_t now = job->work_ns / done + 1, *mean = &job->kernel->cta_ns;
    *mean = *mean && *mean / 4 < now ? (3 * *mean + now) / 4 : now;
}

static void report(const struct sc_job *job, const char *why)
{
    struct sc_launch_report *report = job->launch->report;
    if (!report)
        return;
    *report = (struct sc_launch_report){
        .interpreted = job->interpreted, .native = job->native, .why = why};
    if (job->variant && atomic_load(&job->variant->state) == SC_BUILD_REFUSED)
        report->why = job->variant->why;
}

/* Once for each kernel; a launch that dies says more. */
static void end_near(struct sc_job *job)
{
    struct sc_near_read read;
    char line[32] = "";
    if (!sc_near_end(&read) || job->status != SC_EXEC_OK ||
        job->kernel->has_strayed)
        return;
    job->kernel->has_strayed = true;
    if (read.line)
        snprintf(line, sizeof line, ", line %u,", read.line);
    fprintf(stderr,
            "softcuda: kernel '%s'%s reads at 0x%llx, which lies outside of "
            "every allocation, and gets 0; SOFTCUDA_STRICT=1 makes it an "
            "error\n",
            job->kernel->info.name, line, (unsigned long long)read.address);
}

static void run_job(struct sc_job *job)
{
    const char *why = "grids that synchronise run in the interpreter";
    const struct sc_launch *launch = job->launch;
    bool together = launch->cooperative && job->ctas > 1;
    if (launch->cooperative && job->kernel->code.workspace)
        memset((void *)(uintptr_t)job->kernel->code.workspace, 0,
               SC_WORKSPACE_BYTES);
    if (job->kernel->solve)
        why = "SOFTCUDA_TOUCHED is for the interpreter";
    else if (!together)
        job->variant = sc_build_find(&job->kernel->native, launch->block, &why);
    if (job->variant) {
        why = NULL;
        sc_build_begin(job->variant, launch->cancel);
    }
    job->resident = sc_job_resident(job);
    job->most = together ? 1 : piece_size(job);
    sc_touched_begin(job->kernel->solve, launch);
    uint32_t helpers = helpers_for(job);
    sc_crowd_open(run_ctas, job, together ? 0 : crowd_for(job, helpers + 1));
    sc_pool_run(helpers, together ? sc_job_together : run_ctas, job);
    sc_crowd_close();
    sc_touched_end(job->kernel->solve, launch);
    end_near(job);
    if (!together)
        learn(job);
    report(job, why);
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
    if (!mistake && !sc_pool_workers())
        mistake = "the machine is not initialised";
    if (mistake) {
        pthread_mutex_unlock(&launches);
        snprintf(fault->text, sizeof fault->text, "kernel '%.60s': %s",
                 fault->kernel ? fault->kernel : "?", mistake);
        return SC_EXEC_BAD_LAUNCH;
    }
    struct sc_job job = {.module = module,
                         .kernel = &module->kernels[kernel],
                         .launch = launch,
                         .ctas = (uint64_t)launch->grid[0] * launch->grid[1] *
                                 launch->grid[2],
                         .lock = PTHREAD_MUTEX_INITIALIZER};
    run_job(&job);
    pthread_mutex_unlock(&launches);
    if (job.status != SC_EXEC_OK)
        *fault = job.fault;
    return job.status;
}

bool sc_exec_init(int workers)
{
    if (sc_pool_workers())
        return true;
    if (!sc_pool_init(workers))
        return false;
    sc_build_init();
    sc_fault_init();
    return true;
}

void sc_exec_fini(void)
{
    if (!sc_pool_workers())
        return;
    pthread_mutex_lock(&launches);
    sc_build_fini();
    sc_pool_fini();
    sc_fault_fini();
    pthread_mutex_unlock(&launches);
}
