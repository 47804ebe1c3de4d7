/*
 * softcuda-device: one software CUDA device, started by libcuda.so.1.
 *
 * Owns: bring-up of the process (layout, descriptors, signals) and its end
 * with the program it serves.
 * Does not own: command execution (serve.c).
 *
 * Arguments: ordinal, process id of the program, attempt number, window base
 * and bytes (hexadecimal).  Descriptor 3 is the socket to the driver.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/report.h"
#include "device/count.h"
#include "device/serve.h"
#include "device/space.h"
#include "exec/exec.h"
#include "native/build.h"
#include "native/build_cc.h"

#define SOCKET 3

enum { EXIT_USAGE = 64, EXIT_COLLISION = 65, EXIT_START = 66 };

static pid_t program;

/* The window lies where the program's kernel put it, close below its stack.
 * A process laid out bottom-up and without randomisation keeps clear of it.
 * Later attempts keep the randomisation, so that each sees another layout. */
static void choose_layout(int attempt, char **argv)
{
    unsigned long want = ADDR_COMPAT_LAYOUT;
    if (attempt == 0)
        want |= ADDR_NO_RANDOMIZE;
    int now = personality(0xffffffff);
    if (now == -1 || ((unsigned long)now & want) == want)
        return;
    if (personality((unsigned long)now | want) == -1)
        return;
    now = personality(0xffffffff);
    /* a sandbox may have accepted the call and ignored it */
    if (now == -1 || ((unsigned long)now & want) != want)
        return;
    execv("/proc/self/exe", argv);
    /* there is no /proc */
    execv((const char *)getauxval(AT_EXECFN), argv);
}

/* Names of files in the environment are relative to the program's folder. */
static void make_absolute(const char *variable)
{
    const char *path = getenv(variable);
    char here[PATH_MAX], *whole;
    if (!path || !*path || *path == '/' || !getcwd(here, sizeof here) ||
        asprintf(&whole, "%s/%s", here, path) < 0)
        return;
    setenv(variable, whole, 1);
    free(whole);
}

static void settle(void)
{
    make_absolute("SOFTCUDA_CACHE");
    make_absolute("SOFTCUDA_KEEP");
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
    }
    syscall(SYS_close_range, SOCKET + 1, ~0u, 0);
    fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
    setsid();
    static const int ignored[] = {SIGINT,  SIGQUIT, SIGTSTP, SIGHUP,
                                  SIGPIPE, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* ignored, compilers could not be waited for */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (chdir("/") != 0)
        perror("softcuda-device: chdir");
    prctl(PR_SET_NAME, "softcuda-device");
}

static struct sc_shared *_Atomic joined;
static int ordinal;
static uint64_t base, bytes; /* of the window */
static char *own_name;

/* What only compiles on holds nothing that the program or its caller waits for:
 * no memory, no pipe; and is no device to those who look for one. */
static void let_go(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    syscall(SYS_close_range, 3, ~0u, 0);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    munmap((void *)(uintptr_t)base, bytes);
    prctl(PR_SET_NAME, "softcuda-later");
    strncpy(own_name, "softcuda-later", strlen(own_name));
}

/* The program ended.  One that a signal ended has not said what ran. */
static _Noreturn void end(void)
{
    struct sc_shared *shared = atomic_load(&joined);
    if (shared && atomic_load(&shared->report))
        sc_count_report(shared, ordinal);
    uint64_t refused = shared ? atomic_load(&shared->refused_bytes) : 0;
    if (refused)
        sc_report_shortage(ordinal, refused, shared->refused_used,
                           shared->memory_bytes);
    sc_build_leave(let_go);
    sc_build_cc_stop(); /* compilers are processes of their own */
    _exit(0);
}

/* The parent death signal is per thread of the parent, so it would fire when
 * the thread that made the context ends; a process descriptor does not. */
static void *watch(void *unused)
{
    (void)unused;
    int fd = (int)syscall(SYS_pidfd_open, program, 0);
    if (fd < 0 && errno == ESRCH)
        end();
    struct pollfd ends[2] = {{.fd = SOCKET, .events = POLLRDHUP},
                             {.fd = fd, .events = POLLIN}};
    for (;;) {
        if (poll(ends, 2, -1) < 0 && errno != EINTR)
            end();
        if (ends[0].revents || ends[1].revents)
            end();
    }
}

static void start_watch(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 4 << 20); /* kernels may be generated on */
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attr, watch, NULL) != 0)
        _exit(EXIT_START);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static struct sc_shared *connect_driver(void)
{
    int channel = sc_serve_receive_file(SOCKET);
    int memory = sc_serve_receive_file(SOCKET);
    int host = sc_serve_receive_file(SOCKET);
    if (channel < 0 || memory < 0 || host < 0)
        _exit(0);
    struct sc_shared *shared = mmap(
        NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, channel, 0);
    close(channel);
    if (shared == MAP_FAILED || shared->version != SC_PROTOCOL_VERSION) {
        fprintf(stderr, "softcuda-device: built for another libcuda.so.1; "
                        "install both from one build\n");
        _exit(EXIT_START);
    }
    sc_space_adopt((uint32_t)ordinal, memory);
    sc_space_adopt(SC_FILE_HOST, host);
    return shared;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "softcuda-device is started by softcuda's "
                        "libcuda.so.1; run your CUDA program instead\n");
        return EXIT_USAGE;
    }
    own_name = argv[0];
    ordinal = atoi(argv[1]);
    program = atoi(argv[2]);
    choose_layout(atoi(argv[3]), argv);
    settle();
    start_watch();
    base = strtoull(argv[4], NULL, 16);
    bytes = strtoull(argv[5], NULL, 16);
    if (ordinal < 0 || ordinal >= SC_MAX_DEVICES ||
        !sc_space_reserve(base, bytes))
        return EXIT_COLLISION;
    struct sc_shared *shared = connect_driver();
    if (!sc_space_init(shared, (uint32_t)ordinal) || !sc_exec_init(0))
        return EXIT_START;
    sc_exec_open_faults(sc_space_open);
    atomic_store(&joined, shared);
    atomic_store(&shared->ready, 1);
    sc_futex_wake(&shared->ready);
    sc_serve(shared, SOCKET);
}
