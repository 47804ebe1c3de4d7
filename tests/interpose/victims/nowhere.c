/*
 * Calls with pointers to where nothing is, or nothing can be written: every
 * function and number of the lists of hooks, each of its pointers in turn. What
 * the call says is printed: an error, or that the CPU's own access failed.
 *
 *   nowhere plain|shared   shared: the other pointers are to shared memory
 *
 * The one victim that knows something of this project: the lists. Calls come with
 * arguments that let them reach their pointers where that is harmless; what only
 * an administrator may do is refused, but behind the hook.
 */
#define sigpause sigpause_of_system_v
#include <signal.h>
#undef sigpause

#include "victim.h"

#include "interpose/calls/numbers.h"
#include "interpose/libc/sockets.h"

#include <aio.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/mount.h>
#include <mqueue.h>
#include <nl_types.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <utmp.h>
#include <utmpx.h>

typedef int scandir_filter(const struct dirent *);
typedef int scandir_order(const struct dirent **, const struct dirent **);
typedef int scandir64_filter(const struct dirent64 *);
typedef int scandir64_order(const struct dirent64 **, const struct dirent64 **);

/* ---- the lists --------------------------------------------------------------- */

enum { ARGUMENTS = 6, PARTS = 7, ROOM = 8192, NO_TIMER = 9999 };

enum kind { NONE, READS, WRITES, NAME };

struct part {
    uint8_t kind, argument, count; /* count: the argument with it, or ONE    */
    uint32_t unit;
};

enum { ONE = 0xff };

struct row {
    const char *name, *types; /* types NULL: by number, with no function     */
    long number;
    bool is_int;
    struct part parts[PARTS];
};

#define IN(at, type)              {READS, at, ONE, sizeof(type)},
#define IN_EACH(at, count, type)  {READS, at, count, sizeof(type)},
#define OUT(at, type)             {WRITES, at, ONE, sizeof(type)},
#define OUT_EACH(at, count, type) {WRITES, at, count, sizeof(type)},
#define FILL(at, count, type)     OUT_EACH(at, count, type)
#define PATH(at)                  {NAME, at, ONE, 1},
#define TEXT(at)                  PATH(at)
#define SIZED(at, length, most)   {WRITES, at, ONE, 16},
#define FDSET(at, count)          {WRITES, at, count, 8},
#define BULK_IN(at, count)        IN_EACH(at, count, char)
#define BULK_OUT(at, count)       OUT_EACH(at, count, char)
#define LIST_IN(at, count)        IN_EACH(at, count, struct iovec)
#define LIST_OUT(at, count)       IN_EACH(at, count, struct iovec)
#define HEADER_IN(at)             IN(at, struct msghdr)
#define HEADER_OUT(at)            OUT(at, struct msghdr)
#define HEADERS_IN(at, count)     OUT_EACH(at, count, struct mmsghdr)
#define HEADERS_OUT(at, count)    OUT_EACH(at, count, struct mmsghdr)
#define REQUEST(at, request)      OUT(at, int)
#define COMMAND(at, whose)        OUT(at, struct flock)
#define WAITS(file, flags)
#define NUMBER

