/*
 * Processes of every making around device memory: daemons before and after the
 * driver is used, children forked twice, forked beside a thread that launches,
 * spawned, executed, traced; what each finds, and that it costs its parent
 * nothing.
 *
 *   explicit   plain buffers and copies; touch  the device memory itself
 *
 * The program starts itself as `family ROLE FD HOW`: what a role has to say it
 * writes to the descriptor.
 */
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 50021, BYTES = WORDS * 4, FORKS = 12, PATIENCE_S = 60 };

extern char **environ;

static bool touch;
static const char *how;
static CUfunction step;
static CUcontext context;

static void launch(CUdeviceptr at, unsigned k)
{
    unsigned n = WORDS;
    void *params[] = {&at, &n, &k};
    CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL,
                         params, NULL));
}

static void begin(void)
{
    CUmodule module;
    victim_start();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
}

/* A device array that the CPU has written and a kernel after it. */
static CUdeviceptr make(unsigned seed)
{
    static _Thread_local uint8_t plain[BYTES]; /* out of every stack */
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, BYTES));
    victim_write(touch ? (uint8_t *)at : plain, BYTES, seed);
    if (!touch)
        CHECK(cuMemcpyHtoD(at, plain, BYTES));
    launch(at, seed);
    return at;
}

static uint64_t look(CUdeviceptr at)
{
    static _Thread_local uint8_t plain[BYTES];
    if (!touch)
        CHECK(cuMemcpyDtoH(plain, at, BYTES));
    return victim_hash(touch ? (uint8_t *)at : plain, BYTES);
}

/* ---- roles -------------------------------------------------------------------- */

/* All from the start, in a process that has not used the driver. */
static int work(int out)
{
    begin();
    dprintf(out, "work %llx\n", (unsigned long long)look(make(3)));
    return 0;
}

static char *name_of_self(char *room, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", room, bytes - 1);
    room[n > 0 ? n : 0] = '\0';
    return room;
}

static void become(const char *role, int out)
{
    char self[4096], number[16];
    snprintf(number, sizeof number, "%d", out);
    execl(name_of_self(self, sizeof self), "family", role, number, how,
          (char *)NULL);
    _exit(127);
}

/* What is left of the driver in a daemon whose parent used it, and that what
 * it executes starts anew. */
static int daemonize(int out)
{
    begin();
    CUdeviceptr at = make(4), other;
    CHECK(cuCtxSynchronize());
    if (daemon(0, 0) != 0)
        return 1;
    alarm(PATIENCE_S);
    dprintf(out, "daemon: %d %d %d\n", cuInit(0), cuMemAlloc(&other, 100),
            cuMemFree(at));
    char *memory = malloc(BYTES);
    memset(memory, 1, BYTES);
    FILE *null = fopen("/dev/null", "w");
    dprintf(out, "daemon: %d %d\n", null && fputs(memory + BYTES - 1, null) > 0,
            memory[BYTES - 1]);
    become("work", out);
    return 1;
}

/* ---- makers ------------------------------------------------------------------- */

static void by_fork_twice(int out)
{
    if (fork() == 0)
        _exit(work(out));
    wait(NULL);
}

static void by_daemon(int out)
{
    if (daemon(0, 0) == 0)
        _exit(work(out));
}

static void by_late_daemon(int out)
{
    become("daemon", out);
}

static void by_exec(int out)
{
    become("work", out);
}

static void by_vfork(int out)
{
    pid_t child = vfork();
    if (child == 0)
        become("work", out);
    waitpid(child, NULL, 0);
}

static void by_spawn(int out)
{
    char self[4096], number[16];
    pid_t child;
    snprintf(number, sizeof number, "%d", out);
    char *argv[] = {"family", "work", number, (char *)how, NULL};
    name_of_self(self, sizeof self);
    if (posix_spawn(&child, self, NULL, NULL, argv, environ) == 0)
        waitpid(child, NULL, 0);
}

static void by_shell(int out)
{
    char self[4096], command[5000];
    name_of_self(self, sizeof self);
    snprintf(command, sizeof command, "'%s' work %d %s", self, out, how);
    if (system(command) != 0)
        dprintf(out, "system failed\n");
    FILE *stream = popen(command, "r");
    dprintf(out, "popen %d\n", stream ? pclose(stream) : -1);
}

