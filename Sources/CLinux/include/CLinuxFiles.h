// Files, as OperationEngine and its recorder use them.
#ifndef CLINUX_FILES_H
#define CLINUX_FILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// access(2) with F_OK.
bool clinux_exists(const char *path);

/// Reads the beginning of a file. Returns how many bytes: 0 if it cannot be read.
size_t clinux_read_file(const char *path, void *bytes, size_t capacity);

/// Opens a file for writing, and makes it if there is none. `is_regular` becomes whether it is a regular file, not a pipe or
/// a terminal. A regular file is locked, flock(2), until `clinux_release_file` or the end of the process, whatever children
/// live on then: a program that execve(2) makes does not have the descriptor, and a child of fork(2) closes it. Returns the
/// descriptor, or a negative errno value: -EWOULDBLOCK if this or another process has locked it.
///
/// A lock of fcntl(2) would not do: it is lost when the program opens and closes the file elsewhere, and two recorders of
/// one process could both have it. A file system that has no locks gives the file without one.
int clinux_hold_file(const char *path, bool *is_regular);

/// ftruncate(2).
void clinux_empty_file(int file);

/// Closes what `clinux_hold_file` opened.
void clinux_release_file(int file);

/// Writes all bytes, also if signals interrupt it. Returns 0 or an errno value. write(2).
int clinux_write_all(int file, const void *bytes, size_t length);

/// As `clinux_write_all`, for two pieces of memory, by one call of the system as a rule. writev(2).
int clinux_write_both(int file, const void *first, size_t first_length, const void *second, size_t second_length);

void clinux_close(int file);

/// Returns 0 or an errno value. rename(2).
int clinux_rename(const char *from, const char *to);

/// When this process began, in clock ticks since the machine did; 0 if that is unknown. proc_pid_stat(5).
uint64_t clinux_process_start(void);

/// The path of the running program, without a zero at the end. Returns its length: 0 if it is unknown.
size_t clinux_program_path(char *path, size_t capacity);

#endif
