// Linux calls for measuring that Swift cannot make itself: the work kernel, a thread's nice value, ties to the parent.
#ifndef CLINUX_MEASURE_H
#define CLINUX_MEASURE_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "CLinuxBodies.h"
#include "CLinuxCalls.h"
#include "CLinuxCounters.h"
#include "CLinuxDispatch.h"
#include "CLinuxJemalloc.h"
#include "CLinuxProfile.h"
#include "CLinuxSpawn.h"
#include "CLinuxText.h"

/// CPU work of `iterations` dependent steps that touch no memory. The compiler cannot optimise it away.
void clinux_burn(uint64_t iterations);

/// Asks the kernel to kill this process when its parent dies, prctl(PR_SET_PDEATHSIG). Returns 0, or -1 if the parent
/// is already another process than `parent`.
int clinux_die_with_parent(pid_t parent);

/// Lets timers of this thread, and of threads that it and they start later, expire as exactly as the kernel can, not up
/// to 50 µs late, prctl(PR_SET_TIMERSLACK).
void clinux_exact_timers(void);

/// An anonymous file in memory, memfd_create(2); −1 on failure.
///
/// With a `limit` other than 0, the file has that size from the beginning, of zeros that take no memory, and cannot
/// grow: writing beyond it fails with EPERM, F_SEAL_GROW. If RLIMIT_FSIZE is below the limit, the size is 0 and
/// RLIMIT_FSIZE applies.
int clinux_memory_file(size_t limit);

/// Bytes that the C library's malloc has handed out and not got back, in all threads, mallinfo2(3). Memory cached for a
/// thread's next allocation counts as handed out.
size_t clinux_heap_in_use(void);

/// The file that contains this process's function of this name, whatever the program was linked with, by dladdr(3).
/// NULL if no file has it.
const char *clinux_file_of_function(const char *name);

/// Whether a file gives capabilities to the process that executes it, capabilities(7).
_Bool clinux_gives_capabilities(const char *path);

/// A number of the calling thread, for counting threads; 0 until it is set.
uint32_t clinux_thread_number(void);
void clinux_set_thread_number(uint32_t number);

/// A thread's clocks when it last read them, in nanoseconds; zeros at first. `RunQueue.swift` reads and writes the calling
/// thread's.
struct clinux_thread_clocks {
    int64_t time;
    int64_t cpu;
    int64_t queued;
    uint32_t round;
    uint32_t depth;
};
struct clinux_thread_clocks *clinux_own_clocks(void);

/// How long a thread of this process has waited in the run queue, in nanoseconds, /proc/self/task/THREAD/schedstat in
/// proc_pid_schedstat(5); 0 for the calling thread. −1 if the kernel does not count it, or has no such thread.
int64_t clinux_run_queue_ns(pid_t thread);

/// The version of the compiler that built this library, in the compiler's words.
const char *clinux_compiler(void);

#endif
