/*
 * Reads adsm-run's command line. See args.h.
 *
 * Each flag becomes one variable of the program's environment; what a value
 * may be is asked of the option table (base/option.h), so that adsm-run and
 * the library agree.
 */
#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"

#define MOST_DEVICES 16

enum kind {
    KIND_OPTION,  /* takes a value, checked by the option table   */
    KIND_FILE,    /* takes a path, made absolute                  */
    KIND_ON,      /* no value: sets the variable to 1             */
    KIND_SAID,    /* no value and no variable                     */
    KIND_DEVICES, /* value optional, a count                      */
    KIND_REPORT,  /* value optional, a path                       */
    KIND_ANY,     /* takes an option's variable and its value     */
    KIND_MEMORY   /* takes a size                                 */
};

#define NAME_AND_HELP(option, constant, word, table, help)                     \
    "\n      " word ": " help

static const struct flag {
    const char *name, *variable, *value;
    enum kind kind;
    const char *help;
} flags[] = {
    {"--protocol", "ADSM_PROTOCOL", "NAME", KIND_OPTION,
     "when what moves:" ADSM_WORDS_PROTOCOL(NAME_AND_HELP)},
    {"--block-size", "ADSM_BLOCK_SIZE", "SIZE", KIND_OPTION,
     "bytes kept coherent as one, such as 256K"},
    {"--rolling-size", "ADSM_ROLLING_SIZE", "N", KIND_OPTION,
     "most dirty blocks under rolling; 0 adapts"},
    {"--call-devices", "ADSM_CALL_DEVICES", "N", KIND_OPTION,
     "spread calls that give options over the first N devices"},
    {"--check", "ADSM_CHECK", NULL, KIND_ON,
     "find what kernels of calls over ranges do beyond what is declared"},
    {"--soft", "SOFTCUDA_DEVICES", "N", KIND_DEVICES,
     "run on the software CUDA device (N of them)"},
    {"--soft-memory", "SOFTCUDA_MEMORY", "SIZE", KIND_MEMORY,
     "memory of each software device, such as 512M"},
    {"--mpi", NULL, NULL, KIND_SAID,
     "the program loads MPI by itself; seen where it is linked with it or "
     "a rank"},
    {"--gdb", NULL, NULL, KIND_SAID,
     "run it in gdb, with commands for shared memory: adsm print p[7]"},
    {"--stats", "ADSM_STATS", NULL, KIND_ON,
     "print counters to stderr when the program ends"},
    {"--stats-file", "ADSM_STATS_FILE", "FILE", KIND_FILE,
     "append the counters to FILE as one JSON line"},
    {"--report", "ADSM_REPORT_FILE", "FILE", KIND_REPORT,
     "print which copies, allocations and waits can go; to FILE as JSON"},
    {"--trace", "ADSM_TRACE", "FILE", KIND_FILE,
     "write a Chrome/Perfetto trace to FILE"},
    {"--set", NULL, "NAME=VALUE", KIND_ANY,
     "any option by its variable, such as ADSM_LOG=info"},
};
#define FLAGS (sizeof flags / sizeof *flags)

/* May the flag stand without its value? */
static bool is_optional(enum kind kind)
{
    return kind == KIND_DEVICES || kind == KIND_REPORT;
}

void args_help(void)
{
    puts("usage: adsm-run [option ...] [--] program [argument ...]\n"
         "\n"
         "Runs a CUDA program with libadsm preloaded: the CPU may use device\n"
         "pointers, and the runtime keeps both sides coherent.\n");
    for (size_t i = 0; i < FLAGS; i++) {
        char left[40];
        const char *format = !flags[i].value              ? "%s"
                             : is_optional(flags[i].kind) ? "%s[=%s]"
                                                          : "%s %s";
        snprintf(left, sizeof left, format, flags[i].name,
                 flags[i].value ? flags[i].value : "");
        printf("  %-22s %s\n", left, flags[i].help);
    }
    puts("  --version              print the version\n"
         "  --help                 print this\n"
         "\n"
         "Every option has a variable of its own (adsm-info --options lists\n"
         "them); a flag wins over the variable. Exit status: the program's\n"
         "own; 2 for a wrong command line, 125 when libadsm is not found, 126\n"
         "when the program cannot be run, 127 when it is not found.");
}

static void set(struct args *args, const char *name, const char *value)
{
    for (int i = 0; i < args->settings; i++) {
        if (strcmp(args->setting[i].name, name) == 0) {
            args->setting[i].value = value;
            return;
        }
    }
    args->setting[args->settings++] = (struct args_setting){name, value};
}

static int wrong_value(const struct flag *flag, const char *value,
                       const char *want)
{
    fprintf(stderr, "adsm-run: %s: '%s' is not valid: %s\n", flag->name, value,
            want);
    return -1;
}

/* The program may change its folder before the file is written. */
static const char *absolute(const char *path)
{
    char here[PATH_MAX], *whole;
    if (path[0] == '/' || !getcwd(here, sizeof here) ||
        asprintf(&whole, "%s/%s", here, path) < 0)
        return path;
    return whole;
}

static bool is_count(const char *text, long least, long most)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    return end != text && !*end && !errno && n >= least && n <= most;
}

/* The same forms and range as the software device's own reader takes, which
 * this program does not know. */
static bool is_memory(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double bytes = strtod(text, &end);
    const char *unit =
        *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    if (unit) {
        bytes *= (double)(UINT64_C(1024) << (10 * (unit - units)));
        end++;
        if (strncasecmp(end, "iB", 2) == 0)
            end += 2;
        else if (toupper((unsigned char)*end) == 'B')
            end++;
    }
    return !*end && bytes >= 4.0 * (1 << 20) && bytes <= 0x1p40;
}

