// What measuring needs of Linux and Swift cannot say itself: the work kernel, a thread's nice value, ties to the parent.
#ifndef CLINUX_MEASURE_H
#define CLINUX_MEASURE_H
#include <stdint.h>
#include <sys/types.h>

/// CPU work of `iterations` dependent steps that touch no memory. The compiler cannot see through it.
void clinux_burn(uint64_t iterations);

/// The nice value in force for the calling thread, getpriority(2): -20 to 19.
int clinux_thread_nice(void);

/// Asks the kernel to kill this process when its parent dies, prctl(PR_SET_PDEATHSIG). Returns 0, or -1 if the parent
/// is already another process than `parent`.
int clinux_die_with_parent(pid_t parent);
#endif
