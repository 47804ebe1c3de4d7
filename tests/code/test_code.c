/*
 * Records of kernels: what they say, who is asked for what PTX does not say, and
 * who may use them at the same time.
 */
#include "code/code.h"
#include "code/learned.h"
#include "common/suite.h"

#include "base/status.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* to[i] = 1 for the threads of a launch */
static const char text[] =
    HEAD ".visible .entry put(.param .u64 to, .param .f32 x)\n{\n"
         ".reg .b64 %a<3>;\n.reg .b32 %r<5>;\n"
         "ld.param.u64 %a0, [to]; mov.u32 %r0, %ctaid.x;\n"
         "mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
         "mad.lo.u32 %r3, %r0, %r1, %r2;\n"
         "mul.wide.u32 %a1, %r3, 4; add.u64 %a2, %a0, %a1;\n"
         "st.global.u32 [%a2], 1; ret; }\n";

static const char odd_text[] =
    HEAD ".visible .entry odd(.param .u32 n)\n{ no such thing }\n";

static struct adsm_image *image_of(const char *of)
{
    struct adsm_image *image = adsm_image_new(of, strlen(of), 90);
    ck_assert_ptr_nonnull(image);
    return image;
}

/* A driver that has two parameters, or says one of these. */
struct driver {
    int answer, calls;
};

static int ask(void *context, unsigned index, size_t *offset, size_t *bytes)
{
    struct driver *driver = context;
    driver->calls++;
    *offset = 8 * index;
    *bytes = index ? 4 : 8;
    return driver->answer ? driver->answer
           : index < 2    ? ADSM_OK
                          : ADSM_E_NOT_FOUND;
}

START_TEST(a_kernel_has_one_record)
{
    struct adsm_image *image = image_of(text), *other = image_of(text);
    struct adsm_code *put = adsm_image_code(image, "put");
    ck_assert_str_eq(adsm_code_name(put), "put");
    ck_assert_ptr_eq(adsm_code_image(put), image);
    ck_assert_ptr_eq(adsm_image_code(image, "put"), put);
    ck_assert_ptr_ne(adsm_image_code(image, "odd"), put);
    ck_assert_ptr_ne(adsm_image_code(other, "put"), put);
    adsm_image_hold(image);
    adsm_image_release(image);
    ck_assert_str_eq(adsm_code_name(put), "put");
    adsm_image_release(image);
    adsm_image_release(other);
}
END_TEST

START_TEST(what_ptx_says_of_parameters_nobody_is_asked)
{
    struct driver driver = {0};
    struct adsm_image *image = image_of(text), *other = image_of(odd_text);
    struct adsm_layout put =
        adsm_code_layout(adsm_image_code(image, "put"), ask, &driver);
    ck_assert_int_eq(put.count, 2);
    ck_assert_uint_eq(put.at[1].offset, 8);
    ck_assert_uint_eq(put.at[1].bytes, 4);
    ck_assert_uint_eq(put.at[0].kind, ADSM_INTEGER);
    ck_assert_uint_eq(put.at[1].kind, ADSM_REAL);
    /* Nor where the body is not understood. */
    struct adsm_code *odd = adsm_image_code(other, "odd");
    ck_assert_int_eq(adsm_code_layout(odd, ask, &driver).count, 1);
    ck_assert_int_eq(driver.calls, 0);
    ck_assert_ptr_null(adsm_code_reach(odd));
    adsm_image_release(image);
    adsm_image_release(other);
}
END_TEST

START_TEST(what_ptx_does_not_say_is_asked_until_there_is_an_answer)
{
    struct driver driver = {.answer = ADSM_E_DEVICE};
    struct adsm_image *image = image_of("\177ELF, as machine code begins");
    struct adsm_code *code = adsm_image_code(image, "put");
    for (int i = 1; i <= 2; i++) {
        ck_assert_int_lt(adsm_code_layout(code, ask, &driver).count, 0);
        ck_assert_int_eq(driver.calls, i);
    }
    driver.answer = 0;
    for (int i = 0; i < 2; i++) {
        struct adsm_layout layout = adsm_code_layout(code, ask, &driver);
        ck_assert_int_eq(layout.count, 2);
        ck_assert_uint_eq(layout.at[1].bytes, 4);
        ck_assert_uint_eq(layout.at[1].kind, ADSM_ANY_KIND);
        ck_assert_int_eq(driver.calls, 2 + 3);
    }
    /* That nobody can tell is an answer. */
    struct adsm_code *other = adsm_image_code(image, "other");
    driver = (struct driver){.answer = ADSM_E_UNSUPPORTED};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(adsm_code_layout(other, ask, &driver).count,
                         ADSM_LAYOUT_UNKNOWN);
    ck_assert_int_eq(driver.calls, 1);
    adsm_image_release(image);
}
END_TEST

