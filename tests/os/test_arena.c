/*
 * Arena: few files whatever the number of objects, lazy memory, limits.
 */
#include "os/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "common/suite.h"
#include "os/vm.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static struct adsm_arena_range ranges[20000];

static void lower_limit(int resource, rlim_t value)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(resource, &limit), 0);
    limit.rlim_cur = value;
    ck_assert_int_eq(setrlimit(resource, &limit), 0);
}

static size_t address_space_bytes(void)
{
    unsigned long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    ck_assert_int_eq(fscanf(in, "%lu", &pages), 1);
    fclose(in);
    return pages * adsm_vm_page_bytes();
}

START_TEST(range_is_usable_after_commit)
{
    struct adsm_arena_range range;
    ck_assert_int_eq(adsm_arena_alloc(&range, 5 * MIB), ADSM_OK);
    ck_assert_uint_eq(range.bytes, 6 * MIB);
    ck_assert_uint_eq((uintptr_t)range.shadow % ADSM_ARENA_GRANULE_BYTES, 0);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, range.bytes), ADSM_OK);
    for (size_t i = 0; i < range.bytes; i += 4096)
        ck_assert_uint_eq(range.shadow[i], 0);
    memset(range.shadow, 3, range.bytes);
    uintptr_t at = adsm_vm_reserve(range.bytes, 0, 0);
    ck_assert_int_eq(adsm_vm_map_again(at, range.bytes, range.shadow), ADSM_OK);
    ck_assert_int_eq(adsm_vm_protect(at, range.bytes, ADSM_PROT_READ), ADSM_OK);
    ck_assert_mem_eq((void *)at, range.shadow, range.bytes);
    adsm_vm_release(at, range.bytes);
    adsm_arena_free(&range);
    ck_assert_ptr_null(range.shadow);
    adsm_arena_free(&range); /* a cleared range does nothing */
    ck_assert(adsm_arena_is_valid());
}
END_TEST

START_TEST(nothing_is_committed_before_commit)
{
    struct adsm_arena_range range;
    ck_assert_int_eq(adsm_arena_alloc(&range, 64 * GIB), ADSM_OK);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
    ck_assert_int_eq(adsm_arena_commit(&range, 63 * GIB + 1, 1), ADSM_OK);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 4096);
    ck_assert_int_eq(adsm_arena_commit(&range, 4095, 2), ADSM_OK);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 3 * 4096);
    adsm_arena_free(&range);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
}
END_TEST

START_TEST(commit_again_keeps_contents)
{
    struct adsm_arena_range range;
    ck_assert_int_eq(adsm_arena_alloc(&range, MIB), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&range, 4096, 4096), ADSM_OK);
    range.shadow[5000] = 42;
    ck_assert_int_eq(adsm_arena_commit(&range, 0, MIB), ADSM_OK);
    ck_assert_uint_eq(range.shadow[5000], 42);
    adsm_arena_decommit(&range, 4097, 8192); /* inwards: page 2 alone */
    ck_assert_uint_eq(range.shadow[5000], 42);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), MIB - 4096);
    adsm_arena_decommit(&range, 0, MIB);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, 8192), ADSM_OK);
    ck_assert_uint_eq(range.shadow[5000], 0);
    adsm_arena_free(&range);
}
END_TEST

START_TEST(freed_memory_comes_back_as_zero)
{
    struct adsm_arena_range range;
    uint8_t *before = NULL;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(adsm_arena_alloc(&range, MIB), ADSM_OK);
        ck_assert(before == NULL || before == range.shadow);
        before = range.shadow;
        ck_assert_int_eq(adsm_arena_commit(&range, 0, MIB), ADSM_OK);
        ck_assert_uint_eq(range.shadow[0] | range.shadow[MIB - 1], 0);
        memset(range.shadow, 0xff, MIB);
        adsm_arena_free(&range);
    }
}
END_TEST

START_TEST(part_outside_the_range_is_invalid)
{
    struct adsm_arena_range range;
    ck_assert_int_eq(adsm_arena_alloc(&range, 2 * MIB), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&range, 2 * MIB, 1), ADSM_E_INVALID);
    ck_assert_int_eq(adsm_arena_commit(&range, 1, 2 * MIB), ADSM_E_INVALID);
    ck_assert_int_eq(adsm_arena_commit(&range, SIZE_MAX, 2), ADSM_E_INVALID);
    ck_assert_int_eq(adsm_arena_commit(&range, 2 * MIB, 0), ADSM_OK);
    adsm_arena_free(&range);
}
END_TEST

START_TEST(absurd_sizes_are_out_of_memory)
{
    struct adsm_arena_range range;
    errno = EXDEV;
    ck_assert_int_eq(adsm_arena_alloc(&range, 0), ADSM_E_NOMEM);
    ck_assert_int_eq(adsm_arena_alloc(&range, SIZE_MAX), ADSM_E_NOMEM);
    ck_assert_int_eq(adsm_arena_alloc(&range, (size_t)1 << 61), ADSM_E_NOMEM);
    ck_assert_int_eq(adsm_arena_alloc(&range, (size_t)1 << 50), ADSM_E_NOMEM);
    ck_assert_ptr_null(range.segment);
    ck_assert_int_eq(errno, EXDEV);
    ck_assert_int_eq(adsm_arena_alloc(&range, 1), ADSM_OK);
    ck_assert(adsm_arena_is_valid());
}
END_TEST

