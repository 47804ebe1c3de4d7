/*
 * Strings that stdio takes from memory, and bytes that it puts there: all
 * forms of puts and printf, wide ones, streams over memory, buffers of streams.
 * What arrives, what is returned and errno. See memory.h for the command line.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <unistd.h>
#include <wchar.h>

enum { HALF = 2 << 20, LONG = 100001 };

/* The checked forms, as _FORTIFY_SOURCE has them called. */
int __printf_chk(int, const char *, ...);
int __fprintf_chk(FILE *, int, const char *, ...);
int __dprintf_chk(int, int, const char *, ...);
int __vprintf_chk(int, const char *, va_list);
int __vfprintf_chk(FILE *, int, const char *, va_list);
int __vdprintf_chk(int, int, const char *, va_list);
int __sprintf_chk(char *, int, size_t, const char *, ...);
int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
char *__fgets_chk(char *, size_t, int, FILE *);

static enum memory_state state;
static char *memory, *text, *across;
static wchar_t *wide;

/* Letters in two allocations: a string in the first one, one that goes across
 * the border, a wide one in the second. */
static void fill(void)
{
    memory_fill((uint8_t *)memory, 2 * HALF, 'e', state);
    text = memory + 3000;
    text[LONG] = '\0';
    across = memory + HALF - 30000;
    across[60000] = '\0';
    wide = (wchar_t *)(memory + HALF + 102400);
    for (int i = 0; i < 6000; i++)
        wide[i] = L'a' + i % 26;
    wide[6000] = 0;
}

/* ---- what arrives ---------------------------------------------------------- */

static const int modes[] = {_IOFBF, _IOLBF, _IONBF};
static FILE *out;
static char *own_buffer;

/* Kinds of stream: how it is buffered, and with how much. */
enum { KINDS = 5 };

static void open_out(int kind)
{
    out = tmpfile();
    if (kind < 3)
        setvbuf(out, NULL, modes[kind], 0);
    else
        setvbuf(out, own_buffer, _IOFBF, kind == 3 ? 64 : 60000);
}

static void show(const char *name, int kind, long result)
{
    static uint8_t back[1 << 20];
    int saved = errno;
    fflush(out);
    ssize_t got = pread(fileno(out), back, sizeof back, 0);
    printf("%s/%d/%d %ld %d: error %d, %zd bytes %016llx\n", name, state, kind,
           result, saved, ferror(out) != 0, got,
           (unsigned long long)victim_hash(back, got > 0 ? (size_t)got : 0));
    fflush(stdout);
    fclose(out);
}

