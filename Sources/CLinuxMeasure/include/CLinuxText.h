// The width of text on a terminal.
#ifndef CLINUX_TEXT_H
#define CLINUX_TEXT_H
#include <stdint.h>

/// The number of terminal columns of a Unicode scalar, wcwidth(3), whatever the process's locale; 1 if the C library
/// does not know it. 0 for combining marks, 2 for wide characters. Thread-safe.
int clinux_columns(uint32_t scalar);

#endif
