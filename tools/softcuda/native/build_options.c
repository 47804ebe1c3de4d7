/*
 * Owns: the meaning of the environment variables of native code.
 * Does not own: what is done with them. Lock: none.
 */
#include "native/build_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_MAX ((uint64_t)256 << 20)

/* Of the compiler.  The clock goes on beside others who need the processors. */
#define CPU_S        60
#define CLOCK_MS     120000
#define MEMORY_BYTES ((uint64_t)2 << 30)

static void warn(const char *name, const char *value, const char *right,
                 const char *kept)
{
    fprintf(stderr, "softcuda: %s=%s is not %s; keeping %s\n", name, value,
            right, kept);
}

static const char *value_of(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static enum sc_build_mode read_mode(void)
{
    static const char *const names[] = {
        [SC_BUILD_OFF] = "off", [SC_BUILD_ON] = "on", [SC_BUILD_WAIT] = "wait"};
    const char *text = value_of("SOFTCUDA_NATIVE");
    if (!text)
        return SC_BUILD_ON;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum sc_build_mode)i;
    warn("SOFTCUDA_NATIVE", text, "off, on or wait", "on");
    return SC_BUILD_ON;
}

static enum sc_native_isa best_isa(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        return SC_NATIVE_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return SC_NATIVE_AVX2;
#endif
    return SC_NATIVE_GENERIC;
}

static enum sc_native_isa read_isa(enum sc_native_isa best)
{
    static const char *const names[] = {[SC_NATIVE_GENERIC] = "generic",
                                        [SC_NATIVE_AVX2] = "avx2",
                                        [SC_NATIVE_AVX512] = "avx512"};
    const char *text = value_of("SOFTCUDA_ISA");
    if (!text)
        return best;
    for (size_t i = 0; i <= best; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum sc_native_isa)i;
    warn("SOFTCUDA_ISA", text, "generic, avx2 or avx512 that this CPU has",
         names[best]);
    return best;
}

static bool read_later(void)
{
    const char *text = value_of("SOFTCUDA_LATER");
    if (text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        warn("SOFTCUDA_LATER", text, "0 or 1", "1");
    return !text || strcmp(text, "0") != 0;
}

static uint64_t read_size(const char *name, uint64_t usual)
{
    static const char units[] = "KMGT";
    const char *text = value_of(name);
    if (!text)
        return usual;
    char *end;
    double value = isdigit((unsigned char)*text) ? strtod(text, &end) : -1;
    if (value >= 0 && *end) {
        const char *unit = strchr(units, toupper((unsigned char)*end));
        value = unit && !end[1]
                    ? value * (double)(1ull << (10 * (unit - units + 1)))
                    : -1;
    }
    if (value < 0 || value > 1e15) {
        warn(name, text, "a size such as 256M", "256M");
        return usual;
    }
    return (uint64_t)value;
}

static bool put_path(char *path, const char *folder, const char *rest)
{
    if (snprintf(path, SC_BUILD_FOLDER, "%s%s", folder, rest) < SC_BUILD_FOLDER)
        return true;
    path[0] = '\0';
    return false;
}

static void find_cache(char *path)
{
    const char *own = value_of("SOFTCUDA_CACHE");
    const char *xdg = value_of("XDG_CACHE_HOME");
    const char *home = value_of("HOME");
    path[0] = '\0';
    if (own)
        put_path(path, own, "");
    else if (xdg && xdg[0] == '/')
        put_path(path, xdg, "/softcuda");
    else if (home && home[0] == '/')
        put_path(path, home, "/.cache/softcuda");
}

/* No more than half of what the machine has. */
static uint64_t memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t half = pages > 0 ? (uint64_t)pages * (uint64_t)bytes / 2 : 0;
    return half && half < MEMORY_BYTES ? half : MEMORY_BYTES;
}

void sc_build_options_read(struct sc_build_options *options)
{
    memset(options, 0, sizeof *options);
    options->mode = read_mode();
    enum sc_native_isa best = best_isa();
    options->isa = read_isa(best);
    options->isa_is_native = options->isa == best;
    const char *cc = value_of("SOFTCUDA_CC");
    snprintf(options->cc, sizeof options->cc, "%s", cc ? cc : "cc");
    find_cache(options->cache);
    const char *keep = value_of("SOFTCUDA_KEEP");
    if (keep)
        put_path(options->keep, keep, "");
    options->later = read_later();
    options->limits = (struct sc_build_limits){
        .cpu_s = CPU_S, .clock_ms = CLOCK_MS, .memory_bytes = memory_limit()};
    options->cache_max = read_size("SOFTCUDA_CACHE_MAX", CACHE_MAX);
}