/* FACTS 2, defect 7: one open file per object. */
START_TEST(twenty_thousand_objects_need_few_files)
{
    lower_limit(RLIMIT_NOFILE, 64);
    for (int i = 0; i < 20000; i++)
        ck_assert_int_eq(adsm_arena_alloc(&ranges[i], 64), ADSM_OK);
    ck_assert_uint_le(adsm_arena_segments(), 8);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
    /* Free in an order that leaves holes everywhere, then fill them. */
    for (int step = 0; step < 3; step++) {
        for (int i = step; i < 20000; i += 3)
            adsm_arena_free(&ranges[i]);
        ck_assert(adsm_arena_is_valid());
    }
    size_t segments = adsm_arena_segments();
    for (int i = 0; i < 20000; i++)
        ck_assert_int_eq(adsm_arena_alloc(&ranges[i], 64), ADSM_OK);
    ck_assert_uint_eq(adsm_arena_segments(), segments);
    for (int i = 0; i < 20000; i++) {
        for (int j = i + 1; j < i + 4 && j < 20000; j++)
            ck_assert_ptr_ne(ranges[i].shadow, ranges[j].shadow);
    }
    ck_assert(adsm_arena_is_valid());
}
END_TEST

START_TEST(no_file_left_is_out_of_memory_and_recovers)
{
    struct adsm_arena_range range;
    lower_limit(RLIMIT_NOFILE, 3);
    ck_assert_int_eq(adsm_arena_alloc(&range, MIB), ADSM_E_NOMEM);
    lower_limit(RLIMIT_NOFILE, 64);
    ck_assert_int_eq(adsm_arena_alloc(&range, MIB), ADSM_OK);
}
END_TEST

START_TEST(address_space_limit_shrinks_the_segment)
{
    struct adsm_arena_range small, large;
    if (SANITIZED)
        return; /* its own mappings do not survive the limit */
    lower_limit(RLIMIT_AS, address_space_bytes() + 100 * MIB);
    ck_assert_int_eq(adsm_arena_alloc(&small, MIB), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&small, 0, MIB), ADSM_OK);
    memset(small.shadow, 1, MIB);
    ck_assert_int_eq(adsm_arena_alloc(&large, 200 * MIB), ADSM_E_NOMEM);
    int taken = 0;
    while (adsm_arena_alloc(&ranges[taken], 2 * MIB) == ADSM_OK)
        taken++;
    ck_assert_int_ge(taken, 30);
    ck_assert_int_le(taken, 50);
    adsm_arena_free(&ranges[0]);
    ck_assert_int_eq(adsm_arena_alloc(&large, 2 * MIB), ADSM_OK);
    ck_assert(adsm_arena_is_valid());
}
END_TEST

START_TEST(file_size_limit_is_respected_without_a_signal)
{
    struct adsm_arena_range range;
    lower_limit(RLIMIT_FSIZE, 8 * MIB);
    ck_assert_int_eq(adsm_arena_alloc(&range, 16 * MIB), ADSM_E_NOMEM);
    ck_assert_int_eq(adsm_arena_alloc(&range, 8 * MIB), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, 8 * MIB), ADSM_OK);
    ck_assert_int_eq(adsm_arena_alloc(&range, MIB), ADSM_OK);
}
END_TEST

START_TEST(locked_memory_limit_does_not_matter)
{
    struct adsm_arena_range range;
    lower_limit(RLIMIT_MEMLOCK, 0);
    ck_assert_int_eq(adsm_arena_alloc(&range, 8 * MIB), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, 8 * MIB), ADSM_OK);
    memset(range.shadow, 1, 8 * MIB);
}
END_TEST

/* A range whose file ends before the range does. */
START_TEST(failed_commit_is_an_error_not_a_signal)
{
    int fd = memfd_create("short", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    struct adsm_arena_range range = {
        .shadow = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
        .bytes = MIB};
    ck_assert_ptr_ne(range.shadow, MAP_FAILED);
    close(fd);
    errno = EXDEV;
    ck_assert_int_eq(adsm_arena_commit(&range, 0, 4096), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, MIB), ADSM_E_NOMEM);
    ck_assert_int_eq(errno, EXDEV);
    munmap(range.shadow, MIB);
}
END_TEST

/* Locked memory cannot be given back as it is. */
START_TEST(memory_that_the_program_locked_is_given_back)
{
    struct adsm_arena_range range;
    ck_assert_int_eq(adsm_arena_alloc(&range, MIB), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, MIB), ADSM_OK);
    memset(range.shadow, 7, MIB);
    ck_assert_int_eq(mlock(range.shadow, 8192), 0);
    adsm_arena_decommit(&range, 0, MIB);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, MIB), ADSM_OK);
    ck_assert_uint_eq(range.shadow[5000], 0);
    adsm_arena_free(&range);
}
END_TEST

