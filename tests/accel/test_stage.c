/*
 * Copies by way of buffers: bytes of every size arrive, buffers are used
 * again, threads do not meet in one.
 */
#include "fixture.h"

#include "accel/stage.h"

enum { MIB = 1 << 20, ROOM = ADSM_STAGE_BYTES };

static struct adsm_span span_of(struct adsm_accel *accel, size_t bytes)
{
    struct adsm_span span;
    must(adsm_address_alloc(accel, bytes, false, &span));
    return span;
}

static int buffers(const struct adsm_accel *accel, uint32_t lane)
{
    const struct adsm_stage_buffer *const *at =
        (void *)&accel->stage->queue[lane].oldest;
    int n = 0;
    /* The link to the next one comes first in each. */
    for (; *at; at = (void *)*at)
        n++;
    return n;
}

/* Up on one lane and down on another, each waited for. */
static void round_trip(struct adsm_accel *accel, struct adsm_span span,
                       uint32_t up, uint32_t down, size_t bytes)
{
    uint8_t *from = host_buffer(bytes), *to = host_buffer(bytes);
    fill(from, bytes, (uint32_t)bytes);
    must(adsm_stage_up(accel, up, span.device, from, bytes));
    memset(from, 0, bytes);
    must(adsm_fence_wait((struct adsm_fence){
        accel, up, atomic_load(&accel->lanes->lane[up].given)}));
    must(adsm_stage_down(accel, down, to, span.device, bytes));
    ck_assert_uint_eq(first_wrong(to, bytes, (uint32_t)bytes), bytes);
    free(from);
    free(to);
}

START_TEST(all_sizes_arrive_on_all_copy_lanes)
{
    static const size_t sizes[] = {1, 4095, ROOM - 16, ROOM, ROOM + 1, 3 * MIB};
    struct adsm_accel *accel = accel_up();
    struct adsm_span span = span_of(accel, 3 * MIB);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        round_trip(accel, span, ADSM_LANE_UPLOAD, ADSM_LANE_DOWNLOAD, sizes[i]);
        round_trip(accel, span, ADSM_LANE_ASIDE, ADSM_LANE_ASIDE, sizes[i]);
    }
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(buffers_are_used_again)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span = span_of(accel, 4 * MIB);
    for (int i = 0; i < 50; i++)
        round_trip(accel, span, ADSM_LANE_UPLOAD, ADSM_LANE_DOWNLOAD, 4 * MIB);
    ck_assert_int_ge(buffers(accel, ADSM_LANE_UPLOAD), 1);
    ck_assert_int_le(buffers(accel, ADSM_LANE_UPLOAD), 17);
    ck_assert_int_eq(buffers(accel, ADSM_LANE_DOWNLOAD), 1);
    adsm_stage_clear(accel);
    ck_assert_int_eq(buffers(accel, ADSM_LANE_UPLOAD), 0);
    round_trip(accel, span, ADSM_LANE_UPLOAD, ADSM_LANE_DOWNLOAD, MIB);
}
END_TEST

START_TEST(refused_copy_stays_refused)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_daddr nowhere = {4096};
    struct adsm_fence done;
    uint8_t *host = host_buffer(4096);
    ck_assert_int_eq(
        adsm_stage_up(accel, ADSM_LANE_UPLOAD, nowhere, host, 4096),
        ADSM_E_DEVICE);
    ck_assert_int_eq(adsm_dma_upload(accel, nowhere, host, 4096, nothing, &done,
                                     ADSM_CAUSE(trial)),
                     ADSM_E_DEVICE);
    ck_assert_int_eq(adsm_dma_download(accel, host, nowhere, 4096, nothing,
                                       ADSM_CAUSE(trial)),
                     ADSM_E_DEVICE);
    ck_assert_ptr_nonnull(
        strstr(adsm_accel_error_text(), "CUDA_ERROR_INVALID_VALUE"));
    ck_assert(!atomic_load(&accel->stage->used));
    ck_assert_int_eq(adsm_accel_health(accel), ADSM_OK);
    must(adsm_dma_drain(accel));
    free(host);
}
END_TEST

struct mover {
    struct adsm_accel *accel;
    struct adsm_span span;
    pthread_t thread;
};

static void *mover_body(void *arg)
{
    struct mover *m = arg;
    for (size_t i = 1; i < 40; i++)
        round_trip(m->accel, m->span, ADSM_LANE_UPLOAD, ADSM_LANE_DOWNLOAD,
                   i * 15013);
    return NULL;
}

START_TEST(threads_move_their_own_bytes)
{
    struct adsm_accel *accel = accel_up();
    struct mover mover[4];
    for (int i = 0; i < 4; i++) {
        mover[i] = (struct mover){accel, span_of(accel, MIB), 0};
        pthread_create(&mover[i].thread, NULL, mover_body, &mover[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(mover[i].thread, NULL);
}
END_TEST

SUITE_MAIN("accel/stage", 60, all_sizes_arrive_on_all_copy_lanes,
           buffers_are_used_again, refused_copy_stays_refused,
           threads_move_their_own_bytes)
