/* Rates of copies; see rate.h. */
#include "accel/rate.h"

#include "accel/device.h"
#include "accel/lane.h"
#include "accel/pinned.h"
#include "accel/timer.h"
#include "base/stats.h"
#include "os/arena.h"

enum {
    BYTES = 512 << 10,         /* at most copied at once */
    LEAST = 16 << 10,          /* at least */
    LONG_NS = 2 * 1000 * 1000, /* what takes so long is large enough */
    PIECES = 16,
    TURNS = 9, /* at most, until two agree: others use the link too */
};

/* Memory of both sides, and which way. */
struct pair {
    struct adsm_accel *accel;
    struct adsm_arena_range host;
    struct adsm_daddr device;
    bool up;
};

static int copy(const struct pair *pair, adsm_stream stream, size_t at,
                size_t bytes)
{
    struct adsm_accel *accel = pair->accel;
    uint8_t *host = pair->host.shadow + at;
    struct adsm_daddr device = adsm_daddr_add(pair->device, at);
    return pair->up ? accel->ops->copy_up(accel, stream, device, host, bytes)
                    : accel->ops->copy_down(accel, stream, host, device, bytes);
}

/* Nanoseconds for `bytes` in so many copies; 0: not known. */
static uint64_t time_once(const struct pair *pair, size_t bytes, int pieces)
{
    struct adsm_accel *accel = pair->accel;
    adsm_stream stream = accel->lanes->lane[ADSM_LANE_ASIDE].stream;
    struct adsm_timer *timer = adsm_timer_begin(accel, stream);
    size_t piece = bytes / (size_t)pieces; /* both are powers of two */
    uint64_t ns = 0;
    int status = timer ? ADSM_OK : ADSM_E_UNSUPPORTED;
    for (int i = 0; i < pieces && status == ADSM_OK; i++)
        status = copy(pair, stream, (size_t)i * piece, piece);
    if (pair->up)
        ADSM_COUNT(bytes_tried_up, bytes);
    else
        ADSM_COUNT(bytes_tried_down, bytes);
    if (timer && !adsm_timer_end(timer, stream))
        timer = NULL;
    struct adsm_fence done = {accel, ADSM_LANE_ASIDE,
                              adsm_lane_tick(accel, ADSM_LANE_ASIDE)};
    int waited = adsm_fence_wait(done);
    if (timer && !adsm_timer_take(timer, accel, &ns))
        adsm_timer_drop(timer);
    return status == ADSM_OK && waited == ADSM_OK ? ns : 0;
}

/* The fastest, which another one as fast bears out where that can be had. */
static uint64_t time_of(const struct pair *pair, size_t bytes, int pieces)
{
    uint64_t least = 0, next = 0;
    for (int i = 0; i < TURNS; i++) {
        uint64_t ns = time_once(pair, bytes, pieces);
        if (ns == 0)
            continue;
        if (least == 0 || ns < least) {
            next = least;
            least = ns;
        } else if (next == 0 || ns < next) {
            next = ns;
        }
        if (next > 0 && next - least <= least / 50)
            break;
    }
    return least;
}

static bool measure(const struct pair *pair, struct adsm_rate *rate)
{
    size_t bytes = LEAST;
    uint64_t whole = time_once(pair, bytes, 1);
    while (whole > 0 && whole < LONG_NS && bytes < BYTES)
        whole = time_once(pair, bytes *= 2, 1);
    whole = time_of(pair, bytes, 1);
    uint64_t pieces = time_of(pair, bytes, PIECES);
    if (whole == 0 || pieces == 0)
        return false;
    rate->byte_ns = (double)whole / (double)bytes;
    rate->copy_ns =
        pieces > whole ? (double)(pieces - whole) / (PIECES - 1) : 0;
    return true;
}

static bool measure_both(struct adsm_accel *accel)
{
    struct pair pair = {.accel = accel};
    bool known = false;
    if (adsm_arena_alloc(&pair.host, BYTES) != ADSM_OK)
        return false;
    if (adsm_arena_commit(&pair.host, 0, BYTES) == ADSM_OK &&
        accel->ops->memory_alloc(accel, BYTES, &pair.device) == ADSM_OK) {
        adsm_pin(accel, pair.host.shadow, BYTES);
        pair.up = true;
        known = measure(&pair, &accel->rates->up);
        pair.up = false;
        known = known && measure(&pair, &accel->rates->down);
        adsm_unpin(accel, pair.host.shadow, BYTES);
        /* Fails only where the context is dead, and the memory with it. */
        (void)accel->ops->memory_free(accel, pair.device);
    }
    adsm_arena_free(&pair.host);
    return known;
}

bool adsm_rates_get(struct adsm_accel *accel, struct adsm_rate *up,
                    struct adsm_rate *down)
{
    struct adsm_rates *rates = accel->rates;
    int state = ADSM_RATE_ASK;
    if (atomic_compare_exchange_strong_explicit(
            &rates->state, &state, ADSM_RATE_BUSY, memory_order_acquire,
            memory_order_acquire)) {
        state = measure_both(accel) ? ADSM_RATE_KNOWN : ADSM_RATE_NEVER;
        /* Release: pairs with the acquire of who reads the rates. */
        atomic_store_explicit(&rates->state, state, memory_order_release);
    }
    if (state != ADSM_RATE_KNOWN)
        return false;
    *up = rates->up;
    *down = rates->down;
    return true;
}
