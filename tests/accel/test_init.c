/*
 * Devices and contexts: which accel a thread gets, and that callers keep what
 * they had.
 */
#include "fixture.h"

#include <errno.h>
#include <sys/wait.h>

static adsm_cu_context current(void)
{
    adsm_cu_context context = NULL;
    ck_assert_int_eq(adsm_cuda_api()->CtxGetCurrent(&context), 0);
    return context;
}

START_TEST(init_twice_counts_the_devices_once)
{
    setenv("SOFTCUDA_DEVICES", "3", 1);
    adsm_options_load();
    ck_assert_int_eq(adsm_accel_devices(), 0);
    must(adsm_accel_init());
    must(adsm_accel_init());
    ck_assert_int_eq(adsm_accel_devices(), 3);
    ck_assert_str_eq(adsm_accel_why(), "");
}
END_TEST

START_TEST(no_such_device_names_the_range)
{
    struct adsm_accel *accel = NULL;
    setenv("SOFTCUDA_DEVICES", "2", 1);
    adsm_options_load();
    ck_assert_int_eq(adsm_accel_open(2, &accel), ADSM_E_INVALID);
    ck_assert_ptr_nonnull(strstr(adsm_accel_error_text(), "0..1"));
    ck_assert_int_eq(adsm_accel_open(-1, &accel), ADSM_E_INVALID);
    ck_assert_ptr_nonnull(strstr(adsm_accel_error_text(), "-1"));
    ck_assert_int_eq(adsm_accel_describe(2, NULL, 0, NULL, NULL),
                     ADSM_E_INVALID);
}
END_TEST

START_TEST(device_list_selects_and_orders)
{
    struct adsm_accel *accel;
    setenv("SOFTCUDA_DEVICES", "3", 1);
    setenv("ADSM_DEVICES", "2,0,9", 1);
    adsm_options_load();
    must(adsm_accel_init());
    ck_assert_int_eq(adsm_accel_devices(), 2);
    must(adsm_accel_open(0, &accel));
    ck_assert_int_eq(accel->ordinal, 2);
    ck_assert_int_eq(adsm_accel_device(accel), 0);
    must(adsm_accel_open(1, &accel));
    ck_assert_int_eq(accel->ordinal, 0);
}
END_TEST

START_TEST(device_list_without_a_device_counts_as_not_set)
{
    setenv("SOFTCUDA_DEVICES", "2", 1);
    setenv("ADSM_DEVICES", "5", 1);
    adsm_options_load();
    must(adsm_accel_init());
    ck_assert_int_eq(adsm_accel_devices(), 2);
}
END_TEST

START_TEST(description_has_name_and_memory)
{
    char name[64] = "";
    size_t total = 0, free_bytes = 0;
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    accel_up();
    must(adsm_accel_describe(0, name, sizeof name, &total, &free_bytes));
    ck_assert_uint_eq(total, 64u << 20);
    ck_assert_uint_le(free_bytes, total);
    ck_assert_uint_gt(free_bytes, 0);
    ck_assert_uint_gt(strlen(name), 0);
    must(adsm_accel_describe(0, name, 5, NULL, NULL));
    ck_assert_uint_le(strlen(name), 4);
}
END_TEST

static void *open_zero(void *arg)
{
    struct adsm_accel **accel = arg;
    must(adsm_accel_open(0, accel));
    return NULL;
}

START_TEST(threads_open_the_same_accel)
{
    struct adsm_accel *accel[8] = {0};
    pthread_t thread[8];
    adsm_options_load();
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, open_zero, &accel[i]);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 8; i++)
        ck_assert_ptr_eq(accel[i], accel[0]);
}
END_TEST

START_TEST(no_current_context_is_an_error)
{
    struct adsm_accel *accel = NULL;
    adsm_options_load();
    ck_assert_int_eq(adsm_accel_of_current(&accel), ADSM_E_INVALID);
    ck_assert_ptr_nonnull(strstr(adsm_accel_error_text(), "context"));
}
END_TEST

START_TEST(program_context_gets_an_accel_of_its_own)
{
    struct adsm_accel *primary = accel_up();
    struct adsm_accel *accel = NULL;
    adsm_cu_context context = new_context();
    must(adsm_accel_of_current(&accel));
    ck_assert_ptr_ne(accel, primary);
    ck_assert_ptr_eq(adsm_accel_of_context(context), accel);
    ck_assert_ptr_eq(adsm_accel_of_context(NULL), NULL);
    ck_assert_int_eq(adsm_accel_device(accel), 0);
    struct adsm_accel *again = NULL;
    must(adsm_accel_of_current(&again));
    ck_assert_ptr_eq(again, accel);

    adsm_accel_forget(accel);
    ck_assert_ptr_eq(adsm_accel_of_context(context), NULL);
    ck_assert_int_eq(adsm_accel_health(accel), ADSM_E_DEVICE_LOST);
    ck_assert_int_eq(adsm_dma_drain(accel), ADSM_OK); /* nothing is left */
    adsm_cu_result (*destroy)(adsm_cu_context) = driver("cuCtxDestroy_v2");
    ck_assert_int_eq(destroy(context), 0);
    ck_assert_int_eq(adsm_accel_health(primary), ADSM_OK);
}
END_TEST

