/*
 * Instructions that are not told as stores (os/store.h), and states of a thread in
 * which none or not all are.
 */
#include "common/no_handler.h"
#include "os/store.h"

#if defined(__x86_64__)

#include "os/made.h"

/* All store to (%rax), or would; VEX and EVEX by hand, for any assembler. */
static const struct {
    const char *name;
    uint8_t length, bytes[INSTRUCTION_MOST];
} refused[] = {
    {"add", 2, {0x01, 0x18}},
    {"xor imm", 3, {0x80, 0x30, 1}},
    {"inc", 2, {0xfe, 0x00}},
    {"neg", 2, {0xf7, 0x18}},
    {"shl", 2, {0xd1, 0x20}},
    {"lock add", 3, {0xf0, 0x01, 0x18}},
    {"lock mov", 3, {0xf0, 0x89, 0x18}},
    {"xchg", 2, {0x87, 0x18}},
    {"cmpxchg", 3, {0x0f, 0xb1, 0x18}},
    {"cmpxchg16b", 4, {0x48, 0x0f, 0xc7, 0x08}},
    {"xadd", 3, {0x0f, 0xc1, 0x18}},
    {"bts", 3, {0x0f, 0xab, 0x18}},
    {"setc", 3, {0x0f, 0x92, 0x00}},
    {"stosb", 1, {0xaa}},
    {"rep stosb", 2, {0xf3, 0xaa}},
    {"rep movsq", 3, {0xf3, 0x48, 0xa5}},
    {"push", 1, {0x50}},
    {"push of memory", 2, {0xff, 0x30}},
    {"pop", 2, {0x8f, 0x00}},
    {"call", 2, {0xff, 0x10}},
    {"enter", 4, {0xc8, 0, 0, 0}},
    {"mov from segment", 2, {0x8c, 0x18}},
    {"mov to far", 9, {0xa2, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"mov fs:", 3, {0x64, 0x89, 0x18}},
    {"mov gs:", 3, {0x65, 0x89, 0x18}},
    {"movaps fs:", 4, {0x64, 0x0f, 0x29, 0x18}},
    {"mov (%eax)", 3, {0x67, 0x89, 0x18}},
    {"xrelease mov", 3, {0xf3, 0x89, 0x18}},
    {"mov, another group", 3, {0xc6, 0x08, 1}},
    {"mov to register", 2, {0x89, 0xc3}},
    {"load", 2, {0x8b, 0x18}},
    {"load of vector", 3, {0x0f, 0x10, 0x18}},
    {"movbe", 4, {0x0f, 0x38, 0xf1, 0x18}},
    {"movdir64b", 5, {0x66, 0x0f, 0x38, 0xf8, 0x18}},
    {"movdiri", 4, {0x0f, 0x38, 0xf9, 0x18}},
    {"movq from mmx", 3, {0x0f, 0x7f, 0x18}},
    {"movntq", 3, {0x0f, 0xe7, 0x18}},
    {"pextrd", 6, {0x66, 0x0f, 0x3a, 0x16, 0x18, 1}},
    {"fstp", 2, {0xdd, 0x18}},
    {"fxsave", 3, {0x0f, 0xae, 0x00}},
    {"stmxcsr", 3, {0x0f, 0xae, 0x18}},
    {"movss and movsd", 5, {0xf2, 0xf3, 0x0f, 0x11, 0x18}},
    {"movupd and movss", 5, {0x66, 0xf3, 0x0f, 0x11, 0x18}},
    {"vmovups with a second source", 4, {0xc5, 0xf0, 0x11, 0x18}},
    {"vmovss with L", 4, {0xc5, 0xfe, 0x11, 0x18}},
    {"vmovhps with L", 4, {0xc5, 0xfc, 0x17, 0x18}},
    {"vmovups behind rex", 5, {0x48, 0xc5, 0xf8, 0x11, 0x18}},
    {"vmovups behind 66", 5, {0x66, 0xc5, 0xf8, 0x11, 0x18}},
    {"vmovups in another map", 5, {0xc4, 0xe2, 0x78, 0x11, 0x18}},
    {"vmaskmovps", 5, {0xc4, 0xe2, 0x78, 0x2e, 0x18}},
    {"vextractf128", 6, {0xc4, 0xe3, 0x7d, 0x19, 0x18, 1}},
    {"vmovups, 64 bytes", 6, {0x62, 0xf1, 0x7c, 0x48, 0x11, 0x18}},
    {"vmovups, masked", 6, {0x62, 0xf1, 0x7c, 0x29, 0x11, 0x18}},
    {"vpcompressd", 6, {0x62, 0xf2, 0x7d, 0x28, 0x8b, 0x18}},
    {"mov of 16 bytes",
     15,
     {0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0xc7, 0x80, 0,
      0, 0}},
};

START_TEST(other_instructions_are_refused)
{
    struct adsm_stored store;
    start();
    made_begin();
    struct registers in = {.flags = FLAGS_FIXED};
    for (int i = 0; i < 16; i++)
        in.general[i] = (uintptr_t)memory + EDGE;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        memset(code, 0, INSTRUCTION_MOST + 1);
        memcpy(code, refused[i].bytes, refused[i].length);
        make_context(&in, code);
        __typeof__(made) before = made;
        ck_assert_msg(!adsm_store_decode(&made.context, &store), "%s",
                      refused[i].name);
        ck_assert_int_eq(memcmp(&before, &made, sizeof made), 0);
    }
}
END_TEST

