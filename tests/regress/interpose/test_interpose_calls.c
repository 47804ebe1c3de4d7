/*
 * Defect 3: read() into shared memory returned 0 on success; EOF, short reads
 * and bad descriptors wrote garbage; a short fread crashed. Defect 4: readv
 * and pread gave EFAULT. Defect 10: the first unrelated read() paid 61 ms of
 * initialisation.
 */
#include "preloaded.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES = 300000, OBJECT_BYTES = 1 << 20 };

static int make_file(void)
{
    static uint8_t content[FILE_BYTES];
    FILE *stream = tmpfile();
    ck_assert_ptr_nonnull(stream);
    int file = dup(fileno(stream));
    fclose(stream);
    for (size_t i = 0; i < FILE_BYTES; i++)
        content[i] = (uint8_t)(i * 7 + 1);
    ck_assert_int_eq(write(file, content, FILE_BYTES), FILE_BYTES);
    lseek(file, 0, SEEK_SET);
    return file;
}

/* [0, bytes) is the file from `from` on, the rest is `rest`. */
static void check_content(const uint8_t *object, size_t from, size_t bytes,
                          uint8_t rest)
{
    for (size_t i = 0; i < OBJECT_BYTES; i++) {
        uint8_t want = i < bytes ? (uint8_t)((from + i) * 7 + 1) : rest;
        if (((const volatile uint8_t *)object)[i] != want)
            ck_abort_msg("byte %zu: %d, not %d", i, object[i], want);
    }
}

START_TEST(defect_03_read_returns_what_it_read)
{
    device_start();
    int file = make_file();
    uint8_t *object = device_bytes(OBJECT_BYTES, 9);
    ck_assert_int_eq(read(file, object, 1000), 1000);
    check_content(object, 0, 1000, 9);
    ck_assert_int_eq(lseek(file, 0, SEEK_CUR), 1000);
    close(file);
}
END_TEST

START_TEST(defect_03_short_read_keeps_the_rest)
{
    device_start();
    int file = make_file();
    uint8_t *object = device_bytes(OBJECT_BYTES, 9);
    ck_assert_int_eq(read(file, object, OBJECT_BYTES), FILE_BYTES);
    check_content(object, 0, FILE_BYTES, 9);
    ck_assert_int_eq(read(file, object, OBJECT_BYTES), 0);
    check_content(object, 0, FILE_BYTES, 9);
    close(file);
}
END_TEST

START_TEST(defect_03_bad_descriptor_changes_nothing)
{
    device_start();
    uint8_t *object = device_bytes(OBJECT_BYTES, 9);
    errno = 0;
    ck_assert_int_eq(read(-1, object, OBJECT_BYTES), -1);
    ck_assert_int_eq(errno, EBADF);
    errno = 0;
    ck_assert_int_eq(write(12345, object, 10), -1);
    ck_assert_int_eq(errno, EBADF);
    check_content(object, 0, 0, 9);
}
END_TEST

START_TEST(defect_03_short_fread_counts_items)
{
    device_start();
    int file = make_file();
    FILE *stream = fdopen(file, "r");
    uint8_t *object = device_bytes(OBJECT_BYTES, 9);
    ck_assert_uint_eq(fread(object, 70000, 10, stream), 4);
    ck_assert_int_ne(feof(stream), 0);
    check_content(object, 0, FILE_BYTES, 9);
    ck_assert_uint_eq(fread(object, 1, 10, stream), 0);
    fclose(stream);
}
END_TEST

START_TEST(defect_04_vector_and_positioned_reads_work)
{
    device_start();
    int file = make_file();
    uint8_t *object = device_bytes(OBJECT_BYTES, 9);
    struct iovec parts[] = {{object, 5000}, {object + 5000, 100000}};
    ck_assert_int_eq(readv(file, parts, 2), 105000);
    check_content(object, 0, 105000, 9);
    must(cuMemsetD8((CUdeviceptr)object, 3, OBJECT_BYTES));
    ck_assert_int_eq(pread(file, object, 70000, 77), 70000);
    check_content(object, 77, 70000, 3);
    close(file);
}
END_TEST

static void expect_fault(ssize_t moved)
{
    if (moved != -1 || errno != EFAULT)
        _exit(1);
}

START_TEST(shared_memory_is_a_bad_address_in_a_forked_child)
{
    device_start();
    uint8_t *object = device_bytes(OBJECT_BYTES, 9);
    int file = make_file(), zero = open("/dev/zero", O_RDONLY), ends[2], status;
    struct iovec parts[] = {{object, 5000}, {object + 500000, 100000}};
    object[70000] = 1; /* some of it is near the CPU */
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "some", 4), 4);
    pid_t child = fork();
    if (child == 0) {
        expect_fault(read(file, object, 1000));
        expect_fault(read(zero, object + 70000, 1000));
        expect_fault(readv(zero, parts, 2));
        expect_fault(write(ends[1], object, 1000));
        expect_fault(pwrite(file, object, OBJECT_BYTES, 0));
        expect_fault(read(ends[0], object, 4));
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(object[70000], 1);
    object[70000] = 9;
    check_content(object, 0, 0, 9);
}
END_TEST

START_TEST(defect_10_unrelated_calls_start_nothing)
{
    char plain[64] = {0};
    int zero = open("/dev/zero", O_RDONLY);
    ck_assert_int_eq(read(zero, plain, sizeof plain), sizeof plain);
    ck_assert_int_eq(runtime_is_up(), 0);
    /* Neither is a device, which is a process. */
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    memcpy(plain, plain + 32, 32);
    FILE *stream = fopen("/dev/zero", "r");
    ck_assert_uint_eq(fread(plain, 1, 10, stream), 10);
    fclose(stream);
    ck_assert_int_eq(runtime_is_up(), 0);
    device_start();
    ck_assert_int_eq(runtime_is_up(), 0);
    (void)device_bytes(100, 1);
    ck_assert_int_eq(runtime_is_up(), 1);
    close(zero);
}
END_TEST

SUITE_MAIN("regress-interpose-calls", 60, defect_03_read_returns_what_it_read,
           defect_03_short_read_keeps_the_rest,
           defect_03_bad_descriptor_changes_nothing,
           defect_03_short_fread_counts_items,
           defect_04_vector_and_positioned_reads_work,
           shared_memory_is_a_bad_address_in_a_forked_child,
           defect_10_unrelated_calls_start_nothing)
