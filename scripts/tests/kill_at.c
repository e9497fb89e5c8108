// Preloaded into opbench by test_resume.py and test_faults.py: at a place that the test chooses, kills opbench like
// kill -9, makes the disk full from there on, or delays opbench.
//
// KILL_AT=N      kills the process before its N-th call that touches a file (open, write, fsync, rename, mkdir,
//                ftruncate, memfd_create), counted from 1; a write counts twice, before it and when half of it is done.
// FULL_AT=N      from that call on, everything that needs room on the disk fails: files cannot be created or written. Half
//                of the first write is still written.
// LOCK_GATE=F    before flock takes a lock, reads the FIFO F to its end: the test, which opens F for writing, then knows that
//                this place is reached, and lets the process continue by closing F.
// KILL_PARENT=S  at place S of a sample's process (`read`: its request arrives, `thread`: it creates its first thread,
//                `answer`: half of its answer is written), kills the process that started it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int is_sample, place, is_used_up;
static long kill_at, full_at;
static const char *kill_parent;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(int argc, char **argv) {
    is_sample = argc == 2 && strcmp(argv[1], "__sample") == 0;
    kill_at = is_sample || !getenv("KILL_AT") ? 0 : atol(getenv("KILL_AT"));
    full_at = is_sample || !getenv("FULL_AT") ? 0 : atol(getenv("FULL_AT"));
    kill_parent = is_sample ? getenv("KILL_PARENT") : NULL;
}

static int reach(void) {
    int here = kill_at || full_at ? __atomic_add_fetch(&place, 1, __ATOMIC_RELAXED) : 0;
    if (kill_at && here == kill_at) kill(getpid(), SIGKILL);
    return full_at && here >= full_at;
}

// For calls that fail without room on the disk.
static int fail(void) {
    errno = ENOSPC;
    return -1;
}

static void reach_in_sample(const char *name) {
    if (!kill_parent || strcmp(kill_parent, name) != 0) return;
    // Continues as soon as the parent is gone, if it is allowed to.
    kill_parent = NULL;
    pid_t parent = getppid();
    kill(parent, SIGKILL);
    while (getppid() == parent) usleep(100);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    struct stat status;
    int is_full = reach();
    if (kill_at && place + 1 == kill_at) REAL(write)(descriptor, bytes, count / 2);
    reach();
    if (is_full && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        // Uses the last room before there is none.
        if (!__atomic_exchange_n(&is_used_up, 1, __ATOMIC_RELAXED) && count > 1)
            return REAL(write)(descriptor, bytes, count / 2);
        return fail();
    }
    if (is_sample && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && kill_parent) {
        REAL(write)(descriptor, bytes, count / 2);
        reach_in_sample("answer");
        return REAL(write)(descriptor, (const char *)bytes + count / 2, count - count / 2) + (ssize_t)(count / 2);
    }
    return REAL(write)(descriptor, bytes, count);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    if (descriptor == STDIN_FILENO) reach_in_sample("read");
    return REAL(read)(descriptor, bytes, count);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (flags & (O_WRONLY | O_RDWR | O_DIRECTORY) && reach() && flags & O_CREAT) return fail();
    return REAL(open)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (flags & (O_WRONLY | O_RDWR | O_DIRECTORY) && reach() && flags & O_CREAT) return fail();
    return REAL(openat)(folder, path, flags, mode);
}

int fsync(int descriptor) {
    if (reach()) return fail();
    return REAL(fsync)(descriptor);
}

int ftruncate(int descriptor, off_t length) {
    reach();
    return REAL(ftruncate)(descriptor, length);
}

int rename(const char *from, const char *to) {
    reach();
    return REAL(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    reach();
    return REAL(renameat)(from_folder, from, to_folder, to);
}

int mkdir(const char *path, mode_t mode) {
    if (reach()) return fail();
    return REAL(mkdir)(path, mode);
}

int flock(int descriptor, int operation) {
    const char *gate = getenv("LOCK_GATE");
    if (gate && !(operation & LOCK_UN)) {
        char byte;
        int held = REAL(open)(gate, O_RDONLY, 0);
        while (REAL(read)(held, &byte, 1) > 0) {}
        close(held);
    }
    return REAL(flock)(descriptor, operation);
}

int memfd_create(const char *name, unsigned flags) {
    reach();
    return REAL(memfd_create)(name, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    reach_in_sample("thread");
    return REAL(pthread_create)(thread, attributes, body, argument);
}
