/*
 * Calls over ranges that cannot be made, each with its sentence, and nothing of
 * theirs done; options, events and what follows a call.
 */
#include "call/fixture.h"

#include <stdatomic.h>
#include <unistd.h>

static const adsmOpts all = {.devices = ADSM_ALL_DEVICES};

START_TEST(bad_calls_say_what_would_be_right)
{
    int a = 1, *x = array(adsmR1(100), 0), *y = array(adsmR1(100), 1);
    int *u = array(adsmR2(40, 30), 0), *w = array(adsmR2(40, 30), 0);
    long ny = 40, nx = 30;
    void *v = adsmAlloc(4096);
    adsmKernel *map = kernel("map");
    adsmOpts o = all;
    number(y, 100, 1);
    expect(adsmCallWith(&all, map, adsmR1(101), adsmIn(x), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_INVALID,
           "has 100 elements in dimension 0, the range goes to "
           "101");
    /* From within an object there is only what is left of it. */
    expect(adsmCallWith(&all, map, adsmR1(51), adsmIn(x + 50), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_INVALID, "argument 0 of kernel 'map' has 50 elements");
    expect(adsmCallWith(&all, map, adsmR1(100), adsmIn(x),
                        adsmAlong(adsmInOut(y), -1, 0, 0), adsmVal(a)),
           ADSM_E_INVALID, "parts would write the same bytes");
    expect(adsmCallWith(&all, map, adsmR1(100), adsmIn(v), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_INVALID, "void pointer");
    expect(adsmCallWith(&all, map, adsmR1(100), adsmIn(&a), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_NOT_SHARED, "is no shared pointer");
    expect(adsmCallWith(&all, map, adsmR1(100), adsmIn(x), adsmInOut(y)),
           ADSM_E_INVALID, "takes 3 arguments after i0 and i1, 2 were given");
    expect(adsmCallWith(&all, map, adsmR2(10, 10), adsmIn(x), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_INVALID, "takes 1 arguments after i0, i1, j0 and j1");
    expect(adsmCallWith(&all, map, adsmR1(100), adsmIn(x), adsmInOut(y),
                        adsmVal(ny)),
           ADSM_E_INVALID,
           "argument 2 of kernel 'map' has 8 bytes, its "
           "parameter has 4");
    expect(adsmCallWith(&all, map, adsmR1(100), adsmIn(x), adsmInOut(y),
                        adsmIn(x)),
           ADSM_E_INVALID,
           "argument 2 of kernel 'map' is a pointer and has 8 bytes, its "
           "parameter has 4: 8 are a pointer");
    expect(adsmCall(map, 100, adsmIn(x), adsmInOut(y), adsmIn(x)),
           ADSM_E_INVALID, "parameter has 4: 8 are a pointer");
    expect(adsmCallWith(&all, map, adsmR1(-1), adsmIn(x), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_INVALID, "from 0 on, and upwards");
    expect(adsmCallWith(&all, map, adsmR1(1L << 60), adsmIn(x), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_INVALID, "2^46 are possible");
    o.tile[1] = 8;
    expect(adsmCallWith(&o, kernel("rows"), adsmR2(40, 30), adsmIn(u),
                        adsmOut(w), adsmVal(ny), adsmVal(nx)),
           ADSM_E_INVALID, "is a pointer and has whole rows");
    expect(adsmCallWith(&all, kernel("rows"), adsmR2(40, 30),
                        adsmRow(u, 1, ADSM_EDGE_CLAMP), adsmOut(w), adsmVal(ny),
                        adsmVal(nx)),
           ADSM_E_INVALID, "adsm_view2");
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(y[i], i * 61 + 1);
    must(adsmFree(x));
    expect(adsmCallWith(&all, map, adsmR1(100), adsmIn(x), adsmInOut(y),
                        adsmVal(a)),
           ADSM_E_NOT_SHARED, "argument 0 of kernel 'map'");
    must(adsmFree(y));
}
END_TEST

START_TEST(bad_options_say_what_would_be_right)
{
    int a = 1, *x = array(adsmR1(100), 0);
    adsmKernel *map = kernel("map");
    adsmEvent none = {12345};
#define bad(words, ...)                                                        \
    expect(adsmCallWith(adsmWith(__VA_ARGS__), map, adsmR1(100), adsmIn(x),    \
                        adsmInOut(x), adsmVal(a)),                             \
           ADSM_E_INVALID, words)
    bad("names device 6: there are 0 to 3", .devices = 0x40);
    bad("with -1 parts", .parts = -1);
    bad("with -1 indices for each thread", .each = {-1});
    bad("a tile of 4 in dimension 1 of a range of 1", .tile = {0, 4});
    bad("one of them says how many", .tile = {4}, .parts = 2);
    bad("in more than 4096 parts", .parts = 5000);
    bad("no array of them", .afters = 1);
    bad("`after` names event 12345", .after = &none, .afters = 1);
    expect(adsmWait(none), ADSM_E_INVALID, "event 12345");
    must(adsmFree(x));
}
END_TEST

START_TEST(kernel_that_may_touch_any_object_has_one_device)
{
    int a = 1, *x = array(adsmR1(100), 0), *far = array(adsmR1(100), 2);
    adsmModule *module;
    adsmKernel *map;
    must(adsmModuleLoad(&module, KERNELS_PTX, 0));
    must(adsmKernelGet(&map, module, "map", ADSM_ANY_OBJECT));
    number(x, 100, 1);
    expect(adsmCallWith(&all, map, adsmR1(100), adsmIn(x), adsmInOut(x),
                        adsmVal(a)),
           ADSM_E_INVALID, "runs on one device");
    expect(adsmCall(map, 100, adsmIn(x), adsmInOut(far), adsmVal(a)),
           ADSM_E_INVALID, "argument 1 of kernel 'map' lives on device 2");
    must(adsmCallWith(adsmWith(.devices = 1, .parts = 3), map, adsmR1(100),
                      adsmIn(x), adsmInOut(x), adsmVal(a)));
    ck_assert_int_eq(x[99], 3 * (99 * 61 + 1) + 1);
    must(adsmFree(x));
    must(adsmFree(far));
}
END_TEST

START_TEST(bad_arrays_and_boxes_say_what_would_be_right)
{
    int *x = array(adsmR2(10, 20), 0), on_stack;
    adsmBox outside = {2, {0, 15}, {10, 21}}, line = adsmR1(3);
    expect(adsmShape(x, 4, adsmR1(201)), ADSM_E_INVALID,
           "an array of 804 bytes");
    expect(adsmShape(x, 0, adsmR1(1)), ADSM_E_INVALID, "of 1 or more");
    expect(adsmShape(x, 4, outside), ADSM_E_INVALID, "from 0 on");
    expect(adsmShape(&on_stack, 4, adsmR1(1)), ADSM_E_NOT_SHARED,
           "is not in a shared object");
    ck_assert_ptr_null(adsmAllocArray(4, adsmR2(0, 3), 0));
    ck_assert_ptr_null(adsmAllocArray(4, adsmR1(10), 9));
    ck_assert_ptr_nonnull(strstr(adsmErrorDetail(), "device 9: there are"));
    ck_assert_ptr_null(adsmAllocArray(8, adsmR3(1 << 20, 1 << 20, 1 << 20), 0));
    expect(adsmPrefetch(x, &outside, 1), ADSM_E_INVALID,
           "from 15 to 21 in dimension 1");
    expect(adsmPrefetch(x, &line, 1), ADSM_E_INVALID, "the array at");
    expect(adsmPrefetch(x, NULL, 4), ADSM_E_INVALID, "device 4");
    expect(adsmDrop(x, NULL, ADSM_HOST), ADSM_E_INVALID, "device -1");
    expect(adsmWaitFor(x, NULL, 0), ADSM_E_INVALID, "mode 0");
    ck_assert_int_eq(adsmCopies(x, NULL, 3), -1);
    must(adsmFree(x));
}
END_TEST

/* No block has so many threads: the driver says so when the part is launched. */
START_TEST(refused_part_changes_nothing)
{
    int a = 0, *x = array(adsmR1(1000), 0);
    adsmOpts o = {.devices = 0xf, .block = {4096}};
    adsmEvent event;
    o.event = &event;
    number(x, 1000, 1);
    for (int turn = 0; turn < 3; turn++) {
        ck_assert_int_ne(adsmCallWith(&o, kernel("map"), adsmR1(1000),
                                      adsmIn(x), adsmInOut(x), adsmVal(a)),
                         ADSM_OK);
        ck_assert_ptr_nonnull(
            strstr(adsmErrorDetail(), "part 0 of 4 of kernel 'map'"));
        ck_assert_int_ne(adsmWait(event), ADSM_OK);
        for (int i = 0; i < 1000; i++)
            ck_assert_int_eq(x[i], i * 61 + 1);
    }
    must(adsmCallWith(&all, kernel("map"), adsmR1(1000), adsmIn(x),
                      adsmInOut(x), adsmVal(a)));
    ck_assert_int_eq(x[999], 3 * (999 * 61 + 1));
    must(adsmFree(x));
}
END_TEST

static _Atomic int followed;

static void follow(void *arg, adsmStatus status)
{
    int *x = arg;
    atomic_store(&followed, status == ADSM_OK ? x[0] : -1);
}

START_TEST(calls_are_waited_for_ordered_and_followed)
{
    int a = 0, *x = array(adsmR1(1 << 16), ADSM_NO_HOME);
    adsmEvent first, second;
    int ended;
    number(x, 1 << 16, 1);
    must(adsmCallWith(adsmWith(.devices = 0xf, .event = &first), kernel("map"),
                      adsmR1(1 << 16), adsmIn(x), adsmInOut(x), adsmVal(a)));
    ck_assert_uint_ne(first.id, 0);
    must(adsmCallWith(adsmWith(.devices = 3, .event = &second, .after = &first,
                               .afters = 1, .then = follow, .then_arg = x),
                      kernel("map"), adsmR1(1 << 16), adsmIn(x), adsmInOut(x),
                      adsmVal(a)));
    must(adsmWait(second));
    must(adsmTest(first, &ended));
    ck_assert_int_eq(ended, 1);
    for (int i = 0; i < 5000 && !atomic_load(&followed); i++)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&followed), 9);
    must(adsmSync());
    must(adsmFree(x));
}
END_TEST

START_TEST(defaults_spread_plain_calls_of_the_thread)
{
    int a = 0, *x = array(adsmR1(1000), ADSM_NO_HOME);
    adsmCopyInfo copies[8];
    number(x, 1000, 1);
    must(adsmDefaults(adsmWith(.devices = 0xf)));
    must(adsmCall(kernel("map"), 1000, adsmIn(x), adsmInOut(x), adsmVal(a)));
    ck_assert_int_eq(adsmCopies(x, copies, 8), 4);
    must(adsmDefaults(NULL));
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(x[i], 3 * (i * 61 + 1));
    must(adsmFree(x));
}
END_TEST

/* Of calls that give options; the others stay one part. */
START_TEST(environment_spreads_calls_that_give_options)
{
    adsmCopyInfo copies[8];
    setenv("ADSM_CALL_DEVICES", "3", 1);
    setenv("ADSM_PARTS", "2", 1);
    int a = 0, *x = array(adsmR1(1000), ADSM_NO_HOME);
    ck_assert_int_eq(adsmDeviceCount(), 4);
    number(x, 1000, 1);
    must(adsmCall(kernel("map"), 1000, adsmIn(x), adsmInOut(x), adsmVal(a)));
    ck_assert_int_eq(adsmCopies(x, copies, 8), 1);
    must(adsmDrop(x, NULL, 0));
    must(adsmCallWith(adsmWith(.devices = 1), kernel("map"), adsmR1(1000),
                      adsmIn(x), adsmInOut(x), adsmVal(a)));
    ck_assert_int_eq(adsmCopies(x, copies, 8), 2);
    for (int i = 0; i < 2; i++)
        ck_assert_int_lt(copies[i].device, 3);
    must(adsmFree(x));
}
END_TEST

SUITE_MAIN("bad", 60, bad_calls_say_what_would_be_right,
           bad_options_say_what_would_be_right,
           kernel_that_may_touch_any_object_has_one_device,
           bad_arrays_and_boxes_say_what_would_be_right,
           refused_part_changes_nothing,
           calls_are_waited_for_ordered_and_followed,
           defaults_spread_plain_calls_of_the_thread,
           environment_spreads_calls_that_give_options)
