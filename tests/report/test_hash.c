/*
 * The hash of the report: whatever differs by a bit, a place or a byte has
 * another number, and the same bytes elsewhere have the same one.
 */
#include "common/suite.h"
#include "interpose/report/hash.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 300, NUMBERS = 8 * BYTES + BYTES };

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static void check_all_differ(uint64_t *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
    for (size_t i = 1; i < count; i++)
        ck_assert_uint_ne(numbers[i - 1], numbers[i]);
}

START_TEST(each_bit_and_each_length_gives_another_number)
{
    static uint64_t numbers[NUMBERS];
    uint8_t bytes[BYTES] = {0};
    size_t count = 0;
    for (size_t i = 0; i < BYTES; i++) {
        numbers[count++] = report_hash(bytes, i);
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] = (uint8_t)(1 << bit);
            numbers[count++] = report_hash(bytes, BYTES);
        }
        bytes[i] = 0;
    }
    check_all_differ(numbers, count);
}
END_TEST

START_TEST(blocks_that_change_places_give_another_number)
{
    enum { BLOCKS = 8, BLOCK = 64, SWAPS = BLOCKS * (BLOCKS - 1) / 2 };
    uint8_t bytes[BLOCKS * BLOCK];
    uint64_t numbers[SWAPS];
    size_t count = 0;
    for (size_t a = 0; a < BLOCKS; a++)
        for (size_t b = a + 1; b < BLOCKS; b++) {
            for (size_t i = 0; i < sizeof bytes; i++)
                bytes[i] = (uint8_t)(i / BLOCK);
            memset(bytes + a * BLOCK, (int)b, BLOCK);
            memset(bytes + b * BLOCK, (int)a, BLOCK);
            numbers[count++] = report_hash(bytes, sizeof bytes);
        }
    check_all_differ(numbers, count);
}
END_TEST

START_TEST(the_same_bytes_elsewhere_give_the_same_number)
{
    uint8_t bytes[BYTES + 16];
    for (size_t bytes_of = 0; bytes_of < BYTES; bytes_of += 7) {
        for (size_t i = 0; i < BYTES; i++)
            bytes[i] = (uint8_t)(i * 31);
        uint64_t number = report_hash(bytes, bytes_of);
        memmove(bytes + 3, bytes, BYTES);
        ck_assert_uint_eq(report_hash(bytes + 3, bytes_of), number);
    }
}
END_TEST

SUITE_MAIN("report hash", 10, each_bit_and_each_length_gives_another_number,
           blocks_that_change_places_give_another_number,
           the_same_bytes_elsewhere_give_the_same_number)
