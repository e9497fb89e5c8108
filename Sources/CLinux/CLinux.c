#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

pid_t clinux_gettid(void) { return (pid_t)syscall(SYS_gettid); }
pid_t clinux_getpid(void) { return getpid(); }

static _Thread_local uint32_t *sleep_mark;

void clinux_set_sleep_mark(uint32_t *mark) { sleep_mark = mark; }

// Written by its own thread only. Relaxed: see `Worker.sleepMark` for what a reader makes of it.
static inline void move_sleep_mark(void) {
    if (sleep_mark) __atomic_store_n(sleep_mark, *sleep_mark + 1, __ATOMIC_RELAXED);
}

int clinux_futex_wait(const uint32_t *word, uint32_t expected, int64_t timeout_ns) {
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    move_sleep_mark();
    long result = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns < 0 ? NULL : &timeout, NULL, 0);
    int failure = errno;
    move_sleep_mark();
    return result == 0 ? 0 : failure;
}

void clinux_futex_wake(const uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/// The second number in the file.
static int64_t queued_time(int *file) {
    if (*file == -1) *file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    char text[64];
    ssize_t length = *file < 0 ? -1 : pread(*file, text, sizeof text - 1, 0);
    if (length <= 0) return -1;
    text[length] = 0;
    char *second;
    strtoull(text, &second, 10);
    return *second == ' ' ? (int64_t)strtoull(second, NULL, 10) : -1;
}

clinux_thread_use clinux_own_use(int *file, const clinux_thread_use *last) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    struct rusage use;
    getrusage(RUSAGE_THREAD, &use);
    long switches = use.ru_nvcsw + use.ru_nivcsw;
    return (clinux_thread_use){
        time.tv_sec * INT64_C(1000000000) + time.tv_nsec, use.ru_nvcsw, switches,
        switches == last->switches ? last->queued_ns : queued_time(file)};
}

int clinux_thread_nice(pid_t thread) { return getpriority(PRIO_PROCESS, (id_t)thread); }

int clinux_set_own_nice(int nice) {
    return setpriority(PRIO_PROCESS, (id_t)clinux_gettid(), nice) == 0 ? 0 : errno;
}

void clinux_set_own_name(const char *name) { pthread_setname_np(pthread_self(), name); }

void clinux_own_name(char *name) {
    if (pthread_getname_np(pthread_self(), name, 16) != 0) name[0] = 0;
}

void clinux_set_own_worker_name(const char *kind, int number) {
    char end[8], name[16];
    int room = (int)sizeof name - 1 - (int)strlen("engine ") - snprintf(end, sizeof end, " %d", number % 10000);
    snprintf(name, sizeof name, "engine %.*s%s", room, kind, end);
    clinux_set_own_name(name);
}

int32_t clinux_own_cpu_clock(void) {
    clockid_t clock;
    return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? (int32_t)clock : -1;
}

int64_t clinux_cpu_clock_ns(int32_t clock) {
    struct timespec now;
    if (clock_gettime((clockid_t)clock, &now) != 0) return -1;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));
extern void _dispatch_main_queue_callback_4CF(void *message) __attribute__((weak));

int clinux_main_queue_handle(void) { return _dispatch_get_main_queue_handle_4CF(); }
void clinux_drain_main_queue(void) { _dispatch_main_queue_callback_4CF(NULL); }

void clinux_wait_for_event(int handle) {
    struct pollfd event = {.fd = handle, .events = POLLIN};
    eventfd_t count;
    if (poll(&event, 1, -1) == 1) eventfd_read(handle, &count);
}

static _Thread_local void *current_runner;
static _Thread_local void *release_list;
static _Thread_local void *kept_list;
static _Thread_local void *asked_operation;

void *clinux_current_runner(void) { return current_runner; }
void clinux_set_current_runner(void *runner) { current_runner = runner; }
void *clinux_release_list(void) { return release_list; }
void clinux_set_release_list(void *list) { release_list = list; }
void *clinux_kept_list(void) { return kept_list; }
void clinux_set_kept_list(void *list) { kept_list = list; }
void *clinux_asked_operation(void) { return asked_operation; }
void clinux_set_asked_operation(void *operation) { asked_operation = operation; }

_Thread_local void *clinux_edge_slab_of_thread;
_Thread_local void *clinux_closure_slab_of_thread;

_Thread_local void *clinux_events_of_thread;

static pthread_once_t leave_once = PTHREAD_ONCE_INIT;
static pthread_key_t leave_key;
static bool has_leave_key;
#define LEAVES 4
static _Thread_local void (*leaves[LEAVES])(void);

static void call_leaves(void *unused) {
    (void)unused;
    for (int i = 0; i < LEAVES; i++) {
        void (*leave)(void) = leaves[i];
        leaves[i] = NULL;
        if (leave) leave();
    }
}

static void make_leave_key(void) { has_leave_key = pthread_key_create(&leave_key, call_leaves) == 0; }

void clinux_at_thread_end(void (*leave)(void)) {
    pthread_once(&leave_once, make_leave_key);
    int i = 0;
    while (i < LEAVES - 1 && leaves[i] != NULL && leaves[i] != leave) i++;
    leaves[i] = leave;
    // Without a key, which a program may have used up, what a thread has stays behind.
    if (has_leave_key) pthread_setspecific(leave_key, leaves);
}
