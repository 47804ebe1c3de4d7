/*
 * Calls that end badly: a device dies between two pieces, a kernel is trapped in
 * one of several parts, the host has no memory left. What is said, and what is
 * left.
 */
#include "accel/accel.h"
#include "call/fixture.h"

#include "accel/device.h"
#include "base/sanitized.h"
#include "common/kill_device.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

enum { N = 1 << 20, HALF = N / 2, CHUNKS = 8, CHUNK = HALF / CHUNKS };

static int before(long i)
{
    return (int)(i * 61 + 2);
}

/* By map, with a = 7. */
static int behind(long i)
{
    return (int)(2 * (i * 61 + 1) + 7 + before(i));
}

static void map(const adsmOpts *opts, const int *x, int *y, long n)
{
    must(adsmCallWith(opts, kernel("map"), adsmR1(n), adsmIn(x), adsmInOut(y),
                      adsmVal((int){7})));
}

/* Where what is there is something else, from `i` on. */
static long wrong(const int *p, long i, long end, int value(long i))
{
    while (i < end && p[i] == value(i))
        i++;
    return i;
}

static void check_all(const int *p, long begin, long end, int value(long i))
{
    long i = wrong(p, begin, end, value);
    ck_assert_msg(i == end, "%ld: %d", i, i < end ? p[i] : 0);
}

/* Each is the one or the other. Return: how many are the first one */
static long check_either(const int *p, long begin, long end, int first(long i),
                         int second(long i))
{
    long firsts = 0;
    for (long i = begin; i < end; i++) {
        firsts += p[i] == first(i);
        if (p[i] != first(i) && p[i] != second(i))
            ck_abort_msg("%ld: %d", i, p[i]);
    }
    return firsts;
}

static int number_of(long i)
{
    return (int)(i * 61 + 1);
}

/* ---- a device ---------------------------------------------------------------------- */

/* What a piece had brought to the host is there; of the others the host has what
 * it had, and the other device's half is complete. */
START_TEST(device_that_dies_between_chunks_costs_those_to_come)
{
    setenv("SOFTCUDA_PACE", "500K/s", 1);
    int *x = array(adsmR1(N), ADSM_NO_HOME),
        *y = array(adsmR1(N), ADSM_NO_HOME);
    adsmEvent event;
    number(x, N, 1);
    number(y, N, 2);
    map(adsmWith(.devices = 3, .parts = 2, .chunks = CHUNKS, .fetch = 1,
                 .event = &event),
        x, y, N);
    ck_assert_int_eq(y[HALF + 10], behind(HALF + 10));
    ck_assert_int_eq(kill_device(1), 1);
    expect(adsmWait(event), ADSM_E_DEVICE_LOST, "call 1: ");
    check_all(y, 0, HALF + CHUNK, behind);
    ck_assert_int_ge(check_either(y, HALF + CHUNK, N, before, behind), CHUNK);
    check_all(x, 0, N, number_of);

    number(y, N, 2);
    map(adsmWith(.devices = 1, .chunks = 2), x, y, N);
    check_all(y, 0, N, behind);
}
END_TEST

/* ---- a kernel ---------------------------------------------------------------------- */

static int one_more(long i)
{
    return number_of(i) + 1;
}

static adsmKernel *trap_at(void)
{
    adsmModule *module;
    adsmKernel *found;
    must(adsmModuleLoad(&module, ENDS_PTX, 0));
    must(adsmKernelGet(&found, module, "trap_at", ADSM_ONLY_ARGUMENTS));
    return found;
}

/* Its device has no other one of the seven. */
START_TEST(trap_in_one_part_costs_that_part)
{
    enum { PARTS = 7, PART = 3000, LONG = PARTS * PART };
    int *x = array(adsmR1(LONG), ADSM_NO_HOME), *y = array(adsmR1(LONG), 0);
    adsmKernel *kernel = trap_at();
    long at = 3 * PART + 17, none = -1;
    number(x, LONG, 1);
    number(y, LONG, 2);
    int status = adsmCallWith(
        adsmWith(.devices = 0xf, .parts = PARTS, .cyclic = 1, .sync = 1),
        kernel, adsmR1(LONG), adsmIn(x), adsmOut(y), adsmVal(at));
    expect(status, ADSM_E_DEVICE, "kernel 'trap_at'");
    check_all(y, 0, 3 * PART, one_more);
    check_all(y, 4 * PART, LONG, one_more);
    (void)check_either(y, 3 * PART, 4 * PART, before, one_more);
    check_all(x, 0, LONG, number_of);

    /* Whoever wants the device hears of it; the others go on. */
    status = adsmCallWith(adsmWith(.devices = 8), kernel, adsmR1(LONG),
                          adsmIn(x), adsmOut(y), adsmVal(none));
    expect(status, ADSM_E_DEVICE, "device 3");
    must(adsmCallWith(adsmWith(.devices = 7, .parts = PARTS), kernel,
                      adsmR1(LONG), adsmIn(x), adsmOut(y), adsmVal(none)));
    check_all(y, 0, LONG, one_more);
}
END_TEST

/* ---- host memory ------------------------------------------------------------------- */

#if !SANITIZED /* which has memory and a malloc of its own */

/* Of address space, in use just now. Without allocating any. */
static size_t space(void)
{
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    ck_assert_int_gt(read(fd, text, sizeof text - 1), 0);
    close(fd);
    return strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit(rlim_t bytes)
{
    struct rlimit as;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &as), 0);
    as.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &as), 0);
}

/* Allocations of the library in this thread until one fails; 0: none does. */
static __thread long allocations_left;

static void *library; /* where it begins */

