/*
 * A kernel failed: which one is said by whoever hears of it, and other devices
 * go on, with the modules that were loaded on its device.
 */
#include "call/fixture.h"

#include <stdlib.h>

enum { PARTS = 7, PART = 3000, N = PARTS * PART, NEVER = -1 };

static adsmModule *module;

static adsmKernel *trap_at(void)
{
    adsmKernel *found;
    if (!module)
        must(adsmModuleLoad(&module, ENDS_PTX, 0));
    must(adsmKernelGet(&found, module, "trap_at", ADSM_ONLY_ARGUMENTS));
    return found;
}

static int *fresh(int home)
{
    int *p = array(adsmR1(N), home);
    number(p, N, 1);
    return p;
}

static int call(const int *x, int *y, long at)
{
    return adsmCall(trap_at(), N, adsmIn(x), adsmOut(y), adsmVal(at));
}

static void check(const int *y)
{
    long i = 0;
    while (i < N && y[i] == (int)(i * 61 + 2))
        i++;
    ck_assert_int_eq(i, N);
}

START_TEST(failure_names_the_part_and_its_kernel)
{
    int *x = fresh(ADSM_NO_HOME), *y = fresh(ADSM_NO_HOME);
    long at = 3 * PART + 17;
    must(adsmCallWith(adsmWith(.devices = 0xf, .parts = PARTS, .cyclic = 1),
                      trap_at(), adsmR1(N), adsmIn(x), adsmOut(y),
                      adsmVal(at)));
    expect(adsmSync(), ADSM_E_DEVICE,
           "unspecified launch failure), in part 3 of 7 of kernel 'trap_at'");
    expect(adsmCallWith(adsmWith(.devices = 8), trap_at(), adsmR1(N), adsmIn(x),
                        adsmOut(y), adsmVal(at)),
           ADSM_E_DEVICE, "in part 3 of 7 of kernel 'trap_at'");
}
END_TEST

/* Whoever hears of it first: here an access. */
START_TEST(failure_names_a_kernel_that_is_launched_as_a_whole)
{
    int *x = fresh(0), *y = fresh(0);
    must(call(x, y, NEVER));
    must(adsmSync());
    must(call(x, y, 5));
    (void)((volatile int *)y)[7];
    expect(adsmSync(), ADSM_E_DEVICE, "in kernel 'trap_at'");
    ck_assert_ptr_null(strstr(adsmErrorDetail(), "behind"));
}
END_TEST

/* Drivers do not tell which of those that nobody waited for it was. */
START_TEST(failure_names_the_first_that_nobody_saw_end)
{
    int *x = fresh(0), *y = fresh(0);
    adsmKernel *map = kernel("map");
    must(call(x, y, NEVER));
    must(adsmSync());
    must(call(x, y, 5));
    must(adsmCall(map, N, adsmIn(x), adsmInOut(y), adsmVal((int){1})));
    must(call(x, y, NEVER));
    expect(adsmSync(), ADSM_E_DEVICE,
           "in kernel 'trap_at' or one of those launched behind it, 2");
}
END_TEST

START_TEST(module_of_a_lost_device_serves_the_others)
{
    int *x = fresh(0), *y = fresh(1);
    adsmKernel *other;
    must(call(x, fresh(0), 5));
    expect(adsmSync(), ADSM_E_DEVICE, "device 0: ");
    must(adsmDeviceUse(1));
    must(adsmSync());
    must(call(y, fresh(1), NEVER));
    must(adsmSync());
    x = fresh(1);
    must(call(x, y, NEVER));
    check(y);
    must(adsmSync());
    must(adsmKernelGet(&other, module, "trap_at", ADSM_ANY_OBJECT));
    must(adsmCall(other, N, adsmIn(x), adsmOut(y), adsmVal((long){NEVER})));
    must(adsmSync());
    check(y);
    must(adsmModuleUnload(module));
}
END_TEST

SUITE_MAIN("failed", 60, failure_names_the_part_and_its_kernel,
           failure_names_a_kernel_that_is_launched_as_a_whole,
           failure_names_the_first_that_nobody_saw_end,
           module_of_a_lost_device_serves_the_others)
