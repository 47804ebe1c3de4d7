/* A device dies in the middle: what others have survives. */
#include "call/fixture.h"

#include "call/lose.h"

enum { N = 4000, PART = N / 4, LOST = 2 };

START_TEST(lost_device_costs_only_what_it_alone_had)
{
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 0);
    number(x, N, 1);
    for (int i = 0; i < N; i++)
        y[i] = 5;
    must(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES, .sync = 1),
                      kernel("map"), adsmR1(N), adsmIn(x), adsmInOut(y),
                      adsmVal((int){7})));
    lose(LOST);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], i / PART == LOST ? 5 : 2 * (i * 61 + 1) + 12);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(x[i], i * 61 + 1);

    /* A call that wants it says so, one over the others goes on. */
    expect(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES), kernel("map"),
                        adsmR1(N), adsmIn(x), adsmInOut(y), adsmVal((int){8})),
           ADSM_E_DEVICE_LOST, "device 2");
    for (int i = 0; i < N; i++)
        y[i] = 0;
    must(adsmCallWith(adsmWith(.devices = 1 | 2 | 8), kernel("map"), adsmR1(N),
                      adsmIn(x), adsmInOut(y), adsmVal((int){9})));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(y[i], 2 * (i * 61 + 1) + 9);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

/* The home of an array: it is one without a home from there on. */
START_TEST(array_that_loses_its_home_goes_on_without)
{
    int *x = array(adsmR1(N), LOST);
    number(x, N, 1);
    must(adsmCallWith(adsmWith(.devices = 1 | 2, .sync = 1), kernel("map"),
                      adsmR1(N), adsmIn(x), adsmInOut(x), adsmVal((int){1})));
    lose(LOST);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(x[i], 3 * (i * 61 + 1) + 1);
    ck_assert_int_eq(
        adsmCall(kernel("map"), N, adsmIn(x), adsmInOut(x), adsmVal((int){1})),
        ADSM_OK); /* on the kernel's device, which is another */
    /* In another shape: what there is has one place to go. */
    must(adsmShape(x, sizeof *x, adsmR2(40, N / 40)));
    must(adsmPrefetch(x, NULL, 1));
    must(adsmDrop(x, NULL, 1));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(x[i], 3 * (3 * (i * 61 + 1) + 1) + 1);
    must(adsmFree(x));
}
END_TEST

SUITE_MAIN("lost", 60, lost_device_costs_only_what_it_alone_had,
           array_that_loses_its_home_goes_on_without)
