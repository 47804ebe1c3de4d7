/*
 * What goes on beside the workers: signals, forks, frees, the device's death.
 */
#include "stress.h"

#include "common/kill_device.h"

#include <errno.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static void nap_us(long us)
{
    struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

/* ---- signals ------------------------------------------------------------- */

/* Bytes behind what the interrupted call may be about, in the same block. */
static void touch_tail(struct worker *w)
{
    size_t n = (size_t)w->handled;
    size_t stripe = n % STRIPES * WORKERS + (size_t)w->id;
    size_t at = (stripe + 1) * STRIPE_BYTES - 1 - n % TAIL_BYTES;
    size_t object = n * 7 % OBJECTS;
    volatile uint8_t *byte = &objects[object][at];
    if (*byte != expected[object][at] && !atomic_load(&killed))
        stress_fail(w, "in a handler: byte %zu of object %zu is %u, not %u", at,
                    object, *byte, expected[object][at]);
    *byte = ++expected[object][at];
}

/* The bytes of a thread's slot count its signals. */
void touch_slot(int number)
{
    struct worker *w = self;
    int saved = errno;
    if (!w || w->in_cuda || w->saw_error)
        return;
    volatile uint8_t *slot = slots + (size_t)w->id * SLOT_BYTES;
    uint8_t must = (uint8_t)w->handled++;
    for (size_t i = 0; i < SLOT_BYTES; i += 1500) {
        if (slot[i] != must && !atomic_load(&killed))
            stress_fail(w, "in a handler: byte %zu is %u, not %u", i, slot[i],
                        must);
        slot[i] = (uint8_t)(must + 1);
    }
    touch_tail(w);
    errno = saved;
}

/* Kernels that change nothing there make the slots the device's again. */
static void take_slots(struct worker *beside)
{
    static uint8_t other[64];
    CUdeviceptr at = (CUdeviceptr)(slots + WORKERS * SLOT_BYTES);
    if (cuMemcpyHtoD(at, other, sizeof other) != CUDA_SUCCESS)
        stress_fail(beside, "cuMemcpyHtoD beside the slots");
}

void send_signals(struct worker *workers)
{
    static struct worker beside = {.id = WORKERS, .doing = "signals"};
    struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    extern pthread_t threads[WORKERS];
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &mine, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long n = 0; !atomic_load(&stopping); n++) {
        pthread_kill(threads[n % WORKERS], SIGUSR1);
        nap_us(700);
        if (n % 8 == 0)
            take_slots(&beside);
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- forks --------------------------------------------------------------- */

enum { CHILD_READ = 1 };

static sigjmp_buf child_back;

static void on_child_segv(int number)
{
    siglongjmp(child_back, 1);
}

/* A child has no shared memory, whatever the parent may read: every touch is a
 * fault as any other. */
static _Noreturn void child(const uint8_t *object, bool touches)
{
    struct sigaction action = {.sa_handler = on_child_segv};
    sigaction(SIGSEGV, &action, NULL);
    for (volatile size_t i = 0; touches && i < OBJECT_BYTES; i += 8192) {
        if (sigsetjmp(child_back, 1) != 0)
            continue;
        (void)((const volatile uint8_t *)object)[i];
        _exit(CHILD_READ);
    }
    _exit(0);
}

void fork_children(struct worker *workers)
{
    static struct worker beside = {.id = WORKERS, .doing = "fork"};
    for (long n = 0; !atomic_load(&stopping); n++) {
        bool touches = n % 4 == 3;
        int status;
        pid_t pid = fork();
        if (pid == 0)
            child(objects[n % OBJECTS], touches);
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            stress_fail(&beside, "fork or waitpid: %s", strerror(errno));
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            stress_fail(&beside, "child %ld ended with status %#x", n, status);
        nap_us(2000);
    }
}

/* ---- free against fault -------------------------------------------------- */

static uint8_t *_Atomic prey;

enum { PREY_BYTES = 256 << 10 };

/* Reads what another thread frees: bytes, or a fault as of any bad address. */
static void *hunt(void *arg)
{
    struct worker *w = self = arg;
    for (volatile size_t i = 0; !atomic_load(&stopping); i += 777) {
        const volatile uint8_t *at = prey;
        if (sigsetjmp(w->back, 1) == 0) {
            w->returns = 1;
            if (at)
                (void)at[i % PREY_BYTES];
        }
        w->returns = 0;
        if (i % 64 == 0)
            nap_us(50);
    }
    return NULL;
}

void free_under_readers(struct worker *workers)
{
    static struct worker hunters[2] = {{.id = WORKERS, .doing = "hunt"},
                                       {.id = WORKERS, .doing = "hunt"}};
    static struct worker beside = {.id = WORKERS, .doing = "free"};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, hunt, &hunters[i]);
    while (!atomic_load(&stopping)) {
        CUdeviceptr at;
        if (cuMemAlloc(&at, PREY_BYTES) != CUDA_SUCCESS ||
            cuMemsetD8(at, 7, PREY_BYTES) != CUDA_SUCCESS)
            stress_fail(&beside, "no memory to free");
        prey = (uint8_t *)at;
        nap_us(500);
        if (cuMemFree(at) != CUDA_SUCCESS)
            stress_fail(&beside, "cuMemFree");
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

/* ---- the end of the device ----------------------------------------------- */

void kill_device_soon(struct worker *workers)
{
    static struct worker beside = {.id = WORKERS, .doing = "kill"};
    beside.random = seed + 1;
    nap_us(20000 + (long)draw(&beside, 600000));
    atomic_store(&killed, true);
    if (kill_device(ANY_DEVICE) < 1)
        stress_fail(&beside, "there is no device to kill");
}
