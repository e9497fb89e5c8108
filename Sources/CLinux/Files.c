#define _GNU_SOURCE
#include "CLinuxFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

bool clinux_exists(const char *path) { return access(path, F_OK) == 0; }

size_t clinux_read_file(const char *path, void *bytes, size_t capacity) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    size_t length = 0;
    ssize_t part;
    while ((part = read(file, (char *)bytes + length, capacity - length)) > 0) length += (size_t)part;
    close(file);
    return length;
}

// Descriptors of files that are held, plus 1; 0 where there is none. More are held without being in the list.
enum { most_held = 16 };
static int held[most_held];

static void exchange_held(int from, int to) {
    for (int i = 0; i < most_held; i++) {
        int expected = from;
        if (__atomic_compare_exchange_n(&held[i], &expected, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}

// On the child's only thread. A lock lasts as long as any descriptor of the same open(2).
static void close_held(void) {
    for (int i = 0; i < most_held; i++) {
        if (held[i]) close(held[i] - 1);
        held[i] = 0;
    }
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static void watch_forks(void) { pthread_atfork(NULL, NULL, close_held); }

int clinux_hold_file(const char *path, bool *is_regular) {
    pthread_once(&fork_once, watch_forks);
    for (;;) {
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
        if (file < 0) return -errno;
        struct stat facts, named;
        *is_regular = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
        if (!*is_regular) return file;
        exchange_held(0, file + 1);
        if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            clinux_release_file(file);
            return -EWOULDBLOCK;
        }
        // Its recorder may have renamed it since it was opened.
        if (stat(path, &named) == 0 && named.st_dev == facts.st_dev && named.st_ino == facts.st_ino) return file;
        clinux_release_file(file);
    }
}

void clinux_empty_file(int file) {
    // One that cannot be emptied cannot be written either, which says so.
    if (ftruncate(file, 0) != 0) return;
}

void clinux_release_file(int file) {
    exchange_held(file + 1, 0);
    // Also for a child that was made while this one was opened or is closed.
    flock(file, LOCK_UN);
    close(file);
}

int clinux_write_all(int file, const void *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t part = write(file, (const char *)bytes + done, length - done);
        if (part < 0 && errno != EINTR) return errno;
        if (part == 0) return EIO;
        if (part > 0) done += (size_t)part;
    }
    return 0;
}

int clinux_write_both(int file, const void *first, size_t first_length, const void *second, size_t second_length) {
    struct iovec both[] = {{(void *)first, first_length}, {(void *)second, second_length}};
    ssize_t part;
    do part = writev(file, both, 2);
    while (part < 0 && errno == EINTR);
    if (part < 0) return errno;
    size_t done = (size_t)part;
    int failure = 0;
    if (done < first_length) {
        failure = clinux_write_all(file, (const char *)first + done, first_length - done);
        done = first_length;
    }
    done -= first_length;
    return failure ? failure : clinux_write_all(file, (const char *)second + done, second_length - done);
}

void clinux_close(int file) { close(file); }

int clinux_rename(const char *from, const char *to) { return rename(from, to) == 0 ? 0 : errno; }

size_t clinux_program_path(char *path, size_t capacity) {
    ssize_t length = readlink("/proc/self/exe", path, capacity);
    return length > 0 ? (size_t)length : 0;
}

uint64_t clinux_process_start(void) {
    char text[1024];
    text[clinux_read_file("/proc/self/stat", text, sizeof text - 1)] = 0;
    // The 22nd field. The second one is the name, in parentheses, which may contain any character.
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}
