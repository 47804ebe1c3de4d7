/* What adsm-info asks; see inspect.h. */
#include "accel/inspect.h"

#include "accel/accel.h"
#include "accel/address/way.h"
#include "accel/device.h"
#include "accel/dma.h"
#include "accel/error.h"
#include "accel/pinned.h"
#include "accel/stage.h"
#include "os/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TRIED_BYTES = 64 << 10 };

__attribute__((format(printf, 4, 5))) static void
find(struct adsm_finding *finding, const char *what, const char *state,
     const char *why, ...)
{
    va_list arguments;
    finding->what = what;
    snprintf(finding->state, sizeof finding->state, "%s", state);
    va_start(arguments, why);
    vsnprintf(finding->why, sizeof finding->why, why, arguments);
    va_end(arguments);
}

int adsm_inspect_driver(struct adsm_finding found[ADSM_FINDINGS])
{
    struct adsm_driver driver = {0};
    char version[32] = "unknown";
    if (adsm_accel_devices() == 0)
        return 0;
    adsm_accel_driver(&driver);
    if (driver.version)
        snprintf(version, sizeof version, "%d.%d", driver.version / 1000,
                 driver.version % 1000 / 10);
    find(&found[0], "CUDA version", version, "%s", driver.path);
    if (driver.looks_up)
        find(&found[1], "look-up by version", "yes",
             "programs may find functions by name or by cuGetProcAddress");
    else
        find(&found[1], "look-up by version", "no",
             "the driver has no cuGetProcAddress: functions are found by name, "
             "and programs whose CUDA runtime needs it do not start");
    return 2;
}

static void inspect_locking(struct adsm_accel *accel, uint8_t *shadow,
                            struct adsm_finding *found)
{
    adsm_pin(accel, shadow, TRIED_BYTES);
    bool locked = adsm_pinned_bytes(accel) > 0;
    adsm_unpin(accel, shadow, TRIED_BYTES);
    find(found, "page-locked memory", locked ? "yes" : "no", "%s",
         locked ? "the driver takes the runtime's memory: copies are direct"
                : adsm_pinned_why(accel));
}

/* To the device and back, in memory that the driver was not told of. */
static int try_copies(struct adsm_accel *accel, uint8_t *shadow,
                      struct adsm_daddr device)
{
    struct adsm_fence done, nothing = {0};
    memset(shadow, 0x5a, TRIED_BYTES);
    int status = adsm_dma_upload(accel, device, shadow, TRIED_BYTES, nothing,
                                 &done, ADSM_CAUSE(trial));
    if (status == ADSM_OK)
        status = adsm_dma_drain(accel);
    memset(shadow, 0, TRIED_BYTES);
    if (status == ADSM_OK)
        status = adsm_dma_download(accel, shadow, device, TRIED_BYTES, nothing,
                                   ADSM_CAUSE(trial));
    for (size_t i = 0; status == ADSM_OK && i < TRIED_BYTES; i++)
        if (shadow[i] != 0x5a)
            return adsm_accel_fail(ADSM_E_DEVICE,
                                   "other bytes came back than "
                                   "were sent",
                                   NULL);
    return status;
}

static void inspect_copies(struct adsm_accel *accel, uint8_t *shadow,
                           struct adsm_finding *found)
{
    static const char what[] = "copies of other memory";
    struct adsm_span span;
    int status = adsm_address_alloc(accel, TRIED_BYTES, true, &span);
    if (status == ADSM_OK) {
        status = try_copies(accel, shadow, span.device);
        int freed = adsm_address_free(accel, &span);
        status = status == ADSM_OK ? freed : status;
    }
    if (status != ADSM_OK)
        find(found, what, "fail", "%s", adsm_accel_error_text());
    else if (atomic_load(&accel->stage->used))
        find(found, what, "by buffers",
             "the driver refuses memory that is not page-locked: copies of it "
             "go through buffers of libadsm");
    else
        find(found, what, "direct",
             "the driver takes memory that is not page-locked");
}

static void inspect_granule(struct adsm_accel *accel,
                            struct adsm_finding *found)
{
    char state[32];
    size_t granule = 0;
    if (accel->ops->range_granule(accel, &granule) != ADSM_OK) {
        find(found, "granule", "-", "%s", adsm_accel_error_text());
        return;
    }
    snprintf(state, sizeof state, "%zu KiB", granule >> 10);
    find(found, "granule", state,
         "the driver maps device memory to reserved addresses in such pieces");
}

int adsm_inspect_device(struct adsm_accel *accel,
                        struct adsm_finding found[ADSM_FINDINGS])
{
    struct adsm_arena_range range;
    int status = adsm_arena_alloc(&range, TRIED_BYTES);
    if (status == ADSM_OK)
        status = adsm_arena_commit(&range, 0, TRIED_BYTES);
    if (status == ADSM_OK) {
        inspect_locking(accel, range.shadow, &found[0]);
        inspect_copies(accel, range.shadow, &found[1]);
    } else {
        find(&found[0], "page-locked memory", "-", "no memory to try it");
        find(&found[1], "copies of other memory", "-", "no memory to try it");
    }
    adsm_arena_free(&range);
    inspect_granule(accel, &found[2]);
    return 3;
}
