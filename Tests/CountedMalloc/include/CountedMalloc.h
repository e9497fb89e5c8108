#pragma once
#include <stdint.h>

/// From now on the process's allocations are counted, and what they hold; both begin at 0. Call it once, while no other
/// thread allocates. Before it each call of malloc costs one comparison more than glibc's own.
void counted_malloc_begin(void);

/// Calls of malloc, calloc, realloc (if the memory moved), posix_memalign, aligned_alloc and memalign since then, by all
/// threads.
uint64_t counted_malloc_allocations(void);

/// Bytes of the heap that what was allocated since then holds, glibc's header of 8 a chunk included.
int64_t counted_malloc_held_bytes(void);
