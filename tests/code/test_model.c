/* Models as texts: what is written is read again, and nothing else is. */
#include "common/draw.h"
#include "common/suite.h"
#include "code/model.h"

#include <string.h>
#include <time.h>

/* Each as large as the text: what is read beyond is found by ASan. */
static bool parse(struct adsm_model *model, const char *text, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1);
    memcpy(copy, text, bytes);
    bool whole = adsm_model_parse(model, copy, bytes);
    free(copy);
    return whole;
}

static void draw_text(char *to, size_t bytes)
{
    size_t n = (size_t)below((long)bytes);
    char text[512];
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(1 + below(255));
    text[n] = '\0';
    adsm_model_text(to, bytes, text);
}

static void draw_line(struct adsm_model_line *line)
{
    line->device = (int)below(ADSM_TIMES_DEVICES);
    line->footprint = (int)below(ADSM_MODEL_FOOTPRINTS);
    line->spikes = (uint32_t)draw_bits();
    line->count = 1 + (int)below(ADSM_TIMES_KEPT);
    draw_text(line->kind, sizeof line->kind);
    for (int i = 0; i < line->count; i++)
        line->ns[i] =
            (double)(1 + below(1000000000)) / 1000000 * (below(2) ? 1 : 1000);
}

static void draw_model(struct adsm_model *model, int lines)
{
    memset(model, 0, sizeof *model);
    draw_text(model->kernel, sizeof model->kernel);
    draw_text(model->machine, sizeof model->machine);
    model->key = draw_bits();
    model->count = lines;
    for (int i = 0; i < lines; i++)
        draw_line(&model->line[i]);
}

static void expect_same(const struct adsm_model *a, const struct adsm_model *b)
{
    ck_assert_str_eq(a->kernel, b->kernel);
    ck_assert_str_eq(a->machine, b->machine);
    ck_assert_uint_eq(a->key, b->key);
    ck_assert_int_eq(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        const struct adsm_model_line *x = &a->line[i], *y = &b->line[i];
        ck_assert_int_eq(x->device, y->device);
        ck_assert_str_eq(x->kind, y->kind);
        ck_assert_int_eq(x->footprint, y->footprint);
        ck_assert_uint_eq(x->spikes, y->spikes);
        ck_assert_int_eq(x->count, y->count);
        for (int k = 0; k < x->count; k++)
            ck_assert_double_eq_tol(x->ns[k], y->ns[k], 1e-6);
    }
}

static struct adsm_model model, again;
static char text[ADSM_MODEL_BYTES];

START_TEST(what_is_written_is_read_again)
{
    for (int turn = 0; turn < 500; turn++) {
        draw_model(&model, turn ? (int)below(20) : ADSM_MODEL_LINES);
        size_t bytes = adsm_model_print(&model, text);
        ck_assert_uint_le(bytes, sizeof text);
        ck_assert(parse(&again, text, bytes));
        expect_same(&model, &again);
    }
}
END_TEST

START_TEST(a_text_is_as_it_is_told)
{
    static const char known[] =
        "libadsm model 1\nkernel saxpy\nkey 89edc1b2a9b3d05d\n"
        "machine node7, AMD EPYC 9355\n"
        "0 \"NVIDIA H200, driver 12.4\" 4^11 spikes 2: 0.012500 1012.750000\n"
        "end\n";
    ck_assert(parse(&model, known, strlen(known)));
    ck_assert_str_eq(model.kernel, "saxpy");
    ck_assert_uint_eq(model.key, UINT64_C(0x89edc1b2a9b3d05d));
    ck_assert_int_eq(model.line[0].footprint, 11);
    ck_assert_uint_eq(model.line[0].spikes, 2);
    ck_assert_double_eq_tol(model.line[0].ns[1], 1012.75, 1e-9);
    size_t bytes = adsm_model_print(&model, text);
    ck_assert_uint_eq(bytes, strlen(known));
    ck_assert_mem_eq(text, known, bytes);
    static const char *const wrong[][2] = {
        {"model 1", "model 2"},    {"key 89", "key 8G"},
        {"0 \"", "64 \""},         {"4^11", "4^16"},
        {"2:", "4294967296:"},     {"0.012500", "0.000000"},
        {"0.012500", "0.01250"},   {"0.012500", "-0.01250"},
        {"1012", "1000000000001"}, {"end\n", "end"},
        {"end\n", "end\n\n"},      {"2: 0.012500 1012.750000", "2:"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *at = strstr(known, wrong[i][0]);
        int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - known),
                         known, wrong[i][1], at + strlen(wrong[i][0]));
        ck_assert_msg(!parse(&again, text, (size_t)n), "%s", text);
    }
}
END_TEST

