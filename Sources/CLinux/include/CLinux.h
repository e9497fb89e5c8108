// Linux system calls, thread-local slots, and the C library for OperationEngine, which imports neither Glibc nor Musl, but
// the headers here. Thin shims, no logic. This is all the C that OperationEngine brings into a program; what measuring
// needs is in CLinuxMeasure.
//
// A header with an enum, such as glibc's pthread.h, signal.h, unistd.h and sys/resource.h, is for the shims' files alone: if
// two modules declare an enum, a program that imports Glibc may not find its constants.
#ifndef CLINUX_H
#define CLINUX_H
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include "CLinuxFiles.h"
#include "CLinuxProcess.h"
#include "CLinuxProcessors.h"
#include "CLinuxSignals.h"
#include "CLinuxThreads.h"
#include "CLinuxTrace.h"

/// Sets errno, a macro, which Swift does not import.
static inline void clinux_set_errno(int code) { errno = code; }

/// The kernel's ids of the calling thread and of the process, which is that of the main thread. gettid(2), getpid(2).
pid_t clinux_gettid(void);
pid_t clinux_getpid(void);

/// Sleeps while `*word == expected`, at most `timeout_ns` nanoseconds (negative: for ever). Returns 0 when woken, or
/// an errno value: EAGAIN (the word differed), ETIMEDOUT, EINTR. futex(2), FUTEX_WAIT_PRIVATE.
int clinux_futex_wait(const uint32_t *word, uint32_t expected, int64_t timeout_ns);

/// Wakes at most `count` sleepers on `word`. futex(2), FUTEX_WAKE_PRIVATE. Never reads `*word`.
void clinux_futex_wake(const uint32_t *word, int count);

/// A hint to the core that this is a spin-wait loop.
static inline void clinux_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/// The use of processors by a thread so far: its CPU time, how often it gave up a processor, how often it lost or gave up
/// one, and its time in the run queue, -1 if that is unknown.
typedef struct {
    int64_t cpu_ns, voluntary_switches, switches, queued_ns;
} clinux_thread_use;

/// The use of the calling thread: clock_gettime(2), getrusage(2), and proc_pid_schedstat(5), which only a switch changes
/// and which is read only after one.
///
/// - file: the descriptor of that file, opened at the first call, when it is -1. The caller closes it.
/// - last: the result of the thread's last call; at the first call, -1 in `switches`.
clinux_thread_use clinux_own_use(int *file, const clinux_thread_use *last);

/// The nice value of one thread, getpriority(2) with PRIO_PROCESS, which is per thread on Linux.
int clinux_thread_nice(pid_t thread);

/// Sets the calling thread's nice value, setpriority(2). Returns 0 or an errno value (EACCES, EPERM).
int clinux_set_own_nice(int nice);

/// Names the calling thread for debuggers and /proc, at most 15 characters. pthread_setname_np(3).
void clinux_set_own_name(const char *name);

/// The calling thread's name, in 16 bytes. pthread_getname_np(3).
void clinux_own_name(char *name);

/// As `clinux_set_own_name`, to "engine KIND NUMBER"; of a kind that is too long only the beginning.
void clinux_set_own_worker_name(const char *kind, int number);

/// CPU time of a thread of this process in nanoseconds, or -1. `thread` is what clinux_own_cpu_clock returned there.
int64_t clinux_cpu_clock_ns(int32_t clock);
int32_t clinux_own_cpu_clock(void);

/// Libdispatch's calls for run loops on Linux, exported but in no installed header. A file descriptor, an eventfd(2),
/// that becomes readable when something is put into the main queue; and a call that runs what is in it, on the main
/// thread. Weak, so that programs without libdispatch link this module too.
int clinux_main_queue_handle(void);
void clinux_drain_main_queue(void);

/// Sleeps until the eventfd is readable, and resets it; may return early. poll(2), eventfd_read(3).
void clinux_wait_for_event(int handle);

/// Thread-local slots of OperationEngine: the runner of this thread's operations, the list of releases it is unrolling,
/// and what it keeps alive while an operation ends.
void *clinux_current_runner(void);
void clinux_set_current_runner(void *runner);
void *clinux_release_list(void);
void clinux_set_release_list(void *list);
void *clinux_kept_list(void);
void clinux_set_kept_list(void *list);
/// The operation whose overridden `isFinished` the engine asks on this thread.
void *clinux_asked_operation(void);
void clinux_set_asked_operation(void *operation);

/// Others: the memory that this thread's next edges, and its next closures, come from. Inline, since these take little
/// more.
extern _Thread_local void *clinux_edge_slab_of_thread;
static inline void *clinux_edge_slab(void) { return clinux_edge_slab_of_thread; }
static inline void clinux_set_edge_slab(void *slab) { clinux_edge_slab_of_thread = slab; }
extern _Thread_local void *clinux_closure_slab_of_thread;
static inline void *clinux_closure_slab(void) { return clinux_closure_slab_of_thread; }
static inline void clinux_set_closure_slab(void *slab) { clinux_closure_slab_of_thread = slab; }

/// The thread's events, for the recorder.
extern _Thread_local void *clinux_events_of_thread;
static inline void *clinux_own_events(void) { return clinux_events_of_thread; }
static inline void clinux_set_own_events(void *events) { clinux_events_of_thread = events; }

/// Has `leave` called when the calling thread ends, on that thread; once, however often it was said. There are at most four:
/// three of the engine and the recorder's. pthread_setspecific(3), with one key for the process.
void clinux_at_thread_end(void (*leave)(void));

/// Whether a Swift object is in its own deinit, by the runtime's count of its references. A weak reference would tell
/// that too, and give the object a side table for the rest of its life, which a search for leaks takes for one.
/// swift/Runtime/HeapObject.h.
bool swift_isDeallocating(void *object);

#endif
