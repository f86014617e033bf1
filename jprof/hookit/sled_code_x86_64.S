// What patched sleds of XRay (sleds.cc) call on x86-64, and the call that keeps vector registers.
// A sled has pushed the number of its function. All registers and the arithmetic flags may have the
// program's values and keep them; the handlers (sled_handlers.cc) are compiled for general registers
// only.
#if defined(__x86_64__)

        .text

        .macro  KEEP register
        push    \register
        .cfi_adjust_cfa_offset 8
        .endm
        .macro  RESTORE register
        pop     \register
        .cfi_adjust_cfa_offset -8
        .endm

// The stack: the return address of the sled if it is a call (`called` is its size, else 0), the
// number, then the return address of the function, whose address is the frame's stack pointer.
        .macro  SLED name, handler, called
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 5
\name:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        .cfi_offset %rip, -8 - \called
        KEEP    %rax
        lahf
        seto    %al
        KEEP    %rax
        KEEP    %rcx
        KEEP    %rdx
        KEEP    %rsi
        KEEP    %rdi
        KEEP    %r8
        KEEP    %r9
        KEEP    %r10
        KEEP    %r11
        .if     \called
        lea     -8(%rsp), %rsp
        .cfi_adjust_cfa_offset 8
        .endif
        mov     80 + 2*\called(%rsp), %edi
        lea     88 + 2*\called(%rsp), %rsi
        call    *\handler(%rip)
        .if     \called
        lea     8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        .endif
        RESTORE %r11
        RESTORE %r10
        RESTORE %r9
        RESTORE %r8
        RESTORE %rdi
        RESTORE %rsi
        RESTORE %rdx
        RESTORE %rcx
        RESTORE %rax
        add     $127, %al               // overflows if al is 1
        sahf
        RESTORE %rax
        .if     \called
        ret     $8
        .else
        lea     8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .endif
        .cfi_endproc
        .size   \name, . - \name
        .endm

// Called at a function's first instruction, and before its jump to another function. The third is
// in place of its return.
        SLED    jprof_entry_sled, jprof_sled_enter, 8
        SLED    jprof_tail_sled, jprof_sled_leave, 8
        SLED    jprof_exit_sled, jprof_sled_leave, 0

// engine/function_events.h declares it. The seventh argument, the function to call, is on the stack.
        .macro  EACH_VECTOR do, move, register, bytes
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        \do    \move, \register\n, \n*\bytes
        .endr
        .endm
        .macro  EACH_AVX512 do
        EACH_VECTOR \do, vmovups, zmm, 64
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \do    vmovups, zmm\n, \n*64
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        \do    kmovq, k\n, 32*64 + \n*8
        .endr
        .endm
        .macro  STORE move, register, at
        \move   %\register, \at(%rsp)
        .endm
        .macro  LOAD move, register, at
        \move   \at(%rsp), %\register
        .endm

        .globl  jprof_with_vectors_kept
        .hidden jprof_with_vectors_kept
        .type   jprof_with_vectors_kept, @function
        .p2align 5
jprof_with_vectors_kept:
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        cmpb    $32, jprof_vector_bytes(%rip)
        ja      3f
        lea     -16*32(%rsp), %rsp
        je      2f
        and     $-16, %rsp
        EACH_VECTOR STORE, movaps, xmm, 16
        call    *16(%rbp)
        EACH_VECTOR LOAD, movaps, xmm, 16
        jmp     4f
2:      and     $-32, %rsp
        EACH_VECTOR STORE, vmovaps, ymm, 32
        call    *16(%rbp)
        EACH_VECTOR LOAD, vmovaps, ymm, 32
        jmp     4f
3:      sub     $32*64 + 8*8, %rsp
        and     $-64, %rsp
        EACH_AVX512 STORE
        call    *16(%rbp)
        EACH_AVX512 LOAD
4:      leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   jprof_with_vectors_kept, . - jprof_with_vectors_kept

#endif
        .section .note.GNU-stack, "", @progbits
