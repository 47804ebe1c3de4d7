/*
 * Which lane a stream has; see lane.h.
 *
 * Chained buckets over a fixed array. Lanes are reused, their numbers go on
 * counting, so a fence of the stream before is simply reached.
 */
#include "accel/device.h"
#include "accel/lane_parts.h"

#include <unistd.h>

/* What a stream handle means in this thread. */
struct key {
    adsm_stream stream;
    uint32_t thread;
};

static struct key key_of(const struct adsm_accel *accel, adsm_stream stream,
                         bool per_thread)
{
    static __thread uint32_t self __attribute__((tls_model("initial-exec")));
    bool none = !stream || stream == accel->ops->stream_legacy;
    if (stream != accel->ops->stream_per_thread && !(none && per_thread))
        return (struct key){none ? NULL : stream, 0};
    if (!self)
        self = (uint32_t)gettid();
    return (struct key){accel->ops->stream_per_thread, self};
}

static uint32_t *bucket_of(struct adsm_lanes *lanes, struct key key)
{
    uint64_t mixed =
        ((uint64_t)(uintptr_t)key.stream ^ (uint64_t)key.thread << 32) *
        UINT64_C(0x9e3779b97f4a7c15);
    return &lanes->bucket[mixed >> 32 & (ADSM_LANE_BUCKETS - 1)];
}

/* The lane of a key, or NULL; lanes->lock is held. A live lane's key changes
 * under both locks only. */
static struct adsm_lane *lookup(struct adsm_lanes *lanes, struct key key)
{
    uint32_t link = *bucket_of(lanes, key);
    while (link) {
        struct adsm_lane *lane = &lanes->lane[link - 1];
        if (lane->stream == key.stream && lane->thread == key.thread)
            return lane;
        link = lane->chain;
    }
    return NULL;
}

/* Give an unlinked lane a stream; both locks are held. */
static void attach(struct adsm_lanes *lanes, struct adsm_lane *lane,
                   struct key key)
{
    uint32_t *head = bucket_of(lanes, key);
    lane->state = ADSM_LANE_LIVE;
    lane->stream = key.stream;
    lane->thread = key.thread;
    lane->uploads_seen = 0;
    lane->chain = *head;
    *head = (uint32_t)(lane - lanes->lane) + 1;
}

/* Unlink a live lane; both locks are held. */
static void unlink_lane(struct adsm_lanes *lanes, struct adsm_lane *lane)
{
    struct key key = {lane->stream, lane->thread};
    uint32_t self = (uint32_t)(lane - lanes->lane) + 1;
    uint32_t *link = bucket_of(lanes, key);
    while (*link != self)
        link = &lanes->lane[*link - 1].chain;
    *link = lane->chain;
    lane->state = ADSM_LANE_FREE;
    lane->stream = NULL;
    lane->thread = 0;
}

static bool is_quiet(struct adsm_lane *lane)
{
    return adsm_lane_is_done(lane, lane->given) &&
           lane->notes_done == lane->notes;
}

/* A lane without a stream, its lock held; NULL when there is none.
 * lanes->lock is held. */
static struct adsm_lane *free_lane(struct adsm_lanes *lanes)
{
    uint32_t used = lanes->used;
    if (used < ADSM_LANES) {
        struct adsm_lane *lane = &lanes->lane[used];
        /* Not before it is used: a table of lanes is many pages. */
        adsm_lock_init(&lane->lock, ADSM_RANK_STREAM);
        adsm_lock_acquire_another(&lane->lock);
        /* Release: walkers of the table see an initialised lane. */
        atomic_store_explicit(&lanes->used, used + 1, memory_order_release);
        return lane;
    }
    for (uint32_t i = ADSM_LANE_PROGRAM; i < ADSM_LANES; i++) {
        struct adsm_lane *lane = &lanes->lane[i];
        adsm_lock_acquire_another(&lane->lock);
        if (lane->state == ADSM_LANE_FREE && is_quiet(lane))
            return lane;
        adsm_lock_release(&lane->lock);
    }
    return NULL;
}

/* Wait for everything in a lane. Return: false when the device is dead. */
static bool settle(struct adsm_accel *accel, struct adsm_lane *lane)
{
    uint64_t notes_seq;
    adsm_lock_acquire(&lane->lock);
    int status = adsm_lane_cover_notes(accel, lane, &notes_seq);
    uint64_t seq = lane->given;
    adsm_lock_release(&lane->lock);
    if (status == ADSM_OK)
        status = adsm_lane_wait(accel, lane, seq, 0);
    else if (adsm_accel_health(accel) == ADSM_OK)
        status = adsm_lane_settle_all(accel, lane);
    return status == ADSM_OK;
}

/* Settle the next lane in turn and take it from its stream, if nobody used it
 * meanwhile. Return: false when the device is dead. */
