/*
 * What each hooked function of libc costs more than the function itself, on
 * memory that it has nothing to do with: nanoseconds more per call.
 *
 *   idle     nothing is shared, the runtime was never brought up
 *   serving  shared objects exist
 *
 * The functions and their parameters come from interpose/hooks.def, and
 * arguments follow from the types: file descriptor -1, eight bytes of plain
 * memory, all zero, a stream at its end. So most calls fail at once, behind the
 * hook; those that would set the clock, mount or rename the machine do as well,
 * since a child gives up what root may do. What does not return from such a call (jumps, waits, exec) is named in the
 * end and not measured.
 *
 * PRELOAD names libadsm-preload.so. A child is this program again, as
 * `bench_hooks --child idle|serving <first row> <rounds> <rows to leave out>`;
 * it prints a row and its figure as soon as it has it, and the parent goes on
 * behind one in which it ended or stayed.
 */
#include "bench.h"
#include "serve.h"

#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name, *parameters;
} rows[] = {
#define ADSM_HOOK_LIBC(returns, name, params) {#name, #params},
#include "interpose/hooks.def"
};

enum { LEFT_OUT = '-', MEASURED = '+' }; /* a row, to a child */

enum {
    ROWS = sizeof rows / sizeof *rows,
    ARGUMENTS = 8,
    ROUND_NS = 200000,
    PATIENCE_MS = 1000
};

/* ---- arguments ------------------------------------------------------------ */

static _Alignas(64) char plain[ARGUMENTS][4096];
static struct iovec vector = {plain[0], 8};
static struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
static struct mmsghdr messages = {
    .msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}};

static bool says(const char *type, const char *word)
{
    return strstr(type, word) != NULL;
}

/* For parameter `i`, of that type; `is_first` of the ints. */
static long argument(const char *type, int i, bool is_first)
{
    static FILE *stream;
    static char *const none[] = {NULL};
    if (!stream)
        stream = fopen("/dev/null", "r");
    if (says(type, "(*"))
        return 0;
    if (!says(type, "*") && !says(type, "["))
        return says(type, "size_t")  ? 8
               : strcmp(type, "int") ? 0
               : is_first            ? -1
                                     : 1;
    return says(type, "FILE")       ? (long)stream
           : says(type, "iovec")    ? (long)&vector
           : says(type, "mmsghdr")  ? (long)&messages
           : says(type, "msghdr")   ? (long)&message
           : says(type, "*const *") ? (long)none
                                    : (long)plain[i];
}

/* Cut "(int, void *, size_t)" at its outer commas. */
static void arguments_of(const char *parameters, long values[ARGUMENTS])
{
    char text[512], *at = text;
    int depth = 0, count = 0;
    bool had_int = false;
    snprintf(text, sizeof text, "%s", parameters + 1);
    for (char *c = text; *c && count < ARGUMENTS; c++) {
        bool ends = depth == 0 && (*c == ',' || *c == ')');
        depth += (*c == '(') - (*c == ')');
        if (!ends)
            continue;
        *c = '\0';
        at += strspn(at, " ");
        values[count] = argument(at, count, !had_int);
        if (values[count] == 8 && says(parameters, "FILE"))
            values[count] = 1; /* one item of one byte, with room for it */
        had_int |= strcmp(at, "int") == 0;
        count++;
        at = c + 1;
    }
}

/* ---- the child ------------------------------------------------------------ */

typedef long any_function(long, long, long, long, long, long, long, long);

static double round_ns(any_function *volatile f, const long v[ARGUMENTS],
                       long calls)
{
    uint64_t begin = bench_now();
    for (long i = 0; i < calls; i++)
        f(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
    return (double)(bench_now() - begin) / (double)calls;
}

/* The fastest of a few rounds: others only ever make it slower. */
static double measure(any_function *f, const long values[ARGUMENTS], int rounds)
{
    double best = round_ns(f, values, 20);
    long calls = (long)(ROUND_NS / (best + 1)) + 1;
    for (int i = 0; i < rounds; i++) {
        double ns = round_ns(f, values, calls);
        best = ns < best ? ns : best;
    }
    return best;
}

/* Most rows are names of calls that some user may make with effect. */
static void give_up_capabilities(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capset, &head, none) != 0)
        _exit(77);
}

