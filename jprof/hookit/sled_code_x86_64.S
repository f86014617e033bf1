// What patched sleds of XRay (sleds.cc) call on x86-64, and the call that keeps vector registers.
// A sled has put the number of its function into r10d. All other registers may have the program's
// values; the handlers (sled_handlers.cc) are compiled for general registers only.
#if defined(__x86_64__)

        .text

// At a function's first instruction, and before a jump to another function. The stack: the return
// address of the sled, then that of the function, whose address is the frame's stack pointer.
        .macro  CALLED_SLED name, handler
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 5
\name:
        .cfi_startproc
        push    %rax
        .cfi_adjust_cfa_offset 8
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %r8
        .cfi_adjust_cfa_offset 8
        push    %r9
        .cfi_adjust_cfa_offset 8
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        mov     %r10d, %edi
        lea     72(%rsp), %rsi
        call    *\handler(%rip)
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        pop     %r9
        .cfi_adjust_cfa_offset -8
        pop     %r8
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        CALLED_SLED jprof_entry_sled, jprof_sled_enter
        CALLED_SLED jprof_tail_sled, jprof_sled_leave

// In place of a function's return: rax and rdx have its result.
        .globl  jprof_exit_sled
        .hidden jprof_exit_sled
        .type   jprof_exit_sled, @function
        .p2align 5
jprof_exit_sled:
        .cfi_startproc
        push    %rax
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        mov     %r10d, %edi
        lea     24(%rsp), %rsi
        call    *jprof_sled_leave(%rip)
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   jprof_exit_sled, . - jprof_exit_sled

// engine/events.h declares it. The seventh argument, the function to call, is on the stack.
        .macro  KEEP_VECTORS move, register, bytes
        \move   %\register\()0, 0*\bytes(%rsp)
        \move   %\register\()1, 1*\bytes(%rsp)
        \move   %\register\()2, 2*\bytes(%rsp)
        \move   %\register\()3, 3*\bytes(%rsp)
        \move   %\register\()4, 4*\bytes(%rsp)
        \move   %\register\()5, 5*\bytes(%rsp)
        \move   %\register\()6, 6*\bytes(%rsp)
        \move   %\register\()7, 7*\bytes(%rsp)
        .endm
        .macro  RESTORE_VECTORS move, register, bytes
        \move   0*\bytes(%rsp), %\register\()0
        \move   1*\bytes(%rsp), %\register\()1
        \move   2*\bytes(%rsp), %\register\()2
        \move   3*\bytes(%rsp), %\register\()3
        \move   4*\bytes(%rsp), %\register\()4
        \move   5*\bytes(%rsp), %\register\()5
        \move   6*\bytes(%rsp), %\register\()6
        \move   7*\bytes(%rsp), %\register\()7
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
        sub     $256, %rsp
        and     $-32, %rsp
        cmpb    $0, jprof_has_avx(%rip)
        jne     1f
        KEEP_VECTORS movaps, xmm, 16
        call    *16(%rbp)
        RESTORE_VECTORS movaps, xmm, 16
        jmp     2f
1:      KEEP_VECTORS vmovaps, ymm, 32
        call    *16(%rbp)
        RESTORE_VECTORS vmovaps, ymm, 32
2:      leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   jprof_with_vectors_kept, . - jprof_with_vectors_kept

#endif
        .section .note.GNU-stack, "", @progbits
