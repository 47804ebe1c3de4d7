/*
 * Libraries opened with RTLD_DEEPBIND, which find the C library and the driver
 * before anything that was preloaded, and work on arrays of who opened them.
 *
 *   deep lazy|now path|name|origin LIBRARY explicit|touch
 *
 * How functions are bound, how the library is named, and which one: built to be
 * bound late, or before it runs and read-only then. With LIBRARY 1 this file is
 * that library, with LIBRARY 2 the one that it needs, and with LIBRARY 3 one that
 * it opens.
 */
#ifndef LIBRARY
#define LIBRARY 0
#endif
#include "victim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

/* What the program finds in the library. */
struct library {
    void (*set)(CUdeviceptr, unsigned, size_t); /* of what it needs           */
    void (*step)(CUdeviceptr, unsigned, unsigned);
    long (*read)(int, void *, size_t);
    long (*read_by_pointer)(int, void *, size_t);
    void (*find)(CUdeviceptr, unsigned, size_t); /* by dlopen and dlsym       */
    void (*open)(const char *, CUdeviceptr, unsigned, size_t);
    long (*own)(void); /* a function of libc's name               */
    int (*handle)(void (*)(int));
    sigjmp_buf *out; /* where its constructor's handler goes */
};

#pragma GCC visibility push(default)
void library_set(CUdeviceptr at, unsigned value, size_t n);
const struct library *library_get(void);
ssize_t getrandom(void *to, size_t bytes, unsigned flags);
#pragma GCC visibility pop

#if LIBRARY == 2 || LIBRARY == 3
void library_set(CUdeviceptr at, unsigned value, size_t n)
{
    CHECK(cuMemsetD32(at, value + LIBRARY, n));
}
#elif LIBRARY == 1

/* Not that of libc, whoever calls it here. */
ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
    (void)to;
    (void)flags;
    return (ssize_t)bytes + 1000;
}

static long own(void)
{
    char byte;
    return getrandom(&byte, 1, 0);
}

static void step(CUdeviceptr at, unsigned n, unsigned k)
{
    static CUfunction function;
    void *params[] = {&at, &n, &k};
    CUmodule module;
    if (!function) {
        CHECK(cuModuleLoadData(&module, victim_ptx));
        CHECK(cuModuleGetFunction(&function, module, "step"));
    }
    CHECK(cuLaunchKernel(function, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL,
                         params, NULL));
    CHECK(cuCtxSynchronize());
}

/* Many of them: binding them takes a while. */
enum { READERS = 4000 };
static ssize_t (*const readers[READERS])(int, void *,
                                         size_t) = {[0 ... READERS - 1] = read};

static long by_pointer(int file, void *to, size_t bytes)
{
    for (int i = 1; i < READERS; i++)
        if (((ssize_t(*const volatile *)(int, void *, size_t))readers)[i] !=
            readers[0])
            return -2;
    return readers[0](file, to, bytes);
}

static long by_read(int file, void *to, size_t bytes)
{
    return read(file, to, bytes);
}

static void find(CUdeviceptr at, unsigned value, size_t n)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_DEEPBIND);
    CUresult (*set)(CUdeviceptr, unsigned, size_t) =
        (CUresult(*)(CUdeviceptr, unsigned, size_t))dlsym(driver,
                                                          "cuMemsetD32_v2");
    CHECK(set ? set(at, value, n) : CUDA_ERROR_NOT_FOUND);
    dlclose(driver);
}

static void open_another(const char *path, CUdeviceptr at, unsigned value,
                         size_t n)
{
    void *other = dlopen(path, RTLD_LAZY | RTLD_DEEPBIND);
    void (*set)(CUdeviceptr, unsigned, size_t) =
        (void (*)(CUdeviceptr, unsigned, size_t))dlsym(other, "library_set");
    set(at, value, n);
    dlclose(other);
}

static sigjmp_buf out;

static void leave(int number)
{
    siglongjmp(out, number);
}

static int handle(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, NULL);
}

__attribute__((constructor)) static void start(void)
{
    handle(leave);
}

const struct library *library_get(void)
{
    static const struct library all = {library_set, step,   by_read,
                                       by_pointer,  find,   open_another,
                                       own,         handle, &out};
    return &all;
}
#else

enum { WORDS = 50021, BYTES = WORDS * 4 };

static bool touch;
static CUdeviceptr at;
static const struct library *library;
static sigjmp_buf out;
static volatile int *volatile nowhere;

static void leave(int number)
{
    siglongjmp(out, number);
}

