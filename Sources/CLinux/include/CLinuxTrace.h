// The state of OperationEngine's trace: a byte that every operation reads, the receivers, and the thread's
// number.
#ifndef CLINUX_TRACE_H
#define CLINUX_TRACE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// Special states of this process, which are rare: one byte, so that one read checks all of them.
enum {
    clinux_mark_forked = 1,
    clinux_mark_traced_operations = 2,
    clinux_mark_traced_threads = 4,
    clinux_mark_traced_changes = 8,
};
extern uint8_t clinux_marks __attribute__((visibility("hidden")));

static inline bool clinux_has_mark(uint8_t marks) { return __atomic_load_n(&clinux_marks, __ATOMIC_RELAXED) & marks; }

static inline bool clinux_traces_operations(void) { return clinux_has_mark(clinux_mark_traced_operations); }
static inline bool clinux_traces_threads(void) { return clinux_has_mark(clinux_mark_traced_threads); }
static inline bool clinux_traces_changes(void) { return clinux_has_mark(clinux_mark_traced_changes); }
/// In one look, whether operations or changes are traced.
static inline bool clinux_traces_adding(void) {
    return clinux_has_mark(clinux_mark_traced_operations | clinux_mark_traced_changes);
}
/// In one look, whether this process is a forked child (see `clinux_is_forked`) or its operations are traced.
static inline bool clinux_is_forked_or_traced(void) {
    return clinux_has_mark(clinux_mark_forked | clinux_mark_traced_operations);
}

/// From now on these receivers are found, and these marks of tracing are set. The caller allows one thread at a time. A
/// child that fork(2) makes begins with NULL and without marks. pthread_atfork(3).
void clinux_set_trace(void *receivers, uint8_t marks);

/// The receivers, or NULL. Acquiring: pairs with the releasing store of `clinux_set_trace`.
void *clinux_trace_receivers(void);

/// The engine's record of this thread as one that uses the receivers.
extern _Thread_local void *clinux_trace_reader_of_thread;
static inline void *clinux_trace_reader(void) { return clinux_trace_reader_of_thread; }
static inline void clinux_set_trace_reader(void *reader) { clinux_trace_reader_of_thread = reader; }

/// Keeps the compiler from moving accesses of memory across this point. Together with `clinux_fence_all_threads` on
/// another thread it is a full barrier.
static inline void clinux_fence_compiler(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// A full memory barrier, for the calling thread and at some point in each other thread of the process during the call. False, with
/// no barrier, if the system does not have it or allow it. membarrier(2).
bool clinux_fence_all_threads(void);

/// As `clinux_gettid`, asked once a thread.
pid_t clinux_own_thread(void);

#endif
