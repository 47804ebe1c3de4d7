/*
 * Stubs: ask hook_*_answer, and without an answer jump to the real function so
 * that it sees the caller's return address (see interpose/loader.h).
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

#else
#error "stubs: x86-64 and aarch64 only"
#endif

    .irp name, dlsym, dlvsym, getcontext, __sigsetjmp
    .hidden hook_next_\name
    .hidden hook_\name\()_answer
    .endr

    .text
    STUB dlsym
    STUB dlvsym
    STUB getcontext
    STUB __sigsetjmp

    .section .note.GNU-stack, "", %progbits
