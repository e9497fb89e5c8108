#define _GNU_SOURCE
#include "CLinux.h"
#include <linux/membarrier.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

uint8_t clinux_marks;
static void *trace_receivers;
static _Thread_local pid_t own_thread;
_Thread_local void *clinux_trace_reader_of_thread;

// On the child's only thread, whose number is another one there. A receiver may have a lock that another thread held.
static void leave_trace(void) {
    own_thread = 0;
    clinux_set_trace(NULL, 0);
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static void watch_forks(void) { pthread_atfork(NULL, NULL, leave_trace); }

void clinux_set_trace(void *receivers, uint8_t marks) {
    pthread_once(&fork_once, watch_forks);
    // The marks are a hint: a thread that sees one and no receiver reports nothing.
    __atomic_store_n(&trace_receivers, receivers, __ATOMIC_RELEASE);
    __atomic_fetch_and(&clinux_marks, (uint8_t)(marks | clinux_mark_forked), __ATOMIC_RELAXED);
    __atomic_fetch_or(&clinux_marks, marks, __ATOMIC_RELAXED);
}

void *clinux_trace_receivers(void) { return __atomic_load_n(&trace_receivers, __ATOMIC_ACQUIRE); }

pid_t clinux_own_thread(void) {
    if (own_thread == 0) own_thread = clinux_gettid();
    return own_thread;
}

static pthread_once_t fence_once = PTHREAD_ONCE_INIT;
static bool has_fence;
static void prepare_fence(void) {
    has_fence = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool clinux_fence_all_threads(void) {
    pthread_once(&fence_once, prepare_fence);
    return has_fence && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
