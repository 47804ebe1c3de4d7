/*
 * Measures links. See links.h; how it is shown to people is in matrix.c.
 *
 * Copies are those of libadsm (accel/move.h), so where devices do not reach
 * each other the bytes go down to the host's memory and then up, which is what
 * a call over several devices has to do there.
 */
#include "links.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accel/accel.h"
#include "accel/dma.h"
#include "accel/move.h"
#include "accel/peer.h"
#include "accel/pinned.h"
#include "accel/store.h"
#include "base/clock.h"
#include "os/arena.h"

enum {
    SMALL_BYTES = 4 << 10,
    FIRST_BYTES = 256 << 10,
    MOST_BYTES = 32 << 20,
    LONG_NS = 20 * 1000 * 1000, /* a copy that takes as long is large enough */
    RATE_TIMES = 3,
    SMALL_TIMES = 15
};

/* The host, or a device. */
struct end {
    char name[16];
    struct adsm_accel *accel;               /* NULL: the host */
    struct adsm_store_range *source, *sink; /* of a device */
    bool usable;
};

struct links {
    struct end *end;
    int count;
    size_t most_bytes; /* that every end has memory for */
    struct adsm_arena_range host;
};

/* ---- one copy --------------------------------------------------------------- */

static struct adsm_place place_of(const struct links *links,
                                  const struct end *end, bool sink)
{
    struct adsm_place place = {.accel = end->accel};
    if (end->accel)
        place.device = sink ? end->sink->at : end->source->at;
    else
        place.host = links->host.shadow;
    return place;
}

static bool is_direct(const struct end *from, const struct end *to)
{
    return !from->accel || !to->accel || adsm_peer_can(to->accel, from->accel);
}

static const char *way_of(const struct end *from, const struct end *to)
{
    return !from->accel          ? "upload"
           : !to->accel          ? "download"
           : from == to          ? "within"
           : is_direct(from, to) ? "peer"
                                 : "through host";
}

/* Copy and wait. @ns  what it took */
static int copy(const struct links *links, const struct end *from,
                const struct end *to, size_t bytes, uint64_t *ns)
{
    struct adsm_place begin = place_of(links, from, false),
                      target = place_of(links, to, true),
                      between = {.host = links->host.shadow};
    struct adsm_fence half = {0}, done = {0};
    struct adsm_extent extent = adsm_extent_of(bytes);
    uint64_t began = adsm_now_ns();
    int status = ADSM_OK;
    if (!is_direct(from, to)) {
        status = adsm_move(&between, &begin, extent, NULL, 0, false, &half,
                           ADSM_CAUSE(trial));
        begin = between;
    }
    if (status == ADSM_OK)
        status = adsm_move(&target, &begin, extent, &half, 1, false, &done,
                           ADSM_CAUSE(trial));
    if (status == ADSM_OK)
        status = adsm_fence_wait(done);
    *ns = adsm_now_ns() - began;
    return status;
}

/* ---- one pair --------------------------------------------------------------- */

static int time_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The middle one of some copies, those that warm up excepted. */
static int measure_small(const struct links *links, const struct end *from,
                         const struct end *to, double *us)
{
    uint64_t ns[SMALL_TIMES];
    int status = ADSM_OK;
    for (int i = -2; i < SMALL_TIMES && status == ADSM_OK; i++)
        status = copy(links, from, to, SMALL_BYTES, &ns[i < 0 ? 0 : i]);
    if (status != ADSM_OK)
        return status;
    qsort(ns, SMALL_TIMES, sizeof *ns, time_compare);
    *us = (double)ns[SMALL_TIMES / 2] / 1e3;
    return ADSM_OK;
}

/* The fastest of some copies that are long enough to tell. */
static int measure_rate(const struct links *links, const struct end *from,
                        const struct end *to, double *gib)
{
    size_t bytes =
        FIRST_BYTES < links->most_bytes ? FIRST_BYTES : links->most_bytes;
    uint64_t ns, least;
    int status = copy(links, from, to, bytes, &least);
    while (status == ADSM_OK && least < LONG_NS &&
           2 * bytes <= links->most_bytes)
        status = copy(links, from, to, bytes *= 2, &least);
    for (int i = 1; i < RATE_TIMES && status == ADSM_OK; i++) {
        status = copy(links, from, to, bytes, &ns);
        least = ns < least ? ns : least;
    }
    *gib = (double)bytes / 0x1p30 / ((double)least / 1e9);
    return status;
}

