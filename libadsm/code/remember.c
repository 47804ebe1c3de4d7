/* Times to lines and back; see code/remember.h. */
#include "code/remember.h"

#include "accel/accel.h"
#include "accel/device.h"
#include "code/model_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What devices are. Asked for once, for at the end of the process the driver may
 * be gone: what has no times then has no name either. */
static struct {
    pthread_once_t once;
    char kind[ADSM_TIMES_DEVICES][ADSM_MODEL_KIND];
} devices = {.once = PTHREAD_ONCE_INIT};

void adsm_remember_kind(int device, char kind[ADSM_MODEL_KIND])
{
    struct adsm_driver driver = {.version = 0};
    char name[64] = "", text[ADSM_MODEL_KIND];
    adsm_accel_driver(&driver);
    if (adsm_accel_describe(device, name, sizeof name, NULL, NULL) != ADSM_OK)
        adsm_accel_error_forget();
    name[sizeof name - 1] = '\0';
    snprintf(text, sizeof text, driver.version ? "%s, driver %d.%d" : "%s",
             name, driver.version / 1000, driver.version % 1000 / 10);
    adsm_model_text(kind, ADSM_MODEL_KIND, text);
}

static void name_devices(void)
{
    for (int d = 0; d < adsm_accel_devices() && d < ADSM_TIMES_DEVICES; d++)
        adsm_remember_kind(d, devices.kind[d]);
}

/* ---- reading -------------------------------------------------------------- */

static void take_footprint(struct adsm_speed *speed,
                           const struct adsm_model *model, int footprint)
{
    for (int d = 0; d < ADSM_TIMES_DEVICES && devices.kind[d][0]; d++) {
        const struct adsm_model_line *line =
            adsm_model_find(model, d, devices.kind[d], footprint);
        struct adsm_speed_calls *calls =
            line ? adsm_speed_calls(speed, footprint) : NULL;
        if (calls)
            adsm_times_set(&calls->times, d, line->ns, line->count,
                           line->spikes);
    }
}

void adsm_remember(struct adsm_speed *speed)
{
    int ask = ADSM_SPEED_ASK;
    if (!speed->key || !adsm_model_folder() ||
        /* Relaxed: what is read has its own lock. */
        atomic_load_explicit(&speed->model, memory_order_relaxed) !=
            ADSM_SPEED_ASK ||
        !atomic_compare_exchange_strong(&speed->model, &ask, ADSM_SPEED_BUSY))
        return;
    pthread_once(&devices.once, name_devices);
    struct adsm_model *model = malloc(sizeof *model);
    if (model && adsm_model_load(speed->key, model))
        for (int f = 0; f < ADSM_MODEL_FOOTPRINTS; f++)
            take_footprint(speed, model, f);
    free(model);
    /* Release: who saves finds devices named. */
    atomic_store_explicit(&speed->model, ADSM_SPEED_READ, memory_order_release);
}

/* ---- writing -------------------------------------------------------------- */

/* A line of a device whose speed this process has measured. Return: how often */
static uint32_t get_line(struct adsm_speed *speed, int device, int footprint,
                         struct adsm_model_line *line)
{
    struct adsm_times_device of;
    struct adsm_speed_calls *calls =
        atomic_load_explicit(&speed->calls[footprint], memory_order_acquire);
    if (!calls || !devices.kind[device][0] ||
        !adsm_times_get(&calls->times, device, &of) || of.count == 0 ||
        of.kept == 0)
        return 0;
    *line = (struct adsm_model_line){.device = device,
                                     .footprint = footprint,
                                     .spikes = of.spikes,
                                     .count = (int)of.kept};
    strcpy(line->kind, devices.kind[device]);
    uint32_t oldest = of.kept < ADSM_TIMES_KEPT ? 0 : of.next;
    for (uint32_t i = 0; i < of.kept; i++)
        line->ns[i] = of.ns[(oldest + i) % ADSM_TIMES_KEPT];
    return of.count;
}

static uint64_t get_lines(struct adsm_speed *speed, struct adsm_model *model)
{
    uint64_t measured = 0;
    for (int f = 0; f < ADSM_MODEL_FOOTPRINTS; f++)
        for (int d = 0; d < ADSM_TIMES_DEVICES; d++) {
            struct adsm_model_line line;
            uint32_t count = get_line(speed, d, f, &line);
            if (count > 0)
                adsm_model_put(model, &line);
            measured += count;
        }
    return measured;
}

void adsm_remember_save(struct adsm_speed *speed)
{
    if (!speed->key || !adsm_model_is_written() ||
        /* Acquire: pairs with adsm_remember. */
        atomic_load_explicit(&speed->model, memory_order_acquire) !=
            ADSM_SPEED_READ)
        return;
    struct adsm_model *model = malloc(sizeof *model);
    if (!model)
        return;
    model->key = speed->key;
    model->count = 0;
    strcpy(model->kernel, speed->name);
    uint64_t measured = get_lines(speed, model);
    /* Relaxed: two threads that save at once write the same. */
    if (measured !=
        atomic_exchange_explicit(&speed->saved, measured, memory_order_relaxed))
        adsm_model_save(model);
    free(model);
}
