/*
 * Written pages: what is found, once, and what is not known any more is said.
 */
#include "os/written.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/suite.h"
#include "os/vm.h"

enum { PAGES = 64, ROOM = 16 };

static size_t page;
static uint8_t *open_at; /* watched            */
static uint8_t *shadow;  /* the same pages     */

static void begin(void)
{
    ck_assert(adsm_written_init());
    page = adsm_vm_page_bytes();
    int fd = memfd_create("pages", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, (off_t)(PAGES * page)), 0);
    void *both[2];
    for (int k = 0; k < 2; k++) {
        both[k] =
            mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ck_assert_ptr_ne(both[k], MAP_FAILED);
    }
    close(fd);
    open_at = both[0];
    shadow = both[1];
    ck_assert(adsm_written_watch((uintptr_t)open_at, PAGES * page));
}

static void end(void)
{
    munmap(open_at, PAGES * page);
    munmap(shadow, PAGES * page);
    adsm_written_fini();
}

/* One letter by page: x written. */
static const char *found(bool again)
{
    static char text[PAGES + 1];
    struct adsm_written_run runs[ROOM];
    uintptr_t at = (uintptr_t)open_at, last = at + PAGES * page;
    memset(text, '.', PAGES);
    while (at < last) {
        uintptr_t before = at;
        int n = adsm_written_find(&at, last, again, runs, ROOM);
        ck_assert_int_ge(n, 0);
        ck_assert_uint_gt(at, before);
        for (int k = 0; k < n; k++)
            for (uint64_t p = runs[k].begin; p < runs[k].end; p += page)
                text[(p - (uintptr_t)open_at) / page] = 'x';
    }
    return text;
}

/* The letters of pages that `is` says were written. */
static const char *pages(bool (*is)(size_t))
{
    static char text[PAGES + 1];
    for (size_t i = 0; i < PAGES; i++)
        text[i] = is(i) ? 'x' : '.';
    return text;
}

static bool none(size_t i)
{
    return i == PAGES;
}

static bool fifth(size_t i)
{
    return i == 5;
}

static bool even(size_t i)
{
    return i % 2 == 0;
}

static bool last_two(size_t i)
{
    return i >= PAGES - 2;
}

START_TEST(store_is_found_until_forgotten)
{
    begin();
    ck_assert_str_eq(found(false), pages(none));
    open_at[5 * page + 17] = 1;
    ck_assert_str_eq(found(false), pages(fifth));
    ck_assert_str_eq(found(true), pages(fifth));
    ck_assert_str_eq(found(true), pages(none));
    open_at[5 * page + 18] = 1;
    ck_assert_str_eq(found(false), pages(fifth));
    end();
}
END_TEST

START_TEST(more_than_there_is_room_for_is_found)
{
    begin();
    for (size_t i = 0; i < PAGES; i += 2)
        open_at[i * page] = 1;
    ck_assert_str_eq(found(true), pages(even));
    ck_assert_str_eq(found(true), pages(none));
    end();
}
END_TEST

START_TEST(reads_and_other_mappings_are_not_found)
{
    begin();
    memset(shadow, 1, PAGES * page);
    for (size_t i = 0; i < PAGES; i++)
        ck_assert_uint_eq(*(volatile uint8_t *)(open_at + i * page), 1);
    ck_assert_str_eq(found(true), pages(none));
    end();
}
END_TEST

START_TEST(protection_changes_nothing)
{
    static const enum adsm_prot path[] = {ADSM_PROT_NONE, ADSM_PROT_READ,
                                          ADSM_PROT_READ_WRITE};
    begin();
    open_at[5 * page] = 1;
    for (size_t k = 0; k < 3; k++) {
        ck_assert_int_eq(
            adsm_vm_protect((uintptr_t)open_at, PAGES * page, path[k]),
            ADSM_OK);
        ck_assert_str_eq(found(false), pages(fifth));
    }
    ck_assert_str_eq(found(true), pages(fifth));
    open_at[5 * page] = 2;
    ck_assert_str_eq(found(true), pages(fifth));
    end();
}
END_TEST

START_TEST(system_call_is_found)
{
    begin();
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read(fd, open_at + 5 * page + 100, 8), 8);
    close(fd);
    ck_assert_str_eq(found(true), pages(fifth));
    end();
}
END_TEST

START_TEST(noted_pages_are_found)
{
    begin();
    memset(shadow + (PAGES - 2) * page, 1, 2 * page);
    ck_assert(
        adsm_written_note((uintptr_t)open_at + (PAGES - 2) * page, 2 * page));
    ck_assert_str_eq(found(true), pages(last_two));
    ck_assert_int_eq(adsm_vm_protect((uintptr_t)open_at, page, ADSM_PROT_READ),
                     ADSM_OK);
    ck_assert(!adsm_written_note((uintptr_t)open_at, page));
    end();
}
END_TEST

static int find_any(void)
{
    struct adsm_written_run run;
    uintptr_t at = (uintptr_t)open_at;
    return adsm_written_find(&at, at + PAGES * page, true, &run, 1);
}

START_TEST(not_watched_is_not_known)
{
    begin();
    adsm_written_unwatch((uintptr_t)open_at, PAGES * page);
    open_at[5 * page] = 1;
    ck_assert_int_eq(find_any(), -1);
    ck_assert(adsm_written_watch((uintptr_t)open_at, PAGES * page));
    ck_assert_int_eq(find_any(), 0);
    end();
}
END_TEST

/* As programs do that close what they have not opened. */
START_TEST(closed_descriptors_are_said)
{
    begin();
    open_at[5 * page] = 1;
    closefrom(3);
    ck_assert_int_eq(find_any(), -1);
    ck_assert(!adsm_written_watch((uintptr_t)open_at, PAGES * page));
    open_at[5 * page] = 2;
    ck_assert_uint_eq(shadow[5 * page], 2);
    end();
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        store_is_found_until_forgotten,
        more_than_there_is_room_for_is_found,
        reads_and_other_mappings_are_not_found,
        protection_changes_nothing,
        system_call_is_found,
        noted_pages_are_found,
        not_watched_is_not_known,
        closed_descriptors_are_said,
    };
    const char *why = adsm_written_refused();
    if (why)
        suite_skip(why);
    return suite_run("written", cases, sizeof cases / sizeof *cases, 60);
}
