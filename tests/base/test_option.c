/*
 * Options: every type, bad values, unknown names, what adsm-info shows.
 */
#include "base/option.h"

#include <string.h>

#include "base/capture.h"
#include "base/log.h"
#include "common/suite.h"

static struct adsm_options options;
static bool from_env[ADSM_OPTION_COUNT];
static struct capture said;

/* Parse one "NAME=value"; its messages are in said.text. */
static int parse(char *entry)
{
    char *environment[] = {entry, NULL};
    capture_begin(&said);
    int warnings = adsm_options_parse(&options, from_env, environment);
    capture_end(&said);
    return warnings;
}

static void expect_good(char *entry)
{
    ck_assert_msg(parse(entry) == 0, "%s: %s", entry, said.text);
    ck_assert_str_eq(said.text, "");
}

/* Exactly one line, with every one of the words. */
static void expect_bad(char *entry, const char *word1, const char *word2)
{
    ck_assert_msg(parse(entry) == 1, "%s was taken", entry);
    ck_assert_msg(strstr(said.text, "libadsm: warning: ") == said.text, "%s",
                  said.text);
    ck_assert_msg(strstr(said.text, word1) != NULL, "%s", said.text);
    ck_assert_msg(strstr(said.text, word2) != NULL, "%s", said.text);
    ck_assert_ptr_eq(strchr(said.text, '\n'),
                     said.text + strlen(said.text) - 1);
}

START_TEST(nothing_set_gives_defaults)
{
    char *environment[] = {"HOME=/", "ADSMX=1", NULL};
    ck_assert_int_eq(adsm_options_parse(&options, from_env, environment), 0);
    ck_assert_int_eq(options.protocol, ADSM_OPT_PROTOCOL_ROLLING);
    ck_assert_uint_eq(options.block_size, 256 << 10);
    ck_assert_int_eq(options.rolling_size, 0);
    ck_assert_int_eq(options.rolling_factor, 2);
    ck_assert_int_eq(options.fault_engine, ADSM_OPT_FAULT_ENGINE_SIGSEGV);
    ck_assert_int_eq(options.address, ADSM_OPT_ADDRESS_AUTO);
    ck_assert(!options.stats);
    ck_assert_ptr_null(options.stats_file);
    ck_assert_ptr_null(options.trace);
    ck_assert_ptr_null(options.devices);
    ck_assert_int_eq(options.log, ADSM_OPT_LOG_WARN);
    for (int i = 0; i < ADSM_OPTION_COUNT; i++)
        ck_assert(!from_env[i]);
    /* The values before any load are the same. */
    ck_assert_mem_eq(adsm_options_get(), &options, sizeof options);
}
END_TEST

START_TEST(enum_takes_its_words_in_any_case)
{
    expect_good("ADSM_PROTOCOL=batch");
    ck_assert_int_eq(options.protocol, ADSM_OPT_PROTOCOL_BATCH);
    ck_assert(from_env[ADSM_OPTION_ID_protocol]);
    expect_good("ADSM_PROTOCOL=Lazy");
    ck_assert_int_eq(options.protocol, ADSM_OPT_PROTOCOL_LAZY);
    expect_good("ADSM_ADDRESS=translate");
    ck_assert_int_eq(options.address, ADSM_OPT_ADDRESS_TRANSLATE);
}
END_TEST

START_TEST(enum_rejects_another_word)
{
    expect_bad("ADSM_PROTOCOL=eager", "batch, lazy or rolling",
               "rolling is used");
    ck_assert_int_eq(options.protocol, ADSM_OPT_PROTOCOL_ROLLING);
    ck_assert(!from_env[ADSM_OPTION_ID_protocol]);
    expect_bad("ADSM_PROTOCOL=0", "batch, lazy or rolling", "ADSM_PROTOCOL=0");
}
END_TEST

START_TEST(size_takes_units)
{
    static const struct {
        char *entry;
        uint64_t bytes;
    } cases[] = {
        {"ADSM_WINDOW_SIZE=0", 0},
        {"ADSM_WINDOW_SIZE=4096", 4096},
        {"ADSM_WINDOW_SIZE=4096B", 4096},
        {"ADSM_WINDOW_SIZE=3k", 3 << 10},
        {"ADSM_WINDOW_SIZE=3K", 3 << 10},
        {"ADSM_WINDOW_SIZE=7MB", 7 << 20},
        {"ADSM_WINDOW_SIZE=7MiB", 7 << 20},
        {"ADSM_WINDOW_SIZE=5G", UINT64_C(5) << 30},
        {"ADSM_WINDOW_SIZE=64T", UINT64_C(64) << 40},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_good(cases[i].entry);
        ck_assert_uint_eq(options.window_size, cases[i].bytes);
    }
}
END_TEST

