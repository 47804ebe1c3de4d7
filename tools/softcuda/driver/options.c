/*
 * Owns: the meaning of the SOFTCUDA_* environment variables.
 * Does not own: what the driver does with them.  No lock.
 */
#include "driver/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEFAULT_MEMORY (512ull << 20)
#define MIN_MEMORY     (4ull << 20)
#define MAX_MEMORY     (1ull << 40)

static void warn(const char *name, const char *value, const char *right,
                 const char *kept)
{
    fprintf(stderr, "softcuda: %s=%s is not %s; keeping %s\n", name, value,
            right, kept);
}

static bool parse_number(const char *text, double *value, char **end)
{
    if (!isdigit((unsigned char)*text))
        return false;
    *value = strtod(text, end);
    return *value >= 0 && *value < 1e15;
}

bool sc_options_parse_size(const char *text, uint64_t *bytes)
{
    double value;
    char *end;
    if (!parse_number(text, &value, &end))
        return false;
    static const char units[] = "KMGT";
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : 0;
    if (unit) {
        value *= (double)(1ull << (10 * (unit - units + 1)));
        end++;
        if (strncasecmp(end, "iB", 2) == 0)
            end += 2;
        else if (toupper((unsigned char)*end) == 'B')
            end++;
    }
    if (*end || value > 1e18)
        return false;
    *bytes = (uint64_t)value;
    return true;
}

struct unit {
    const char *name;
    double factor;
};

/* A number and one of `units`, from `least` to `most`, or 0. */
static bool parse_rate(const char *text, const struct unit *units, size_t count,
                       double least, double most, uint64_t *rate)
{
    double value;
    char *end;
    if (!parse_number(text, &value, &end))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(end, units[i].name) != 0)
            continue;
        value *= units[i].factor;
        if (value != 0 && (value < least || value > most))
            return false;
        *rate = (uint64_t)value;
        return true;
    }
    return false;
}

bool sc_options_parse_rate(const char *text, uint64_t *rate)
{
    static const struct unit units[] = {
        {"", 1},       {"B/s", 1},       {"KB/s", 1e3},     {"MB/s", 1e6},
        {"GB/s", 1e9}, {"KiB/s", 1024.}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}};
    /* Below this a copy chunk sleeps for seconds: surely a typo. */
    return parse_rate(text, units, sizeof units / sizeof *units, 1e5, 1e13,
                      rate);
}

static bool parse_pace(const char *text, uint64_t *rate)
{
    static const struct unit units[] = {
        {"", 1}, {"/s", 1}, {"K/s", 1e3}, {"M/s", 1e6}, {"G/s", 1e9}};
    /* Below this a single block may take seconds. */
    return parse_rate(text, units, sizeof units / sizeof *units, 1e3, 1e13,
                      rate);
}

static bool read_switch(const char *name, bool value)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return value;
    if (strcmp(text, "1") == 0)
        return true;
    if (strcmp(text, "0") == 0)
        return false;
    warn(name, text, "0 or 1", value ? "1" : "0");
    return value;
}

static int read_devices(void)
{
    const char *text = getenv("SOFTCUDA_DEVICES");
    if (!text || !*text)
        return 1;
    char *end;
    long n = strtol(text, &end, 10);
    if (*end || n < 1 || n > 16) {
        warn("SOFTCUDA_DEVICES", text, "a number from 1 to 16", "1");
        return 1;
    }
    return (int)n;
}

static uint64_t read_memory(void)
{
    const char *text = getenv("SOFTCUDA_MEMORY");
    uint64_t bytes;
    if (!text || !*text)
        return DEFAULT_MEMORY;
    if (!sc_options_parse_size(text, &bytes) || bytes < MIN_MEMORY ||
        bytes > MAX_MEMORY) {
        warn("SOFTCUDA_MEMORY", text, "a size from 4M to 1T", "512M");
        return DEFAULT_MEMORY;
    }
    return bytes & ~((2ull << 20) - 1);
}

typedef bool parse_one(const char *text, uint64_t *rate);

