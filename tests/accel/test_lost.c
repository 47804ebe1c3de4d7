/*
 * The device dies under a running program: a status from every call, soon, and
 * no thread that waits for ever.
 */
#include "fixture.h"

#include "accel/cuda/call.h"
#include "common/kill_device.h"

enum { MIB = 1 << 20 };

static void kill_devices(void)
{
    ck_assert_int_gt(kill_device(ANY_DEVICE), 0);
}

static void expect_lost(int status)
{
    ck_assert_msg(status == ADSM_E_DEVICE_LOST, "%s: %s",
                  adsm_status_name(status), adsm_accel_error_text());
}

START_TEST(every_call_after_the_death_says_lost)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span, another;
    struct adsm_fence done;
    uint8_t *host = host_buffer(4096);
    must(adsm_address_alloc(accel, 4096, false, &span));
    must(adsm_dma_upload(accel, span.device, host, 4096, nothing, &done,
                         ADSM_CAUSE(trial)));
    must(adsm_dma_drain(accel));
    kill_devices();
    nap_ms(100);
    uint64_t start = adsm_now_ns();
    expect_lost(adsm_dma_download(accel, host, span.device, 4096, nothing,
                                  ADSM_CAUSE(trial)));
    expect_lost(adsm_accel_health(accel));
    expect_lost(adsm_dma_upload(accel, span.device, host, 4096, nothing, &done,
                                ADSM_CAUSE(trial)));
    expect_lost(adsm_dma_set(accel, span.device, 0, 16, nothing, &done,
                             ADSM_CAUSE(trial)));
    expect_lost(adsm_address_alloc(accel, 4096, false, &another));
    expect_lost(adsm_address_alloc(accel, 4096, true, &another));
    expect_lost(
        adsm_fence_record(accel, adsm_accel_launch_stream(accel), &done));
    expect_lost(adsm_accel_synchronize(accel));
    adsm_lane_note(accel, NULL, false);
    expect_lost(adsm_lane_wait_noted(accel));
    expect_lost(adsm_address_free(accel, &span));
    adsm_pin(accel, host, 4096);
    adsm_unpin(accel, host, 4096);
    adsm_lane_retire(accel, NULL);
    ck_assert_uint_lt(adsm_now_ns() - start, UINT64_C(5000000000));
    adsm_accel_forget(accel);
}
END_TEST

struct victim {
    struct adsm_accel *accel;
    int status;
    pthread_t thread;
};

static void *drain_body(void *arg)
{
    struct victim *victim = arg;
    victim->status = adsm_dma_drain(victim->accel);
    return NULL;
}

START_TEST(threads_that_wait_come_back)
{
    setenv("SOFTCUDA_LINK", "10MB/s", 1);
    struct adsm_accel *accel = accel_up();
    struct adsm_span span;
    struct adsm_fence done;
    uint8_t *host = host_buffer(64 * MIB);
    struct victim victim[3];
    must(adsm_address_alloc(accel, 64 * MIB, false, &span));
    adsm_pin(accel, host, 64 * MIB);
    must(adsm_dma_upload(accel, span.device, host, 64 * MIB, nothing, &done,
                         ADSM_CAUSE(trial)));
    for (int i = 0; i < 3; i++) {
        victim[i] = (struct victim){.accel = accel};
        pthread_create(&victim[i].thread, NULL, drain_body, &victim[i]);
    }
    nap_ms(100);
    kill_devices();
    for (int i = 0; i < 3; i++) {
        pthread_join(victim[i].thread, NULL);
        expect_lost(victim[i].status);
    }
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(pending_fences_count_as_reached)
{
    setenv("SOFTCUDA_LINK", "10MB/s", 1);
    struct adsm_accel *accel = accel_up();
    struct adsm_span span;
    struct adsm_fence done;
    uint8_t *host = host_buffer(64 * MIB);
    must(adsm_address_alloc(accel, 64 * MIB, false, &span));
    adsm_pin(accel, host, 64 * MIB);
    must(adsm_dma_upload(accel, span.device, host, 64 * MIB, nothing, &done,
                         ADSM_CAUSE(trial)));
    ck_assert(!adsm_fence_done(done));
    kill_devices();
    for (int i = 0; i < 500 && !adsm_fence_done(done); i++)
        nap_ms(10);
    ck_assert(adsm_fence_done(done)); /* nobody polls for ever */
    expect_lost(adsm_fence_wait(done));
}
END_TEST

START_TEST(bad_kernel_kills_its_context_only)
{
    static const char text[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                               ".visible .entry wild() {\n"
                               ".reg .b32 %r<2>; .reg .b64 %d<2>;\n"
                               "mov.u64 %d1, 4096; mov.u32 %r1, 1;\n"
                               "st.global.u32 [%d1], %r1; ret;\n}\n";
    struct adsm_accel *accel = accel_up(), *other = NULL;
    void *module, *kernel;
    struct adsm_fence fence;
    new_context();
    must(adsm_accel_of_current(&other));
    must(adsm_accel_module_load(other, text, sizeof text - 1, &module));
    must(adsm_accel_kernel_get(other, module, "wild", &kernel));
    adsm_stream stream = adsm_accel_launch_stream(other);
    must(adsm_accel_launch(other, &(struct adsm_launch){.kernel = kernel,
                                                        .grid = {1, 1, 1},
                                                        .block = {1, 1, 1},
                                                        .stream = stream}));
    int status = adsm_fence_record(other, stream, &fence);
    if (status == ADSM_OK)
        status = adsm_fence_wait(fence);
    ck_assert_int_eq(status, ADSM_E_DEVICE);
    ck_assert_int_eq(adsm_accel_health(other), ADSM_E_DEVICE);
    ck_assert_int_eq(adsm_accel_synchronize(other), ADSM_E_DEVICE);
    must(adsm_accel_synchronize(accel));
    ck_assert_int_eq(adsm_accel_health(accel), ADSM_OK);
}
END_TEST

/* Of these the documentation says that any further work gives the same error
 * and the process must be ended. */
START_TEST(results_that_end_the_process_are_sticky)
{
    static const int results[] = {226, 700, 702, 710, 714, 715,
                                  716, 717, 718, 719, 721, 810};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        struct adsm_accel *accel = accel_up();
        int status = adsm_cuda_judge(accel, "LaunchKernel", results[i]);
        ck_assert_int_ne(status, ADSM_OK);
        ck_assert_msg(adsm_accel_health(accel) == status, "%d", results[i]);
        /* The context lives: it was only said so. */
        atomic_store(&accel->health, ADSM_OK);
    }
}
END_TEST

/* Here and not with the lanes, whose suite runs on GPUs: NVIDIA's driver ends
 * the process when it is given a stream that is gone. */
START_TEST(stream_destroyed_behind_our_back_costs_a_full_wait)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    adsm_lane_note(accel, stream, false);
    must(accel->ops->stream_destroy(accel, stream));
    must(adsm_lane_wait_noted(accel));
    ck_assert_uint_eq(accel->lanes->settled, accel->lanes->notes);
    ck_assert_int_eq(adsm_accel_health(accel), ADSM_OK);
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

SUITE_MAIN("accel/lost", 60, every_call_after_the_death_says_lost,
           stream_destroyed_behind_our_back_costs_a_full_wait,
           threads_that_wait_come_back, pending_fences_count_as_reached,
           bad_kernel_kills_its_context_only,
           results_that_end_the_process_are_sticky)
