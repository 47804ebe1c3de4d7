/*
 * The exports of the planted driver: each jumps to what planted.c put into its
 * place of planted_targets, in the order of entries.def.
 */
#if defined(__x86_64__)

.macro ENTRY name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    jmpq *(planted_targets + 8 * \@)(%rip)
    .cfi_endproc
    .size \name, . - \name
.endm

#elif defined(__aarch64__)

.macro ENTRY name
    .globl \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
    hint #34
    adrp x16, planted_targets + 8 * \@
    ldr x16, [x16, #:lo12:planted_targets + 8 * \@]
    br x16
    .cfi_endproc
    .size \name, . - \name
.endm

#else
#error "entries: x86-64 and aarch64 only"
#endif

    .hidden planted_targets
    .text
#define SC_ENTRY(symbol, version, stream, name) ENTRY name
#define SC_REFUSED SC_ENTRY
#include "driver/entries.def"

    .section .note.GNU-stack, "", %progbits
