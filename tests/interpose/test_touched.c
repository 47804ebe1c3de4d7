/*
 * Launches of kernels whose PTX says which bytes they touch: the rest of an
 * object stays with the CPU, and what is touched is neither old nor lost.
 *
 * Meson runs it preloaded, under every protocol, with small blocks and with the
 * option off.
 */
#include "tests/interpose/stays.h"

#include <stdbool.h>

enum { WORDS = 1 << 19, BYTES = 4 * WORDS, THREADS = 128 };

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define ENTRY(name)                                                            \
    ".visible .entry " name "(.param .u64 a, .param .u64 b, .param .u32 n,"    \
    ".param .u32 step)\n{\n.reg .b64 %a, %b, %t, %u; .reg .pred %p, %q;\n"     \
    ".reg .b32 %g, %i, %n, %o, %s, %v, %w, %x, %y, %z, %all, %by;\n"           \
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u32 %n, [n];"        \
    "ld.param.u32 %s, [step]; mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x;"      \
    "mov.u32 %z, %tid.x; mad.lo.s32 %g, %x, %y, %z;"
/* b[index] = a[index] + 1 */
#define STEP(index)                                                            \
    "mad.wide.s32 %t, " index ", 4, %a; ld.global.u32 %v, [%t];"               \
    "add.u32 %w, %v, 1; mad.wide.s32 %u, " index ", 4, %b;"                    \
    "st.global.u32 [%u], %w;"

static const char text[] = HEAD
    /* for i < n */
    ENTRY("guarded") "setp.ge.s32 %p, %g, %n; @%p bra END;" STEP(
        "%g") "END: ret; }\n"
    /* for i = 0, step, 2 * step ... below n, each thread some of them */
    ENTRY("strided") "mov.u32 %o, %nctaid.x; mul.lo.s32 %all, %o, %y;"
                     "mul.lo.s32 %by, %all, %s; mul.lo.s32 %i, %g, %s;"
                     "LOOP: setp.ge.s32 %p, %i, %n; @%p bra END;" STEP(
                         "%i") "add.s32 %i, %i, %by; bra LOOP; END: ret; }\n"
    /* by one thread, with pointers that advance, n times */
    ENTRY("walking") "setp.ne.s32 %p, %g, 0; @%p bra END;"
                     "setp.lt.s32 %q, %n, 1; @%q bra END;"
                     "mul.wide.s32 %t, %s, 4; LOOP: ld.global.u32 %v, [%a];"
                     "add.u32 %w, %v, 1; st.global.u32 [%b], %w;"
                     "add.s64 %a, %a, %t; add.s64 %b, %b, %t;"
                     "add.s32 %n, %n, -1; setp.ne.s32 %p, %n, 0;"
                     "@%p bra LOOP; END: ret; }\n"
    /* b[a[i]] = i for i < n: nobody knows where */
    ENTRY("scattered") "setp.ge.s32 %p, %g, %n; @%p bra END;"
                       "mad.wide.s32 %t, %g, 4, %a; ld.global.u32 %v, [%t];"
                       "mad.wide.s32 %u, %v, 4, %b; st.global.u32 [%u], %g;"
                       "END: ret; }\n";

struct array {
    volatile uint32_t *at;
    uint32_t model[WORDS];
};

static struct array a, b, other;
static CUmodule module;

static void make(struct array *array, uint32_t first)
{
    array->at = (volatile uint32_t *)(void *)device_bytes(BYTES, 0);
    for (uint32_t i = 0; i < WORDS; i++)
        array->at[i] = array->model[i] = first + i;
}

static void start(void)
{
    device_start();
    must(cuModuleLoadData(&module, text));
    make(&a, 1000);
    make(&b, 2000);
    make(&other, 3000);
}

static void launch(const char *name, uint32_t from, uint32_t n, uint32_t step,
                   uint32_t blocks)
{
    CUfunction kernel;
    uint64_t pa = (uintptr_t)(a.at + from), pb = (uintptr_t)(b.at + from);
    void *arguments[] = {&pa, &pb, &n, &step};
    must(cuModuleGetFunction(&kernel, module, name));
    must(cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, NULL, arguments,
                        NULL));
}

static void check(struct array *array)
{
    for (uint32_t i = 0; i < WORDS; i++)
        if (array->at[i] != array->model[i])
            ck_abort_msg("[%u]: %u, not %u", i, array->at[i], array->model[i]);
}

/* Lazy has one block for an object. */
static bool keeps_parts(void)
{
    const char *protocol = getenv("ADSM_PROTOCOL");
    return keeps() && (!protocol || strcmp(protocol, "lazy") != 0);
}

