/*
 * Counters: sums over threads, the table and the JSON line.
 */
#include "base/stats.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/suite.h"

static void *count_many(void *arg)
{
    for (int i = 0; i < 100000; i++) {
        ADSM_COUNT(faults_read, 1);
        ADSM_COUNT(bytes_up, 3);
    }
    return NULL;
}

START_TEST(counts_of_threads_add_up)
{
    pthread_t threads[20];
    adsm_stats_reset();
    for (int i = 0; i < 20; i++)
        pthread_create(&threads[i], NULL, count_many, NULL);
    for (int i = 0; i < 20; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_read), 2000000);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up), 6000000);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_write), 0);
    adsm_stats_reset();
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up), 0);
}
END_TEST

START_TEST(names_come_from_the_list)
{
    ck_assert_str_eq(adsm_stats_name(ADSM_STAT_faults_read), "faults_read");
    ck_assert_str_eq(adsm_stats_name(ADSM_STAT_block_widenings),
                     "block_widenings");
    ck_assert_str_eq(adsm_stats_name(ADSM_STAT_COUNT), "?");
}
END_TEST

START_TEST(table_shows_what_was_counted)
{
    char text[4096] = "";
    ADSM_COUNT(bytes_up, 3 << 20);
    ADSM_COUNT(ns_fault, 1500000);
    ADSM_COUNT(launches, 42);
    FILE *out = fmemopen(text, sizeof text, "w");
    adsm_stats_print(out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "protocol rolling"));
    ck_assert_ptr_nonnull(strstr(text, "3.00 MiB  host to device"));
    ck_assert_ptr_nonnull(strstr(text, "1.50 ms"));
    ck_assert_ptr_nonnull(strstr(text, "42"));
    ck_assert_ptr_null(strstr(text, "write_backs"));
}
END_TEST

START_TEST(json_line_is_appended)
{
    char path[] = "/tmp/adsm-stats-XXXXXX", text[8192];
    int fd = mkstemp(path);
    ADSM_COUNT(bytes_down, 77);
    ck_assert_int_eq(adsm_stats_write_json(path), ADSM_OK);
    ck_assert_int_eq(adsm_stats_write_json(path), ADSM_OK);
    ssize_t n = read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    unlink(path);
    ck_assert_int_eq(text[0], '{');
    ck_assert_ptr_nonnull(strstr(text, "\"bytes_down\":77,"));
    ck_assert_ptr_nonnull(strstr(text, "\"protocol\":\"rolling\"}\n{"));
    for (int stat = 0; stat < ADSM_STAT_COUNT; stat++) {
        char key[64];
        snprintf(key, sizeof key,
                 "\"%s\":", adsm_stats_name((enum adsm_stat)stat));
        ck_assert_msg(strstr(text, key) != NULL, "%s", key);
    }
}
END_TEST

START_TEST(json_to_an_impossible_path_says_so)
{
    errno = 0;
    ck_assert_int_eq(adsm_stats_write_json("/dev/null/f.json"), ADSM_E_SYSTEM);
    ck_assert_int_eq(errno, ENOTDIR);
    errno = 0;
    ck_assert_int_eq(adsm_stats_write_json("/dev/full"), ADSM_E_SYSTEM);
    ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

SUITE_MAIN("stats", 20, counts_of_threads_add_up, names_come_from_the_list,
           table_shows_what_was_counted, json_line_is_appended,
           json_to_an_impossible_path_says_so)
