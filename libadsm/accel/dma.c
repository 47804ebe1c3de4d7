/*
 * Transfers; see dma.h. How host memory is cut: piece.c. What is waited for:
 * lane.c. What the upload lane writes: dma_write.c.
 */
#include "accel/dma.h"

#include "accel/device.h"
#include "accel/extent.h"
#include "accel/dma_write.h"
#include "accel/early.h"
#include "accel/lane.h"
#include "accel/piece.h"
#include "accel/pinned.h"
#include "accel/stage.h"
#include "base/clock.h"
#include "base/trace.h"

enum {
    /* A sleep costs some 50 us more than the transfer of a small block. */
    SPIN_NS = 20000,
};

/* Initial-exec: the fault handler must not allocate on first use. */
static __thread uint64_t spent_ns __attribute__((tls_model("initial-exec")));

uint64_t adsm_dma_spent_ns(void)
{
    return spent_ns;
}

void adsm_dma_spend(uint64_t ns)
{
    spent_ns += ns;
}

/* ---- order ---------------------------------------------------------------- */

/* Let a copy lane wait, on the device, for `after` and all noted work. An upload
 * comes behind all that is held. */
static int dma_order(struct adsm_accel *accel, uint32_t copy_lane,
                     struct adsm_fence after)
{
    adsm_stream stream = accel->lanes->lane[copy_lane].stream;
    int status = copy_lane == ADSM_LANE_UPLOAD
                     ? adsm_lane_submit(accel, UINT64_MAX)
                     : ADSM_OK;
    if (status == ADSM_OK)
        status = adsm_fence_order(accel, stream, after);
    return status == ADSM_OK ? adsm_lane_order_noted(accel, accel, copy_lane)
                             : status;
}

/* Something that writes [to, to + bytes) went to the upload lane. */
static void dma_submitted(struct adsm_accel *accel, struct adsm_daddr to,
                          size_t bytes, struct adsm_fence *done)
{
    uint64_t seq = adsm_lane_tick(accel, ADSM_LANE_UPLOAD);
    adsm_dma_remember_write(accel, to, bytes, seq);
    *done = (struct adsm_fence){accel, ADSM_LANE_UPLOAD, seq};
}

static adsm_stream upload_stream(struct adsm_accel *accel)
{
    return accel->lanes->lane[ADSM_LANE_UPLOAD].stream;
}

bool adsm_dma_is_clear(struct adsm_accel *accel, struct adsm_fence after)
{
    return adsm_fence_done(after) && adsm_lane_noted_done(accel);
}

/* ---- up ------------------------------------------------------------------- */

static int hand_over(struct adsm_accel *accel, struct adsm_daddr to,
                     const char *shadow, const struct adsm_dma_part *parts,
                     size_t count, bool changes, size_t *sent)
{
    int status = ADSM_OK;
    *sent = 0;
    if (changes)
        return adsm_stage_up_parts(accel, ADSM_LANE_UPLOAD, to, shadow, parts,
                                   count, sent);
    for (size_t n, i = 0; i < count && status == ADSM_OK; i++) {
        status = adsm_piece_up(
            accel, ADSM_LANE_UPLOAD, adsm_daddr_add(to, parts[i].offset),
            shadow + parts[i].offset, parts[i].bytes, false, &n);
        *sent += n;
    }
    return status;
}

int adsm_dma_upload_parts(struct adsm_accel *accel, struct adsm_daddr to,
                          const void *shadow, const struct adsm_dma_part *parts,
                          size_t count, bool changes, struct adsm_fence after,
                          struct adsm_fence *done,
                          const struct adsm_cause *cause)
{
    uint64_t start = adsm_trace_begin();
    uint64_t began = adsm_now_ns();
    *done = (struct adsm_fence){0};
    if (count == 0)
        return ADSM_OK;
    int status = dma_order(accel, ADSM_LANE_UPLOAD, after);
    size_t first = parts[0].offset;
    size_t end = parts[count - 1].offset + parts[count - 1].bytes;
    size_t sent = 0;
    if (status == ADSM_OK)
        status = hand_over(accel, to, shadow, parts, count, changes, &sent);
    if (sent > 0)
        dma_submitted(accel, adsm_daddr_add(to, first), end - first, done);
    uint64_t spent = adsm_now_ns() - began;
    ADSM_COUNT(ns_up, spent);
    spent_ns += spent;
    adsm_trace_moved(ADSM_WAY_UP, "upload", start, accel->device, sent, cause);
    return status;
}

