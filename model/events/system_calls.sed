# Makes rows of a table in C++ of the macros of <asm/unistd.h>.
s/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/{\2, "\1"},/p
