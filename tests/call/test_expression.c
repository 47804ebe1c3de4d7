/*
 * Texts of boxes: values against those that their writer knows, and of texts
 * that are wrong where and why. Needs no device.
 */
#include "common/draw.h"
#include "common/suite.h"
#include "call/expression.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static adsmBox part = {3, {3, 50, 70}, {7, 51, 79}};
static const long param[4] = {5, -2, 0, 77};
static const struct adsm_expression_values values = {
    .part = &part, .nd = 2, .extent = {64, 48}, .param = param, .params = 4};

/* ---- a writer of texts that are right ---------------------------------------- */

static char text[4096];
static size_t used;

static void put(const char *words)
{
    while (below(4) == 0)
        text[used++] = ' ';
    size_t n = strlen(words);
    memcpy(text + used, words, n + 1);
    used += n;
}

static long write_factor(int depth, uint8_t *follows)
{
    static const char *const names[] = {"i0", "i1", "j0", "j1", "k0", "k1",
                                        "N0", "N1", "$1", "$2", "$3", "$4"};
    long i = below(12), number;
    char digits[24];
    switch (below(depth > 0 ? 5 : 3)) {
    case 0:
        number = below(80); /* eight of them multiplied are a long */
        snprintf(digits, sizeof digits, "%ld", number);
        put(digits);
        return number;
    case 1:
    case 2:
        put(names[i]);
        *follows |= (uint8_t)(i < 6 ? 1u << (i / 2) : 0);
        return i < 6   ? (i % 2 ? part.hi[i / 2] : part.lo[i / 2])
               : i < 8 ? values.extent[i - 6]
                       : param[i - 8];
    default:
        put("-");
        return -write_factor(depth - 1, follows);
    }
}

/* A sum of products, of which every one may be a sum in parentheses. */
static long write_sum(int depth, uint8_t *follows)
{
    long sum = 0;
    for (int terms = 1 + (int)below(3), t = 0; t < terms; t++) {
        bool minus = t > 0 && below(2);
        long product = 1;
        if (t > 0)
            put(minus ? "-" : "+");
        for (int factors = 1 + (int)below(2), f = 0; f < factors; f++) {
            if (f > 0)
                put("*");
            if (depth > 0 && below(3) == 0) {
                put("(");
                product *= write_sum(depth - 1, follows);
                put(")");
            } else {
                product *= write_factor(depth, follows);
            }
        }
        sum += minus ? -product : product;
    }
    return sum;
}

static void write_index(int d, long *lo, long *hi, uint8_t *follows)
{
    long i = below(3);
    put("[");
    *lo = 0;
    *hi = values.extent[d];
    switch (below(4)) {
    case 0:
        put((const char *[]){"i", "j", "k"}[i]);
        *follows |= (uint8_t)(1u << i);
        *lo = part.lo[i];
        *hi = part.hi[i];
        break;
    case 1:
        *lo = write_sum(2, follows);
        *hi = *lo + 1;
        break;
    default:
        if (below(4))
            *lo = write_sum(2, follows);
        put(":");
        if (below(4))
            *hi = write_sum(2, follows);
    }
    put("]");
}

static void write_text(struct adsm_expression *want)
{
    memset(want, 0, sizeof *want);
    used = 0;
    want->count = 1 + (int)below(3);
    for (int b = 0; b < want->count; b++) {
        if (b > 0)
            put("|");
        want->box[b].nd = 2;
        for (int d = 0; d < 2; d++)
            write_index(d, &want->box[b].lo[d], &want->box[b].hi[d],
                        &want->follows[d]);
    }
}