/* As by_exec where no tracer can be had: no difference is to be seen. */
static void traced(int out, const char *const *tracer)
{
    char self[4096], number[16];
    const char *argv[16];
    int count = 0, status;
    snprintf(number, sizeof number, "%d", out);
    while (tracer[count]) {
        argv[count] = tracer[count];
        count++;
    }
    argv[count++] = name_of_self(self, sizeof self);
    argv[count++] = "work";
    argv[count++] = number;
    argv[count++] = how;
    argv[count] = NULL;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    waitpid(child, &status, 0);
    if (status == 0)
        return;
    fprintf(stderr, "family: %s: status %x\n", argv[0], (unsigned)status);
    become("work", out);
}

static void by_strace(int out)
{
    static const char *const strace[] = {"strace", "-f", "-o", "/dev/null",
                                         NULL};
    traced(out, strace);
}

static void by_gdb(int out)
{
    static const char *const gdb[] = {
        "gdb", "-nx", "-batch", "-ex", "handle SIGSEGV nostop noprint pass",
        "-ex", "run", "--args", NULL};
    traced(out, gdb);
}

/* What a process of one making, and those that it makes, have to say. */
static void hear(const char *name, void (*maker)(int))
{
    char text[1024];
    ssize_t n;
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0)
        exit(4);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        alarm(PATIENCE_S);
        maker(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    printf("%s:\n", name);
    while ((n = read(ends[0], text, sizeof text)) > 0)
        fwrite(text, 1, (size_t)n, stdout);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

/* ---- children beside a thread that launches ---------------------------------- */

static atomic_bool enough;

static void *keep_launching(void *unused)
{
    (void)unused;
    CHECK(cuCtxSetCurrent(context));
    CUdeviceptr own = make(9);
    for (unsigned k = 0; !atomic_load(&enough); k++) {
        launch(own, k);
        if (k % 8 == 0)
            (void)look(own);
    }
    CHECK(cuMemFree(own));
    return NULL;
}

static void at_exit_of_child(void)
{
    free(malloc(1000));
}

/* Where the parent has shared memory, a child may have memory of its own. */
static int take_address(CUdeviceptr at)
{
    uint64_t page = (at + 4095) & ~4095ull;
    volatile uint8_t *own =
        mmap((void *)page, 8192, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (own == MAP_FAILED)
        return 1;
    own[0] = 1;
    own[8191] = 2;
    return own[0] + own[8191] + own[4096] == 3 &&
                   munmap((void *)page, 8192) == 0
               ? 0
               : 2;
}

static int child_act(int number, CUdeviceptr at)
{
    switch (number % 4) {
    case 0:
        exit(cuMemFree(at) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 3);
    case 1:
        return take_address(at);
    case 2:
        atexit(at_exit_of_child);
        exit(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED ? 0 : 4);
    default:
        return fork() ? 0 : 5;
    }
}

static void fork_beside_launches(void)
{
    CUdeviceptr at = make(7);
    pthread_t thread;
    uint64_t before = look(at);
    fflush(stdout);
    if (pthread_create(&thread, NULL, keep_launching, NULL) != 0)
        exit(4);
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            alarm(PATIENCE_S);
            _exit(child_act(i, at));
        }
        waitpid(child, &status, 0);
        printf("child %d: %x %d\n", i, (unsigned)status, look(at) == before);
        fflush(stdout);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    launch(at, 1);
    printf("parent %llx\n", (unsigned long long)look(at));
}

int main(int argc, char **argv)
{
    how = argc > 3 ? argv[3] : argc > 1 ? argv[1] : "explicit";
    touch = strcmp(how, "touch") == 0;
    alarm(PATIENCE_S);
    if (argc > 3)
        return strcmp(argv[1], "work") == 0 ? work(atoi(argv[2]))
                                            : daemonize(atoi(argv[2]));
    hear("fork twice", by_fork_twice);
    hear("daemon", by_daemon);
    hear("exec", by_exec);
    begin();
    CUdeviceptr at = make(5);
    hear("exec", by_exec);
    hear("vfork", by_vfork);
    hear("spawn", by_spawn);
    hear("shell", by_shell);
    hear("late daemon", by_late_daemon);
    hear("strace", by_strace);
    hear("gdb", by_gdb);
    fork_beside_launches();
    printf("end %llx\n", (unsigned long long)look(at));
    return 0;
}
