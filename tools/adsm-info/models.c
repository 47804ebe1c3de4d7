/*
 * What is kept of how fast kernels were. See sections.h.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "sections.h"

/* What a footprint stands for: 4^n indices and more. */
static void print_footprint(int footprint, char *text, size_t bytes)
{
    static const char units[] = " KMG";
    int low = 2 * footprint, high = low + 2;
    const char *word =
        footprint == ADSM_MODEL_FOOTPRINTS - 1 ? " and more" : "";
    int n = snprintf(text, bytes, "%d%.*s", 1 << low % 10, low >= 10,
                     &units[low / 10]);
    if (*word)
        snprintf(text + n, bytes - (size_t)n, "%s", word);
    else
        snprintf(text + n, bytes - (size_t)n, " to %d%.*s", 1 << high % 10,
                 high >= 10, &units[high / 10]);
}

double models_median(const struct adsm_model_line *line)
{
    struct adsm_times times;
    struct adsm_times_device of = {.median = 0};
    adsm_times_init(&times);
    adsm_times_set(&times, 0, line->ns, line->count, 0);
    (void)adsm_times_get(&times, 0, &of);
    return of.median;
}

static void add_line(struct table *table, const struct adsm_model *model,
                     const struct adsm_model_line *line, const char *why)
{
    char key[24], device[ADSM_MODEL_KIND + 16], footprint[32], count[16],
        ns[32], spikes[16];
    snprintf(key, sizeof key, "%016" PRIx64, model->key);
    snprintf(device, sizeof device, "%d: %s", line->device, line->kind);
    print_footprint(line->footprint, footprint, sizeof footprint);
    snprintf(count, sizeof count, "%d", line->count);
    snprintf(ns, sizeof ns, "%.6g", models_median(line));
    snprintf(spikes, sizeof spikes, "%" PRIu32, line->spikes);
    table_add(table, (const char *[]){model->kernel, key, device, footprint,
                                      count, ns, spikes, why});
}

static void add_file(void *table, const char *name,
                     const struct adsm_model *model,
                     enum adsm_model_state state)
{
    char why[64 + ADSM_MODEL_MACHINE] = "";
    if (state == ADSM_MODEL_DAMAGED) {
        snprintf(why, sizeof why, "not used: %s is no model", name);
        table_add(table, (const char *[]){"", "", "", "", "", "", "", why});
        return;
    }
    if (state == ADSM_MODEL_FOREIGN)
        snprintf(why, sizeof why, "not used here: of %s", model->machine);
    for (int i = 0; i < model->count; i++)
        add_line(table, model, &model->line[i], why);
}

static int is_model(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 20 && strspn(entry->d_name, "0123456789abcdef") == 16 &&
           strcmp(entry->d_name + n - 4, ".txt") == 0;
}

void models_each(void (*take)(void *context, const char *name,
                              const struct adsm_model *model,
                              enum adsm_model_state state),
                 void *context)
{
    struct dirent **names;
    struct adsm_model *model = malloc(sizeof *model);
    adsm_model_files_init();
    int count = 0;
    if (model && adsm_model_folder())
        count = scandir(adsm_model_folder(), &names, is_model, alphasort);
    for (int i = 0; i < count; i++) {
        enum adsm_model_state state = adsm_model_read(names[i]->d_name, model);
        take(context, names[i]->d_name, model, state);
        free(names[i]);
    }
    if (count > 0)
        free(names);
    free(model);
}

void section_models(struct table *table)
{
    table_columns(table, "models", "no program has measured any", "kernel",
                  "key", "device", "indices", "#samples", "#ns/index",
                  "#spikes", "why", NULL);
    models_each(add_file, table);
    if (!adsm_model_folder())
        table->empty = "ADSM_MODELS is off, or there is no home to keep them";
}
