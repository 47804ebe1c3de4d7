/*
 * System calls and stdio on shared memory, beside the same on plain memory in
 * the same process, preloaded: microseconds per call that moves `size` bytes.
 *
 *   host     the host has the bytes, and the CPU has written them
 *   device   the device wrote them last; the peer copies them to plain memory
 *            first where the call reads them, and does nothing more where it
 *            overwrites them
 *
 * Files lie in memory (memfd), so what is measured is the copy and what comes
 * with it. At a socket's other end a thread takes, or gives, plain memory.
 * PRELOAD names libadsm-preload.so; the program runs itself with it. ONLY, when
 * set, is a part of the names of the cases to measure: "/64K/host".
 */
#include "bench.h"
#include "interpose/hooks_list.h"
#include "serve.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST = 16 << 20, SAMPLE_BYTES = 4 << 20, CALLS_MOST = 64 };

static char *shared, *plain, *other; /* `other`: at the socket's other end */
static int file, ends[2];
static FILE *stream;
static int (*device_set)(uint64_t, unsigned char, size_t);
static int (*device_get)(void *, uint64_t, size_t);
static int (*device_wait)(void);

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- what is measured ----------------------------------------------------- */

typedef ssize_t plain_call(int, char *, size_t);

/* All of it, in as many calls as it takes. */
static void all(plain_call *call, int fd, char *at, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = call(fd, at, bytes);
        if (n <= 0)
            die("call");
        at += n;
        bytes -= (size_t)n;
    }
}

static ssize_t by_read(int fd, char *at, size_t bytes)
{
    return read(fd, at, bytes);
}

static ssize_t by_write(int fd, char *at, size_t bytes)
{
    return write(fd, at, bytes);
}

static ssize_t by_recv(int fd, char *at, size_t bytes)
{
    return recv(fd, at, bytes, 0);
}

static ssize_t by_send(int fd, char *at, size_t bytes)
{
    return send(fd, at, bytes, 0);
}

static void do_read(char *at, size_t bytes)
{
    lseek(file, 0, SEEK_SET);
    all(by_read, file, at, bytes);
}

static void do_write(char *at, size_t bytes)
{
    lseek(file, 0, SEEK_SET);
    all(by_write, file, at, bytes);
}

static void do_pread(char *at, size_t bytes)
{
    if (pread(file, at, bytes, 0) != (ssize_t)bytes)
        die("pread");
}

static void do_pwrite(char *at, size_t bytes)
{
    if (pwrite(file, at, bytes, 0) != (ssize_t)bytes)
        die("pwrite");
}

static void do_readv(char *at, size_t bytes)
{
    struct iovec two[2] = {{at, bytes / 2}, {at + bytes / 2, bytes / 2}};
    lseek(file, 0, SEEK_SET);
    if (readv(file, two, 2) != (ssize_t)bytes)
        die("readv");
}

static void do_writev(char *at, size_t bytes)
{
    struct iovec two[2] = {{at, bytes / 2}, {at + bytes / 2, bytes / 2}};
    lseek(file, 0, SEEK_SET);
    if (writev(file, two, 2) != (ssize_t)bytes)
        die("writev");
}

static void do_fread(char *at, size_t bytes)
{
    rewind(stream);
    if (fread(at, 1, bytes, stream) != bytes)
        die("fread");
}

static void do_fwrite(char *at, size_t bytes)
{
    rewind(stream);
    if (fwrite(at, 1, bytes, stream) != bytes || fflush(stream) != 0)
        die("fwrite");
}

static size_t due; /* bytes at the other end */

static void *give(void *unused)
{
    all(by_write, ends[1], other, due);
    return NULL;
}

static void *take(void *unused)
{
    all(by_read, ends[1], other, due);
    return NULL;
}

static void with_other(void *(*end)(void *), plain_call *call, char *at,
                       size_t bytes)
{
    pthread_t thread;
    due = bytes;
    if (pthread_create(&thread, NULL, end, NULL) != 0)
        die("pthread_create");
    all(call, ends[0], at, bytes);
    pthread_join(thread, NULL);
}

static void do_socket_read(char *at, size_t bytes)
{
    with_other(give, by_read, at, bytes);
}

static void do_socket_write(char *at, size_t bytes)
{
    with_other(take, by_write, at, bytes);
}

static void do_recv(char *at, size_t bytes)
{
    with_other(give, by_recv, at, bytes);
}

static void do_send(char *at, size_t bytes)
{
    with_other(take, by_send, at, bytes);
}

