/*
 * Reads shortly outside of an allocation give 0, in the interpreter and in
 * native code, and one message; anything else there ends the launch.
 *
 * Behind HOLE the window has 8 MiB that nobody owns. No lock.
 */
#include "build_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "../ptx/device.h"

#define HOLE       ((uint64_t)32 << 20)
#define HOLE_BYTES ((uint64_t)8 << 20)

static const char *const modes[] = {"off", "wait"};

/* `%d1` is the thread's address, 4 bytes apart, `%d2` its word of the result,
 * `%r2` its number; `body` is on line 13 and leaves `%r9`. */
#define KERNEL(body)                                                           \
    PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 at)\n{\n"         \
             ".reg .b32 %r<16>;.reg .b64 %d<8>;.reg .pred %p<4>;\n"            \
             "ld.param.u64 %d0,[out];\nld.param.u64 %d1,[at];\n"               \
             "mov.u32 %r2,%tid.x;\nmul.wide.u32 %d4,%r2,4;\n"                  \
             "add.u64 %d2,%d0,%d4;\nadd.u64 %d1,%d1,%d4;\n" body               \
             "\nst.global.u32 [%d2],%r9;\nret;\n}\n"

#define LOAD "ld.global.u32 %r9,[%d1];"

struct result {
    enum sc_exec_status status;
    struct sc_exec_fault fault;
    char said[2048];
};

static void keep_errors(int *kept)
{
    *kept = dup(2);
    ck_assert_ptr_nonnull(freopen(in_room("said"), "w", stderr));
}

static void read_errors(int kept, char *said, size_t room)
{
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    FILE *file = fopen(in_room("said"), "r");
    ck_assert_ptr_nonnull(file);
    said[fread(said, 1, room - 1, file)] = '\0';
    fclose(file);
}

/* Launch twice with addresses from `at` behind the begin of the window. */
static void run(const char *ptx, const char *mode, uint64_t at,
                struct result *result)
{
    int kept;
    struct sc_launch_report report = {0};
    setenv("SOFTCUDA_NATIVE", mode, 1);
    device_open();
    uint64_t base = device_space()->window_base;
    ck_assert_int_eq(
        mprotect((void *)(uintptr_t)(base + HOLE), HOLE_BYTES, PROT_NONE), 0);
    uint32_t *out = device_alloc(64 * 4);
    memset(out, 0xa5, 64 * 4);
    uint64_t params[] = {(uint64_t)(uintptr_t)out, base + at};
    struct sc_launch launch = {.grid = {1, 1, 1},
                               .block = {64, 1, 1},
                               .params = params,
                               .param_bytes = sizeof params,
                               .report = &report};
    *result = (struct result){.status = SC_EXEC_OK};
    keep_errors(&kept);
    struct sc_module *module = device_load(ptx);
    for (int i = 0; i < 2 && result->status == SC_EXEC_OK; i++)
        result->status = sc_kernel_launch(module, 0, &launch, &result->fault);
    read_errors(kept, result->said, sizeof result->said);
    if (result->fault.address)
        result->fault.address -= base;
    ck_assert_msg(strcmp(mode, "off") == 0 || !report.interpreted, "%s",
                  report.why);
    for (int i = 0; i < 64 && result->status == SC_EXEC_OK; i++)
        ck_assert_msg(out[i] == 0, "%s, %d: %#x\n%s", mode, i, out[i], ptx);
    sc_module_unload(module);
    device_close();
}

static int count_lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void expect_zeros(const char *ptx, uint64_t at, bool near)
{
    for (size_t i = 0; i < 2; i++) {
        struct result r;
        run(ptx, modes[i], at, &r);
        ck_assert_msg(r.status == SC_EXEC_OK, "%s: %s", modes[i], r.fault.text);
        ck_assert_msg(count_lines(r.said) == near, "%s: %s", modes[i], r.said);
        ck_assert_msg(!near || strstr(r.said, "kernel 'k'"), "%s", r.said);
        if (near && i == 0)
            ck_assert_msg(strstr(r.said, "line 13"), "%s", r.said);
    }
}

