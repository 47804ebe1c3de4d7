/*
 * Memory of the program's own that becomes a shared object and comes back:
 * malloc's, anonymous, of files, shared and private.
 */
#include "call/fixture.h"

#include "common/kill_device.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, N = 700 * PAGE / (int)sizeof(int), BYTES = N * 4 };

static bool on_cpu, uffd;

/* ---- memory of each kind --------------------------------------------------------- */

_Static_assert(BYTES <= 2 * (2 << 20), "two huge pages have room for it");

enum { MALLOC, PRIVATE, SHARED, SHARED_FILE, PRIVATE_FILE, HUGE, KINDS };

static char file[] = "/tmp/adoptXXXXXX";

static int make_file(void)
{
    strcpy(file + sizeof file - 7, "XXXXXX");
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, BYTES + 10 * PAGE), 0);
    return fd;
}

static int *map(int flags, int fd, off_t offset)
{
    int *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, fd, offset);
    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}

static int *make(int kind)
{
    int fd, *p = NULL;
    switch (kind) {
    case MALLOC:
        p = aligned_alloc(PAGE, BYTES);
        break;
    case PRIVATE:
        return map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    case SHARED:
        return map(MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    case SHARED_FILE:
    case PRIVATE_FILE:
        fd = make_file();
        p = map(kind == SHARED_FILE ? MAP_SHARED : MAP_PRIVATE, fd, 3 * PAGE);
        close(fd);
        return p;
    case HUGE:
        p = aligned_alloc(2 << 20, 2 * (2 << 20));
        madvise(p, BYTES, MADV_HUGEPAGE);
        break;
    }
    ck_assert_ptr_nonnull(p);
    return p;
}

/* The engine uffd cannot have files of a disk. */
static bool cannot(int kind)
{
    return uffd && kind == SHARED_FILE;
}

static void drop(int kind, int *p)
{
    if (kind == MALLOC || kind == HUGE)
        free(p);
    else
        ck_assert_int_eq(munmap(p, BYTES), 0);
    if (kind == SHARED_FILE || kind == PRIVATE_FILE)
        ck_assert_int_eq(unlink(file), 0);
}

/* x = 3 x + a, by a kernel. */
static void triple(const adsmOpts *opts, int *x, int a)
{
    if (opts)
        must(adsmCallWith(opts, kernel("map"), adsmR1(N), adsmIn(x),
                          adsmInOut(x), adsmVal(a)));
    else
        must(adsmCall(kernel("map"), N, adsmIn(x), adsmInOut(x), adsmVal(a)));
}

/* kernels.cu's `map` for the processors. */
static void map_on_cpu(const adsmBlocks *blocks, void *const *values)
{
    long i0 = *(long *)values[0], i1 = *(long *)values[1];
    const int *x = *(const int **)values[2];
    int *y = *(int **)values[3], a = *(int *)values[4];
    long from = i0 + (long)(blocks->first * blocks->block[0]);
    long to = from + (long)(blocks->count * blocks->block[0]);
    for (long i = from; i < to && i < i1; i++)
        y[i] = 2 * x[i] + y[i] + a;
}

static const size_t map_bytes[] = {8, 8, 8, 8, 4};
static adsmCpuCode map_code = {"map", map_on_cpu, 5, map_bytes, NULL};

static void check(const int *p, int times, int plus, int kind)
{
    for (int i = 0; i < N; i++)
        if (p[i] != (int)((unsigned)times * (unsigned)(i * 61 + 1)) + plus)
            ck_abort_msg("element %d is %d, kind %d", i, p[i], kind);
}

/* ---- there and back ----------------------------------------------------------------- */

static void there_and_back(const adsmOpts *opts, int home)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (cannot(kind))
            continue;
        int *p = make(kind);
        number(p, N, 1);
        must(adsmAdopt(p, BYTES, home));
        triple(opts, p, 5); /* with what the program had */
        check(p, 3, 5, kind);
        p[7] = 0;
        triple(opts, p, 1);
        ck_assert_int_eq(p[7], 1);
        p[7] = 9 * (7 * 61 + 1) + 16;
        must(adsmFree(p)); /* what only the device has comes, too */
        check(p, 9, 16, kind);
        number(p, N, 1); /* it is plain memory again */
        check(p, 1, 0, kind);
        must(adsmAdopt(p, BYTES, home)); /* ... that can be given once more */
        must(adsmFree(p));
        check(p, 1, 0, kind);
        drop(kind, p);
    }
}

