// Which processors a thread may run on, on machines of any size.
#ifndef CLINUX_PROCESSORS_H
#define CLINUX_PROCESSORS_H
#include <stdint.h>
#include <sys/types.h>

/// The number of processors that the process's main thread may run on, sched_getaffinity(2); 0 if unknown.
int clinux_allowed_processors(void);

/// Lists up to `capacity` of these, in ascending order. Returns how many there are, or a negative errno value.
int clinux_list_allowed_processors(int *processors, int capacity);

/// Lets the calling thread, and those it creates, run where the process's main thread may. sched_setaffinity(2).
/// Returns 0 or an errno value.
int clinux_use_main_threads_processors(void);

/// Lets the calling thread, and those it creates, run on the listed processors alone. Returns 0, or an errno value:
/// EINVAL where the kernel does not grant each of them (cpuset(7), or one that is offline). sched_setaffinity(2).
int clinux_stay_on_processors(const int *processors, int count);

/// Keeps the calling thread, and those it creates, on the processor it is on. sched_setaffinity(2); for test tools.
void clinux_stay_on_processor(void);

#endif