static const struct {
    const char *name;
    void (*run)(char *, size_t);
    bool reads;       /* the memory; else overwrites it */
    const char *hook; /* without which shared memory does not get through */
} calls[] = {
    {"read", do_read, false, "read"},
    {"pread", do_pread, false, "pread"},
    {"readv", do_readv, false, "readv"},
    {"fread", do_fread, false, "fread"},
    {"read-socket", do_socket_read, false, "read"},
    {"recv", do_recv, false, "recv"},
    {"write", do_write, true, "write"},
    {"pwrite", do_pwrite, true, "pwrite"},
    {"writev", do_writev, true, "writev"},
    {"fwrite", do_fwrite, true, "fwrite"},
    {"write-socket", do_socket_write, true, "write"},
    {"send", do_send, true, "send"},
};

enum { CALLS = sizeof calls / sizeof *calls };

/* ---- cases ---------------------------------------------------------------- */

static void prepare(char *at, size_t bytes, bool device, int value)
{
    memset(at, value, bytes);
    for (size_t i = 0; i < bytes; i += 4096) /* not by a copy behind memset */
        *(volatile char *)(at + i) = (char)value;
    if (device && at == shared &&
        device_set((uint64_t)(uintptr_t)at, (unsigned char)value, bytes) != 0)
        die("cuMemsetD8");
    if (at == shared && device_wait() != 0) /* also for blocks sent early */
        die("cuCtxSynchronize");
}

/* Microseconds of one call, as the mean of some. */
static double sample(size_t call, char *at, size_t bytes, bool device)
{
    size_t n = SAMPLE_BYTES / bytes + 1;
    n = n < CALLS_MOST ? n : CALLS_MOST;
    uint64_t ns = 0;
    for (size_t i = 0; i < n; i++) {
        prepare(at, bytes, device, (int)i);
        uint64_t begin = bench_now();
        if (device && at == plain && calls[call].reads &&
            device_get(at, (uint64_t)(uintptr_t)shared, bytes) != 0)
            die("cuMemcpyDtoH");
        calls[call].run(at, bytes);
        ns += bench_now() - begin;
    }
    return (double)ns / (double)n / 1000;
}

static void measure(size_t call, size_t bytes, bool device)
{
    struct bench_samples ours = {0}, peer = {0};
    const char *only = getenv("ONLY");
    char name[64];
    snprintf(name, sizeof name, "%s/%zuK/%s", calls[call].name, bytes >> 10,
             device ? "device" : "host");
    if (only && !strstr(name, only))
        return;
    (void)sample(call, plain, bytes, device);
    (void)sample(call, shared, bytes, device);
    for (int rep = 0; rep < bench_reps(); rep++) {
        prepare(shared, bytes, device, rep);
        bench_add(&peer, sample(call, plain, bytes, device));
        bench_add(&ours, sample(call, shared, bytes, device));
    }
    bench_report(name, "us", &ours, "plain memory", &peer);
}

/* ---- the program ---------------------------------------------------------- */

static void open_all(void)
{
    (void)serve(1);
    device_set = serve_driver("cuMemsetD8_v2");
    device_get = serve_driver("cuMemcpyDtoH_v2");
    device_wait = serve_driver("cuCtxSynchronize");
    plain = mmap(NULL, 2 * MOST, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    other = plain + MOST;
    file = memfd_create("io", MFD_CLOEXEC);
    int copy = memfd_create("stdio", MFD_CLOEXEC);
    if (plain == MAP_FAILED || file < 0 || copy < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        !(stream = fdopen(copy, "w+")))
        die("open");
    memset(plain, 1, 2 * MOST);
    do_write(plain, MOST);
    do_fwrite(plain, MOST);
}

static bool is_hooked(const char *name)
{
    const struct adsm_hook *(*list)(size_t *) =
        dlsym(RTLD_DEFAULT, "adsm_hooks_list");
    size_t count = 0;
    const struct adsm_hook *hooks = list(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return true;
    return false;
}

/* Run this program once more, preloaded. */
static int begin_again(char **argv)
{
    const char *preload = getenv("PRELOAD");
    if (!preload ||
        (getenv("LD_PRELOAD") && strcmp(getenv("LD_PRELOAD"), preload) == 0)) {
        fprintf(stderr, "bench_io: set PRELOAD to libadsm-preload.so\n");
        return 77;
    }
    setenv("LD_PRELOAD", preload, 1);
    execv("/proc/self/exe", argv);
    return 77;
}

int main(int argc, char **argv)
{
    if (!dlsym(RTLD_DEFAULT, "adsm_hooks_list"))
        return begin_again(argv);
    bench_start(argc, argv, "io");
    open_all();
    bench_settle();
    for (size_t bytes = 4096; bytes <= MOST; bytes *= 4) {
        if (bench_quick() && bytes != 4096 && bytes != 1 << 20)
            continue;
        shared = serve(bytes); /* an object of that size */
        for (size_t call = 0; call < CALLS; call++)
            for (int device = 0; device < 2; device++)
                if (is_hooked(calls[call].hook))
                    measure(call, bytes, device);
    }
    return 0;
}
