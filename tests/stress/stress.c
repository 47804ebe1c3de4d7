/*
 * Starts the workers of a scenario, ends them after their time, looks at every
 * byte. A parent that has no device watches: what takes much longer hangs.
 *
 *     stress work|away|signals|free|fork|kill [SHARES]
 *
 * STRESS_SECONDS (60) is divided by SHARES (1). ADSM_STRESS_SEED repeats
 * the operations of a run that failed.
 */
#include "stress.h"

#include "mm/kernels.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 60 };

uint8_t *objects[OBJECTS];
uint8_t (*expected)[OBJECT_BYTES];
uint8_t *slots;
CUfunction kernel_mix, kernel_fill;
uint64_t seed;
atomic_bool stopping, killed;
_Thread_local struct worker *self;
pthread_t threads[WORKERS];
static struct worker workers[WORKERS];
static const char *scenario;

static const struct {
    const char *name;
    void (*beside)(struct worker *);
} scenarios[] = {
    {"work", NULL},
    {"away", NULL},
    {"signals", send_signals},
    {"free", free_under_readers},
    {"fork", fork_children},
    {"kill", kill_device_soon},
};

void stress_fail(const struct worker *w, const char *format, ...)
{
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr,
            "stress: %s: thread %d, operation %ld (%s): %s\n"
            "repeat with ADSM_STRESS_SEED=%llu\n",
            scenario, w->id, w->done, w->doing, text, (unsigned long long)seed);
    _exit(1);
}

/* ---- faults of the program's own ------------------------------------------ */

static void on_segv(int number, siginfo_t *info, void *context)
{
    struct worker *w = self;
    if (w && (w->returns || atomic_load(&killed)))
        siglongjmp(w->back, 1);
    static const struct worker nobody = {.id = -1, .doing = "?"};
    stress_fail(w ? w : &nobody, "SIGSEGV at %p", info->si_addr);
}

static void set_handlers(void)
{
    struct sigaction segv = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    struct sigaction touch = {.sa_handler = touch_slot, .sa_flags = SA_RESTART};
    sigaddset(&touch.sa_mask, SIGUSR1); /* one at a time in a slot */
    sigaddset(&touch.sa_mask, SIGALRM);
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &segv, NULL);
    sigaction(SIGUSR1, &touch, NULL);
    sigaction(SIGALRM, &touch, NULL);
}

/* ---- a worker ------------------------------------------------------------ */

static void prepare_worker(struct worker *w, int id)
{
    w->id = id;
    w->random = (seed + 1) * 0x9e3779b97f4a7c15u + (uint64_t)id * 12345 + 1;
    w->doing = "start";
    w->stream = tmpfile();
    w->file = memfd_create("stress", MFD_CLOEXEC);
    if (!w->stream || w->file < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, w->ends) != 0)
        stress_fail(w, "files: %s", strerror(errno));
    for (size_t i = 0; i < FILE_BYTES; i++)
        w->content[i] = (uint8_t)draw(w, 256);
    if (pwrite(w->file, w->content, FILE_BYTES, 0) != FILE_BYTES ||
        cuStreamCreate(&w->queue, CU_STREAM_DEFAULT) != CUDA_SUCCESS)
        stress_fail(w, "file or stream");
}

/* Until time is up, or until it has seen that the device is gone. */
static void *work(void *arg)
{
    struct worker *volatile w = self = arg;
    CUcontext context;
    CUdevice device;
    if (cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context))
        stress_fail(w, "no context");
    if (sigsetjmp(w->back, 1) != 0) {
        w->in_cuda = 0;
        w->saw_error = true; /* memory that only the device had */
    }
    while (!w->saw_error && !atomic_load(&stopping))
        operate(w);
    return NULL;
}

/* ---- the program --------------------------------------------------------- */

static uint8_t *allocate(size_t bytes)
{
    CUdeviceptr at;
    if (cuMemAlloc(&at, bytes) != CUDA_SUCCESS ||
        cuMemsetD8(at, 0, bytes) != CUDA_SUCCESS)
        stress_fail(&workers[0], "no memory");
    return (uint8_t *)at;
}

