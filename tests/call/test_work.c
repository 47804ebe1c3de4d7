/*
 * Functions in kernels' places: work that a library would give to a stream, here
 * kernels that are launched by the driver's own functions.
 */
#include "call/fixture.h"

#include "common/kill_device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 20000, DEVICES = 4 };

static bool on_cpu;

/* ---- the library --------------------------------------------------------------- */

static int (*load)(void **module, const char *path);
static int (*find)(void **function, void *module, const char *name);
static int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz,
                     unsigned bx, unsigned by, unsigned bz, unsigned shared,
                     void *stream, void **values, void **extra);
static int (*set)(uint64_t at, unsigned value, size_t count, void *stream);
static int (*make_stream)(void **stream, unsigned flags);
static int (*end_stream)(void *stream);
static int (*query)(void *stream);
static int (*current)(void **context);
static int (*enter)(void *context);
static int (*retain)(void **context, int device);

/* A library's own code on a device, and a stream of the program's there. */
static struct {
    void *add, *all, *stream, *context;
} device[DEVICES];

#define FUNCTION(pointer, name)                                                \
    do {                                                                       \
        *(void **)&(pointer) = dlsym(driver, name);                            \
        ck_assert_ptr_nonnull(pointer);                                        \
    } while (0)

static void up(void)
{
    (void)adsmDeviceCount();
    if (on_cpu)
        return;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    ck_assert_ptr_nonnull(driver);
    FUNCTION(load, "cuModuleLoad");
    FUNCTION(find, "cuModuleGetFunction");
    FUNCTION(launch, "cuLaunchKernel");
    FUNCTION(set, "cuMemsetD32Async");
    FUNCTION(make_stream, "cuStreamCreate");
    FUNCTION(end_stream, "cuStreamDestroy_v2");
    FUNCTION(query, "cuStreamQuery");
    FUNCTION(current, "cuCtxGetCurrent");
    FUNCTION(enter, "cuCtxSetCurrent");
    FUNCTION(retain, "cuDevicePrimaryCtxRetain");
    for (int d = 0; d < adsmDeviceCount(); d++) {
        void *module;
        ck_assert_int_eq(retain(&device[d].context, d), 0);
        ck_assert_int_eq(enter(device[d].context), 0);
        ck_assert_int_eq(load(&module, KERNELS_PTX), 0);
        ck_assert_int_eq(find(&device[d].add, module, "add"), 0);
        ck_assert_int_eq(find(&device[d].all, module, "all"), 0);
        ck_assert_int_eq(make_stream(&device[d].stream, 1), 0);
    }
    ck_assert_int_eq(enter(NULL), 0);
}

/* p[lo:hi] += q[lo:hi], as a library would do it. */
static int add(int d, void *stream, int *p, const int *q, long lo, long hi)
{
    int *from = p + lo, n = (int)(hi - lo);
    const int *with = q + lo;
    void *values[] = {&from, &with, &n};
    if (!on_cpu)
        return launch(device[d].add, (unsigned)(n + 255) / 256, 1, 1, 256, 1, 1,
                      0, stream, values, NULL);
    for (int i = 0; i < n; i++)
        from[i] += with[i];
    return 0;
}

static _Atomic int calls;

/* Argument 0 += argument 1, over what `user` says or the part's box. */
static int add_work(const adsmWork *work, void *user)
{
    long n = user ? *(long *)user : 0;
    void *context = NULL;
    atomic_fetch_add(&calls, 1);
    if (!on_cpu) {
        (void)current(&context);
        if (context != device[work->device].context || !work->stream)
            return 99;
    } else if (work->stream) {
        return 98;
    }
    return add(work->device, work->stream, adsmWorkPointer(work, 0),
               adsmWorkPointer(work, 1), n ? 0 : work->box.lo[0],
               n ? n : work->box.hi[0]);
}