static void add(struct table *table, const char *from, const char *to,
                const char *way, const char *rate, const char *latency,
                const char *error)
{
    char when[32] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
    table_add(table, (const char *[LINKS_COLUMNS]){from, to, way, rate, latency,
                                                   error, when});
}

static void fail(struct table *table, const char *from, const char *to)
{
    add(table, from, to, "", "", "", adsm_accel_error_text());
}

/* A device that answers no more is said once, and left out from then on. */
static bool lost(struct table *table, struct end *end)
{
    if (!end->usable || !end->accel || adsm_accel_health(end->accel) == ADSM_OK)
        return false;
    end->usable = false;
    fail(table, end->name, "");
    return true;
}

static void measure(struct table *table, const struct links *links,
                    struct end *from, struct end *to)
{
    char rate[32], latency[32];
    double gib = 0, us = 0;
    if (!from->usable || !to->usable || (from == to && !from->accel))
        return;
    int status = measure_small(links, from, to, &us);
    if (status == ADSM_OK)
        status = measure_rate(links, from, to, &gib);
    if (status != ADSM_OK) {
        bool said = lost(table, from);
        if (!lost(table, to) && !said)
            fail(table, from->name, to->name);
        return;
    }
    snprintf(rate, sizeof rate, "%.3f", gib);
    snprintf(latency, sizeof latency, "%.1f", us);
    add(table, from->name, to->name, way_of(from, to), rate, latency, "");
}

/* ---- the ends --------------------------------------------------------------- */

static void give_back(struct end *end)
{
    if (end->source)
        adsm_store_free(end->accel, end->source, NULL, 0);
    if (end->sink)
        adsm_store_free(end->accel, end->sink, NULL, 0);
    end->source = end->sink = NULL;
}

/* Two buffers, smaller ones than before where the device has little room. */
static int get_memory(struct links *links, struct end *end)
{
    size_t bytes = links->most_bytes, available = 0, total;
    int status = adsm_accel_memory(end->accel, &available, &total);
    while (bytes > ADSM_STORE_SMALL && bytes > available / 4)
        bytes /= 2;
    if (status == ADSM_OK)
        status = adsm_store_alloc(end->accel, bytes, &end->source);
    if (status == ADSM_OK)
        status = adsm_store_alloc(end->accel, bytes, &end->sink);
    if (status == ADSM_OK)
        links->most_bytes = bytes;
    return status;
}

static void open_device(struct table *table, struct links *links, int device)
{
    struct end *end = &links->end[1 + device];
    snprintf(end->name, sizeof end->name, "%d", device);
    int status = adsm_accel_open(device, &end->accel);
    if (status == ADSM_OK)
        status = get_memory(links, end);
    end->usable = status == ADSM_OK;
    if (!end->usable)
        fail(table, end->name, "");
    else
        adsm_pin(end->accel, links->host.shadow, MOST_BYTES);
}

static void measure_all(struct table *table, struct links *links)
{
    links->end[0] = (struct end){.name = "host", .usable = true};
    for (int i = 0; i + 1 < links->count; i++)
        open_device(table, links, i);
    for (int from = 0; from < links->count; from++)
        for (int to = 0; to < links->count; to++)
            measure(table, links, &links->end[from], &links->end[to]);
    for (int i = 1; i < links->count; i++) {
        struct end *end = &links->end[i];
        give_back(end);
        if (end->accel)
            adsm_unpin(end->accel, links->host.shadow, MOST_BYTES);
    }
}

void links_table(struct table *table)
{
    table_columns(table, "links", "no device is visible", "from", "to", "way",
                  "#GiB/s", "#us", "error", "measured", NULL);
}

void section_links(struct table *table)
{
    links_table(table);
    struct links links = {.most_bytes = MOST_BYTES};
    if (adsm_accel_init() != ADSM_OK)
        table->empty = adsm_accel_why();
    if (adsm_accel_devices() == 0)
        return;
    links.count = 1 + adsm_accel_devices();
    links.end = calloc((size_t)links.count, sizeof *links.end);
    if (!links.end || adsm_arena_alloc(&links.host, MOST_BYTES) != ADSM_OK)
        table->empty = "no host memory to copy from";
    else if (adsm_arena_commit(&links.host, 0, MOST_BYTES) != ADSM_OK)
        table->empty = "no host memory to copy from";
    else
        measure_all(table, &links);
    links_keep(table);
    adsm_arena_free(&links.host);
    free(links.end);
}
