// Files, as OperationEngine and its recorder use them.
#ifndef CLINUX_FILES_H
#define CLINUX_FILES_H
#include <stdbool.h>
#include <stddef.h>

/// access(2) with F_OK.
bool clinux_exists(const char *path);

/// Reads the beginning of a file. Returns how many bytes: 0 if it cannot be read.
size_t clinux_read_file(const char *path, void *bytes, size_t capacity);

/// Opens a file for writing, and makes or empties it. Returns the descriptor, or a negative errno value. `is_regular`, if
/// it is not NULL, becomes whether it is a regular file, not a pipe or a terminal. open(2), fstat(2).
int clinux_create_file(const char *path, bool *is_regular);

/// Writes all bytes, also if signals interrupt it. Returns 0 or an errno value. write(2).
int clinux_write_all(int file, const void *bytes, size_t length);

void clinux_close(int file);

/// Returns 0 or an errno value. rename(2).
int clinux_rename(const char *from, const char *to);

/// The path of the running program, without a zero at the end. Returns its length: 0 if it is unknown.
size_t clinux_program_path(char *path, size_t capacity);

#endif