START_TEST(memory_is_shared_and_comes_back_with_all_its_bytes)
{
    there_and_back(NULL, 0);
}
END_TEST

START_TEST(without_a_home_and_in_parts_as_well)
{
    there_and_back(NULL, ADSM_NO_HOME);
    there_and_back(
        adsmWith(.devices = ADSM_ALL_DEVICES, .parts = on_cpu ? 1 : 5),
        ADSM_NO_HOME);
    there_and_back(
        adsmWith(.devices = ADSM_ALL_DEVICES, .parts = on_cpu ? 1 : 5), 0);
}
END_TEST

START_TEST(kernels_results_are_in_the_file)
{
    int *p = make(SHARED_FILE), word, fd = open(file, O_RDONLY);
    number(p, N, 1);
    if (uffd) {
        expect(adsmAdopt(p, BYTES, 0), ADSM_E_UNSUPPORTED, "uffd cannot");
        check(p, 1, 0, SHARED_FILE);
        drop(SHARED_FILE, p);
        return;
    }
    must(adsmAdopt(p, BYTES, 0));
    triple(NULL, p, 2);
    must(adsmFree(p));
    for (int i = 0; i < N; i += 997) {
        ck_assert_int_eq(pread(fd, &word, 4, 3 * PAGE + 4l * i), 4);
        ck_assert_int_eq(word, 3 * (i * 61 + 1) + 2);
    }
    /* Another mapping of it is the same memory as ever. */
    int *other = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                      open(file, O_RDWR), 3 * PAGE);
    p[11] = 1234;
    ck_assert_int_eq(other[11], 1234);
    close(fd);
    drop(SHARED_FILE, p);
}
END_TEST

/* Half of a mapping, between bytes that stay the program's. */
START_TEST(pages_beside_it_are_left_alone)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (cannot(kind))
            continue;
        int *p = make(kind), first = 13 * PAGE / 4, n = 100 * PAGE / 4;
        number(p, N, 1);
        must(adsmAdopt(p + first, 100 * PAGE, 0));
        must(adsmFill(p + first, n, 4));
        p[first - 1]++;
        p[first + n]++;
        must(adsmFree(p + first));
        for (int i = 0; i < N; i++)
            ck_assert_int_eq(p[i], i >= first && i < first + n
                                       ? 4
                                       : i * 61 + 1 + (i == first - 1) +
                                             (i == first + n));
        drop(kind, p);
    }
}
END_TEST

/* The most memory that the process has had. */
static long most_kib(void)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* At no time there are two of it. */
START_TEST(there_is_one_of_it_in_memory)
{
    enum { MIB = 64 };
    size_t bytes = (size_t)MIB << 20;
    must(adsmFree(adsmAlloc(PAGE)));
    for (int shared = 0; shared < 2; shared++) {
        int *p =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
        memset(p, 1, bytes);
        long before = most_kib();
        /* An access would map it once more, which counts as if it were there
         * twice. */
        must(adsmAdopt(p, bytes, ADSM_NO_HOME));
        must(adsmFree(p));
        ck_assert_int_eq(p[bytes / 4 - 1], 0x01010101);
        ck_assert_int_lt(most_kib(), before + MIB * 512);
        munmap(p, bytes);
    }
}
END_TEST

