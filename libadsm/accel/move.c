/*
 * Moves of boxes; see move.h.
 *
 * A box is made as flat as it can be, and goes in one driver call where the
 * driver takes it. Else it goes by planes, by as many rows as lie in one piece
 * of host memory, or row by row.
 */
#include "accel/move.h"

#include "accel/device.h"
#include "accel/dma_write.h"
#include "accel/error.h"
#include "accel/lane.h"
#include "accel/peer.h"
#include "accel/piece.h"
#include "accel/pinned.h"
#include "base/clock.h"
#include "base/stats.h"
#include "base/trace.h"

struct move {
    const struct way *way;
    struct adsm_accel *accel; /* whose lane it runs on */
    struct adsm_accel *other; /* where the bytes are, the host excepted */
    uint32_t lane;
    bool by_rows; /* the driver does not take boxes */
};

/* One kind of move. Addresses are numbers, of the host or of a device. */
struct way {
    int (*row)(const struct move *move, uint64_t to, uint64_t from,
               size_t bytes);
    int (*box)(const struct move *move, uint64_t to, uint64_t from,
               const struct adsm_rect *rect);
    void (*count)(uint64_t bytes, uint64_t ns);
    enum adsm_way way;
    const char *span;
    bool from_host, to_host;
};

static adsm_stream stream_of(const struct move *move)
{
    return move->accel->lanes->lane[move->lane].stream;
}

/* ---- kinds of moves -------------------------------------------------------- */

static struct adsm_daddr at(uint64_t device)
{
    return (struct adsm_daddr){device};
}

static void *host(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static int row_up(const struct move *move, uint64_t to, uint64_t from,
                  size_t bytes)
{
    size_t sent;
    return adsm_piece_up(move->accel, move->lane, at(to), host(from), bytes,
                         true, &sent);
}

static int box_up(const struct move *move, uint64_t to, uint64_t from,
                  const struct adsm_rect *rect)
{
    return move->accel->ops->copy_up_rect(move->accel, stream_of(move), at(to),
                                          host(from), rect);
}

static void count_up(uint64_t bytes, uint64_t ns)
{
    ADSM_COUNT(ns_up, ns);
    adsm_dma_spend(ns);
}

static int row_down(const struct move *move, uint64_t to, uint64_t from,
                    size_t bytes)
{
    return adsm_piece_down(move->accel, move->lane, host(to), at(from), bytes);
}

static int box_down(const struct move *move, uint64_t to, uint64_t from,
                    const struct adsm_rect *rect)
{
    return move->accel->ops->copy_down_rect(move->accel, stream_of(move),
                                            host(to), at(from), rect);
}

static void count_down(uint64_t bytes, uint64_t ns)
{
    ADSM_COUNT(ns_down, ns);
    adsm_dma_spend(ns);
}

static int row_local(const struct move *move, uint64_t to, uint64_t from,
                     size_t bytes)
{
    return move->accel->ops->copy_device(move->accel, stream_of(move), at(to),
                                         at(from), bytes);
}

static int box_local(const struct move *move, uint64_t to, uint64_t from,
                     const struct adsm_rect *rect)
{
    return move->accel->ops->copy_device_rect(move->accel, stream_of(move),
                                              at(to), at(from), rect);
}

static void count_local(uint64_t bytes, uint64_t ns)
{
    ADSM_COUNT(bytes_local, bytes);
}

static int row_peer(const struct move *move, uint64_t to, uint64_t from,
                    size_t bytes)
{
    return move->accel->ops->copy_peer(move->accel, stream_of(move), at(to),
                                       move->other, at(from), bytes);
}

static int box_peer(const struct move *move, uint64_t to, uint64_t from,
                    const struct adsm_rect *rect)
{
    return move->accel->ops->copy_peer_rect(
        move->accel, stream_of(move), at(to), move->other, at(from), rect);
}

static void count_peer(uint64_t bytes, uint64_t ns)
{
    ADSM_COUNT(bytes_peer, bytes);
}

static const struct way up = {row_up,   box_up, count_up, ADSM_WAY_UP,
                              "upload", true,   false};
static const struct way down = {row_down,   box_down, count_down, ADSM_WAY_DOWN,
                                "download", false,    true};
static const struct way local = {
    row_local,     box_local, count_local, ADSM_WAY_DEVICE,
    "device copy", false,     false};
static const struct way peer = {
    row_peer, box_peer, count_peer, ADSM_WAY_DEVICE, "peer copy", false, false};

static int choose(struct move *move, const struct adsm_place *to,
                  const struct adsm_place *from)
{
    struct adsm_accel *a = to->accel, *b = from->accel;
    if (!a && !b)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "no device has part in a move", NULL);
    if (a && b && a != b && !adsm_peer_can(a, b))
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the devices do not reach each other", NULL);
    *move = (struct move){.way = !a       ? &down
                                 : !b     ? &up
                                 : a == b ? &local
                                          : &peer,
                          .accel = a ? a : b,
                          .other = b,
                          .lane = a ? ADSM_LANE_UPLOAD : ADSM_LANE_DOWNLOAD};
    if (move->way->from_host || move->way->to_host)
        move->by_rows = adsm_piece_must_stage(move->accel);
    return ADSM_OK;
}

