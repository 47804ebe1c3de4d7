/*
 * Owns: variants, the queue of jobs, the threads that work on them.
 * Does not own: generating (native.h), compiling and loading (build_object.h).
 * Lock: `lock`, a leaf. A job's `variant` is NULL once its kernel went; only
 * generating looks at the IR, and sc_build_kernel_drop waits for that.
 */
#include "native/build.h"

#include "base/aside.h"
#include "native/build_cache.h"
#include "native/build_cc.h"
#include "native/build_keep.h"
#include "native/build_later.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Work of the interpreter that pays for a compiler run of a fiftieth of a
 * second or more: programs of small launches never start one. */
#define WORTH_NS    2000000u
#define MAX_THREADS 4

struct job {
    struct job *next;
    struct sc_build_variant *variant; /* NULL: nobody wants it any more */
    bool generating;
};

static struct {
    pthread_cond_t work;    /* a job was queued, or quit */
    pthread_cond_t changed; /* a state, or the end of generating */
    struct job *first, **last;
    struct job *current[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    int thread_count;
    bool open, quit;
    struct sc_build_options options; /* fixed while open */
} build = {.work = PTHREAD_COND_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER,
           .last = &build.first};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sc_build_init(void)
{
    pthread_mutex_lock(&lock);
    sc_build_options_read(&build.options);
    sc_build_object_reset();
    build.open = true;
    build.quit = false;
    pthread_mutex_unlock(&lock);
}

/* The state the launcher sees; holds the lock. */
static void set_state(struct sc_build_variant *variant,
                      enum sc_build_state state)
{
    atomic_store_explicit(&variant->state, state, memory_order_release);
    pthread_cond_broadcast(&build.changed);
}

/* Generate under the protection of `generating`. Return: text or NULL. */
static void generate(struct job *job, struct sc_native_code *code,
                     struct sc_build_keep *keep)
{
    struct sc_build_variant *variant = job->variant;
    const struct sc_build_kernel *kernel = variant->kernel;
    memset(code, 0, sizeof *code);
    sc_build_keep_name(keep, &build.options, kernel->func->name,
                       variant->block);
    if (!sc_native_generate(kernel->ir, kernel->func, variant->block,
                            build.options.isa, code)) {
        free(code->text);
        code->text = NULL;
        if (!code->why[0])
            snprintf(code->why, sizeof code->why, "the generator refused it");
    }
}

static void finish(struct job *job, const struct sc_native_code *code,
                   struct sc_build_object *object)
{
    pthread_mutex_lock(&lock);
    struct sc_build_variant *variant = job->variant;
    if (variant && object->run) {
        variant->object = *object;
        *object = (struct sc_build_object){0};
        variant->save = code->save;
        atomic_store_explicit(&variant->run, variant->object.run,
                              memory_order_release);
        set_state(variant, SC_BUILD_READY);
    } else if (variant) {
        memcpy(variant->why, code->why, sizeof variant->why);
        set_state(variant, SC_BUILD_REFUSED);
    }
    job->variant = NULL;
    pthread_mutex_unlock(&lock);
    sc_build_object_drop(object); /* of a kernel that went meanwhile */
}

static void work_on(struct job *job)
{
    struct sc_native_code code;
    struct sc_build_keep keep;
    struct sc_build_object object = {0};
    generate(job, &code, &keep);
    pthread_mutex_lock(&lock);
    job->generating = false;
    bool wanted = job->variant != NULL;
    pthread_cond_broadcast(&build.changed);
    pthread_mutex_unlock(&lock);
    sc_build_keep_write(&keep, code.text, code.text ? NULL : code.why);
    if (code.text && wanted &&
        !sc_build_object_get(&object, &build.options, code.text,
                             sc_build_keep_path(&keep), code.why,
                             sizeof code.why))
        sc_build_keep_write(&keep, NULL, code.why);
    finish(job, &code, &object);
    free(code.text);
}

static void *thread_main(void *argument)
{
    struct job **current = argument;
    sc_aside_end();
    pthread_mutex_lock(&lock);
    while (!build.quit) {
        struct job *job = build.first;
        if (!job) {
            pthread_cond_wait(&build.work, &lock);
            continue;
        }
        build.first = job->next;
        if (!build.first)
            build.last = &build.first;
        job->generating = job->variant != NULL;
        *current = job;
        pthread_mutex_unlock(&lock);
        if (job->generating)
            work_on(job);
        pthread_mutex_lock(&lock);
        *current = NULL;
        free(job);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* At normal priority: beside busy workers a lower one would take seconds for
 * what the kernel runs many times faster with. Holds the lock. */
static bool start_thread(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int limit = cores < 4                 ? 1
                : cores / 2 > MAX_THREADS ? MAX_THREADS
                                          : (int)(cores / 2);
    if (build.thread_count == limit)
        return true;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int n = build.thread_count;
    bool good = pthread_create(&build.threads[n], NULL, thread_main,
                               &build.current[n]) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    build.thread_count += good;
    return build.thread_count > 0;
}

static void refuse(struct sc_build_variant *variant, const char *why)
{
    snprintf(variant->why, sizeof variant->why, "%s", why);
    set_state(variant, SC_BUILD_REFUSED);
}

/* Queue the variant unless that has happened; holds the lock. */
static void queue(struct sc_build_variant *variant)
{
    if (atomic_load_explicit(&variant->state, memory_order_relaxed) !=
            SC_BUILD_IDLE ||
        !build.open || build.quit)
        return;
    struct job *job = malloc(sizeof *job);
    if (!job || !start_thread()) {
        free(job);
        refuse(variant, "no memory or no thread to compile it");
        return;
    }
    *job = (struct job){.variant = variant};
    *build.last = job;
    build.last = &job->next;
    set_state(variant, SC_BUILD_WORKING);
    pthread_cond_signal(&build.work);
}

struct sc_build_variant *sc_build_find(struct sc_build_kernel *kernel,
                                       const uint32_t block[3],
                                       const char **why)
{
    *why = "native code is off";
    if (build.options.mode == SC_BUILD_OFF || !build.open)
        return NULL;
    struct sc_build_variant *variant = kernel->variants;
    while (variant && memcmp(variant->block, block, sizeof variant->block) != 0)
        variant = variant->next;
    if (variant)
        return variant;
    *why = "launched with too many block sizes";
    if (kernel->count == SC_BUILD_VARIANTS ||
        !(variant = calloc(1, sizeof *variant)))
        return NULL;
    variant->kernel = kernel;
    memcpy(variant->block, block, sizeof variant->block);
    variant->next = kernel->variants;
    kernel->variants = variant;
    kernel->count++;
    return variant;
}

static bool is_open(const struct sc_build_variant *variant)
{
    uint32_t state =
        atomic_load_explicit(&variant->state, memory_order_acquire);
    return state == SC_BUILD_IDLE || state == SC_BUILD_WORKING;
}

void sc_build_begin(struct sc_build_variant *variant,
                    const volatile int *cancel)
{
    if (build.options.mode != SC_BUILD_WAIT || !is_open(variant))
        return;
    pthread_mutex_lock(&lock);
    queue(variant);
    while (is_open(variant) && build.open && !(cancel && *cancel)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000; /* to look at `cancel` now and then */
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&build.changed, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
}

void sc_build_spend(struct sc_build_variant *variant, uint64_t ns)
{
    uint64_t before =
        atomic_fetch_add_explicit(&variant->spent_ns, ns, memory_order_relaxed);
    if (before + ns < WORTH_NS ||
        atomic_load_explicit(&variant->state, memory_order_relaxed) !=
            SC_BUILD_IDLE)
        return;
    pthread_mutex_lock(&lock);
    queue(variant);
    pthread_mutex_unlock(&lock);
}

/* Take a job from who works on it; holds the lock, gives it up meanwhile. */
static void disown(struct job **place, const struct sc_build_kernel *kernel)
{
    struct job *job;
    while ((job = *place) && job->variant && job->variant->kernel == kernel) {
        if (job->generating)
            pthread_cond_wait(&build.changed, &lock);
        else
            job->variant = NULL;
    }
}

void sc_build_kernel_drop(struct sc_build_kernel *kernel)
{
    pthread_mutex_lock(&lock);
    for (struct job *job = build.first; job; job = job->next)
        if (job->variant && job->variant->kernel == kernel)
            job->variant = NULL;
    for (int i = 0; i < build.thread_count; i++)
        disown(&build.current[i], kernel);
    pthread_mutex_unlock(&lock);
    while (kernel->variants) {
        struct sc_build_variant *variant = kernel->variants;
        kernel->variants = variant->next;
        sc_build_object_drop(&variant->object);
        free(variant);
    }
    kernel->count = 0;
}

/* For each job that is wanted: the text, and the object if `variant` is still
 * there.  In the child of a fork, which has the lock and is alone. */
static void store(struct job *job)
{
    struct sc_native_code code;
    struct sc_build_keep keep;
    if (!job || !job->variant || !sc_build_later_goes_on() ||
        access(build.options.cache, W_OK) != 0)
        return;
    generate(job, &code, &keep);
    if (code.text)
        sc_build_object_store(&build.options, code.text);
    free(code.text);
}

static _Noreturn void go_on(void (*let_go)(void))
{
    sc_build_later_begin();
    let_go();
    sc_build_object_forked();
    if (!sc_build_later_turn(build.options.cache))
        _exit(0);
    for (int i = 0; i < build.thread_count; i++)
        store(build.current[i]);
    for (struct job *job = build.first; job; job = job->next)
        store(job);
    _exit(0);
}

static bool is_busy(void)
{
    bool busy = false;
    for (int i = 0; i < build.thread_count; i++)
        busy |= build.current[i] && build.current[i]->variant;
    for (struct job *job = build.first; job; job = job->next)
        busy |= job->variant != NULL;
    return busy;
}

/* The first compiler run makes the folder, which may never have begun. */
static bool has_cache(void)
{
    char why[128];
    return build.options.cache[0] &&
           sc_build_cache_open(build.options.cache, why, sizeof why);
}

void sc_build_leave(void (*let_go)(void))
{
    pthread_mutex_lock(&lock); /* no job and no IR changes meanwhile */
    if (SC_BUILD_LATER_CAN && build.open && build.options.later && is_busy() &&
        has_cache() && fork() == 0)
        go_on(let_go);
    pthread_mutex_unlock(&lock);
}

void sc_build_fini(void)
{
    pthread_mutex_lock(&lock);
    build.quit = true;
    pthread_cond_broadcast(&build.work);
    pthread_mutex_unlock(&lock);
    sc_build_cc_stop();
    for (int i = 0; i < build.thread_count; i++)
        pthread_join(build.threads[i], NULL);
    pthread_mutex_lock(&lock);
    while (build.first) {
        struct job *job = build.first;
        build.first = job->next;
        if (job->variant)
            refuse(job->variant, "the device ended before it was compiled");
        free(job);
    }
    build.last = &build.first;
    build.thread_count = 0;
    build.open = false;
    pthread_cond_broadcast(&build.changed);
    pthread_mutex_unlock(&lock);
}