static bool free_one(struct adsm_accel *accel)
{
    struct adsm_lanes *lanes = accel->lanes;
    adsm_lock_acquire(&lanes->lock);
    struct adsm_lane *lane = &lanes->lane[ADSM_LANE_PROGRAM + lanes->victim];
    lanes->victim = (lanes->victim + 1) % (ADSM_LANES - ADSM_LANE_PROGRAM);
    adsm_lock_release(&lanes->lock);
    if (!settle(accel, lane))
        return false;
    adsm_lock_acquire(&lanes->lock);
    adsm_lock_acquire_another(&lane->lock);
    if (lane->state == ADSM_LANE_LIVE && is_quiet(lane))
        unlink_lane(lanes, lane);
    adsm_lock_release(&lane->lock);
    adsm_lock_release(&lanes->lock);
    return true;
}

struct adsm_lane *adsm_lane_find(struct adsm_accel *accel, adsm_stream stream,
                                 bool per_thread)
{
    struct adsm_lanes *lanes = accel->lanes;
    adsm_lock_acquire(&lanes->lock);
    struct adsm_lane *lane = lookup(lanes, key_of(accel, stream, per_thread));
    if (lane)
        adsm_lock_acquire_another(&lane->lock);
    adsm_lock_release(&lanes->lock);
    return lane;
}

struct adsm_lane *adsm_lane_of(struct adsm_accel *accel, adsm_stream stream,
                               bool per_thread)
{
    struct adsm_lanes *lanes = accel->lanes;
    struct key key = key_of(accel, stream, per_thread);
    for (;;) {
        adsm_lock_acquire(&lanes->lock);
        struct adsm_lane *lane = lookup(lanes, key);
        if (lane) {
            adsm_lock_acquire_another(&lane->lock);
        } else {
            lane = free_lane(lanes);
            if (lane)
                attach(lanes, lane, key);
        }
        adsm_lock_release(&lanes->lock);
        if (lane)
            return lane;
        if (!free_one(accel))
            return NULL;
    }
}

void adsm_lane_detach(struct adsm_accel *accel, struct adsm_lane *lane)
{
    struct adsm_lanes *lanes = accel->lanes;
    adsm_lock_acquire(&lanes->lock);
    adsm_lock_acquire_another(&lane->lock);
    if (lane->state == ADSM_LANE_LIVE)
        unlink_lane(lanes, lane);
    adsm_lock_release(&lane->lock);
    adsm_lock_release(&lanes->lock);
}

/* ---- life ---------------------------------------------------------------- */

int adsm_lanes_create(struct adsm_accel *accel)
{
    struct adsm_lanes *lanes = accel->lanes;
    adsm_lock_init(&lanes->lock, ADSM_RANK_STREAM);
    adsm_lock_init(&lanes->unused_lock, ADSM_RANK_POOL);
    for (uint32_t i = 0; i < ADSM_LANE_PROGRAM; i++)
        adsm_lock_init(&lanes->lane[i].lock, ADSM_RANK_STREAM);
    int status = adsm_marks_create(accel);
    if (status != ADSM_OK)
        return status;
    for (uint32_t i = 0; i < ADSM_LANE_PROGRAM; i++) {
        adsm_stream stream = NULL;
        status = accel->ops->stream_create(accel, &stream);
        if (status != ADSM_OK) {
            while (i-- > 0)
                (void)accel->ops->stream_destroy(accel, lanes->lane[i].stream);
            adsm_marks_destroy(accel);
            return status;
        }
        attach(lanes, &lanes->lane[i], (struct key){stream, 0});
    }
    lanes->used = ADSM_LANE_PROGRAM;
    return ADSM_OK;
}

void adsm_lanes_destroy(struct adsm_accel *accel)
{
    struct adsm_lanes *lanes = accel->lanes;
    /* A dead device has nothing left to wait for. */
    (void)adsm_accel_synchronize(accel);
    for (uint32_t i = 0; i < lanes->used; i++) {
        struct adsm_lane *lane = &lanes->lane[i];
        adsm_stream stream = lane->stream;
        adsm_lock_acquire(&lane->lock);
        adsm_lane_unhold(accel, i);
        adsm_lane_all_done(accel, lane, lane->given, lane->notes);
        adsm_lock_release(&lane->lock);
        adsm_lane_detach(accel, lane);
        if (i < ADSM_LANE_PROGRAM)
            (void)accel->ops->stream_destroy(accel, stream);
    }
    adsm_marks_destroy(accel);
}

bool adsm_lanes_are_valid(struct adsm_accel *accel)
{
    struct adsm_lanes *lanes = accel->lanes;
    bool valid = lanes->used <= ADSM_LANES && lanes->settled <= lanes->notes;
    for (uint32_t i = 0; i < lanes->used; i++) {
        struct adsm_lane *lane = &lanes->lane[i];
        adsm_lock_acquire(&lane->lock);
        uint64_t below = lane->done;
        uint64_t held = lane->held;
        valid = valid && lane->recorded <= lane->given &&
                (held == 0 || lane->recorded < held) &&
                lane->done <= lane->given && lane->count <= ADSM_LANE_EVENTS &&
                lane->notes_covered <= lane->notes &&
                lane->notes_done <= lane->notes_covered;
        for (uint32_t k = 0; k < lane->count; k++) {
            const struct adsm_mark *mark =
                lane->marks[(lane->first + k) % ADSM_LANE_EVENTS];
            valid = valid && mark->seq > below && !mark->dropped;
            below = mark->seq;
        }
        adsm_lock_release(&lane->lock);
    }
    return valid;
}
