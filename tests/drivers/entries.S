/*
 * The exports of the planted driver: each adds one to its place of
 * planted_counts and jumps to what planted.c put into its place of
 * planted_targets, both in the order of entries.def.
 *
 * With planted_marks set it comes back here: the caller's return address waits in
 * planted_inside meanwhile, whose depth says that this thread is in the driver.
 * Nothing of it is on the stack, where arguments are.
 */
#if defined(__x86_64__)

.macro ENTRY name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    lock incq (planted_counts + 8 * \@)(%rip)
    movq (planted_targets + 8 * \@)(%rip), %r11
    cmpb $0, planted_marks(%rip)
    jne planted_go_in
    jmpq *%r11
    .cfi_endproc
    .size \name, . - \name
.endm

    .hidden planted_marks, planted_inside
    .text
    .type planted_go_in, @function
planted_go_in:
    movq planted_inside@gottpoff(%rip), %r10
    movq %fs:(%r10), %rax
    cmpq $PLANTED_DEPTH, %rax
    jae 1f
    incq %fs:(%r10)
    addq %fs:0, %r10
    popq 8(%r10, %rax, 8)
    leaq planted_come_out(%rip), %rax
    pushq %rax
1:  jmpq *%r11
    .size planted_go_in, . - planted_go_in

    .type planted_come_out, @function
planted_come_out:
    movq planted_inside@gottpoff(%rip), %r10
    decq %fs:(%r10)
    movq %fs:(%r10), %r11
    addq %fs:0, %r10
    jmpq *8(%r10, %r11, 8)
    .size planted_come_out, . - planted_come_out

#elif defined(__aarch64__)

.macro ENTRY name
    .globl \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
    hint #34
    adrp x9, planted_counts + 8 * \@
    add x9, x9, #:lo12:planted_counts + 8 * \@
1:  ldxr x10, [x9]
    add x10, x10, #1
    stxr w11, x10, [x9]
    cbnz w11, 1b
    adrp x16, planted_targets + 8 * \@
    ldr x16, [x16, #:lo12:planted_targets + 8 * \@]
    br x16
    .cfi_endproc
    .size \name, . - \name
.endm

#else
#error "entries: x86-64 and aarch64 only"
#endif

    .hidden planted_targets, planted_counts
    .text
#define SC_ENTRY(symbol, version, stream, name) ENTRY name
#define SC_REFUSED SC_ENTRY
#include "driver/entries.def"

    .section .note.GNU-stack, "", %progbits
