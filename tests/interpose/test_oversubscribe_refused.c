/*
 * What ADSM_OVERSUBSCRIBE cannot do, and says; and what goes the long way: rows
 * with a pitch, small allocations, graphs, host functions, addresses in memory.
 *
 * Meson runs it preloaded, under every protocol, and without looking at what
 * kernels write.
 */
#include "interpose/oversubscribe.h"

/* Standard error of what follows, and back. */
struct heard {
    int ends[2], before;
};

static struct heard listen(void)
{
    struct heard h;
    ck_assert_int_eq(pipe(h.ends), 0);
    h.before = dup(STDERR_FILENO);
    dup2(h.ends[1], STDERR_FILENO);
    return h;
}

static void hear(struct heard *h, char *said, size_t bytes)
{
    dup2(h->before, STDERR_FILENO);
    close(h->ends[1]);
    memset(said, 0, bytes);
    ck_assert_int_ge(read(h->ends[0], said, bytes - 1), 0);
}

START_TEST(without_the_option_memory_is_what_there_is)
{
    CUdeviceptr at;
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    setenv("ADSM_OVERSUBSCRIBE", "0", 1);
    device_start();
    must(cuMemAlloc(&at, BYTES));
    must(cuMemAlloc(&at, BYTES));
    ck_assert_int_eq(cuMemAlloc(&at, BYTES), CUDA_ERROR_OUT_OF_MEMORY);
}
END_TEST

START_TEST(addresses_that_go_with_their_memory_are_said)
{
    CUdeviceptr at;
    char said[4096];
    setenv("ADSM_ADDRESS", "overlay", 1);
    struct heard h = listen();
    oversubscribe();
    must(cuMemAlloc(&at, BYTES));
    must(cuMemAlloc(&at, BYTES));
    ck_assert_int_eq(cuMemAlloc(&at, BYTES), CUDA_ERROR_OUT_OF_MEMORY);
    hear(&h, said, sizeof said);
    ck_assert_msg(strstr(said, "ADSM_OVERSUBSCRIBE changes nothing here: with "
                               "the address strategy overlay"),
                  "%s", said);
}
END_TEST

START_TEST(no_array_is_larger_than_the_device)
{
    CUdeviceptr at;
    oversubscribe();
    ck_assert_int_eq(cuMemAlloc(&at, 2 * BYTES + 1), CUDA_ERROR_OUT_OF_MEMORY);
    must(cuMemAlloc(&at, 2 * BYTES));
    must(cuMemAlloc(&at, 2 * BYTES));
}
END_TEST

/* One argument needs all of the device. */
START_TEST(launch_of_more_than_the_device_says_so_and_loses_nothing)
{
    struct array x, y, *one[] = {&x, &y};
    CUdeviceptr large;
    char said[4096];
    oversubscribe();
    x = array_make(1);
    y = array_make(2);
    must(cuMemAlloc(&large, 2 * BYTES));
    must(cuMemsetD32(large, 0, 2 * WORDS));
    uint64_t up = COUNTER(bytes_up), down = COUNTER(bytes_down);
    struct heard h = listen();
    ck_assert_int_eq(launch("add", x.at, large, NULL),
                     CUDA_ERROR_OUT_OF_MEMORY);
    hear(&h, said, sizeof said);
    ck_assert_str_eq(said,
                     "libadsm: error: ADSM_OVERSUBSCRIBE: a launch may touch "
                     "24.000 MiB in 2 arrays at once and device 0 has room for "
                     "16.000 MiB of them: give it fewer or smaller arrays at a "
                     "time\n");
    ck_assert_uint_eq(COUNTER(bytes_up), up);
    ck_assert_uint_eq(COUNTER(bytes_down), down);
    add(&x, &y, NULL);
    for (int i = 0; i < 2; i++)
        array_check(one[i]);
    must(launch("add", large, large, NULL));
    must(cuCtxSynchronize());
    add(&y, &x, NULL);
    for (int i = 0; i < 2; i++)
        array_check(one[i]);
}
END_TEST

/* An address in memory may be any: all is resident, or nothing is launched. */
START_TEST(addresses_in_memory_take_everything)
{
    struct array x, y, z;
    CUdeviceptr small;
    char said[4096];
    oversubscribe_with(MEMORY_MIB + 4); /* two of them, and small ones */
    x = array_make(1);
    y = array_make(2);
    z = array_make(3);
    must(cuMemAlloc(&small, sizeof y.at));
    must(cuMemcpyHtoD(small, &y.at, sizeof y.at));
    struct heard h = listen();
    ck_assert_int_eq(launch("through", small, z.at, NULL),
                     CUDA_ERROR_OUT_OF_MEMORY);
    hear(&h, said, sizeof said);
    ck_assert_msg(strstr(said, "may touch 24.000 MiB in 3 arrays") &&
                      strstr(said, "its code does not say which"),
                  "%s", said);
    array_check(&y);
    array_free(&z);
    must(launch("through", small, x.at, NULL));
    memcpy(x.model, y.model, BYTES);
    array_check(&x);
    array_check(&y);
}
END_TEST

