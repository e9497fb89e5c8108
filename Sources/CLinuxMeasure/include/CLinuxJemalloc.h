// jemalloc's control interface, if this process has it: linked into the program, or preloaded.
#ifndef CLINUX_JEMALLOC_H
#define CLINUX_JEMALLOC_H
#include <stddef.h>

// As mallctl(3) describes, with the same names after `clinux_`. Without jemalloc they do nothing and return ENOSYS. From
// any thread.
int clinux_mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size);
int clinux_mallctlnametomib(const char *name, size_t *path, size_t *depth);
int clinux_mallctlbymib(
    const size_t *path, size_t depth, void *old, size_t *old_size, void *new_value, size_t new_size);

#endif
