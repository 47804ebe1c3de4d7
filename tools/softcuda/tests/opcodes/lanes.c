/*
 * Runs bodies of kernels whose lanes work together and checks every lane.
 */
#include "lanes.h"

#include <string.h>

#include "expect.h"
#include "machine.h"
#include "text.h"

enum { LANES = LANES_THREADS * LANES_CTAS };

/* Kernel with %in in %s0, global lane in %s1, tid in %s2; `body` leaves its
 * result in %s7, which is stored for every lane. */
static enum sc_exec_status run(const char *head, const char *body, uint32_t *in,
                               uint32_t *out)
{
    struct text *t = text_begin();
    text_put(t,
             "%s.visible .entry k(.param .u64 pi,.param .u64 po)\n{\n"
             ".shared .align 16 .b8 sh[4096];\n"
             ".reg .b64 %%l<8>;\n.reg .b32 %%s<32>;\n.reg .b16 %%h<4>;\n"
             ".reg .pred %%q<8>;\n"
             "ld.param.u64 %%l0,[pi];\nld.param.u64 %%l1,[po];\n"
             "mov.u32 %%s2,%%tid.x;\nmov.u32 %%s3,%%ctaid.x;\n"
             "mad.lo.u32 %%s1,%%s3,%d,%%s2;\nmul.wide.u32 %%l2,%%s1,4;\n"
             "add.s64 %%l0,%%l0,%%l2;\nadd.s64 %%l1,%%l1,%%l2;\n"
             "ld.global.u32 %%s0,[%%l0];\nmov.u32 %%s7,0xdead;\n"
             "%s\nst.global.u32 [%%l1],%%s7;\nret;\n}\n",
             head, LANES_THREADS, body);
    memset(out, 0, LANES * 4);
    uint64_t arguments[] = {machine_address(in), machine_address(out)};
    return machine_run(t->buffer, LANES_CTAS, LANES_THREADS, arguments, 2);
}

uint32_t lanes_input(int i)
{
    return (uint32_t)i * 2654435761u >> 7;
}

void lanes_check(const char *head, const struct lane_case *cases, size_t n)
{
    machine_open();
    uint32_t *in = machine_alloc(LANES * 4), *out = machine_alloc(LANES * 4);
    for (int i = 0; i < LANES; i++)
        in[i] = lanes_input(i);
    for (size_t k = 0; k < n; k++) {
        ck_assert_msg(run(head, cases[k].body, in, out) == SC_EXEC_OK,
                      "not run: %s", cases[k].body);
        for (uint32_t i = 0; i < LANES; i++) {
            struct lane lane = {i % LANES_THREADS, i / LANES_THREADS, i % 32,
                                in + i / 32 * 32, in[i]};
            uint32_t want = cases[k].reference(&lane);
            EXPECT(out[i] == want, "%s\nlane %u: got %#x, want %#x",
                   cases[k].body, i, out[i], want);
        }
    }
    machine_close();
}
