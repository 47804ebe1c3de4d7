/*
 * adsm-wave: the wave program in three forms under every protocol, and in parts
 * on two devices. Those on managed memory gain nothing from protocols:
 * adsm-bench runs them.
 *
 * Owns the list of cases, the folder for what they write, and the table. Each
 * case is a process of its own; repetitions go round all cases, so that a slow
 * minute of the machine falls on every case. One thread, no locks.
 */
#include "run_program.h"
#include "wave.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPS_MAX 99

static const struct wave_case {
    const char *program, *protocol; /* protocol NULL: not preloaded */
    int devices;                    /* of the software driver */
} cases[] = {
    {"explicit", NULL, 1},    {"explicit", "batch", 1},
    {"explicit", "lazy", 1},  {"explicit", "rolling", 1},
    {"ported", "batch", 1},   {"ported", "lazy", 1},
    {"ported", "rolling", 1}, {"adsm", "batch", 1},
    {"adsm", "lazy", 1},      {"adsm", "rolling", 1},
    {"ranges", "batch", 2},   {"ranges", "lazy", 2},
    {"ranges", "rolling", 2},
};
#define CASES (sizeof cases / sizeof *cases)

static struct {
    char programs[PATH_MAX]; /* folder of the wave programs */
    char adsm_run[PATH_MAX];
    char softcuda[PATH_MAX]; /* folder of its libcuda.so.1 */
    char scratch[PATH_MAX];  /* folder for snapshots and counters */
    char picture[PATH_MAX];
    const char *volume, *steps, *every, *block_size;
    int reps;
    double limit_s;
    bool json, real_device;
} settings = {.reps = 1, .limit_s = 600};

static struct run_result results[CASES][REPS_MAX];

static const char usage[] =
    "usage: adsm-wave [options]\n"
    "Runs the wave program with copies by hand (explicit), with those copies\n"
    "deleted (ported), on adsm.h (adsm) and in parts on two software devices\n"
    "(ranges; --real: on all there are), and compares them.\n"
    "  --steps n, --every k, --volume file   handed to the programs\n"
    "  --block-size n   handed to adsm-run\n"
    "  --png file       where the picture goes (default: beside this program)\n"
    "  --reps n         rounds over all cases, 1 to 99 (default 1)\n"
    "  --limit s        seconds a run may take (default 600)\n"
    "  --real           use the machine's CUDA device, not the software one\n"
    "  --table          print a table (default)\n"
    "  --json           print one JSON object per case\n";

static _Noreturn void die(const char *what, const char *value)
{
    fprintf(stderr, "adsm-wave: %s '%s' (see --help)\n", what, value);
    exit(2);
}

static long number_parse(const char *option, const char *text, long max)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || value < 1 || value > max) {
        fprintf(stderr,
                "adsm-wave: %s '%s' must be a whole number from 1 to %ld\n",
                option, text, max);
        exit(2);
    }
    return value;
}

static bool switch_parse(const char *arg)
{
    if (strcmp(arg, "--help") == 0) {
        fputs(usage, stdout);
        exit(0);
    }
    if (strcmp(arg, "--json") == 0)
        return settings.json = true;
    if (strcmp(arg, "--real") == 0)
        return settings.real_device = true;
    return strcmp(arg, "--table") == 0;
}

static void value_parse(const char *arg, const char *value)
{
    if (strcmp(arg, "--steps") == 0)
        settings.steps = value;
    else if (strcmp(arg, "--every") == 0)
        settings.every = value;
    else if (strcmp(arg, "--volume") == 0)
        settings.volume = value;
    else if (strcmp(arg, "--block-size") == 0)
        settings.block_size = value;
    else if (strcmp(arg, "--png") == 0)
        snprintf(settings.picture, sizeof settings.picture, "%s", value);
    else if (strcmp(arg, "--reps") == 0)
        settings.reps = (int)number_parse(arg, value, REPS_MAX);
    else if (strcmp(arg, "--limit") == 0)
        settings.limit_s = (double)number_parse(arg, value, 86400);
    else
        die("there is no option", arg);
}

static void arguments_parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (switch_parse(argv[i]))
            continue;
        if (i + 1 == argc)
            die("unknown option, or one without its value:", argv[i]);
        value_parse(argv[i], argv[i + 1]);
        i++;
    }
}

static void path_join(char *path, const char *folder, const char *name)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        die("path too long:", folder);
}

/* Everything lies where the build put it, seen from this program. */
static void places_find(void)
{
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        die("cannot find itself:", strerror(errno));
    char *folder = dirname(self);
    snprintf(settings.programs, sizeof settings.programs, "%s", folder);
    if (!settings.picture[0])
        path_join(settings.picture, folder, "wave.png");
    char *build = dirname(dirname(folder));
    path_join(settings.adsm_run, build, "tools/adsm-run");
    path_join(settings.softcuda, build, "tools/softcuda");

    const char *tmp = getenv("TMPDIR");
    path_join(settings.scratch, tmp && *tmp ? tmp : "/tmp", "adsm-wave-XXXXXX");
    if (!mkdtemp(settings.scratch))
        die("cannot make a folder for snapshots in", tmp ? tmp : "/tmp");
}

static void scratch_remove(void)
{
    static const char *const names[] = {"out.vol", "counters.json"};
    char path[PATH_MAX];
    for (size_t i = 0; i < 2; i++) {
        path_join(path, settings.scratch, names[i]);
        unlink(path);
    }
    rmdir(settings.scratch);
}

struct words {
    struct run_request *request;
    int count;
};

static void word_add(struct words *words, const char *word)
{
    words->request->argv[words->count++] = word;
}

static void pair_add(struct words *words, const char *option, const char *value)
{
    if (!value)
        return;
    word_add(words, option);
    word_add(words, value);
}

