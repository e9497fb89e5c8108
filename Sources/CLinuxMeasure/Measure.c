#define _GNU_SOURCE
#include "CLinuxMeasure.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/xattr.h>
#include <unistd.h>

__attribute__((noinline)) void clinux_burn(uint64_t iterations) {
    uint64_t x = 0x9E3779B97F4A7C15u;
    for (uint64_t i = 0; i < iterations; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        __asm__ volatile("" : "+r"(x));
    }
}

int clinux_die_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent ? 0 : -1;
}

void clinux_exact_timers(void) { prctl(PR_SET_TIMERSLACK, 1UL); }

int clinux_memory_file(size_t limit) {
    int file = memfd_create("opbench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && limit > 0 && ftruncate(file, (off_t)limit) == 0)
        fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    return file;
}

_Bool clinux_gives_capabilities(const char *path) { return getxattr(path, "security.capability", NULL, 0) > 0; }

static _Thread_local uint32_t thread_number;
uint32_t clinux_thread_number(void) { return thread_number; }
void clinux_set_thread_number(uint32_t number) { thread_number = number; }

static _Thread_local struct clinux_thread_clocks own_clocks;
struct clinux_thread_clocks *clinux_own_clocks(void) { return &own_clocks; }

int64_t clinux_run_queue_ns(pid_t thread) {
    char path[64] = "/proc/thread-self/schedstat", text[80];
    if (thread != 0) snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = 0;
    long long running, waiting, slices;
    if (sscanf(text, "%lld %lld %lld", &running, &waiting, &slices) != 3) return -1;
    // A thread that runs has had a time slice, unless the kernel does not count.
    return thread == 0 && slices == 0 ? -1 : waiting;
}

const char *clinux_compiler(void) { return __VERSION__; }

size_t clinux_heap_in_use(void) {
#if __GLIBC_PREREQ(2, 33)
    return mallinfo2().uordblks;
#else
    return (size_t)mallinfo().uordblks;
#endif
}

const char *clinux_file_of_function(const char *name) {
    Dl_info place;
    void *function = dlsym(RTLD_DEFAULT, name);
    return function && dladdr(function, &place) ? place.dli_fname : NULL;
}
