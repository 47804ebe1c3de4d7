/*
 * Surfaces: reads, writes and reductions of every width and geometry, and what
 * .trap, .clamp and .zero do outside.
 */
#include "common/suite.h"
#include "texture_case.h"

#include <string.h>

enum { POINTS = 256 };

static struct point points[POINTS];
static uint32_t got[POINTS][4];

static const uint32_t size_1d[3] = {16, 1, 1}, size_2d[3] = {16, 6, 1},
                      size_3d[3] = {16, 6, 4};

static struct sc_texture *surface_new(enum sc_texture_kind kind, int format,
                                      int channels, const uint32_t size[3],
                                      uint32_t layers)
{
    struct sc_texture *t = texture_new(kind, format, channels, size, layers);
    t->magic = SC_SURFACE_MAGIC;
    return t;
}

/* Every texel of the first `rows` rows of `planes` planes. */
static uint32_t all_texels(uint32_t rows, uint32_t planes)
{
    uint32_t n = 0;
    for (uint32_t z = 0; z < planes && n < POINTS; z++)
        for (uint32_t y = 0; y < rows && n < POINTS; y++)
            for (uint32_t x = 0; x < 16 && n < POINTS; x++)
                points[n++] =
                    (struct point){.at = {(int32_t)x, (int32_t)y, (int32_t)z},
                                   .layer = (int32_t)z};
    return n;
}

static const struct geometry {
    enum sc_texture_kind kind;
    const uint32_t *size;
    uint32_t layers;
    const char *name, *place; /* %r9: x in bytes */
} geometries[] = {
    {SC_TEXTURE_1D, size_1d, 1, "1d", "{%r9}"},
    {SC_TEXTURE_2D, size_2d, 1, "2d", "{%r9,%p4}"},
    {SC_TEXTURE_3D, size_3d, 1, "3d", "{%r9,%p4,%p5,%p5}"},
    {SC_TEXTURE_1D_LAYERED, size_1d, 5, "a1d", "{%p6,%r9}"},
    {SC_TEXTURE_2D_LAYERED, size_2d, 3, "a2d", "{%p6,%r9,%p4,%p4}"},
};

static const struct width {
    int format, channels;
    const char *type, *data; /* registers that make up %r0-3 */
    const char *after;
} widths[] = {
    {FORMAT_U8, 1, "b8", "{%s0}", "cvt.u32.u16 %r0,%s0;"},
    {FORMAT_S8, 2, "v2.b8", "{%s0,%s1}",
     "cvt.u32.u16 %r0,%s0; cvt.u32.u16 %r1,%s1;"},
    {FORMAT_U16, 1, "b16", "{%s0}", "cvt.u32.u16 %r0,%s0;"},
    {FORMAT_HALF, 4, "v4.b16", "{%s0,%s1,%s2,%s3}",
     "mov.b32 %r0,{%s0,%s1}; mov.b32 %r1,{%s2,%s3};"},
    {FORMAT_U32, 1, "b32", "{%r0}", ""},
    {FORMAT_FLOAT, 2, "v2.b32", "{%r0,%r1}", ""},
    {FORMAT_S32, 4, "v4.b32", "{%r0,%r1,%r2,%r3}", ""},
    {FORMAT_U32, 2, "b64", "{%l3}", "mov.b64 {%r0,%r1},%l3;"},
    {FORMAT_U32, 4, "v2.b64", "{%l3,%l4}",
     "mov.b64 {%r0,%r1},%l3; mov.b64 {%r2,%r3},%l4;"},
};

/* What the kernel leaves in %r0-3 for a texel. */
static void expect_words(const struct width *w, const void *texel,
                         uint32_t bytes, uint32_t want[4])
{
    const uint8_t *byte = texel;
    for (int i = 0; i < 4; i++)
        want[i] = 7;
    if (w->format == FORMAT_U8 || w->format == FORMAT_S8)
        for (int i = 0; i < w->channels; i++)
            want[i] = byte[i];
    else if (w->format == FORMAT_U16)
        want[0] = (uint32_t)byte[0] | (uint32_t)byte[1] << 8;
    else
        memcpy(want, texel, bytes);
}