static void case_run(const struct wave_case *which, struct run_result *result)
{
    char program[PATH_MAX], name[32], out[PATH_MAX], counters[PATH_MAX];
    char soft[24];
    struct run_request request = {.limit_s = settings.limit_s,
                                  .soft = !settings.real_device};
    struct words words = {&request, 0};
    snprintf(name, sizeof name, "wave_%s", which->program);
    snprintf(soft, sizeof soft, "--soft=%d", which->devices);
    path_join(program, settings.programs, name);
    path_join(out, settings.scratch, "out.vol");
    path_join(counters, settings.scratch, "counters.json");

    if (which->protocol) {
        request.stats_file = counters;
        word_add(&words, settings.adsm_run);
        pair_add(&words, "--protocol", which->protocol);
        pair_add(&words, "--block-size", settings.block_size);
        if (!settings.real_device)
            word_add(&words, soft);
        word_add(&words, "--");
    } else if (!settings.real_device) {
        request.library_folder = settings.softcuda;
    }
    word_add(&words, program);
    pair_add(&words, "--volume", settings.volume);
    pair_add(&words, "--steps", settings.steps);
    pair_add(&words, "--every", settings.every);
    pair_add(&words, "--out", out);
    pair_add(&words, "--png", settings.picture);
    word_add(&words, "--json");
    word_add(&words, "--quiet");
    run_program(&request, result);
}

static int double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times of one case in ascending order; how many are good. */
static int times_sort(size_t which, double times[REPS_MAX])
{
    int count = 0;
    for (int i = 0; i < settings.reps; i++)
        if (results[which][i].good)
            times[count++] = results[which][i].seconds;
    qsort(times, (size_t)count, sizeof *times, double_compare);
    return count;
}

/* The first repetition that failed, or the last one. */
static const struct run_result *result_pick(size_t which)
{
    for (int i = 0; i < settings.reps; i++)
        if (!results[which][i].good)
            return &results[which][i];
    return &results[which][settings.reps - 1];
}

static bool is_identical(size_t which)
{
    for (int i = 0; i < settings.reps; i++)
        if (!results[which][i].good ||
            strcmp(results[which][i].digest, results[0][0].digest) != 0)
            return false;
    return true;
}

static void row_print_json(size_t which)
{
    const struct run_result *result = result_pick(which);
    const char *protocol = cases[which].protocol;
    double times[REPS_MAX] = {0}, base[REPS_MAX] = {0};
    int count = times_sort(which, times), base_count = times_sort(0, base);
    printf("{\"bench\":\"wave\",\"case\":\"%s/%s\",\"unit\":\"s\",\"reps\":%d",
           cases[which].program, protocol ? protocol : "bare", count);
    if (!result->good) {
        printf(",\"error\":\"");
        for (const char *c = result->message; *c; c++)
            if (*c == '"' || *c == '\\')
                printf("\\%c", *c);
            else
                putchar((unsigned char)*c < 32 ? ' ' : *c);
        printf("\"}\n");
        return;
    }
    printf(",\"median\":%.4f,\"min\":%.4f,\"max\":%.4f", times[count / 2],
           times[0], times[count - 1]);
    if (base_count > 0)
        printf(",\"against\":\"explicit/bare\",\"ratio\":%.3f",
               times[count / 2] / base[base_count / 2]);
    printf(",\"bytes_up\":%" PRIu64 ",\"bytes_down\":%" PRIu64
           ",\"faults\":%" PRIu64 ",\"identical\":%s}\n",
           result->bytes_up, result->bytes_down, result->faults,
           is_identical(which) ? "true" : "false");
}

static double mib(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void row_print_table(size_t which)
{
    const struct run_result *result = result_pick(which);
    const char *protocol = cases[which].protocol;
    double times[REPS_MAX] = {0};
    int count = times_sort(which, times);
    if (which > 0 && strcmp(cases[which].program, cases[which - 1].program))
        putchar('\n');
    printf("  %-9s %-9s", cases[which].program, protocol ? protocol : "(bare)");
    if (!result->good) {
        printf(" failed: %s\n", result->message);
        return;
    }
    printf(" %8.2f %10.1f %10.1f", times[count / 2], mib(result->bytes_up),
           mib(result->bytes_down));
    if (protocol)
        printf(" %8" PRIu64, result->faults);
    else
        printf(" %8s", "-");
    printf("   %s\n", is_identical(which) ? "yes" : "NO");
}

static void row_print(size_t which)
{
    if (settings.json)
        row_print_json(which);
    else
        row_print_table(which);
    fflush(stdout);
}

static void interrupt(int signal)
{
    run_interrupted = signal;
}

/* So that an interrupted run leaves no files behind. */
static void interrupts_catch(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static bool all_run(void)
{
    bool good = true;
    if (!settings.json)
        printf("  program   protocol   seconds     MiB up   MiB down   faults  "
               " result identical\n");
    for (int rep = 0; rep < settings.reps; rep++)
        for (size_t which = 0; which < CASES; which++) {
            case_run(&cases[which], &results[which][rep]);
            if (run_interrupted)
                return false;
            if (rep + 1 == settings.reps) {
                row_print(which);
                good = good && is_identical(which);
            }
        }
    return good;
}

int main(int argc, char **argv)
{
    arguments_parse(argc, argv);
    interrupts_catch();
    places_find();
    bool good = all_run();
    scratch_remove();
    if (run_interrupted)
        return 128 + run_interrupted;
    if (!settings.json && good)
        printf("\n  picture: %s\n", settings.picture);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "adsm-wave: cannot write the table: %s\n",
                strerror(errno));
        return 2;
    }
    return good ? 0 : 1;
}
