/*
 * System calls by number, through syscall(2): results, errors, and what is in
 * memory afterwards; and threads that wait in words of the memory under test
 * while kernels run. See memory.h for the command line.
 */
#include "memory_case.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILE_BYTES = 300000, TURNS = 200 };

static int file;
static CUfunction step;

static void data(void)
{
    uint8_t *m = memory;
    int ends[2], sockets[2];
    char plain[100] = "message";
    struct iovec parts[] = {{m + 5, 60000}, {plain, 10}, {m + HALF - 1, 2}};
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = 3};
    lseek(file, 0, SEEK_SET);
    CASE(syscall(SYS_read, file, m + 4000, 5000L));
    CASE(syscall(SYS_pread64, file, m + HALF - 100, 100000L, 7L));
    CASE(syscall(SYS_pread64, file, m, 100L, -1L));
    CASE(syscall(SYS_preadv, file, parts, 3L, 9L, 0L));
    CASE(syscall(SYS_preadv2, file, parts, 3L, 9L, 0L, 0x40000000));
    CASE(syscall(SYS_pwrite64, file, m + 1, 9L, 3L));
    CASE(syscall(SYS_read, -1, m, 5L));
    CASE(syscall(SYS_read, file, NULL, 5L));
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
        exit(3);
    CASE(syscall(SYS_write, ends[1], m + 9, 3000L));
    CASE(syscall(SYS_readv, ends[0], parts, 3L));
    CASE(syscall(SYS_sendmsg, sockets[0], &header, 0));
    CASE(syscall(SYS_recvmsg, sockets[1], &header, 0));
    CASE(syscall(SYS_sendto, sockets[0], m + 3, 500L, 0, NULL, 0));
    CASE(syscall(SYS_recvfrom, sockets[1], m + 4090, 5000L, 0, NULL, NULL));
    close(ends[0]);
    close(ends[1]);
    close(sockets[0]);
    close(sockets[1]);
}

/* What is different from run to run is not shown. */
static long hidden(long result)
{
    int error = errno;
    for (int i = 0; i < 4096; i += 8)
        *(volatile uint64_t *)(memory + i) = 0;
    errno = error;
    return result;
}

static void structures(void)
{
    uint8_t *m = memory;
    struct utsname *name = (struct utsname *)m;
    struct stat *about = (struct stat *)(m + 8);
    struct timespec *time = (struct timespec *)(m + 16);
    int ends[2], folder = open("/", O_RDONLY | O_DIRECTORY), child;
    int poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (pipe(ends))
        exit(3);
    CASE(hidden(syscall(SYS_uname, name) + name->sysname[0]));
    CASE(hidden(syscall(SYS_fstat, file, about) + about->st_size));
    CASE(hidden(syscall(SYS_clock_gettime, CLOCK_REALTIME, time) +
                (time->tv_sec > 1000000)));
    CASE((time->tv_sec = 0, time->tv_nsec = 5,
          syscall(SYS_nanosleep, time, time)));
    CASE((strcpy((char *)m, "/"), syscall(SYS_faccessat, AT_FDCWD, m, R_OK)));
    CASE((strcpy((char *)m, "/dev/null/nowhere"),
          syscall(SYS_openat, AT_FDCWD, m, O_RDONLY)));
    CASE((chdir("/"), syscall(SYS_getcwd, m + 4094, 100L)));
    CASE(hidden(syscall(SYS_getrandom, m, 4000L, 0)));
    CASE(syscall(SYS_pipe2, m, 99999999));
    write(ends[1], "x", 1);
    epoll_ctl(poll, EPOLL_CTL_ADD, ends[0], &event);
    CASE(syscall(SYS_epoll_pwait, poll, m + 12, 5, 1000, NULL, 8L));
    struct pollfd *one = (struct pollfd *)(m + 4092);
    CASE((*one = (struct pollfd){ends[0], POLLIN, 0},
          syscall(SYS_ppoll, one, 1L, NULL, NULL, 8L) + one->revents * 10 +
              (one->fd = 0)));
    if ((child = fork()) == 0)
        _exit(7);
    CASE(hidden(syscall(SYS_wait4, child, m, 0, m + 100) == child
                    ? WEXITSTATUS(*(int *)m)
                    : -1));
    close(ends[0]);
    close(ends[1]);
    close(poll);
    close(folder);
}