/* Rates of the devices; the last one serves those behind it. */
static bool parse_rates(char *list, parse_one *parse,
                        uint64_t rates[SC_MAX_DEVICES])
{
    uint64_t rate = 0;
    for (int i = 0; i < SC_MAX_DEVICES; i++) {
        char *item = strsep(&list, ",");
        if (item && !parse(item, &rate))
            return false;
        rates[i] = rate;
    }
    return !list;
}

static void read_rates(const char *name, parse_one *parse, const char *wanted,
                       uint64_t rates[SC_MAX_DEVICES])
{
    const char *text = getenv(name);
    char *list = text && *text ? strdup(text) : NULL;
    bool good = list && parse_rates(list, parse, rates);
    if (list && !good)
        warn(name, text, wanted, "unlimited");
    if (!good)
        memset(rates, 0, SC_MAX_DEVICES * sizeof *rates);
    free(list);
}

static bool parse_time(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {
        {"", 1e3}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}};
    return parse_rate(text, units, sizeof units / sizeof *units, 1, 1e9, ns);
}

/* Four times, or 0 for none. */
static bool parse_latency(char *list, struct sc_latency *latency)
{
    uint64_t *const times[] = {&latency->launch_ns, &latency->wait_ns,
                               &latency->up_ns, &latency->down_ns};
    if (strcmp(list, "0") == 0)
        return true;
    for (int i = 0; i < 4; i++) {
        char *item = strsep(&list, ",");
        if (!item || !parse_time(item, times[i]))
            return false;
    }
    return !list;
}

static struct sc_latency read_latency(void)
{
    struct sc_latency latency = {0};
    const char *text = getenv("SOFTCUDA_LATENCY");
    char *list = text && *text ? strdup(text) : NULL;
    if (list && !parse_latency(list, &latency)) {
        warn("SOFTCUDA_LATENCY", text,
             "four times such as 3.6us,8.8us,5.4us,8.3us or 0", "none");
        latency = (struct sc_latency){0};
    }
    free(list);
    return latency;
}

/* A misspelt variable would go unnoticed. */
static void warn_unknown(void)
{
    static const char *const names[] = {
        "DEVICES",        "MEMORY",  "LINK",   "PACE",   "PEER",
        "STATS",          "NATIVE",  "CC",     "ISA",    "CACHE",
        "CACHE_MAX",      "KEEP",    "LATER",  "STRICT", "INTEGRATED",
        "DEVICE_PROGRAM", "TOUCHED", "LATENCY"};
    for (char **at = environ; at && *at; at++) {
        if (strncmp(*at, "SOFTCUDA_", 9) != 0)
            continue;
        const char *name = *at + 9;
        size_t length = strcspn(name, "=");
        bool known = false;
        for (size_t i = 0; i < sizeof names / sizeof *names && !known; i++)
            known = strlen(names[i]) == length &&
                    memcmp(names[i], name, length) == 0;
        if (!known)
            fprintf(stderr,
                    "softcuda: there is no variable SOFTCUDA_%.*s; "
                    "softcuda/README.md lists those there are\n",
                    (int)length, name);
    }
}

void sc_options_read(struct sc_options *options)
{
    warn_unknown();
    options->devices = read_devices();
    options->memory_bytes = read_memory();
    read_rates("SOFTCUDA_LINK", sc_options_parse_rate,
               "a rate such as 12GB/s or 0, or up to 16 with commas",
               options->link_bytes_per_second);
    options->latency = read_latency();
    read_rates("SOFTCUDA_PACE", parse_pace,
               "a rate of threads such as 50M/s or 0, or up to 16 with commas",
               options->pace_threads_per_second);
    options->peer = read_switch("SOFTCUDA_PEER", true);
    options->integrated = read_switch("SOFTCUDA_INTEGRATED", false);
    options->stats = read_switch("SOFTCUDA_STATS", false);
    options->program = getenv("SOFTCUDA_DEVICE_PROGRAM");
    if (options->program && !*options->program)
        options->program = NULL;
}