START_TEST(no_part_of_a_text_is_one)
{
    draw_model(&model, 3);
    size_t bytes = adsm_model_print(&model, text);
    for (size_t i = 0; i < bytes; i++)
        ck_assert(!parse(&again, text, i));
}
END_TEST

/* What is taken all the same is a model that can be written. */
START_TEST(anything_is_read_without_harm)
{
    static char other[ADSM_MODEL_BYTES];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    draw_seed = (uint64_t)now.tv_nsec << 20 | 1;
    int taken = 0;
    for (int turn = 0; turn < 20000; turn++) {
        draw_model(&model, (int)below(4));
        size_t bytes = adsm_model_print(&model, text);
        if (turn % 4 == 0)
            for (size_t i = 0; i < (bytes = (size_t)below(2000)); i++)
                text[i] = (char)below(256);
        for (long i = below(4); i > 0 && bytes > 0; i--)
            text[below((long)bytes)] = (char)below(256);
        if (!parse(&again, text, bytes))
            continue;
        taken++;
        size_t n = adsm_model_print(&again, other);
        ck_assert(parse(&model, other, n));
        expect_same(&model, &again);
    }
    ck_assert_int_gt(taken, 1000);
}
END_TEST

START_TEST(what_has_no_room_is_no_model)
{
    draw_model(&model, ADSM_MODEL_LINES);
    size_t bytes = adsm_model_print(&model, text);
    const char *more = "0 \"A\" 4^0 spikes 0: 1.000000\nend\n";
    strcpy(text + bytes - strlen("end\n"), more);
    bytes += strlen(more) - strlen("end\n");
    ck_assert(!parse(&again, text, bytes));
    ck_assert_int_eq(again.count, ADSM_MODEL_LINES);
    for (size_t length = 100; length < 400; length += 10) {
        int n = snprintf(text, sizeof text,
                         "libadsm model 1\nkernel %0*d\nkey 0123456789abcdef\n"
                         "machine m\nend\n",
                         (int)length, 1);
        ck_assert(parse(&again, text, (size_t)n) == (length < ADSM_MODEL_NAME));
    }
}
END_TEST

START_TEST(footprints_are_powers_of_four)
{
    static const double calls[] = {0, 1, 3, 4, 15, 16, 1e300};
    static const int classes[] = {0, 0, 0, 1, 1, 2, ADSM_MODEL_FOOTPRINTS - 1};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        ck_assert_int_eq(adsm_model_footprint(calls[i]), classes[i]);
}
END_TEST

START_TEST(a_device_has_its_own_line_or_one_of_its_kind)
{
    memset(&model, 0, sizeof model);
    struct adsm_model_line line = {.count = 1, .ns = {1}, .footprint = 3};
    strcpy(line.kind, "A");
    for (line.device = 0; line.device < 3; line.device++)
        adsm_model_put(&model, &line);
    ck_assert_int_eq(model.count, 3);
    line.device = 1;
    line.ns[0] = 7;
    adsm_model_put(&model, &line);
    ck_assert_int_eq(model.count, 3);
    ck_assert_double_eq(adsm_model_find(&model, 1, "A", 3)->ns[0], 7);
    ck_assert_int_eq(adsm_model_find(&model, 5, "A", 3)->device, 0);
    ck_assert_ptr_null(adsm_model_find(&model, 1, "A", 4));
    ck_assert_ptr_null(adsm_model_find(&model, 1, "B", 3));
    for (line.footprint = 0; line.footprint < 16; line.footprint++)
        for (line.device = 0; line.device < 64; line.device++)
            adsm_model_put(&model, &line);
    ck_assert_int_eq(model.count, ADSM_MODEL_LINES);
}
END_TEST

SUITE_MAIN("model", 60, what_is_written_is_read_again, a_text_is_as_it_is_told,
           no_part_of_a_text_is_one, anything_is_read_without_harm,
           what_has_no_room_is_no_model, footprints_are_powers_of_four,
           a_device_has_its_own_line_or_one_of_its_kind)
