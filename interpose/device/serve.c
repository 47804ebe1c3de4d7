/*
 * The hooks' view of the runtime; see serve.h.
 *
 * A runtime that cannot be brought up is said once and then leaves the program
 * alone.
 */
#include "interpose/device/serve.h"

#include "accel/address/address.h"
#include "base/log.h"
#include "base/status.h"
#include "interpose/hook.h"
#include "interpose/signals/mask.h"
#include "libadsm/init.h"
#include "mm/heap/heap.h"
#include "mm/heap/life.h"

bool device_is_serving(void)
{
    return !hook_passes() && adsm_heap_count() > 0;
}

bool device_is_up(void)
{
    mask_start();
    int status = adsm_init();
    if (status)
        adsm_log_once(
            ADSM_LOG_ERROR, "not started, the program runs without it: %s",
            *adsm_accel_why() ? adsm_accel_why() : adsm_status_text(status));
    return status == ADSM_OK;
}

/* The accel of the current context, made if it has none. What may be there the
 * next time is a status; without the rest the program goes on by itself. */
static int open_current(struct adsm_accel **accel)
{
    const char *why = "";
    int status = adsm_accel_of_current(accel);
    if (status == ADSM_OK)
        status = adsm_address_choose(*accel);
    if (status == ADSM_OK) {
        if (adsm_address_strategy(*accel, &why) != ADSM_TRANSLATE)
            return ADSM_OK;
        adsm_log_once(ADSM_LOG_WARN,
                      "device pointers cannot be host pointers here, "
                      "allocations are not shared: %s",
                      why);
    }
    *accel = NULL;
    bool short_of = status == ADSM_E_NOMEM || status == ADSM_E_LIMIT ||
                    status == ADSM_E_DEVICE_NOMEM;
    if (status)
        adsm_log_once(ADSM_LOG_ERROR, "%s: %s",
                      short_of ? "this context gets no shared memory for now"
                               : "this context runs without shared memory",
                      adsm_accel_error_text());
    return short_of ? ADSM_E_NOMEM : ADSM_OK;
}

int device_serve(struct adsm_accel **accel)
{
    int status = ADSM_OK;
    *accel = NULL;
    hook_enter();
    if (device_is_up())
        status = open_current(accel);
    hook_leave();
    return status;
}

bool device_is_ours(uint64_t address)
{
    return (adsm_index_find((const void *)address) &&
            adsm_adopt_has_other(address)) ||
           adsm_address_is_reserved(address);
}

uint64_t device_address(uint64_t address)
{
    struct adsm_daddr device;
    return adsm_heap_device((const void *)address, &device) == ADSM_OK
               ? device.at
               : address;
}

void device_part(struct adsm_accel *accel)
{
    hook_enter();
    adsm_heap_withdraw(accel);
    (void)adsm_accel_detach(accel);
    hook_leave();
}

void device_parted(struct adsm_accel *accel)
{
    hook_enter();
    adsm_accel_end(accel);
    adsm_heap_forget(accel);
    adsm_accel_forget(accel);
    hook_leave();
}
