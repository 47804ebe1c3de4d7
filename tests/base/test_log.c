/*
 * Messages: prefix, level, whole lines, errno.
 */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/capture.h"
#include "common/suite.h"

static struct capture said;

START_TEST(each_level_has_its_prefix)
{
    adsm_log_set_level(ADSM_LOG_DEBUG);
    capture_begin(&said);
    adsm_log(ADSM_LOG_ERROR, "one %d", 1);
    adsm_log(ADSM_LOG_WARN, "two");
    adsm_log(ADSM_LOG_INFO, "three");
    adsm_log(ADSM_LOG_DEBUG, "four");
    ck_assert_str_eq(capture_end(&said), "libadsm: error: one 1\n"
                                         "libadsm: warning: two\n"
                                         "libadsm: three\n"
                                         "libadsm: debug: four\n");
}
END_TEST

START_TEST(level_hides_what_is_less_important)
{
    capture_begin(&said);
    adsm_log(ADSM_LOG_INFO, "hidden at the default level");
    adsm_log_signal(ADSM_LOG_DEBUG, "hidden too");
    adsm_log_set_level(ADSM_LOG_ERROR);
    adsm_log(ADSM_LOG_WARN, "hidden now");
    adsm_log(ADSM_LOG_ERROR, "shown");
    ck_assert_str_eq(capture_end(&said), "libadsm: error: shown\n");
}
END_TEST

START_TEST(once_means_once_for_each_place)
{
    capture_begin(&said);
    for (int i = 0; i < 5; i++)
        adsm_log_once(ADSM_LOG_WARN, "first place, %d", i);
    for (int i = 0; i < 5; i++)
        adsm_log_once(ADSM_LOG_WARN, "second place");
    ck_assert_str_eq(capture_end(&said), "libadsm: warning: first place, 0\n"
                                         "libadsm: warning: second place\n");
}
END_TEST

START_TEST(long_message_is_cut_to_one_line)
{
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    capture_begin(&said);
    adsm_log(ADSM_LOG_WARN, "%s", text);
    adsm_log_signal(ADSM_LOG_WARN, text);
    capture_end(&said);
    ck_assert_uint_eq(strlen(said.text), 2 * ADSM_LOG_LINE_BYTES);
    ck_assert_ptr_nonnull(strstr(said.text, "…\n"));
    ck_assert_int_eq(said.text[2 * ADSM_LOG_LINE_BYTES - 1], '\n');
}
END_TEST

START_TEST(errno_is_kept_and_can_be_named)
{
    capture_begin(&said);
    errno = ENOENT;
    adsm_log(ADSM_LOG_WARN, "open: %m");
    ck_assert_int_eq(errno, ENOENT);
    adsm_log_signal(ADSM_LOG_WARN, "plain");
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_str_eq(capture_end(&said),
                     "libadsm: warning: open: No such file or directory\n"
                     "libadsm: warning: plain\n");
}
END_TEST

START_TEST(errno_is_kept_when_standard_error_is_closed)
{
    int saved = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    errno = ENOENT;
    adsm_log(ADSM_LOG_WARN, "nobody reads this");
    adsm_log_signal(ADSM_LOG_WARN, "nor this");
    int after = errno;
    dup2(saved, STDERR_FILENO);
    ck_assert_int_eq(after, ENOENT);
}
END_TEST

START_TEST(address_is_printed_in_hexadecimal)
{
    capture_begin(&said);
    adsm_log_signal_address(ADSM_LOG_ERROR, "at", 0x7f00deadb000);
    adsm_log_signal_address(ADSM_LOG_ERROR, "at", 0);
    adsm_log_signal_address(ADSM_LOG_ERROR, "at", UINTPTR_MAX);
    ck_assert_str_eq(capture_end(&said),
                     "libadsm: error: at 0x7f00deadb000\n"
                     "libadsm: error: at 0x0\n"
                     "libadsm: error: at 0xffffffffffffffff\n");
}
END_TEST

static void *log_many(void *arg)
{
    for (int i = 0; i < 100; i++)
        adsm_log(ADSM_LOG_WARN, "thread %s says something of some length",
                 (const char *)arg);
    return NULL;
}

START_TEST(lines_of_threads_do_not_mix)
{
    pthread_t threads[4];
    static char *const names[] = {"alpha", "beta", "gamma", "delta"};
    capture_begin(&said);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, log_many, names[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    capture_end(&said);
    int lines = 0;
    for (char *line = strtok(said.text, "\n"); line != NULL;
         line = strtok(NULL, "\n"), lines++) {
        ck_assert_int_eq(strncmp(line, "libadsm: warning: thread ", 25), 0);
        ck_assert_ptr_nonnull(strstr(line, " says something of some length"));
    }
    ck_assert_int_eq(lines, 400);
}
END_TEST

SUITE_MAIN("log", 10, each_level_has_its_prefix,
           level_hides_what_is_less_important, once_means_once_for_each_place,
           long_message_is_cut_to_one_line, errno_is_kept_and_can_be_named,
           errno_is_kept_when_standard_error_is_closed,
           address_is_printed_in_hexadecimal, lines_of_threads_do_not_mix)
