// Signals that a thread of OperationEngine waits for, whatever code they interrupt.
#ifndef CLINUX_SIGNALS_H
#define CLINUX_SIGNALS_H
#include <stdint.h>

/// From now on the signal is noted for `clinux_await_signals`, and has no other effect. sigaction(2) with SA_RESTART. The
/// handler sets a bit and calls sem_post(3), which are safe in it. Returns 0 or an errno value, EINVAL for a signal that
/// cannot be handled.
int clinux_note_signal(int signal);

/// Sleeps until a signal was noted. Returns those that came since the last call, one bit each, the lowest for signal 1.
/// For one thread.
uint64_t clinux_await_signals(void);

#endif