/* kernels.cu's `all` for the processors. */
static void all_on_cpu(const adsmBlocks *blocks, void *const *values)
{
    long i0 = *(long *)values[0], i1 = *(long *)values[1];
    const int *x = *(const int **)values[2];
    int *out = *(int **)values[3];
    long n = *(long *)values[4];
    long from = i0 + (long)(blocks->first * blocks->block[0]);
    long to = from + (long)(blocks->count * blocks->block[0]);
    for (long i = from; i < to && i < i1; i++) {
        int sum = 0;
        for (long k = 0; k < n; k++)
            sum += x[k] * (int)(1 + (k > i ? k - i : i - k) % 7);
        out[i] = sum;
    }
}

static const size_t all_bytes[] = {8, 8, 8, 8, 8};
static adsmCpuCode all_code = {"all", all_on_cpu, 5, all_bytes, NULL};

enum { TERMS = 1000 };

/* Makes `out` what made() says, which takes its time, of ones. */
static void slow(const int *ones, int *out)
{
    long n = TERMS;
    must(adsmCall(kernel("all"), N, adsmIn(ones), adsmOut(out), adsmVal(n)));
}

static int made(int i)
{
    static int sums[N];
    for (int k = 0, first = sums[i] == 0; k < TERMS && first; k++)
        sums[i] += 1 + abs(k - i) % 7;
    return sums[i];
}

static int *filled(int home, int value)
{
    int *p = array(adsmR1(N), home);
    must(adsmFill(p, N, value));
    return p;
}

/* Each is `value`, and so many times what was made. */
static void check_made(const int *p, int value, int times)
{
    for (int i = 0; i < N; i++)
        if (p[i] != value + times * made(i))
            ck_abort_msg("element %d is %d and not %d", i, p[i],
                         value + times * made(i));
}

static void check(const int *p, int value)
{
    check_made(p, value, 0);
}

/* ---- order ---------------------------------------------------------------------- */

static const int homes[] = {0, ADSM_NO_HOME, 1};

/* In a stream of the library's, or in the program's own. */
static void in_order(void *stream)
{
    for (int h = 0; h < (on_cpu ? 2 : 3); h++) {
        long n = N;
        int *ones = filled(0, 1), *x = filled(homes[h], 7),
            *y = filled(homes[h], 0), *z = filled(0, 0);
        for (int s = 0; s < 5; s++) {
            slow(ones, x);
            must(adsmStream(stream, add_work, &n, adsmInOut(y), adsmIn(x)));
            must(adsmFill(x, N, 3)); /* behind its read */
            must(adsmStream(stream, add_work, &n, adsmInOut(y), adsmIn(x)));
            must(adsmCopy(z, y, N * sizeof *y)); /* behind its write */
            slow(ones, y);
        }
        check_made(z, 3, 2);
        check_made(y, 0, 1);
        must(adsmStream(stream, add_work, &n, adsmInOut(y), adsmIn(x)));
        check_made(y, 3, 1); /* the CPU waits, and fetches */
        check(x, 3);
        y[5] = 50; /* ... and is waited for */
        must(adsmStream(stream, add_work, &n, adsmInOut(x), adsmIn(y)));
        ck_assert_int_eq(x[5], 53);
        ck_assert_int_eq(x[6], 6 + made(6));
        must(adsmFree(ones));
        must(adsmFree(x));
        must(adsmFree(y));
        must(adsmFree(z));
    }
}

START_TEST(work_takes_its_place_in_the_order_of_its_data)
{
    up();
    in_order(NULL);
}
END_TEST

START_TEST(a_stream_of_the_programs_own_does_too)
{
    up();
    if (!on_cpu)
        in_order(device[0].stream);
}
END_TEST

