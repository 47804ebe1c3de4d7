/*
 * Stubs: ask hook_*_answer, and without an answer jump to the real function so
 * that it sees the caller's return address (see interpose/loader.h). They pass on
 * up to three arguments; the one asked gets as the fourth who calls.
 */
#if defined(__x86_64__)

.macro STUB name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    movq 24(%rsp), %rcx
    call hook_\name\()_answer
    movq %rdx, %r11
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %r11, %r11
    jnz 1f
    jmpq *hook_next_\name(%rip)
1:  ret
    .cfi_endproc
    .size \name, . - \name
.endm

.macro OUTER name
    .hidden hook_inner_\name
    .globl \name
    .type \name, @function
    .p2align 5
\name:
    .cfi_startproc
    endbr64
    jmp hook_inner_\name
    .p2align 5
    .cfi_endproc
    .size \name, . - \name
.endm

#elif defined(__aarch64__)

.macro STUB name
    .globl \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
    hint #34
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset 29, -48
    .cfi_offset 30, -40
    stp x0, x1, [sp, #16]
    str x2, [sp, #32]
    mov x29, sp
    mov x3, x30
    bl hook_\name\()_answer
    mov x9, x1
    mov x10, x0
    ldp x0, x1, [sp, #16]
    ldr x2, [sp, #32]
    ldp x29, x30, [sp], #48
    .cfi_def_cfa_offset 0
    .cfi_restore 29
    .cfi_restore 30
    cbnz x9, 1f
    adrp x16, hook_next_\name
    ldr x16, [x16, #:lo12:hook_next_\name]
    br x16
1:  mov x0, x10
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

.macro OUTER name
    .hidden hook_inner_\name
    .globl \name
    .type \name, %function
    .p2align 5
\name:
    .cfi_startproc
    hint #34
    b hook_inner_\name
    .p2align 5
    .cfi_endproc
    .size \name, . - \name
.endm

#else
#error "stubs: x86-64 and aarch64 only"
#endif

    .irp name, dlsym, dlvsym, dlopen, dlmopen, getcontext, __sigsetjmp, syscall
    .hidden hook_next_\name
    .hidden hook_\name\()_answer
    .endr

    .text
    STUB dlsym
    STUB dlvsym
    STUB dlopen
    STUB dlmopen
    STUB getcontext
    STUB __sigsetjmp

/* The seven words of syscall, in memory, and who calls. */
    .globl syscall
    .p2align 4
#if defined(__x86_64__)
    .type syscall, @function
syscall:
    .cfi_startproc
    endbr64
    subq $72, %rsp
    .cfi_adjust_cfa_offset 72
    movq 80(%rsp), %rax
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movq 72(%rsp), %rax
    movq %rax, 56(%rsp)
    movq %rsp, %rdi
    call hook_syscall_answer
    testq %rdx, %rdx
    jnz 1f
    movq (%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    addq $72, %rsp
    .cfi_adjust_cfa_offset -72
    jmpq *hook_next_syscall(%rip)
1:  .cfi_adjust_cfa_offset 72
    addq $72, %rsp
    .cfi_adjust_cfa_offset -72
    ret
    .cfi_endproc
#elif defined(__aarch64__)
    .type syscall, %function
syscall:
    .cfi_startproc
    hint #34
    stp x29, x30, [sp, #-80]!
    .cfi_def_cfa_offset 80
    .cfi_offset 29, -80
    .cfi_offset 30, -72
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x30, [sp, #64]
    mov x29, sp
    add x0, sp, #16
    bl hook_syscall_answer
    mov x9, x1
    mov x10, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldr x6, [sp, #64]
    ldp x29, x30, [sp], #80
    .cfi_def_cfa_offset 0
    .cfi_restore 29
    .cfi_restore 30
    cbnz x9, 1f
    adrp x16, hook_next_syscall
    ldr x16, [x16, #:lo12:hook_next_syscall]
    br x16
1:  mov x0, x10
    ret
    .cfi_endproc
#endif
    .size syscall, . - syscall

/* Functions that others may write over: room for their jump (inner.def). */
#define HOOK_INNER(name) OUTER name
#include "interpose/inner.def"

    .section .note.GNU-stack, "", %progbits
