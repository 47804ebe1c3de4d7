/* Host memory in pieces; see piece.h. */
#include "accel/piece.h"

#include "accel/device.h"
#include "accel/extent.h"
#include "accel/lane.h"
#include "accel/pinned.h"
#include "accel/stage.h"
#include "base/log.h"

bool adsm_piece_is_refused(struct adsm_accel *accel, int status)
{
    return status == ADSM_E_DEVICE && adsm_accel_health(accel) == ADSM_OK;
}

/* A copy went by buffers after it was refused. */
static void note_staging(struct adsm_accel *accel)
{
    if (!atomic_exchange_explicit(&accel->stage->used, true,
                                  memory_order_relaxed))
        adsm_log_signal(ADSM_LOG_INFO,
                        "the driver refuses copies of host memory that is not "
                        "page-locked; they go through buffers");
}

bool adsm_piece_must_stage(struct adsm_accel *accel)
{
    return atomic_load_explicit(&accel->stage->used, memory_order_relaxed) &&
           adsm_pinned_bytes(accel) == 0;
}

/* By way of buffers, which are filled at once. */
static int stage_up(struct adsm_accel *accel, uint32_t lane,
                    struct adsm_daddr to, const void *from, size_t bytes,
                    bool behind)
{
    struct adsm_fence ahead;
    int status = ADSM_OK;
    if (behind)
        status =
            adsm_fence_record(accel, accel->lanes->lane[lane].stream, &ahead);
    if (behind && status == ADSM_OK)
        status = adsm_fence_wait(ahead);
    return status == ADSM_OK ? adsm_stage_up(accel, lane, to, from, bytes)
                             : status;
}

static int one_up(struct adsm_accel *accel, uint32_t lane, struct adsm_daddr to,
                  const void *from, size_t bytes, bool behind)
{
    if (adsm_piece_must_stage(accel))
        return stage_up(accel, lane, to, from, bytes, behind);
    int status = adsm_extent_copy_up(accel, accel->lanes->lane[lane].stream, to,
                                     from, bytes);
    if (!adsm_piece_is_refused(accel, status))
        return status;
    status = stage_up(accel, lane, to, from, bytes, behind);
    if (status == ADSM_OK)
        note_staging(accel);
    return status;
}

int adsm_piece_up(struct adsm_accel *accel, uint32_t lane, struct adsm_daddr to,
                  const void *shadow, size_t bytes, bool behind, size_t *sent)
{
    int status = ADSM_OK;
    for (*sent = 0; status == ADSM_OK && *sent < bytes;) {
        const char *from = (const char *)shadow + *sent;
        size_t n = adsm_pinned_piece(accel, from, bytes - *sent);
        status =
            one_up(accel, lane, adsm_daddr_add(to, *sent), from, n, behind);
        if (status == ADSM_OK)
            *sent += n;
    }
    return status;
}

static int one_down(struct adsm_accel *accel, uint32_t lane, void *to,
                    struct adsm_daddr from, size_t bytes)
{
    if (adsm_piece_must_stage(accel))
        return adsm_stage_down(accel, lane, to, from, bytes);
    int status = adsm_extent_copy_down(accel, accel->lanes->lane[lane].stream,
                                       to, from, bytes);
    if (!adsm_piece_is_refused(accel, status))
        return status;
    status = adsm_stage_down(accel, lane, to, from, bytes);
    if (status == ADSM_OK)
        note_staging(accel);
    return status;
}

int adsm_piece_down(struct adsm_accel *accel, uint32_t lane, void *shadow,
                    struct adsm_daddr from, size_t bytes)
{
    int status = ADSM_OK;
    for (size_t got = 0; status == ADSM_OK && got < bytes;) {
        char *to = (char *)shadow + got;
        size_t n = adsm_pinned_piece(accel, to, bytes - got);
        status = one_down(accel, lane, to, adsm_daddr_add(from, got), n);
        got += n;
    }
    return status;
}