/* By what is meant: bytes between the members are nobody's. */
static bool same_box(const adsmBox *a, const adsmBox *b)
{
    return a->nd == b->nd && memcmp(a->lo, b->lo, sizeof a->lo) == 0 &&
           memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

static bool same_boxes(const struct adsm_expression *a,
                       const struct adsm_expression *b)
{
    for (int i = 0; i < a->count && i < b->count; i++)
        if (!same_box(&a->box[i], &b->box[i]))
            return false;
    return a->count == b->count;
}

START_TEST(random_texts_have_the_values_that_were_meant)
{
    struct adsm_expression want, got;
    for (int turn = 0; turn < 100000; turn++) {
        write_text(&want);
        bool right = adsm_expression_read(text, &values, &got);
        ck_assert_msg(right, "'%s': %d, %s", text, got.column, got.expected);
        ck_assert_msg(same_boxes(&got, &want) &&
                          memcmp(got.follows, want.follows, 3) == 0,
                      "'%s'", text);
    }
}
END_TEST

/* What is printed of a text is read as its boxes, and printed alike. */
START_TEST(printed_boxes_are_read_as_they_were)
{
    struct adsm_expression first, again;
    char boxes[8 * ADSM_EXPRESSION_PRINTED], one[ADSM_EXPRESSION_PRINTED];
    for (int turn = 0; turn < 100000; turn++) {
        size_t n = 0;
        write_text(&first);
        ck_assert(adsm_expression_read(text, &values, &first));
        for (int b = 0; b < first.count; b++) {
            adsm_expression_print(&first.box[b], one);
            n += (size_t)snprintf(boxes + n, sizeof boxes - n, "%s%s",
                                  b > 0 ? "|" : "", one);
        }
        ck_assert_msg(adsm_expression_read(boxes, &values, &again), "'%s'",
                      boxes);
        ck_assert_msg(same_boxes(&again, &first), "'%s' is printed as '%s'",
                      text, boxes);
        ck_assert(!again.has_params && again.follows[0] == 0);
    }
}
END_TEST

START_TEST(numbers_at_the_ends_are_printed)
{
    adsmBox box = {3, {LONG_MIN, LONG_MIN, LONG_MIN}, {LONG_MIN, LONG_MAX, 0}};
    struct adsm_expression_values three = values;
    struct adsm_expression got;
    char printed[ADSM_EXPRESSION_PRINTED];
    three.nd = 3;
    adsm_expression_print(&box, printed);
    ck_assert_int_eq(printed[strlen(printed) - 1], ']');
    ck_assert(adsm_expression_read(printed, &three, &got));
    ck_assert(same_box(&got.box[0], &box));
}
END_TEST

/* ---- texts that are wrong ------------------------------------------------------ */

START_TEST(random_changes_are_read_or_have_a_place)
{
    static const char signs[] = "[]:|+-*()$ijkN0129 x\t\n";
    struct adsm_expression want, got;
    int wrong = 0;
    for (int turn = 0; turn < 100000; turn++) {
        if (turn % 4) {
            write_text(&want);
        } else {
            used = (size_t)below(30);
            for (size_t i = 0; i < used; i++)
                text[i] = signs[below((long)sizeof signs - 1)];
            text[used] = '\0';
        }
        for (long n = below(3); n > 0 && used > 0; n--)
            text[below((long)used)] = signs[below((long)sizeof signs - 1)];
        if (below(8) == 0 && used > 0)
            text[used = (size_t)below((long)used)] = '\0';
        if (adsm_expression_read(text, &values, &got)) {
            ck_assert_int_gt(got.count, 0);
            continue;
        }
        wrong++;
        ck_assert_int_ge(got.column, 1);
        ck_assert_int_le(got.column, (int)used + 1);
        ck_assert_ptr_nonnull(got.expected);
    }
    ck_assert_int_gt(wrong, 20000);
}
END_TEST

static void wrong(const char *words, int column, const char *expected)
{
    struct adsm_expression got;
    ck_assert_msg(!adsm_expression_read(words, &values, &got), "'%s'", words);
    ck_assert_msg(got.column == column && strstr(got.expected, expected),
                  "'%s': %d, %s", words, got.column, got.expected);
}

START_TEST(each_mistake_has_its_column_and_what_was_expected)
{
    wrong("", 1, "'['");
    wrong("i", 1, "'['");
    wrong("[i]", 4, "'[', once for each dimension");
    wrong("[i] | [:][:]", 5, "'[', once for each dimension");
    wrong("[i][:][:]", 7, "'|' or the end");
    wrong("[i][:] |", 9, "'['");
    wrong("[][:]", 2, "a number, i0");
    wrong("[i+1][:]", 3, "']' behind what is all of i0:i1");
    wrong("[i2:][:]", 3, "0 or 1");
    wrong("[0:i][:]", 5, "0 or 1, for where");
    wrong("[0:i0 2][:]", 7, "an operator or ']'");
    wrong("[3 4][:]", 4, "an operator, ':' or ']'");
    wrong("[1:2:3][:]", 5, "an operator or ']'");
    wrong("[n][:]", 2, "a number, i0");
    wrong("[N2][:]", 3, "a dimension that the array has");
    wrong("[N][:]", 3, "a dimension that the array has");
    wrong("[$5][:]", 3, "the number of a parameter that is given");
    wrong("[$0][:]", 3, "the number of a parameter that is given");
    wrong("[$][:]", 3, "the number of a parameter that is given");
    wrong("[2*][:]", 4, "a number, i0");
    wrong("[(i0][:]", 5, "an operator or ')'");
    wrong("[i0)][:]", 4, "an operator, ':' or ']'");
    wrong("[((((((((i0))))))))][:] | [(((((((((i0)))))))))][:]", 36, "fewer");
    wrong("[9223372036854775808][:]", 2, "a number below 2^63");
    wrong("[9223372036854775807][:]", 21, "a sum of 63 bits");
    wrong("[i0 + 9223372036854775807:][:]", 5, "a sum of 63 bits");
    wrong("[1 - 9223372036854775807 - 3:][:]", 26, "a sum of 63 bits");
    wrong("[2 * 9223372036854775807:][:]", 4, "a product of 63 bits");
    wrong("[:][:]|[:][:]|[:][:]|[:][:]|[:][:]|[:][:]|[:][:]|[:][:]|[:][:]", 56,
          "the end: there are 8 boxes");
}
END_TEST

START_TEST(what_the_call_does_not_have_is_not_read)
{
    adsmBox line = adsmR1(10);
    long least = LONG_MIN;
    struct adsm_expression_values few = {
        .part = &line, .nd = 1, .extent = {9}, .param = &least, .params = 1};
    struct adsm_expression got;
    ck_assert(!adsm_expression_read("[j]", &few, &got));
    ck_assert_int_eq(got.column, 2);
    ck_assert_str_eq(got.expected, "a dimension that the range has");
    ck_assert(!adsm_expression_read("[0:j0]", &few, &got));
    ck_assert_int_eq(got.column, 4);
    ck_assert(!adsm_expression_read("[$2]", &few, &got));
    ck_assert_int_eq(got.column, 3);
    ck_assert(!adsm_expression_read("[-$1:]", &few, &got));
    ck_assert_str_eq(got.expected, "a value of 63 bits");
    ck_assert(adsm_expression_read("[$1:N0]", &few, &got));
    ck_assert_int_eq(got.box[0].lo[0], least);
}
END_TEST

SUITE_MAIN("expression", 60, random_texts_have_the_values_that_were_meant,
           printed_boxes_are_read_as_they_were, numbers_at_the_ends_are_printed,
           random_changes_are_read_or_have_a_place,
           each_mistake_has_its_column_and_what_was_expected,
           what_the_call_does_not_have_is_not_read)
