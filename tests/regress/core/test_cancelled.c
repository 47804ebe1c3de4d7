/*
 * Calls of a thread that was cancelled before them: none is a place where it
 * ends, so that no lock stays behind, and the rest of the program goes on. A
 * case that hangs is ended by Check's timeout.
 */
#include "../../mm/fixture.h"

#include <pthread.h>

enum { BYTES = 3 << 20, PAGE = 4096 };

static adsmKernel *fill;
static int calls_done, wrong;

/* Check's macros are places where a thread ends, so they are not used here. */
static void use_everything(void)
{
    uint8_t *p = adsmAlloc(BYTES), *small = adsmAlloc(100);
    uint32_t n = BYTES, seed = 3;
    for (size_t i = 0; i < BYTES; i += PAGE)
        ((volatile uint8_t *)p)[i] = 1;
    wrong += adsmLaunch(fill, adsmDim1((n + 255) / 256), adsmDim1(256), 0,
                        adsmInOut(p), adsmVal(n), adsmVal(seed)) != ADSM_OK;
    wrong += adsmSync() != ADSM_OK;
    for (size_t i = 0; i < BYTES; i += PAGE)
        wrong += ((volatile uint8_t *)p)[i] != filled((uint32_t)i, seed);
    wrong += adsmFree(p) != ADSM_OK;
    wrong += !small || adsmFree(small) != ADSM_OK;
}

static void bring_up(void)
{
    adsmModule *module;
    wrong +=
        adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1) != ADSM_OK;
    wrong += adsmKernelGet(&fill, module, "fill", ADSM_ANY_OBJECT) != ADSM_OK;
}

static void *cancelled(void *first)
{
    pthread_cancel(pthread_self());
    if (first)
        bring_up();
    calls_done = 1;
    use_everything();
    calls_done = 2;
    pthread_testcancel();
    return NULL;
}

static void run_cancelled(void *first)
{
    pthread_t thread;
    void *result;
    calls_done = 0;
    pthread_create(&thread, NULL, cancelled, first);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
}

START_TEST(calls_of_a_cancelled_thread_are_made_whole)
{
    bring_up();
    for (int i = 0; i < 5; i++) {
        run_cancelled(NULL);
        ck_assert_int_eq(calls_done, 2);
        use_everything();
        ck_assert_int_eq(wrong, 0);
    }
}
END_TEST

START_TEST(runtime_brought_up_by_a_cancelled_thread_is_up)
{
    run_cancelled(&fill);
    ck_assert_int_eq(calls_done, 2);
    ck_assert(adsm_is_up());
    use_everything();
    ck_assert_int_eq(wrong, 0);
}
END_TEST

SUITE_MAIN("cancelled", 60, calls_of_a_cancelled_thread_are_made_whole,
           runtime_brought_up_by_a_cancelled_thread_is_up)
