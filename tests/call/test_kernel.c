/*
 * Modules and kernels on several devices, and handles that go away while they
 * are used.
 */
#include "accel/launch.h"
#include "mm/fixture.h"
#include "call/kernel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

START_TEST(kernel_gets_a_handle_on_every_device)
{
    struct fixture f = fixture_up();
    struct adsm_kernel_view view;
    must(adsm_kernel_hold(f.fill, &view));
    ck_assert_int_eq(adsmDeviceCount(), 4);
    for (int turn = 0; turn < 2; turn++)
        for (int d = 0; d < 4; d++) {
            struct adsm_accel *accel;
            void *handle;
            size_t offset, bytes;
            must(adsm_accel_open(d, &accel));
            must(adsm_kernel_on(&view, accel, &handle));
            must(
                adsm_accel_kernel_parameter(accel, handle, 2, &offset, &bytes));
            ck_assert_uint_eq(bytes, 4);
            if (d == 0)
                ck_assert_ptr_eq(handle, view.handle);
        }
    adsm_kernel_release(&view);
    must(adsmModuleUnload(f.module));
}
END_TEST

/* Unloaded on one device the handle would be refused on it. */
START_TEST(module_unloaded_while_held_serves_its_holder)
{
    struct fixture f = fixture_up();
    struct adsm_kernel_view view, none;
    must(adsm_kernel_hold(f.fill, &view));
    must(adsmModuleUnload(f.module));
    ck_assert_int_eq(adsm_kernel_hold(f.fill, &none), ADSM_E_INVALID);
    ck_assert_int_eq(adsmModuleUnload(f.module), ADSM_E_INVALID);
    ck_assert_str_eq(view.name, "fill");
    ck_assert_int_eq(view.layout.at[0].bytes, 8);
    uint8_t *p = adsmAlloc(4096);
    uint64_t at = (uintptr_t)adsmSafe(p);
    uint32_t n = 256, seed = 3;
    void *values[] = {&at, &n, &seed};
    const struct adsm_launch launch = {.kernel = view.handle,
                                       .grid = {1, 1, 1},
                                       .block = {256, 1, 1},
                                       .stream =
                                           adsm_accel_launch_stream(view.accel),
                                       .values = values};
    must(adsmSync());
    must(adsm_accel_launch(view.accel, &launch));
    struct adsm_accel *other;
    void *handle;
    must(adsm_accel_open(2, &other));
    must(adsm_kernel_on(&view, other, &handle));
    must(adsm_accel_synchronize(view.accel));
    adsm_kernel_release(&view);
    must(adsmFree(p));
}
END_TEST

START_TEST(module_that_a_device_refuses_names_the_device)
{
    adsmModule *module;
    must(adsm_init());
    must(adsmDeviceUse(3));
    ck_assert_int_eq(adsmModuleLoad(&module, "no code", 7), ADSM_E_INVALID);
    ck_assert_msg(strstr(adsmErrorDetail(), "device 3") != NULL, "'%s'",
                  adsmErrorDetail());
}
END_TEST

struct race {
    _Atomic(adsmKernel *) kernel;
    _Atomic bool over;
    uint8_t *p;
};

/* A launch meets a module that is there or one that is not, nothing else. */
static void *launch_on(void *arg)
{
    struct race *race = arg;
    while (!atomic_load(&race->over)) {
        adsmKernel *kernel = atomic_load(&race->kernel);
        uint32_t n = 64, seed = 1;
        int rc = adsmLaunch(kernel, adsmDim1(1), adsmDim1(64), 0,
                            adsmInOut(race->p), adsmVal(n), adsmVal(seed));
        if (rc != ADSM_OK && rc != ADSM_E_INVALID)
            return "a launch failed";
    }
    return NULL;
}

START_TEST(modules_unloaded_while_threads_launch_harm_nothing)
{
    struct fixture f = fixture_up();
    struct race race = {.p = adsmAlloc(4096)};
    atomic_init(&race.kernel, f.fill_only);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_on, &race),
                         0);
    for (int i = 0; i < 300; i++) {
        struct fixture next = fixture_up();
        atomic_store(&race.kernel, next.fill_only);
        must(adsmModuleUnload(f.module));
        f = next;
    }
    atomic_store(&race.over, true);
    for (int i = 0; i < 2; i++) {
        void *failure;
        pthread_join(threads[i], &failure);
        ck_assert_msg(!failure, "%s", (char *)failure);
    }
    must(adsmSync());
    must(adsmModuleUnload(f.module));
    must(adsmFree(race.p));
}
END_TEST

SUITE_MAIN("kernel", 60, kernel_gets_a_handle_on_every_device,
           module_unloaded_while_held_serves_its_holder,
           module_that_a_device_refuses_names_the_device,
           modules_unloaded_while_threads_launch_harm_nothing)