int adsm_dma_upload(struct adsm_accel *accel, struct adsm_daddr to,
                    const void *shadow, size_t bytes, struct adsm_fence after,
                    struct adsm_fence *done, const struct adsm_cause *cause)
{
    struct adsm_dma_part all = {0, bytes};
    return adsm_dma_upload_parts(accel, to, shadow, &all, 1, false, after, done,
                                 cause);
}

int adsm_dma_set(struct adsm_accel *accel, struct adsm_daddr to, uint8_t value,
                 size_t bytes, struct adsm_fence after, struct adsm_fence *done,
                 const struct adsm_cause *cause)
{
    uint64_t start = adsm_trace_begin();
    *done = (struct adsm_fence){0};
    if (bytes == 0)
        return ADSM_OK;
    int status = dma_order(accel, ADSM_LANE_UPLOAD, after);
    if (status == ADSM_OK)
        status = adsm_extent_set(accel, upload_stream(accel), to, value, bytes);
    if (status == ADSM_OK)
        dma_submitted(accel, to, bytes, done);
    adsm_trace_moved(ADSM_WAY_DEVICE, "device set", start, accel->device,
                     status == ADSM_OK ? bytes : 0, cause);
    return status;
}

/* ---- down ----------------------------------------------------------------- */

/* What was enqueued on a copy lane so far is through. */
static int await_stream(struct adsm_accel *accel, adsm_stream stream)
{
    struct adsm_fence done;
    int status = adsm_fence_record(accel, stream, &done);
    return status == ADSM_OK ? adsm_fence_wait_spinning(done, SPIN_NS) : status;
}

/* Whether a download has nothing to wait for. */
static bool nothing_ahead(struct adsm_accel *accel, struct adsm_fence uploads,
                          struct adsm_fence after)
{
    return adsm_fence_done(uploads) && adsm_dma_is_clear(accel, after) &&
           adsm_accel_health(accel) == ADSM_OK;
}

static int download_now(struct adsm_accel *accel, void *shadow,
                        struct adsm_daddr from, size_t bytes)
{
    int status = ADSM_OK;
    for (size_t got = 0; status == ADSM_OK && got < bytes;) {
        char *to = (char *)shadow + got;
        size_t n = adsm_pinned_piece(accel, to, bytes - got);
        status =
            adsm_extent_copy_down_now(accel, to, adsm_daddr_add(from, got), n);
        got += n;
    }
    return status;
}

/* In stream order behind `uploads`, `after` and all noted work. */
static int download_behind(struct adsm_accel *accel, void *shadow,
                           struct adsm_daddr from, size_t bytes,
                           struct adsm_fence uploads, struct adsm_fence after)
{
    adsm_stream stream = accel->lanes->lane[ADSM_LANE_DOWNLOAD].stream;
    int status = adsm_fence_order(accel, stream, uploads);
    if (status == ADSM_OK)
        status = dma_order(accel, ADSM_LANE_DOWNLOAD, after);
    if (status == ADSM_OK)
        status =
            adsm_piece_down(accel, ADSM_LANE_DOWNLOAD, shadow, from, bytes);
    return status == ADSM_OK ? await_stream(accel, stream) : status;
}

int adsm_dma_download(struct adsm_accel *accel, void *shadow,
                      struct adsm_daddr from, size_t bytes,
                      struct adsm_fence after, const struct adsm_cause *cause)
{
    if (bytes == 0)
        return ADSM_OK;
    uint64_t start = adsm_trace_begin();
    uint64_t began = adsm_now_ns();
    struct adsm_fence uploads = {accel, ADSM_LANE_UPLOAD,
                                 adsm_dma_last_write(accel, from, bytes)};
    int status = ADSM_E_UNSUPPORTED;
    bool early = adsm_early_take(accel, shadow, from, bytes, after);
    if (early)
        status = ADSM_OK;
    else if (!adsm_piece_must_stage(accel) &&
             nothing_ahead(accel, uploads, after))
        status = download_now(accel, shadow, from, bytes);
    if (status == ADSM_E_UNSUPPORTED || adsm_piece_is_refused(accel, status))
        status = download_behind(accel, shadow, from, bytes, uploads, after);
    uint64_t spent = adsm_now_ns() - began;
    ADSM_COUNT(ns_down, spent);
    spent_ns += spent;
    /* What came early was counted then. */
    adsm_trace_moved(ADSM_WAY_DOWN, early ? "take" : "download", start,
                     accel->device, status == ADSM_OK && !early ? bytes : 0,
                     cause);
    return status;
}

