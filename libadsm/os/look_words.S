/*
 * Copy words of which the first that is not there ends it (os/look.h).
 */
#if defined(__x86_64__)

    .text
    .p2align 4
    .type adsm_look_words, %function
adsm_look_words:
    .cfi_startproc
    endbr64
    testq %rdx, %rdx
    jz 2f
1:
adsm_look_load:
    movq (%rsi), %rax
    movq %rax, (%rdi)
    addq $8, %rsi
    addq $8, %rdi
    decq %rdx
    jnz 1b
2:  movl $1, %eax
    ret
adsm_look_missing:
    xorl %eax, %eax
    ret
    .cfi_endproc
    .size adsm_look_words, . - adsm_look_words

#elif defined(__aarch64__)

    .text
    .p2align 4
    .type adsm_look_words, %function
adsm_look_words:
    .cfi_startproc
    hint #34
    cbz x2, 2f
1:
adsm_look_load:
    ldr x3, [x1], #8
    str x3, [x0], #8
    subs x2, x2, #1
    b.ne 1b
2:  mov w0, #1
    ret
adsm_look_missing:
    mov w0, #0
    ret
    .cfi_endproc
    .size adsm_look_words, . - adsm_look_words

#else
#error "x86-64 and aarch64 only"
#endif

    .globl adsm_look_words
    .irp name, adsm_look_load, adsm_look_missing
    .globl \name
    .hidden \name
    .endr

    .section .note.GNU-stack, "", %progbits