/* ---- shapes ----------------------------------------------------------------- */

/* Rows that touch on both sides are one row, and so with planes. */
static void flatten(struct adsm_rect *rect)
{
    size_t *to = rect->to_pitch, *from = rect->from_pitch;
    for (int i = 0; i < 2; i++) {
        if (rect->rows > 1 && (to[0] != rect->bytes || from[0] != rect->bytes))
            break;
        rect->bytes *= rect->rows;
        rect->rows = rect->planes;
        rect->planes = 1;
        to[0] = to[1];
        from[0] = from[1];
    }
    if (to[1] == rect->rows * to[0] && from[1] == rect->rows * from[0]) {
        rect->rows *= rect->planes;
        rect->planes = 1;
    }
}

/* Bytes from the first to behind the last one. */
static size_t span_of(const struct adsm_rect *rect, const size_t pitch[2])
{
    return (rect->planes - 1) * pitch[1] + (rect->rows - 1) * pitch[0] +
           rect->bytes;
}

/* Whether the table of the back end has this shape (accel/ops.h). */
static bool is_regular(const struct adsm_rect *rect, const size_t pitch[2])
{
    return pitch[0] >= rect->bytes &&
           (rect->planes == 1 ||
            (pitch[1] % pitch[0] == 0 && pitch[1] / pitch[0] >= rect->rows));
}

/* Bytes from the box's beginning on that lie in one piece of host memory. */
static size_t piece_of(const struct move *move, uint64_t to, uint64_t from,
                       const struct adsm_rect *rect)
{
    if (move->way->from_host)
        return adsm_pinned_piece(move->accel, host(from),
                                 span_of(rect, rect->from_pitch));
    if (move->way->to_host)
        return adsm_pinned_piece(move->accel, host(to),
                                 span_of(rect, rect->to_pitch));
    return SIZE_MAX;
}

static const size_t *host_pitch(const struct move *move,
                                const struct adsm_rect *rect)
{
    return move->way->from_host ? rect->from_pitch : rect->to_pitch;
}

/* How many rows of a plane can go together. */
static size_t rows_together(const struct move *move, uint64_t to, uint64_t from,
                            const struct adsm_rect *rect)
{
    const size_t *pitch = host_pitch(move, rect);
    if (move->by_rows || !is_regular(rect, rect->to_pitch) ||
        !is_regular(rect, rect->from_pitch))
        return 1;
    size_t piece = piece_of(move, to, from, rect);
    if (piece < rect->bytes + pitch[0])
        return 1;
    size_t rows = (piece - rect->bytes) / pitch[0] + 1;
    return rows < rect->rows ? rows : rect->rows;
}

/* ---- enqueueing ------------------------------------------------------------- */

/* Hand a box over as it is. Return: ADSM_E_UNSUPPORTED: go by rows, for good */
static int whole(struct move *move, uint64_t to, uint64_t from,
                 const struct adsm_rect *rect)
{
    int status = move->way->box(move, to, from, rect);
    if (status == ADSM_E_UNSUPPORTED ||
        adsm_piece_is_refused(move->accel, status)) {
        move->by_rows = true;
        return ADSM_E_UNSUPPORTED;
    }
    return status;
}

