/*
 * Address space: reserve, protect, map, the mapping limit, placeholders.
 */
#include "os/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/suite.h"
#include "os/vm_maps.h"

#define MIB ((size_t)1 << 20)

static sigjmp_buf jump;

static void on_fault(int signal)
{
    siglongjmp(jump, 1);
}

/* Can the CPU do that? Under a handler of our own. */
static bool can_read(uintptr_t addr)
{
    if (sigsetjmp(jump, 1) != 0)
        return false;
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    (void)*(volatile char *)addr;
    return true;
}

static bool can_write(uintptr_t addr)
{
    if (sigsetjmp(jump, 1) != 0)
        return false;
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    *(volatile char *)addr = 1;
    return true;
}

static int file_of(size_t bytes)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    return fd;
}

START_TEST(reserved_range_is_aligned_and_closed)
{
    for (size_t align = 4096; align <= 1024 * MIB; align *= 4) {
        uintptr_t at = adsm_vm_reserve(3 * 4096, align, 0);
        ck_assert_uint_ne(at, 0);
        ck_assert_uint_eq(at % align, 0);
        ck_assert(!can_read(at) && !can_read(at + 2 * 4096));
        ck_assert(adsm_vm_is_placeholder(at, 3 * 4096));
        adsm_vm_release(at, 3 * 4096);
    }
}
END_TEST

START_TEST(trimmed_ends_are_given_back)
{
    uintptr_t first = adsm_vm_reserve(4096, 64 * MIB, 0);
    uintptr_t again = adsm_vm_reserve(4096, 64 * MIB, 0);
    size_t apart = first > again ? first - again : again - first;
    ck_assert_uint_eq(apart, 64 * MIB);
    ck_assert(can_read(first) == false);
}
END_TEST

START_TEST(hint_is_taken_when_free_and_only_then)
{
    uintptr_t at = adsm_vm_reserve(4 * MIB, 2 * MIB, 0);
    adsm_vm_release(at, 4 * MIB);
    ck_assert_uint_eq(adsm_vm_reserve(4 * MIB, 2 * MIB, at), at);
    uintptr_t other = adsm_vm_reserve(4 * MIB, 2 * MIB, at);
    ck_assert_uint_ne(other, 0);
    ck_assert_uint_ne(other, at);
    ck_assert_uint_eq(other % (2 * MIB), 0);
}
END_TEST

START_TEST(claimed_range_lies_there_or_nothing_changes)
{
    uintptr_t at = adsm_vm_reserve(4 * MIB, 2 * MIB, 0);
    ck_assert(!adsm_vm_reserve_at(at, 4 * MIB));
    adsm_vm_release(at, 2 * MIB);
    ck_assert(!adsm_vm_reserve_at(at, 4 * MIB));
    ck_assert(adsm_vm_reserve_at(at, 2 * MIB)); /* nothing came there */
    ck_assert(!can_read(at) && !can_read(at + 2 * MIB));
    adsm_vm_release(at, 4 * MIB);
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    errno = EXDEV;
    ck_assert_uint_eq(adsm_vm_reserve(0, 0, 0), 0);
    ck_assert_uint_eq(adsm_vm_reserve(SIZE_MAX, 4096, 0), 0);
    ck_assert_uint_eq(adsm_vm_reserve((size_t)1 << 60, 4096, 0), 0);
    ck_assert_int_eq(errno, EXDEV);
}
END_TEST

START_TEST(protection_does_what_it_says)
{
    int fd = file_of(MIB);
    uintptr_t at = adsm_vm_reserve(MIB, 0, 0);
    ck_assert_int_eq(adsm_vm_map_file(at, MIB, fd, 0, ADSM_PROT_NONE), ADSM_OK);
    ck_assert(!can_read(at) && !can_write(at));
    ck_assert_int_eq(adsm_vm_protect(at, MIB, ADSM_PROT_READ), ADSM_OK);
    ck_assert(can_read(at) && !can_write(at));
    ck_assert_int_eq(adsm_vm_protect(at, MIB, ADSM_PROT_READ_WRITE), ADSM_OK);
    ck_assert(can_read(at) && can_write(at));
    ck_assert_int_eq(adsm_vm_protect(at + 1, MIB, ADSM_PROT_READ),
                     ADSM_E_SYSTEM);
    ck_assert_int_eq(adsm_vm_placeholder(at, MIB), ADSM_OK);
    ck_assert(!can_read(at));
}
END_TEST

