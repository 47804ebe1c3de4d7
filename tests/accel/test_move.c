/*
 * Moves of random boxes over four devices and the host, against memcpy; what
 * they wait for, and what not.
 */
#include "devices.h"

#include "accel/dma_write.h"
#include "accel/move.h"
#include "accel/peer.h"
#include "accel/stage.h"
#include "base/stats.h"

#include <sys/resource.h>

enum { BYTES = 96 << 10, HOSTS = 2, PLACES = DEVICES + HOSTS, FENCES = 24 };

/* Memory somewhere, what should be there, and who still uses it. */
struct memory {
    struct adsm_place place;
    uint8_t *model;
    struct adsm_fence used[FENCES], written;
    size_t uses;
};

struct world {
    struct adsm_accel *accel[DEVICES];
    struct memory memory[2 * PLACES];
    uint64_t seed;
    size_t moved, refused;
};

static size_t draw(struct world *w, size_t below)
{
    w->seed = w->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (size_t)(w->seed >> 33) % below;
}

static void memory_make(struct memory *m, struct adsm_accel *accel)
{
    *m = (struct memory){.place.accel = accel, .model = host_buffer(BYTES)};
    memset(m->model, 0, BYTES);
    if (!accel) {
        m->place.host = host_buffer(BYTES);
        memset(m->place.host, 0, BYTES);
        return;
    }
    must(accel->ops->memory_alloc(accel, BYTES, &m->place.device));
    must(adsm_dma_set(accel, m->place.device, 0, BYTES, nothing, &m->written,
                      ADSM_CAUSE(trial)));
}

static void world_make(struct world *w)
{
    *w = (struct world){.seed = 11};
    devices_up(w->accel);
    for (int i = 0; i < 2 * PLACES; i++) {
        int device = i % PLACES;
        memory_make(&w->memory[i], device < DEVICES ? w->accel[device] : NULL);
    }
    for (int i = 0; i < 2 * PLACES; i++)
        if (!w->memory[i].place.accel) {
            uint8_t *host = w->memory[i].place.host;
            fill(host, BYTES, (uint32_t)i);
            memcpy(w->memory[i].model, host, BYTES);
        }
}

/* Plain, page-locked for one device, or for others in parts. */
static void pin_some(struct world *w)
{
    for (int i = DEVICES; i < 2 * PLACES; i++) {
        struct memory *m = &w->memory[i];
        if (m->place.accel)
            continue;
        size_t half = BYTES / 2, odd = (size_t)i % 2;
        adsm_pin(w->accel[i % DEVICES], m->place.host,
                 odd ? BYTES : half - 4096);
        adsm_pin(w->accel[(i + 1) % DEVICES], (uint8_t *)m->place.host + half,
                 half);
    }
}

/* Pitches that hold the box, and where it begins in BYTES. */
static size_t lay_out(struct world *w, struct adsm_extent extent,
                      size_t pitch[2])
{
    pitch[0] = extent.bytes + (draw(w, 3) ? draw(w, 200) : 0);
    pitch[1] = extent.rows * pitch[0];
    if (draw(w, 2))
        pitch[1] += pitch[0] * draw(w, 3) + (draw(w, 2) ? draw(w, 50) : 0);
    size_t span = (extent.planes - 1) * pitch[1] +
                  (extent.rows - 1) * pitch[0] + extent.bytes;
    return draw(w, BYTES - span + 1);
}

static struct adsm_extent draw_extent(struct world *w)
{
    struct adsm_extent extent = {1 + draw(w, 300), 1, 1};
    if (draw(w, 4))
        extent.rows = 1 + draw(w, 20);
    if (draw(w, 2))
        extent.planes = 1 + draw(w, 6);
    return extent;
}

static struct adsm_place place_at(const struct memory *m, size_t offset,
                                  const size_t pitch[2])
{
    struct adsm_place place = m->place;
    if (place.accel)
        place.device = adsm_daddr_add(place.device, offset);
    else
        place.host = (uint8_t *)place.host + offset;
    place.pitch[0] = pitch[0];
    place.pitch[1] = pitch[1];
    return place;
}

static void used_by(struct memory *m, struct adsm_fence fence)
{
    if (m->uses == FENCES) {
        while (m->uses > 0)
            must(adsm_fence_wait(m->used[--m->uses]));
    }
    m->used[m->uses++] = fence;
}