static void *base_of(const void *code)
{
    Dl_info info;
    return dladdr(code, &info) ? info.dli_fbase : NULL;
}

static bool may_allocate(const void *caller)
{
    if (allocations_left == 0 || base_of(caller) != library)
        return true;
    if (--allocations_left > 0)
        return true;
    errno = ENOMEM;
    return false;
}

#define CALLER __builtin_return_address(0)
#define EXPORT __attribute__((visibility("default")))

/* Of the C library, also for the libraries of this program. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);

EXPORT void *malloc(size_t bytes)
{
    return may_allocate(CALLER) ? __libc_malloc(bytes) : NULL;
}

EXPORT void *calloc(size_t n, size_t bytes)
{
    return may_allocate(CALLER) ? __libc_calloc(n, bytes) : NULL;
}

EXPORT void *realloc(void *p, size_t bytes)
{
    return may_allocate(CALLER) ? __libc_realloc(p, bytes) : NULL;
}

/* A call of 16 MiB through a device of 8. */
enum { LARGE = 2 << 20 };

/* Parts that were made before it failed are complete, and no others; the call
 * began at one end or the other. Return: elements that are made */
static long count_made(const int *y)
{
    long made = wrong(y, 0, LARGE, behind), first = wrong(y, 0, LARGE, before);
    if (made > 0)
        check_all(y, made, LARGE, before);
    else
        check_all(y, first, LARGE, behind);
    return made > 0 ? made : LARGE - first;
}

static bool is_made(const int *x, int *y, int status)
{
    char detail[300];
    snprintf(detail, sizeof detail, "%s", adsmErrorDetail());
    long made = count_made(y);
    check_all(x, 0, LARGE, number_of);
    ck_assert_int_eq(made == LARGE, status == ADSM_OK);
    if (status == ADSM_OK)
        return true;
    ck_assert_msg(status == ADSM_E_NOMEM || status == ADSM_E_DEVICE_NOMEM,
                  "%s: %s", adsmErrorName(status), detail);
    ck_assert_msg(strstr(detail, "memory"), "'%s'", detail);
    return false;
}

static int call_large(adsmKernel *map, const int *x, int *y)
{
    return adsmCallWith(adsmWith(.devices = 1), map, adsmR1(LARGE), adsmIn(x),
                        adsmInOut(y), adsmVal((int){7}));
}

START_TEST(call_in_rounds_in_too_little_space_says_so)
{
    setenv("SOFTCUDA_MEMORY", "8M", 1);
    int *x = array(adsmR1(LARGE), ADSM_NO_HOME),
        *y = array(adsmR1(LARGE), ADSM_NO_HOME);
    adsmKernel *map = kernel("map");
    bool made = false;
    number(x, LARGE, 1);
    for (rlim_t more = 0; !made; more += 128 << 10) {
        number(y, LARGE, 2);
        limit(space() + more);
        int status = call_large(map, x, y);
        limit(RLIM_INFINITY);
        made = is_made(x, y, status);
        ck_assert(!made || more > 0);
    }
}
END_TEST

START_TEST(call_in_rounds_whose_nth_allocation_fails_says_so)
{
    setenv("SOFTCUDA_MEMORY", "8M", 1);
    int *x = array(adsmR1(LARGE), ADSM_NO_HOME),
        *y = array(adsmR1(LARGE), ADSM_NO_HOME);
    adsmKernel *map = kernel("map");
    long n = 0;
    library = base_of(adsmErrorText(ADSM_OK));
    number(x, LARGE, 1);
    for (bool made = false; !made;) {
        number(y, LARGE, 2);
        allocations_left = ++n;
        int status = call_large(map, x, y);
        bool failed = allocations_left == 0;
        allocations_left = 0;
        made = is_made(x, y, status) && !failed;
    }
    printf("ends: %ld allocations\n", n - 1);
    ck_assert_int_gt(n, 10);
}
END_TEST

#endif

static int refuse(struct adsm_accel *accel, size_t bytes,
                  struct adsm_daddr *address)
{
    return ADSM_E_DEVICE_NOMEM;
}

/* As where ranges lie in pieces, or the driver's own memory is used up. */
START_TEST(driver_that_refuses_memory_is_not_a_full_device)
{
    struct adsm_accel_ops scarce = adsm_cuda_ops;
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 1);
    adsmKernel *map = kernel("map");
    struct adsm_accel *accel;
    number(x, N, 1);
    number(y, N, 2);
    must(adsm_accel_open(0, &accel));
    scarce.memory_alloc = refuse;
    accel->ops = &scarce;
    expect(adsmCallWith(adsmWith(.devices = 1), map, adsmR1(N), adsmIn(x),
                        adsmInOut(y), adsmVal((int){7})),
           ADSM_E_DEVICE_NOMEM, "can be had, but not in one piece");
    accel->ops = &adsm_cuda_ops;
    check_all(y, 0, N, before);
    must(adsmCallWith(adsmWith(.devices = 1), map, adsmR1(N), adsmIn(x),
                      adsmInOut(y), adsmVal((int){7})));
    check_all(y, 0, N, behind);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ends");
    TCase *cases = tcase_create("ends");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, device_that_dies_between_chunks_costs_those_to_come);
    tcase_add_test(cases, trap_in_one_part_costs_that_part);
    tcase_add_test(cases, driver_that_refuses_memory_is_not_a_full_device);
#if !SANITIZED
    tcase_add_test(cases, call_in_rounds_in_too_little_space_says_so);
    tcase_add_test(cases, call_in_rounds_whose_nth_allocation_fails_says_so);
#endif
    suite_add_tcase(suite, cases);
    return suite_finish(suite);
}