START_TEST(two_mappings_of_a_file_are_one_memory)
{
    int fd = file_of(4 * MIB);
    uintptr_t a = adsm_vm_reserve(MIB, 0, 0), s = adsm_vm_reserve(MIB, 0, 0);
    ck_assert_int_eq(
        adsm_vm_map_file(a, MIB, fd, 2 * MIB, ADSM_PROT_READ_WRITE), ADSM_OK);
    ck_assert_int_eq(
        adsm_vm_map_file(s, MIB, fd, 2 * MIB, ADSM_PROT_READ_WRITE), ADSM_OK);
    memset((void *)a, 7, MIB);
    ck_assert_mem_eq((void *)a, (void *)s, MIB);
    char byte = 0;
    ck_assert_int_eq(pread(fd, &byte, 1, 2 * MIB), 1);
    ck_assert_int_eq(byte, 7);
    ck_assert_int_eq(adsm_vm_map_file(a, MIB, -1, 0, ADSM_PROT_READ),
                     ADSM_E_SYSTEM);
}
END_TEST

START_TEST(child_does_not_inherit_file_mappings)
{
    int fd = file_of(MIB), status = 0;
    uintptr_t at = adsm_vm_reserve(MIB, 0, 0);
    ck_assert_int_eq(adsm_vm_map_file(at, MIB, fd, 0, ADSM_PROT_READ_WRITE),
                     ADSM_OK);
    *(volatile char *)at = 5;
    pid_t child = fork();
    if (child == 0) {
        *(volatile char *)at = 6;
        _exit(0);
    }
    waitpid(child, &status, 0);
    ck_assert(!(WIFEXITED(status) && WEXITSTATUS(status) == 0));
    ck_assert_int_eq(*(volatile char *)at, 5);
}
END_TEST

/* Alternate blocks opened until the kernel has no mapping left. */
START_TEST(mapping_limit_is_reported_and_merging_still_works)
{
    size_t limit = adsm_vm_map_limit(), blocks = limit + 100, i;
    if (limit > 200000)
        return; /* a system without a limit worth testing */
    int fd = file_of(blocks * 4096);
    uintptr_t at = adsm_vm_reserve(blocks * 4096, 0, 0);
    adsm_status_t status = ADSM_OK;
    ck_assert_int_eq(adsm_vm_map_file(at, blocks * 4096, fd, 0, ADSM_PROT_NONE),
                     ADSM_OK);
    errno = EXDEV;
    for (i = 1; i < blocks && status == ADSM_OK; i += 2)
        status = adsm_vm_protect(at + i * 4096, 4096, ADSM_PROT_READ_WRITE);
    int after = errno;
    size_t opened = i;
    adsm_status_t merged =
        adsm_vm_protect(at + 2 * 4096, 4096, ADSM_PROT_READ_WRITE);
    adsm_status_t whole =
        adsm_vm_protect(at, blocks * 4096, ADSM_PROT_READ_WRITE);
    adsm_vm_release(at, blocks * 4096);
    ck_assert_int_eq(status, ADSM_E_LIMIT);
    ck_assert_uint_gt(opened, limit / 2);
    ck_assert_int_eq(after, EXDEV);
    ck_assert_int_eq(merged, ADSM_OK);
    ck_assert_int_eq(whole, ADSM_OK);
}
END_TEST