/* ---- words ------------------------------------------------------------------ */

static volatile pid_t waiter;
static volatile int handled;
static volatile long outcome;

static void launch(unsigned k)
{
    CUdeviceptr words = (CUdeviceptr)(memory + 256);
    unsigned n = 500;
    void *params[] = {&words, &n, &k};
    if (memory_is_shared) {
        CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL,
                             params, NULL));
        return;
    }
    for (unsigned i = 0; i < n; i++)
        ((unsigned *)words)[i] = ((unsigned *)words)[i] * 3 + k;
}

static void note(int number)
{
    (void)number;
    handled = 1;
}

struct wait {
    uint32_t *word, *other;
    struct timespec *time;
    int operation;
};

static void *wait_there(void *given)
{
    struct wait *wait = given;
    uint32_t was = __atomic_load_n(wait->word, __ATOMIC_SEQ_CST);
    waiter = (pid_t)syscall(SYS_gettid);
    outcome = syscall(SYS_futex, wait->word, wait->operation, was, wait->time,
                      wait->other, FUTEX_BITSET_MATCH_ANY);
    return NULL;
}

/* A thread waits in a word, a kernel closes its block, a signal has the system
 * look at the word again, and somebody wakes the thread. */
static void wait_and_wake(const char *name, struct wait wait, int wake)
{
    pthread_t thread;
    waiter = handled = 0;
    outcome = -2;
    if (pthread_create(&thread, NULL, wait_there, &wait) != 0)
        exit(3);
    while (!waiter || !victim_sleeps(waiter))
        usleep(100);
    usleep(2000);
    launch(3);
    pthread_kill(thread, SIGUSR1);
    while (!handled)
        usleep(100);
    usleep(2000);
    long woken = syscall(SYS_futex, wait.word, wake, 1L, 0L, wait.other,
                         FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 0));
    pthread_join(thread, NULL);
    show(name, woken * 10 + outcome);
}

static void words(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    uint32_t *word = (uint32_t *)(memory + 8), *other = word + 3;
    struct timespec *time = (struct timespec *)(memory + 64);
    sigaction(SIGUSR1, &action, NULL);
    fill();
    *other = 0;
    wait_and_wake("private",
                  (struct wait){word, NULL, NULL, FUTEX_WAIT_PRIVATE},
                  FUTEX_WAKE_PRIVATE);
    wait_and_wake("shared", (struct wait){word, NULL, NULL, FUTEX_WAIT},
                  FUTEX_WAKE);
    wait_and_wake("bitset",
                  (struct wait){word, NULL, NULL, FUTEX_WAIT_BITSET_PRIVATE},
                  FUTEX_WAKE_PRIVATE);
    wait_and_wake("op", (struct wait){word, other, NULL, FUTEX_WAIT_PRIVATE},
                  FUTEX_WAKE_OP_PRIVATE);
    launch(4);
    show("added", *other);
    *time = (struct timespec){0, 1000000};
    launch(5);
    show("time", syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, *word, time));
    show("value",
         syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, *word + 1, time));
    *other = 0;
    launch(6);
    /* The word says which thread has it, another one each time. */
    long locked = syscall(SYS_futex, other, FUTEX_LOCK_PI_PRIVATE, 0L, NULL);
    launch(7);
    printf("locked %ld %d\n", locked, *other == (uint32_t)syscall(SYS_gettid));
    launch(8);
    show("unlock", syscall(SYS_futex, other, FUTEX_UNLOCK_PI_PRIVATE, 0L));
    show("free", *other);
}

int main(int argc, char **argv)
{
    CUmodule module;
    memory_start(argc, argv);
    if (memory_is_shared) {
        CHECK(cuModuleLoadData(&module, victim_ptx));
        CHECK(cuModuleGetFunction(&step, module, "step"));
    }
    memory = memory_pair(HALF);
    file = memory_file(FILE_BYTES);
    for (int s = 0; s < MEMORY_STATES; s++) {
        state = (enum memory_state)s;
        data();
        structures();
        has_words = true;
        words();
        has_words = false;
    }
    return 0;
}
