// Counts of the processor's events.
#ifndef CLINUX_COUNTERS_H
#define CLINUX_COUNTERS_H
#include <linux/perf_event.h>
#include <stdint.h>

/// A reading of a counter: the events, the time for which the counted threads ran, and the time for which the counter
/// really counted, which is less if the processor has too few counters.
struct clinux_count {
    uint64_t value, enabled_ns, running_ns;
};

/// Counts an event in user space from now on, in the calling thread and in all threads that it and they start later,
/// perf_event_open(2): `type` is PERF_TYPE_HARDWARE or another, `event` one of its numbers. Returns a descriptor, or a
/// negative errno value: −ENOENT if the machine has no such counter.
int clinux_open_counter(uint32_t type, uint64_t event);

/// Reads the sum over all threads. Returns 0, or −1 if it cannot be read.
int clinux_read_counter(int counter, struct clinux_count *count);

#endif