START_TEST(populated_pages_are_present)
{
    int fd = file_of(4 * MIB);
    unsigned char present[4 * MIB / 4096];
    uintptr_t at = adsm_vm_reserve(4 * MIB, 0, 0);
    ck_assert_int_eq(adsm_vm_map_file(at, 4 * MIB, fd, 0, ADSM_PROT_READ_WRITE),
                     ADSM_OK);
    ck_assert_int_eq(adsm_vm_populate(at, 2 * MIB, true), ADSM_OK);
    ck_assert_int_eq(mincore((void *)at, 4 * MIB, present), 0);
    ck_assert_int_eq(present[0] & 1, 1);
    ck_assert_int_eq(present[511] & 1, 1);
    ck_assert_int_eq(adsm_vm_populate(at, 4 * MIB, false), ADSM_OK);
}
END_TEST

START_TEST(populate_of_a_hole_is_an_error)
{
    uintptr_t at = adsm_vm_reserve(MIB, 0, 0);
    adsm_vm_release(at, MIB);
    errno = EXDEV;
    ck_assert_int_eq(adsm_vm_populate(at, MIB, true), ADSM_E_NOMEM);
    ck_assert_int_eq(errno, EXDEV);
}
END_TEST

START_TEST(placeholder_is_told_from_data)
{
    size_t page = 4096;
    uintptr_t at = adsm_vm_reserve(64 * page, 0, 0);
    char *middle = (char *)at + 32 * page;
    ck_assert(adsm_vm_is_placeholder(at, 64 * page));
    /* unmapped in the middle: still nobody's */
    munmap(middle, page);
    ck_assert(adsm_vm_is_placeholder(at, 64 * page));
    /* somebody's memory, even closed, when it is a file */
    int fd = file_of(page);
    mmap(middle, page, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0);
    ck_assert(!adsm_vm_is_placeholder(at, 64 * page));
    ck_assert(adsm_vm_is_placeholder(at, 32 * page));
    ck_assert(adsm_vm_is_placeholder(at + 33 * page, 31 * page));
    /* the same, private */
    mmap(middle, page, PROT_NONE, MAP_PRIVATE | MAP_FIXED, fd, 0);
    ck_assert(!adsm_vm_is_placeholder(at, 64 * page));
    /* private, readable */
    mmap(middle, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
         0);
    ck_assert(!adsm_vm_is_placeholder(at, 64 * page));
    ck_assert(!adsm_vm_is_placeholder((uintptr_t)middle, page));
    ck_assert(!adsm_vm_is_placeholder((uintptr_t)&middle & ~(page - 1), page));
    /* closed but shared anonymous: it may hold data */
    mmap(middle, page, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
         0);
    ck_assert(!adsm_vm_is_placeholder(at, 64 * page));
    ck_assert_int_eq(adsm_vm_placeholder((uintptr_t)middle, page), ADSM_OK);
    ck_assert(adsm_vm_is_placeholder(at, 64 * page));
}
END_TEST

/* Cuts the mapping before a range and joins it again, until told to stop. */
struct cutter {
    uintptr_t at;
    _Atomic bool stop;
};

static void *cut_and_join(void *argument)
{
    struct cutter *cutter = argument;
    while (!atomic_load(&cutter->stop)) {
        mprotect((void *)cutter->at, 4096, PROT_READ);
        mprotect((void *)cutter->at, 4096, PROT_NONE);
    }
    return NULL;
}

START_TEST(placeholder_is_one_while_its_neighbour_is_cut)
{
    enum { LOOKS = 20000, PAGE = 4096 };
    pthread_t thread;
    struct cutter cutter = {.at = adsm_vm_reserve(64 * PAGE, 0, 0)};
    ck_assert_uint_ne(cutter.at, 0);
    uintptr_t still = cutter.at + 2 * PAGE;
    ck_assert_int_eq(pthread_create(&thread, NULL, cut_and_join, &cutter), 0);
    int others = 0;
    for (int i = 0; i < LOOKS; i++)
        others += !adsm_vm_is_placeholder(still, 62 * PAGE);
    atomic_store(&cutter.stop, true);
    pthread_join(thread, NULL);
    ck_assert_int_eq(others, 0);
    adsm_vm_release(cutter.at, 64 * PAGE);
}
END_TEST