/* ---- aside ---------------------------------------------------------------- */

static adsm_stream aside_stream(struct adsm_accel *accel)
{
    return accel->lanes->lane[ADSM_LANE_ASIDE].stream;
}

int adsm_dma_download_aside(struct adsm_accel *accel, void *shadow,
                            struct adsm_daddr from, size_t bytes,
                            uint64_t uploads, const struct adsm_cause *cause)
{
    uint64_t start = adsm_trace_begin();
    uint64_t written = adsm_dma_last_write(accel, from, bytes);
    /* Of those behind `uploads` nothing is known. */
    int status =
        adsm_dma_await_upload(accel, written < uploads ? written : uploads);
    if (status == ADSM_OK)
        status = adsm_piece_down(accel, ADSM_LANE_ASIDE, shadow, from, bytes);
    if (status == ADSM_OK)
        status = adsm_dma_await_aside(accel);
    adsm_trace_moved(ADSM_WAY_DOWN, "download", start, accel->device,
                     status == ADSM_OK ? bytes : 0, cause);
    return status;
}

int adsm_dma_upload_aside(struct adsm_accel *accel, struct adsm_daddr to,
                          const void *shadow, size_t bytes,
                          const struct adsm_cause *cause)
{
    size_t sent;
    uint64_t start = adsm_trace_begin();
    int status =
        adsm_piece_up(accel, ADSM_LANE_ASIDE, to, shadow, bytes, false, &sent);
    adsm_trace_moved(ADSM_WAY_UP, "upload", start, accel->device, sent, cause);
    return status;
}

int adsm_dma_await_aside(struct adsm_accel *accel)
{
    return await_stream(accel, aside_stream(accel));
}

/* ---- all ------------------------------------------------------------------ */

uint64_t adsm_dma_last_upload(struct adsm_accel *accel)
{
    /* Acquire: what was enqueued before this call has its number. */
    return atomic_load_explicit(&accel->lanes->lane[ADSM_LANE_UPLOAD].given,
                                memory_order_acquire);
}

bool adsm_dma_is_uploaded(struct adsm_accel *accel, uint64_t seq)
{
    return adsm_fence_done((struct adsm_fence){accel, ADSM_LANE_UPLOAD, seq});
}

struct adsm_fence adsm_dma_uploads(struct adsm_accel *accel)
{
    return (struct adsm_fence){accel, ADSM_LANE_UPLOAD,
                               adsm_dma_last_upload(accel)};
}

int adsm_dma_order_behind(struct adsm_accel *accel,
                          const struct adsm_fence *after, size_t count,
                          struct adsm_fence *done)
{
    int status = adsm_lane_submit(accel, UINT64_MAX);
    for (size_t i = 0; i < count && status == ADSM_OK; i++)
        status = adsm_fence_order(accel, upload_stream(accel), after[i]);
    *done = (struct adsm_fence){0};
    if (status == ADSM_OK)
        *done = (struct adsm_fence){accel, ADSM_LANE_UPLOAD,
                                    adsm_lane_tick(accel, ADSM_LANE_UPLOAD)};
    return status;
}

int adsm_dma_order_uploads(struct adsm_accel *accel, adsm_stream stream)
{
    return adsm_lane_order_uploads(accel, stream);
}

int adsm_dma_await_upload(struct adsm_accel *accel, uint64_t seq)
{
    return adsm_fence_wait((struct adsm_fence){accel, ADSM_LANE_UPLOAD, seq});
}

int adsm_dma_drain(struct adsm_accel *accel)
{
    return adsm_dma_await_upload(accel, adsm_dma_last_upload(accel));
}