static const struct row functions[] = {
#define ADSM_HOOK_CALL(returns, name, params, memory)                          \
    {#name, #params, -1, sizeof(returns) == sizeof(int), {memory}},
#define ADSM_HOOK_OWN ADSM_HOOK_CALL
#define ADSM_HOOK_ODD ADSM_HOOK_CALL
#include "interpose/hooks.def"
};

static const struct row numbers[] = {
#define ADSM_SYSCALL_SAME(name) {#name, "", SYS_##name, false, {{0}}},
#define ADSM_SYSCALL_SHAPE(name, memory)                                       \
    {#name, NULL, SYS_##name, false, {memory}},
#include "interpose/calls/syscalls.def"
};

enum {
    FUNCTIONS = sizeof functions / sizeof *functions,
    NUMBERED = sizeof numbers / sizeof *numbers
};

static const struct row *function_of(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    printf("no function is called %s\n", name);
    exit(3);
}

/* ---- arguments --------------------------------------------------------------- */

static struct {
    int file, socket, watch, timer, event;
} files;

static uint8_t *good[ARGUMENTS]; /* ROOM bytes each */

static void open_files(void)
{
    int ends[2];
    char text[1000] = {0};
    files.file = memfd_create("file", 0);
    files.watch = epoll_create1(0);
    files.timer = timerfd_create(CLOCK_MONOTONIC, 0);
    files.event = eventfd(1, EFD_NONBLOCK);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0 ||
        write(ends[1], text, sizeof text) != sizeof text ||
        write(files.file, text, sizeof text) != sizeof text ||
        dup2(open("/dev/null", O_RDWR), STDIN_FILENO) != STDIN_FILENO)
        exit(3);
    files.socket = ends[0];
}

static bool says(const char *text, const char *word)
{
    return strstr(text, word) != NULL;
}

static int file_for(const char *name)
{
    static const char *const of_sockets[] = {"recv", "send",    "sock",  "peer",
                                             "bind", "connect", "accept"};
    for (size_t i = 0; i < sizeof of_sockets / sizeof *of_sockets; i++)
        if (says(name, of_sockets[i]) && !says(name, "sendfile"))
            return files.socket;
    return says(name, "epoll")      ? files.watch
           : says(name, "timerfd")  ? files.timer
           : says(name, "eventfd")  ? files.event
           : says(name, "signalfd") ? -1
           : strncmp(name, "sem", 3) && strncmp(name, "shm", 3) &&
                   strncmp(name, "msg", 3)
               ? files.file
               : -1;
}

/* What is no pointer of a part, by its type: the first int is a file. */
static long by_type(const char *name, const char *type, bool first)
{
    if (says(type, "_filter") || says(type, "_order"))
        return 0;
    if (says(type, "FILE"))
        return (long)fopen("/dev/null", "r");
    if (says(type, "char *"))
        return (long)"r";
    if (says(type, "*"))
        return (long)good[0];
    if (says(type, "size_t") || says(type, "unsigned long"))
        return says(name, "ioctl") ? FIONREAD : says(name, "_chk") ? ROOM : 64;
    if (says(type, "pthread_t"))
        return (long)pthread_self();
    if (says(type, "pid_t"))
        return getpid();
    if (says(type, "timer_t"))
        return NO_TIMER;
    if (says(type, "rlimit_resource"))
        return RLIMIT_CORE;
    if (says(type, "itimer_which"))
        return ITIMER_VIRTUAL;
    if (says(type, "int") && first)
        return says(name, "prctl") ? PR_GET_PDEATHSIG : file_for(name);
    return says(name, "fcntl") ? F_GETLK : 0;
}

static void take_types(const struct row *row, long values[ARGUMENTS])
{
    char text[512], *at = text;
    int depth = 0, count = 0;
    snprintf(text, sizeof text, "%s", row->types + 1);
    for (char *c = text; *c && count < ARGUMENTS; c++) {
        bool ends = depth == 0 && (*c == ',' || *c == ')');
        depth += (*c == '(') - (*c == ')');
        if (!ends)
            continue;
        *c = '\0';
        values[count] = by_type(row->name, at, count == 0);
        count++;
        at = c + 1;
    }
}

/* Of numbers nothing but parts is known; a set of signals has 8 bytes. */
static void take_numbers(const struct row *row, long values[ARGUMENTS])
{
    bool sets = says(row->name, "sig") || says(row->name, "poll") ||
                says(row->name, "pwait");
    for (int i = 1; sets && i < ARGUMENTS; i++)
        values[i] = 8;
    if (says(row->name, "epoll_pwait"))
        values[3] = 0;
    if (says(row->name, "timer_"))
        values[0] = NO_TIMER;
    if (says(row->name, "preadv") || says(row->name, "pwritev"))
        values[0] = files.file;
}

static void take_arguments(const struct row *row, long values[ARGUMENTS])
{
    memset(values, 0, ARGUMENTS * sizeof *values);
    for (int i = 0; i < ARGUMENTS; i++)
        memset(good[i], 0, 512);
    if (row->types)
        take_types(row, values);
    else
        take_numbers(row, values);
    for (const struct part *part = row->parts; part->kind; part++) {
        if (part->kind == NAME)
            strcpy((char *)good[part->argument], "/dev/null");
        values[part->argument] = (long)good[part->argument];
        if (part->count != ONE)
            values[part->count] = part->unit == 1 || part->unit == 8 ? 64 : 1;
    }
}

/* ---- where nothing is ---------------------------------------------------------- */

enum place { ZERO, LOW, KERNEL, HOLE, GONE, ENDS, READ_ONLY, PLACES };

static const char *const places[] = {"zero", "low",  "the kernel's", "a hole",
                                     "gone", "ends", "read-only"};

static uint8_t *hole, *gone, *last, *fixed;

static void make_places(bool shared)
{
    enum { PAGE = 4096 };
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    uint8_t *map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    memset(map, 0, 3 * PAGE);
    hole = map + PAGE;
    last = hole;
    fixed = map + 2 * PAGE;
    munmap(hole, PAGE);
    mprotect(fixed, PAGE, PROT_READ);
    gone = hole;
    if (!shared)
        return;
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, 1 << 20));
    CHECK(cuMemsetD8(at, 1, 1 << 20));
    CHECK(cuMemFree(at));
    gone = (uint8_t *)at;
}