static void start(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    if (cuInit(0) || cuDeviceGet(&device, 0) ||
        cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuModuleLoadData(&module, kernels_ptx) ||
        cuModuleGetFunction(&kernel_mix, module, "mix") ||
        cuModuleGetFunction(&kernel_fill, module, "fill"))
        stress_fail(&workers[0], "no device");
    expected = calloc(OBJECTS, sizeof *expected);
    for (int i = 0; i < OBJECTS; i++)
        objects[i] = allocate(OBJECT_BYTES);
    slots = allocate(WORKERS * SLOT_BYTES + 64);
    set_handlers();
    for (int i = 0; i < WORKERS; i++)
        prepare_worker(&workers[i], i);
}

static void check_all(void)
{
    workers[0].doing = "the end";
    for (int k = 0; k < OBJECTS; k++)
        for (size_t i = 0; i < OBJECT_BYTES; i++)
            if (objects[k][i] != expected[k][i])
                stress_fail(&workers[0], "byte %zu of object %d is %u, not %u",
                            i, k, objects[k][i], expected[k][i]);
}

static void *stop_later(void *arg)
{
    double seconds = *(double *)arg;
    struct timespec time = {(time_t)seconds,
                            (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0)
        continue; /* a signal, of which there are many */
    atomic_store(&stopping, true);
    return NULL;
}

static int run(void (*beside)(struct worker *), double seconds)
{
    pthread_t clock;
    long done = 0;
    bool kills = beside == kill_device_soon;
    start();
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    if (!kills) /* there each ends when it has seen an error */
        pthread_create(&clock, NULL, stop_later, &seconds);
    if (beside)
        beside(workers);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        done += workers[i].done;
    }
    if (!kills) {
        pthread_join(clock, NULL);
        check_all();
    }
    printf("%s: %ld operations, seed %llu\n", scenario, done,
           (unsigned long long)seed);
    fflush(stdout);
    _exit(0);
}

/* ---- the parent ---------------------------------------------------------- */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int watch(pid_t child, double seconds)
{
    int status;
    for (double waited = 0; waited < seconds + PATIENCE_S; waited += 0.05) {
        struct timespec nap = {0, 50 * 1000 * 1000};
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status)
                                     : (fprintf(stderr,
                                                "stress: %s: ended by signal "
                                                "%d; ADSM_STRESS_SEED=%llu\n",
                                                scenario, WTERMSIG(status),
                                                (unsigned long long)seed),
                                        1);
        nanosleep(&nap, NULL);
    }
    fprintf(stderr, "stress: %s: hangs; ADSM_STRESS_SEED=%llu\n", scenario,
            (unsigned long long)seed);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 1;
}

/* A device dies but once: programs go on doing so until time is up. */
static int repeat(void (*beside)(struct worker *), double seconds)
{
    double end = now_s() + seconds;
    int status = 0;
    do {
        pid_t child = fork();
        if (child == 0)
            return run(beside, seconds);
        status = child < 0 ? 1 : watch(child, seconds);
        seed++;
    } while (status == 0 && beside == kill_device_soon && now_s() < end);
    return status;
}

int main(int argc, char **argv)
{
    const char *total = getenv("STRESS_SECONDS");
    const char *given = getenv("ADSM_STRESS_SEED");
    double seconds = total && *total ? atof(total) : 60;
    seconds /= argc > 2 ? atof(argv[2]) : 1;
    scenario = argc > 1 ? argv[1] : "";
    seed = given ? strtoull(given, NULL, 10)
                 : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    unsetenv("STRESS_SECONDS"); /* the library knows no such option */
    unsetenv("ADSM_STRESS_SEED");
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenario, scenarios[i].name) == 0)
            return repeat(scenarios[i].beside, seconds);
    fprintf(stderr,
            "usage: stress work|away|signals|free|fork|kill [SHARES]\n");
    return 2;
}
