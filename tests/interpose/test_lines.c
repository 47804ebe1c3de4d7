/*
 * getline and its like into shared memory: a line that fits is there as on
 * plain memory, one that does not is an error that is said.
 */
#include "said.h"

#include <errno.h>

enum { BYTES = 1 << 20 };

static const char text[] = "a line\nsecond;third\nan end";

static FILE *source(void)
{
    FILE *stream = tmpfile();
    ck_assert_int_ge(fputs(text, stream), 0);
    rewind(stream);
    return stream;
}

/* Every call on plain memory, and on shared memory of the same room. */
static void compare(size_t room, size_t at)
{
    FILE *streams[2] = {source(), source()};
    uint8_t *memory = device_bytes(BYTES, 7);
    char *plain = malloc(room), *shared = (char *)memory + at, *kept = shared;
    size_t plain_room = room, shared_room = room;
    memset(plain, 7, room);
    for (int i = 0; i < 5; i++) {
        int end = i == 1 ? ';' : '\n';
        ssize_t want = getdelim(&plain, &plain_room, end, streams[0]);
        ssize_t have = i == 0
                           ? getline(&shared, &shared_room, streams[1])
                           : getdelim(&shared, &shared_room, end, streams[1]);
        ck_assert_int_eq(have, want);
        ck_assert_ptr_eq(shared, kept);
        ck_assert_uint_eq(shared_room, room);
        for (size_t k = 0; want >= 0 && k < room; k++)
            ck_assert_int_eq(shared[k], plain[k]);
        ck_assert_int_eq(feof(streams[1]), feof(streams[0]));
    }
    ck_assert_int_eq(memory[at - 1], 7);
    ck_assert_int_eq(memory[at + room], 7);
    fclose(streams[0]);
    fclose(streams[1]);
    free(plain);
}

START_TEST(lines_that_fit_are_as_on_plain_memory)
{
    begin();
    compare(100, 4096 - 10);
    compare(8, 50); /* the longest with its byte 0 */
    ck_assert_int_eq(times_said("\n"), 0);
}
END_TEST

START_TEST(a_line_that_does_not_fit_is_said)
{
    FILE *stream = source();
    begin();
    char *line = (char *)device_bytes(BYTES, 7), *kept = line;
    size_t room = 5;
    for (int i = 0; i < 2; i++) {
        rewind(stream);
        errno = 0;
        ck_assert_int_eq(getline(&line, &room, stream), -1);
        ck_assert_int_eq(errno, ENOMEM);
    }
    ck_assert_ptr_eq(line, kept);
    ck_assert_uint_eq(room, 5);
    ck_assert_int_eq(memcmp(line, "a li\0\7", 6), 0);
    ck_assert_int_eq(getc(stream), 'n');
    ck_assert_int_eq(times_said("getline: a line that is longer"), 1);
    ck_assert_int_eq(times_said("\n"), 1);
}
END_TEST

/* None is made of nothing: libc brings its own. */
START_TEST(room_of_none_is_as_ever)
{
    FILE *stream = source();
    begin();
    (void)device_bytes(BYTES, 7);
    char *line = NULL;
    size_t room = 0;
    ck_assert_int_eq(getline(&line, &room, stream), 7);
    ck_assert_str_eq(line, "a line\n");
    free(line);
    errno = 0;
    char *none = NULL;
    ck_assert_int_eq(getline(&none, NULL, stream), -1);
    ck_assert_int_eq(errno, EINVAL);
}
END_TEST

SUITE_MAIN("lines", 60, lines_that_fit_are_as_on_plain_memory,
           a_line_that_does_not_fit_is_said, room_of_none_is_as_ever)