START_TEST(children_have_it_again_when_it_is_the_programs)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (cannot(kind))
            continue;
        int *p = make(kind), status;
        number(p, N, 1);
        must(adsmAdopt(p, BYTES, 0));
        triple(NULL, p, 0);
        must(adsmFree(p));
        pid_t child = fork();
        if (child == 0) {
            int right = p[5] == 3 * (5 * 61 + 1) && p[N - 1] != 0;
            p[5] = 17;
            _exit(right);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 1 << 8);
        /* Private memory is private again. */
        ck_assert_int_eq(p[5], kind == SHARED || kind == SHARED_FILE
                                   ? 17
                                   : 3 * (5 * 61 + 1));
        drop(kind, p);
    }
}
END_TEST

/* Nobody has touched them. */
START_TEST(holes_of_a_file_stay_holes)
{
    struct stat about;
    int *p = make(SHARED_FILE), fd = open(file, O_RDONLY);
    if (!uffd) {
        must(adsmAdopt(p, BYTES, 0));
        must(adsmFree(p));
        ck_assert_int_eq(fstat(fd, &about), 0);
        ck_assert_int_le(about.st_blocks, 2 << 20 >> 9);
    }
    close(fd);
    drop(SHARED_FILE, p);
}
END_TEST

/* ---- what cannot be ------------------------------------------------------------------ */

START_TEST(mistakes_are_told_and_change_nothing)
{
    int *p = make(PRIVATE), *shared = adsmAlloc(BYTES);
    char *bytes = (char *)p;
    number(p, N, 1);
    expect(adsmAdopt(NULL, PAGE, 0), ADSM_E_INVALID, "begin a page");
    expect(adsmAdopt(bytes + 16, PAGE, 0), ADSM_E_INVALID, "begin a page");
    expect(adsmAdopt(p, 0, 0), ADSM_E_INVALID, "whole pages");
    expect(adsmAdopt(p, BYTES - 4, 0), ADSM_E_INVALID, "whole pages");
    expect(adsmAdopt(p, -(size_t)PAGE, 0), ADSM_E_INVALID, "whole pages");
    expect(adsmAdopt(p, BYTES, 99), ADSM_E_INVALID, "device 99");
    expect(adsmAdopt(shared, PAGE, 0), ADSM_E_INVALID, "shared already");
    must(adsmAdopt(p, BYTES / 2, 0));
    expect(adsmAdopt(p, BYTES, 0), ADSM_E_INVALID, "shared already");
    expect(adsmAdopt(bytes + BYTES / 2 - PAGE, PAGE, 0), ADSM_E_INVALID,
           "shared already");
    expect(adsmFree(bytes + PAGE), ADSM_E_NOT_SHARED, "not the start");
    must(adsmFree(p));
    expect(adsmFree(p), ADSM_E_NOT_SHARED, "not the start");
    ck_assert_int_eq(mprotect(bytes + 5 * PAGE, PAGE, PROT_READ), 0);
    expect(adsmAdopt(p, BYTES, 0), ADSM_E_INVALID, "read and written");
    ck_assert_int_eq(munmap(bytes + 5 * PAGE, PAGE), 0);
    expect(adsmAdopt(p, BYTES, 0), ADSM_E_INVALID, "no memory is mapped");
    ck_assert_ptr_eq(mmap(bytes + 5 * PAGE, PAGE, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     bytes + 5 * PAGE);
    expect(adsmAdopt(p, BYTES, 0), ADSM_E_INVALID, "some is private");
    for (int i = 0; i < 5 * PAGE / 4; i++)
        ck_assert_int_eq(p[i], i * 61 + 1);
    must(adsmFree(shared));
    munmap(p, BYTES);
}
END_TEST

START_TEST(what_the_device_has_no_room_for_is_as_it_was)
{
    if (on_cpu)
        return;
    size_t bytes = 24 << 20;
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    int *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 3, bytes);
    expect(adsmAdopt(p, bytes, 0), ADSM_E_DEVICE_NOMEM, "bytes at 0x");
    ck_assert_int_eq(p[bytes / 8], 0x03030303);
    must(adsmAdopt(p, bytes, ADSM_NO_HOME));
    must(adsmFill(p + 1, (long)(bytes / 4) - 1, 7));
    must(adsmFree(p));
    ck_assert_int_eq(p[0], 0x03030303);
    ck_assert_int_eq(p[1], 7);
    ck_assert_int_eq(p[bytes / 4 - 1], 7);
    /* The device's memory comes back as well. */
    for (int i = 0; i < 10; i++) {
        must(adsmAdopt(p, BYTES, 0));
        must(adsmFill(p, N, i));
        must(adsmFree(p));
    }
    munmap(p, bytes);
}
END_TEST

