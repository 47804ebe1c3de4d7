/*
 * Other names of hooked functions (hooks.def), each a jump to the wrapper.
 */

/* Another name of a wrapper: of the one here, not of one before it. */
.macro ALIAS alias, name
    .globl \alias
    .p2align 4
#if defined(__x86_64__)
    .type \alias, @function
\alias:
    .cfi_startproc
    endbr64
    jmp \name
#else
    .type \alias, %function
\alias:
    .cfi_startproc
    hint #34
    b \name
#endif
    .cfi_endproc
    .size \alias, . - \alias
.endm

    .text
#define ADSM_HOOK_ALIAS(alias, name) ALIAS alias, name
#include "interpose/hooks.def"

    .section .note.GNU-stack, "", %progbits
