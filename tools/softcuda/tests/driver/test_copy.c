/*
 * Large copies: exact at every alignment, and what is wrong with a host
 * buffer is an answer, wherever in the buffer it is.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/driver/driver_test.h"

enum { LARGE = 9 << 20 };

static uint8_t *pages(size_t bytes, int protection)
{
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(p != MAP_FAILED);
    return p;
}

/* Up and down again at odd places; what lies around them stays. */
static void check_odd_places(size_t bytes, size_t from, size_t to)
{
    CUdeviceptr a;
    uint8_t *host = malloc(bytes + 200), *back = malloc(bytes + 200);
    fill_random(host, bytes + 200, bytes);
    OK(cuMemAlloc(&a, bytes + 200));
    OK(cuMemsetD8(a, 7, bytes + 200));
    OK(cuMemcpyHtoD(a + to, host + from, bytes));
    memset(back, 9, bytes + 200);
    OK(cuMemcpyDtoH(back, a, bytes + 200));
    for (size_t i = 0; i < to; i++)
        ck_assert_uint_eq(back[i], 7);
    ck_assert_mem_eq(back + to, host + from, bytes);
    for (size_t i = to + bytes; i < bytes + 200; i++)
        ck_assert_uint_eq(back[i], 7);
    memset(back, 9, bytes + 200);
    OK(cuMemcpyDtoH(back + from, a + to, bytes));
    for (size_t i = 0; i < from; i++)
        ck_assert_uint_eq(back[i], 9);
    ck_assert_mem_eq(back + from, host + from, bytes);
    for (size_t i = from + bytes; i < bytes + 200; i++)
        ck_assert_uint_eq(back[i], 9);
    OK(cuMemFree(a));
    free(host);
    free(back);
}

START_TEST(large_copies_at_odd_places_are_exact)
{
    static const size_t sizes[] = {(16 << 10) - 1,  16 << 10,
                                   (1 << 20) - 1,   1 << 20,
                                   (1 << 20) + 65,  (1 << 20) + (16 << 10) + 1,
                                   (4 << 20) + 333, LARGE + 1};
    begin();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t shift = 0; shift < 4; shift++)
            check_odd_places(sizes[i], shift * 33 % 100, shift * 61 % 100);
}
END_TEST

START_TEST(hole_inside_a_large_buffer_is_refused)
{
    CUdeviceptr a;
    uint8_t *host = pages(LARGE, PROT_READ | PROT_WRITE);
    memset(host, 1, LARGE);
    begin();
    OK(cuMemAlloc(&a, LARGE));
    mprotect(host + (5 << 20), 4096, PROT_NONE);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host, LARGE));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a, LARGE));
    mprotect(host + (5 << 20), 4096, PROT_READ);
    OK(cuMemcpyHtoD(a, host, LARGE));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a, LARGE));
    munmap(host + (5 << 20), 4096);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host, LARGE));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host + LARGE - MIB, LARGE));
    OK(cuMemcpyDtoH(host, a, 5 * MIB));
}
END_TEST

START_TEST(buffer_behind_the_end_of_its_file_is_refused)
{
    CUdeviceptr a;
    FILE *file = tmpfile();
    ck_assert(file && ftruncate(fileno(file), 4 * MIB) == 0);
    uint8_t *host =
        mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    ck_assert(host != MAP_FAILED);
    begin();
    OK(cuMemAlloc(&a, LARGE));
    OK(cuMemcpyHtoD(a, host, 4 * MIB));
    OK(cuMemcpyDtoH(host, a, 4 * MIB));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host, LARGE));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a, LARGE));
}
END_TEST

START_TEST(read_only_and_untouched_buffers_are_read)
{
    CUdeviceptr a;
    uint8_t *host = pages(LARGE, PROT_READ), *back = malloc(LARGE);
    begin();
    OK(cuMemAlloc(&a, LARGE));
    OK(cuMemsetD8(a, 5, LARGE));
    OK(cuMemcpyHtoD(a, host, LARGE));
    OK(cuMemcpyDtoH(back, a, LARGE));
    ck_assert_mem_eq(back, host, LARGE);
    free(back);
}
END_TEST

START_TEST(memory_that_was_freed_and_taken_again_is_copied_right)
{
    uint8_t *host = malloc(LARGE), *back = malloc(LARGE);
    begin();
    for (unsigned i = 0; i < 4; i++) {
        CUdeviceptr a, b;
        fill_random(host, LARGE, i);
        OK(cuMemAlloc(&a, LARGE));
        OK(cuMemcpyHtoD(a, host, LARGE));
        OK(cuMemAlloc(&b, LARGE));
        OK(cuMemcpyDtoD(b, a, LARGE));
        OK(cuMemFree(a));
        OK(cuMemcpyDtoH(back, b, LARGE));
        ck_assert_mem_eq(back, host, LARGE);
        OK(cuMemFree(b));
    }
    free(host);
    free(back);
}
END_TEST

START_TEST(limited_address_space_still_copies)
{
#if defined(__SANITIZE_ADDRESS__)
    return; /* has taken more addresses than that already */
#endif
    struct rlimit limit = {4ull << 30, 4ull << 30};
    CUdeviceptr a;
    uint8_t *host = malloc(LARGE), *back = malloc(LARGE);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    fill_random(host, LARGE, 1);
    begin();
    OK(cuMemAlloc(&a, LARGE));
    OK(cuMemcpyHtoD(a, host, LARGE));
    OK(cuMemcpyDtoH(back, a, LARGE));
    ck_assert_mem_eq(back, host, LARGE);
    free(host);
    free(back);
}
END_TEST

SUITE_MAIN("softcuda driver: large copies", 60,
           large_copies_at_odd_places_are_exact,
           hole_inside_a_large_buffer_is_refused,
           buffer_behind_the_end_of_its_file_is_refused,
           read_only_and_untouched_buffers_are_read,
           memory_that_was_freed_and_taken_again_is_copied_right,
           limited_address_space_still_copies)