START_TEST(placeholder_is_found_among_many_mappings)
{
    /* Enough lines before it that /proc/self/maps is read in pieces. */
    uintptr_t noise = adsm_vm_reserve(2000 * 4096, 0, 0);
    for (size_t i = 0; i < 2000; i += 2)
        mprotect((void *)(noise + i * 4096), 4096, PROT_READ);
    for (size_t i = 0; i < 2000; i += 97)
        ck_assert(adsm_vm_is_placeholder(noise + i * 4096, 4096) == (i % 2));
    ck_assert(!adsm_vm_is_placeholder(noise, 2 * 4096));
    /* The very end of the address space comes after the last line. */
    ck_assert(adsm_vm_is_placeholder(UINTPTR_MAX - 8191, 4096));
}
END_TEST

/* What the two ways say of ranges around the beginnings of mappings; the kernel's
 * own page above all others is told of in the text alone. */
START_TEST(mappings_asked_for_are_those_read)
{
    char line[512];
    size_t asked = 0;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    FILE *lines = fopen("/proc/self/maps", "re");
    ck_assert(maps >= 0 && lines);
    uintptr_t at = adsm_vm_reserve(64 * 4096, 0, 0), start;
    ck_assert(at);
    if (adsm_vm_maps_ask(maps, at, 4096) == ADSM_E_SYSTEM)
        puts("before Linux 6.11, mappings are only read");
    else
        while (fgets(line, sizeof line, lines) &&
               sscanf(line, "%" SCNxPTR, &start) == 1 && start >> 47 == 0)
            for (uintptr_t from = start - 8192; from < start + 8192;
                 from += 4096, asked++) {
                lseek(maps, 0, SEEK_SET);
                ck_assert_msg(adsm_vm_maps_ask(maps, from, 8192) ==
                                  adsm_vm_maps_read(maps, from, 8192),
                              "8192 bytes at %#" PRIxPTR " by %s", from, line);
            }
    ck_assert(asked == 0 || asked > 40);
    fclose(lines);
    close(maps);
}
END_TEST

START_TEST(closings_count_what_takes_access_away)
{
    int fd = file_of(MIB);
    uintptr_t at = adsm_vm_reserve(MIB, 0, 0);
    uint64_t start = adsm_vm_closings();
    ck_assert_int_eq(adsm_vm_map_file(at, MIB, fd, 0, ADSM_PROT_NONE), ADSM_OK);
    ck_assert_uint_eq(adsm_vm_closings(), start + 1);
    ck_assert_int_eq(adsm_vm_protect(at, MIB, ADSM_PROT_READ_WRITE), ADSM_OK);
    ck_assert_uint_eq(adsm_vm_closings(), start + 1);
    ck_assert_int_eq(adsm_vm_protect(at, MIB, ADSM_PROT_READ), ADSM_OK);
    ck_assert_int_eq(adsm_vm_protect(at, MIB, ADSM_PROT_NONE), ADSM_OK);
    ck_assert_uint_eq(adsm_vm_closings(), start + 3);
}
END_TEST

SUITE_MAIN("vm", 60, reserved_range_is_aligned_and_closed,
           trimmed_ends_are_given_back, hint_is_taken_when_free_and_only_then,
           claimed_range_lies_there_or_nothing_changes,
           absurd_sizes_are_refused, protection_does_what_it_says,
           two_mappings_of_a_file_are_one_memory,
           child_does_not_inherit_file_mappings,
           mapping_limit_is_reported_and_merging_still_works,
           populated_pages_are_present, populate_of_a_hole_is_an_error,
           placeholder_is_told_from_data, mappings_asked_for_are_those_read,
           placeholder_is_one_while_its_neighbour_is_cut,
           placeholder_is_found_among_many_mappings,
           closings_count_what_takes_access_away)
