/*
 * Blocks start in the order of their numbers, however many workers there are,
 * and there are as many workers as the process may use processors.
 */
#include "build_test.h"

#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "../ptx/device.h"
#include "exec/processors.h"

enum { BLOCKS = 64 };

static volatile int cancelled;

static void *cancel_later(void *seconds)
{
    for (int i = 0; i < *(int *)seconds * 20 && !cancelled; i++)
        usleep(50000);
    cancelled = 1;
    return NULL;
}

/* Run over BLOCKS blocks of one thread, but no longer than `seconds`. */
static void run(const struct sc_module *module, const uint32_t *out,
                int seconds)
{
    pthread_t thread;
    struct sc_exec_fault fault = {0};
    struct sc_launch launch = {.grid = {BLOCKS, 1, 1},
                               .block = {1, 1, 1},
                               .params = &out,
                               .param_bytes = sizeof out,
                               .cancel = &cancelled};
    cancelled = 0;
    pthread_create(&thread, NULL, cancel_later, &seconds);
    enum sc_exec_status status = sc_kernel_launch(module, 0, &launch, &fault);
    cancelled = 1;
    pthread_join(thread, NULL);
    ck_assert_msg(status == SC_EXEC_OK, "%d: %s", status, fault.text);
}

/* As code without optimisation waits: with loads that nothing marks. */
static const char waits[] =
    PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"
             ".reg .b32 %r<8>;.reg .b64 %d<4>;.reg .pred %p<4>;\n"
             "ld.param.u64 %d0,[out];\nmov.u32 %r0,%ctaid.x;\n"
             "mul.wide.u32 %d1,%r0,4;\nadd.u64 %d1,%d0,%d1;\n"
             "ld.global.u32 %r3,[%d0+1024];\nadd.u32 %r3,%r3,0;\n"
             "mov.u32 %r1,0;\nW: add.u32 %r1,%r1,1;\n"
             "setp.lt.u32 %p0,%r1,20000;\n@%p0 bra W;\n"
             "setp.eq.u32 %p1,%r0,0;\n@%p1 bra B;\n"
             "A: ld.global.u32 %r2,[%d1+-4];\n"
             "setp.le.u32 %p2,%r2,%r3;\n@%p2 bra A;\n"
             "B: add.u32 %r4,%r3,1;\nst.global.u32 [%d1],%r4;\nret;\n}\n";

/* While its code is compiled a kernel runs with a worker less. */
START_TEST(block_that_waits_for_the_one_before_it_ends)
{
    enter_room();
    use_script("exec sleep 20");
    device_open();
    struct sc_module *module = device_load(waits);
    uint32_t *out = device_alloc(2048);
    for (uint32_t round = 0; round < 8; round++) {
        out[256] = round;
        run(module, out, 5);
        for (int i = 0; i < BLOCKS; i++)
            ck_assert_uint_eq(out[i], round + 1);
    }
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(tickets_follow_the_numbers_of_blocks)
{
    static const char ptx[] =
        PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"
                 ".reg .b32 %r<8>;.reg .b64 %d<4>;\n"
                 "ld.param.u64 %d0,[out];\nmov.u32 %r0,%ctaid.x;\n"
                 "mul.wide.u32 %d1,%r0,4;\nadd.u64 %d1,%d0,%d1;\n"
                 "atom.global.add.u32 %r1,[%d0+1024],1;\n"
                 "st.global.u32 [%d1],%r1;\nret;\n}\n";
    setenv("SOFTCUDA_NATIVE", "off", 1);
    device_open();
    sc_exec_fini();
    for (int workers = 1; workers <= 8; workers++) {
        ck_assert(sc_exec_init(workers));
        struct sc_module *module = device_load(ptx);
        uint32_t *out = device_alloc(2048);
        run(module, out, 20);
        /* a worker that has taken a block may be held up before its ticket */
        for (int i = 0; i < BLOCKS && workers == 1; i++)
            ck_assert_uint_eq(out[i], i);
        ck_assert_uint_eq(out[256], BLOCKS);
        sc_module_unload(module);
        sc_exec_fini();
    }
    ck_assert(sc_exec_init(1));
    device_close();
}
END_TEST

START_TEST(workers_are_as_many_as_processors_may_be_used)
{
    static const char ptx[] =
        PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"
                 ".reg .b32 %r<2>;.reg .b64 %d<2>;\n"
                 "ld.param.u64 %d0,[out];\nmov.u32 %r0,%nsmid;\n"
                 "st.global.u32 [%d0],%r0;\nret;\n}\n";
    cpu_set_t all, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    ck_assert_uint_le(sc_processors(), (uint32_t)CPU_COUNT(&all));
    device_open();
    sc_exec_fini();
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert(sc_exec_init(0));
    struct sc_module *module = device_load(ptx);
    uint32_t *out = device_alloc(64);
    run(module, out, 20);
    ck_assert_uint_eq(*out, 1);
    sc_module_unload(module);
    device_close();
    sched_setaffinity(0, sizeof all, &all);
}
END_TEST

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_room(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(control_groups_pay_for_processors)
{
    char of[PATH_MAX];
    enter_room();
    snprintf(of, sizeof of, "%s", in_room("of"));
    mkdir(in_room("a"), 0700);
    mkdir(in_room("a/b"), 0700);
    put("of", "9:name=systemd:/x\n0::/a/b\n");
    ck_assert_uint_eq(sc_processors_paid(of, room), UINT32_MAX);
    put("a/b/cpu.max", "max 100000\n");
    ck_assert_uint_eq(sc_processors_paid(of, room), UINT32_MAX);
    put("a/cpu.max", "250000 100000\n");
    ck_assert_uint_eq(sc_processors_paid(of, room), 3);
    put("a/b/cpu.max", "50000 100000\n");
    ck_assert_uint_eq(sc_processors_paid(of, room), 1);
    put("of", "0::/elsewhere\n");
    ck_assert_uint_eq(sc_processors_paid(of, room), UINT32_MAX);
    put("cpu.max", "200000 100000\n");
    ck_assert_uint_eq(sc_processors_paid(of, room), 2);
    ck_assert_uint_eq(sc_processors_paid(in_room("none"), room), UINT32_MAX);
}
END_TEST

SUITE_MAIN("softcuda: order of blocks", 60,
           block_that_waits_for_the_one_before_it_ends,
           tickets_follow_the_numbers_of_blocks,
           workers_are_as_many_as_processors_may_be_used,
           control_groups_pay_for_processors)
