/*
 * Command line, clock, output and report of the programs. See bench.h.
 */
#include "common/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    const char *program, *input, *out_path;
    bool verify, json;
    FILE *out;

    double seconds[BENCH_PHASES], started_s, phase_started_s, total_s;
    double work_s, ended_s; /* where it began and ended; 0: not yet */
    enum bench_phase phase;

    uint64_t bytes_up, bytes_down, launches, digest;

    unsigned char *kept; /* the output, when it will be verified */
    size_t kept_bytes, kept_room;
    uint64_t checks;
    double worst; /* largest difference, in tolerances */

    struct {
        const char *name, *about, **value;
    } options[BENCH_OPTIONS_MAX]; /* the program's own */
    int option_count;
} bench;

static const char *const phase_names[BENCH_PHASES] = {
    [BENCH_SETUP] = "setup",   [BENCH_READ] = "read", [BENCH_CPU] = "cpu",
    [BENCH_KERNEL] = "kernel", [BENCH_COPY] = "copy", [BENCH_WRITE] = "write",
};

static const char usage[] =
    "usage: %s [options]\n"
    "  --input file   what to compute (default: the small set that comes with "
    "this)\n"
    "  --out file     write the result there, as it lies in memory\n"
    "  --verify       compare the result with a computation on the CPU\n"
    "  --json         the report as one JSON object\n";

static const char usage_end[] =
    "Ends with 0; 1 when the result is wrong; 2 for bad arguments or files;\n"
    "3 when the device fails.\n";

void bench_die(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", bench.program);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(status);
}

double bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void bench_option(const char *name, const char *about, const char **value)
{
    if (bench.option_count == BENCH_OPTIONS_MAX)
        abort();
    bench.options[bench.option_count].name = name;
    bench.options[bench.option_count].about = about;
    bench.options[bench.option_count++].value = value;
}

static _Noreturn void help(void)
{
    printf(usage, bench.program);
    for (int i = 0; i < bench.option_count; i++)
        printf("  %s\n", bench.options[i].about);
    fputs(usage_end, stdout);
    exit(0);
}

static bool switch_parse(const char *arg)
{
    if (strcmp(arg, "--help") == 0)
        help();
    if (strcmp(arg, "--verify") == 0)
        return bench.verify = true;
    if (strcmp(arg, "--json") == 0)
        return bench.json = true;
    return false;
}

/* Where the value of an option goes; NULL when there is no such option. */
static const char **value_place(const char *arg)
{
    if (strcmp(arg, "--input") == 0)
        return &bench.input;
    if (strcmp(arg, "--out") == 0)
        return &bench.out_path;
    for (int i = 0; i < bench.option_count; i++)
        if (strcmp(arg, bench.options[i].name) == 0)
            return bench.options[i].value;
    return NULL;
}

static void arguments_parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (switch_parse(argv[i]))
            continue;
        const char **value = value_place(argv[i]);
        if (!value)
            bench_die(BENCH_EXIT_INPUT, "there is no option '%s', see --help",
                      argv[i]);
        if (i + 1 == argc)
            bench_die(BENCH_EXIT_INPUT, "%s needs a value, see --help",
                      argv[i]);
        *value = argv[++i];
    }
}

static _Noreturn void write_failed(void)
{
    bench_die(BENCH_EXIT_INPUT, "cannot write '%s': %s", bench.out_path,
              strerror(errno));
}

const char *bench_open(int argc, char **argv, const char *input)
{
    bench.started_s = bench.phase_started_s = bench_clock();
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    bench.program = slash ? slash + 1 : argc > 0 ? argv[0] : "bench";
    bench.input = input;
    bench.digest = 0xcbf29ce484222325u;
    arguments_parse(argc, argv);
    if (bench.out_path && !(bench.out = fopen(bench.out_path, "wb")))
        write_failed();
    return bench.input;
}

void bench_work(void)
{
    if (bench.work_s == 0)
        bench.work_s = bench_clock();
}

enum bench_phase bench_enter(enum bench_phase phase)
{
    enum bench_phase before = bench.phase;
    double now = bench_clock();
    bench.seconds[before] += now - bench.phase_started_s;
    bench.phase = phase;
    bench.phase_started_s = now;
    return before;
}

void bench_copied(uint64_t bytes_up, uint64_t bytes_down)
{
    bench.bytes_up += bytes_up;
    bench.bytes_down += bytes_down;
}

void bench_launched(void)
{
    bench.launches++;
}

