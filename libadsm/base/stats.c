/*
 * Counters and their printed forms: see base/stats.h.
 *
 * Owns the shards and the start of "seconds". No lock.
 */
#include "base/stats.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/output.h"

struct adsm_stats_shard adsm_stats_shards[ADSM_STATS_SHARDS];
__thread uint32_t adsm_stats_slot __attribute__((tls_model("initial-exec")));

static struct {
    _Atomic uint32_t threads;
    _Atomic uint64_t start_ns;
} stats;

static const struct {
    const char *name, *unit, *help;
} stats_list[ADSM_STAT_COUNT] = {
#define X(name, unit, help) {#name, unit, help},
#include "base/counters.def"
#undef X
};

/* Before main, so that "seconds" covers the whole program. */
__attribute__((constructor)) static void stats_start(void)
{
    atomic_store_explicit(&stats.start_ns, adsm_now_ns(), memory_order_relaxed);
}

uint32_t adsm_stats_take_slot(void)
{
    uint32_t thread =
        atomic_fetch_add_explicit(&stats.threads, 1, memory_order_relaxed);
    adsm_stats_slot = 1 + thread % ADSM_STATS_SHARDS;
    return adsm_stats_slot;
}

uint64_t adsm_stats_get(enum adsm_stat stat)
{
    uint64_t sum = 0;
    for (int i = 0; i < ADSM_STATS_SHARDS; i++)
        sum += atomic_load_explicit(&adsm_stats_shards[i].value[stat],
                                    memory_order_relaxed);
    return sum;
}

const char *adsm_stats_name(enum adsm_stat stat)
{
    return (unsigned)stat < ADSM_STAT_COUNT ? stats_list[stat].name : "?";
}

void adsm_stats_reset(void)
{
    for (int i = 0; i < ADSM_STATS_SHARDS; i++) {
        for (int stat = 0; stat < ADSM_STAT_COUNT; stat++)
            atomic_store_explicit(&adsm_stats_shards[i].value[stat], 0,
                                  memory_order_relaxed);
    }
    stats_start();
}

static double stats_seconds(void)
{
    uint64_t start =
        atomic_load_explicit(&stats.start_ns, memory_order_relaxed);
    return (double)(adsm_now_ns() - start) / 1e9;
}

void adsm_stats_text(uint64_t value, const char *unit, char *text, size_t bytes)
{
    static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    static const char *const time_units[] = {"ns", "us", "ms", "s"};
    bool is_bytes = unit[0] == 'b' && unit[1] == 'y';
    bool is_time = unit[0] == 'n';
    if (!is_bytes && !is_time) {
        snprintf(text, bytes, "%" PRIu64 " %s", value, unit);
        return;
    }
    const char *const *units = is_bytes ? byte_units : time_units;
    int last = is_bytes ? 4 : 3;
    double step = is_bytes ? 1024 : 1000, scaled = (double)value;
    int i = 0;
    for (; i < last && scaled >= step; i++)
        scaled /= step;
    snprintf(text, bytes, i == 0 ? "%.0f %s" : "%.2f %s", scaled, units[i]);
}

void adsm_stats_print(FILE *out)
{
    fprintf(
        out, "libadsm: protocol %s, %.3f seconds\n",
        adsm_option_word(ADSM_OPTION_ID_protocol, adsm_options_get()->protocol),
        stats_seconds());
    for (int stat = 0; stat < ADSM_STAT_COUNT; stat++) {
        uint64_t value = adsm_stats_get((enum adsm_stat)stat);
        if (value == 0)
            continue;
        char text[40];
        adsm_stats_text(value, stats_list[stat].unit, text, sizeof text);
        fprintf(out, "libadsm:   %-16s %14s  %s\n", stats_list[stat].name, text,
                stats_list[stat].help);
    }
}

adsm_status_t adsm_stats_write_json(const char *path)
{
    char line[4096];
    size_t used = 0;
    for (int stat = 0; stat < ADSM_STAT_COUNT; stat++)
        used += (size_t)snprintf(line + used, sizeof line - used,
                                 "%c\"%s\":%" PRIu64, stat == 0 ? '{' : ',',
                                 stats_list[stat].name,
                                 adsm_stats_get((enum adsm_stat)stat));
    used += (size_t)snprintf(line + used, sizeof line - used,
                             ",\"seconds\":%.6f,\"protocol\":\"%s\"}\n",
                             stats_seconds(),
                             adsm_option_word(ADSM_OPTION_ID_protocol,
                                              adsm_options_get()->protocol));
    return adsm_output_append(path, line, used);
}