static void look(const char *what)
{
    static uint8_t plain[BYTES];
    if (!touch)
        CHECK(cuMemcpyDtoH(plain, at, BYTES));
    printf(
        "%s %llx\n", what,
        (unsigned long long)victim_hash(touch ? (uint8_t *)at : plain, BYTES));
}

/* What the CPU has written is what the library's kernel reads. */
static void write_all(unsigned seed)
{
    static uint8_t plain[BYTES];
    victim_write(touch ? (uint8_t *)at : plain, BYTES, seed);
    if (!touch)
        CHECK(cuMemcpyHtoD(at, plain, BYTES));
}

static void read_by(long (*call)(int, void *, size_t))
{
    static uint8_t plain[BYTES];
    int file = open("/proc/self/exe", O_RDONLY);
    errno = 0;
    long got = call(file, touch ? (uint8_t *)at : plain, 5000);
    printf("read %ld %d\n", got, errno);
    close(file);
    if (!touch)
        CHECK(cuMemcpyHtoD(at, plain, 5000));
}

static void in_folder(char *path, size_t bytes, const char *file)
{
    char folder[2000];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = '\0';
    *strrchr(folder, '/') = '\0';
    snprintf(path, bytes, "%s/%s", folder, file);
}

static void *open_library(const char *how, const char *named, const char *which)
{
    char path[4096];
    if (strcmp(named, "path") == 0)
        in_folder(path, sizeof path, which);
    else
        snprintf(path, sizeof path, "%s%s",
                 strcmp(named, "origin") == 0 ? "$ORIGIN/" : "", which);
    void *handle = dlopen(
        path, RTLD_DEEPBIND | (strcmp(how, "now") == 0 ? RTLD_NOW : RTLD_LAZY));
    if (!handle) {
        printf("%s\n", dlerror());
        exit(3);
    }
    const struct library *(*get)(void) =
        (const struct library *(*)(void))dlsym(handle, "library_get");
    library = get();
    in_folder(path, sizeof path, "deep_opened.so");
    write_all(7);
    library->open(path, at, 5, WORDS);
    look("opened there");
    return handle;
}

static void use(void)
{
    write_all(1);
    library->step(at, WORDS, 3);
    look("launched");
    library->set(at, 9, WORDS - 5);
    look("set");
    write_all(2);
    library->find(at, 4, WORDS / 2);
    look("found");
    library->step(at, WORDS, 4);
    read_by(library->read);
    library->step(at, WORDS, 5);
    read_by(library->read_by_pointer);
    look("read");
    printf("own %ld\n", library->own());
}

/* The library comes and goes while others open it: each finds it as it is to be. */
static pthread_barrier_t round_begins;

static void *open_again(void *path)
{
    for (int i = 0; i < 50; i++) {
        pthread_barrier_wait(&round_begins);
        void *handle = dlopen(path, RTLD_LAZY | RTLD_DEEPBIND);
        const struct library *(*get)(void) =
            (const struct library *(*)(void))dlsym(handle, "library_get");
        if (get()->own() != 1001)
            return path;
        dlclose(handle);
    }
    return NULL;
}

static void open_at_once(const char *which)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    char path[4096];
    void *failed;
    in_folder(path, sizeof path, which);
    pthread_barrier_init(&round_begins, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, open_again, path);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        printf("at once %d\n", failed != NULL);
    }
    look("at once");
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    touch = strcmp(argv[4], "touch") == 0;
    victim_start();
    CHECK(cuMemAlloc(&at, BYTES));
    for (int i = 0; i < 2; i++) {
        void *handle = open_library(argv[1], argv[2], argv[3]);
        printf("error %d\n", dlerror() != NULL);
        use();
        if (sigsetjmp(*library->out, 1) == 0)
            *nowhere = 1;
        library->step(at, WORDS, 8);
        look("left by the constructor's handler");
        if (i == 1) {
            printf("handle %d\n", library->handle(leave));
            library->step(at, WORDS, 6);
            look("handled");
            if (sigsetjmp(out, 1) == 0)
                *nowhere = 1;
            library->step(at, WORDS, 7);
            look("left");
        }
        dlclose(handle);
        look("closed");
    }
    open_at_once(argv[3]);
    printf("no such: %d\n",
           dlopen("no_such_library.so", RTLD_LAZY | RTLD_DEEPBIND) != NULL);
    printf("%s\n", strstr(dlerror(), "no_such_library.so") ? "said" : "?");
    return 0;
}
#endif
