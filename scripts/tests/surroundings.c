// Preloaded into opbench by test_surroundings.py, as one of:
//
// -DALLOCATES  another malloc instead of jemalloc's: allocates consecutive blocks and frees none.
// -DPRINTS     prints a line on standard output before main, in every process.
// -DRECORDS    in a sample's process, appends its MALLOC_CONF to the file RECORDED.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef ALLOCATES
static const size_t room = 1UL << 36;
static char *blocks;
static size_t used;

static void *take(size_t alignment, size_t size) {
    if (!__atomic_load_n(&blocks, __ATOMIC_ACQUIRE)) {
        char *made = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        char *none = NULL;
        __atomic_compare_exchange_n(&blocks, &none, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    if (alignment < 16) alignment = 16;
    // The size precedes the block.
    size_t begin = __atomic_fetch_add(&used, size + 2 * alignment, __ATOMIC_RELAXED);
    char *block = (char *)(((uintptr_t)blocks + begin + 2 * alignment - 1) & ~(uintptr_t)(alignment - 1));
    ((size_t *)block)[-1] = size;
    return block;
}

void *malloc(size_t size) { return take(16, size); }
void *calloc(size_t count, size_t size) { return take(16, count * size); }
void *memalign(size_t alignment, size_t size) { return take(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return take(alignment, size); }
void free(void *block) { (void)block; }
size_t malloc_usable_size(void *block) { return block ? ((size_t *)block)[-1] : 0; }

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = take(alignment, size);
    return 0;
}

void *realloc(void *block, size_t size) {
    void *other = take(16, size);
    size_t before = malloc_usable_size(block);
    if (block) memcpy(other, block, before < size ? before : size);
    return other;
}
#endif

#ifdef PRINTS
__attribute__((constructor)) static void begin(void) {
    static const char line[] = "a library was loaded\n";
    ssize_t written = write(STDOUT_FILENO, line, sizeof line - 1);
    (void)written;
}
#endif

#ifdef RECORDS
__attribute__((constructor)) static void begin(int argc, char **argv) {
    if (argc != 2 || strcmp(argv[1], "__sample") != 0) return;
    const char *options = getenv("MALLOC_CONF");
    char line[256];
    int length = snprintf(line, sizeof line, "%s\n", options ? options : "none");
    int file = open(getenv("RECORDED"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    ssize_t written = write(file, line, (size_t)length);
    (void)written;
    close(file);
}
#endif
