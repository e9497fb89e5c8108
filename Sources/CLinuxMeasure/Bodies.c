#define _GNU_SOURCE
#include "CLinuxBodies.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *clinux_map(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

void clinux_unmap(void *block, size_t bytes) { munmap(block, bytes); }

__attribute__((noinline)) size_t clinux_stride(const void *block, size_t bytes, size_t stride) {
    size_t count = 0;
    for (size_t place = 0; place < bytes; place += stride, count++) {
        uint8_t value = ((const volatile uint8_t *)block)[place];
        (void)value;
    }
    return count;
}

struct link { struct link *next; };

__attribute__((noinline)) size_t clinux_allocate(size_t count, size_t bytes) {
    struct link *last = NULL;
    size_t made = 0;
    for (; made < count; made++) {
        struct link *block = malloc(bytes < sizeof *block ? sizeof *block : bytes);
        if (!block) break;
        block->next = last;
        last = block;
        // The compiler may not drop an allocation that is seen here.
        __asm__ volatile("" : : "r"(last) : "memory");
    }
    while (last) {
        struct link *next = last->next;
        free(last);
        last = next;
    }
    return made;
}

int clinux_unnamed_file(const char *folder) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/opbench-body-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

int clinux_move(int descriptor, size_t bytes, bool writes, bool from_start) {
    char piece[16384];
    if (writes) memset(piece, 'x', bytes < sizeof piece ? bytes : sizeof piece);
    for (size_t done = 0; done < bytes;) {
        size_t size = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        off_t place = (off_t)done;
        ssize_t moved = writes ? (from_start ? pwrite(descriptor, piece, size, place) : write(descriptor, piece, size))
                               : (from_start ? pread(descriptor, piece, size, place) : read(descriptor, piece, size));
        if (moved < 0 && errno != EINTR) return errno;
        if (moved == 0) return ENODATA;
        if (moved > 0) done += (size_t)moved;
    }
    return 0;
}
