/*
 * The command line of adsm-bench. See plan.h.
 */
#include "runner/plan.h"

#include "base/protocols.def"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const plan_rooms[PLAN_ROOMS] = {"parboil", "wave", "ranges"};

const struct plan_bench plan_benches[] = {
    {"cp", "cp", "Coulomb potential on the planes of a lattice", PLAN_PARBOIL},
    {"mri-fhd", "mri_fhd", "vector F^H d of a magnetic resonance image",
     PLAN_PARBOIL},
    {"mri-q", "mri_q", "matrix Q of a magnetic resonance image", PLAN_PARBOIL},
    {"pns", "pns", "simulation of a stochastic Petri net", PLAN_PARBOIL},
    {"rpes", "rpes", "two-electron repulsion integrals of a molecule",
     PLAN_PARBOIL},
    {"sad", "sad", "motion estimation of a video encoder", PLAN_PARBOIL},
    {"tpacf", "tpacf", "two-point angular correlation of galaxies",
     PLAN_PARBOIL},
    {"vecadd", "vecadd", "sum of two vectors that the CPU makes", PLAN_PARBOIL},
    {"stencil", "wave", "waves in a volume, a source added at each step",
     PLAN_WAVE},
    {"nbody", "nbody", "bodies that attract each other", PLAN_RANGES},
    {"lu", "lu", "decomposition of a matrix into triangles", PLAN_RANGES},
    {"sph", "sph", "water as drops that push each other", PLAN_RANGES},
    {"mandel", "mandel", "the Mandelbrot set, some steps a call", PLAN_RANGES},
    {"ppmcc", "ppmcc", "Pearson correlation of two images", PLAN_RANGES},
    {"mse", "mse", "mean squared error of an image", PLAN_RANGES},
    {"heat", "heat", "heat in a plate that the CPU touches", PLAN_RANGES},
    {"floyd", "floyd", "shortest ways between all places", PLAN_RANGES},
    {"blackscholes", "blackscholes", "what options are worth", PLAN_RANGES},
    {"matmul", "matmul", "product of two matrices", PLAN_RANGES},
    {"heat3d", "heat3d", "heat in a block", PLAN_RANGES},
    {"fdtd", "fdtd", "waves in a plane, by three kernels a step", PLAN_RANGES},
    {"mvt", "mvt", "products of a matrix, by rows and by columns", PLAN_RANGES},
    {"adi", "adi", "sweeps along rows, then along columns", PLAN_RANGES},
};
const int plan_bench_count = sizeof plan_benches / sizeof *plan_benches;

const struct plan_form plan_forms[] = {
    {.name = "explicit", .by_hand = true},
    {.name = "overlapped", .by_hand = true, .only_parboil = true},
    {.name = "naive", .only_parboil = true},
    {.name = "managed", .managed = true},
    {.name = "managed-hints", .managed = true},
    {.name = "preloaded",
     .program = "explicit",
     .preloaded = true,
     .copies = true,
     .on_request = true},
    {.name = "ported", .preloaded = true},
    {.name = "adsm", .preloaded = true, .on_ranges = true},
    {.name = "runtime", .only_parboil = true, .on_request = true},
    {.name = "runtime-preloaded",
     .program = "runtime",
     .preloaded = true,
     .copies = true,
     .only_parboil = true,
     .on_request = true},
    {.name = "runtime-ported",
     .preloaded = true,
     .only_parboil = true,
     .on_request = true},
};
const int plan_form_count = sizeof plan_forms / sizeof *plan_forms;

#define WORD(option, constant, word, table, help)   word,
#define SPACED(option, constant, word, table, help) " " word
#define PROTOCOL_WORDS                              ADSM_WORDS_PROTOCOL(SPACED)
/* The last one is on request. */
static const char *const protocols[] = {ADSM_WORDS_PROTOCOL(WORD) PLAN_ASYNC};
enum { PROTOCOLS = sizeof protocols / sizeof *protocols };
_Static_assert(PROTOCOLS <= PLAN_LIST_MAX, "all fit in a list");
static const struct plan_list all_protocols = {PROTOCOLS - 1,
                                               {ADSM_WORDS_PROTOCOL(WORD)}};
/* Coherence between devices is the same under all. */
static const struct plan_list one_protocol = {1, {"rolling"}};
#define DEVICES_MAX 16

