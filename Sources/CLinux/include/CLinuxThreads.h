// The kernel's figures of the threads of OperationEngine's process: which sleep, which run, and for how long.
#ifndef CLINUX_THREADS_H
#define CLINUX_THREADS_H
#include <stdint.h>
#include <sys/types.h>

/// From now on `*mark` is odd while the calling thread is inside of `clinux_futex_wait`. The thread alone writes it, with
/// stores of its own; NULL ends that. `*mark` has to live until then.
void clinux_set_sleep_mark(uint32_t *mark);

/// Gives the calling thread a table of file descriptors of its own, an empty one: what the process opens and closes does
/// not concern it, and it needs none of the process's descriptors. It must make no threads, which would share that table.
/// close_range(2) with CLOSE_RANGE_UNSHARE. Returns 0 or an errno value, and has done nothing then.
int clinux_leave_shared_files(void);

/// Opens /proc/self/task. Returns the descriptor, or a negative errno value; −ESRCH if the threads that are listed there
/// have other numbers than gettid(2) says, since it belongs to another PID namespace.
int clinux_open_own_threads(void);

/// Lists up to `capacity` threads of this process. `folder` is what `clinux_open_own_threads` returned, or negative to
/// open it for this call. Returns how many, or a negative errno value. getdents64(2).
int clinux_list_threads(int folder, pid_t *threads, int capacity);

/// The letter for a thread's state, the third field of /proc/self/task/THREAD/stat, proc_pid_stat(5), or a negative errno
/// value. `folder` as above. A file is open for the time of the call only.
int clinux_thread_state(int folder, pid_t thread);

enum clinux_sleep { clinux_awake, clinux_asleep, clinux_asleep_for_lock };

/// Whether a thread sleeps, and what for, by /proc/self/task/THREAD/syscall, proc_pid_syscall(5). Or a negative errno value.
///
/// It sleeps for a lock in futex(2) if the futex is one of three states, as are the mutexes of the C library, with malloc's
/// and those made on top of them, or one with priority inheritance; and for the kernel's lock of the process's memory,
/// perhaps, in a page fault or a call that changes the memory.
int clinux_thread_sleep(int folder, pid_t thread);

#endif
