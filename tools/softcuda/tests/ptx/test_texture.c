/*
 * Textures: every geometry, address mode, filter, element type and query
 * against the reference of texture_case.c.
 */
#include "common/suite.h"
#include "texture_case.h"

#include <math.h>
#include <string.h>

enum { POINTS = 512 };

static struct point points[POINTS];
static uint32_t got[POINTS][4];

static uint64_t seed = 20141;

static int32_t draw(int32_t from, int32_t to)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int32_t)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* Places all around the texture, in steps that every filter keeps exact. */
static void scatter(const struct sc_texture *t)
{
    const uint32_t size[3] = {t->width, t->height, t->depth};
    for (int k = 0; k < POINTS; k++) {
        for (int i = 0; i < 3; i++) {
            int32_t n = (int32_t)size[i];
            points[k].x[i] = (float)draw(-40 * n, 56 * n) / 16;
            if (t->normalized) /* 1/128 of the axis: exact for any size */
                points[k].x[i] = (float)draw(-320, 448) / 128;
            points[k].at[i] = draw(-2 * n, 3 * n);
        }
        points[k].layer = draw(-1, (int32_t)t->layers);
    }
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* type: f32, u32, s32, that of the results */
static void compare(const struct sc_texture *t, int dims, bool integer,
                    const char *type, double tolerance, const char *what)
{
    for (int k = 0; k < POINTS; k++) {
        double want[4];
        texture_expect(t, dims, integer, &points[k], want);
        for (int c = 0; c < 4; c++) {
            want[c] = *type == 'f' ? (double)(float)want[c] : want[c];
            double have = *type == 'f'   ? (double)as_float(got[k][c])
                          : *type == 'u' ? (double)got[k][c]
                                         : (double)(int32_t)got[k][c];
            ck_assert_msg(fabs(have - want[c]) <= tolerance,
                          "%s: point %d (%g %g %g | %d %d %d layer %d) "
                          "component %d: %.9g, not %.9g",
                          what, k, points[k].x[0], points[k].x[1],
                          points[k].x[2], points[k].at[0], points[k].at[1],
                          points[k].at[2], points[k].layer, c, have, want[c]);
        }
    }
}

static void check(const struct sc_texture *t, const char *body, int dims,
                  bool integer, const char *type, double tolerance)
{
    scatter(t);
    ck_assert_int_eq(
        texture_run("", body, texture_handle(t), points, POINTS, got),
        SC_EXEC_OK);
    compare(t, dims, integer, type, tolerance, body);
}

static const uint32_t size_1d[3] = {13, 1, 1}, size_2d[3] = {13, 8, 1},
                      size_3d[3] = {6, 5, 4};

static const struct geometry {
    enum sc_texture_kind kind;
    const uint32_t *size;
    uint32_t layers;
    int dims;
    const char *real, *whole; /* with float and with integer coordinates */
} geometries[] = {
    {SC_TEXTURE_1D, size_1d, 1, 1,
     "tex.1d.v4.f32.f32 {%r0,%r1,%r2,%r3},[%h,{%f0}];",
     "tex.1d.v4.f32.s32 {%r0,%r1,%r2,%r3},[%h,{%p3}];"},
    {SC_TEXTURE_2D, size_2d, 1, 2,
     "tex.2d.v4.f32.f32 {%r0,%r1,%r2,%r3},[%h,{%f0,%f1}];",
     "tex.2d.v4.f32.s32 {%r0,%r1,%r2,%r3},[%h,{%p3,%p4}];"},
    {SC_TEXTURE_3D, size_3d, 1, 3,
     "tex.3d.v4.f32.f32 {%r0,%r1,%r2,%r3},[%h,{%f0,%f1,%f2,%f2}];",
     "tex.3d.v4.f32.s32 {%r0,%r1,%r2,%r3},[%h,{%p3,%p4,%p5,%p5}];"},
    {SC_TEXTURE_1D_LAYERED, size_1d, 5, 1,
     "tex.a1d.v4.f32.f32 {%r0,%r1,%r2,%r3},[%h,{%p6,%f0}];",
     "tex.a1d.v4.f32.s32 {%r0,%r1,%r2,%r3},[%h,{%p6,%p3}];"},
    {SC_TEXTURE_2D_LAYERED, size_2d, 3, 2,
     "tex.a2d.v4.f32.f32 {%r0,%r1,%r2,%r3},[%h,{%p6,%f0,%f1,%f1}];",
     "tex.a2d.v4.f32.s32 {%r0,%r1,%r2,%r3},[%h,{%p6,%p3,%p4,%p4}];"},
};

START_TEST(geometry_filters_in_every_mode)
{
    const struct geometry *g = &geometries[_i];
    struct sc_texture *t =
        texture_new(g->kind, FORMAT_FLOAT, 2, g->size, g->layers);
    for (int i = 0; i < 4; i++)
        t->border[i] = (float)(i + 1) * 8;
    for (int mix = 0; mix < MODES * 4; mix++) {
        t->linear = mix & 1;
        t->normalized = mix >> 1 & 1;
        for (int i = 0; i < 3; i++)
            t->address_mode[i] = (uint8_t)((mix / 4 + i * (mix & 1)) % MODES);
        check(t, g->real, g->dims, false, "f32", 0);
    }
    t->normalized = 0;
    check(t, g->whole, g->dims, true, "f32", 0);
}
END_TEST

static const struct format {
    int format;
    const char *type; /* of the results as they are */
    bool fractions;   /* can be read as such */
} formats[] = {
    {FORMAT_U8, "u32", true},    {FORMAT_S8, "s32", true},
    {FORMAT_U16, "u32", true},   {FORMAT_S16, "s32", true},
    {FORMAT_U32, "u32", false},  {FORMAT_S32, "s32", false},
    {FORMAT_HALF, "f32", false}, {FORMAT_FLOAT, "f32", false},
};

START_TEST(element_types_become_their_results)
{
    const struct format *f = &formats[_i];
    char body[128];
    for (int channels = 1; channels <= 4; channels *= 2) {
        struct sc_texture *t =
            texture_new(SC_TEXTURE_2D, f->format, channels, size_2d, 1);
        t->linear = *f->type != 'f'; /* means nothing for whole numbers */
        snprintf(body, sizeof body,
                 "tex.2d.v4.%s.s32 {%%r0,%%r1,%%r2,%%r3},[%%h,{%%p3,%%p4}];",
                 f->type);
        check(t, body, 2, true, f->type, 0);
        if (!f->fractions)
            continue;
        t->read = SC_TEXTURE_READ_NORMALIZED;
        for (t->linear = 0; t->linear < 2; t->linear++)
            check(t, geometries[1].real, 2, false, "f32", 1e-6);
    }
}
END_TEST

START_TEST(whole_numbers_are_never_filtered)
{
    struct sc_texture *t = texture_new(SC_TEXTURE_1D, FORMAT_U8, 1, size_1d, 1);
    struct sc_texture plain = *t;
    t->linear = 1;
    scatter(t);
    ck_assert_int_eq(
        texture_run("", "tex.1d.v4.u32.f32 {%r0,%r1,%r2,%r3},[%h,{%f0}];",
                    texture_handle(t), points, POINTS, got),
        SC_EXEC_OK);
    compare(&plain, 1, false, "u32", 0, "bytes");
}
END_TEST

START_TEST(linear_memory_gives_nothing_outside)
{
    struct sc_texture *t =
        texture_new(SC_TEXTURE_BUFFER, FORMAT_S16, 2, size_1d, 1);
    scatter(t);
    ck_assert_int_eq(
        texture_run("", "tex.1d.v4.s32.s32 {%r0,%r1,%r2,%r3},[%h,{%p3}];",
                    texture_handle(t), points, POINTS, got),
        SC_EXEC_OK);
    for (int k = 0; k < POINTS; k++) {
        int32_t x = points[k].at[0];
        int16_t want[2] = {0, 0};
        if (x >= 0 && x < 13)
            memcpy(want, texture_texel(t, (uint32_t)x, 0, 0), sizeof want);
        ck_assert_int_eq((int32_t)got[k][0], want[0]);
        ck_assert_int_eq((int32_t)got[k][1], want[1]);
    }
}
END_TEST

START_TEST(halves_and_sinks_as_destinations)
{
    struct sc_texture *t =
        texture_new(SC_TEXTURE_1D, FORMAT_HALF, 4, size_1d, 1);
    memset(points, 0, sizeof points);
    for (int k = 0; k < 13; k++)
        points[k].x[0] = (float)k + 0.25f;
    ck_assert_int_eq(
        texture_run("",
                    "tex.1d.v4.f16.f32 {%s0,%s1,%s2,%s3},[%h,{%f0}];"
                    "mov.b32 %r0,{%s0,%s1}; mov.b32 %r1,{%s2,%s3};"
                    "tex.1d.v2.f16x2.f32 {%r2,_},[%h,{%f0}];"
                    "tex.1d.v4.f32.f32 {_,%r5,_,_}|%q0,[%h,{%f0}];"
                    "selp.u32 %r3,1,0,%q0;",
                    texture_handle(t), points, 13, got),
        SC_EXEC_OK);
    for (uint32_t k = 0; k < 13; k++) {
        ck_assert_mem_eq(got[k], texture_texel(t, k, 0, 0), 8);
        ck_assert_mem_eq(&got[k][2], texture_texel(t, k, 0, 0), 4);
        ck_assert_uint_eq(got[k][3], 1);
    }
}
END_TEST

START_TEST(lanes_that_are_off_keep_their_registers)
{
    struct sc_texture *t =
        texture_new(SC_TEXTURE_1D, FORMAT_U32, 1, size_1d, 1);
    memset(points, 0, sizeof points);
    for (int k = 0; k < 64; k++)
        points[k].at[0] = k % 13;
    ck_assert_int_eq(
        texture_run("",
                    "and.b32 %r9,%r8,3; setp.eq.u32 %q0,%r9,1;"
                    "@!%q0 mov.b64 %h,8;" /* would fault */
                    "@%q0 tex.1d.v4.u32.s32 {%r0,%r1,%r2,%r3},[%h,{%p3}];",
                    texture_handle(t), points, 64, got),
        SC_EXEC_OK);
    for (uint32_t k = 0; k < 64; k++) {
        uint32_t want = 7;
        if (k % 4 == 1)
            memcpy(&want, texture_texel(t, k % 13, 0, 0), 4);
        ck_assert_uint_eq(got[k][0], want);
        ck_assert_uint_eq(got[k][3], k % 4 == 1 ? 1 : 7);
    }
}
END_TEST

START_TEST(gathers_go_around_the_place)
{
    static const uint32_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    struct sc_texture *t =
        texture_new(SC_TEXTURE_2D, FORMAT_FLOAT, 4, size_2d, 1);
    for (int c = 0; c < 4; c++) {
        char body[128];
        snprintf(body, sizeof body,
                 "tld4.%c.2d.v4.f32.f32 {%%r0,%%r1,%%r2,%%r3},"
                 "[%%h,{%%f0,%%f1}];",
                 "rgba"[c]);
        points[0] = (struct point){.x = {4.75f, 3.25f}};
        ck_assert_int_eq(
            texture_run("", body, texture_handle(t), points, 1, got),
            SC_EXEC_OK);
        for (int i = 0; i < 4; i++) {
            const uint32_t *texel =
                texture_texel(t, 4 + order[i][0], 2 + order[i][1], 0);
            ck_assert_uint_eq(got[0][i], texel[c]);
        }
    }
}
END_TEST

START_TEST(cube_faces_are_layers)
{
    static const float ways[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                     {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    const uint32_t size[3] = {4, 4, 1};
    struct sc_texture *t =
        texture_new(SC_TEXTURE_CUBE_LAYERED, FORMAT_U32, 1, size, 12);
    t->normalized = 1;
    for (int k = 0; k < 12; k++) {
        memcpy(points[k].x, ways[k % 6], sizeof ways[0]);
        points[k].layer = k / 6;
        for (uint32_t i = 0; i < 16; i++)
            *(int *)texture_texel(t, i % 4, i / 4, (uint32_t)k) = k * 10;
    }
    ck_assert_int_eq(
        texture_run("",
                    "tex.cube.v4.u32.f32 {%r0,_,_,_},[%h,{%f0,%f1,%f2,%f2}];"
                    "tex.acube.v4.u32.f32 {%r1,_,_,_},"
                    "[%h,{%p6,%f0,%f1,%f2}];",
                    texture_handle(t), points, 12, got),
        SC_EXEC_OK);
    for (uint32_t k = 0; k < 12; k++) {
        ck_assert_uint_eq(got[k][0], k % 6 * 10);
        ck_assert_uint_eq(got[k][1], k * 10);
    }
}
END_TEST

/* Level 1 is half as large and lies 1 KiB behind level 0. */
static struct sc_texture *mipmap(void)
{
    const uint32_t size[3] = {8, 8, 1};
    struct sc_texture *t = texture_new(SC_TEXTURE_2D, FORMAT_FLOAT, 1, size, 1);
    t->base = (uint64_t)(uintptr_t)device_alloc(4096);
    t->pitch = 64;
    t->levels = 2;
    t->level_offset[0] = 4;
    t->level_max = 8;
    t->normalized = 1;
    for (uint32_t y = 0; y < 8; y++)
        for (uint32_t x = 0; x < 8; x++)
            *(float *)texture_texel(t, x, y, 0) = 1;
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 4; x++)
            ((float *)(uintptr_t)(t->base + 1024 + y * 256))[x] = 2;
    return t;
}

START_TEST(levels_are_chosen_and_blended)
{
    struct sc_texture *t = mipmap();
    static const float lods[] = {-1, 0, 0.25f, 0.75f, 1, 5};
    for (int k = 0; k < 6; k++)
        points[k] = (struct point){.x = {0.4f, 0.6f}, .lod = lods[k]};
    for (t->blended = 0; t->blended < 2; t->blended++) {
        ck_assert_int_eq(
            texture_run("",
                        "tex.level.2d.v4.f32.f32 {%r0,_,_,_},[%h,{%f0,%f1}],"
                        "%f7; mov.f32 %f3,0f3E800000; mov.f32 %f4,0f00000000;"
                        "tex.grad.2d.v4.f32.f32 {%r1,_,_,_},[%h,{%f0,%f1}],"
                        "{%f3,%f4},{%f4,%f4};"
                        "tex.base.2d.v4.f32.f32 {%r2,_,_,_},[%h,{%f0,%f1}];",
                        texture_handle(t), points, 6, got),
            SC_EXEC_OK);
        static const float want[2][6] = {{1, 1, 1, 2, 2, 2},
                                         {1, 1, 1.25f, 1.75f, 2, 2}};
        for (int k = 0; k < 6; k++) {
            ck_assert(as_float(got[k][0]) == want[t->blended][k]);
            ck_assert(as_float(got[k][1]) == 2); /* two texels a step */
            ck_assert(as_float(got[k][2]) == 1);
        }
    }
}
END_TEST

START_TEST(queries_tell_what_the_driver_stored)
{
    struct sc_texture *t = texture_new(SC_TEXTURE_3D, FORMAT_U8, 4, size_3d, 1);
    t->normalized = 1;
    uint32_t more[1][4];
    points[0] = (struct point){.layer = 0};
    ck_assert_int_eq(
        texture_run("",
                    "txq.width.b32 %r0,[%h]; txq.height.b32 %r1,[%h];"
                    "txq.depth.b32 %r2,[%h];"
                    "txq.normalized_coords.b32 %r3,[%h];",
                    texture_handle(t), points, 1, got),
        SC_EXEC_OK);
    ck_assert_int_eq(texture_run("",
                                 "txq.num_mipmap_levels.b32 %r0,[%h];"
                                 "txq.array_size.b32 %r1,[%h];"
                                 "txq.level.width.b32 %r2,[%h],1;"
                                 "suq.width.b32 %r3,[%h];",
                                 texture_handle(t), points, 1, more),
                     SC_EXEC_OK);
    const uint32_t want[4] = {6, 5, 4, 1}, want_more[4] = {1, 1, 3, 6};
    ck_assert_mem_eq(got[0], want, sizeof want);
    ck_assert_mem_eq(more[0], want_more, sizeof want);
}
END_TEST

START_TEST(named_references_hold_handles)
{
    struct sc_texture *t =
        texture_new(SC_TEXTURE_1D, FORMAT_U32, 1, size_1d, 1);
    static const char ptx[] = PTX_HEAD
        ".global .texref picture;\n"
        ".entry k(.param .u64 po)\n{\n.reg .b64 %l<2>;\n.reg .b32 %r<4>;\n"
        "ld.param.u64 %l1,[po];\n"
        "tex.1d.v4.u32.s32 {%r0,_,_,_},[picture,{5}];\n"
        "st.global.u32 [%l1],%r0;\nret;\n}\n";
    struct sc_module *module = device_load(ptx);
    const struct sc_variable_info *v = sc_module_variable(module, 0);
    uint32_t *out = device_alloc(4);
    uint64_t handle = texture_handle(t), at = (uint64_t)(uintptr_t)out;
    ck_assert_str_eq(v->name, "picture");
    ck_assert(v->is_texture && !v->is_surface && v->bytes == 8);
    struct sc_exec_fault fault;
    ck_assert_int_eq(device_launch(module, 1, 1, &at, 8, &fault),
                     SC_EXEC_ILLEGAL_ADDRESS); /* none bound yet */
    memcpy((void *)(uintptr_t)v->address, &handle, 8);
    ck_assert_int_eq(device_launch(module, 1, 1, &at, 8, &fault), SC_EXEC_OK);
    ck_assert_mem_eq(out, texture_texel(t, 5, 0, 0), 4);
    sc_module_unload(module);
}
END_TEST

START_TEST(wrong_handles_fault)
{
    struct sc_texture *t =
        texture_new(SC_TEXTURE_1D, FORMAT_U32, 1, size_1d, 1);
    struct sc_texture *far =
        texture_new(SC_TEXTURE_1D, FORMAT_U32, 1, size_1d, 1);
    struct sc_texture *hole =
        texture_new(SC_TEXTURE_1D, FORMAT_U32, 1, size_1d, 1);
    struct sc_texture *surface =
        texture_new(SC_TEXTURE_1D, FORMAT_U32, 1, size_1d, 1);
    far->base = 4096;
    hole->base = device_hole();
    surface->magic = SC_SURFACE_MAGIC;
    const uint64_t handles[] = {0,
                                8,
                                texture_handle(t) + 8,
                                texture_handle(t) + 16,
                                UINT64_MAX - 15,
                                device_hole(),
                                texture_handle(far),
                                texture_handle(hole),
                                texture_handle(surface)};
    points[0] = (struct point){.x = {1}};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        ck_assert_msg(texture_run("", geometries[0].real, handles[i], points, 1,
                                  got) == SC_EXEC_ILLEGAL_ADDRESS,
                      "handle %zu", i);
}
END_TEST

/* Kernels can write over descriptors: whatever stands there, no more than a
 * fault comes of it. */
START_TEST(damaged_descriptors_do_no_harm)
{
    static const char body[] =
        "tex.2d.v4.f32.f32 {%r0,_,_,_},[%h,{%f0,%f1}];"
        "tex.a2d.v4.f32.s32 {%r0,_,_,_},[%h,{%p6,%p3,%p4,%p4}];"
        "tex.level.3d.v4.u32.f32 {%r0,_,_,_},[%h,{%f0,%f1,%f2,%f2}],%f7;"
        "tex.acube.v4.f32.f32 {%r0,_,_,_},[%h,{%p6,%f0,%f1,%f2}];"
        "tld4.g.2d.v4.f32.f32 {%r0,_,_,_},[%h,{%f0,%f1}];"
        "txq.level.depth.b32 %r1,[%h],%p3;";
    struct sc_texture *t =
        texture_new(SC_TEXTURE_2D, FORMAT_FLOAT, 1, size_2d, 1);
    const struct sc_texture good = *t;
    for (int k = 0; k < 400; k++) {
        *t = good;
        for (int i = draw(1, 6); i > 0; i--)
            ((uint8_t *)t)[draw(4, sizeof *t - 1)] = (uint8_t)draw(0, 255);
        for (int i = 0; i < 4; i++) {
            uint32_t bits = (uint32_t)draw(0, 0x7ffffffe) * 2;
            points[i].x[i % 3] = as_float(bits);
            points[i].at[i % 3] = (int32_t)bits;
            points[i].lod = as_float(bits);
            points[i].layer = (int32_t)bits;
        }
        enum sc_exec_status status =
            texture_run("", body, texture_handle(t), points, 4, got);
        ck_assert(status == SC_EXEC_OK || status == SC_EXEC_ILLEGAL_ADDRESS);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("textures");
    TCase *tcase = tcase_create("textures");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, device_open, device_close);
    tcase_add_loop_test(tcase, geometry_filters_in_every_mode, 0,
                        sizeof geometries / sizeof *geometries);
    tcase_add_loop_test(tcase, element_types_become_their_results, 0,
                        sizeof formats / sizeof *formats);
    tcase_add_test(tcase, whole_numbers_are_never_filtered);
    tcase_add_test(tcase, linear_memory_gives_nothing_outside);
    tcase_add_test(tcase, halves_and_sinks_as_destinations);
    tcase_add_test(tcase, lanes_that_are_off_keep_their_registers);
    tcase_add_test(tcase, gathers_go_around_the_place);
    tcase_add_test(tcase, cube_faces_are_layers);
    tcase_add_test(tcase, levels_are_chosen_and_blended);
    tcase_add_test(tcase, queries_tell_what_the_driver_stored);
    tcase_add_test(tcase, named_references_hold_handles);
    tcase_add_test(tcase, wrong_handles_fault);
    tcase_add_test(tcase, damaged_descriptors_do_no_harm);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
