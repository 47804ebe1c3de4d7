/*
 * Devices and contexts: which there are, and who makes the accel of each.
 *
 * Owns the list of visible devices. Lock: devices.lock, rank ACCEL, over all that
 * changes it or the list of accels (device.c).
 */
#include "accel/accel.h"

#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/dma_write.h"
#include "accel/early.h"
#include "accel/error.h"
#include "accel/extent.h"
#include "accel/fence.h"
#include "accel/lane.h"
#include "accel/launched.h"
#include "accel/pinned.h"
#include "accel/poke.h"
#include "accel/rate.h"
#include "accel/stage.h"
#include "accel/store.h"
#include "accel/timer.h"
#include "base/log.h"
#include "base/option.h"
#include "base/quiet.h"
#include "base/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    const struct adsm_accel_ops *ops;
    struct adsm_lock lock;
    int visible[ADSM_MOST_DEVICES]; /* ordinals; read-only once counted */
    _Atomic int visible_count;
    char why[512];
} devices = {.ops = &adsm_cuda_ops, .lock = ADSM_LOCK_INIT(ADSM_RANK_ACCEL)};

void adsm_accel_replace(const struct adsm_accel_ops *other)
{
    devices.ops = other;
}

/* ---- start ------------------------------------------------------------- */

/* The back end of a device. */
static const struct adsm_accel_ops *ops_of(int ordinal)
{
    return ordinal == ADSM_CPU_ORDINAL ? &adsm_host_ops : devices.ops;
}

/* ADSM_DEVICES: different numbers, or the CPU (base/option.c). Return: devices
 * taken. */
static int select_devices(const char *list, int present)
{
    int count = 0;
    int64_t ordinal;
    for (const char *at = list;
         *at && count < ADSM_MOST_DEVICES && adsm_option_next(&at, &ordinal);) {
        if (ordinal == ADSM_OPTION_CPU)
            devices.visible[count++] = ADSM_CPU_ORDINAL;
        else if (ordinal < present && ordinal < ADSM_CPU_ORDINAL)
            devices.visible[count++] = (int)ordinal;
        else
            adsm_log(ADSM_LOG_WARN, "ADSM_DEVICES: there is no device %lld%s",
                     (long long)ordinal, present > 0 ? "" : " and no driver");
    }
    if (count == 0)
        adsm_log(ADSM_LOG_WARN,
                 "ADSM_DEVICES=%s names no device of this machine and counts "
                 "as not set",
                 list);
    return count;
}

/* Does the list name the CPU, and others? */
static bool names_cpu(const char *list, bool *others)
{
    bool cpu = false;
    int64_t ordinal;
    *others = !list;
    for (const char *at = list; at && *at && adsm_option_next(&at, &ordinal);) {
        cpu = cpu || ordinal == ADSM_OPTION_CPU;
        *others = *others || ordinal != ADSM_OPTION_CPU;
    }
    return cpu;
}

static int find_devices(void)
{
    const char *list = adsm_options_get()->devices;
    bool others, cpu = names_cpu(list, &others);
    int present = 0, count = 0;
    int status = others ? devices.ops->start(&present) : ADSM_OK;
    if (status != ADSM_OK && !cpu)
        return status;
    if (present == 0 && cpu)
        devices.ops = &adsm_host_ops;
    count = list ? select_devices(list, present) : 0;
    if (count == 0)
        for (; count < present && count < ADSM_CPU_ORDINAL; count++)
            devices.visible[count] = count;
    /* Release: whoever sees the number sees the list. */
    atomic_store_explicit(&devices.visible_count, count, memory_order_release);
    return ADSM_OK;
}

int adsm_accel_init(void)
{
    static bool watching_forks; /* devices.lock */
    if (adsm_accel_devices() > 0)
        return ADSM_OK;
    adsm_lock_acquire(&devices.lock);
    int status = ADSM_OK;
    if (adsm_accel_devices() == 0) {
        status = find_devices();
        strncpy(devices.why, status == ADSM_OK ? "" : adsm_accel_error_text(),
                sizeof devices.why - 1);
    }
    if (status == ADSM_OK && !watching_forks)
        watching_forks =
            pthread_atfork(NULL, NULL, adsm_accel_mark_forked) == 0;
    adsm_lock_release(&devices.lock);
    return status;
}

const char *adsm_accel_why(void)
{
    return devices.why;
}

int adsm_accel_devices(void)
{
    return atomic_load_explicit(&devices.visible_count, memory_order_acquire);
}

/* ---- accels ------------------------------------------------------------ */

static int index_of(int ordinal)
{
    int count = adsm_accel_devices();
    for (int i = 0; i < count; i++)
        if (devices.visible[i] == ordinal)
            return i;
    return -1;
}

