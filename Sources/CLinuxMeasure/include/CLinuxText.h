// How wide text is on a terminal.
#ifndef CLINUX_TEXT_H
#define CLINUX_TEXT_H
#include <stdint.h>

/// How many columns of a terminal a Unicode scalar takes, wcwidth(3), whatever the process's locale; 1 if the C library does
/// not know it. 0 for marks that combine, 2 for wide characters. Thread-safe.
int clinux_columns(uint32_t scalar);

#endif