static int endless(void *context, unsigned index, size_t *offset, size_t *bytes)
{
    (void)context;
    *offset = 4 * index;
    *bytes = 4;
    return ADSM_OK;
}

START_TEST(more_parameters_than_there_is_room_for_are_counted)
{
    struct adsm_image *image = image_of("\177ELF");
    struct adsm_layout layout =
        adsm_code_layout(adsm_image_code(image, "wide"), endless, NULL);
    ck_assert_int_eq(layout.count, ADSM_PARAMETERS_MOST + 1);
    ck_assert_uint_eq(layout.at[ADSM_PARAMETERS_MOST - 1].offset,
                      4 * (ADSM_PARAMETERS_MOST - 1));
    adsm_image_release(image);
}
END_TEST

static void expect_touched(struct adsm_code *put)
{
    static const struct sc_geometry geometry = {.grid = {3, 1, 1},
                                                .block = {64, 1, 1}};
    struct sc_touched touched;
    uint64_t params[2] = {UINT64_C(1) << 40, 0};
    ck_assert(
        adsm_code_touched(put, &geometry, (uint8_t *)params, 12, &touched));
    ck_assert_uint_eq(touched.count, 1);
    ck_assert_uint_eq(touched.range[0].first, params[0]);
    ck_assert_uint_eq(touched.range[0].last, params[0] + 3 * 64 * 4 - 1);
}

START_TEST(what_a_launch_touches_is_told)
{
    struct sc_touched touched;
    struct adsm_image *image = image_of(text), *none = image_of("\177ELF");
    ck_assert_ptr_null(adsm_code_reach(adsm_image_code(none, "put")));
    ck_assert_ptr_null(adsm_code_reach(adsm_image_code(image, "other")));
    ck_assert(!adsm_code_touched(adsm_image_code(none, "put"),
                                 &(struct sc_geometry){0}, NULL, 0, &touched));
    struct adsm_code *put = adsm_image_code(image, "put");
    ck_assert(!adsm_code_reach(put)->writes_anywhere);
    expect_touched(put);
    adsm_image_release(image);
    adsm_image_release(none);
}
END_TEST

static uint64_t key(const char *of, const char *name)
{
    struct adsm_image *image = image_of(of);
    uint64_t key = adsm_code_key(adsm_image_code(image, name));
    adsm_image_release(image);
    return key;
}

START_TEST(keys_last)
{
    /* Whoever keeps keys in a file relies on this number. */
    ck_assert_uint_eq(key(text, "put"), UINT64_C(9938861388943840413));
    ck_assert_uint_ne(key(text, "put"), key(text, "odd"));
    ck_assert_uint_ne(key(text, "put"), key(HEAD, "put"));
    ck_assert_uint_ne(key("\177ELF, of one", "put"),
                      key("\177ELF, of two", "put"));
    struct adsm_image *unknown = adsm_image_new("\177ELF", 0, 90);
    ck_assert_uint_eq(adsm_code_key(adsm_image_code(unknown, "put")), 0);
    adsm_image_release(unknown);
}
END_TEST

static struct adsm_times *times_of(struct adsm_speed *speed)
{
    struct adsm_speed_calls *calls = adsm_speed_calls(speed, 0);
    ck_assert_ptr_nonnull(calls);
    return &calls->times;
}

/* How many times are known of a kernel, and one more of them. */
static unsigned learn(const char *of, const char *name)
{
    struct adsm_image *image = image_of(of);
    struct adsm_times *times =
        times_of(adsm_code_speed(adsm_image_code(image, name)));
    unsigned known = times->of[0].count;
    adsm_times_add(times, 0, 1, 1);
    adsm_image_release(image);
    return known;
}

