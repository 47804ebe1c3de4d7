/*
 * The main function every Check suite shares: one case list, one runner.
 *
 * Runs in fork mode unless CK_FORK=no, prints one line per failed case, and
 * exits 0 when all passed, 1 otherwise, 77 when `suite_skip` was called or no
 * case could run. Some that could not: a line "Skipped: N" says how many.
 */
#ifndef TESTS_COMMON_SUITE_H
#define TESTS_COMMON_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Where a case has come to goes into a file at each assertion: a microsecond,
 * which loops over arrays have a million times. The same place again says nothing
 * new. */
static inline void suite_mark(const char *file, int line)
{
    static _Thread_local const char *last_file;
    static _Thread_local int last_line;
    if (line == last_line && file == last_file)
        return;
    last_file = file;
    last_line = line;
    _mark_point(file, line);
}
#define _mark_point(file, line) suite_mark(file, line)

/** Leave with meson's "skipped" status and say why. */
static inline void suite_skip(const char *why)
{
    printf("SKIP: %s\n", why);
    exit(77);
}

/* Cases that were skipped: a number that their processes share. */
static int *suite_skipped;

/** What SUITE_SKIP_CASE does before the case returns. */
static inline void suite_note_skip(const char *why)
{
    printf("SKIP: %s\n", why);
    fflush(stdout);
    __atomic_add_fetch(suite_skipped, 1, __ATOMIC_RELAXED);
}

/** Leave a case that cannot run here; it counts as skipped, not as passed. */
#define SUITE_SKIP_CASE(why)                                                   \
    do {                                                                       \
        suite_note_skip(why);                                                  \
        return;                                                                \
    } while (0)

/** Run a suite that is complete. Return: the process exit status */
static inline int suite_finish(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    suite_skipped = (int *)mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int cases = srunner_ntests_run(runner);
    srunner_free(runner);
    if (*suite_skipped > 0)
        printf("Skipped: %d\n", *suite_skipped);
    if (failed == 0 && *suite_skipped == cases && cases > 0)
        return 77;
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/**
 * Run `n` cases as one suite.
 *
 * @name      shown in the report; @cases  Check test functions
 * @timeout_s limit for each case in seconds
 * Return: the process exit status
 */
static inline int suite_run(const char *name, const TTest *const *cases,
                            size_t n, double timeout_s)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, timeout_s);
    for (size_t i = 0; i < n; i++)
        tcase_add_test(tcase, cases[i]);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}

/** `SUITE_MAIN("name", 30, case_a, case_b)` defines main(). */
#define SUITE_MAIN(name, timeout_s, ...)                                       \
    int main(void)                                                             \
    {                                                                          \
        const TTest *const cases[] = {__VA_ARGS__};                            \
        return suite_run(name, cases, sizeof cases / sizeof *cases,            \
                         timeout_s);                                           \
    }

#endif