/* What the program has enqueued there by itself. */
START_TEST(what_is_in_the_stream_already_comes_before)
{
    up();
    if (on_cpu)
        return;
    int *ones = filled(0, 1), *x = filled(0, 0), *y = filled(0, 0);
    long n = N;
    const int *from = adsmSafe(ones);
    int *to = adsmSafe(x);
    long lo = 0, hi = N, count = TERMS;
    void *values[] = {&lo, &hi, &from, &to, &count};
    must(adsmSync());
    ck_assert_int_eq(enter(device[0].context), 0);
    ck_assert_int_eq(launch(device[0].all, (N + 255) / 256, 1, 1, 256, 1, 1, 0,
                            device[0].stream, values, NULL),
                     0);
    must(adsmStream(device[0].stream, add_work, &n, adsmInOut(y), adsmIn(x)));
    check_made(y, 0, 1);
    must(adsmStream(device[0].stream, add_work, &n, adsmInOut(y), adsmIn(x)));
    ck_assert_int_eq(end_stream(device[0].stream), 0);
    check_made(y, 0, 2);
    must(adsmFree(ones));
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

static int set_work(const adsmWork *work, void *user)
{
    int *p = adsmWorkPointer(work, 0), value = *(int *)work->values[1];
    (void)user;
    if (!on_cpu)
        return set((uintptr_t)p, (unsigned)value, N, work->stream);
    for (int i = 0; i < N; i++)
        p[i] = value;
    return 0;
}

START_TEST(values_are_those_when_the_call_is_made)
{
    up();
    int *x = filled(0, 1), *ones = filled(0, 1);
    slow(ones, x);
    int value = 44;
    must(adsmStream(NULL, set_work, NULL, adsmOut(x), adsmVal(value)));
    value = 45;
    check(x, 44);
    must(adsmFree(x));
    must(adsmFree(ones));
}
END_TEST

/* ---- in parts ------------------------------------------------------------------- */

START_TEST(parts_get_their_boxes_and_pointers_on_each_device)
{
    up();
    adsmKernel *kernel;
    adsmEvent event;
    must(adsmKernelOf(&kernel, "add of a library", add_work, NULL));
    for (int h = 0; h < 2; h++)
        for (int parts = 1; parts < 8; parts += 3) {
            int *x = filled(homes[h], 2), *y = array(adsmR1(N), homes[h]);
            for (int i = 0; i < N; i++)
                y[i] = i;
            atomic_store(&calls, 0);
            must(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES,
                                       .parts = parts, .event = &event),
                              kernel, adsmR1(N), adsmInOut(y), adsmIn(x)));
            must(adsmWait(event));
            ck_assert_int_eq(atomic_load(&calls), parts);
            must(adsmCallWith(adsmWith(.devices = 1, .parts = 1), kernel,
                              ((adsmBox){1, {10}, {N}}), adsmInOut(y),
                              adsmIn(x)));
            for (int i = 0; i < N; i++)
                ck_assert_int_eq(y[i], i + (i < 10 ? 2 : 4));
            must(adsmFree(x));
            must(adsmFree(y));
        }
    must(adsmKernelEnd(kernel));
    expect(adsmKernelEnd(kernel), ADSM_E_INVALID, "not any more");
    int *x = filled(0, 1);
    expect(adsmCallWith(NULL, kernel, adsmR1(N), adsmInOut(x), adsmIn(x)),
           ADSM_E_INVALID, "not a kernel");
    must(adsmFree(x));
}
END_TEST