START_TEST(what_is_learnt_outlives_images)
{
    ck_assert_uint_eq(learn(text, "put"), 0);
    ck_assert_uint_eq(learn(text, "put"), 1);
    ck_assert_uint_eq(learn(text, "other"), 0);
    ck_assert_uint_eq(learn(odd_text, "put"), 0);
    ck_assert_uint_eq(learn(text, "put"), 2);
}
END_TEST

START_TEST(records_of_the_same_code_learn_together)
{
    struct adsm_image *image = image_of(text), *other = image_of(text);
    struct adsm_image *none = adsm_image_new("\177ELF", 0, 90);
    struct adsm_speed *speed = adsm_code_speed(adsm_image_code(image, "put"));
    struct adsm_speed *alone = adsm_code_speed(adsm_image_code(none, "put"));
    ck_assert_ptr_eq(adsm_code_speed(adsm_image_code(other, "put")), speed);
    ck_assert_ptr_ne(adsm_code_speed(adsm_image_code(other, "odd")), speed);
    ck_assert_ptr_ne(adsm_code_speed(adsm_image_code(none, "odd")), alone);
    adsm_image_release(image);
    adsm_times_add(times_of(speed), 0, 1, 1);
    ck_assert_uint_eq(learn(text, "put"), 1);
    adsm_image_release(other);
    adsm_image_release(none);
}
END_TEST

/* Of those that nobody holds. */
START_TEST(as_much_is_kept_as_is_said)
{
    char name[16];
    struct adsm_image *image = image_of(text);
    adsm_times_add(times_of(adsm_code_speed(adsm_image_code(image, "put"))), 0,
                   1, 1);
    for (int i = 0; i < ADSM_LEARNED_KEPT; i++) {
        snprintf(name, sizeof name, "%d", i);
        ck_assert_uint_eq(learn(text, name), 0);
    }
    ck_assert_uint_eq(learn(text, "0"), 1);
    ck_assert_uint_eq(learn(text, "more"), 0);
    ck_assert_uint_eq(learn(text, "0"), 0);
    ck_assert_uint_eq(learn(text, "put"), 1);
    adsm_image_release(image);
}
END_TEST

START_TEST(calls_of_one_footprint_are_known_by_the_nearest)
{
    struct adsm_image *image = image_of(text);
    struct adsm_speed *speed = adsm_code_speed(adsm_image_code(image, "put"));
    ck_assert_double_eq(adsm_speed_ns(speed, 0, 64), 0);
    for (int i = 0; i < ADSM_TIMES_KNOWN; i++) {
        adsm_times_add(&adsm_speed_calls(speed, 3)->times, 0, 1, 3);
        adsm_times_add(&adsm_speed_calls(speed, 8)->times, 0, 1, 8);
    }
    static const double calls[] = {1,       64,      255,     1024,
                                   1 << 12, 1 << 14, 1 << 16, 1e12};
    static const double ns[] = {3, 3, 3, 3, 8, 8, 8, 8};
    for (int i = 0; i < 8; i++)
        ck_assert_double_eq(adsm_speed_ns(speed, 0, calls[i]), ns[i]);
    ck_assert_double_eq(adsm_speed_ns(speed, 1, 64), 0);
    adsm_image_release(image);
}
END_TEST

/* Each finds a record that nobody has looked at, or all of it. */
static void *look(void *arg)
{
    struct driver driver = {0};
    struct adsm_image *image = arg;
    struct adsm_code *put = adsm_image_code(image, "put");
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(adsm_code_layout(put, ask, &driver).count, 2);
        expect_touched(put);
        ck_assert_uint_ne(adsm_code_key(put), 0);
        ck_assert_ptr_nonnull(adsm_code_speed(put));
    }
    adsm_image_release(image);
    return NULL;
}

START_TEST(threads_look_at_one_record)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct adsm_image *image = image_of(text);
    for (int i = 0; i < THREADS; i++) {
        adsm_image_hold(image);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look, image), 0);
    }
    adsm_image_release(image);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

SUITE_MAIN("code", 60, a_kernel_has_one_record,
           what_ptx_says_of_parameters_nobody_is_asked,
           what_ptx_does_not_say_is_asked_until_there_is_an_answer,
           more_parameters_than_there_is_room_for_are_counted,
           what_a_launch_touches_is_told, keys_last,
           what_is_learnt_outlives_images,
           records_of_the_same_code_learn_together, as_much_is_kept_as_is_said,
           calls_of_one_footprint_are_known_by_the_nearest,
           threads_look_at_one_record)