static void *at_place(enum place place, const struct part *part)
{
    switch (place) {
    case ZERO:
        return NULL;
    case LOW:
        return (void *)16;
    case KERNEL:
        return (void *)0xffff800000000000;
    case HOLE:
        return hole + 64;
    case GONE:
        return gone + 64;
    case READ_ONLY:
        return fixed;
    default:
        memset(last - 64, part->kind == NAME ? 'x' : 0, 64);
        return last - (part->unit >= 4 ? 4 : 1);
    }
}

/* ---- calls ------------------------------------------------------------------------ */

static sigjmp_buf out;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

static void nothing(int signal)
{
    (void)signal;
}

/* Calls that wait are interrupted, those that sleep for no time are not. */
static pthread_t waiter;
static int waiter_id;

static void *interrupt(void *unused)
{
    for (int seen = 0;; usleep(2000)) {
        seen = victim_sleeps(waiter_id) ? seen + 1 : 0;
        if (seen > 4) {
            pthread_kill(waiter, SIGUSR1);
            seen = 0;
        }
    }
    return unused;
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    sigaction(signal, &action, NULL);
}

typedef long any_function(long, long, long, long, long, long);

/* Functions that give an error's number. */
static bool gives_number(const char *name)
{
    return says(name, "pthread_") || says(name, "clock_nanosleep") ||
           says(name, "ttyname_r") || strcmp(name, "sigwait") == 0;
}

static void issue(const struct row *row, const long v[ARGUMENTS], int argument,
                  const char *place)
{
    any_function *function =
        row->number < 0 ? (any_function *)dlsym(RTLD_DEFAULT, row->name) : NULL;
    volatile bool jumped = true;
    volatile long result = 0;
    errno = row->number < 0 && !function ? ENOSYS : 0;
    if (sigsetjmp(out, 1) == 0) {
        if (row->number >= 0)
            result = syscall(row->number, v[0], v[1], v[2], v[3], v[4], v[5]);
        else if (function)
            result = function(v[0], v[1], v[2], v[3], v[4], v[5]);
        jumped = false;
    }
    long seen = row->is_int ? (int)result : result;
    if (errno == ENOSYS)
        return;
    if (gives_number(row->name) && seen > 0) {
        errno = (int)seen;
        seen = -1;
    }
    printf("%s%s %d %s: %s\n", row->number < 0 ? "" : "number ", row->name,
           argument, place,
           jumped     ? "SIGSEGV"
           : seen < 0 ? strerrorname_np(errno)
                      : "done");
}

static void try_row(const struct row *row, const struct row *shape)
{
    long values[ARGUMENTS];
    for (const struct part *part = shape->parts; part->kind; part++)
        for (int place = 0; place < PLACES; place++) {
            if (place == READ_ONLY && part->kind != WRITES)
                continue;
            take_arguments(shape, values);
            values[part->argument] = (long)at_place((enum place)place, part);
            issue(row, values, part->argument, places[place]);
        }
}

/* ---- hooks that say nothing of their memory ----------------------------------------- */

