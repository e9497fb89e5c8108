#define _GNU_SOURCE
#include "CLinuxFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
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

int clinux_create_file(const char *path, bool *is_regular) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644);
    if (file < 0) return -errno;
    struct stat facts;
    if (is_regular) *is_regular = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
    return file;
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

void clinux_close(int file) { close(file); }

int clinux_rename(const char *from, const char *to) { return rename(from, to) == 0 ? 0 : errno; }

size_t clinux_program_path(char *path, size_t capacity) {
    ssize_t length = readlink("/proc/self/exe", path, capacity);
    return length > 0 ? (size_t)length : 0;
}