static void move_model(uint8_t *to, const size_t to_pitch[2],
                       const uint8_t *from, const size_t from_pitch[2],
                       struct adsm_extent e)
{
    for (size_t p = 0; p < e.planes; p++)
        for (size_t r = 0; r < e.rows; r++)
            memcpy(to + p * to_pitch[1] + r * to_pitch[0],
                   from + p * from_pitch[1] + r * from_pitch[0], e.bytes);
}

/* One random move behind the fences of both memories, and no more. */
static void move_one(struct world *w)
{
    struct memory *to = &w->memory[draw(w, 2 * PLACES)];
    struct memory *from = &w->memory[draw(w, 2 * PLACES)];
    if (to == from || (!to->place.accel && !from->place.accel))
        return;
    struct adsm_extent extent = draw_extent(w);
    size_t pitch[2][2], offset[2];
    offset[0] = lay_out(w, extent, pitch[0]);
    offset[1] = lay_out(w, extent, pitch[1]);
    struct adsm_place there = place_at(to, offset[0], pitch[0]);
    struct adsm_place here = place_at(from, offset[1], pitch[1]);
    struct adsm_fence after[FENCES + 2], done;
    size_t count = 0;
    while (count < to->uses) {
        after[count] = to->used[count];
        count++;
    }
    after[count++] = to->written;
    after[count++] = from->written;
    int status = adsm_move(&there, &here, extent, after, count, false, &done,
                           ADSM_CAUSE(trial));
    if (status == ADSM_E_UNSUPPORTED) {
        ck_assert(!adsm_peer_can(to->place.accel, from->place.accel));
        ck_assert_ptr_null(done.accel);
        w->refused++;
        return;
    }
    must(status);
    move_model(to->model + offset[0], pitch[0], from->model + offset[1],
               pitch[1], extent);
    to->uses = 0;
    to->written = done;
    used_by(from, done);
    w->moved++;
}

static void expect_equal(struct memory *m, int i)
{
    uint8_t *got = m->place.host;
    must(adsm_fence_wait(m->written));
    if (m->place.accel) {
        got = host_buffer(BYTES);
        must(adsm_dma_download(m->place.accel, got, m->place.device, BYTES,
                               m->written, ADSM_CAUSE(trial)));
    }
    for (size_t k = 0; k < BYTES; k++)
        ck_assert_msg(got[k] == m->model[k],
                      "memory %d: byte %zu is %#x, "
                      "not %#x",
                      i, k, got[k], m->model[k]);
    if (m->place.accel)
        free(got);
}

static void expect_world(struct world *w, size_t moves)
{
    for (size_t i = 0; i < moves; i++)
        move_one(w);
    for (int i = 0; i < 2 * PLACES; i++)
        expect_equal(&w->memory[i], i);
    for (int i = 0; i < DEVICES; i++)
        ck_assert(adsm_lanes_are_valid(w->accel[i]));
    ck_assert_uint_gt(w->moved, moves / 2);
}

START_TEST(random_boxes_of_page_locked_memory_arrive)
{
    static struct world w;
    world_make(&w);
    pin_some(&w);
    adsm_stats_reset();
    expect_world(&w, 4000);
    ck_assert_uint_eq(w.refused, 0);
    ck_assert_uint_gt(adsm_stats_get(ADSM_STAT_bytes_up), 0);
    ck_assert_uint_gt(adsm_stats_get(ADSM_STAT_bytes_down), 0);
    ck_assert_uint_gt(adsm_stats_get(ADSM_STAT_bytes_peer),
                      adsm_stats_get(ADSM_STAT_bytes_local));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_device),
                      adsm_stats_get(ADSM_STAT_bytes_peer) +
                          adsm_stats_get(ADSM_STAT_bytes_local));
}
END_TEST

START_TEST(random_boxes_of_plain_memory_arrive)
{
    static struct world w;
    world_make(&w);
    expect_world(&w, 1500);
}
END_TEST

START_TEST(random_boxes_arrive_under_a_small_lock_limit)
{
    struct rlimit limit = {64 << 10, 64 << 10};
    static struct world w;
    ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    world_make(&w);
    pin_some(&w);
    expect_world(&w, 1500);
}
END_TEST

START_TEST(random_boxes_arrive_by_way_of_buffers)
{
    static struct world w;
    world_make(&w);
    for (int i = 0; i < DEVICES; i++)
        atomic_store(&w.accel[i]->stage->used, true);
    expect_world(&w, 1500);
}
END_TEST

START_TEST(random_boxes_arrive_where_the_driver_takes_rows_only)
{
    static struct world w;
    world_make(&w);
    pin_some(&w);
    struct adsm_cuda_api *cu = (struct adsm_cuda_api *)adsm_cuda_api();
    cu->Memcpy3DAsync = NULL;
    cu->Memcpy3DPeerAsync = NULL;
    expect_world(&w, 1500);
    ck_assert_uint_eq(w.refused, 0);
}
END_TEST