START_TEST(size_rejects_garbage_and_overflow)
{
    static char *const bad[] = {
        "ADSM_WINDOW_SIZE=lots",  "ADSM_WINDOW_SIZE=-1",
        "ADSM_WINDOW_SIZE=4X",    "ADSM_WINDOW_SIZE=4KK",
        "ADSM_WINDOW_SIZE=4 K",   "ADSM_WINDOW_SIZE= 4K",
        "ADSM_WINDOW_SIZE=65T",   "ADSM_WINDOW_SIZE=18446744073709551616",
        "ADSM_WINDOW_SIZE=K",     "ADSM_WINDOW_SIZE=16777216T",
        "ADSM_WINDOW_SIZE=+4096", "ADSM_WINDOW_SIZE=0x1000",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_bad(bad[i], "a size from 0 to 64T", bad[i]);
}
END_TEST

START_TEST(block_size_must_be_a_power_of_two_in_range)
{
    expect_good("ADSM_BLOCK_SIZE=4K");
    ck_assert_uint_eq(options.block_size, 4096);
    expect_good("ADSM_BLOCK_SIZE=1G");
    ck_assert_uint_eq(options.block_size, 1 << 30);
    expect_bad("ADSM_BLOCK_SIZE=2K", "from 4K to 1G, a power of two",
               "256K is used");
    expect_bad("ADSM_BLOCK_SIZE=2G", "from 4K to 1G", "256K is used");
    expect_bad("ADSM_BLOCK_SIZE=12K", "a power of two", "256K is used");
    expect_bad("ADSM_BLOCK_SIZE=0", "a power of two", "256K is used");
    ck_assert_uint_eq(options.block_size, 256 << 10);
}
END_TEST

START_TEST(int_has_bounds)
{
    expect_good("ADSM_ROLLING_SIZE=17");
    ck_assert_int_eq(options.rolling_size, 17);
    expect_good("ADSM_ROLLING_SIZE=1048576");
    expect_bad("ADSM_ROLLING_SIZE=1048577", "a number from 0 to 1048576",
               "0 is used");
    expect_bad("ADSM_ROLLING_SIZE=-1", "a number from 0 to 1048576",
               "0 is used");
    expect_bad("ADSM_ROLLING_SIZE=1.5", "a number from", "0 is used");
    expect_bad("ADSM_ROLLING_FACTOR=0", "from 1 to", "2 is used");
    expect_bad("ADSM_ROLLING_FACTOR=99999999999999999999", "from 1 to",
               "2 is used");
}
END_TEST

START_TEST(bool_takes_the_usual_words)
{
    static char *const yes[] = {"ADSM_STATS=1", "ADSM_STATS=yes",
                                "ADSM_STATS=ON", "ADSM_STATS=true"};
    static char *const no[] = {"ADSM_STATS=0", "ADSM_STATS=no",
                               "ADSM_STATS=off", "ADSM_STATS=False"};
    for (size_t i = 0; i < 4; i++) {
        expect_good(yes[i]);
        ck_assert(options.stats);
        expect_good(no[i]);
        ck_assert(!options.stats);
    }
    expect_bad("ADSM_STATS=2", "0 or 1", "0 is used");
    expect_bad("ADSM_STATS=maybe", "0 or 1", "0 is used");
}
END_TEST

START_TEST(list_takes_different_numbers)
{
    expect_good("ADSM_DEVICES=0,2");
    ck_assert_str_eq(options.devices, "0,2");
    expect_good("ADSM_DEVICES=3");
    static char *const bad[] = {"ADSM_DEVICES=0,",  "ADSM_DEVICES=,0",
                                "ADSM_DEVICES=a",   "ADSM_DEVICES=0;1",
                                "ADSM_DEVICES=1,1", "ADSM_DEVICES=99999",
                                "ADSM_DEVICES=-1",  "ADSM_DEVICES=0,1,0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_bad(bad[i], "separated by commas", "counts as not set");
        ck_assert_ptr_null(options.devices);
    }
}
END_TEST

START_TEST(stats_file_alone_prints_nothing)
{
    expect_good("ADSM_STATS_FILE=/tmp/s.json");
    ck_assert_str_eq(options.stats_file, "/tmp/s.json");
    ck_assert(!options.stats);
}
END_TEST

START_TEST(empty_value_counts_as_not_set)
{
    expect_good("ADSM_PROTOCOL=");
    expect_good("ADSM_BLOCK_SIZE=");
    expect_good("ADSM_TRACE=");
    ck_assert_ptr_null(options.trace);
}
END_TEST

START_TEST(unknown_name_is_answered_with_the_nearest)
{
    expect_bad("ADSM_PROTOCOLL=lazy", "ADSM_PROTOCOLL is ignored",
               "nearest name is ADSM_PROTOCOL\n");
    expect_bad("ADSM_BLOCKSIZE=4K", "unknown option",
               "nearest name is ADSM_BLOCK_SIZE\n");
    expect_bad("ADSM_STAT=1", "unknown option", "nearest name is ADSM_STATS\n");
    /* A prefix of a name is not the name. */
    expect_bad("ADSM_LO=debug", "unknown option", "is ADSM_LOG\n");
    char name[3000] = "ADSM_";
    memset(name + 5, 'X', sizeof name - 10);
    strcpy(name + sizeof name - 5, "=1");
    ck_assert_int_eq(parse(name), 1);
}
END_TEST

START_TEST(load_reads_the_environment_once)
{
    struct adsm_option_info info;
    setenv("ADSM_PROTOCOL", "lazy", 1);
    setenv("ADSM_TRACE", "first.json", 1);
    setenv("ADSM_LOG", "error", 1);
    adsm_options_load();
    setenv("ADSM_PROTOCOL", "batch", 1);
    setenv("ADSM_TRACE", "second.json", 1);
    adsm_options_load();
    ck_assert_int_eq(adsm_options_get()->protocol, ADSM_OPT_PROTOCOL_LAZY);
    ck_assert_str_eq(adsm_options_get()->trace, "first.json");
    ck_assert(!adsm_log_enabled(ADSM_LOG_WARN));
    ck_assert(adsm_option_info(ADSM_OPTION_ID_protocol, &info));
    ck_assert_str_eq(info.value_text, "lazy");
    ck_assert_str_eq(info.default_text, "rolling");
    ck_assert_str_eq(info.source, "environment");
}
END_TEST

START_TEST(info_describes_every_option)
{
    struct adsm_option_info info;
    size_t n = 0;
    while (adsm_option_info(n, &info)) {
        ck_assert_int_eq(strncmp(info.env, "ADSM_", 5), 0);
        ck_assert_str_ne(info.type_text, "");
        ck_assert_str_ne(info.default_text, "");
        ck_assert_str_ne(info.help, "");
        ck_assert_str_eq(info.value_text, info.default_text);
        ck_assert_str_eq(info.source, "default");
        n++;
    }
    ck_assert_uint_eq(n, ADSM_OPTION_COUNT);
    ck_assert(adsm_option_info(ADSM_OPTION_ID_block_size, &info));
    ck_assert_str_eq(info.env, "ADSM_BLOCK_SIZE");
    ck_assert_str_eq(info.default_text, "256K");
    ck_assert_str_eq(info.type_text, "a size from 4K to 1G, a power of two");
    ck_assert_str_eq(adsm_option_word(ADSM_OPTION_ID_protocol, 1), "lazy");
    ck_assert_str_eq(adsm_option_word(ADSM_OPTION_ID_protocol, 9), "?");
    ck_assert_str_eq(adsm_option_word(ADSM_OPTION_ID_stats, 0), "?");
}
END_TEST

SUITE_MAIN("option", 10, nothing_set_gives_defaults,
           enum_takes_its_words_in_any_case, enum_rejects_another_word,
           size_takes_units, size_rejects_garbage_and_overflow,
           block_size_must_be_a_power_of_two_in_range, int_has_bounds,
           bool_takes_the_usual_words, list_takes_different_numbers,
           stats_file_alone_prints_nothing, empty_value_counts_as_not_set,
           unknown_name_is_answered_with_the_nearest,
           load_reads_the_environment_once, info_describes_every_option)