/* Returns twice, runs a program, or writes into a file of root's who is there. */
static bool has_effect(const char *name)
{
    return says(name, "fork") || strcmp(name, "system") == 0 ||
           strcmp(name, "popen") == 0 || strcmp(name, "pututline") == 0 ||
           strcmp(name, "pututxline") == 0;
}

static int child(char **argv)
{
    give_up_capabilities();
    if (strcmp(argv[2], "serving") == 0)
        (void)serve(8 << 20);
    for (int i = atoi(argv[3]); i < ROWS; i++) {
        if (argv[5][i] == LEFT_OUT || has_effect(rows[i].name))
            continue;
        long values[ARGUMENTS] = {0};
        any_function *f = dlsym(RTLD_DEFAULT, rows[i].name);
        arguments_of(rows[i].parameters, values);
        memset(plain, 0, sizeof plain); /* rows before wrote what they know */
        printf("%d %.3f\n", i, f ? measure(f, values, atoi(argv[4])) : -1);
        fflush(stdout);
    }
    return 0;
}

/* ---- the parent ----------------------------------------------------------- */

static char
    chosen[ROWS + 1]; /* rows that returned so far, as children get it */

static FILE *start(const char *mode, const char *preload, int first, pid_t *pid)
{
    int ends[2];
    char row[16], rounds[16];
    if (pipe(ends) != 0)
        return NULL;
    *pid = fork();
    if (*pid == 0) {
        snprintf(row, sizeof row, "%d", first);
        snprintf(rounds, sizeof rounds, "%d", bench_quick() ? 3 : 40);
        dup2(ends[1], STDOUT_FILENO);
        if (preload)
            setenv("LD_PRELOAD", preload, 1);
        else
            unsetenv("LD_PRELOAD");
        execl("/proc/self/exe", "bench_hooks", "--child", mode, row, rounds,
              chosen, NULL);
        _exit(77);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

/* Rows from `first` on until the child ends, or stays in one. Return: where
 * it was then; -1: it could not begin */
static int listen_to(FILE *from, pid_t pid, int first, double ns[ROWS])
{
    int row = first - 1, read, status;
    double value;
    struct pollfd wait = {.fd = fileno(from), .events = POLLIN};
    char line[64];
    setvbuf(from, NULL, _IONBF, 0);
    while (poll(&wait, 1, PATIENCE_MS) == 1 && fgets(line, sizeof line, from) &&
           sscanf(line, "%d %lf", &read, &value) == 2)
        ns[row = read] = value;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    fclose(from);
    return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? -1 : row + 1;
}

/* One figure of each row; negative where there is none. */
static bool ask(const char *mode, const char *preload, double ns[ROWS])
{
    for (int i = 0; i < ROWS; i++)
        ns[i] = -1;
    for (int first = 0; first >= 0 && first < ROWS; first++) {
        pid_t pid;
        FILE *from = start(mode, preload, first, &pid);
        first = from ? listen_to(from, pid, first, ns) : -1;
        if (first < 0)
            return false;
    }
    return true;
}

static struct bench_samples more[ROWS];

static int compare(const char *mode, const char *preload)
{
    double bare[ROWS], ours[ROWS];
    memset(more, 0, sizeof more);
    memset(chosen, MEASURED, ROWS);
    for (int rep = 0; rep < bench_reps(); rep++) {
        if (!ask(mode, NULL, bare) || !ask(mode, preload, ours))
            return -1;
        for (int i = 0; i < ROWS; i++)
            if (bare[i] >= 0 && ours[i] >= 0)
                bench_add(&more[i], ours[i] - bare[i]);
            else
                chosen[i] = LEFT_OUT;
    }
    for (int i = 0; i < ROWS; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%s", rows[i].name, mode);
        if (more[i].count)
            bench_report(name, "ns", &more[i], NULL, NULL);
        else
            fprintf(stderr, "%s: not measured\n", name);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *preload = getenv("PRELOAD");
    if (argc == 6 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "hooks");
    if (!preload) {
        fprintf(stderr, "bench_hooks: set PRELOAD to libadsm-preload.so\n");
        return 77;
    }
    if (compare("idle", preload) != 0 || compare("serving", preload) != 0) {
        fprintf(stderr, "bench_hooks: no driver\n");
        return 77;
    }
    return 0;
}