/* A kernel of which nobody has been told: it was found without its name. */
static CUfunction unread_kernel(void)
{
    CUmodule module;
    CUfunction functions[16];
    const char *name;
    unsigned count;
    must(cuModuleLoadData(&module, text));
    must(cuModuleGetFunctionCount(&count, module));
    ck_assert_uint_le(count, 16);
    must(cuModuleEnumerateFunctions(functions, count, module));
    for (unsigned i = 0; i < count; i++) {
        must(cuFuncGetName(&name, functions[i]));
        if (strcmp(name, "add") == 0)
            return functions[i];
    }
    ck_abort_msg("no kernel has that name");
}

static CUresult launch_unread(struct array *x, struct array *y)
{
    void *arguments[] = {&x->at, &y->at};
    return cuLaunchKernel(unread_kernel(), WORDS / THREADS, 1, 1, THREADS, 1, 1,
                          0, NULL, arguments, NULL);
}

START_TEST(kernels_without_text_may_touch_anything)
{
    struct array x, y, z;
    char said[4096];
    oversubscribe();
    x = array_make(1);
    y = array_make(2);
    z = array_make(3);
    struct heard h = listen();
    ck_assert_int_eq(launch_unread(&x, &z), CUDA_ERROR_OUT_OF_MEMORY);
    hear(&h, said, sizeof said);
    ck_assert_msg(strstr(said, "its code does not say which"), "%s", said);
    array_free(&y);
    must(launch_unread(&x, &z));
    model_add(&x, &z);
    array_check(&x);
    array_check(&z);
}
END_TEST

START_TEST(arguments_say_it_where_the_user_does)
{
    struct array x, y, z;
    setenv("ADSM_OVERSUBSCRIBE", "arguments", 1);
    oversubscribe();
    x = array_make(1);
    y = array_make(2);
    z = array_make(3);
    must(launch_unread(&x, &z));
    model_add(&x, &z);
    must(launch_unread(&z, &y));
    model_add(&z, &y);
    array_check(&x);
    array_check(&y);
    array_check(&z);
}
END_TEST

/* Three arrays of half the memory each: one of them is away. */
static void make_three(struct array *a)
{
    oversubscribe();
    for (uint32_t i = 0; i < 3; i++)
        a[i] = array_make(i);
}

static void check_three(const struct array *a)
{
    for (int i = 0; i < 3; i++)
        array_check(&a[i]);
}

START_TEST(captured_launches_count_as_anything)
{
    struct array a[3];
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    make_three(a);
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    must(launch("add", a[0].at, a[1].at, stream));
    must(cuStreamEndCapture(stream, &graph));
    must(cuGraphInstantiateWithFlags(&exec, graph, 0));
    struct heard h = listen();
    char said[4096];
    ck_assert_int_eq(cuGraphLaunch(exec, stream), CUDA_ERROR_OUT_OF_MEMORY);
    hear(&h, said, sizeof said);
    ck_assert_msg(strstr(said, "its code does not say which"), "%s", said);
    check_three(a);
    array_free(&a[2]);
    must(cuGraphLaunch(exec, stream));
    must(cuStreamSynchronize(stream));
    model_add(&a[0], &a[1]);
    for (int i = 0; i < 2; i++)
        array_check(&a[i]);
}
END_TEST

START_TEST(sets_and_copies_of_what_is_away)
{
    struct array a[3];
    make_three(a);
    for (int k = 0; k < 3; k++) {
        struct array *x = &a[k], *y = &a[(k + 1) % 3], *z = &a[(k + 2) % 3];
        add(x, y, NULL); /* z is away */
        must(cuMemsetD32(z->at + 400, 0xabcd1234, 5000));
        must(cuMemsetD16Async(z->at + 30000, 0x7788, 33, NULL));
        must(cuMemsetD8(z->at + 40000, 9, 1001));
        for (int i = 0; i < 5000; i++)
            z->model[100 + i] = 0xabcd1234;
        for (int i = 0; i < 33; i++)
            memcpy((char *)z->model + 30000 + 2 * i, "\x88\x77", 2);
        memset((char *)z->model + 40000, 9, 1001);
        must(cuMemcpyDtoD(z->at + 1000000, x->at + 77, 1234567));
        memcpy((char *)z->model + 1000000, (char *)x->model + 77, 1234567);
        must(cuMemcpyDtoD(y->at + 5, z->at + 999999, 100001));
        memcpy((char *)y->model + 5, (char *)z->model + 999999, 100001);
        must(cuMemcpyHtoDAsync(z->at + 3000000, x->model, 70000, NULL));
        memcpy((char *)z->model + 3000000, x->model, 70000);
        check_three(a);
    }
}
END_TEST