START_TEST(primary_context_of_a_program_is_the_same_accel)
{
    struct adsm_accel *first = NULL, *second = NULL;
    adsm_cu_context context = NULL;
    adsm_options_load();
    must(adsm_accel_init());
    ck_assert_int_eq(adsm_cuda_api()->DevicePrimaryCtxRetain(&context, 0), 0);
    ck_assert_int_eq(adsm_cuda_api()->CtxPushCurrent(context), 0);
    must(adsm_accel_of_current(&first));
    must(adsm_accel_open(0, &second));
    ck_assert_ptr_eq(first, second);
}
END_TEST

static void use_everything(struct adsm_accel *accel)
{
    struct adsm_span span;
    struct adsm_fence fence;
    uint8_t *host = host_buffer(8192);
    must(adsm_address_alloc(accel, 4096, false, &span));
    adsm_pin(accel, host, 8192);
    must(adsm_dma_upload(accel, span.device, host, 4096, nothing, &fence,
                         ADSM_CAUSE(trial)));
    must(adsm_dma_download(accel, host, span.device, 4096, fence,
                           ADSM_CAUSE(trial)));
    adsm_lane_note(accel, NULL, false);
    must(adsm_lane_wait_noted(accel));
    must(adsm_accel_synchronize(accel));
    adsm_unpin(accel, host, 8192);
    must(adsm_address_free(accel, &span));
    free(host);
}

START_TEST(callers_keep_their_context_and_errno)
{
    struct adsm_accel *accel = accel_up();
    ck_assert_ptr_null(current());
    errno = 4711;
    use_everything(accel);
    ck_assert_int_eq(errno, 4711);
    ck_assert_ptr_null(current());
    adsm_cu_context mine = new_context();
    use_everything(accel);
    ck_assert_ptr_eq(current(), mine);
}
END_TEST

static void *use_in_thread(void *arg)
{
    use_everything(arg);
    return NULL;
}

START_TEST(threads_the_driver_never_saw_may_call)
{
    struct adsm_accel *accel = accel_up();
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, use_in_thread, accel);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(forked_child_is_told_so)
{
    struct adsm_accel *accel = accel_up();
    pid_t child = fork();
    if (child == 0)
        _exit(adsm_accel_synchronize(accel));
    int status = 0;
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), ADSM_E_FORKED);
    must(adsm_accel_synchronize(accel));
}
END_TEST

START_TEST(bad_image_gives_the_drivers_words)
{
    struct adsm_accel *accel = accel_up();
    static const char text[] = ".version 6.4\n.target sm_70\n"
                               ".address_size 64\n.visible .entry k() {\n"
                               "frobnicate.u32 %r1;\nret;\n}\n";
    void *module = NULL;
    ck_assert_int_eq(
        adsm_accel_module_load(accel, text, sizeof text - 1, &module),
        ADSM_E_INVALID);
    ck_assert_ptr_nonnull(strstr(adsm_accel_error_text(), "frobnicate"));
    ck_assert_int_eq(adsm_accel_health(accel), ADSM_OK);
}
END_TEST

START_TEST(kernel_can_be_found_asked_and_launched)
{
    /* No terminating zero: the text is longer than what is named. */
    static const char text[] =
        ".version 6.4\n.target sm_70\n.address_size 64\n"
        ".visible .entry set(.param .u64 p, .param .u32 v) {\n"
        ".reg .b32 %r<2>; .reg .b64 %d<2>;\n"
        "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v];\n"
        "st.global.u32 [%d1], %r1; ret;\n}\n garbage";
    struct adsm_accel *accel = accel_up();
    void *module = NULL, *kernel = NULL;
    size_t offset = 0, bytes = 0;
    must(adsm_accel_module_load(accel, text, strlen(text) - 8, &module));
    ck_assert_int_eq(adsm_accel_kernel_get(accel, module, "no", &kernel),
                     ADSM_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(adsm_accel_error_text(), "none of that name"));
    must(adsm_accel_kernel_get(accel, module, "set", &kernel));
    must(adsm_accel_kernel_parameter(accel, kernel, 1, &offset, &bytes));
    ck_assert_uint_eq(offset, 8);
    ck_assert_uint_eq(bytes, 4);
    ck_assert_int_eq(
        adsm_accel_kernel_parameter(accel, kernel, 2, &offset, &bytes),
        ADSM_E_NOT_FOUND);

    struct adsm_span span;
    uint32_t value = 0x12345678, got = 0;
    must(adsm_address_alloc(accel, 4, false, &span));
    void *values[] = {&span.device.at, &value};
    adsm_stream stream = adsm_accel_launch_stream(accel);
    struct adsm_launch launch = {.kernel = kernel,
                                 .grid = {0, 1, 1},
                                 .block = {1, 1, 1},
                                 .stream = stream,
                                 .values = values};
    ck_assert_int_eq(adsm_accel_launch(accel, &launch), ADSM_E_INVALID);
    launch.grid[0] = 1;
    must(adsm_accel_launch(accel, &launch));
    adsm_lane_note(accel, stream, false);
    must(adsm_dma_download(accel, &got, span.device, 4, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_uint_eq(got, value);
    must(adsm_accel_module_unload(accel, module));
}
END_TEST

SUITE_MAIN("accel/init", 60, init_twice_counts_the_devices_once,
           no_such_device_names_the_range, device_list_selects_and_orders,
           device_list_without_a_device_counts_as_not_set,
           description_has_name_and_memory, threads_open_the_same_accel,
           no_current_context_is_an_error,
           program_context_gets_an_accel_of_its_own,
           primary_context_of_a_program_is_the_same_accel,
           callers_keep_their_context_and_errno,
           threads_the_driver_never_saw_may_call, forked_child_is_told_so,
           bad_image_gives_the_drivers_words,
           kernel_can_be_found_asked_and_launched)
