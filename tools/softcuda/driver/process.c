/*
 * Owns: finding and starting softcuda-device, and the thread that sees it
 * die.  The process is no child of the program: a program that waits for any
 * child must not get ours, nor a SIGCHLD from it.
 * Does not own: the channel's contents.  Lock: start lock of the caller.
 */
#include "driver/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/futex.h"
#include "driver/device.h"
#include "driver/memory.h"

#define ATTEMPTS    16
#define STACK_BYTES (64u << 10)

extern char **environ;

/* clone() by its other name, which sanitizers do not replace: they take a
 * child on the parent's memory for a forked one. */
int __clone(int (*run)(void *), void *stack, int flags, void *arg, ...);

struct launch {
    const char *path;
    char **argv, **envp;
    int socket;
    char *inner_stack;
};

const char *sc_process_program(void)
{
    static char path[PATH_MAX];
    if (path[0])
        return path;
    Dl_info info;
    if (sc_options.program) {
        snprintf(path, sizeof path, "%s", sc_options.program);
    } else if (dladdr((void *)(uintptr_t)sc_process_program, &info)) {
        char real[PATH_MAX];
        if (!realpath(info.dli_fname, real))
            return NULL;
        char *slash = strrchr(real, '/');
        if (slash)
            *slash = '\0';
        if (snprintf(path, sizeof path, "%s/softcuda-device", real) >=
            (int)sizeof path)
            path[0] = '\0';
    }
    if (access(path, X_OK) == 0)
        return path;
    sc_say("cannot run the device program %s: %s; it belongs next to "
           "libcuda.so.1, or set SOFTCUDA_DEVICE_PROGRAM",
           path, strerror(errno));
    path[0] = '\0';
    return NULL;
}

/* The next two functions run on the program's memory, with every signal
 * blocked.  They only make system calls, directly: wrappers may be hooked, and
 * a sanitizer would take their calls for the program's. */
#define BARE __attribute__((no_sanitize("thread", "address", "undefined")))

BARE static int become_device(void *arg)
{
    const struct launch *launch = arg;
    long ok = launch->socket == 3 ? syscall(SYS_fcntl, 3, F_SETFD, 0)
                                  : syscall(SYS_dup3, launch->socket, 3, 0);
    if (ok >= 0)
        syscall(SYS_execve, launch->path, launch->argv, launch->envp);
    syscall(SYS_exit_group, 127);
    return 127;
}

BARE static int fork_device(void *arg)
{
    const struct launch *launch = arg;
    int pid = __clone(become_device, launch->inner_stack + STACK_BYTES,
                      CLONE_VM | CLONE_VFORK | SIGCHLD, arg);
    syscall(SYS_exit_group, pid < 0 ? 1 : 0);
    return 1;
}

static bool spawn(struct launch *launch)
{
    char *stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
        return false;
    launch->inner_stack = stacks;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    /* exit signal 0: invisible to the program's wait() */
    int pid = __clone(fork_device, stacks + 2 * STACK_BYTES,
                      CLONE_VM | CLONE_VFORK, launch);
    int status = 1;
    if (pid > 0)
        while (waitpid(pid, &status, __WCLONE) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    munmap(stacks, 2 * STACK_BYTES);
    return pid > 0 && status == 0;
}

/* A library preloaded into the program has no business in the device. */
static char **device_environment(void)
{
    size_t n = 0;
    while (environ && environ[n])
        n++;
    char **copy = malloc((n + 1) * sizeof *copy);
    size_t kept = 0;
    for (size_t i = 0; copy && i < n; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            copy[kept++] = environ[i];
    if (copy)
        copy[kept] = NULL;
    return copy;
}

/* Wait until the process serves; false when it went away instead. */
static bool wait_ready(struct sc_device *device, int socket)
{
    _Atomic uint32_t *ready = &device->channel.shared->ready;
    for (;;) {
        if (atomic_load(ready) != 0)
            return true;
        struct pollfd end = {.fd = socket, .events = POLLRDHUP};
        if (poll(&end, 1, 0) > 0)
            return atomic_load(ready) != 0;
        struct timespec moment = {0, 2000000};
        sc_futex_wait(ready, 0, &moment);
    }
}

static bool attempt(struct sc_device *device, int number, char **envp)
{
    char text[5][24];
    snprintf(text[0], 24, "%d", device->ordinal);
    snprintf(text[1], 24, "%d", (int)getpid());
    snprintf(text[2], 24, "%d", number);
    snprintf(text[3], 24, "%llx", (unsigned long long)sc_memory_window_base());
    snprintf(text[4], 24, "%llx", (unsigned long long)sc_memory_window_bytes());
    char *argv[] = {"softcuda-device", text[0], text[1], text[2],
                    text[3],           text[4], NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    struct launch launch = {sc_process_program(), argv, envp, pair[1], NULL};
    bool ok = launch.path && spawn(&launch);
    close(pair[1]);
    ok = ok && sc_channel_send_file(pair[0], device->channel_file) &&
         sc_channel_send_file(pair[0], sc_device_file(device)) &&
         sc_channel_send_file(pair[0], sc_memory_host_file()) &&
         wait_ready(device, pair[0]);
    if (ok)
        device->channel.socket = sc_file_note(pair[0]);
    else
        close(pair[0]);
    return ok;
}

/* Who waits here keeps the file, so that the process goes on serving when the
 * program closes the descriptor. */
static void *watch(void *arg)
{
    struct sc_device *device = arg;
    const struct sc_file *socket = &device->channel.socket;
    struct pollfd end = {.fd = socket->number, .events = POLLRDHUP};
    atomic_store(&device->channel.watched, 1);
    sc_futex_wake(&device->channel.watched);
    while (poll(&end, 1, -1) < 1)
        continue;
    if (sc_file_number(socket) < 0)
        sc_channel_cut(device, end.fd);
    else
        sc_say("device %d: its process ended unexpectedly; calls on this "
               "device return CUDA_ERROR_DEVICE_UNAVAILABLE from now on",
               device->ordinal);
    pthread_mutex_lock(&sc_sched_lock);
    sc_device_died(device);
    pthread_mutex_unlock(&sc_sched_lock);
    return NULL;
}

CUresult sc_process_start(struct sc_device *device)
{
    char **envp = device_environment();
    bool ok = false;
    if (!sc_process_program()) {
        free(envp);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (envp)
        for (int i = 0; i < ATTEMPTS && !ok; i++)
            ok = attempt(device, i, envp);
    free(envp);
    if (!ok) {
        sc_say("device %d: %s did not start (no descriptors, threads or memory "
               "left? ulimit -a)",
               device->ordinal, sc_process_program());
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (!sc_thread_start(watch, device, 128 << 10) ||
        !sc_channel_start(device)) {
        sc_say("device %d: no thread left to hear from it (ulimit -u?)",
               device->ordinal);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    while (atomic_load(&device->channel.watched) == 0)
        sc_futex_wait(&device->channel.watched, 0, NULL);
    return CUDA_SUCCESS;
}