static const char usage[] =
    "usage: adsm-bench [options] [benchmark ...]\n"
    "Runs the benchmarks with copies by hand (explicit), with copies by hand\n"
    "of page-locked memory beside the device's work (overlapped), with all\n"
    "copies around every kernel (naive), on managed memory (managed) and with\n"
    "hints about it (managed-hints), with the copies deleted (ported) and on\n"
    "adsm.h (adsm), and compares them; on request also the first one\n"
    "preloaded, and the same as nvcc makes them (runtime). Values in a list\n"
    "are separated by commas.\n"
    "Before the work of a program comes the start of its process, the device,\n"
    "device code, memory, and reading the input; after it whatever comes\n"
    "behind the result. Times are over the better of explicit and overlapped,\n"
    "which each row names, or over the first case where neither runs. Input\n"
    "files and programs are read once before. The order of the cases changes\n"
    "from round to round: in as many rounds as there are cases each has each\n"
    "place once.\n"
    "  --list             say which benchmarks there are\n"
    "  --form list        explicit, overlapped, naive, managed,\n"
    "                     managed-hints, ported, adsm (default all; managed\n"
    "                     ones only with --real), preloaded, runtime,\n"
    "                     runtime-preloaded, runtime-ported\n"
    "  --protocol list   " PROTOCOL_WORDS " (default all;\n"
    "                     rolling where calls are split); " PLAN_ASYNC " is\n"
    "                     rolling with that fault engine\n"
    "  --devices list     how many, where calls are split (default 1,2,4)\n"
    "  --block-size list  of rolling, such as 4K,64K\n"
    "  --rolling-size list   of rolling, in blocks; 0 adapts\n"
    "  --size name        small, medium or large input (default small); or\n"
    "                     gpu: so much of the paper's benchmarks that a fast\n"
    "                     device is busy, with 4 GiB of its memory\n"
    "  --number list      name=value in the place of the size's, for one\n"
    "                     benchmark, such as atoms=100,planes=2\n"
    "  --input file       this input, for one benchmark\n"
    "  --link rate        throttle the software device, such as 12GB/s\n"
    "  --reps n           rounds over all cases, 1 to 99 (default 1); more\n"
    "                     than one, and any with --real, come behind a run\n"
    "                     that is not counted\n"
    "  --limit s          seconds a run may take (default 600)\n"
    "  --no-verify        do not compare results with the CPU's\n"
    "  --real             use the machine's CUDA device\n"
    "  --quiet            no progress on stderr\n"
    "  --table            print a table (default)\n"
    "  --json             print one JSON object per case\n"
    "Ends with 0; 1 when a case failed or differs; 2 for bad arguments.\n";

static _Noreturn void die(const char *what, const char *value)
{
    fprintf(stderr, "adsm-bench: %s '%s' (see --help)\n", what, value);
    exit(2);
}

const struct plan_bench *plan_find(const char *name)
{
    for (int i = 0; i < plan_bench_count; i++)
        if (strcmp(plan_benches[i].name, name) == 0)
            return &plan_benches[i];
    return NULL;
}

bool plan_exists(const struct plan_bench *bench, const struct plan_form *form)
{
    return bench->room == PLAN_RANGES
               ? form->on_ranges
               : bench->room == PLAN_PARBOIL || !form->only_parboil;
}

const struct plan_list *plan_protocols(const struct plan *plan,
                                       const struct plan_bench *bench)
{
    return plan->protocols.count        ? &plan->protocols
           : bench->room == PLAN_RANGES ? &one_protocol
                                        : &all_protocols;
}

bool plan_has_size(const struct plan *plan, const struct plan_bench *bench)
{
    return strcmp(plan->size, "gpu") != 0 || bench->room == PLAN_PARBOIL;
}

bool plan_runs(const struct plan *plan, const struct plan_bench *bench)
{
    return plan_has(&plan->benches, bench->name) && plan_has_size(plan, bench);
}

bool plan_has(const struct plan_list *list, const char *word)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->words[i], word) == 0)
            return true;
    return list->count == 0;
}

static void list_add(struct plan_list *list, const char *option,
                     const char *word)
{
    if (!*word)
        die("an empty word in", option);
    if (list->count == PLAN_LIST_MAX)
        die("too many words for", option);
    list->words[list->count++] = word;
}

static void list_read(struct plan_list *list, const char *option,
                      const char *text)
{
    char *rest = strdup(text);
    if (!rest)
        die("out of memory for", option);
    list->count = 0;
    for (char *word; (word = strsep(&rest, ","));)
        list_add(list, option, word);
}

static void form_check(const char *word)
{
    for (int i = 0; i < plan_form_count; i++)
        if (strcmp(plan_forms[i].name, word) == 0)
            return;
    die("there is no form", word);
}

/* All that tell something on the device. */
static void forms_default(struct plan *plan)
{
    for (int i = 0; i < plan_form_count; i++)
        if (!plan_forms[i].on_request &&
            (!plan_forms[i].managed || plan->real_device))
            list_add(&plan->forms, "--form", plan_forms[i].name);
}

