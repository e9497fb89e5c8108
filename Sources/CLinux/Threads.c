#define _GNU_SOURCE
#include "CLinuxThreads.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// From Linux 5.9 and 5.14 on; older headers do not have them.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

int clinux_leave_shared_files(void) {
    return syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) == 0 ? 0 : errno;
}

// All by syscall(2): a sanitizer would take the descriptors of a thread with a table of its own for those of the
// process.

static int open_in_proc(int folder, const char *name, int flags) {
    char path[64];
    snprintf(path, sizeof path, folder < 0 ? "/proc/self/task/%s" : "%s", name);
    long file = syscall(SYS_openat, folder < 0 ? AT_FDCWD : folder, path, O_RDONLY | O_CLOEXEC | flags, 0);
    return file < 0 ? -errno : (int)file;
}

int clinux_open_own_threads(void) {
    char own[64], link[64];
    int length = snprintf(own, sizeof own, "%d/task/%d", (int)getpid(), (int)syscall(SYS_gettid));
    ssize_t read = readlink("/proc/thread-self", link, sizeof link);
    if (read < 0) return -errno;
    if (read != length || memcmp(own, link, (size_t)length) != 0) return -ESRCH;
    return open_in_proc(-1, "", O_DIRECTORY);
}

/// As getdents64(2) describes it.
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

int clinux_list_threads(int folder, pid_t *threads, int capacity) {
    int file = folder >= 0 ? folder : open_in_proc(-1, "", O_DIRECTORY);
    if (file < 0) return file;
    if (folder >= 0) syscall(SYS_lseek, file, 0L, SEEK_SET);
    _Alignas(struct entry) char entries[4096];
    int count = 0;
    long length;
    while ((length = syscall(SYS_getdents64, file, entries, sizeof entries)) > 0) {
        for (long at = 0; at < length; at += ((struct entry *)(entries + at))->length) {
            int thread = atoi(((struct entry *)(entries + at))->name);
            if (thread > 0 && count < capacity) threads[count++] = thread;
        }
    }
    int failure = length < 0 ? errno : 0;
    if (folder < 0) syscall(SYS_close, file);
    return failure ? -failure : count;
}

/// The beginning of a file of a thread, as a string.
static int read_in_proc(int folder, pid_t thread, const char *name, char *text, size_t capacity) {
    char path[32];
    snprintf(path, sizeof path, "%d/%s", (int)thread, name);
    int file = open_in_proc(folder, path, 0);
    if (file < 0) return file;
    long length = syscall(SYS_read, file, text, capacity - 1);
    int failure = errno;
    syscall(SYS_close, file);
    if (length < 0) return -failure;
    text[length] = 0;
    return 0;
}

int clinux_thread_state(int folder, pid_t thread) {
    char text[64];
    int failure = read_in_proc(folder, thread, "stat", text, sizeof text);
    if (failure) return failure;
    // It follows the name, which is in parentheses and may contain any character.
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' ? end[2] : -EIO;
}

/// Musl's locks are words whose highest bit says that somebody waits.
static bool has_waiters_in_musl(uint32_t expected) {
#ifdef __GLIBC__
    (void)expected;
    return false;
#else
    return expected >> 31;
#endif
}

static bool waits_for_lock(long call, unsigned long operation, unsigned long expected) {
    switch (call) {
    case -1: case SYS_brk: case SYS_mmap: case SYS_munmap: case SYS_mremap: case SYS_mprotect: case SYS_madvise:
        return true;
    case SYS_futex:
        switch (operation & FUTEX_CMD_MASK) {
        // As in FutexLock.swift: 2 says that the lock is held and that somebody waits.
        case FUTEX_WAIT: return expected == 2 || has_waiters_in_musl((uint32_t)expected);
        case FUTEX_LOCK_PI: case FUTEX_LOCK_PI2: return true;
        }
    }
    return false;
}

int clinux_thread_sleep(int folder, pid_t thread) {
    char text[192];
    int failure = read_in_proc(folder, thread, "syscall", text, sizeof text);
    if (failure) return failure;
    long call;
    unsigned long arguments[3] = {0};
    // “running”, or the call's number and its arguments; of a page fault, −1 and two addresses.
    int fields = sscanf(text, "%ld %lx %lx %lx", &call, &arguments[0], &arguments[1], &arguments[2]);
    if (fields < 1) return clinux_awake;
    return waits_for_lock(call, arguments[1], arguments[2]) ? clinux_asleep_for_lock : clinux_asleep;
}
