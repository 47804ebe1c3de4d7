/*
 * Trace: nothing when off, a bounded ring, a well-formed file.
 */
#include "base/trace.h"

#include "base/thread.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/suite.h"

/* A strict JSON reader that only says where a value ends. NULL: malformed. */
static const char *json_value(const char *at);

static const char *json_space(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

static const char *json_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\' && strchr("\"\\/bfnrtu", *++at) == NULL)
            return NULL;
    }
    return at + 1;
}

static const char *json_number(const char *at)
{
    char *end;
    if (*at != '-' && !isdigit((unsigned char)*at))
        return NULL;
    strtod(at, &end);
    return end == at ? NULL : end;
}

static const char *json_list(const char *at, char close)
{
    at = json_space(at + 1);
    if (*at == close)
        return at + 1;
    for (;; at++) {
        if (close == '}') {
            at = json_string(json_space(at));
            if (at == NULL || *(at = json_space(at)) != ':')
                return NULL;
            at++;
        }
        at = json_value(at);
        if (at == NULL)
            return NULL;
        at = json_space(at);
        if (*at == close)
            return at + 1;
        if (*at != ',')
            return NULL;
    }
}

static const char *json_value(const char *at)
{
    at = json_space(at);
    if (*at == '{')
        return json_list(at, '}');
    if (*at == '[')
        return json_list(at, ']');
    return *at == '"' ? json_string(at) : json_number(at);
}

static char path[] = "/tmp/adsm-trace-XXXXXX";
static char text[1 << 20];

static void make_path(void)
{
    close(mkstemp(path));
}

static int count(const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

/* Finish, read the file, check that it is JSON; the number of events in it. */
static int finish(void)
{
    ck_assert_int_eq(adsm_trace_finish(), ADSM_OK);
    FILE *in = fopen(path, "r");
    size_t n = fread(text, 1, sizeof text - 1, in);
    text[n] = '\0';
    fclose(in);
    unlink(path);
    const char *end = json_value(text);
    ck_assert_msg(end != NULL, "not JSON: %.300s", text);
    ck_assert_int_eq(*json_space(end), '\0');
    return count("\"ph\":\"X\"");
}

static void span(const char *name, uint64_t start, uint64_t bytes,
                 const struct adsm_cause *cause)
{
    adsm_trace_record(&(struct adsm_trace_span){.kind = ADSM_TRACE_transfer,
                                                .name = name,
                                                .start_ns = start,
                                                .end_ns = adsm_now_ns(),
                                                .device = -1,
                                                .bytes = bytes,
                                                .cause = cause});
}

START_TEST(off_records_nothing)
{
    ck_assert_uint_eq(adsm_trace_begin(), 0);
    adsm_trace_end(ADSM_TRACE_io, "nothing", adsm_trace_begin(), 0, NULL);
    ck_assert_int_eq(adsm_trace_finish(), ADSM_OK);
}
END_TEST

START_TEST(spans_are_written)
{
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 1024, adsm_now_ns()), ADSM_OK);
    uint64_t outer = adsm_trace_begin();
    ck_assert_uint_ne(outer, 0);
    span("fetch", adsm_trace_begin(), 4096, NULL);
    span("fault", outer, 0, NULL);
    ck_assert_int_eq(finish(), 2);
    ck_assert_int_eq(count("\"name\":\"fetch\""), 1);
    ck_assert_int_eq(count("\"bytes\":4096"), 1);
    ck_assert_int_eq(count("\"events_overwritten\":0"), 1);
    ck_assert_uint_eq(adsm_trace_begin(), 0);
}
END_TEST

START_TEST(cause_is_written_as_far_as_it_is_known)
{
    struct adsm_cause fault = {ADSM_WHY_fault, 0xabc, 0x7000, 4096, 64, 512};
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 1024, adsm_now_ns()), ADSM_OK);
    span("a", adsm_trace_begin(), 1, &fault);
    span("b", adsm_trace_begin(), 2, ADSM_CAUSE(call));
    span("c", adsm_trace_begin(), 3, NULL);
    ck_assert_int_eq(finish(), 3);
    ck_assert_int_eq(
        count("{\"bytes\":1,\"cause\":\"fault\",\"object\":\"0x7000\","
              "\"object_bytes\":4096,\"offset\":64,\"block\":512,"
              "\"instruction\":\"0xabc\"}"),
        1);
    ck_assert_int_eq(count("{\"bytes\":2,\"cause\":\"call\"}"), 1);
    ck_assert_int_eq(count("{\"bytes\":3}"), 1);
}
END_TEST

START_TEST(what_moves_is_counted_and_says_its_way_and_device)
{
    uint64_t before = adsm_stats_get(ADSM_STAT_bytes_up);
    adsm_trace_moved(ADSM_WAY_UP, "off", adsm_trace_begin(), 1, 7,
                     ADSM_CAUSE(call));
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 16, adsm_now_ns()), ADSM_OK);
    adsm_trace_moved(ADSM_WAY_UP, "u", adsm_trace_begin(), 1, 8,
                     ADSM_CAUSE(call));
    adsm_trace_moved(ADSM_WAY_DOWN, "d", adsm_trace_begin(), 0, 16,
                     ADSM_CAUSE(fault));
    adsm_trace_moved(ADSM_WAY_DEVICE, "m", adsm_trace_begin(), -1, 32,
                     ADSM_CAUSE(own));
    adsm_trace_end(ADSM_TRACE_wait, "w", adsm_trace_begin(), 2, NULL);
    ck_assert_int_eq(finish(), 4);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up), before + 15);
    ck_assert_int_eq(count("{\"bytes\":8,\"way\":\"up\",\"device\":1,"
                           "\"cause\":\"call\"}"),
                     1);
    ck_assert_int_eq(count("{\"bytes\":16,\"way\":\"down\",\"device\":0,"), 1);
    ck_assert_int_eq(count("{\"bytes\":32,\"way\":\"device\",\"cause\":"), 1);
    ck_assert_int_eq(count("\"cat\":\"wait\""), 1);
    ck_assert_int_eq(count("{\"bytes\":0,\"device\":2}"), 1);
    ck_assert_int_eq(count("\"bytes_up\":15"), 1);
}
END_TEST

