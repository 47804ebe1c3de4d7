/*
 * Address strategies: what each promises, forced and chosen; many spans;
 * a full device.
 */
#include "fixture.h"

#include "os/vm.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { MIB = 1 << 20, SPAN = 2 * MIB, PAGE = 4096 };

static struct adsm_accel *accel_with(const char *address)
{
    setenv("ADSM_ADDRESS", address, 1);
    return accel_up();
}

/* What address.h promises of every span. */
static void check_span(const struct adsm_span *span, size_t asked,
                       enum adsm_strategy strategy)
{
    uintptr_t host = (uintptr_t)span->host;
    ck_assert_int_eq(span->strategy, strategy);
    ck_assert_uint_eq(host % PAGE, 0);
    ck_assert_uint_eq(span->bytes % PAGE, 0);
    ck_assert_uint_ge(span->bytes, asked);
    ck_assert_uint_lt(span->bytes, asked + PAGE);
    ck_assert(adsm_vm_is_placeholder(host, span->bytes));
    if (strategy != ADSM_TRANSLATE)
        ck_assert_uint_eq(span->device.at, host);
}

/* Host pages over the span do not meet the device's memory, and the transfers
 * between both work; then the placeholder comes back and the span goes. */
static void use_and_free(struct adsm_accel *accel, struct adsm_span *span)
{
    size_t bytes = span->bytes;
    struct adsm_fence done;
    uint8_t *shadow = host_buffer(bytes);
    void *host = mmap(span->host, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ck_assert_ptr_eq(host, span->host);
    fill(shadow, bytes, 1);
    must(adsm_dma_upload(accel, span->device, shadow, bytes, nothing, &done,
                         ADSM_CAUSE(trial)));
    memset(host, 0xee, bytes);
    memset(shadow, 0, bytes);
    must(adsm_dma_download(accel, shadow, span->device, bytes, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_uint_eq(first_wrong(shadow, bytes, 1), bytes);
    ck_assert_int_eq(((uint8_t *)host)[bytes - 1], 0xee);
    must(adsm_vm_placeholder((uintptr_t)host, bytes));
    must(adsm_address_free(accel, span));
    ck_assert_ptr_null(span->host);
    free(shadow);
}

static void strategy_keeps_its_promises(const char *name,
                                        enum adsm_strategy strategy)
{
    struct adsm_accel *accel = accel_with(name);
    static const size_t sizes[] = {1, 4096, SPAN, SPAN + 1, 9 * MIB};
    const char *why = NULL;
    ck_assert_int_eq(adsm_address_strategy(accel, &why), strategy);
    ck_assert_uint_gt(strlen(why), 0);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct adsm_span span;
            must(adsm_address_alloc(accel, sizes[i], false, &span));
            check_span(&span, sizes[i], strategy);
            use_and_free(accel, &span);
        }
}

START_TEST(window_keeps_its_promises)
{
    strategy_keeps_its_promises("window", ADSM_WINDOW);
}
END_TEST

START_TEST(overlay_keeps_its_promises)
{
    strategy_keeps_its_promises("overlay", ADSM_OVERLAY);
}
END_TEST

START_TEST(translate_keeps_its_promises)
{
    strategy_keeps_its_promises("translate", ADSM_TRANSLATE);
}
END_TEST

START_TEST(left_alone_the_window_is_chosen)
{
    struct adsm_accel *accel = accel_up();
    const char *why = NULL;
    struct adsm_span span;
    ck_assert_int_eq(adsm_address_strategy(accel, &why), ADSM_WINDOW);
    must(adsm_address_alloc(accel, 1, false, &span));
    check_span(&span, 1, ADSM_WINDOW);
    must(adsm_address_free(accel, &span));
    ck_assert_str_eq(adsm_strategy_name(ADSM_WINDOW), "window");
    ck_assert_str_eq(adsm_strategy_name((enum adsm_strategy)9), "?");
}
END_TEST

START_TEST(safe_span_is_translated_whatever_the_strategy)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span;
    must(adsm_address_alloc(accel, 5000, true, &span));
    check_span(&span, 5000, ADSM_TRANSLATE);
    ck_assert_uint_ne(span.device.at, (uintptr_t)span.host);
    use_and_free(accel, &span);
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span;
    ck_assert_int_eq(adsm_address_alloc(accel, 0, false, &span),
                     ADSM_E_INVALID);
    ck_assert_int_eq(adsm_address_alloc(accel, SIZE_MAX, false, &span),
                     ADSM_E_INVALID);
    for (int safe = 0; safe < 2; safe++) {
        int status =
            adsm_address_alloc(accel, (size_t)1 << 46, safe != 0, &span);
        ck_assert(status == ADSM_E_DEVICE_NOMEM || status == ADSM_E_NOMEM);
        ck_assert_ptr_null(span.host);
    }
    must(adsm_address_alloc(accel, 1, false, &span));
}
END_TEST

/* ---- strategies that cannot be had ----------------------------------------- */

/* A driver that reserves addresses of which the program has a page. */
static const struct adsm_accel_ops *sound;

static int reserve_spoilt(struct adsm_accel *accel, size_t bytes,
                          struct adsm_daddr *at)
{
    int status = sound->range_reserve(accel, bytes, at);
    void *page = (void *)(uintptr_t)(at->at + 16 * MIB);
    if (status == ADSM_OK)
        ck_assert_ptr_eq(mmap(page, 4096, PROT_READ,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                         page);
    return status;
}

static void spoil_window(struct adsm_accel *accel)
{
    static struct adsm_accel_ops spoilt;
    sound = accel->ops;
    spoilt = *sound;
    spoilt.range_reserve = reserve_spoilt;
    accel->ops = &spoilt;
}

START_TEST(forced_strategy_that_is_impossible_is_an_error)
{
    struct adsm_accel *accel = accel_with("window");
    struct adsm_span span;
    const char *why = NULL;
    spoil_window(accel);
    ck_assert_int_eq(adsm_address_alloc(accel, 1, false, &span),
                     ADSM_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(adsm_accel_error_text(), "window"));
    ck_assert_int_eq(adsm_address_strategy(accel, &why), ADSM_WINDOW);
    ck_assert_ptr_nonnull(strstr(why, "mapped on the host"));
    /* The other ones still work where they are asked for. */
    must(adsm_address_alloc(accel, 1, true, &span));
    must(adsm_address_free(accel, &span));
}
END_TEST

START_TEST(impossible_window_gives_way_to_the_next)
{
    struct adsm_accel *accel = accel_with("auto");
    struct adsm_span span;
    const char *why = NULL;
    spoil_window(accel);
    enum adsm_strategy strategy = adsm_address_strategy(accel, &why);
    ck_assert_int_ne(strategy, ADSM_WINDOW);
    ck_assert_ptr_nonnull(strstr(why, "no window ("));
    must(adsm_address_alloc(accel, 3 * MIB, false, &span));
    check_span(&span, 3 * MIB, strategy);
    use_and_free(accel, &span);
}
END_TEST

static int refuse_to_map(struct adsm_accel *accel, struct adsm_daddr at,
                         size_t bytes, uint64_t *handle)
{
    (void)accel, (void)at, (void)bytes, (void)handle;
    return adsm_accel_fail(ADSM_E_DEVICE, "nothing can be mapped", NULL);
}

/* The trial fails when addresses are reserved already. */
START_TEST(window_that_cannot_be_mapped_gives_way_to_the_next)
{
    static struct adsm_accel_ops ops;
    struct adsm_accel *accel = accel_with("auto");
    struct adsm_span span;
    const char *why = NULL;
    ops = *accel->ops;
    ops.range_map = refuse_to_map;
    accel->ops = &ops;
    enum adsm_strategy strategy = adsm_address_strategy(accel, &why);
    ck_assert_int_ne(strategy, ADSM_WINDOW);
    ck_assert_ptr_nonnull(strstr(why, "nothing can be mapped"));
    must(adsm_address_alloc(accel, 3 * MIB, false, &span));
    check_span(&span, 3 * MIB, strategy);
    use_and_free(accel, &span);
}
END_TEST

START_TEST(overlay_never_takes_what_is_mapped)
{
    struct adsm_accel *accel = accel_with("overlay");
    struct adsm_daddr at;
    struct adsm_span span;
    ck_assert_int_eq(adsm_address_strategy(accel, NULL), ADSM_OVERLAY);
    must(accel->ops->memory_alloc(accel, 4 * MIB, &at));
    must(accel->ops->memory_free(accel, at));
    uint8_t *page = (uint8_t *)((at.at + SPAN - 1) / SPAN * SPAN + 4096);
    ck_assert_ptr_eq(mmap(page, 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     page);
    *page = 0x5a;
    size_t before, after, total;
    must(accel->ops->memory_info(accel, &before, &total));
    int status = adsm_address_alloc(accel, SPAN, false, &span);
    if (status == ADSM_OK) /* elsewhere */
        ck_assert(span.host + span.bytes <= page || page < span.host);
    else
        ck_assert_int_eq(status, ADSM_E_LIMIT);
    if (status == ADSM_OK)
        must(adsm_address_free(accel, &span));
    must(accel->ops->memory_info(accel, &after, &total));
    ck_assert_uint_eq(before, after);
    ck_assert_int_eq(*page, 0x5a);
}
END_TEST

START_TEST(full_windows_are_followed_by_further_ones)
{
    setenv("ADSM_WINDOW_SIZE", "8M", 1);
    struct adsm_accel *accel = accel_with("window");
    struct adsm_span span[20];
    for (int i = 0; i < 20; i++) {
        must(adsm_address_alloc(accel, i == 10 ? 24 * MIB : SPAN, false,
                                &span[i]));
        check_span(&span[i], i == 10 ? 24 * MIB : SPAN, ADSM_WINDOW);
    }
    ck_assert_uint_gt(accel->address->windows, 4);
    for (int i = 0; i < 20; i++)
        must(adsm_address_free(accel, &span[i]));
    uint32_t windows = accel->address->windows;
    for (int i = 0; i < 20; i++)
        must(adsm_address_alloc(accel, SPAN, false, &span[i]));
    ck_assert_uint_eq(accel->address->windows, windows);
}
END_TEST

/* ---- many ------------------------------------------------------------------- */

static int by_host(const void *a, const void *b)
{
    const struct adsm_span *x = a, *y = b;
    return (x->host > y->host) - (x->host < y->host);
}

static void random_spans(const char *name, int spans, int steps)
{
    setenv("SOFTCUDA_MEMORY", "24G", 1);
    struct adsm_accel *accel = accel_with(name);
    struct adsm_span *span = calloc((size_t)spans, sizeof *span);
    srand(11);
    for (int i = 0; i < spans; i++)
        must(adsm_address_alloc(accel, 1 + (size_t)rand() % (SPAN + 100), false,
                                &span[i]));
    for (int step = 0; step < steps; step++) {
        int i = rand() % spans;
        must(adsm_address_free(accel, &span[i]));
        must(adsm_address_alloc(accel, 1 + (size_t)rand() % (2 * SPAN), false,
                                &span[i]));
    }
    qsort(span, (size_t)spans, sizeof *span, by_host);
    for (int i = 1; i < spans; i++)
        ck_assert(span[i - 1].host + span[i - 1].bytes <= span[i].host);
    for (int i = 0; i < spans; i++)
        must(adsm_address_free(accel, &span[(i * 7919LL) % spans]));
    free(span);
}

START_TEST(five_thousand_window_spans_come_and_go)
{
    random_spans("window", 4999, 5000);
}
END_TEST

START_TEST(many_overlay_spans_come_and_go)
{
    random_spans("overlay", 499, 500);
}
END_TEST

START_TEST(many_translated_spans_come_and_go)
{
    random_spans("translate", 499, 500);
}
END_TEST

static size_t memory_free(struct adsm_accel *accel)
{
    size_t free_bytes, total;
    must(accel->ops->memory_info(accel, &free_bytes, &total));
    return free_bytes;
}

/* What a driver gives the pages of 20 objects, and two after one another. */
static void spans_are_packed(const char *name)
{
    struct adsm_accel *accel = accel_with(name);
    struct adsm_span span[20], rest;
    (void)adsm_address_strategy(accel, NULL);
    size_t before = memory_free(accel);
    bool window = strcmp(name, "window") == 0;
    size_t granule = window ? accel->address->granule_bytes : SPAN;
    for (int i = 0; i < 20; i++)
        must(adsm_address_alloc(accel, 100 << 10, false, &span[i]));
    ck_assert_uint_le(before - memory_free(accel), granule);
    for (int i = 0; i < 20; i++)
        must(adsm_address_free(accel, &span[(i * 7) % 20]));
    ck_assert_uint_eq(before, memory_free(accel));
    must(adsm_address_alloc(accel, 2 * SPAN + 1, false, &span[0]));
    must(adsm_address_alloc(accel, MIB, false, &rest));
    size_t most = window ? (2 * SPAN / granule + 1) * granule : 4 * SPAN;
    ck_assert_uint_le(before - memory_free(accel), most);
    must(adsm_address_free(accel, &span[0]));
    use_and_free(accel, &rest);
    ck_assert_uint_eq(before, memory_free(accel));
}

START_TEST(window_spans_share_granules)
{
    spans_are_packed("window");
}
END_TEST

START_TEST(overlay_spans_are_packed_by_the_driver)
{
    spans_are_packed("overlay");
}
END_TEST

START_TEST(translated_spans_are_packed_by_the_driver)
{
    spans_are_packed("translate");
}
END_TEST

static void full_device_recovers(const char *name)
{
    enum { MOST = 64 };
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    struct adsm_accel *accel = accel_with(name);
    struct adsm_span span[MOST], big;
    size_t free_before, free_after, total;
    ck_assert_int_ge((int)adsm_address_strategy(accel, NULL), 0);
    must(accel->ops->memory_info(accel, &free_before, &total));
    for (int round = 0; round < 3; round++) {
        int n = 0, status;
        while ((status = adsm_address_alloc(accel, 3 * MIB, false, &span[n])) ==
               ADSM_OK)
            ck_assert_int_lt(++n, MOST);
        ck_assert_int_eq(status, ADSM_E_DEVICE_NOMEM);
        ck_assert_int_ge(n, 8);
        ck_assert_int_eq(adsm_accel_health(accel), ADSM_OK);
        ck_assert_int_eq(adsm_address_alloc(accel, 65 * MIB, false, &big),
                         ADSM_E_DEVICE_NOMEM);
        while (n > 0)
            must(adsm_address_free(accel, &span[--n]));
        must(adsm_address_alloc(accel, 40 * MIB, false, &big));
        must(adsm_address_free(accel, &big));
    }
    must(accel->ops->memory_info(accel, &free_after, &total));
    ck_assert_uint_eq(free_before, free_after);
    if (accel->address->windows > 0)
        ck_assert_uint_eq(accel->address->window[0].granules.in_use, 0);
}

START_TEST(full_device_recovers_with_window)
{
    full_device_recovers("window");
}
END_TEST

START_TEST(full_device_recovers_with_overlay)
{
    full_device_recovers("overlay");
}
END_TEST

START_TEST(full_device_recovers_with_translate)
{
    full_device_recovers("translate");
}
END_TEST

/* ---- threads ------------------------------------------------------------------ */

static void *churn(void *arg)
{
    struct adsm_accel *accel = arg;
    struct adsm_span span[8];
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 8; i++)
            must(adsm_address_alloc(
                accel, i % 2 ? SPAN + (size_t)i : (size_t)(i + 1) << 17, false,
                &span[i]));
        for (int i = 0; i < 8; i++)
            must(adsm_address_free(accel, &span[i]));
    }
    return NULL;
}

START_TEST(threads_choose_and_allocate_together)
{
    struct adsm_accel *accel = accel_up();
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, churn, accel);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(accel->address->windows, 1);
    ck_assert_uint_eq(accel->address->window[0].granules.in_use, 0);
}
END_TEST

SUITE_MAIN(
    "accel/address", 60, window_keeps_its_promises, overlay_keeps_its_promises,
    translate_keeps_its_promises, left_alone_the_window_is_chosen,
    safe_span_is_translated_whatever_the_strategy, absurd_sizes_are_refused,
    forced_strategy_that_is_impossible_is_an_error,
    impossible_window_gives_way_to_the_next,
    window_that_cannot_be_mapped_gives_way_to_the_next,
    overlay_never_takes_what_is_mapped,
    full_windows_are_followed_by_further_ones,
    five_thousand_window_spans_come_and_go, many_overlay_spans_come_and_go,
    many_translated_spans_come_and_go, full_device_recovers_with_window,
    window_spans_share_granules, overlay_spans_are_packed_by_the_driver,
    translated_spans_are_packed_by_the_driver,
    full_device_recovers_with_overlay, full_device_recovers_with_translate,
    threads_choose_and_allocate_together)