START_TEST(the_rest_of_an_array_stays)
{
    const uint32_t n = WORDS / 4;
    start();
    launch("guarded", 0, n, 0, n / THREADS + 1);
    for (uint32_t i = 0; i < n; i++)
        b.model[i] = a.model[i] + 1;
    ck_assert(!is_open(b.at));
    ck_assert(!is_open(b.at + n - 1));
    ck_assert_int_eq(is_open(b.at + n + WORDS / 4), keeps_parts());
    ck_assert_int_eq(is_open(b.at + WORDS - 1), keeps_parts());
    ck_assert_int_eq(is_open(a.at), keeps());
    check(&b);
    check(&a);
}
END_TEST

/* One word in each second eighth of an array. */
START_TEST(what_lies_between_rows_stays)
{
    const uint32_t step = WORDS / 4, from = step / 2;
    start();
    launch("strided", from, 4 * step - from, step, 1);
    for (uint32_t i = from; i < WORDS; i += step)
        b.model[i] = a.model[i] + 1;
    for (uint32_t i = 0; i < WORDS; i += step) {
        ck_assert(!is_open(b.at + i + from));
        ck_assert_int_eq(is_open(b.at + i), keeps_parts());
        ck_assert_int_eq(is_open(b.at + i + step / 4), keeps_parts());
    }
    check(&b);
    check(&a);
}
END_TEST

/* What was not sent is still there for the kernel that wants it. */
START_TEST(what_is_not_touched_is_sent_later)
{
    const uint32_t half = WORDS / 2;
    start();
    a.at[half + 5] = a.model[half + 5] = 77;
    launch("guarded", 0, half, 0, half / THREADS);
    a.at[half + 6] = a.model[half + 6] = 78;
    launch("guarded", half, half, 0, half / THREADS);
    for (uint32_t i = 0; i < WORDS; i++)
        b.model[i] = a.model[i] + 1;
    check(&b);
    check(&a);
    check(&other);
}
END_TEST

/* Launches of pieces with anything between them, of CPU and device. */
START_TEST(pieces_are_what_they_would_be)
{
    uint32_t state = 4711 + (uint32_t)_i;
    start();
    for (int round = 0; round < 20; round++) {
        state = state * 1103515245 + 12345;
        uint32_t from = (state >> 8) % (WORDS / 2);
        state = state * 1103515245 + 12345;
        uint32_t n = (state >> 8) % (WORDS / 4), step = 1 + (state >> 28);
        const char *name = round % 3 == 0   ? "guarded"
                           : round % 3 == 1 ? "strided"
                                            : "walking";
        uint32_t walked = n / step > 20000 ? 20000 : n / step;
        if (round % 3 == 0)
            step = 1;
        if (round % 3 == 2)
            launch(name, from, walked, step, 2);
        else
            launch(name, from, n, step, round % 3 ? 4 : n / THREADS + 3);
        uint32_t end = round % 3 == 2 ? walked * step : n;
        for (uint32_t i = 0; i < end; i += step)
            b.model[from + i] = a.model[from + i] + 1;
        for (int k = 0; k < 8; k++) {
            state = state * 1103515245 + 12345;
            uint32_t at = (state >> 4) % WORDS;
            ck_assert_uint_eq(b.at[at], b.model[at]);
            a.at[at] = a.model[at] = state;
            b.at[at / 2] = b.model[at / 2] = state + 1;
        }
    }
    check(&b);
    check(&a);
    check(&other);
}
END_TEST

START_TEST(scattered_writes_take_the_array)
{
    const uint32_t n = 1000;
    start();
    for (uint32_t i = 0; i < n; i++)
        a.at[i] = a.model[i] = WORDS - 1 - 500 * i;
    launch("scattered", 0, n, 0, n / THREADS + 1);
    for (uint32_t i = 0; i < n; i++)
        b.model[a.model[i]] = i;
    ck_assert_int_eq(is_open(other.at), keeps());
    check(&b);
    check(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("what launches touch");
    TCase *one = tcase_create("cases");
    tcase_set_timeout(one, 100);
    tcase_add_test(one, the_rest_of_an_array_stays);
    tcase_add_test(one, what_lies_between_rows_stays);
    tcase_add_test(one, what_is_not_touched_is_sent_later);
    tcase_add_loop_test(one, pieces_are_what_they_would_be, 0, 2);
    tcase_add_test(one, scattered_writes_take_the_array);
    suite_add_tcase(suite, one);
    return suite_finish(suite);
}