/* FNV-1a over words of eight bytes: as fast as the memory it reads. */
static uint64_t digest(uint64_t hash, const unsigned char *data, size_t bytes)
{
    uint64_t word;
    for (; bytes >= sizeof word; bytes -= sizeof word, data += sizeof word) {
        memcpy(&word, data, sizeof word);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    for (; bytes > 0; bytes--)
        hash = (hash ^ *data++) * 0x100000001b3u;
    return hash;
}

static void keep(const void *data, size_t bytes)
{
    if (bytes > bench.kept_room - bench.kept_bytes) {
        size_t room = 2 * (bench.kept_bytes + bytes);
        unsigned char *kept = realloc(bench.kept, room);
        if (!kept)
            bench_die(BENCH_EXIT_INPUT, "out of memory");
        bench.kept = kept;
        bench.kept_room = room;
    }
    memcpy(bench.kept + bench.kept_bytes, data, bytes);
    bench.kept_bytes += bytes;
}

void bench_output(const void *data, size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_WRITE);
    bench.digest = digest(bench.digest, data, bytes);
    if (bench.out && fwrite(data, 1, bytes, bench.out) != bytes)
        write_failed();
    if (bench.verify)
        keep(data, bytes);
    bench_enter(before);
}

bool bench_end(void)
{
    bench_enter(BENCH_WRITE);
    if (bench.out && fclose(bench.out) != 0)
        write_failed();
    bench_enter(BENCH_SETUP);
    bench.ended_s = bench.phase_started_s;
    bench.total_s = bench.ended_s - bench.started_s;
    return bench.verify;
}

const void *bench_result(size_t bytes)
{
    if (bytes != bench.kept_bytes)
        bench_die(BENCH_EXIT_WRONG, "the result has %zu bytes and not %zu",
                  bench.kept_bytes, bytes);
    return bench.kept;
}

void bench_check(const char *what, size_t index, double got, double want,
                 double tolerance)
{
    double difference = fabs(got - want);
    if (!(difference <= tolerance))
        bench_die(BENCH_EXIT_WRONG,
                  "wrong result: %s %zu is %.9g, the CPU has %.9g "
                  "(tolerance %.3g)",
                  what, index, got, want, tolerance);
    if (difference > 0 && difference / tolerance > bench.worst)
        bench.worst = difference / tolerance;
    bench.checks++;
}

static void report_json(void)
{
    printf("{\"program\":\"%s\",\"seconds\":%.6f", bench.program,
           bench.total_s);
    for (int i = 0; i < BENCH_PHASES; i++)
        printf(",\"%s_s\":%.6f", phase_names[i], bench.seconds[i]);
    printf(",\"launches\":%" PRIu64 ",\"copied_up\":%" PRIu64
           ",\"copied_down\":%" PRIu64 ",\"digest\":\"%016" PRIx64 "\"",
           bench.launches, bench.bytes_up, bench.bytes_down, bench.digest);
    if (bench.verify)
        printf(",\"checks\":%" PRIu64 ",\"worst\":%.4f", bench.checks,
               bench.worst);
    /* Programs of other folders have no mark. */
    if (bench.work_s > 0)
        printf(",\"work_at\":%.6f,\"ended_at\":%.6f,\"reported_at\":%.6f",
               bench.work_s, bench.ended_s, bench_clock());
    printf("}\n");
}

static void report_text(void)
{
    printf("%s: %.3f s, %" PRIu64 " kernel calls, %" PRIu64 " bytes copied up, "
           "%" PRIu64 " down\n",
           bench.program, bench.total_s, bench.launches, bench.bytes_up,
           bench.bytes_down);
    for (int i = 0; i < BENCH_PHASES; i++)
        printf("  %-8s %9.4f s\n", phase_names[i], bench.seconds[i]);
    if (bench.work_s > 0)
        printf("  work     %9.4f s of all that\n",
               bench.ended_s - bench.work_s);
    printf("  digest   %016" PRIx64 "\n", bench.digest);
    if (bench.verify)
        printf("  verified %" PRIu64 " values, largest difference %.3f of the "
               "tolerance\n",
               bench.checks, bench.worst);
}

void bench_report(void)
{
    if (bench.json)
        report_json();
    else
        report_text();
    if (fflush(stdout) != 0)
        bench_die(BENCH_EXIT_INPUT, "cannot write the report: %s",
                  strerror(errno));
    free(bench.kept);
    bench.kept = NULL;
}

void *bench_alloc(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        bench_die(BENCH_EXIT_INPUT, "out of memory: %zu bytes", bytes);
    return memory;
}
