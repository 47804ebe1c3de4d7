/*
 * Every call of the driver and what the preload library makes of it, from the
 * list that its tests are held to.
 */
#include <stdio.h>

#include "sections.h"

enum treatment {
#define ADSM_SURFACE_CLASS(treatment, why) treatment,
#include "interpose/cuda/surface.def"
};

static const char *const reasons[] = {
#define ADSM_SURFACE_CLASS(treatment, why) [treatment] = why,
#include "interpose/cuda/surface.def"
};

static const struct call {
    const char *name;
    int since;
    enum treatment treatment;
    const char *word, *note;
} calls[] = {
#define ADSM_SURFACE(name, since, treatment, note)                             \
    {#name, since, treatment, #treatment, note},
#include "interpose/cuda/surface.def"
};

void section_surface(struct table *table)
{
    table_columns(table, "surface", "", "symbol", "since CUDA", "class", "why",
                  "note", NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct call *call = &calls[i];
        char since[24];
        snprintf(since, sizeof since, "%d.%d", call->since / 1000,
                 call->since % 1000 / 10);
        table_add(table,
                  (const char *[]){call->name, since, call->word,
                                   reasons[call->treatment], call->note});
    }
}
