/*
 * Rows of what launches touch: columns, tiles, fields of structures, and what
 * loops step over.
 */
#include "common/access_case.h"
#include "common/suite.h"

/* A column of 4096 bytes a row; a tile of rows of %rd3 elements, whose first one
 * %r7 is in the row. */
#define COLUMN "mad.wide.s32 %rd6, %r5, 4096, %rd1;"
#define TILE                                                                   \
    "mov.u32 %r6, %ctaid.y; mov.u32 %r7, %ntid.y; mov.u32 %r8, %tid.y;"        \
    ".reg .b32 y; mad.lo.s32 y, %r6, %r7, %r8;"                                \
    "cvt.s64.s32 %rd5, y; cvt.s64.s32 %rd7, %r5;"                              \
    "mad.lo.s64 %rd8, %rd5, %rd3, %rd7;"                                       \
    "shl.b64 %rd9, %rd8, 3; add.s64 %rd6, %rd1, %rd9;"
#define STORE "st.global.f32 [%rd6], %f1;"

static const struct access_part strided[] = {
    {COLUMN STORE,
     {{4, 1, 1}, {64, 1, 1}, {0}, {0}},
     "w out+0..1044484 by 4,256x4096"},
    {COLUMN STORE,
     {{4, 1, 1}, {64, 1, 1}, {1}, {3}},
     "w out+262144..782340 by 4,128x4096"},
    {TILE "st.global.f64 [%rd6], %rd3;",
     {{4, 9, 1}, {8, 4, 1}, {1, 2}, {3, 4}},
     "w out+64064..120192 by 128,8x8000"},
    /* one block, row by row; the last rows are not there */
    {TILE "setp.ge.s32 %p1, y, 5; @%p1 bra END;" STORE "END:",
     {{1, 1, 1}, {8, 16, 1}, {0}, {0}},
     "w out+0..120060 by 4,16x8000,8x8"},
    {"mov.u32 %r6, %tid.y; setp.ge.s32 %p1, %r6, 5; @%p1 bra END;"
     "mad.lo.s32 %r7, %r6, 1000, %r5; mad.wide.s32 %rd6, %r7, 8, %rd1;" STORE
     "END:",
     {{1, 1, 1}, {8, 16, 1}, {0}, {0}},
     "w out+0..32060 by 4,5x8000,8x8"},
    /* fields of a structure, one or some */
    {"mad.wide.s32 %rd6, %r5, 32, %rd1; st.global.f32 [%rd6+16], %f1;",
     {{4, 1, 1}, {64, 1, 1}, {0}, {0}},
     "w out+16..8180 by 4,256x32"},
    {"mad.wide.s32 %rd6, %r5, 32, %rd1; st.global.f32 [%rd6+16], %f1;"
     "st.global.f32 [%rd6+4], %f1;",
     {{4, 1, 1}, {64, 1, 1}, {0}, {0}},
     "w out+4..8180 by 16,256x32"},
    {"shl.b32 %r6, %r5, 3; or.b32 %r7, %r6, 5; mul.wide.s32 %rd5, %r7, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1;",
     {{4, 1, 1}, {64, 1, 1}, {0}, {0}},
     "w out+20..8184 by 4,256x32"},
    /* columns far from each other; neighbours above and below */
    {"mad.wide.s32 %rd6, %r5, 65536, %rd1;" STORE
     "st.global.f32 [%rd6+32768], %f1;",
     {{1, 1, 1}, {64, 1, 1}, {0}, {0}},
     "w out+0..4128772 by 4,64x65536 w out+32768..4161540 by 4,64x65536"},
    {COLUMN "ld.global.f32 %f1, [%rd6+-4096]; ld.global.f32 %f2, [%rd6+4096];",
     {{1, 1, 1}, {64, 1, 1}, {0}, {0}},
     "r out-4096..262148 by 4,66x4096"},
    /* in loops, also downwards; a step that is subtracted */
    {"mov.u32 %r6, 0; mov.b64 %rd6, %rd1; LOOP: st.global.f64 [%rd6], %rd3;"
     "add.s64 %rd6, %rd6, 4096; add.s32 %r6, %r6, 1;"
     "setp.lt.s32 %p1, %r6, %r1; @%p1 bra LOOP;",
     {{1, 1, 1}, {1, 1, 1}, {0}, {0}},
     "w out+0..409608 by 8,101x4096"},
    {"mov.u32 %r6, %r1; mov.b64 %rd6, %rd1; LOOP: st.global.f64 [%rd6], %rd3;"
     "sub.s64 %rd6, %rd6, 8192; sub.s32 %r6, %r6, 1;"
     "setp.gt.s32 %p1, %r6, 0; @%p1 bra LOOP;",
     {{1, 1, 1}, {1, 1, 1}, {0}, {0}},
     "w out-819200..8 by 8,101x8192"},
    {"mul.wide.s32 %rd5, %r5, -4096; sub.s64 %rd7, %rd1, 4;"
     "add.s64 %rd6, %rd7, %rd5;" STORE,
     {{1, 1, 1}, {64, 1, 1}, {0}, {0}},
     "w out-258052..0 by 4,64x4096"},
    /* planes, rows and elements; what is not one number as a factor */
    {".reg .b32 z<4>; mov.u32 %r6, %ctaid.y; mov.u32 %r7, %ctaid.z;"
     "mul.lo.s32 z0, %r6, 64; mad.lo.s32 z1, %r7, 4096, z0;"
     "shl.b32 %r8, %r2, 2; add.s32 z2, z1, %r8; mul.wide.s32 %rd5, z2, 4;"
     "add.s64 %rd6, %rd1, %rd5;" STORE,
     {{4, 5, 3}, {1, 1, 1}, {0}, {0}},
     "w out+0..33844 by 4,3x16384,5x256,4x16"},
    {"mul.lo.s32 %r6, %r5, %r2; mad.wide.s32 %rd6, %r6, 4096, %rd1;" STORE,
     {{4, 1, 1}, {64, 1, 1}, {0}, {0}},
     "w out+0..3133444 by 4,766x4096"},
    /* what is loaded, and rows that fill all there is */
    {"ld.global.u32 %r6, [%rd2]; and.b32 %r7, %r6, 255;"
     "mad.wide.s32 %rd6, %r7, 8192, %rd1;" STORE,
     {{1, 1, 1}, {64, 1, 1}, {0}, {0}},
     "r in+0..4 w out+0..2088964 by 4,256x8192"},
    {"mad.wide.s32 %rd6, %r5, 16, %rd1;"
     "st.global.v4.f32 [%rd6], {%f1, %f1, %f1, %f1};",
     {{4, 1, 1}, {128, 1, 1}, {0}, {0}},
     "w out+0..8192"},
};

START_TEST(rows_are_told_from_what_lies_between)
{
    access_case_check(&strided[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows of launches");
    TCase *one = tcase_create("launches");
    tcase_add_loop_test(one, rows_are_told_from_what_lies_between, 0,
                        sizeof strided / sizeof *strided);
    suite_add_tcase(suite, one);
    return suite_finish(suite);
}
