/*
 * Reads from places of a file into memory that is open, which are made with no
 * block held, while another thread's kernels close it again and again: every
 * byte and every count is as on memory that is not shared. The kernels work on
 * the end of the same allocation, so nobody waits for anybody by himself.
 */
#include "preloaded.h"
#include "interpose/victims/victim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Whole sectors, so that the file may be read past the page cache. */
enum {
    READ = 640 << 10,
    WORDS = 1000,
    OBJECT = READ + 4 * WORDS,
    FILE_BYTES = 4 << 20,
    PLACE = 4096,
    MILLISECONDS = 1500
};

static uint8_t *object;
static CUfunction step;
static atomic_bool ends;
static unsigned launches;

static uint8_t in_file(size_t at)
{
    return (uint8_t)(at * 13 + (at >> 8) * 7 + (at >> 16));
}

static int file_with_pattern(int flags)
{
    char name[] = "places-XXXXXX";
    int made = mkstemp(name), file = open(name, O_RDONLY | flags);
    int refused = errno;
    uint8_t *bytes = malloc(FILE_BYTES);
    for (size_t i = 0; i < FILE_BYTES; i++)
        bytes[i] = in_file(i);
    ck_assert_int_ge(made, 0);
    unlink(name);
    ck_assert_int_eq(write(made, bytes, FILE_BYTES), FILE_BYTES);
    ck_assert_int_eq(fsync(made), 0);
    close(made);
    free(bytes);
    errno = refused;
    return file;
}

static void wait_us(unsigned us)
{
    nanosleep(&(struct timespec){0, us * 1000L}, NULL);
}

/* All of the allocation is closed by each launch. */
static void *launch(void *context)
{
    uint32_t n = WORDS, k = 1;
    CUdeviceptr at = (CUdeviceptr)object + READ;
    void *arguments[] = {&at, &n, &k};
    must(cuCtxSetCurrent(context));
    for (; !atomic_load(&ends); launches++) {
        must(cuLaunchKernel(step, (WORDS + 63) / 64, 1, 1, 64, 1, 1, 0, NULL,
                            arguments, NULL));
        wait_us(launches * 37 % 400);
    }
    must(cuCtxSynchronize());
    return NULL;
}

static void start(pthread_t *thread)
{
    CUcontext context;
    CUmodule module;
    device_start();
    must(cuCtxGetCurrent(&context));
    must(cuModuleLoadData(&module, victim_ptx));
    must(cuModuleGetFunction(&step, module, "step"));
    object = device_bytes(OBJECT, 0);
    for (int i = 0; i < OBJECT; i += 512) /* stores have been there */
        ((volatile uint8_t *)object)[i] = 0;
    ck_assert_int_eq(pthread_create(thread, NULL, launch, context), 0);
}

/* What the kernels made is not what the reads wrote over. */
static void finish(pthread_t thread)
{
    uint32_t word = 0;
    atomic_store(&ends, true);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < launches; i++)
        word = word * 3 + 1;
    ck_assert_uint_gt(launches, 10);
    for (int i = 0; i < WORDS; i++)
        ck_assert_uint_eq(((volatile uint32_t *)(object + READ))[i], word);
}

static void must_be_read(size_t from, size_t bytes, size_t place)
{
    for (size_t i = 0; i < bytes; i++)
        if (((volatile uint8_t *)object)[from + i] != in_file(place + i))
            ck_abort_msg("byte %zu of the place %zu", i, place);
}

static bool goes_on(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begin->tv_sec) * 1000 +
               (now.tv_nsec - begin->tv_nsec) / 1000000 <
           MILLISECONDS;
}

/* Read often between two looks: memory that was written whole stays open. */
static void read_places(int file)
{
    pthread_t thread;
    struct timespec begin;
    start(&thread);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned round = 0; goes_on(&begin); round++) {
        size_t place = round * 3 % ((FILE_BYTES - READ) / PLACE) * PLACE;
        ck_assert_int_eq(pread(file, object, READ, (off_t)place), READ);
        if (round % 64 == 0)
            must_be_read(0, READ, place);
    }
    finish(thread);
}

START_TEST(places_of_a_file_are_read_whole)
{
    read_places(file_with_pattern(0));
}
END_TEST

START_TEST(a_device_may_write_what_was_open)
{
    int file = file_with_pattern(O_DIRECT);
    if (file < 0 && errno == EINVAL)
        SUITE_SKIP_CASE("this file system has no O_DIRECT");
    ck_assert_int_ge(file, 0);
    read_places(file);
}
END_TEST

START_TEST(lists_are_read_whole)
{
    enum { HALF = READ / 2, GAP = 5000 };
    pthread_t thread;
    struct timespec begin;
    int file = file_with_pattern(0);
    start(&thread);
    struct iovec list[] = {{object, HALF}, {object + HALF + GAP, HALF - GAP}};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned round = 0; goes_on(&begin); round++) {
        size_t place = round * 5003 % (FILE_BYTES - READ);
        ck_assert_int_eq(preadv(file, list, 2, (off_t)place), READ - GAP);
        if (round % 64 == 0) {
            must_be_read(0, HALF, place);
            must_be_read(HALF + GAP, HALF - GAP, place + HALF);
        }
    }
    for (int i = 0; i < GAP; i++)
        ck_assert_uint_eq(((volatile uint8_t *)object)[HALF + i], 0);
    finish(thread);
}
END_TEST

/* Ends of files, and what is no file. */
START_TEST(counts_are_those_of_the_file)
{
    int ends_of[2], file = file_with_pattern(0);
    device_start();
    object = device_bytes(OBJECT, 0);
    for (int i = 0; i < OBJECT; i++)
        ((volatile uint8_t *)object)[i] = 9;
    ck_assert_int_eq(pread(file, object, READ, FILE_BYTES - 70000), 70000);
    must_be_read(0, 70000, FILE_BYTES - 70000);
    ck_assert_uint_eq(((volatile uint8_t *)object)[70000], 9);
    ck_assert_int_eq(pread(file, object, READ, FILE_BYTES), 0);
    ck_assert_int_eq(pread(file, object, OBJECT, 1), OBJECT);
    ck_assert_int_eq(pread(-1, object, READ, 0), -1);
    ck_assert_int_eq(errno, EBADF);
    ck_assert_int_eq(pipe(ends_of), 0);
    ck_assert_int_eq(pread(ends_of[0], object, READ, 0), -1);
    ck_assert_int_eq(errno, ESPIPE);
}
END_TEST

SUITE_MAIN("regress-interpose-places", 60, places_of_a_file_are_read_whole,
           a_device_may_write_what_was_open, lists_are_read_whole,
           counts_are_those_of_the_file)
