/*
 * Choosing a wrapper for a request of cuGetProcAddress.
 *
 * The requests are those that NVIDIA's runtime library 13 makes, with the
 * export it is given for each; rows without a hook must give none.
 */
#include "common/suite.h"
#include "interpose/choose.h"

#include <stdbool.h>
#include <string.h>

static const struct adsm_hook rows[] = {
#define ADSM_HOOK_CUDA(name, api, since, flags, params)                        \
    {#name, "cuda", api, since, flags},
#include "interpose/hooks.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

struct request {
    const char *api;
    int version;
    int flags;
    const char *given;
};

static const struct request requests[] = {
#include "interpose/requests.inc"
};

static const char *choose(const char *api, int version, int flags)
{
    const struct adsm_hook *hook =
        hook_choose(rows, ROWS, api, version, (uint64_t)flags);
    return hook ? hook->name : "";
}

static bool is_hooked(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

START_TEST(requests_of_cudart_give_their_exports)
{
    size_t hooked = 0;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const struct request *r = &requests[i];
        const char *name = choose(r->api, r->version, r->flags);
        const char *want = is_hooked(r->given) ? r->given : "";
        ck_assert_msg(strcmp(name, want) == 0, "%s %d %d: \"%s\", not \"%s\"",
                      r->api, r->version, r->flags, name, want);
        hooked += *want != '\0';
    }
    ck_assert_uint_gt(hooked, 60);
}
END_TEST

START_TEST(old_versions_give_nothing)
{
    ck_assert_str_eq(choose("cuMemAlloc", 2000, 0), "");
    ck_assert_str_eq(choose("cuMemAlloc", 3019, 0), "");
    ck_assert_str_eq(choose("cuMemAlloc", 3020, 0), "cuMemAlloc_v2");
    ck_assert_str_eq(choose("cuMemcpyBatchAsync", 12079, 2), "");
}
END_TEST

START_TEST(newer_versions_give_the_newest_known)
{
    ck_assert_str_eq(choose("cuMemAlloc", 14000, 0), "cuMemAlloc_v2");
    ck_assert_str_eq(choose("cuCtxSynchronize", 12990, 0), "cuCtxSynchronize");
    ck_assert_str_eq(choose("cuCtxSynchronize", 13000, 0),
                     "cuCtxSynchronize_v2");
    ck_assert_str_eq(choose("cuStreamDestroy", 3000, 0), "cuStreamDestroy");
    ck_assert_str_eq(choose("cuStreamDestroy", 4000, 0), "cuStreamDestroy_v2");
}
END_TEST

START_TEST(per_thread_flag_without_such_form_gives_the_plain_one)
{
    ck_assert_str_eq(choose("cuMemAlloc", 12000, 2), "cuMemAlloc_v2");
    ck_assert_str_eq(choose("cuMemcpyHtoD", 3020, 2), "cuMemcpyHtoD_v2");
    ck_assert_str_eq(choose("cuMemcpyHtoD", 7000, 2), "cuMemcpyHtoD_v2_ptds");
    ck_assert_str_eq(choose("cuMemcpyHtoD", 7000, 1), "cuMemcpyHtoD_v2");
}
END_TEST

START_TEST(unknown_names_give_nothing)
{
    ck_assert_str_eq(choose("", 0, 0), "");
    ck_assert_str_eq(choose("cuMemAlloc_v2", 12000, 0), "");
    ck_assert_str_eq(choose("cuInit", 12000, 0), "");
}
END_TEST

SUITE_MAIN("choose", 10, requests_of_cudart_give_their_exports,
           old_versions_give_nothing, newer_versions_give_the_newest_known,
           per_thread_flag_without_such_form_gives_the_plain_one,
           unknown_names_give_nothing)