START_TEST(memory_that_the_host_has_not_is_told)
{
    struct rlimit limit;
    int *p = make(PRIVATE);
    number(p, N, 1);
    must(adsmAdopt(p, BYTES, 0)); /* the device is there, too */
    triple(NULL, p, 0);
    must(adsmFree(p));
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    int status = adsmAdopt(p, BYTES, ADSM_NO_HOME);
    limit.rlim_cur = before;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_msg(status == ADSM_E_NOMEM || status == ADSM_E_LIMIT, "%s",
                  adsmErrorName(status));
    check(p, 3, 0, PRIVATE);
    must(adsmAdopt(p, BYTES, 0));
    triple(NULL, p, 1);
    must(adsmFree(p));
    check(p, 9, 1, PRIVATE);
    munmap(p, BYTES);
}
END_TEST

START_TEST(lost_device_costs_what_it_alone_had)
{
    if (on_cpu)
        return;
    int *p = make(MALLOC);
    number(p, N, 1);
    must(adsmAdopt(p, BYTES, 2));
    must(adsmCallWith(adsmWith(.devices = 1 << 2, .sync = 1), kernel("map"),
                      adsmR1(N), adsmIn(p), adsmInOut(p), adsmVal((int){1})));
    ck_assert_int_eq(p[0], 4);
    must(adsmCallWith(adsmWith(.devices = 1 << 2, .sync = 1), kernel("map"),
                      adsmR1(N), adsmIn(p), adsmInOut(p), adsmVal((int){1})));
    ck_assert_int_eq(kill_device(2), 1);
    while (adsmDeviceMemory(2, NULL, NULL) == ADSM_OK)
        usleep(1000);
    (void)adsmFree(p);
    for (int i = 0; i < N; i++)
        p[i] = i; /* the program's, whatever is in it */
    expect(adsmFree(p), ADSM_E_NOT_SHARED, "not the start");
    free(p);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------- */

static void *give_and_take(void *number_)
{
    int t = (int)(intptr_t)number_;
    for (int s = 0; s < 10; s++) {
        int kind = (t + s) % 3, *p = make(kind);
        number(p, N, 1);
        must(adsmAdopt(p, BYTES, t % 2 ? 0 : ADSM_NO_HOME));
        triple(NULL, p, t);
        if (s % 2)
            ck_assert_int_eq(p[9], 3 * (9 * 61 + 1) + t);
        must(adsmFree(p));
        check(p, 3, t, kind);
        drop(kind, p);
    }
    return NULL;
}

START_TEST(threads_give_and_take_beside_each_other)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    (void)kernel("map");
    for (intptr_t t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, give_and_take, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        memory_is_shared_and_comes_back_with_all_its_bytes,
        without_a_home_and_in_parts_as_well,
        kernels_results_are_in_the_file,
        pages_beside_it_are_left_alone,
        there_is_one_of_it_in_memory,
        holes_of_a_file_stay_holes,
        children_have_it_again_when_it_is_the_programs,
        mistakes_are_told_and_change_nothing,
        what_the_device_has_no_room_for_is_as_it_was,
        memory_that_the_host_has_not_is_told,
        lost_device_costs_what_it_alone_had,
        threads_give_and_take_beside_each_other,
    };
    const char *engine = getenv("ADSM_FAULT_ENGINE");
    on_cpu = getenv("ADSM_DEVICES") != NULL;
    uffd = engine && strcmp(engine, "uffd") == 0;
    if (adsmCpuAdd(&map_code) != ADSM_OK)
        return 1;
    return suite_run("adopt", cases, sizeof cases / sizeof *cases, 60);
}
