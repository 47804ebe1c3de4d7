/*
 * A context of a signal handler, made for registers that a test wants: what the
 * kernel saved of a thread once, with others in their places. Lock: none.
 */
#ifndef TESTS_OS_MADE_H
#define TESTS_OS_MADE_H

#include "os/instruction.h"

static struct {
    ucontext_t context;
    uint8_t state[16 << 10] __attribute__((aligned(64)));
} made;

enum {
    AT_ABOUT = 464, /* magic number, size, room for parts; in the state */
    AT_USED = 512,  /* parts that are not 0 */
    AT_UPPER = 576, /* the upper halves of vectors */
    PART_UPPER = 4,
    FLAG_RESUME = 0x10000, /* as after any fault */
};

static inline void on_capture(int signal, siginfo_t *info, void *context)
{
    uint32_t about[2];
    made.context = *(ucontext_t *)context;
    const uint8_t *state = (const void *)made.context.uc_mcontext.fpregs;
    memcpy(about, state + AT_ABOUT, sizeof about);
    size_t bytes = about[0] == FP_XSTATE_MAGIC1 ? about[1] : AT_USED;
    memcpy(made.state, state, bytes < sizeof made.state ? bytes : AT_USED);
    made.context.uc_mcontext.fpregs = (void *)made.state;
}

static inline void make_context(const struct registers *in, const uint8_t *at)
{
    static const int number[] = {
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    greg_t *general = made.context.uc_mcontext.gregs;
    for (int i = 0; i < 16; i++) {
        general[number[i]] = (greg_t)in->general[i];
        memcpy(made.context.uc_mcontext.fpregs->_xmm + i, in->vector[i], 16);
        /* What is not in use is not 0 there, but counts as that. */
        memcpy(made.state + AT_UPPER + 16 * i,
               in->vector[i] + (in->upper_unused ? 0 : 16), 16);
    }
    general[REG_RIP] = (greg_t)at;
    general[REG_EFL] = (greg_t)in->flags | FLAG_RESUME;
    made.state[AT_USED] &= (uint8_t)~PART_UPPER;
    made.state[AT_USED] |= in->upper_unused ? 0 : PART_UPPER;
}

static inline void made_begin(void)
{
    struct sigaction capture = {.sa_sigaction = on_capture,
                                .sa_flags = SA_SIGINFO};
    ck_assert_int_eq(sigaction(SIGUSR1, &capture, NULL), 0);
    raise(SIGUSR1);
}

#endif