static int descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* A mapping in place of addresses that are taken already needs no others. */
START_TEST(range_is_mapped_again_where_no_address_space_is_left)
{
    enum { BYTES = 40 << 20 };
    struct adsm_arena_range range;
    if (SANITIZED)
        return; /* as above */
    ck_assert_int_eq(adsm_arena_alloc(&range, BYTES), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, BYTES), ADSM_OK);
    for (size_t i = 0; i < BYTES; i += 4096)
        range.shadow[i] = (uint8_t)(i >> 12);
    uintptr_t at = adsm_vm_reserve(BYTES, 0, 0);
    lower_limit(RLIMIT_AS, address_space_bytes() + MIB);
    ck_assert_int_eq(adsm_vm_map_again(at, BYTES, range.shadow), ADSM_OK);
    ck_assert_int_eq(adsm_vm_protect(at, BYTES, ADSM_PROT_READ), ADSM_OK);
    for (size_t i = 0; i < BYTES; i += 4096)
        ck_assert_uint_eq(*(uint8_t *)(at + i), (uint8_t)(i >> 12));
}
END_TEST

START_TEST(arena_keeps_no_descriptor)
{
    struct adsm_arena_range range;
    int before = descriptors();
    ck_assert_int_eq(adsm_arena_alloc(&range, 2 * GIB), ADSM_OK);
    ck_assert_int_eq(descriptors(), before);
    adsm_arena_free(&range);
}
END_TEST

START_TEST(large_object_gets_a_segment_of_its_own)
{
    struct adsm_arena_range large, small;
    ck_assert_int_eq(adsm_arena_alloc(&small, 1), ADSM_OK);
    ck_assert_int_eq(adsm_arena_alloc(&large, 300 * GIB), ADSM_OK);
    ck_assert_uint_eq(adsm_arena_segments(), 2);
    ck_assert_int_eq(adsm_arena_commit(&large, 300 * GIB - 1, 1), ADSM_OK);
    large.shadow[300 * GIB - 1] = 1;
    ck_assert(adsm_arena_is_valid());
    adsm_arena_free(&large);
    adsm_arena_free(&small);
    adsm_arena_fini();
    ck_assert_uint_eq(adsm_arena_segments(), 0);
}
END_TEST

START_TEST(child_does_not_inherit_the_shadow)
{
    struct adsm_arena_range range;
    int status = 0;
    ck_assert_int_eq(adsm_arena_alloc(&range, MIB), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&range, 0, MIB), ADSM_OK);
    range.shadow[0] = 1;
    pid_t child = fork();
    if (child == 0) {
        range.shadow[0] = 2;
        _exit(0);
    }
    waitpid(child, &status, 0);
    ck_assert(!(WIFEXITED(status) && WEXITSTATUS(status) == 0));
    ck_assert_uint_eq(range.shadow[0], 1);
}
END_TEST

static void *alloc_and_free(void *arg)
{
    struct adsm_arena_range held[16] = {{0}};
    unsigned seed = (unsigned)(uintptr_t)arg;
    for (int i = 0; i < 2000; i++) {
        seed = seed * 1664525 + 1013904223;
        struct adsm_arena_range *range = &held[seed >> 28];
        uint8_t mark = (uint8_t)(uintptr_t)arg;
        if (range->segment == NULL) {
            size_t bytes = (1 + (seed >> 20) % 4) * 2 * MIB;
            ck_assert_int_eq(adsm_arena_alloc(range, bytes), ADSM_OK);
            ck_assert_int_eq(adsm_arena_commit(range, 0, 4096), ADSM_OK);
            ck_assert_uint_eq(range->shadow[9], 0);
            range->shadow[9] = mark;
        } else {
            ck_assert_uint_eq(range->shadow[9], mark);
            adsm_arena_free(range);
        }
    }
    for (int i = 0; i < 16; i++)
        adsm_arena_free(&held[i]);
    return NULL;
}

START_TEST(threads_never_share_a_granule)
{
    pthread_t threads[8];
    for (uintptr_t i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, alloc_and_free, (void *)(i + 1));
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert(adsm_arena_is_valid());
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
}
END_TEST

SUITE_MAIN("arena", 60, range_is_usable_after_commit,
           nothing_is_committed_before_commit, commit_again_keeps_contents,
           freed_memory_comes_back_as_zero, part_outside_the_range_is_invalid,
           absurd_sizes_are_out_of_memory,
           twenty_thousand_objects_need_few_files,
           no_file_left_is_out_of_memory_and_recovers,
           address_space_limit_shrinks_the_segment,
           file_size_limit_is_respected_without_a_signal,
           locked_memory_limit_does_not_matter,
           failed_commit_is_an_error_not_a_signal,
           memory_that_the_program_locked_is_given_back,
           range_is_mapped_again_where_no_address_space_is_left,
           arena_keeps_no_descriptor, large_object_gets_a_segment_of_its_own,
           child_does_not_inherit_the_shadow, threads_never_share_a_granule)
