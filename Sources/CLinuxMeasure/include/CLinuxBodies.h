// What bodies of operations do: use memory, allocate, move bytes.
#ifndef CLINUX_BODIES_H
#define CLINUX_BODIES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A block of private memory outside of any heap, with all its pages present, mmap(2). NULL, with `errno`, on failure.
void *clinux_map(size_t bytes);
void clinux_unmap(void *block, size_t bytes);

/// Reads one byte of every `stride` of a block, from its beginning. Returns the number of bytes read.
size_t clinux_stride(const void *block, size_t bytes, size_t stride);

/// Allocates `count` blocks of `bytes` each, at least of a pointer's size, writes to each, and frees them all. Returns
/// the number of blocks made, which is less than `count` if malloc(3) fails.
size_t clinux_allocate(size_t count, size_t bytes);

/// An empty file in a folder, without a name, so that it ends with the process. A descriptor, or −1 with `errno`.
int clinux_unnamed_file(const char *folder);

/// Reads or writes so many bytes, in pieces of at most 16 KiB on the caller's stack: of a file from its beginning, of a
/// pipe the next ones. Returns 0 or an errno value; ENODATA if there are fewer.
int clinux_move(int descriptor, size_t bytes, bool writes, bool from_start);

#endif
