// An executable's malloc takes the place of the C library's in every library that it loads, Swift's runtime included.
// This one counts, and leaves the work to glibc, which has its own functions under these names for that purpose.
#include "CountedMalloc.h"
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static bool counts;
static atomic_uint_least64_t allocations;
static atomic_int_least64_t held_bytes;

void counted_malloc_begin(void) { counts = true; }
uint64_t counted_malloc_allocations(void) { return allocations; }
int64_t counted_malloc_held_bytes(void) { return held_bytes; }

// A sanitizer has a malloc of its own, which is left alone: nothing is counted then.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

static int64_t chunk_bytes(void *memory) { return (int64_t)malloc_usable_size(memory) + (int64_t)sizeof(size_t); }

static void *counted(void *memory) {
    if (counts && memory) {
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&held_bytes, chunk_bytes(memory), memory_order_relaxed);
    }
    return memory;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t number, size_t size) { return counted(__libc_calloc(number, size)); }

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *memory = counted(__libc_memalign(alignment, size));
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}

// One that stays in place is no allocation.
void *realloc(void *old, size_t size) {
    if (!counts) return __libc_realloc(old, size);
    int64_t before = old ? chunk_bytes(old) : 0;
    void *new = __libc_realloc(old, size);
    if (new || !size) {
        int64_t after = new ? chunk_bytes(new) : 0;
        atomic_fetch_add_explicit(&held_bytes, after - before, memory_order_relaxed);
        if (new && new != old) atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    }
    return new;
}

void free(void *memory) {
    if (counts && memory) atomic_fetch_sub_explicit(&held_bytes, chunk_bytes(memory), memory_order_relaxed);
    __libc_free(memory);
}

#endif
