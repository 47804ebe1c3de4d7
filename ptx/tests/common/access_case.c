/* Kernels for tests of ptx/access.h; see access_case.h. */
#include "common/access_case.h"
#include "common/suite.h"

#include <string.h>

const char access_case_head[] =
    "//\n.version 8.5\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .b8 table[64] = {1, 2, 3, 4};\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".global .texref image;\n"
    ".extern .func (.param .b32 result) vprintf (.param .b64 a, .param .b64 "
    "b)\n"
    ";\n"
    ".func (.param .b32 result) helper (.param .b64 a)\n{\n"
    ".reg .b64 %rd<2>; ld.param.u64 %rd1, [a];\nst.u32 [%rd1], 1;\nret;\n}\n"
    ".visible .entry kernel(\n"
    ".param .u64 out, .param .u64 .ptr .global .align 4 in,\n"
    ".param .u64 n, .param .u32 i, .param .align 8 .b8 s[16])\n"
    ".maxntid 256, 1, 1\n{\n"
    ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<19>, x;\n"
    ".reg .f32 %f<4>;\n.local .align 8 .b8 depot[16];\n"
    ".shared .align 4 .b8 tile[128];\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
    "ld.param.u64 %rd3, [n];\nld.param.u32 %r1, [i];\n"
    "cvta.to.global.u64 %rd1, %rd1;\ncvta.to.global.u64 %rd2, %rd2;\n";

const char access_case_numbered[] =
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;"
    "mad.lo.s32 %r5, %r2, %r3, %r4;";

const char *const access_case_names[] = {"out", "in", "n", "i", "s"};

const uint64_t access_case_base[] = {
    [OUT] = UINT64_C(4) << 32, [IN] = UINT64_C(64) << 32};

struct sc_program *access_case_read(const char *body)
{
    char text[8192];
    snprintf(text, sizeof text,
             "%s%s\nret;\n}\n.visible .entry last()\n{ ret; }",
             access_case_head, body);
    return sc_program_new(text, 90);
}

void access_case_tell(const struct sc_reach *reach,
                      const struct sc_touched *touched, char *text)
{
    *text = 0;
    for (unsigned i = 0; i < touched->count; i++) {
        const struct sc_range *r = &touched->range[i];
        unsigned place = 0;
        while (!(r->places >> place & 1))
            place++;
        uint16_t at = reach->place[place].at;
        unsigned which = at == 0 || at == 32 ? OUT : IN;
        text += sprintf(text, "%s%s%s %s", i ? " " : "", r->reads ? "r" : "",
                        r->writes ? "w" : "", access_case_names[which - 1]);
        if (r->known)
            text += sprintf(text, "%+lld..%lld",
                            (long long)(r->first - access_case_base[which]),
                            (long long)(r->last + 1 - access_case_base[which]));
        else
            text += sprintf(text, "*");
        if (r->stride_count)
            text += sprintf(text, " by %lld", (long long)r->row);
        for (unsigned k = 0; k < r->stride_count; k++)
            text += sprintf(text, ",%lldx%lld", (long long)r->stride[k].count,
                            (long long)r->stride[k].bytes);
    }
}

void access_case_check(const struct access_part *p)
{
    const struct {
        uint64_t out, in, n;
        uint32_t i, pad;
        uint64_t s[2];
    } params = {access_case_base[OUT],
                access_case_base[IN],
                1000,
                100,
                0,
                {access_case_base[OUT], access_case_base[IN]}};
    struct sc_touched touched;
    char body[4096], text[512];
    snprintf(body, sizeof body, "%s%s", access_case_numbered, p->text);
    struct sc_program *program = access_case_read(body);
    struct sc_program_kernel *kernel = sc_program_kernel(program, "kernel");
    for (int round = 0; round < 2; round++) {
        ck_assert(sc_program_rows(kernel, &p->geometry,
                                  (const uint8_t *)&params, sizeof params,
                                  &touched));
        access_case_tell(sc_program_reach(kernel), &touched, text);
        ck_assert_msg(strcmp(text, p->touched) == 0, "%s: '%s' and not '%s'",
                      p->text, text, p->touched);
    }
    sc_program_free(program);
}