#define CASE(...) CASE_OF(KINDS, __VA_ARGS__)
#define CASE_OF(kinds, ...)                                                    \
    for (int kind_ = 0; kind_ < (kinds); kind_++) {                            \
        fill();                                                                \
        open_out(kind_);                                                       \
        errno = 0;                                                             \
        long result_ = (long)(__VA_ARGS__);                                    \
        show(#__VA_ARGS__, kind_, result_);                                    \
    }

static int list_to(int (*print)(FILE *, const char *, va_list),
                   const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int made = print(out, format, list);
    va_end(list);
    return made;
}

static int list_checked(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int made = __vfprintf_chk(out, 1, format, list);
    va_end(list);
    return made;
}

static int list_fd(int checked, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int made = checked ? __vdprintf_chk(fileno(out), 1, format, list)
                       : vdprintf(fileno(out), format, list);
    va_end(list);
    return made;
}

/* With the file of `out` in the place of standard output. */
static int real_stdout;

static void to_file(void)
{
    fflush(stdout);
    dup2(fileno(out), STDOUT_FILENO);
}

static int to_stdout(int made)
{
    int saved = errno;
    if (fflush(stdout) != 0)
        made = -2;
    dup2(real_stdout, STDOUT_FILENO);
    clearerr(stdout);
    errno = saved;
    return made;
}

static int list_stdout(int checked, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    to_file();
    int made = checked ? __vprintf_chk(1, format, list) : vprintf(format, list);
    va_end(list);
    return to_stdout(made);
}

/* ---- puts and printf --------------------------------------------------------- */

static int counted(void)
{
    int *count = (int *)(memory + 64);
    int made = fprintf(out, "%s%n%s", text, count, across);
    return made * 2 + *count;
}

/* A format in the memory under test. */
static int of_format(const char *format)
{
    char *at = memory + HALF + 5;
    for (size_t i = 0; i < 5000; i++)
        at[i] = 'f';
    for (size_t i = 0; i == 0 || format[i - 1]; i++)
        at[5000 + i] = format[i];
    return fprintf(out, at, 7, text);
}

static void prints(void)
{
    CASE(fputs(text, out));
    CASE(fputs(across, out));
    CASE(fputs(across + 60000, out));
    CASE(fputs_unlocked(text, out));
    CASE((to_file(), to_stdout(puts(text))));
    CASE((to_file(), to_stdout(puts(across + 60000))));
    CASE(fprintf(out, "%s", text));
    CASE(fprintf(out, "plain %s and %d\n", "plain", 7));
    CASE(fprintf(out, "%d %ld %lld %hhd %zu %c %s\n", 1, 2L, 3LL, 4, (size_t)5,
                 'c', text));
    CASE(fprintf(out, "%f %Lf %e %s\n", 1.5, 2.5L, 1e9, text));
    CASE(
        fprintf(out, "%p %lc %*d %-9s %s\n", (void *)1, L'x', 9, 3, "t", text));
    CASE(fprintf(out, "%3$s %1$d %2$s", 4, across, text));
    CASE(fprintf(out, "%.70000s|%200000s", text, across));
    CASE(fprintf(out, "%c%s", 0, text));
    CASE(fprintf(out, "%s", across + 60000));
    CASE((errno = ENOENT, fprintf(out, "%m %s", text)));
    CASE(fprintf(out, "%ls %S", wide, wide + 10));
    CASE(counted());
    CASE(of_format("%d %s"));
    CASE(__fprintf_chk(out, 1, "%s %s", text, across));
    CASE(list_to(vfprintf, "%d %s", 3, text));
    CASE(list_checked("%s %d", text, 3));
    CASE((to_file(), to_stdout(printf("%s", text))));
    CASE((to_file(), to_stdout(__printf_chk(1, "%s", text))));
    CASE(list_stdout(0, "%s", text));
    CASE(list_stdout(1, "%s", text));
    CASE(dprintf(fileno(out), "%s %d", text, 9));
    CASE(dprintf(fileno(out), "%s", across + 60000));
    CASE(dprintf(fileno(out), "%c%s", 0, text));
    CASE(__dprintf_chk(fileno(out), 1, "%s %d", across, 9));
    CASE(list_fd(0, "%s", text));
    CASE(list_fd(1, "%s", text));
}

/* Into the memory: the bytes are stored by the CPU. */
static int stored(int made)
{
    fprintf(out, "%016llx",
            (unsigned long long)victim_hash((uint8_t *)memory, 2 * HALF));
    return made;
}

static int lines(void)
{
    char *at = memory + HALF - 10;
    rewind(out);
    for (int i = 0; i < 4000; i++)
        fprintf(out, "line %d of a file\n", i);
    rewind(out);
    while (fgets(at, 100, out))
        at += 17;
    __fgets_chk(at, 50, 40, out);
    rewind(out);
    int number = 0;
    fscanf(out, "line %d %10s %[a-z ]", (int *)(memory + 8), memory + 8190,
           memory + 20000);
    memcpy(&number, memory + 8, sizeof number);
    fseek(out, 0, SEEK_END);
    return stored(number + ftell(out));
}

static int in_memory(void)
{
    char *at = memory + HALF - 10000;
    FILE *stream = fmemopen(at, 20000, "w+");
    int made = fprintf(stream, "%s", text);
    fflush(stream);
    rewind(stream);
    fseek(stream, 3, SEEK_SET);
    made += fgetc(stream);
    fclose(stream);
    char **made_at = (char **)memory;
    size_t *made_bytes = (size_t *)(memory + 8);
    stream = open_memstream(made_at, made_bytes);
    fputs(text, stream);
    fclose(stream);
    made += (int)*made_bytes + (*made_at)[5];
    free(*made_at);
    *made_at = NULL;
    return stored(made);
}

static int wide_ones(void)
{
    int made = fwide(out, 1) > 0;
    made += fputws(wide, out) != EOF;
    made += fwprintf(out, L"%ls %s %d", wide, text, 4);
    made += fprintf(out, "%s", text);
    made += fputs(text, out);
    rewind(out);
    made += fgetws((wchar_t *)(memory + HALF - 4000), 2000, out) != NULL;
    fseek(out, 0, SEEK_END);
    fwprintf(out, L"%016llx",
             (unsigned long long)victim_hash((uint8_t *)memory, 2 * HALF));
    return made;
}

static void stores(void)
{
    CASE(stored(sprintf(memory + HALF - 50000, "%s %d", text, 3)));
    CASE(stored(snprintf(memory + HALF - 500, 1000, "%s %d", text, 3)));
    CASE(stored(__sprintf_chk(memory + HALF, 1, 1 << 20, "%s %d", text, 3)));
    CASE(stored(__snprintf_chk(memory + HALF - 7, 90, 1, 90, "%s", text)));
    CASE(stored(swprintf((wchar_t *)(memory + HALF - 800), 300, L"%ls", wide)));
    CASE(stored(sscanf("12 some words", "%d %s", (int *)(memory + HALF - 4),
                       memory + HALF)));
    CASE(lines());
    CASE(in_memory());
    /* glibc 2.36 never ends with a buffer that is given to a wide stream. */
    CASE_OF(3, wide_ones());
}

/* ---- what fails ---------------------------------------------------------------- */

static void open_other(const char *path, const char *mode, int buffering)
{
    out = fopen(path, mode);
    setvbuf(out, NULL, buffering, 0);
}

#define FAILING(path, mode, ...)                                               \
    for (int m_ = 0; m_ < 3; m_++) {                                           \
        fill();                                                                \
        open_other(path, mode, modes[m_]);                                     \
        errno = 0;                                                             \
        long result_ = (long)(__VA_ARGS__);                                    \
        show(path " " #__VA_ARGS__, m_, result_);                              \
    }

static void fails(void)
{
    FAILING("/dev/full", "w", fputs(text, out));
    FAILING("/dev/full", "w", fprintf(out, "%s", text));
    FAILING("/dev/full", "w", dprintf(fileno(out), "%s", text));
    FAILING("/dev/full", "w", (to_file(), to_stdout(puts(text))));
    FAILING("/dev/null", "r", fputs(text, out));
    FAILING("/dev/null", "r", fprintf(out, "%s", text));
    FAILING("/dev/null", "r", fprintf(out, "%s", across + 60000));
    FAILING("/dev/null", "r", dprintf(fileno(out), "%s", text));
    CASE(dprintf(-1, "%s", text));
    /* A part gets out before a wide character that has no bytes. */
    wide[0] = 0x7fffffff;
    CASE((wide[3000] = 0x7fffffff, fprintf(out, "%s %ls", text, wide)));
}

/* Standard error as perror and its like find it: not used, then buffered. */
static void to_errors(void)
{
    static char buffer[9000];
    int real = dup(STDERR_FILENO);
    for (int round = 0; round < 3; round++) {
        fill();
        out = tmpfile();
        dup2(fileno(out), STDERR_FILENO);
        if (round == 2)
            setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
        errno = ENOENT;
        perror(text);
        psignal(SIGTERM, across);
        errno = 0;
        int made = fprintf(stderr, "%s", text);
        made += fputs(across, stderr);
        fflush(stderr);
        show("stderr", round, made);
    }
    dup2(real, STDERR_FILENO);
    setvbuf(stderr, NULL, _IONBF, 0);
    close(real);
}

/* ---- buffers of streams ---------------------------------------------------------- */

static int buffered(void (*set)(FILE *, char *))
{
    char *buffer = memory + HALF - 3000, piece[100];
    FILE *in = fopen("/proc/self/exe", "r");
    int made = 0;
    set(out, buffer);
    set(in, buffer + 65536);
    for (int i = 0; i < 3000; i++) {
        made += (int)fread(piece, 1, sizeof piece, in);
        made += (int)fwrite(piece, 1, sizeof piece, out);
        if (memory_is_shared && i % 500 == 100) {
            int saved = errno; /* what a driver does with it is its own */
            memory_fill((uint8_t *)memory, 2 * HALF, 'x', MEMORY_DEVICE);
            errno = saved;
        }
    }
    fclose(in);
    fflush(out);
    return made;
}

static void set_full(FILE *stream, char *buffer)
{
    setvbuf(stream, buffer, _IOFBF, 6000);
}

static void set_line(FILE *stream, char *buffer)
{
    setvbuf(stream, buffer, _IOLBF, 6000);
}

static void set_bytes(FILE *stream, char *buffer)
{
    setbuffer(stream, buffer, 5000);
}

static void buffers(void)
{
    CASE(buffered(set_full));
    CASE(buffered(set_line));
    CASE(buffered(set_bytes));
    CASE(buffered(setbuf));
}

/* ---- beside a thread that calls kernels ------------------------------------------ */

/* libc reads a string to its end and then has the kernel read it: calls between
 * the two close what the first has opened. They write elsewhere, in the same
 * allocation. */
static CUfunction step;
static CUcontext context;
static atomic_bool stop;

static void *launch(void *ignored)
{
    CUdeviceptr at = (CUdeviceptr)memory + HALF / 2;
    uint32_t n = 1000, k = 1;
    void *arguments[] = {&at, &n, &k};
    CHECK(cuCtxSetCurrent(context));
    while (!stop) {
        CHECK(
            cuLaunchKernel(step, 4, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
        CHECK(cuCtxSynchronize());
    }
    return ignored;
}

static pthread_t start_launching(void)
{
    CUmodule module;
    pthread_t thread;
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuCtxGetCurrent(&context));
    pthread_create(&thread, NULL, launch, NULL);
    return thread;
}

static int print_often(void)
{
    int failed = 0;
    for (int i = 0; i < 120; i++) {
        failed += fputs(text, out) == EOF;
        failed += fprintf(out, "%s", text) != LONG;
        failed += dprintf(fileno(out), "%s", text) != LONG;
        failed += (to_file(), to_stdout(puts(text))) != LONG + 1;
        rewind(out);
        failed += ftruncate(fileno(out), 0);
    }
    return failed;
}

static void beside_kernels(void)
{
    pthread_t thread = 0;
    fill();
    if (memory_is_shared)
        thread = start_launching();
    out = tmpfile();
    printf("beside kernels: %d failed\n", print_often());
    fclose(out);
    stop = true;
    if (memory_is_shared)
        pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    memory_start(argc, argv);
    setlocale(LC_ALL, "C.UTF-8");
    real_stdout = dup(STDOUT_FILENO);
    own_buffer = malloc(60000);
    memory = (char *)memory_pair(HALF);
    for (int s = MEMORY_DEVICE; s < MEMORY_STATES; s += MEMORY_MIXED) {
        state = (enum memory_state)s;
        prints();
        stores();
        fails();
        to_errors();
        buffers();
    }
    beside_kernels();
    return 0;
}