static int plane(struct move *move, uint64_t to, uint64_t from,
                 struct adsm_rect rect)
{
    int status = ADSM_OK;
    while (rect.rows > 0 && status == ADSM_OK) {
        struct adsm_rect part = rect;
        part.rows = rows_together(move, to, from, &rect);
        if (part.rows == 1)
            status = move->way->row(move, to, from, rect.bytes);
        else
            status = whole(move, to, from, &part);
        if (part.rows > 1 && status == ADSM_E_UNSUPPORTED) {
            status = ADSM_OK;
            continue;
        }
        to += part.rows * rect.to_pitch[0];
        from += part.rows * rect.from_pitch[0];
        rect.rows -= part.rows;
    }
    return status;
}

static int box(struct move *move, uint64_t to, uint64_t from,
               const struct adsm_rect *rect)
{
    int status = ADSM_E_UNSUPPORTED;
    if (rect->planes > 1 && !move->by_rows &&
        is_regular(rect, rect->to_pitch) &&
        is_regular(rect, rect->from_pitch) &&
        piece_of(move, to, from, rect) >= span_of(rect, host_pitch(move, rect)))
        status = whole(move, to, from, rect);
    if (status != ADSM_E_UNSUPPORTED)
        return status;
    struct adsm_rect one = *rect;
    one.planes = 1;
    status = ADSM_OK;
    for (size_t i = 0; i < rect->planes && status == ADSM_OK; i++)
        status = plane(move, to + i * rect->to_pitch[1],
                       from + i * rect->from_pitch[1], one);
    return status;
}

/* ---- order ------------------------------------------------------------------ */

/* Make the lane wait, on the device, for all that the move must follow. */
static int move_order(const struct move *move, const struct adsm_place *from,
                      const struct adsm_rect *rect,
                      const struct adsm_fence *after, size_t count, bool noted)
{
    adsm_stream stream = stream_of(move);
    int status = move->lane == ADSM_LANE_UPLOAD
                     ? adsm_lane_submit(move->accel, UINT64_MAX)
                     : ADSM_OK;
    for (size_t i = 0; i < count && status == ADSM_OK; i++)
        status = adsm_fence_order(move->accel, stream, after[i]);
    if (move->other && status == ADSM_OK) {
        struct adsm_fence written = {
            move->other, ADSM_LANE_UPLOAD,
            adsm_dma_last_write(move->other, from->device,
                                span_of(rect, rect->from_pitch))};
        status = adsm_fence_order(move->accel, stream, written);
    }
    if (noted && status == ADSM_OK)
        status = adsm_lane_order_noted(move->accel, move->accel, move->lane);
    if (noted && status == ADSM_OK && move->other && move->other != move->accel)
        status = adsm_lane_order_noted(move->other, move->accel, move->lane);
    return status;
}

/* Something was handed over: its number, and what it writes. */
static struct adsm_fence move_submitted(const struct move *move,
                                        const struct adsm_place *to,
                                        const struct adsm_rect *rect)
{
    uint64_t seq = adsm_lane_tick(move->accel, move->lane);
    if (!move->way->to_host)
        adsm_dma_remember_write(move->accel, to->device,
                                span_of(rect, rect->to_pitch), seq);
    return (struct adsm_fence){move->accel, move->lane, seq};
}

static uint64_t address_of(const struct adsm_place *place)
{
    return place->accel ? place->device.at : (uint64_t)(uintptr_t)place->host;
}

int adsm_move(const struct adsm_place *to, const struct adsm_place *from,
              struct adsm_extent extent, const struct adsm_fence *after,
              size_t count, bool noted, struct adsm_fence *done,
              const struct adsm_cause *cause)
{
    struct move move;
    struct adsm_rect rect = {
        extent.bytes,
        extent.rows,
        extent.planes,
        {to->pitch[0], to->pitch[1]},
        {from->pitch[0], from->pitch[1]},
    };
    size_t bytes = extent.bytes * extent.rows * extent.planes;
    *done = (struct adsm_fence){0};
    if (bytes == 0)
        return ADSM_OK;
    int status = choose(&move, to, from);
    if (status != ADSM_OK)
        return status;
    uint64_t start = adsm_trace_begin();
    uint64_t began = adsm_now_ns();
    flatten(&rect);
    status = move_order(&move, from, &rect, after, count, noted);
    if (status == ADSM_OK) {
        status = box(&move, address_of(to), address_of(from), &rect);
        *done = move_submitted(&move, to, &rect);
    }
    if (status != ADSM_OK)
        bytes = 0;
    move.way->count(bytes, adsm_now_ns() - began);
    adsm_trace_moved(move.way->way, move.way->span, start, move.accel->device,
                     bytes, cause);
    return status;
}