/* Ask the option table by parsing an environment of this one variable. */
static bool option_takes(const char *variable, const char *value, char *want,
                         size_t bytes)
{
    struct adsm_option_info info;
    for (size_t i = 0; adsm_option_info(i, &info); i++)
        if (strcmp(info.env, variable) == 0)
            break;
    snprintf(want, bytes, "want %s", info.type_text);
    char *setting;
    if (!*value || asprintf(&setting, "%s=%s", variable, value) < 0)
        return false;
    struct adsm_options ignored;
    adsm_log_set_level(ADSM_LOG_ERROR); /* the message is ours to give */
    int warnings =
        adsm_options_parse(&ignored, NULL, (char *[]){setting, NULL});
    free(setting);
    return warnings == 0;
}

static bool is_option(const char *variable)
{
    struct adsm_option_info info;
    for (size_t i = 0; adsm_option_info(i, &info); i++)
        if (strcmp(info.env, variable) == 0)
            return true;
    return false;
}

static int set_value(struct args *args, const struct flag *flag,
                     const char *value);

/* NAME=VALUE; the name is kept, and a file made absolute as a flag has it. */
static int set_any(struct args *args, const struct flag *flag,
                   const char *setting)
{
    const char *equals = strchr(setting, '=');
    char *name = equals ? strndup(setting, (size_t)(equals - setting)) : NULL;
    if (!name || !is_option(name)) {
        free(name);
        return wrong_value(flag, setting,
                           "want NAME=VALUE of an option that `adsm-info "
                           "--options` lists");
    }
    struct flag of_name = {.name = name,
                           .variable = name,
                           .value = flag->value,
                           .kind = KIND_OPTION};
    for (size_t i = 0; i < FLAGS; i++)
        if ((flags[i].kind == KIND_FILE || flags[i].kind == KIND_REPORT) &&
            strcmp(flags[i].variable, name) == 0)
            of_name.kind = KIND_FILE;
    return set_value(args, &of_name, equals + 1);
}

static int set_value(struct args *args, const struct flag *flag,
                     const char *value)
{
    char want[200];
    switch (flag->kind) {
    case KIND_OPTION:
        if (!option_takes(flag->variable, value, want, sizeof want))
            return wrong_value(flag, value, want);
        break;
    case KIND_DEVICES:
        if (!is_count(value, 1, MOST_DEVICES))
            return wrong_value(flag, value, "want a count from 1 to 16");
        break;
    case KIND_MEMORY:
        if (!is_memory(value))
            return wrong_value(flag, value, "want a size from 4M to 1T");
        break;
    case KIND_FILE:
    case KIND_REPORT:
        if (!*value)
            return wrong_value(flag, value, "want a file name");
        value = absolute(value);
        break;
    case KIND_ANY:
        return set_any(args, flag, value);
    case KIND_ON:
    case KIND_SAID:
        break;
    }
    set(args, flag->variable, value);
    return 0;
}

/* One flag, at *argv; moves argv past a value that is a word of its own. */
static int take_flag(struct args *args, const struct flag *flag,
                     const char *inline_value, char ***argv)
{
    if (strcmp(flag->name, "--soft") == 0)
        args->soft = true;
    if (!flag->value && inline_value) {
        fprintf(stderr, "adsm-run: %s takes no value\n", flag->name);
        return -1;
    }
    if (flag->kind == KIND_SAID) {
        *(strcmp(flag->name, "--gdb") == 0 ? &args->gdb : &args->mpi) = true;
        return 0;
    }
    if (flag->kind == KIND_ON)
        return set_value(args, flag, "1");
    if (flag->kind == KIND_REPORT)
        set(args, "ADSM_REPORT", "1");
    if (is_optional(flag->kind) && !inline_value)
        return 0;
    if (inline_value)
        return set_value(args, flag, inline_value);
    if (!(*argv)[1]) {
        fprintf(stderr, "adsm-run: %s needs a value: %s\n", flag->name,
                flag->value);
        return -1;
    }
    (*argv)++;
    return set_value(args, flag, **argv);
}

static const struct flag *find_flag(const char *word, const char **value)
{
    size_t length = strcspn(word, "=");
    *value = word[length] ? word + length + 1 : NULL;
    for (size_t i = 0; i < FLAGS; i++)
        if (strlen(flags[i].name) == length &&
            strncmp(flags[i].name, word, length) == 0)
            return &flags[i];
    return NULL;
}

enum args_verdict args_parse(struct args *args, char **argv)
{
    *args = (struct args){0};
    for (argv++; *argv && (*argv)[0] == '-'; argv++) {
        const char *word = *argv, *value;
        if (strcmp(word, "--") == 0) {
            argv++;
            break;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
            return ARGS_HELP;
        if (strcmp(word, "--version") == 0)
            return ARGS_VERSION;
        const struct flag *flag = find_flag(word, &value);
        if (!flag) {
            fprintf(stderr, "adsm-run: unknown option '%s'; see --help\n",
                    word);
            return ARGS_WRONG;
        }
        if (take_flag(args, flag, value, &argv) != 0)
            return ARGS_WRONG;
    }
    if (!*argv) {
        fputs("adsm-run: no program given; usage: adsm-run [option ...] "
              "program [argument ...]\n",
              stderr);
        return ARGS_WRONG;
    }
    args->program = argv;
    return ARGS_RUN;
}