START_TEST(times_are_from_where_they_begin)
{
    uint64_t now = adsm_now_ns();
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 16, now), ADSM_OK);
    adsm_trace_record(&(struct adsm_trace_span){
        .name = "t", .start_ns = now + 12034, .end_ns = now + 1012034});
    ck_assert_int_eq(finish(), 1);
    ck_assert_int_eq(count("\"ts\":12.034,\"dur\":1000.000,"), 1);
}
END_TEST

START_TEST(file_is_empty_until_the_end)
{
    FILE *old;
    make_path();
    old = fopen(path, "w");
    fputs("of an earlier run", old);
    fclose(old);
    ck_assert_int_eq(adsm_trace_start(path, 16, adsm_now_ns()), ADSM_OK);
    ck_assert_int_eq(access(path, F_OK), 0);
    old = fopen(path, "r");
    ck_assert_int_eq(getc(old), EOF);
    fclose(old);
    ck_assert_int_eq(finish(), 0);
}
END_TEST

START_TEST(pipe_is_not_opened_before_the_end)
{
    int ends;
    make_path();
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    /* Would wait for who reads. */
    ck_assert_int_eq(adsm_trace_start(path, 16, adsm_now_ns()), ADSM_OK);
    ends = open(path, O_RDONLY | O_NONBLOCK);
    ck_assert_int_eq(adsm_trace_finish(), ADSM_OK);
    ck_assert_int_gt(read(ends, text, sizeof text), 0);
    close(ends);
    unlink(path);
}
END_TEST

START_TEST(thread_of_the_runtime_has_a_name)
{
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 16, adsm_now_ns()), ADSM_OK);
    span("a", adsm_trace_begin(), 0, NULL);
    adsm_thread_is_own = true;
    span("b", adsm_trace_begin(), 0, NULL);
    span("c", adsm_trace_begin(), 0, NULL);
    adsm_thread_is_own = false;
    ck_assert_int_eq(finish(), 3);
    ck_assert_int_eq(count("\"ph\":\"M\""), 1);
    ck_assert_int_eq(count("\"args\":{\"name\":\"libadsm\"}"), 1);
}
END_TEST

START_TEST(no_event_is_a_valid_file)
{
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 1024, adsm_now_ns()), ADSM_OK);
    ck_assert_int_eq(finish(), 0);
}
END_TEST

START_TEST(names_are_escaped)
{
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 1024, adsm_now_ns()), ADSM_OK);
    span("a\"b\\c\nd\001", adsm_trace_begin(), 0, NULL);
    ck_assert_int_eq(finish(), 1);
    ck_assert_int_eq(count("a\\\"b\\\\c\\u000ad\\u0001"), 1);
}
END_TEST

START_TEST(full_ring_keeps_the_newest)
{
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 100, adsm_now_ns()),
                     ADSM_OK); /* 128 slots */
    for (uint64_t i = 0; i < 1000; i++)
        span("e", adsm_trace_begin(), i, NULL);
    ck_assert_int_eq(finish(), 128);
    ck_assert_int_eq(count("\"events_overwritten\":872"), 1);
    ck_assert_int_eq(count("\"bytes\":871}"), 0);
    ck_assert_int_eq(count("\"bytes\":872}"), 1);
    ck_assert_int_eq(count("\"bytes\":999}"), 1);
}
END_TEST

static void *record_many(void *arg)
{
    for (int i = 0; i < 5000; i++)
        span("t", adsm_trace_begin(), 1, NULL);
    return NULL;
}

START_TEST(threads_share_the_ring)
{
    pthread_t threads[8];
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 1024, adsm_now_ns()), ADSM_OK);
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, record_many, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    int events = finish();
    /* A writer overtaken by a lap may cost an event each. */
    ck_assert_int_le(events, 1024);
    ck_assert_int_ge(events, 1024 - 64);
}
END_TEST

START_TEST(second_start_is_refused)
{
    make_path();
    ck_assert_int_eq(adsm_trace_start(path, 1024, adsm_now_ns()), ADSM_OK);
    ck_assert_int_eq(adsm_trace_start(path, 1024, adsm_now_ns()),
                     ADSM_E_INVALID);
    finish();
}
END_TEST

START_TEST(impossible_path_says_so)
{
    ck_assert_int_eq(adsm_trace_start("/dev/null/t.json", 16, adsm_now_ns()),
                     ADSM_OK);
    ck_assert_int_eq(adsm_trace_finish(), ADSM_E_SYSTEM);
}
END_TEST

SUITE_MAIN("trace", 30, off_records_nothing, spans_are_written,
           cause_is_written_as_far_as_it_is_known,
           what_moves_is_counted_and_says_its_way_and_device,
           pipe_is_not_opened_before_the_end, thread_of_the_runtime_has_a_name,
           times_are_from_where_they_begin, file_is_empty_until_the_end,
           no_event_is_a_valid_file, names_are_escaped,
           full_ring_keeps_the_newest, threads_share_the_ring,
           second_start_is_refused, impossible_path_says_so)