/* Rows are the driver's: what they are of becomes resident. */
START_TEST(rows_of_what_is_away)
{
    enum { PITCH = 4096, WIDTH = 1000, HEIGHT = 500 };
    struct array a[3];
    make_three(a);
    for (int k = 0; k < 3; k++) {
        struct array *from = &a[k], *to = &a[(k + 2) % 3];
        CUDA_MEMCPY2D copy = {
            .srcMemoryType = CU_MEMORYTYPE_DEVICE,
            .srcDevice = from->at,
            .srcPitch = PITCH,
            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
            .dstDevice = to->at,
            .dstPitch = PITCH,
            .WidthInBytes = WIDTH,
            .Height = HEIGHT,
        };
        must(cuMemcpy2D(&copy));
        for (size_t row = 0; row < HEIGHT; row++)
            memcpy((char *)to->model + row * PITCH,
                   (char *)from->model + row * PITCH, WIDTH);
        check_three(a);
    }
    ck_assert_uint_gt(COUNTER(moved_in), 2);
}
END_TEST

/* They stay, so the large ones make room. */
START_TEST(small_allocations_find_room)
{
    struct array a[3];
    CUdeviceptr small[40], row;
    size_t pitch;
    uint32_t got[256];
    make_three(a);
    for (uint32_t i = 0; i < 40; i++) {
        must(cuMemAlloc(&small[i], i % 2 ? 100000 : 1000));
        must(cuMemsetD32(small[i], i, 250));
    }
    must(cuMemAllocPitch(&row, &pitch, 1000, 10, 4));
    must(cuMemFree(row));
    check_three(a);
    for (uint32_t i = 0; i < 40; i++) {
        must(cuMemcpyDtoH(got, small[i], 1000));
        for (int k = 0; k < 250; k++)
            ck_assert_uint_eq(got[k], i);
    }
    must(launch("add", a[0].at, a[0].at, NULL));
    model_add(&a[0], &a[0]);
    array_check(&a[0]);
}
END_TEST

static void CUDA_CB write_there(void *context)
{
    const struct array *a = context;
    for (int i = 0; i < 3; i++)
        ((volatile uint32_t *)a[i].at)[7]++;
}

START_TEST(host_function_works_on_what_is_away)
{
    struct array a[3];
    make_three(a);
    for (int k = 0; k < 6; k++) {
        add(&a[k % 3], &a[(k + 1) % 3], NULL);
        must(cuLaunchHostFunc(NULL, write_there, a));
        for (int i = 0; i < 3; i++)
            a[i].model[7]++;
        add(&a[(k + 2) % 3], &a[k % 3], NULL);
    }
    check_three(a);
}
END_TEST

START_TEST(context_ends_with_an_array_away)
{
    struct array a[3];
    CUdevice device;
    CUcontext context;
    size_t before, after, total;
    oversubscribe();
    must(cuMemGetInfo(&before, &total));
    for (uint32_t i = 0; i < 3; i++)
        a[i] = array_make(i);
    must(cuDeviceGet(&device, 0));
    must(cuDevicePrimaryCtxReset(device));
    must(cuDevicePrimaryCtxRetain(&context, device));
    must(cuCtxSetCurrent(context));
    must(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(after, before);
    for (uint32_t i = 0; i < 3; i++)
        a[i] = array_make(10 + i);
    add(&a[2], &a[1], NULL);
    add(&a[1], &a[0], NULL);
    check_three(a);
}
END_TEST

SUITE_MAIN("interpose-oversubscribe-refused", 60,
           without_the_option_memory_is_what_there_is,
           addresses_that_go_with_their_memory_are_said,
           no_array_is_larger_than_the_device,
           launch_of_more_than_the_device_says_so_and_loses_nothing,
           addresses_in_memory_take_everything,
           kernels_without_text_may_touch_anything,
           arguments_say_it_where_the_user_does,
           captured_launches_count_as_anything, sets_and_copies_of_what_is_away,
           rows_of_what_is_away, small_allocations_find_room,
           host_function_works_on_what_is_away, context_ends_with_an_array_away)