/* movaps %xmm3, (%rax) and vmovups %ymm3, (%rax). */
static const uint8_t movaps[] = {0x0f, 0x29, 0x18},
                     vmovups[] = {0xc5, 0xfc, 0x11, 0x18};

static bool is_told(const uint8_t *bytes, size_t length, size_t offset)
{
    struct registers in = {.general = {(uintptr_t)memory + EDGE + offset}};
    memcpy(code, bytes, length);
    make_context(&in, code);
    return adsm_store_decode(&made.context, &seen.store);
}

START_TEST(vector_that_is_not_aligned_faults_another_way)
{
    start();
    made_begin();
    ck_assert(is_told(movaps, sizeof movaps, 0));
    ck_assert(!is_told(movaps, sizeof movaps, 8));
}
END_TEST

START_TEST(vector_that_the_kernel_has_not_saved_is_not_told)
{
    enum { MAGIC, PARTS = 2, BYTES = 4 };
    start();
    made_begin();
    uint32_t *about = (uint32_t *)(made.state + AT_ABOUT), saved;
    bool long_told = is_told(vmovups, sizeof vmovups, 0);
    ck_assert_int_eq(long_told, about[MAGIC] == FP_XSTATE_MAGIC1 &&
                                    about[PARTS] & PART_UPPER);
    saved = about[PARTS];
    about[PARTS] &= ~(uint32_t)PART_UPPER;
    ck_assert(!is_told(vmovups, sizeof vmovups, 0));
    about[PARTS] = saved;
    saved = about[BYTES];
    about[BYTES] = AT_UPPER;
    ck_assert(!is_told(vmovups, sizeof vmovups, 0));
    about[BYTES] = saved;
    about[MAGIC] = 0;
    ck_assert(!is_told(vmovups, sizeof vmovups, 0));
    ck_assert(is_told(movaps, sizeof movaps, 0));
}
END_TEST

START_TEST(code_that_cannot_be_read_is_not_told)
{
    struct adsm_stored store;
    start();
    made_begin();
    struct registers in = {.general = {(uintptr_t)memory + EDGE}};
    uint8_t *end = code + CODE_PAGE - sizeof movaps;
    memcpy(end, movaps, sizeof movaps);
    make_context(&in, end);
    protect(code, CODE_PAGE, PROT_EXEC);
    ck_assert(!adsm_store_decode(&made.context, &store));
    protect(code, CODE_PAGE, PROT_READ | PROT_EXEC);
    ck_assert(adsm_store_decode(&made.context, &store));
    ck_assert_uint_eq(store.next, (uintptr_t)code + CODE_PAGE);
    /* Of one that goes on in the next page. */
    end++;
    protect(code, CODE_PAGE, PROT_READ | PROT_WRITE);
    memcpy(end, movaps, sizeof movaps - 1);
    make_context(&in, end);
    ck_assert(!adsm_store_decode(&made.context, &store));
}
END_TEST

SUITE_MAIN("store_refused", 30, other_instructions_are_refused,
           vector_that_is_not_aligned_faults_another_way,
           vector_that_the_kernel_has_not_saved_is_not_told,
           code_that_cannot_be_read_is_not_told)

#else

int main(void)
{
    return 77;
}

#endif