static void expect_fault(const char *ptx, uint64_t at, uint64_t address)
{
    for (size_t i = 0; i < 2; i++) {
        struct result r;
        run(ptx, modes[i], at, &r);
        ck_assert_msg(r.status == SC_EXEC_ILLEGAL_ADDRESS, "%s: %d, %s",
                      modes[i], r.status, r.said);
        ck_assert_uint_eq(r.fault.address, address);
        ck_assert_msg(!r.said[0], "%s", r.said);
    }
}

START_TEST(reads_just_outside_give_zeros)
{
    enter_room();
    setenv("SOFTCUDA_STRICT", "0", 1);
    expect_zeros(KERNEL(LOAD), HOLE - 4096, false);
    expect_zeros(KERNEL(LOAD), HOLE - 128, true);
    expect_zeros(KERNEL(LOAD), HOLE, true);
    expect_zeros(KERNEL(LOAD), HOLE + (1 << 20), true);
    expect_zeros(KERNEL(LOAD), HOLE + HOLE_BYTES - 128, true);
    expect_zeros(KERNEL(LOAD), HOLE + HOLE_BYTES - (2 << 20) + 4096, true);
}
END_TEST

START_TEST(every_way_of_reading_gives_zeros)
{
    enter_room();
    setenv("SOFTCUDA_STRICT", "0", 1);
    expect_zeros(KERNEL("ld.global.u8 %r9,[%d1+3];"), HOLE, true);
    expect_zeros(KERNEL("ld.u32 %r9,[%d1];"), HOLE, true);
    expect_zeros(KERNEL("and.b64 %d1,%d1,-16; "
                        "ld.global.v4.u32 {%r3,%r4,%r5,%r9},[%d1];"),
                 HOLE, true);
    /* all at one place, and each on a page of its own */
    expect_zeros(KERNEL("sub.u64 %d1,%d1,%d4; ld.global.u32 %r9,[%d1];"), HOLE,
                 true);
    expect_zeros(KERNEL("mul.wide.u32 %d5,%r2,4092; add.u64 %d1,%d1,%d5; "
                        "ld.global.u32 %r9,[%d1];"),
                 HOLE + 4096, true);
    expect_zeros(KERNEL("setp.gt.u32 %p1,%r2,40; mov.u32 %r9,0; "
                        "@%p1 ld.global.u32 %r9,[%d1];"),
                 HOLE, true);
}
END_TEST

START_TEST(writes_still_fault)
{
    enter_room();
    setenv("SOFTCUDA_STRICT", "0", 1);
    expect_fault(KERNEL("st.global.u32 [%d1],%r2;"), HOLE, HOLE);
    expect_fault(KERNEL(LOAD " st.global.u32 [%d1],%r2;"), HOLE, HOLE);
    expect_fault(KERNEL("atom.global.add.u32 %r9,[%d1],1;"), HOLE, HOLE);
    expect_fault(KERNEL(LOAD " red.global.add.u32 [%d1],1;"), HOLE, HOLE);
}
END_TEST

START_TEST(reads_far_outside_fault)
{
    enter_room();
    setenv("SOFTCUDA_STRICT", "0", 1);
    expect_fault(KERNEL(LOAD), HOLE + (3 << 20), HOLE + (3 << 20));
    /* what was opened is no allocation that others are near to */
    expect_fault(KERNEL("ld.global.u32 %r9,[%d1]; "
                        "ld.global.u32 %r9,[%d1+2097152];"),
                 HOLE + (1 << 20), HOLE + (3 << 20));
}
END_TEST

START_TEST(strict_reads_fault)
{
    enter_room();
    setenv("SOFTCUDA_STRICT", "1", 1);
    expect_fault(KERNEL(LOAD), HOLE, HOLE);
    expect_zeros(KERNEL(LOAD), HOLE - 256, false);
}
END_TEST

int main(void)
{
    if (system("cc --version >/dev/null 2>&1") != 0)
        return 77;
    const TTest *const cases[] = {
        reads_just_outside_give_zeros,
        every_way_of_reading_gives_zeros,
        writes_still_fault,
        reads_far_outside_fault,
        strict_reads_fault,
    };
    return suite_run("softcuda: reads outside of allocations", cases,
                     sizeof cases / sizeof *cases, 120);
}
