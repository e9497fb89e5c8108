#define _GNU_SOURCE
#include "CLinuxJemalloc.h"
#include <dlfcn.h>
#include <errno.h>

typedef int by_name(const char *, void *, size_t *, void *, size_t);
typedef int to_path(const char *, size_t *, size_t *);
typedef int by_path(const size_t *, size_t, void *, size_t *, void *, size_t);

// Weak: null where the linker finds no jemalloc. A jemalloc that is part of the program is found in this way alone, since
// the program need not export its functions; a preloaded one perhaps only by dlsym(3).
extern by_name mallctl __attribute__((weak));
extern to_path mallctlnametomib __attribute__((weak));
extern by_path mallctlbymib __attribute__((weak));

// Written once, before `main` and other threads.
static by_name *of_name;
static to_path *path_of;
static by_path *of_path;

__attribute__((constructor)) static void find_jemalloc(void) {
    of_name = mallctl ? mallctl : (by_name *)dlsym(RTLD_DEFAULT, "mallctl");
    path_of = mallctlnametomib ? mallctlnametomib : (to_path *)dlsym(RTLD_DEFAULT, "mallctlnametomib");
    of_path = mallctlbymib ? mallctlbymib : (by_path *)dlsym(RTLD_DEFAULT, "mallctlbymib");
}

int clinux_mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size) {
    return of_name ? of_name(name, old, old_size, new_value, new_size) : ENOSYS;
}

int clinux_mallctlnametomib(const char *name, size_t *path, size_t *depth) {
    return path_of ? path_of(name, path, depth) : ENOSYS;
}

int clinux_mallctlbymib(
    const size_t *path, size_t depth, void *old, size_t *old_size, void *new_value, size_t new_size) {
    return of_path ? of_path(path, depth, old, old_size, new_value, new_size) : ENOSYS;
}