/* Words of a call, of which BAD is the bad pointer. */
static const struct {
    const char *name;
    long number, words[ARGUMENTS];
} others[] = {
#define BAD -77
    {"sigaction", -1, {SIGUSR2, BAD, 0}},
    {"sigaction", -1, {SIGUSR2, 0, BAD}},
    {"sigprocmask", -1, {SIG_BLOCK, BAD, 0}},
    {"sigprocmask", -1, {SIG_BLOCK, 0, BAD}},
    {"sigprocmask", -1, {77, BAD, 0}},
    {"pthread_sigmask", -1, {SIG_UNBLOCK, BAD, 0}},
    {"pthread_sigmask", -1, {SIG_BLOCK, 0, BAD}},
    {"sigaltstack", -1, {BAD, 0}},
    {"sigaltstack", -1, {0, BAD}},
    {"sigsuspend", -1, {BAD}},
    {"sigwait", -1, {BAD, BAD}},
    {"sigwaitinfo", -1, {BAD, 0}},
    {"mlock", -1, {BAD, 8}},
    {"aio_read", -1, {BAD}},
    {"rt_sigaction", SYS_rt_sigaction, {SIGUSR2, BAD, 0, 8}},
    {"rt_sigaction", SYS_rt_sigaction, {SIGUSR2, 0, BAD, 8}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, {SIG_BLOCK, BAD, 0, 8}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, {SIG_BLOCK, 0, BAD, 8}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, {-1, BAD, 0, 8}},
    {"sigaltstack", SYS_sigaltstack, {BAD, 0}},
    {"sigaltstack", SYS_sigaltstack, {0, BAD}},
    {"io_submit", SYS_io_submit, {1, 1, BAD}},
    {"io_getevents", SYS_io_getevents, {1, 0, 1, BAD, 0}},
    {"io_cancel", SYS_io_cancel, {1, BAD, BAD}},
    {"io_uring_setup", SYS_io_uring_setup, {4, BAD}},
    {"io_uring_register", SYS_io_uring_register, {-1, 0, BAD, 1}},
    {"futex", SYS_futex, {BAD, FUTEX_WAIT, 1, 0}},
    {"futex", SYS_futex, {BAD, FUTEX_WAKE, 1, 0}},
    {"futex_waitv", SYS_futex_waitv, {BAD, 1, 0, 0, 0}},
    {"vmsplice", SYS_vmsplice, {1, BAD, 1, 0}},
    {"msgsnd", SYS_msgsnd, {-1, BAD, 8, IPC_NOWAIT}},
    {"msgrcv", SYS_msgrcv, {-1, BAD, 8, 0, IPC_NOWAIT}},
    {"process_madvise", SYS_process_madvise, {-1, BAD, 1, 0, 0}},
    {"execve", SYS_execve, {BAD, 0, 0}},
    {"clone3", SYS_clone3, {BAD, 88}},
};

static void try_others(void)
{
    static const struct part part = {WRITES, 0, ONE, 8};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (int place = 0; place < PLACES; place++) {
            const struct row row = {
                others[i].name, NULL, others[i].number, true, {{0}}};
            long values[ARGUMENTS];
            memcpy(values, others[i].words, sizeof values);
            for (int k = 0; k < ARGUMENTS; k++)
                if (values[k] == BAD)
                    values[k] = (long)at_place((enum place)place, &part);
            if (place != READ_ONLY)
                issue(&row, values, (int)i, places[place]);
        }
}

/* ---- all ------------------------------------------------------------------------------ */

static void give_up_capabilities(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capset, &head, none) != 0)
        exit(3);
}

static void make_good(bool shared)
{
    CUdeviceptr at = 0;
    if (shared)
        CHECK(cuMemAlloc(&at, ARGUMENTS * ROOM));
    else
        at = (CUdeviceptr)aligned_alloc(4096, ARGUMENTS * ROOM);
    for (int i = 0; i < ARGUMENTS; i++)
        good[i] = (uint8_t *)at + i * ROOM;
}

int main(int argc, char **argv)
{
    bool shared = argc > 1 && strcmp(argv[1], "shared") == 0;
    pthread_t thread;
    setvbuf(stdout, NULL, _IOLBF, 0);
    give_up_capabilities(); /* of threads to come, too */
    if (shared)
        victim_start();
    make_good(shared);
    make_places(shared);
    open_files();
    handle(SIGSEGV, jump);
    handle(SIGUSR1, nothing);
    waiter = pthread_self();
    waiter_id = (int)syscall(SYS_gettid);
    pthread_create(&thread, NULL, interrupt, NULL);
    for (int i = 0; i < FUNCTIONS; i++)
        if (!says(functions[i].name, "fork"))
            try_row(&functions[i], &functions[i]);
    for (int i = 0; i < NUMBERED; i++)
        try_row(&numbers[i],
                numbers[i].types ? function_of(numbers[i].name) : &numbers[i]);
    try_others();
    return 0;
}
