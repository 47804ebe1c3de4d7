/*
 * The list of patterns, and what they share. See pattern.h and parts.h.
 */
#include "pattern.h"

#include "parts.h"

#include <string.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* The largest extents and steps are those measured on an H200, 2026-11-26. */
const struct pattern patterns[] = {
    /* two arrays written, a kernel, the third read */
    {"stream",
     {MIB, 16 * MIB, 256 * MIB},
     {1, 1, 1},
     stream_setup,
     stream_repeat,
     stream_end},
    /* the same with arrays that are allocated each time */
    {"fresh",
     {MIB, 4 * MIB, 64 * MIB},
     {1, 1, 1},
     fresh_setup,
     fresh_repeat,
     fresh_end},
    /* sweeps over a grid, after each of which the largest change is read */
    {"residual",
     {256, 1024, 4096},
     {10, 100, 500},
     residual_setup,
     residual_repeat,
     grid_end},
    /* 64 scattered cells set before each sweep */
    {"sources",
     {256, 1024, 4096},
     {10, 50, 200},
     sources_setup,
     sources_repeat,
     grid_end},
    /* first and last 16 rows exchanged after each sweep */
    {"halo",
     {256, 1024, 4096},
     {10, 50, 200},
     halo_setup,
     halo_repeat,
     grid_end},
    /* from a file into an array, a kernel, from another array into a file */
    {"file",
     {MIB, 16 * MIB, 128 * MIB},
     {1, 1, 1},
     file_setup,
     file_repeat,
     file_end},
    /* a kernel writes an array of which 1,000 scattered words are read */
    {"sparse-read",
     {MIB, 16 * MIB, 256 * MIB},
     {1, 1, 1},
     reads_setup,
     reads_repeat,
     reads_end},
    /* an index of which 1 % is edited before each walk along it */
    {"index",
     {MIB, 4 * MIB, 16 * MIB},
     {5, 10, 20},
     index_setup,
     index_repeat,
     index_end},
    {0}};

static uint64_t sum;

const struct pattern *pattern_find(const char *name)
{
    const struct pattern *at = patterns;
    while (at->name && strcmp(at->name, name) != 0)
        at++;
    return at->name ? at : NULL;
}

uint64_t pattern_sum(void)
{
    return sum;
}

void sum_words(const void *words, size_t bytes)
{
    enum { STEP = KIB / sizeof(uint32_t) };
    const uint32_t *p = words;
    size_t count = bytes / sizeof *p;
    for (size_t at = 0; at < count; at += STEP) {
        size_t end = at + STEP < count ? at + STEP : count;
        uint64_t part = 0;
        for (size_t i = at; i < end; i++)
            part += p[i];
        sum = sum * 31 + part;
    }
}

uint32_t draw(uint32_t below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((state >> 32) * below) >> 32);
}

void array_end(struct array *array)
{
    array_wanted(array, 0, array->bytes);
    form_wait();
    sum_words(array->host, array->bytes);
    array_free(array);
}
