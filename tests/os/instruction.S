/*
 * Enter an instruction with given registers, and come back from it with all of
 * them saved (instruction.h).
 */
#if defined(__x86_64__)

    /* Of struct registers. */
    FLAGS = 128
    UPPER_UNUSED = 136
    VECTOR = 144

.macro generals each
    \each 0, rax
    \each 1, rcx
    \each 2, rdx
    \each 3, rbx
    \each 4, rsp
    \each 5, rbp
    \each 6, rsi
    \each 7, rdi
    \each 8, r8
    \each 9, r9
    \each 10, r10
    \each 11, r11
    \each 12, r12
    \each 13, r13
    \each 14, r14
    \each 15, r15
.endm

.macro load number, name
    movq instruction_in + 8 * \number(%rip), %\name
.endm

.macro save number, name
    movq %\name, instruction_out + 8 * \number(%rip)
.endm

.macro load_vectors move, name
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \move instruction_in + VECTOR + 32 * \number(%rip), %\name\number
    .endr
.endm

.macro save_vectors move, name
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \move %\name\number, instruction_out + VECTOR + 32 * \number(%rip)
    .endr
.endm

    .text
    .globl instruction_enter, instruction_leave
    .hidden instruction_enter, instruction_leave
    .type instruction_enter, %function
instruction_enter:
    .irp name, rbx, rbp, r12, r13, r14, r15
    pushq %\name
    .endr
    pushfq
    movq %rsp, instruction_stack(%rip)
    cmpb $0, instruction_avx(%rip)
    je 1f
    load_vectors vmovdqu, ymm
    /* The processor notices: the kernel then saves no upper halves. */
    cmpq $0, instruction_in + UPPER_UNUSED(%rip)
    je 2f
    vzeroupper
    jmp 2f
1:  load_vectors movdqu, xmm
2:  pushq instruction_in + FLAGS(%rip)
    popfq
    generals load
    jmp *instruction_at(%rip)

instruction_leave:
    generals save
    movq instruction_stack(%rip), %rsp
    pushfq
    popq instruction_out + FLAGS(%rip)
    cmpb $0, instruction_avx(%rip)
    je 1f
    save_vectors vmovdqu, ymm
    vzeroupper
    jmp 2f
1:  save_vectors movdqu, xmm
2:  popfq
    .irp name, r15, r14, r13, r12, rbp, rbx
    popq %\name
    .endr
    ret
    .size instruction_enter, . - instruction_enter

#endif

    .section .note.GNU-stack, "", %progbits