static void words_check(const struct plan_list *list, const char *option,
                        const char *const *allowed, int count)
{
    for (int i = 0; i < list->count; i++) {
        bool found = false;
        for (int k = 0; k < count; k++)
            found = found || strcmp(allowed[k], list->words[i]) == 0;
        if (!found)
            die(option, list->words[i]);
    }
}

static long number_read(const char *option, const char *text, long max)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || value < 1 || value > max) {
        fprintf(stderr,
                "adsm-bench: %s '%s' must be a whole number from 1 to %ld\n",
                option, text, max);
        exit(2);
    }
    return value;
}

static bool switch_read(struct plan *plan, const char *arg)
{
    if (strcmp(arg, "--help") == 0) {
        fputs(usage, stdout);
        exit(0);
    }
    if (strcmp(arg, "--list") == 0)
        return plan->list = true;
    if (strcmp(arg, "--json") == 0)
        return plan->json = true;
    if (strcmp(arg, "--real") == 0)
        return plan->real_device = true;
    if (strcmp(arg, "--quiet") == 0)
        return plan->quiet = true;
    if (strcmp(arg, "--no-verify") == 0)
        return !(plan->verify = false);
    return strcmp(arg, "--table") == 0;
}

static bool list_option_read(struct plan *plan, const char *arg,
                             const char *value)
{
    struct plan_list *list =
        strcmp(arg, "--form") == 0           ? &plan->forms
        : strcmp(arg, "--protocol") == 0     ? &plan->protocols
        : strcmp(arg, "--block-size") == 0   ? &plan->block_sizes
        : strcmp(arg, "--rolling-size") == 0 ? &plan->rolling_sizes
        : strcmp(arg, "--devices") == 0      ? &plan->devices
        : strcmp(arg, "--number") == 0       ? &plan->numbers
                                             : NULL;
    if (list)
        list_read(list, arg, value);
    return list != NULL;
}

static void value_read(struct plan *plan, const char *arg, const char *value)
{
    if (list_option_read(plan, arg, value))
        return;
    if (strcmp(arg, "--size") == 0)
        plan->size = value;
    else if (strcmp(arg, "--input") == 0)
        plan->input = value;
    else if (strcmp(arg, "--link") == 0)
        plan->link = value;
    else if (strcmp(arg, "--reps") == 0)
        plan->reps = (int)number_read(arg, value, PLAN_REPS_MAX);
    else if (strcmp(arg, "--limit") == 0)
        plan->limit_s = (double)number_read(arg, value, 86400);
    else
        die("there is no option", arg);
}

/* What a number may be is the generator's to say. */
static void numbers_check(const struct plan *plan)
{
    if (plan->numbers.count == 0)
        return;
    if (plan->benches.count != 1)
        die("name the one benchmark that has the number",
            plan->numbers.words[0]);
    if (plan_find(plan->benches.words[0])->room == PLAN_WAVE)
        die("its size has no numbers:", plan->benches.words[0]);
    if (plan->input)
        die("an input has its own numbers:", plan->input);
}

static void plan_check(const struct plan *plan)
{
    static const char *const sizes[] = {"small", "medium", "large", "gpu"};
    const struct plan_list size = {1, {plan->size}};
    for (int i = 0; i < plan->forms.count; i++)
        form_check(plan->forms.words[i]);
    words_check(&plan->protocols, "there is no protocol", protocols, PROTOCOLS);
    words_check(&size, "there is no size", sizes, 4);
    for (int i = 0; i < plan->devices.count; i++)
        number_read("--devices", plan->devices.words[i], DEVICES_MAX);
    for (int i = 0; i < plan->benches.count; i++) {
        const struct plan_bench *bench = plan_find(plan->benches.words[i]);
        if (!bench)
            die("there is no benchmark", plan->benches.words[i]);
        if (!plan_has_size(plan, bench))
            die("there is no size gpu of", bench->name);
    }
    if (plan->input && plan->benches.count != 1)
        die("name the one benchmark that reads", plan->input);
    numbers_check(plan);
}

void plan_read(struct plan *plan, int argc, char **argv)
{
    *plan = (struct plan){
        .size = "small", .reps = 1, .limit_s = 600, .verify = true};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            list_add(&plan->benches, "benchmarks", argv[i]);
            continue;
        }
        if (switch_read(plan, argv[i]))
            continue;
        if (i + 1 == argc)
            die("unknown option, or one without its value:", argv[i]);
        value_read(plan, argv[i], argv[i + 1]);
        i++;
    }
    if (plan->forms.count == 0)
        forms_default(plan);
    if (plan->devices.count == 0)
        plan->devices = (struct plan_list){3, {"1", "2", "4"}};
    plan_check(plan);
}