/* It is there until the last of its work has ended. */
START_TEST(kernel_that_ends_lets_its_calls_go_on)
{
    up();
    int *ones = filled(0, 1), *x = filled(0, 0), *y = filled(0, 0);
    for (int i = 0; i < 20; i++) {
        adsmKernel *kernel;
        long n = N;
        char name[] = "of the stack";
        must(adsmKernelOf(&kernel, name, add_work, NULL));
        memset(name, 'x', sizeof name);
        slow(ones, x);
        must(adsmCallWith(NULL, kernel, adsmR1(n), adsmInOut(y), adsmIn(x)));
        must(adsmKernelEnd(kernel));
    }
    check_made(y, 0, 20);
    must(adsmFree(ones));
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

/* ---- what goes wrong ------------------------------------------------------------- */

/* After some work, with a number of the library's. */
static int fails(const adsmWork *work, void *user)
{
    int *p = adsmWorkPointer(work, 0);
    long lo = 0, hi = N, count = *(long *)user;
    const void *from = adsmWorkPointer(work, 1);
    void *values[] = {&lo, &hi, &from, &p, &count};
    (void)launch(device[work->device].all, (N + 255) / 256, 1, 1, 256, 1, 1, 0,
                 work->stream, values, NULL);
    return 13;
}

START_TEST(function_that_fails_fails_the_call)
{
    up();
    if (on_cpu)
        return; /* its call was made long ago */
    int *x = filled(0, 1), *y = filled(0, 5);
    long n = N;
    adsmKernel *kernel;
    char name[] = "half a library";
    expect(adsmStream(device[0].stream, fails, &n, adsmInOut(y), adsmIn(x)),
           ADSM_E_DEVICE, "its function returned 13");
    ck_assert_int_eq(enter(device[0].context), 0);
    ck_assert_int_eq(query(device[0].stream), 0);
    n = 1;
    must(adsmKernelOf(&kernel, name, fails, &n));
    memset(name, 'x', strlen(name));
    expect(adsmCallWith(NULL, kernel, adsmR1(N), adsmInOut(y), adsmIn(x)),
           ADSM_E_DEVICE, "kernel 'half a library'");
    must(adsmKernelEnd(kernel));
    n = N;
    must(adsmFill(y, N, 6));
    must(adsmStream(NULL, add_work, &n, adsmInOut(y), adsmIn(x)));
    check(y, 7);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

static int *object;
static _Atomic int said;

static int calls_back(const adsmWork *work, void *user)
{
    int status = adsmFill(object, N, 1);
    (void)work;
    (void)user;
    atomic_store(&said, status + 100 * (strstr(adsmErrorDetail(),
                                               "must not call") != NULL));
    if (adsmSync() != ADSM_E_INVALID || adsmFree(object) != ADSM_E_INVALID ||
        adsmAlloc(1000) != NULL || adsmPrefetch(object, NULL, 0) == ADSM_OK ||
        adsmWaitFor(object, NULL, ADSM_IN) == ADSM_OK)
        atomic_store(&said, -1);
    return 0;
}

START_TEST(function_that_calls_the_library_is_told)
{
    up();
    object = filled(0, 3);
    int *other = filled(0, 3);
    must(adsmStream(NULL, calls_back, NULL, adsmInOut(other)));
    must(adsmSync());
    ck_assert_int_eq(atomic_load(&said), 100 + ADSM_E_INVALID);
    check(object, 3);
    must(adsmFree(object));
    must(adsmFree(other));
}
END_TEST

static void leave(int number)
{
    (void)number;
    _exit(42);
}

static int touches(const adsmWork *work, void *user)
{
    (void)work;
    return *(volatile int *)user == 3;
}

/* In a child, whose handler of SIGSEGV gets it; nothing waits for ever. */
START_TEST(function_that_touches_shared_memory_gets_its_own_fault)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, leave);
        alarm(20);
        int *x = filled(0, 3);
        (void)adsmStream(NULL, touches, x, adsmInOut(x));
        (void)adsmSync();
        _exit(1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %x",
                  status);
}
END_TEST

START_TEST(mistakes_are_told)
{
    up();
    int *x = filled(0, 3), plain[10], *freed = filled(0, 1);
    adsmKernel *kernel = NULL;
    must(adsmFree(freed));
    expect(adsmStreamV(NULL, NULL, NULL, 0, NULL), ADSM_E_INVALID, "fn");
    expect(adsmStreamV(NULL, add_work, NULL, 1, NULL), ADSM_E_INVALID, "args");
    expect(adsmStream(NULL, add_work, NULL, adsmIn(plain)), ADSM_E_NOT_SHARED,
           "argument 0 of kernel 'adsmStream'");
    expect(adsmStream(NULL, add_work, NULL, adsmIn(x), adsmIn(freed)),
           ADSM_E_NOT_SHARED, "argument 1");
    expect(adsmKernelOf(NULL, "a", add_work, NULL), ADSM_E_INVALID, "NULL");
    expect(adsmKernelOf(&kernel, NULL, add_work, NULL), ADSM_E_INVALID, "NULL");
    expect(adsmKernelOf(&kernel, "a", NULL, NULL), ADSM_E_INVALID, "NULL");
    expect(adsmKernelEnd(NULL), ADSM_E_INVALID, "not a kernel");
    expect(adsmKernelEnd(on_cpu ? kernel
                                : kernel_that_may(ADSM_ANY_OBJECT, "add")),
           ADSM_E_INVALID, "made of a function");
    if (on_cpu)
        expect(adsmStream((void *)x, add_work, NULL, adsmInOut(x), adsmIn(x)),
               ADSM_E_UNSUPPORTED, "no streams");
    check(x, 3);
    must(adsmFree(x));
}
END_TEST

