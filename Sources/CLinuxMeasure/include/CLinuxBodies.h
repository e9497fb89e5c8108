// What bodies of operations do: use memory, allocate, move bytes.
#ifndef CLINUX_BODIES_H
#define CLINUX_BODIES_H
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

#endif
