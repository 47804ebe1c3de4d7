/*
 * Entries of the back end's table: boxes, copies between devices, times, calls
 * of the host; and what a driver that lacks them makes of it.
 */
#include "devices.h"

#include "accel/peer.h"

enum { BYTES = 24, ROWS = 5, PLANES = 3, ALL = 4096 };

static struct adsm_daddr device_buffer(struct adsm_accel *accel)
{
    struct adsm_daddr at;
    must(accel->ops->memory_alloc(accel, ALL, &at));
    return at;
}

static void settle(struct adsm_accel *accel)
{
    must(accel->ops->context_wait(accel));
}

/* Between a box with gaps and one with other gaps. */
static const struct adsm_rect rect = {
    BYTES, ROWS, PLANES, {32, 32 * 6}, {40, 40 * 7}};

static void expect_box(const uint8_t *to, const uint8_t *from)
{
    for (size_t i = 0; i < ALL; i++) {
        size_t plane = i / rect.to_pitch[1];
        size_t row = i % rect.to_pitch[1] / rect.to_pitch[0];
        size_t byte = i % rect.to_pitch[0];
        bool in = plane < PLANES && row < ROWS && byte < BYTES;
        uint8_t want = in ? from[plane * rect.from_pitch[1] +
                                 row * rect.from_pitch[0] + byte]
                          : 0;
        ck_assert_msg(to[i] == want, "byte %zu is %#x, not %#x", i, to[i],
                      want);
    }
}

START_TEST(boxes_go_up_down_and_across)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    struct adsm_accel *a = accel[0], *b = accel[3];
    const struct adsm_accel_ops *ops = a->ops;
    struct adsm_daddr one = device_buffer(a), two = device_buffer(a),
                      far = device_buffer(b);
    uint8_t *host = host_buffer(ALL), *got = host_buffer(ALL);
    adsm_stream stream = new_stream(a), theirs = new_stream(b);
    fill(host, ALL, 5);
    must(ops->set_device(a, stream, one, 0, ALL));
    must(ops->copy_up_rect(a, stream, one, host, &rect));
    must(ops->copy_down(a, stream, got, one, ALL));
    settle(a);
    expect_box(got, host);
    must(ops->copy_up(a, stream, one, host, ALL));
    must(ops->set_device(a, stream, two, 0, ALL));
    must(ops->copy_device_rect(a, stream, two, one, &rect));
    must(ops->copy_down(a, stream, got, two, ALL));
    settle(a);
    expect_box(got, host);
    memset(got, 0, ALL);
    must(ops->copy_down_rect(a, stream, got, one, &rect));
    settle(a);
    expect_box(got, host);
    must(ops->set_device(b, theirs, far, 0, ALL));
    must(ops->copy_peer_rect(b, theirs, far, a, one, &rect));
    must(ops->copy_down(b, theirs, got, far, ALL));
    settle(b);
    expect_box(got, host);
    must(ops->copy_peer(b, theirs, far, a, one, ALL));
    must(ops->copy_down(b, theirs, got, far, ALL));
    settle(b);
    ck_assert_uint_eq(first_wrong(got, ALL, 5), ALL);
}
END_TEST

START_TEST(timed_events_tell_how_long_a_stream_took)
{
    struct adsm_accel *accel = accel_up();
    const struct adsm_accel_ops *ops = accel->ops;
    adsm_device_event begin, end;
    adsm_stream stream = new_stream(accel);
    struct gate gate;
    uint64_t ns = 0;
    must(ops->event_create_timed(accel, &begin));
    must(ops->event_create_timed(accel, &end));
    must(ops->event_record(accel, begin, stream));
    must(ops->event_wait(accel, begin, 0));
    uint64_t start = adsm_now_ns();
    gate_put(accel, stream, &gate);
    nap_ms(30);
    uint64_t least = adsm_now_ns() - start;
    gate.open = true;
    must(ops->event_record(accel, end, stream));
    must(ops->event_wait(accel, end, 0));
    must(ops->event_elapsed(accel, begin, end, &ns));
    ck_assert_uint_ge(ns, least - 1000000);
    must(ops->event_destroy(accel, begin));
    must(ops->event_destroy(accel, end));
}
END_TEST

static void note_call(void *arg)
{
    *(atomic_bool *)arg = true;
}

START_TEST(the_host_is_called_in_stream_order)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    atomic_bool called = false;
    struct gate gate;
    gate_put(accel, stream, &gate);
    must(accel->ops->host_call(accel, stream, note_call, &called));
    nap_ms(20);
    ck_assert(!called);
    gate.open = true;
    settle(accel);
    ck_assert(called);
}
END_TEST

START_TEST(devices_are_asked_once_whether_they_reach_each_other)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    struct adsm_cuda_api *cu = (struct adsm_cuda_api *)adsm_cuda_api();
    ck_assert(adsm_peer_can(accel[0], accel[1]));
    ck_assert(adsm_peer_can(accel[2], accel[2]));
    cu->DeviceCanAccessPeer = NULL;
    ck_assert(adsm_peer_can(accel[0], accel[1]));
    ck_assert(!adsm_peer_can(accel[1], accel[0]));
    adsm_peer_forbid(true);
    ck_assert(!adsm_peer_can(accel[0], accel[1]));
    ck_assert(adsm_peer_can(accel[2], accel[2]));
}
END_TEST

START_TEST(devices_without_peers_do_not_reach_each_other)
{
    struct adsm_accel *accel[DEVICES];
    setenv("SOFTCUDA_PEER", "0", 1);
    devices_up(accel);
    ck_assert(!adsm_peer_can(accel[0], accel[1]));
    ck_assert(adsm_peer_can(accel[1], accel[1]));
}
END_TEST

START_TEST(what_the_driver_lacks_is_unsupported)
{
    struct adsm_accel *accel = accel_up();
    const struct adsm_accel_ops *ops = accel->ops;
    struct adsm_cuda_api *cu = (struct adsm_cuda_api *)adsm_cuda_api();
    struct adsm_daddr at = device_buffer(accel);
    adsm_stream stream = new_stream(accel);
    uint64_t ns;
    cu->Memcpy3DAsync = NULL;
    cu->Memcpy3DPeerAsync = NULL;
    cu->MemcpyPeerAsync = NULL;
    cu->EventElapsedTime = NULL;
    cu->LaunchHostFunc = NULL;
    int status[] = {
        ops->copy_up_rect(accel, stream, at, &ns, &rect),
        ops->copy_device_rect(accel, stream, at, at, &rect),
        ops->copy_peer(accel, stream, at, accel, at, 1),
        ops->copy_peer_rect(accel, stream, at, accel, at, &rect),
        ops->event_elapsed(accel, NULL, NULL, &ns),
        ops->host_call(accel, stream, note_call, NULL),
    };
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        ck_assert_int_eq(status[i], ADSM_E_UNSUPPORTED);
    must(adsm_accel_health(accel));
}
END_TEST

SUITE_MAIN("accel/ops", 60, boxes_go_up_down_and_across,
           timed_events_tell_how_long_a_stream_took,
           the_host_is_called_in_stream_order,
           devices_are_asked_once_whether_they_reach_each_other,
           devices_without_peers_do_not_reach_each_other,
           what_the_driver_lacks_is_unsupported)