START_TEST(without_peers_moves_between_devices_are_unsupported)
{
    static struct world w;
    setenv("SOFTCUDA_PEER", "0", 1);
    world_make(&w);
    adsm_stats_reset();
    expect_world(&w, 1500);
    ck_assert_uint_gt(w.refused, 100);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_peer), 0);
}
END_TEST

/* ---- what is waited for ------------------------------------------------------ */

static struct adsm_place device_place(struct adsm_accel *accel, size_t bytes)
{
    struct adsm_place place = {.accel = accel};
    must(accel->ops->memory_alloc(accel, bytes, &place.device));
    return place;
}

static struct adsm_place pinned_place(struct adsm_accel *accel, size_t bytes)
{
    struct adsm_place place = {.host = host_buffer(bytes)};
    adsm_pin(accel, place.host, bytes);
    return place;
}

static bool is_reached_soon(struct adsm_fence fence)
{
    for (int i = 0; i < 1000 && !adsm_fence_done(fence); i++)
        nap_ms(2);
    return adsm_fence_done(fence);
}

START_TEST(an_upload_behind_fences_ends_while_a_kernel_runs)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_place chunk[2] = {device_place(accel, 4096),
                                  device_place(accel, 4096)};
    struct adsm_place host = pinned_place(accel, 4096);
    adsm_stream stream = adsm_accel_launch_stream(accel);
    struct adsm_fence up[3], kernel;
    struct gate gate;
    must(adsm_move(&chunk[0], &host, adsm_extent_of(4096), NULL, 0, false,
                   &up[0], ADSM_CAUSE(trial)));
    must(adsm_fence_order(accel, stream, up[0]));
    gate_put(accel, stream, &gate);
    adsm_lane_note(accel, stream, false);
    must(adsm_fence_record(accel, stream, &kernel));
    must(adsm_move(&chunk[1], &host, adsm_extent_of(4096), &up[0], 1, false,
                   &up[1], ADSM_CAUSE(trial)));
    ck_assert(is_reached_soon(up[1]));
    ck_assert(!adsm_fence_done(kernel));
    must(adsm_move(&chunk[0], &host, adsm_extent_of(4096), NULL, 0, true,
                   &up[2], ADSM_CAUSE(trial)));
    nap_ms(20);
    ck_assert(!adsm_fence_done(up[2]));
    gate.open = true;
    must(adsm_fence_wait(up[2]));
    ck_assert(adsm_fence_done(kernel));
}
END_TEST

START_TEST(a_noted_move_waits_for_the_lanes_of_both_devices)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    struct adsm_place to = device_place(accel[0], 64);
    struct adsm_place from = device_place(accel[1], 64);
    for (int i = 0; i < 2; i++) {
        adsm_stream stream = adsm_accel_launch_stream(accel[i]);
        struct adsm_fence beside, behind;
        struct gate gate;
        gate_put(accel[i], stream, &gate);
        adsm_lane_note(accel[i], stream, false);
        must(adsm_move(&to, &from, adsm_extent_of(64), NULL, 0, false, &beside,
                       ADSM_CAUSE(trial)));
        ck_assert(is_reached_soon(beside));
        must(adsm_move(&to, &from, adsm_extent_of(64), NULL, 0, true, &behind,
                       ADSM_CAUSE(trial)));
        nap_ms(20);
        ck_assert(!adsm_fence_done(behind));
        gate.open = true;
        must(adsm_fence_wait(behind));
    }
}
END_TEST

