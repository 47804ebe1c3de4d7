/*
 * Huge pages: what is asked for, what is kept, and what a refusal changes.
 */
#include "os/huge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/option.h"
#include "base/stats.h"
#include "common/pmd.h"
#include "common/suite.h"
#include "os/arena.h"
#include "os/vm.h"

#define MIB ((size_t)1 << 20)

static const char *why_not;

/* Where the kernel makes none, there is nothing to see but that. */
static bool machine_has_them(void)
{
    setenv("ADSM_HUGE_PAGES", "on", 1); /* however long it takes */
    adsm_options_load();
    return adsm_huge_try(&why_not);
}

static uint8_t *range_of(struct adsm_arena_range *range, size_t bytes)
{
    ck_assert_int_eq(adsm_arena_alloc(range, bytes), ADSM_OK);
    return range->shadow;
}

START_TEST(hole_becomes_huge_pages_of_zeros)
{
    struct adsm_arena_range range;
    uint8_t *p = range_of(&range, 8 * MIB);
    if (!machine_has_them())
        SUITE_SKIP_CASE(why_not);
    uint64_t before = adsm_stats_get(ADSM_STAT_huge_pages);
    ck_assert(adsm_huge_make((uintptr_t)p, 6 * MIB));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_huge_pages) - before, 3);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 6 * MIB);
    size_t zeros = 0;
    while (zeros < 6 * MIB && p[zeros] == 0)
        zeros++;
    ck_assert_uint_eq(zeros, 6 * MIB);
    ck_assert_uint_eq(pmd_bytes(p, 6 * MIB), 6 * MIB);
    adsm_arena_free(&range);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
}
END_TEST

START_TEST(pages_that_were_there_keep_what_they_hold)
{
    struct adsm_arena_range range;
    uint8_t *p = range_of(&range, 4 * MIB);
    for (size_t i = 0; i < 4 * MIB; i += 12345)
        p[i] = (uint8_t)(i >> 4);
    bool may_be_huge = machine_has_them();
    ck_assert_int_eq(adsm_huge_make((uintptr_t)p, 4 * MIB), may_be_huge);
    for (size_t i = 0; i < 4 * MIB; i += 12345)
        ck_assert_uint_eq(p[i], (uint8_t)(i >> 4));
    adsm_arena_free(&range);
}
END_TEST

/* A second mapping loses its huge page to a change of protection of a part, and
 * has it again. */
START_TEST(split_mapping_is_joined_again)
{
    struct adsm_arena_range range;
    uint8_t *p = range_of(&range, 2 * MIB);
    uintptr_t at = adsm_vm_reserve(2 * MIB, ADSM_HUGE_BYTES, 0);
    if (!machine_has_them())
        SUITE_SKIP_CASE(why_not);
    ck_assert(adsm_huge_make((uintptr_t)p, 2 * MIB));
    ck_assert_int_eq(adsm_vm_map_again(at, 2 * MIB, p), ADSM_OK);
    ck_assert_int_eq(adsm_vm_protect(at, 2 * MIB, ADSM_PROT_READ_WRITE), 0);
    ck_assert_int_eq(adsm_vm_populate(at, 2 * MIB, true), ADSM_OK);
    ck_assert_uint_eq(pmd_bytes((void *)at, 2 * MIB), 2 * MIB);
    ck_assert_int_eq(adsm_vm_protect(at, MIB, ADSM_PROT_READ), 0);
    ck_assert_uint_eq(pmd_bytes((void *)at, 2 * MIB), 0);
    ck_assert_int_eq(adsm_vm_protect(at, MIB, ADSM_PROT_READ_WRITE), 0);
    ((uint8_t *)at)[5] = 1; /* a small page: the mapping is really split */
    ck_assert(adsm_huge_rejoin(at, 2 * MIB));
    ck_assert_uint_eq(pmd_bytes((void *)at, 2 * MIB), 2 * MIB);
    ck_assert_uint_eq(p[5], 1);
    adsm_vm_release(at, 2 * MIB);
    adsm_arena_free(&range);
}
END_TEST

START_TEST(refusal_is_remembered_and_said_with_its_reason)
{
    struct adsm_arena_range range;
    const char *why;
    uint8_t *p = range_of(&range, 2 * MIB);
    if (!machine_has_them())
        SUITE_SKIP_CASE(why_not);
    ck_assert_int_eq(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
    ck_assert(!adsm_huge_try(&why));
    ck_assert_ptr_nonnull(strstr(why, "PR_SET_THP_DISABLE"));
    ck_assert(adsm_huge_is_wanted());
    p[7] = 7;
    ck_assert(!adsm_huge_make((uintptr_t)p, 2 * MIB));
    ck_assert(!adsm_huge_is_wanted());
    ck_assert_uint_eq(p[7], 7);
    adsm_arena_free(&range);
}
END_TEST

START_TEST(option_switches_them_off)
{
    const char *why;
    setenv("ADSM_HUGE_PAGES", "off", 1);
    adsm_options_load();
    ck_assert(!adsm_huge_is_wanted());
    ck_assert(!adsm_huge_try(&why));
    ck_assert_ptr_nonnull(strstr(why, "ADSM_HUGE_PAGES"));
}
END_TEST

SUITE_MAIN("huge", 60, hole_becomes_huge_pages_of_zeros,
           pages_that_were_there_keep_what_they_hold,
           split_mapping_is_joined_again,
           refusal_is_remembered_and_said_with_its_reason,
           option_switches_them_off)
