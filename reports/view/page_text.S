// The built page as read-only data; JPROF_VIEW_PAGE is its path.
    .section .rodata
    .globl jprof_view_page_begin
    .globl jprof_view_page_end
    .hidden jprof_view_page_begin
    .hidden jprof_view_page_end
jprof_view_page_begin:
    .incbin JPROF_VIEW_PAGE
jprof_view_page_end:
    .section .note.GNU-stack,"",%progbits