START_TEST(a_move_follows_what_the_upload_lane_of_its_source_writes)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    struct adsm_place to = device_place(accel[0], 64);
    struct adsm_place from = device_place(accel[1], 64);
    struct adsm_place host = pinned_place(accel[1], 4096);
    struct adsm_fence written, peer, down;
    struct gate gate;
    gate_put(accel[1], accel[1]->lanes->lane[ADSM_LANE_UPLOAD].stream, &gate);
    must(adsm_dma_set(accel[1], from.device, 5, 64, nothing, &written,
                      ADSM_CAUSE(trial)));
    must(adsm_move(&to, &from, adsm_extent_of(64), NULL, 0, false, &peer,
                   ADSM_CAUSE(trial)));
    must(adsm_move(&host, &from, adsm_extent_of(64), NULL, 0, false, &down,
                   ADSM_CAUSE(trial)));
    nap_ms(20);
    ck_assert(!adsm_fence_done(peer));
    ck_assert(!adsm_fence_done(down));
    gate.open = true;
    must(adsm_fence_wait(down));
    ck_assert_int_eq(((uint8_t *)host.host)[63], 5);
    /* And what a move writes is followed as well. */
    must(adsm_dma_download(accel[0], host.host, to.device, 64, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_int_eq(((uint8_t *)host.host)[0], 5);
}
END_TEST

START_TEST(a_download_waits_for_what_a_move_writes)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    struct adsm_place to = device_place(accel[0], 64);
    struct adsm_place from = device_place(accel[1], 64);
    struct adsm_fence set, kernel, moved;
    adsm_stream stream = adsm_accel_launch_stream(accel[1]);
    struct gate gate;
    uint8_t got[64];
    must(adsm_dma_set(accel[1], from.device, 9, 64, nothing, &set,
                      ADSM_CAUSE(trial)));
    must(adsm_fence_wait(set));
    gate_put(accel[1], stream, &gate);
    must(adsm_fence_record(accel[1], stream, &kernel));
    must(adsm_move(&to, &from, adsm_extent_of(64), &kernel, 1, false, &moved,
                   ADSM_CAUSE(trial)));
    ck_assert_uint_eq(adsm_dma_last_write(accel[0], to.device, 1), moved.seq);
    gate.open = true;
    must(adsm_dma_download(accel[0], got, to.device, 64, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_int_eq(got[63], 9);
}
END_TEST

START_TEST(a_piece_ends_where_another_device_s_registration_does)
{
    enum { KIB = 1 << 10 };
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    /* Inside 2 MiB, where registrations end by themselves. */
    void *at = NULL;
    ck_assert_int_eq(posix_memalign(&at, 256 * KIB, 256 * KIB), 0);
    uint8_t *host = at;
    adsm_pin(accel[1], host, 64 * KIB);
    ck_assert_uint_eq(adsm_pinned_piece(accel[0], host, 256 * KIB), 64 * KIB);
    adsm_pin(accel[0], host + 128 * KIB, 64 * KIB);
    ck_assert_uint_eq(adsm_pinned_piece(accel[0], host, 256 * KIB), 64 * KIB);
    ck_assert_uint_eq(adsm_pinned_piece(accel[0], host + 64 * KIB, 192 * KIB),
                      64 * KIB);
    ck_assert_uint_eq(adsm_pinned_piece(accel[1], host + 128 * KIB, 128 * KIB),
                      64 * KIB);
    adsm_unpin(accel[1], host, 64 * KIB);
    ck_assert_uint_eq(adsm_pinned_piece(accel[0], host, 256 * KIB), 128 * KIB);
}
END_TEST

START_TEST(nothing_and_impossible_moves_are_told)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_place host = pinned_place(accel, 4096);
    struct adsm_place device = device_place(accel, 64);
    struct adsm_place nowhere = {.accel = accel, .device = {4096}};
    struct adsm_fence done;
    must(adsm_move(&device, &host, (struct adsm_extent){9, 0, 9}, NULL, 0, true,
                   &done, ADSM_CAUSE(trial)));
    ck_assert_ptr_null(done.accel);
    ck_assert_int_eq(adsm_move(&host, &host, adsm_extent_of(1), NULL, 0, true,
                               &done, ADSM_CAUSE(trial)),
                     ADSM_E_UNSUPPORTED);
    ck_assert_int_eq(adsm_move(&nowhere, &host, (struct adsm_extent){9, 3, 1},
                               NULL, 0, true, &done, ADSM_CAUSE(trial)),
                     ADSM_E_DEVICE);
    must(adsm_fence_wait(done));
    must(adsm_accel_health(accel));
}
END_TEST

SUITE_MAIN("accel/move", 120, random_boxes_of_page_locked_memory_arrive,
           random_boxes_of_plain_memory_arrive,
           random_boxes_arrive_under_a_small_lock_limit,
           random_boxes_arrive_by_way_of_buffers,
           random_boxes_arrive_where_the_driver_takes_rows_only,
           without_peers_moves_between_devices_are_unsupported,
           an_upload_behind_fences_ends_while_a_kernel_runs,
           a_noted_move_waits_for_the_lanes_of_both_devices,
           a_move_follows_what_the_upload_lane_of_its_source_writes,
           a_download_waits_for_what_a_move_writes,
           a_piece_ends_where_another_device_s_registration_does,
           nothing_and_impossible_moves_are_told)