/* An accel and its parts. */
struct whole {
    struct adsm_accel accel;
    struct adsm_lanes lanes;
    struct adsm_launched launched;
    struct adsm_timers timers;
    struct adsm_pinned pinned;
    struct adsm_stage stage;
    struct adsm_dma dma;
    struct adsm_early early;
    struct adsm_poke poke;
    struct adsm_rates rates;
    struct adsm_store store;
    struct adsm_address address;
    struct adsm_extent_table extents;
};

/* An accel that has its parts, all of them zero; NULL without memory. To be
 * freed as what it is the first member of. */
static struct adsm_accel *allocate(void)
{
    /* Large and zero: pages come as they are used. */
    struct whole *whole = calloc(1, sizeof *whole);
    if (!whole)
        return NULL;
    whole->accel = (struct adsm_accel){
        .lanes = &whole->lanes,
        .launched = &whole->launched,
        .timers = &whole->timers,
        .pinned = &whole->pinned,
        .stage = &whole->stage,
        .dma = &whole->dma,
        .early = &whole->early,
        .poke = &whole->poke,
        .rates = &whole->rates,
        .store = &whole->store,
        .address = &whole->address,
        .extents = &whole->extents,
    };
    return &whole->accel;
}

/* A new accel for a context that has none. devices.lock is held. */
static int create(void *context, int ordinal, struct adsm_accel **made)
{
    struct adsm_accel *accel = allocate();
    if (!accel)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a device", NULL);
    accel->ops = ops_of(ordinal);
    accel->context = context;
    accel->ordinal = ordinal;
    accel->device = index_of(ordinal);
    adsm_launched_init(accel->launched);
    adsm_pinned_init(accel->pinned);
    adsm_dma_init(accel->dma);
    adsm_early_init(accel->early);
    adsm_poke_init(accel);
    adsm_stage_init(accel->stage);
    adsm_store_init(accel->store);
    adsm_address_init(accel->address);
    adsm_extent_table_init(accel->extents);
    int status = adsm_lanes_create(accel);
    if (status != ADSM_OK) {
        free(accel);
        return status;
    }
    adsm_accel_list(accel);
    *made = accel;
    return ADSM_OK;
}

static struct adsm_accel *primary_of(int device)
{
    struct adsm_accel *accel = adsm_accel_first();
    while (accel && !(accel->device == device && accel->primary &&
                      accel->context != NULL))
        accel = accel->next;
    return accel;
}

/* Retain the primary context and find or make its accel; devices.lock held. */
static int open_primary(int device, struct adsm_accel **accel)
{
    void *context = NULL;
    *accel = primary_of(device);
    if (*accel)
        return ADSM_OK;
    int ordinal = devices.visible[device];
    uint64_t start = adsm_trace_begin();
    int status = ops_of(ordinal)->context_primary(ordinal, &context);
    if (status != ADSM_OK)
        return status;
    *accel = adsm_accel_of_context(context);
    if (!*accel)
        status = create(context, ordinal, accel);
    if (status == ADSM_OK)
        (*accel)->primary = true;
    else
        ops_of(ordinal)->context_release(ordinal);
    adsm_trace_end(ADSM_TRACE_setup, "open device", start, device, NULL);
    return status;
}

int adsm_accel_open(int device, struct adsm_accel **accel)
{
    int status = adsm_accel_init();
    if (status != ADSM_OK)
        return adsm_accel_fail(status, devices.why, NULL);
    int count = adsm_accel_devices();
    if (device < 0 || device >= count) {
        char asked[24], last[24];
        return adsm_accel_fail(ADSM_E_INVALID, "there is no device ",
                               adsm_accel_number(asked, device),
                               "; devices are 0..",
                               adsm_accel_number(last, count - 1), NULL);
    }
    adsm_lock_acquire(&devices.lock);
    status = open_primary(device, accel);
    adsm_lock_release(&devices.lock);
    return status;
}

/* Find it, or make it. */
static int of_context(void *context, int ordinal, struct adsm_accel **accel)
{
    int status = ADSM_OK;
    *accel = adsm_accel_of_context(context);
    if (*accel)
        return ADSM_OK;
    adsm_lock_acquire(&devices.lock);
    *accel = adsm_accel_of_context(context);
    if (!*accel)
        status = create(context, ordinal, accel);
    adsm_lock_release(&devices.lock);
    return status;
}

int adsm_accel_of_current(struct adsm_accel **accel)
{
    void *context = NULL;
    int ordinal = 0;
    int status = adsm_accel_init();
    if (status != ADSM_OK)
        return adsm_accel_fail(status, devices.why, NULL);
    status = devices.ops->context_current(&context, &ordinal);
    return status == ADSM_OK ? of_context(context, ordinal, accel) : status;
}

int adsm_accel_of_memory(struct adsm_daddr at, struct adsm_accel **accel,
                         struct adsm_memory *memory)
{
    int ordinal = -1;
    int status = devices.ops->memory_find(at, memory);
    if (status != ADSM_OK)
        return status;
    void *context = memory->context;
    if (!context &&
        devices.ops->context_current(&context, &ordinal) == ADSM_OK) {
        if (ordinal != memory->ordinal)
            context = NULL;
    }
    return context ? of_context(context, memory->ordinal, accel)
                   : adsm_accel_open(index_of(memory->ordinal), accel);
}

