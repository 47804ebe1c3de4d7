/*
 * Fences of several devices: they order streams of each other without the CPU,
 * and outlive their device.
 */
#include "devices.h"

/* `to`, of accel b, waits for what `from`, of accel a, has been given. */
static void expect_ordered(struct adsm_accel *a, adsm_stream from,
                           struct adsm_accel *b, adsm_stream to)
{
    struct adsm_fence first, second;
    struct gate gate;
    gate_put(a, from, &gate);
    must(adsm_fence_record(a, from, &first));
    must(adsm_fence_order(b, to, first));
    must(adsm_fence_record(b, to, &second));
    ck_assert_ptr_eq(first.accel, a);
    ck_assert_ptr_eq(second.accel, b);
    nap_ms(20);
    ck_assert(!adsm_fence_done(first));
    ck_assert(!adsm_fence_done(second));
    gate.open = true;
    must(adsm_fence_wait(second));
    ck_assert(adsm_fence_done(first));
}

START_TEST(a_stream_waits_for_a_fence_of_another_device)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    for (int i = 0; i < DEVICES; i++) {
        int k = (i + 1) % DEVICES;
        expect_ordered(accel[i], new_stream(accel[i]), accel[k],
                       new_stream(accel[k]));
    }
}
END_TEST

START_TEST(default_streams_of_two_devices_are_not_one)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    expect_ordered(accel[0], NULL, accel[1], NULL);
}
END_TEST

START_TEST(an_upload_waits_for_a_fence_of_another_device)
{
    struct adsm_accel *accel[DEVICES];
    struct adsm_fence kernel, done;
    struct adsm_span span;
    struct gate gate;
    devices_up(accel);
    uint8_t *page = host_buffer(4096);
    adsm_pin(accel[1], page, 4096); /* else the copy may block */
    must(adsm_address_alloc(accel[1], 64, false, &span));
    adsm_stream stream = adsm_accel_launch_stream(accel[0]);
    gate_put(accel[0], stream, &gate);
    must(adsm_fence_record(accel[0], stream, &kernel));
    must(adsm_dma_upload(accel[1], span.device, page, 1, kernel, &done,
                         ADSM_CAUSE(trial)));
    nap_ms(20);
    ck_assert(!adsm_fence_done(done));
    gate.open = true;
    must(adsm_fence_wait(done));
    ck_assert(adsm_fence_done(kernel));
}
END_TEST

START_TEST(fences_of_a_forgotten_device_are_reached)
{
    struct adsm_accel *accel[DEVICES];
    struct adsm_fence fence;
    devices_up(accel);
    adsm_stream stream = adsm_accel_launch_stream(accel[2]);
    must(adsm_fence_record(accel[2], stream, &fence));
    adsm_accel_forget(accel[2]);
    ck_assert(adsm_fence_done(fence));
    must(adsm_fence_wait(fence));
    must(adsm_fence_order(accel[0], adsm_accel_launch_stream(accel[0]), fence));
}
END_TEST

/* The driver's table but for one entry, which refuses so often. */
static struct adsm_accel_ops scarce;
static int refusals;

static int refuse_event(struct adsm_accel *accel, adsm_device_event event,
                        adsm_stream stream)
{
    return refusals > 0 && refusals-- > 0
               ? ADSM_E_DEVICE_NOMEM
               : adsm_cuda_ops.event_record(accel, event, stream);
}

/* Work that was submitted is waited for, also where no event could be had. */
START_TEST(fence_without_memory_for_its_event_is_waited_for)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    scarce = *accel[0]->ops;
    scarce.event_record = refuse_event;
    accel[0]->ops = &scarce;
    for (int more = 1; more < 3; more++) { /* also in vain for who waits */
        struct adsm_fence fence;
        struct gate gate;
        adsm_stream stream = new_stream(accel[0]);
        gate_put(accel[0], stream, &gate);
        refusals = more;
        must(adsm_fence_record(accel[0], stream, &fence));
        ck_assert_ptr_eq(fence.accel, accel[0]);
        ck_assert(!adsm_fence_done(fence));
        gate.open = true;
        must(adsm_fence_wait(fence));
        ck_assert(adsm_fence_done(fence));
        ck_assert_int_eq(refusals, 0);
    }
    accel[0]->ops = &adsm_cuda_ops;
}
END_TEST

SUITE_MAIN("accel/fence", 60, a_stream_waits_for_a_fence_of_another_device,
           default_streams_of_two_devices_are_not_one,
           an_upload_waits_for_a_fence_of_another_device,
           fences_of_a_forgotten_device_are_reached,
           fence_without_memory_for_its_event_is_waited_for)