START_TEST(forked_child_is_told)
{
    up();
    int *x = filled(0, 3);
    pid_t child = fork();
    if (child == 0)
        _exit(adsmStream(NULL, add_work, NULL, adsmInOut(x), adsmIn(x)) ==
              ADSM_E_FORKED);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 1 << 8);
    must(adsmFree(x));
}
END_TEST

START_TEST(lost_device_is_told)
{
    up();
    if (on_cpu)
        return;
    long n = N;
    must(adsmDeviceUse(2));
    int *x = filled(2, 3), *y = filled(0, 3);
    must(adsmStream(NULL, add_work, &n, adsmInOut(x), adsmIn(y)));
    must(adsmSync());
    ck_assert_int_eq(kill_device(2), 1);
    while (adsmDeviceMemory(2, NULL, NULL) == ADSM_OK)
        usleep(1000);
    ck_assert_int_ne(adsmStream(NULL, add_work, &n, adsmInOut(x), adsmIn(y)),
                     ADSM_OK);
    must(adsmDeviceUse(0));
    must(adsmStream(NULL, add_work, &n, adsmInOut(y), adsmIn(y)));
    check(y, 6);
}
END_TEST

/* ---- threads --------------------------------------------------------------------- */

enum { THREADS = 4, STEPS = 40 };

static int *shared_x;

/* Each with a stream of its own, on objects of its own and a common one. */
static void *thread(void *number)
{
    int t = (int)(intptr_t)number;
    void *stream = NULL;
    int *mine = filled(0, 0);
    long n = N;
    if (!on_cpu && t % 2) {
        (void)enter(device[0].context);
        ck_assert_int_eq(make_stream(&stream, 1), 0);
    }
    for (int s = 0; s < STEPS; s++) {
        must(adsmStream(stream, add_work, &n, adsmInOut(mine),
                        adsmIn(shared_x)));
        if (s % 8 == 7)
            ck_assert_int_eq(mine[t * 100 + s], (s + 1) * 2);
    }
    check(mine, STEPS * 2);
    if (stream)
        (void)end_stream(stream);
    must(adsmFree(mine));
    return NULL;
}

START_TEST(threads_with_streams_of_their_own_keep_their_order)
{
    pthread_t threads[THREADS];
    up();
    shared_x = filled(0, 2);
    for (intptr_t t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, thread, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    check(shared_x, 2);
    must(adsmFree(shared_x));
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        work_takes_its_place_in_the_order_of_its_data,
        a_stream_of_the_programs_own_does_too,
        what_is_in_the_stream_already_comes_before,
        values_are_those_when_the_call_is_made,
        parts_get_their_boxes_and_pointers_on_each_device,
        kernel_that_ends_lets_its_calls_go_on,
        function_that_fails_fails_the_call,
        function_that_calls_the_library_is_told,
        function_that_touches_shared_memory_gets_its_own_fault,
        mistakes_are_told,
        forked_child_is_told,
        lost_device_is_told,
        threads_with_streams_of_their_own_keep_their_order,
    };
    on_cpu = getenv("ADSM_DEVICES") != NULL;
    if (adsmCpuAdd(&all_code) != ADSM_OK)
        return 1;
    return suite_run("work", cases, sizeof cases / sizeof *cases, 60);
}
