/*
 * Blocks that wait for any other the device would hold beside them, as it does
 * on every GPU: as many run in turns as it says it holds. And what waits for
 * nothing that comes says so.
 */
#include "build_test.h"

#include <pthread.h>

#include "../ptx/device.h"

enum { BLOCKS = 100, WORDS = 1024 };

static volatile int cancelled;

static void *cancel_later(void *seconds)
{
    for (int i = 0; i < *(int *)seconds * 20 && !cancelled; i++)
        usleep(50000);
    cancelled = 1;
    return NULL;
}

struct run {
    const char *text, *mode;
    uint32_t blocks, threads;
    int seconds; /* at most */
    enum sc_exec_status status;
    uint64_t native;
};

/* `out` has the flags behind its first WORDS words. */
static void launch(struct run *run, uint32_t *out, struct sc_module *module)
{
    pthread_t thread;
    struct sc_exec_fault fault = {0};
    struct sc_launch_report report = {0};
    struct sc_launch launch = {.grid = {run->blocks, 1, 1},
                               .block = {run->threads, 1, 1},
                               .params = &out,
                               .param_bytes = sizeof out,
                               .report = &report,
                               .cancel = &cancelled};
    cancelled = 0;
    pthread_create(&thread, NULL, cancel_later, &run->seconds);
    run->status = sc_kernel_launch(module, 0, &launch, &fault);
    run->native = report.native;
    cancelled = 1;
    pthread_join(thread, NULL);
}

static void finish(const char *text, const char *mode, uint32_t blocks,
                   uint32_t threads)
{
    struct run run = {.text = text,
                      .mode = mode,
                      .blocks = blocks,
                      .threads = threads,
                      .seconds = 50};
    enter_room();
    use_shared_cache();
    setenv("SOFTCUDA_NATIVE", run.mode, 1);
    device_open();
    struct sc_module *module = device_load(run.text);
    uint32_t *out = device_alloc((size_t)WORDS * 8);
    launch(&run, out, module);
    ck_assert_int_eq(run.status, SC_EXEC_OK);
    for (uint32_t i = 0; i < run.blocks; i++)
        ck_assert_uint_eq(out[i], i + 1);
    ck_assert_uint_eq(run.native,
                      strcmp(run.mode, "wait") == 0 ? run.blocks : 0);
    sc_module_unload(module);
    device_close();
}

/* Block %r0 of %r1; %d1 is its word, %d2 the flags. */
#define HEAD                                                                   \
    PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"                         \
             ".reg .b32 %r<8>;.reg .b64 %d<8>;.reg .pred %p<4>;\n"             \
             "ld.param.u64 %d0,[out];\nmov.u32 %r0,%ctaid.x;\n"                \
             "mov.u32 %r1,%nctaid.x;\nsub.u32 %r1,%r1,1;\n"                    \
             "mul.wide.u32 %d1,%r0,4;\nadd.u64 %d1,%d0,%d1;\n"                 \
             "add.u64 %d2,%d0,4096;\nadd.u32 %r2,%r0,1;\n"                     \
             "setp.eq.u32 %p0,%r0,%r1;\nmov.u32 %r3,0;\n"
#define END "st.global.u32 [%d1],%r2;\nret;\n}\n"

/* All wait for the last. */
#define WAIT(load)                                                             \
    HEAD "@%p0 st.global.u32 [%d2],%r2;\n@%p0 bra E;\n"                        \
         "W: " load ".u32 %r3,[%d2];\nsetp.eq.u32 %p1,%r3,0;\n"                \
         "@%p1 bra W;\nE: " END

START_TEST(blocks_that_wait_for_the_last_end)
{
    finish(WAIT("ld.volatile.global"), "off", 32, 256);
}
END_TEST

START_TEST(unmarked_loads_may_wait_as_well)
{
    finish(WAIT("ld.global"), "off", 20, 32);
}
END_TEST

/* Each waits for the next one. */
START_TEST(chain_of_blocks_ends)
{
    finish(HEAD "@%p0 bra E;\n"
                "W: ld.relaxed.gpu.global.u32 %r3,[%d1+4];\n"
                "setp.eq.u32 %p1,%r3,0;\n@%p1 bra W;\nE: " END,
           "off", BLOCKS, 1);
}
END_TEST

/* Another flag in each round: the generator takes that for no wait. */
START_TEST(native_blocks_that_wait_for_the_last_end)
{
    finish(HEAD "add.u64 %d3,%d2,0;\nadd.u64 %d4,%d2,64;\n@!%p0 bra W;\n"
                "S: st.global.u32 [%d3],%r2;\nadd.u64 %d3,%d3,4;\n"
                "setp.lt.u64 %p1,%d3,%d4;\n@%p1 bra S;\nbra.uni E;\n"
                "W: add.u32 %r4,%r4,4;\nand.b32 %r4,%r4,63;\n"
                "cvt.u64.u32 %d5,%r4;\nadd.u64 %d5,%d5,%d2;\n"
                "ld.volatile.global.u32 %r3,[%d5];\nsetp.eq.u32 %p2,%r3,0;\n"
                "@%p2 bra W;\nE: " END,
           "wait", BLOCKS, 64);
}
END_TEST

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

/* Of 1024 threads four multiprocessors hold 8. */
START_TEST(what_waits_for_long_says_so_once)
{
    char said[2048];
    struct run run = {
        WAIT("ld.volatile.global"), "off", 10, 1024, 13, SC_EXEC_OK, 0};
    enter_room();
    setenv("SOFTCUDA_NATIVE", "off", 1);
    int kept = dup(2);
    ck_assert_ptr_nonnull(freopen(in_room("said"), "w", stderr));
    device_open();
    struct sc_module *module = device_load(run.text);
    launch(&run, device_alloc((size_t)WORDS * 8), module);
    sc_module_unload(module);
    device_close();
    fflush(stderr);
    dup2(kept, 2);
    FILE *file = fopen(in_room("said"), "r");
    ck_assert_ptr_nonnull(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    ck_assert_int_eq(run.status, SC_EXEC_TIMEOUT);
    ck_assert_msg(count(said, "softcuda: kernel 'k': none of its blocks has "
                              "ended for 10 s: block (") == 1 &&
                      count(said, "\n") == 1,
                  "%s", said);
    ck_assert_msg(strstr(said, ", 0, 0) at line "), "%s", said);
    ck_assert_msg(strstr(said, "; 2 begin only when others end, for a device "
                               "holds 8 at a time\n"),
                  "%s", said);
}
END_TEST

SUITE_MAIN("softcuda: resident blocks", 60, blocks_that_wait_for_the_last_end,
           unmarked_loads_may_wait_as_well, chain_of_blocks_ends,
           native_blocks_that_wait_for_the_last_end,
           what_waits_for_long_says_so_once)
