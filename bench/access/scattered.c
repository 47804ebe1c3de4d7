/*
 * Patterns that touch an array here and there. See parts.h.
 */
#include "parts.h"

#include <stdlib.h>

enum { READS = 1000, EDITED_OF = 100, WALKERS_OF = 64 };

/* ---- sparse-read ---------------------------------------------------------- */

static struct array words;

void reads_setup(size_t bytes)
{
    words = array_new(bytes, USE_HANDED_OVER);
}

void reads_repeat(int steps)
{
    static uint32_t seed;
    const uint32_t *p = words.host;
    long n = (long)(words.bytes / sizeof *p);
    for (int k = 0; k < steps; k++) {
        void *arguments[] = {&words.device, &n, &seed};
        form_launch(KERNEL_fill, (size_t)n, 1, arguments);
        array_wanted(&words, 0, words.bytes);
        form_wait();
        for (int i = 0; i < READS; i++)
            sum_words(&p[draw((uint32_t)n)], sizeof *p);
        seed++;
    }
}

void reads_end(void)
{
    array_end(&words);
}

/* ---- index ---------------------------------------------------------------- */

static struct {
    struct array next, result; /* where an entry leads; where walkers are */
    uint32_t entries;
    long walkers;
} index_of;

void index_setup(size_t bytes)
{
    index_of.entries = (uint32_t)(bytes / sizeof(uint32_t));
    index_of.walkers = index_of.entries / WALKERS_OF;
    index_of.next = array_new(bytes, USE_HANDED_OVER);
    index_of.result =
        array_new((size_t)index_of.walkers * sizeof(uint32_t), USE_HANDED_OVER);
    uint32_t *next = index_of.next.host;
    for (uint32_t i = 0; i < index_of.entries; i++)
        next[i] = draw(index_of.entries);
}

static void edit(void)
{
    uint32_t *next = index_of.next.host;
    for (uint32_t i = 0; i < index_of.entries / EDITED_OF; i++) {
        uint32_t at = draw(index_of.entries);
        next[at] = draw(index_of.entries);
    }
    array_written(&index_of.next, 0, index_of.next.bytes);
}

void index_repeat(int steps)
{
    long stride = WALKERS_OF;
    for (int k = 0; k < steps; k++) {
        form_before_writing();
        edit();
        void *arguments[] = {&index_of.next.device, &index_of.result.device,
                             &index_of.walkers, &stride};
        form_launch(KERNEL_walk, (size_t)index_of.walkers, 1, arguments);
        array_wanted(&index_of.result, 0, index_of.result.bytes);
        form_wait();
        sum_words(index_of.result.host, index_of.result.bytes);
    }
}

void index_end(void)
{
    array_end(&index_of.next);
    array_end(&index_of.result);
}