/* Pass the time between two looks at work that may never end: some looks at once,
 * since most has ended soon. */
static void pass_time(uint64_t looks)
{
    enum { AT_ONCE = 50, SHORT_NS = 20 * 1000, LONG_NS = 500 * 1000 };
    if (looks < AT_ONCE)
        return;
    long ns = looks < 2 * AT_ONCE ? SHORT_NS : LONG_NS;
    uint64_t opened = adsm_quiet_wait_begin();
    nanosleep(&(struct timespec){0, ns}, NULL);
    adsm_quiet_wait_end(opened);
}

static bool is_clear(struct adsm_accel *accel, struct adsm_fence behind)
{
    return adsm_fence_done(behind) && adsm_lane_noted_done(accel);
}

int adsm_accel_wait(struct adsm_accel *accel, bool (*gives_way)(void),
                    bool *over)
{
    struct adsm_fence behind;
    bool known = adsm_fence_record(accel, (adsm_stream)0, &behind) == ADSM_OK;
    /* Of a lost device nobody can tell what is done, and nothing is left. */
    for (uint64_t looks = 0; known && adsm_accel_health(accel) == ADSM_OK &&
                             !is_clear(accel, behind);
         looks++) {
        *over = !gives_way();
        if (!*over)
            return ADSM_OK;
        pass_time(looks);
    }
    if (!known)
        adsm_accel_error_forget();
    /* What is left is in streams that the default one does not wait for, and was
     * not noted. */
    *over = true;
    return accel->ops->context_wait(accel);
}

void *adsm_accel_detach(struct adsm_accel *accel)
{
    adsm_lock_acquire(&devices.lock);
    void *context = accel->context;
    bool held = accel->primary;
    accel->context = NULL;
    accel->primary = false;
    adsm_lock_release(&devices.lock);
    if (held)
        accel->ops->context_release(accel->ordinal);
    return context;
}

void adsm_accel_attach(struct adsm_accel *accel, void *context)
{
    accel->context = context;
}

void adsm_accel_end(struct adsm_accel *accel)
{
    adsm_accel_condemn(accel, ADSM_E_DEVICE_LOST);
}

void adsm_accel_forget(struct adsm_accel *accel)
{
    adsm_lanes_destroy(accel);
    adsm_timers_destroy(accel);
    adsm_pinned_clear(accel);
    adsm_early_clear(accel);
    adsm_poke_clear(accel);
    adsm_stage_clear(accel);
    adsm_store_clear(accel);
    adsm_address_fini(accel);
    adsm_lock_acquire(&devices.lock);
    adsm_accel_condemn(accel, ADSM_E_DEVICE_LOST);
    accel->context = NULL;
    if (accel->primary)
        accel->ops->context_release(accel->ordinal);
    adsm_lock_release(&devices.lock);
}

void adsm_accel_driver(struct adsm_driver *driver)
{
    devices.ops->driver(driver);
}

int adsm_accel_describe(int device, char *name, size_t name_bytes,
                        size_t *total_bytes, size_t *free_bytes)
{
    struct adsm_accel *accel;
    size_t total = 0;
    if (device < 0 || device >= adsm_accel_devices())
        return adsm_accel_fail(ADSM_E_INVALID, "there is no such device", NULL);
    const struct adsm_accel_ops *ops = ops_of(devices.visible[device]);
    int status =
        ops->describe(devices.visible[device], name, name_bytes, total_bytes);
    if (status == ADSM_OK && free_bytes) {
        status = adsm_accel_open(device, &accel);
        if (status == ADSM_OK)
            status = ops->memory_info(accel, free_bytes, &total);
    }
    return status;
}

/* ---- code: straight through the table ---------------------------------- */

int adsm_accel_module_load(struct adsm_accel *accel, const void *image,
                           size_t bytes, void **module)
{
    return accel->ops->module_load(accel, image, bytes, module);
}

int adsm_accel_module_unload(struct adsm_accel *accel, void *module)
{
    return accel->ops->module_unload(accel, module);
}

int adsm_accel_kernel_get(struct adsm_accel *accel, void *module,
                          const char *name, void **kernel)
{
    return accel->ops->kernel_get(accel, module, name, kernel);
}

int adsm_accel_kernel_parameter(struct adsm_accel *accel, void *kernel,
                                unsigned index, size_t *offset, size_t *bytes)
{
    return accel->ops->kernel_parameter(accel, kernel, index, offset, bytes);
}

int adsm_accel_launch(struct adsm_accel *accel,
                      const struct adsm_launch *launch)
{
    return launch->act ? launch->act->enqueue(launch->act, accel, launch)
                       : accel->ops->launch(accel, launch);
}