START_TEST(texels_are_read_and_written)
{
    const struct geometry *g = &geometries[_i];
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        const struct width *w = &widths[k];
        struct sc_texture *from =
            surface_new(g->kind, w->format, w->channels, g->size, g->layers);
        struct sc_texture *to =
            surface_new(g->kind, w->format, w->channels, g->size, g->layers);
        uint32_t planes = g->size[2] * g->layers;
        uint32_t bytes = texture_texel_bytes(from);
        uint32_t n = all_texels(g->size[1], planes);
        char body[512];
        memset((void *)(uintptr_t)to->base, 0xee, to->slice * planes);
        snprintf(body, sizeof body,
                 "mul.lo.u32 %%r9,%%p3,%u;"
                 "suld.b.%s.%s.trap %s,[%%h,%s]; mov.b64 %%l5,%llu;"
                 "sust.b.%s.%s.trap [%%l5,%s],%s; %s",
                 bytes, g->name, w->type, w->data, g->place,
                 (unsigned long long)texture_handle(to), g->name, w->type,
                 g->place, w->data, w->after);
        ck_assert_int_eq(
            texture_run("", body, texture_handle(from), points, n, got),
            SC_EXEC_OK);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t x = (uint32_t)points[i].at[0],
                     y = (uint32_t)points[i].at[1],
                     z = (uint32_t)points[i].at[2], want[4];
            const void *texel = texture_texel(from, x, y, z);
            expect_words(w, texel, bytes, want);
            ck_assert_msg(!memcmp(got[i], want, sizeof want), "%s", body);
            ck_assert_msg(!memcmp(texture_texel(to, x, y, z), texel, bytes),
                          "%s", body);
        }
        const uint8_t *gap = texture_texel(to, 0, g->size[1], 0);
        ck_assert_uint_eq(*gap, 0xee);
    }
}
END_TEST

static const struct outside {
    int32_t x, y;
    uint32_t near_x, near_y; /* the texel that .clamp takes */
} outsides[] = {
    {-4, 2, 0, 2},
    {64, 2, 15, 2},
    {8, -1, 2, 0},
    {8, 6, 2, 5},
    {INT32_MIN, INT32_MIN, 0, 0},
    {INT32_MAX - 3, INT32_MAX, 15, 5},
};

enum { OUTSIDES = sizeof outsides / sizeof *outsides };

static enum sc_exec_status run_outside(const struct sc_texture *t,
                                       const char *body, int first, int count)
{
    for (int i = 0; i < count; i++)
        points[i] = (struct point){
            .at = {outsides[first + i].x, outsides[first + i].y}};
    return texture_run("", body, texture_handle(t), points, (uint32_t)count,
                       got);
}

START_TEST(clamp_takes_the_nearest_texel)
{
    struct sc_texture *t =
        surface_new(SC_TEXTURE_2D, FORMAT_U32, 1, size_2d, 1);
    ck_assert_int_eq(run_outside(t,
                                 "suld.b.2d.b32.clamp {%r0},[%h,{%p3,%p4}];"
                                 "add.u32 %r1,%r0,1;"
                                 "sust.b.2d.b32.clamp [%h,{%p3,%p4}],{%r1};",
                                 0, OUTSIDES),
                     SC_EXEC_OK);
    for (int i = 0; i < OUTSIDES; i++) {
        const uint32_t *texel =
            texture_texel(t, outsides[i].near_x, outsides[i].near_y, 0);
        ck_assert_uint_eq(got[i][0] + 1, *texel);
    }
}
END_TEST

START_TEST(zero_reads_nothing_and_writes_nowhere)
{
    struct sc_texture *t =
        surface_new(SC_TEXTURE_2D, FORMAT_U32, 1, size_2d, 1);
    static uint8_t before[8192];
    size_t bytes = t->slice;
    ck_assert_uint_le(bytes, sizeof before);
    memcpy(before, (void *)(uintptr_t)t->base, bytes);
    ck_assert_int_eq(run_outside(t,
                                 "suld.b.2d.b32.zero {%r0},[%h,{%p3,%p4}];"
                                 "sust.b.2d.b32.zero [%h,{%p3,%p4}],{%r8};"
                                 "sured.b.add.2d.u32.zero [%h,{%p3,%p4}],%r8;",
                                 0, OUTSIDES),
                     SC_EXEC_OK);
    for (int i = 0; i < OUTSIDES; i++)
        ck_assert_uint_eq(got[i][0], 0);
    ck_assert_mem_eq(before, (void *)(uintptr_t)t->base, bytes);
}
END_TEST

