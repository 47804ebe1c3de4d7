/*
 * Whoever sees the device's bytes has the log of gathered stores sent first. It
 * stays as it is otherwise.
 */
#include "poked.h"

#include "accel/early.h"
#include "accel/move.h"

static struct adsm_fence held;
static adsm_stream stream;

static void by_download(void)
{
    must(adsm_dma_download(accel, down, span.device, ROOM, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_int_eq(memcmp(down, model, ROOM), 0);
}

static void by_upload(void)
{
    struct adsm_fence done;
    memset(down, 77, 16);
    memset(model + 96, 77, 16);
    must(adsm_dma_upload(accel, at(96), down, 16, nothing, &done,
                         ADSM_CAUSE(trial)));
    must(adsm_fence_wait(done));
}

static void by_set(void)
{
    struct adsm_fence done;
    memset(model + 96, 78, 16);
    must(
        adsm_dma_set(accel, at(96), 78, 16, nothing, &done, ADSM_CAUSE(trial)));
    must(adsm_fence_wait(done));
}

static void by_move(void)
{
    struct adsm_place to = {.accel = accel, .device = at(4096)};
    struct adsm_place from = {.accel = accel, .device = at(96)};
    struct adsm_fence done;
    memcpy(model + 4096, model + 96, 512);
    must(adsm_move(&to, &from, adsm_extent_of(512), NULL, 0, false, &done,
                   ADSM_CAUSE(trial)));
    must(adsm_fence_wait(done));
}

static void by_move_from_host(void)
{
    struct adsm_place to = {.accel = accel, .device = at(96)};
    struct adsm_place from = {.host = down};
    struct adsm_fence done;
    memset(down, 79, 16);
    memset(model + 96, 79, 16);
    must(adsm_move(&to, &from, adsm_extent_of(16), NULL, 0, false, &done,
                   ADSM_CAUSE(trial)));
    must(adsm_fence_wait(done));
}

static void by_move_to_host(void)
{
    struct adsm_place to = {.host = down};
    struct adsm_place from = {.accel = accel, .device = at(96)};
    struct adsm_fence done;
    must(adsm_move(&to, &from, adsm_extent_of(512), NULL, 0, false, &done,
                   ADSM_CAUSE(trial)));
    must(adsm_fence_wait(done));
    ck_assert_int_eq(memcmp(down, model + 96, 512), 0);
}

static void by_stream(void)
{
    must(adsm_dma_order_uploads(accel, stream));
    memcpy(model + 4096, model + 96, 512);
    must(adsm_cuda_ops.copy_device(accel, stream, at(4096), at(96), 512));
}

static void by_fence_of_stream(void)
{
    must(adsm_fence_order(accel, stream, held));
    memcpy(model + 4096, model + 96, 512);
    must(adsm_cuda_ops.copy_device(accel, stream, at(4096), at(96), 512));
}

static void by_wait(void)
{
    must(adsm_fence_wait(held));
}

static void by_question(void)
{
    while (!adsm_fence_done(held))
        nap_ms(1);
}

static void by_mark(void)
{
    adsm_fence_mark(held);
}

static void by_number(void)
{
    must(adsm_dma_await_upload(accel, held.seq));
}

static void by_synchronize(void)
{
    must(adsm_accel_synchronize(accel));
    ck_assert(adsm_fence_done(held));
}

static void by_idle(void)
{
    while (!adsm_lanes_are_idle(accel))
        nap_ms(1);
}

static void by_early(void)
{
    adsm_early_send(accel, at(96), 4096, nothing, ADSM_CAUSE(trial));
    ck_assert(adsm_early_take(accel, down, at(96), 4096, nothing));
    ck_assert_int_eq(memcmp(down, model + 96, 4096), 0);
}

static void by_aside(void)
{
    must(adsm_dma_download_aside(accel, down, at(96), 512, held.seq,
                                 ADSM_CAUSE(trial)));
    ck_assert_int_eq(memcmp(down, model + 96, 512), 0);
}

static void by_all(void)
{
    adsm_poke_submit_all();
}

static void by_order_behind(void)
{
    struct adsm_fence done;
    must(adsm_dma_order_behind(accel, NULL, 0, &done));
}

static const struct {
    const char *name;
    void (*look)(void);
} observers[] = {
    {"download", by_download},
    {"upload", by_upload},
    {"set", by_set},
    {"move", by_move},
    {"move to host", by_move_to_host},
    {"move from host", by_move_from_host},
    {"stream", by_stream},
    {"fence", by_fence_of_stream},
    {"wait", by_wait},
    {"question", by_question},
    {"mark", by_mark},
    {"number", by_number},
    {"synchronize", by_synchronize},
    {"idle", by_idle},
    {"early", by_early},
    {"aside", by_aside},
    {"all", by_all},
    {"order behind", by_order_behind},
};

enum { OBSERVERS = sizeof observers / sizeof *observers };

START_TEST(whoever_looks_has_the_log_sent_first)
{
    begin();
    stream = new_stream(accel);
    for (int i = 0; i < OBSERVERS; i++) {
        launches = 0;
        poke_byte(100, (uint8_t)(i + 1));
        held = poke_byte(500, (uint8_t)(i + 2));
        ck_assert(is_held());
        observers[i].look();
        ck_assert_msg(!is_held() && launches == 1, "%s", observers[i].name);
        must_be_there(0, ROOM);
    }
    must_end();
}
END_TEST

SUITE_MAIN("accel/poke_seen", 120, whoever_looks_has_the_log_sent_first)
