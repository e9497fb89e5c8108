// Counts the calls that a process makes into the kernel, by tracing it.
#ifndef CLINUX_CALLS_H
#define CLINUX_CALLS_H
#include <stdint.h>

/// The counts of a traced process, over all its threads. Written by the tracer while the caller is stopped.
struct clinux_calls {
    uint64_t futex;
    uint64_t threads;
};

/// Splits the process in two: the caller continues in a new process, whose futex(2) calls and new threads are counted;
/// the old one counts them, and ends as the new one ends. Returns the counts, or NULL, with nothing changed, if
/// ptrace(2) or seccomp(2) is not permitted. To be called while the process has one thread. seccomp(2)'s
/// SECCOMP_RET_TRACE stops only the counted calls; all others run at full speed.
const volatile struct clinux_calls *clinux_count_calls(void);

#endif