START_TEST(trap_faults_outside_and_beside)
{
    struct sc_texture *t =
        surface_new(SC_TEXTURE_2D, FORMAT_U32, 1, size_2d, 1);
    for (int i = 0; i < OUTSIDES; i++) {
        ck_assert_int_eq(
            run_outside(t, "suld.b.2d.b32.trap {%r0},[%h,{%p3,%p4}];", i, 1),
            SC_EXEC_ILLEGAL_ADDRESS);
        ck_assert_int_eq(
            run_outside(t, "sust.b.2d.b32.trap [%h,{%p3,%p4}],{%r0};", i, 1),
            SC_EXEC_ILLEGAL_ADDRESS);
    }
    points[0] = (struct point){.at = {2}}; /* between two texels */
    ck_assert_int_eq(texture_run("", "suld.b.2d.b32.trap {%r0},[%h,{%p3,%p4}];",
                                 texture_handle(t), points, 1, got),
                     SC_EXEC_ILLEGAL_ADDRESS);
    t->magic = SC_TEXTURE_MAGIC;
    points[0].at[0] = 0;
    ck_assert_int_eq(texture_run("", "suld.b.2d.b32.trap {%r0},[%h,{%p3,%p4}];",
                                 texture_handle(t), points, 1, got),
                     SC_EXEC_ILLEGAL_ADDRESS);
}
END_TEST

/* All lanes on one texel: nothing is lost. */
START_TEST(reductions_count_every_lane)
{
    static const struct {
        const char *name, *type;
        uint64_t start, want; /* over lanes 0 … 99 */
    } cases[] = {
        {"add", "u32", 5, 5 + 99 * 100 / 2},
        {"add", "u64", UINT64_C(1) << 40, (UINT64_C(1) << 40) + 99 * 100 / 2},
        {"min", "u32", 0xffffffff, 0},
        {"min", "s32", 0xffffffff, 0xffffffff},
        {"max", "u32", 7, 99},
        {"max", "s32", 0xffffffff, 99},
        {"max", "s64", UINT64_MAX, 99},
        {"and", "b32", 0xffffff80, 0},
        {"or", "b32", 128, 255},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool wide = strstr(cases[i].type, "64") != NULL;
        struct sc_texture *t =
            surface_new(SC_TEXTURE_1D, FORMAT_U32, 2, size_1d, 1);
        char body[256];
        memcpy(texture_texel(t, 3, 0, 0), &cases[i].start, 8);
        memset(points, 0, sizeof points);
        snprintf(body, sizeof body,
                 "cvt.u64.u32 %%l3,%%r8;"
                 "sured.b.%s.1d.%s.trap [%%h,{24}],%s;",
                 cases[i].name, cases[i].type, wide ? "%l3" : "%r8");
        ck_assert_int_eq(
            texture_run("", body, texture_handle(t), points, 100, got),
            SC_EXEC_OK);
        uint64_t have = 0;
        memcpy(&have, texture_texel(t, 3, 0, 0), wide ? 8 : 4);
        ck_assert_msg(have == cases[i].want, "%s: %llx", body,
                      (unsigned long long)have);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("surfaces");
    TCase *tcase = tcase_create("surfaces");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, device_open, device_close);
    tcase_add_loop_test(tcase, texels_are_read_and_written, 0,
                        sizeof geometries / sizeof *geometries);
    tcase_add_test(tcase, clamp_takes_the_nearest_texel);
    tcase_add_test(tcase, zero_reads_nothing_and_writes_nowhere);
    tcase_add_test(tcase, trap_faults_outside_and_beside);
    tcase_add_test(tcase, reductions_count_every_lane);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
